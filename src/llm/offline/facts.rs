//! The facts of one turn, read tolerantly from JSON.
//!
//! In: the value a caller puts into a question. Out: plain Rust values in which every missing or
//! ill-shaped part has become "not known". Nothing here fails.

use serde_json::Value;

use crate::types::same_title;

/// The longest reply that is looked at, in characters.
const MAX_REPLY_CHARS: usize = 6000;

/// A place as a turn names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// The engine's id, where it is a whole number.
    pub(super) id: Option<i64>,
    /// The name, trimmed; may be empty.
    pub(super) name: String,
}

/// A memory that the caller already holds.
#[derive(Debug, Clone)]
pub(super) struct Known {
    /// Its title.
    pub(super) title: String,
    /// Its text.
    pub(super) text: String,
    /// The episode in which it was last written, where that is known.
    pub(super) episode: Option<u64>,
}

/// What is known of a turn.
#[derive(Debug, Clone)]
pub(super) struct Facts {
    /// The running episode, where that is known.
    pub(super) episode: Option<u64>,
    /// The action on one line, single-spaced.
    pub(super) action: String,
    /// What the game said, without control characters, bounded.
    pub(super) reply: String,
    /// Where the action was taken.
    pub(super) before: Option<Place>,
    /// Where the player is now.
    pub(super) after: Option<Place>,
    /// By how much the score changed; 0 where unknown.
    pub(super) score_change: i64,
    /// Things the player has now and had not.
    pub(super) gained: Vec<String>,
    /// Things the player had and has no more.
    pub(super) lost: Vec<String>,
    /// The player died.
    pub(super) died: bool,
    /// The caller says that the world changed.
    pub(super) world_changed: bool,
    /// The place arrived at had no section so far.
    pub(super) first_visit: bool,
    /// Live memories of the place where the action was taken.
    pub(super) memories: Vec<Known>,
    /// Live memories of the place arrived at, if it is another.
    pub(super) memories_after: Vec<Known>,
}

impl Facts {
    /// Reads what a caller says of a turn.
    pub(super) fn new(value: &Value) -> Facts {
        let turn = &value["turn"];
        let before = read_place(&turn["location_before"]);
        let after = read_place(&turn["location_after"]);
        let (gained, lost) = difference(&turn["inventory_before"], &turn["inventory_after"]);
        Facts {
            episode: turn["episode"].as_u64(),
            action: one_line(turn["action"].as_str().unwrap_or_default()),
            reply: clean(turn["response"].as_str().unwrap_or_default()),
            before,
            after,
            score_change: change(&turn["score_before"], &turn["score_after"]),
            gained,
            lost,
            died: turn["died"].as_bool().unwrap_or(false),
            world_changed: turn["world_changed"].as_bool().unwrap_or(false),
            first_visit: has_trigger(&value["triggers"], "first_visit"),
            memories: read_memories(&value["memories"]),
            memories_after: read_memories(&value["memories_after"]),
        }
    }

    /// Whether the turn ended at another place than it began.
    pub(super) fn moved(&self) -> bool {
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => match (before.id, after.id) {
                (Some(from), Some(to)) => from != to,
                _ => before.name != after.name,
            },
            _ => false,
        }
    }

    /// The place where the player is now: the one arrived at, else the one acted in.
    pub(super) fn here(&self) -> Option<&Place> {
        self.after.as_ref().or(self.before.as_ref())
    }

    /// Live memories of the place where the player is now.
    pub(super) fn memories_here(&self) -> &[Known] {
        if self.moved() { &self.memories_after } else { &self.memories }
    }

    /// Names of both places, for telling title lines from sentences.
    pub(super) fn place_names(&self) -> Vec<&str> {
        let places = self.before.iter().chain(self.after.iter());
        places.map(|place| place.name.as_str()).filter(|name| !name.is_empty()).collect()
    }
}

/// The memory of that title.
pub(super) fn find_title<'a>(memories: &'a [Known], title: &str) -> Option<&'a Known> {
    memories.iter().find(|known| same_title(&known.title, title))
}

fn read_place(value: &Value) -> Option<Place> {
    if let Some(id) = value.as_i64() {
        return Some(Place { id: Some(id), name: String::new() });
    }
    let fields = value.as_object()?;
    let name = one_line(fields.get("name").and_then(Value::as_str).unwrap_or_default());
    Some(Place { id: fields.get("id").and_then(Value::as_i64), name })
}

fn read_memories(value: &Value) -> Vec<Known> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let read = |value: &Value| Known {
        title: text(&value["title"]),
        text: one_line(value["text"].as_str().unwrap_or_default()),
        episode: value["episode"].as_u64(),
    };
    value.as_array().map(|list| list.iter().map(read).collect()).unwrap_or_default()
}

fn has_trigger(value: &Value, name: &str) -> bool {
    value.as_array().is_some_and(|list| list.iter().any(|trigger| trigger.as_str() == Some(name)))
}

fn change(before: &Value, after: &Value) -> i64 {
    match (before.as_i64(), after.as_i64()) {
        (Some(before), Some(after)) => after.saturating_sub(before),
        _ => 0,
    }
}

/// What was gained and lost between two inventories, each a multiset; nothing where one is unknown.
fn difference(before: &Value, after: &Value) -> (Vec<String>, Vec<String>) {
    let (Some(before), Some(after)) = (before.as_array(), after.as_array()) else {
        return (Vec::new(), Vec::new());
    };
    let names = |list: &[Value]| -> Vec<String> {
        let named = list.iter().filter_map(Value::as_str).map(one_line);
        named.filter(|name| !name.is_empty()).take(200).collect()
    };
    let mut lost = names(before);
    let mut gained = Vec::new();
    for name in names(after) {
        match lost.iter().position(|known| *known == name) {
            Some(index) => {
                lost.remove(index);
            }
            None => gained.push(name),
        }
    }
    (gained, lost)
}

/// A text on one line, single-spaced, without control characters.
fn one_line(text: &str) -> String {
    let visible: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(400).collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A reply with plain line ends, without other control characters, cut where it is endless.
fn clean(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let keep = |c: char| if c.is_control() && c != '\n' { ' ' } else { c };
    text.trim_matches('\n').chars().map(keep).take(MAX_REPLY_CHARS).collect()
}
