//! The initial memories of each section, as the [`Cast`] describes them.
//!
//! An agent knows of another one only name, archetype, description and its own view of their relationship;
//! role, background and the other fields stay private. A relationship may be to an agent that only the
//! memory file knows.

use crate::seed::cast::{Agent, Cast, OWN_KEYS, Relationship, id_of_name, is_called};
use crate::seed::fields::nearest_hint;
use memories_document::Document;
use memories_document::types::{Category, Memory, Persistence, Scope, fold_title, is_id, same_title};

/// Categories and titles of an agent's own memories, in the order of [`OWN_KEYS`].
const OWN: [(&str, &str); OWN_KEYS.len()] = [
    ("BACKGROUND", "Background"),
    ("COMMUNICATION", "Communication style"),
    ("DECISION_STYLE", "Decision style"),
    ("TRAITS", "Traits"),
    ("SKILLS", "Skills"),
    ("VALUES", "Values"),
];

const IDENTITY: &str = "Identity";

/// High, so that a recall with a small budget keeps the identity.
const IDENTITY_IMPORTANCE: u16 = 900;

/// Categories and titles of the scene's memories.
const SCENE: [(&str, &str); 4] =
    [("LOCATION", "Location"), ("ATMOSPHERE", "Atmosphere"), ("TIME", "Time"), ("CONTEXT", "Context")];

/// A memory that a seed describes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InitialMemory {
    /// The memory, without the `seed:` source.
    pub memory: Memory,
    /// Only add it, never revise: the seed does not describe the agent that it is about.
    pub only_if_new: bool,
}

/// The initial memories of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InitialSection {
    pub scope: Scope,
    pub name: String,
    pub memories: Vec<InitialMemory>,
    pub warnings: Vec<String>,
}

/// The initial memories of all sections.
pub(crate) fn initial_sections(cast: &Cast, file: &Document) -> Vec<InitialSection> {
    let mut all: Vec<InitialSection> = cast.agents.iter().map(|agent| of_agent(agent, cast, file)).collect();
    if let Some(scene) = &cast.scene {
        let parts = scene.iter().zip(SCENE).filter_map(|(text, (category, title))| {
            Some(initial(category, title, text.as_deref()?, Persistence::Permanent))
        });
        all.push(InitialSection {
            scope: Scope::Scene,
            name: String::new(),
            memories: parts.collect(),
            warnings: Vec::new(),
        });
    }
    all
}

fn initial(category: &str, title: &str, text: &str, persistence: Persistence) -> InitialMemory {
    let category = Category::new(category).expect("a known category");
    InitialMemory { memory: Memory { persistence, ..Memory::new(category, title, text) }, only_if_new: false }
}

fn of_agent(agent: &Agent, cast: &Cast, file: &Document) -> InitialSection {
    let mut identity = initial("IDENTITY", IDENTITY, &identity(agent), Persistence::Core);
    identity.memory.provenance.importance = Some(IDENTITY_IMPORTANCE);
    let mut memories = vec![identity];
    for (text, (category, title)) in agent.own.iter().zip(OWN) {
        memories.extend(text.as_deref().map(|text| initial(category, title, text, Persistence::Core)));
    }
    let mut warnings = Vec::new();
    let others = || cast.agents.iter().filter(|other| other.id != agent.id);
    let names: Vec<&str> = others().map(|other| other.name.as_str()).collect();
    for other in others() {
        let stated = agent.relationships.iter().filter(|one| is_called(other, &one.to));
        let stated: Vec<&str> = stated.map(|one| one.text.as_str()).collect();
        memories.push(knowledge(&title_of(&other.name, &other.id, &names), &other.id, &seen(other, &stated)));
    }
    let undescribed = |one: &&Relationship| !others().any(|other| is_called(other, &one.to));
    let mut done: Vec<String> = Vec::new();
    for one in agent.relationships.iter().filter(undescribed) {
        let called = fold_title(&one.to);
        if done.contains(&called) {
            continue;
        }
        let same = agent.relationships.iter().filter(|other| fold_title(&other.to) == called);
        let stated: Vec<&str> = same.map(|other| other.text.as_str()).collect();
        done.push(called);
        match of_undescribed(agent, one, &stated, cast, file) {
            Ok(memory) => {
                warnings.extend((!memory.only_if_new).then(|| undescribed_warning(agent, one, cast)));
                memories.push(memory);
            }
            Err(warning) => warnings.push(warning),
        }
    }
    InitialSection { scope: Scope::Agent(agent.id.clone()), name: agent.name.clone(), memories, warnings }
}

/// The identity, addressed to the agent itself.
fn identity(agent: &Agent) -> String {
    let mut text = format!("You are {}.", agent.name);
    for (what, value) in [("Role", &agent.role), ("Archetype", &agent.archetype)] {
        if let Some(value) = value {
            text.push_str(&format!(" {what}: {}", sentence(value)));
        }
    }
    with_line(text, agent.description.as_deref())
}

/// Another agent as seen from outside, with the observer's own view of the relationship.
fn seen(other: &Agent, stated: &[&str]) -> String {
    let mut text = sentence(&other.name);
    if let Some(archetype) = &other.archetype {
        text.push_str(&format!(" Archetype: {}", sentence(archetype)));
    }
    let text = with_line(text, other.description.as_deref());
    stated.iter().fold(text, |text, stated| with_line(text, Some(&relation(stated))))
}

fn relation(stated: &str) -> String {
    // A list begins on a line of its own.
    let gap = if stated.starts_with("- ") { '\n' } else { ' ' };
    format!("Relationship:{gap}{stated}")
}

fn with_line(mut text: String, line: Option<&str>) -> String {
    if let Some(line) = line {
        text.push('\n');
        text.push_str(line);
    }
    text
}

/// The text, with a full stop if it has no final punctuation.
fn sentence(text: &str) -> String {
    let text = text.trim();
    if text.ends_with(['.', '!', '?', '…']) { text.to_owned() } else { format!("{text}.") }
}

fn knowledge(title: &str, id: &str, text: &str) -> InitialMemory {
    let mut knowledge = initial("KNOWLEDGE", title, text, Persistence::Permanent);
    knowledge.memory.provenance.tags.push(format!("about:{id}"));
    knowledge
}

/// The title of a memory about another agent: its name, followed by its id if the name alone is not unique
/// among the section's titles and the names of the `others` described there.
fn title_of(name: &str, id: &str, others: &[&str]) -> String {
    let namesakes = others.iter().filter(|other| same_title(other, name)).count();
    let mut own = OWN.iter().map(|(_, title)| *title).chain([IDENTITY]);
    if namesakes > 1 || own.any(|title| same_title(title, name)) {
        format!("{name} ({id})")
    } else {
        name.to_owned()
    }
}

/// A memory about someone whom the seed does not describe, only to be added if the memory file knows them. `Err`
/// is a warning: no memory can be made.
fn of_undescribed(
    agent: &Agent,
    one: &Relationship,
    stated: &[&str],
    cast: &Cast,
    file: &Document,
) -> Result<InitialMemory, String> {
    let place = &one.position;
    if is_called(agent, &one.to) {
        return Err(format!("{place}: `{}` states a relationship to itself: left out", agent.id));
    }
    let meant = |scope: &Scope, name: &str| match scope {
        Scope::Agent(id) if *id == one.to || same_title(name, &one.to) => Some(id.clone()),
        _ => None,
    };
    let in_file = file
        .headings()
        .find_map(|heading| Some((meant(&heading.scope, &heading.name)?, heading.name.clone())));
    let only_if_new = in_file.is_some();
    let (id, name) = in_file.unwrap_or_else(|| (id_of_name(&one.to), one.to.trim().to_owned()));
    if !is_id(&id) {
        let near = near(&one.to, cast);
        return Err(format!("{place}: no agent is called `{}`, and it is not an id: left out{near}", one.to));
    }
    let name = if name.is_empty() { id.clone() } else { name };
    let text = stated.iter().fold(sentence(&name), |text, stated| with_line(text, Some(&relation(stated))));
    Ok(InitialMemory { only_if_new, ..knowledge(&title_of(&name, &id, &[]), &id, &text) })
}

fn undescribed_warning(agent: &Agent, one: &Relationship, cast: &Cast) -> String {
    format!(
        "{}: no agent is called `{}`; its relationship to `{}` is stored anyway{}",
        one.position,
        one.to,
        agent.id,
        near(&one.to, cast)
    )
}

fn near(name: &str, cast: &Cast) -> String {
    nearest_hint(name, cast.agents.iter().map(|agent| agent.id.as_str()))
}
