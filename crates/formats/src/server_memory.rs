//! `memory.jsonl` of the MCP server `server-memory`: entities with observations, and relations between them.

use std::collections::HashMap;

use serde_json::Value;

use crate::found::{Found, Note, Subject};
use crate::json::{Object, leave_out_keys, text};
use crate::kind::{subject, tag};
use crate::source::{Content, Source};

/// True if the first line is an entity or a relation. A graph of one line is a whole JSON document.
pub(crate) fn is_one(source: &Source) -> bool {
    let first = match &source.content {
        Content::Json(value) => Some(value),
        Content::Lines(lines) => lines.first().and_then(|line| line.as_ref().ok()),
        _ => None,
    };
    first.and_then(Value::as_object).is_some_and(|line| is_entity(line) || is_relation(line))
}

fn is_entity(line: &Object) -> bool {
    text(line, "type") == "entity" && line.contains_key("name")
}

fn is_relation(line: &Object) -> bool {
    text(line, "type") == "relation" && line.contains_key("from") && line.contains_key("to")
}

/// Reads a graph.
pub(crate) fn read(found: &mut Found, content: &Content) {
    let lines: Vec<Result<&Value, &String>> = match content {
        Content::Lines(lines) => lines.iter().map(Result::as_ref).collect(),
        Content::Json(value) => vec![Ok(value)],
        _ => return,
    };
    let objects = || lines.iter().filter_map(|line| line.ok()?.as_object());
    found.leave_out("lines", lines.iter().filter(|line| line.is_err()).count(), "they are not JSON");
    let entities = objects().filter(|line| is_entity(line));
    let subjects: HashMap<String, Subject> = entities
        .map(|line| (text(line, "name"), subject(&text(line, "entityType"), &text(line, "name"))))
        .collect();
    let named = |name: &str| subjects.get(name).cloned().unwrap_or_else(|| Subject::Topic(name.to_owned()));
    for line in objects() {
        if is_entity(line) {
            add_entity(found, line, &named(&text(line, "name")));
        } else if is_relation(line) {
            let (from, to, kind) = (text(line, "from"), text(line, "to"), text(line, "relationType"));
            let words = format!("{from} {} {to}", if kind.is_empty() { "→" } else { &kind });
            let tags = tag("relation", &kind).into_iter().collect();
            found.take(Note { links: vec![named(&to)], tags, ..Note::of(named(&from), &words) });
            leave_out_keys(found, line, "type from to relationType", "");
        } else {
            found.leave_out("lines", 1, "they are neither an entity nor a relation");
        }
    }
    let others = lines.iter().filter(|line| line.is_ok_and(|line| !line.is_object())).count();
    found.leave_out("lines", others, "they are no objects");
}

fn add_entity(found: &mut Found, line: &Object, subject: &Subject) {
    found.subjects.push(subject.clone());
    let tags: Vec<String> = tag("type", &text(line, "entityType")).into_iter().collect();
    let observations = line.get("observations").and_then(Value::as_array);
    for observation in observations.into_iter().flatten() {
        match observation.as_str() {
            Some(words) => found.take(Note { tags: tags.clone(), ..Note::of(subject.clone(), words) }),
            None => found.leave_out("observations", 1, "they are no texts"),
        }
    }
    leave_out_keys(found, line, "type name entityType observations", "");
}
