//! The group `self`: an agent's identity, its scene, the characters it knows and past events.
//!
//! Most of these tools take no question: categories select the memories, and a fixed one only ranks them.

use crate::mcp::access::Memories;
use crate::mcp::answer::{Answer, Refusal};
use crate::mcp::character::Character;
use crate::mcp::parameter::ArgumentType::Text;
use crate::mcp::parameter::Parameter;
use crate::mcp::tools::schema;
use crate::mcp::tools::searching::{QUERY_MEMORIES, answer_of};
use crate::mcp::tools::tool::{Call, Effect, Tool};
use memories_document::types::frame::{INDENT, continued};
use memories_document::types::{Category, Scope, ScopeName, fold_title};
use memories_search::filter::{Filter, MemoryKind};
use memories_search::{Hit, SearchResults};

/// Categories of `query_self`: those of an agent without a tool of their own.
const OF_SELF: [&str; 5] = ["IDENTITY", "TRAITS", "VALUES", "SKILLS", "DECISION_STYLE"];

const NAME: Parameter =
    Parameter::new("name", Text, "name or id").required("say whom you want to know about");

/// The tools that tell an agent of itself.
pub(crate) const OF_AGENT: &[Tool] = &[
    Tool {
        name: "query_self",
        title: "Who am I?",
        about: "Your identity, traits, values, skills and decision style. Ask before you first act.",
        effect: Effect::Reads,
        parameters: &[],
        answer: schema::MEMORIES,
        run: |call| of_self(call, "who am I?", &OF_SELF, 5),
    },
    Tool {
        name: "query_background",
        title: "My background",
        about: "Your past.",
        effect: Effect::Reads,
        parameters: &[],
        answer: schema::MEMORIES,
        run: |call| of_self(call, "what is my background?", &["BACKGROUND"], 5),
    },
    Tool {
        name: "query_communication_style",
        title: "How I communicate",
        about: "How you speak.",
        effect: Effect::Reads,
        parameters: &[],
        answer: schema::MEMORIES,
        run: |call| of_self(call, "how do I communicate?", &["COMMUNICATION"], 3),
    },
];

pub(crate) const TOOLS: &[Tool] = &[
    Tool {
        name: "query_scene",
        title: "The scene",
        about: "The scene that all share: place, mood, time, situation.",
        effect: Effect::Reads,
        parameters: &[],
        answer: schema::MEMORIES,
        run: query_scene,
    },
    Tool {
        name: "query_character",
        title: "About a character",
        about: "What you know of another character. For what happened with them: recall_interactions.",
        effect: Effect::Reads,
        parameters: &[NAME],
        answer: schema::MEMORIES,
        run: query_character,
    },
    QUERY_MEMORIES,
];

fn of_self(call: &Call<'_>, question: &str, categories: &[&str], most: usize) -> Result<Answer, Refusal> {
    let agent = call.memories.agent()?;
    let categories: Vec<Category> = categories.iter().filter_map(|name| Category::new(name)).collect();
    let first = categories.first().cloned();
    let filter = Filter { scopes: vec![Scope::Agent(agent.to_owned())], categories, ..Filter::default() };
    let mut hits = call.memories.search(call.watcher, question, &filter, most, true)?;
    // The first category comes before the others.
    hits.hits.sort_by_key(|hit| Some(&hit.memory.category) != first.as_ref());
    let answer = initial(question, &hits);
    if hits.hits.is_empty() {
        refuse_stranger(call.memories, agent)?;
    }
    Ok(answer)
}

/// A brief answer of initial memories, since it is read before each turn; its JSON has all values.
fn initial(question: &str, results: &SearchResults) -> Answer {
    answer_of(question, results, |_, Hit { memory, .. }| {
        format!("{}: {}\n", memory.category, continued(&memory.text, INDENT))
    })
}

/// Refuses an agent without any memories: most likely the server was started with a wrong id.
fn refuse_stranger(memories: &Memories, agent: &str) -> Result<(), Refusal> {
    let scope = Scope::Agent(agent.to_owned());
    let (_, section) = memories.sections(&[ScopeName::Scope(scope.clone())])?.remove(0);
    if section.memories.is_empty() && memories.find_character(agent)?.is_none() {
        return Err(Refusal::new(format!("the file has no section of {scope}")).hint(
            "a person gives it one with `memories seed`, or starts the server with another `--agent` of `memories list`",
        ));
    }
    Ok(())
}

fn query_scene(call: &Call<'_>) -> Result<Answer, Refusal> {
    let question = "where am I?";
    let filter = Filter { kinds: vec![MemoryKind::Scene], ..Filter::default() };
    let hits = call.memories.search(call.watcher, question, &filter, 5, true)?;
    Ok(initial(question, &hits))
}

fn query_character(call: &Call<'_>) -> Result<Answer, Refusal> {
    let name = call.arguments.required(&NAME)?;
    let character = known(call.memories, &name)?;
    let question = format!("who is {}?", character.called());
    let mut scopes = vec![Scope::Npc(character.id.clone())];
    scopes.extend(call.memories.setup.agent.clone().map(Scope::Agent));
    if scopes.len() == 1 {
        // Without an own agent, use what all agents know.
        scopes.extend(call.memories.characters()?.into_iter().map(|other| other.scope));
    }
    let filter = Filter { scopes, about: vec![character.id.clone()], ..Filter::default() };
    let hits = call.memories.search(call.watcher, &question, &filter, 3, true)?;
    let mut answer = initial(&question, &hits);
    if hits.hits.is_empty() {
        answer.text = format!("Nothing is known of {}.\n", character.called());
    }
    Ok(answer)
}

/// A character with a section, or with memories tagged `#about:` it.
pub(crate) fn known(memories: &Memories, name: &str) -> Result<Character, Refusal> {
    if let Some(character) = memories.find_character(name)? {
        return Ok(character);
    }
    let me = memories.setup.agent.clone().map(|agent| ScopeName::Scope(Scope::Agent(agent)));
    let sections = memories.sections(me.as_slice())?;
    let tags =
        sections.iter().flat_map(|(_, section)| section.live()).flat_map(|memory| &memory.provenance.tags);
    let others: Vec<String> = tags.map(|tag| fold_title(tag)).collect();
    let others: Vec<&str> = others.iter().filter_map(|tag| tag.strip_prefix("about:")).collect();
    // The section of another agent cannot be seen, so its id is only known from what is said about it.
    let whole = fold_title(name);
    let whole = ["agent:", "npc:"].iter().find_map(|prefix| whole.strip_prefix(prefix)).unwrap_or(&whole);
    let first = whole.split_whitespace().next().unwrap_or_default();
    let spellings = [whole, &whole.replace(' ', "-"), &whole.replace(' ', "_"), first];
    if let Some(id) = spellings.iter().find(|id| others.contains(id)).map(|id| (*id).to_owned()) {
        return Ok(Character { scope: Scope::Npc(id.clone()), name: name.trim().to_owned(), id });
    }
    let hint = memories.unknown_character(name, &others)?;
    Err(Refusal::new(format!("nobody called `{name}` is known")).hint(hint))
}
