//! `query_memories`, which searches everything, and the answers of all tools that search.

use serde_json::json;

use crate::ask::answer::{answer, memories_to_read};
use crate::mcp::answer::{Answer, Refusal, memory_text, memory_value};
use crate::mcp::model::ReportingModel;
use crate::mcp::parameter::ArgumentType::{Flag, Text};
use crate::mcp::parameter::Parameter;
use crate::mcp::tools::schema;
use crate::mcp::tools::tool::{Call, Effect, Tool};
use memories_document::types::frame::{INDENT, continued};
use memories_document::types::{Memory, Scope};
use memories_recall::budget::estimate_tokens;
use memories_search::filter::{Filter, MemoryKind};
use memories_search::{ANSWER_TOKENS, Hit, Question, SearchResults, cut_to_passages};

/// Categories of initial memories, which a seed gives an agent before its first turn.
const INITIAL: [&str; 8] =
    ["IDENTITY", "BACKGROUND", "COMMUNICATION", "DECISION_STYLE", "TRAITS", "SKILLS", "VALUES", "KNOWLEDGE"];

/// Number of memories that `query_memories` returns.
const FOUND: usize = 5;

/// Share of the highest relevance from which it shows an agent what was given to it, for which there are other tools.
const GIVEN: f32 = 0.6;

/// Number of memories that it adds of characters that the question names.
const NAMED: usize = 3;

const QUESTION: Parameter =
    Parameter::new("question", Text, "in words").required("ask in words, such as `where is the key?`");
const QUERY: Parameter = Parameter::new("query", Text, "in words");
const ANSWER: Parameter = Parameter::new("answer", Flag, "a model answers from them");
const UNSURE: Parameter = Parameter::new("unsure", Flag, "also unsure ones");

/// The search over everything, in the groups `places` and `self`.
pub(crate) const QUERY_MEMORIES: Tool = Tool {
    name: "query_memories",
    title: "Search all memories",
    about: "Search all memories by meaning: places, characters, events, dialogue. Use when no other search fits.",
    effect: Effect::Reads,
    parameters: &[QUESTION, ANSWER, UNSURE],
    answer: schema::MEMORIES,
    run: query_memories,
};

/// The search under its earlier name, with `query` for `question`, which prompts of agents still have. It is not
/// listed.
pub(crate) const QUERY_MEMORY: Tool =
    Tool { name: "query_memory", parameters: &[QUERY, QUESTION, ANSWER, UNSURE], ..QUERY_MEMORIES };

/// The answer if there are no memories at all.
pub(crate) const NOTHING_YET: &str = "No memories recorded yet.\n";

/// The hits of a search as a numbered list.
pub(crate) fn found(query: &str, results: &SearchResults, note: impl Fn(&Hit) -> String) -> Answer {
    answer_of(query, results, |number, hit| {
        memory_text(number, &hit.scope, &hit.name, &hit.memory, &note(hit))
    })
}

/// The answer to a search. `shown` is the text of a hit, given its number from 1.
pub(crate) fn answer_of(
    query: &str,
    results: &SearchResults,
    shown: impl Fn(usize, &Hit) -> String,
) -> Answer {
    let missing = results.missing_phrase.as_ref().filter(|_| !results.hits.is_empty());
    let mut text = missing.map_or_else(String::new, |phrase| {
        format!("No memory has \"{}\"; nearest:\n", continued(phrase, INDENT))
    });
    let mut values = Vec::new();
    let mut hits = results.hits.clone();
    cut_to_passages(hits.iter_mut(), ANSWER_TOKENS, |hit| estimate_tokens(&shown(1, hit)));
    for (hit, number) in hits.iter().zip(1..) {
        text.push_str(&shown(number, hit));
        let mut value = memory_value(&hit.scope, &hit.memory, f64::from(hit.relevance));
        if hit.is_weak {
            value["weak"] = json!(true);
        }
        values.push(value);
    }
    if results.hits.is_empty() {
        text.push_str(if results.entries == 0 { NOTHING_YET } else { "No relevant memories found.\n" });
    }
    let fallback = results.fallback.iter();
    let warnings = fallback.map(|error| format!("{}; the embedded model answers instead", error.problem));
    let warnings = warnings.collect();
    Answer { warnings, ..Answer::new(text, json!({"query": query, "memories": values})) }
}

/// The relevance of a hit as text.
pub(crate) fn relevance_note(hit: &Hit) -> String {
    format!("{:.2}{}", hit.relevance, if hit.is_weak { ", unsure" } else { "" })
}

fn query_memories(call: &Call<'_>) -> Result<Answer, Refusal> {
    let question = match call.arguments.text(&QUERY)? {
        Some(query) => query,
        None => call.arguments.required(&QUESTION)?,
    };
    let wants_answer = call.arguments.flag(&ANSWER)?.unwrap_or(false);
    let asked = Question::new(&question);
    let search =
        |asked, count, all| call.memories.search(call.watcher, asked, &Filter::default(), count, all);
    // A model reads memories below the floor in any case.
    let wants_weak = call.arguments.flag(&UNSURE)?.unwrap_or(false) && !wants_answer;
    let mut results = search(if wants_weak { asked.with_weak() } else { asked }, FOUND, false)?;
    let best = results.hits.first().map_or(0.0, |hit| hit.relevance);
    if call.memories.setup.agent.is_some() {
        results.hits.retain(|hit| hit.relevance >= best * GIVEN || !is_initial(&hit.scope, &hit.memory));
    }
    add_named(call, &question, &mut results.hits)?;
    if wants_answer {
        let hits = memories_to_read(results.hits.len(), |count| search(asked, count, true))?;
        if !hits.is_empty() {
            return answered(call, &question, results, hits);
        }
    }
    Ok(found(&question, &results, relevance_note))
}

/// Adds the memories of characters that the question names, whose texts need not name them.
fn add_named(call: &Call<'_>, question: &str, hits: &mut Vec<Hit>) -> Result<(), Refusal> {
    let characters = call.memories.characters()?.into_iter();
    let named = characters.filter(|one| matches!(one.scope, Scope::Npc(_)) && one.is_named_in(question));
    let scopes: Vec<Scope> = named.map(|one| one.scope).collect();
    if scopes.is_empty() {
        return Ok(());
    }
    let filter = Filter { scopes, ..Filter::default() };
    let known = call.memories.search(call.watcher, question, &filter, NAMED, true)?.hits;
    let is_new = |hit: &Hit| {
        !hits.iter().any(|other| other.scope == hit.scope && other.memory.title == hit.memory.title)
    };
    let new: Vec<Hit> = known.into_iter().filter(is_new).collect();
    hits.extend(new);
    Ok(())
}

/// A model's answer before the hits, and the other memories that it is based on; without one, the hits with a
/// warning.
fn answered(
    call: &Call<'_>,
    question: &str,
    results: SearchResults,
    hits: Vec<Hit>,
) -> Result<Answer, Refusal> {
    let plain = |warning: String| {
        let mut result = found(question, &results, relevance_note);
        result.warnings.push(warning);
        Ok(result)
    };
    let Some(model) = call.memories.model()?.model else {
        return plain("no model is set up to answer; these are the memories themselves".to_owned());
    };
    call.watcher.goes_on()?;
    let model = ReportingModel { model, watcher: call.watcher };
    let (answered, _) = match answer(&model, question, &hits, call.memories.setup.llm.max_memory_tokens) {
        Ok(answered) => answered,
        Err(error) => return plain(format!("{error}; these are the memories themselves")),
    };
    let listed = results.hits.len();
    let shown = (1..).zip(hits).filter(|(number, _)| *number <= listed || answered.numbers.contains(number));
    let (numbers, hits): (Vec<usize>, Vec<Hit>) = shown.unzip();
    let mut result = found(question, &SearchResults { hits, ..results }, relevance_note);
    let said = answered.text.as_deref().unwrap_or("The memories do not say.");
    result.text = format!("Answer: {}\n\n{}", continued(said, INDENT), result.text);
    result.data["answer"] = json!(answered.text);
    let place = |number: &usize| numbers.iter().position(|shown| shown == number).map(|at| at + 1);
    result.data["relevant"] = json!(answered.numbers.iter().filter_map(place).collect::<Vec<_>>());
    result.warnings.extend(answered.warnings);
    Ok(result)
}

/// True for initial memories: those of the scene, and those that a seed gives an agent.
pub(crate) fn is_initial(scope: &Scope, memory: &Memory) -> bool {
    let has_category = INITIAL.contains(&memory.category.as_str());
    match MemoryKind::of(scope, memory) {
        MemoryKind::Scene => true,
        MemoryKind::Character => has_category,
        MemoryKind::CharacterKnowledge => has_category || memory.provenance.turns.is_none(),
        _ => false,
    }
}
