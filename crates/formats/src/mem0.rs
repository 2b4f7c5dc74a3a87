//! What mem0's `get_all` gives: a list of memories (v1), or an object with `results` and perhaps `relations` (v2).

use serde_json::Value;

use crate::found::{Found, Note, Subject};
use crate::json::{Object, date, first_text, leave_out_keys, objects, text, texts};
use crate::kind::tag;

/// Keys of a memory that are read.
const KNOWN: &str = "\
    id memory hash metadata categories user_id agent_id run_id created_at updated_at actor_id";

/// Keys that say how the memory was found.
const SETTINGS: &str = "score event app_id role score_details expiration_date";

fn memories(value: &Value) -> Option<&Vec<Value>> {
    value.as_array().or_else(|| value.get("results")?.as_array())
}

/// True for a list of objects with `memory`, and for an object with such a list.
pub(crate) fn is_one(value: &Value) -> bool {
    let first = memories(value).and_then(|list| list.first());
    first.and_then(|memory| memory.get("memory")).is_some_and(Value::is_string)
}

/// Reads the memories.
pub(crate) fn read(found: &mut Found, value: &Value) {
    for memory in memories(value).into_iter().flatten() {
        match memory.as_object() {
            Some(memory) => add(found, memory),
            None => found.leave_out("memories", 1, "they are no objects"),
        }
    }
    let Value::Object(document) = value else { return };
    let people: Vec<Subject> = found.notes.iter().map(|note| note.subject.clone()).collect();
    // A name of the graph may be that of a user.
    let named = |name: String| {
        let person = Subject::Person(name.clone());
        if people.contains(&person) { person } else { Subject::Topic(name) }
    };
    for relation in objects(document, "relations") {
        let (from, to) = (text(relation, "source"), first_text(relation, &["destination", "target"]));
        let words = format!("{from} {} {to}", text(relation, "relationship").replace('_', " "));
        if from.is_empty() || to.is_empty() {
            found.leave_out("relations", 1, "they have no source or no target");
        } else {
            found.take(Note { links: vec![named(to)], ..Note::of(named(from), &words) });
        }
    }
    leave_out_keys(found, document, "results relations", "count next previous");
}

fn add(found: &mut Found, memory: &Object) {
    let name = |key: &str| Some(text(memory, key)).filter(|name| !name.is_empty());
    let subject = match (name("user_id"), name("agent_id")) {
        (Some(user), _) => Subject::Person(user),
        (None, Some(agent)) => Subject::Agent(agent),
        (None, None) => Subject::Unsaid,
    };
    let mut tags: Vec<String> =
        texts(memory, "categories").iter().filter_map(|kind| tag("category", kind)).collect();
    tags.extend(name("run_id").and_then(|run| tag("session", &run)));
    tags.extend(name("actor_id").and_then(|actor| tag("by", &actor)));
    // The agent of a memory that belongs to a user.
    tags.extend(name("user_id").and(name("agent_id")).and_then(|agent| tag("agent", &agent)));
    found.take(Note {
        tags,
        date: date(memory, &["updated_at", "created_at"]),
        context: context(memory),
        ..Note::of(subject, &text(memory, "memory"))
    });
    leave_out_keys(found, memory, KNOWN, SETTINGS);
}

/// What the metadata say, on one line.
fn context(memory: &Object) -> Option<String> {
    let metadata = memory.get("metadata")?.as_object()?;
    let said = metadata.iter().filter(|(_, value)| crate::json::says_something(value));
    let said: Vec<String> = said
        .map(|(key, value)| {
            format!("{key}: {}", value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        })
        .collect();
    (!said.is_empty()).then(|| said.join(", "))
}
