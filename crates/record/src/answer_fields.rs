//! The fields of a model's answer: texts under several names, and the memories that it names.
//!
//! An object enters; texts, names and warnings leave. Every form that can mean only one thing is read.

use serde_json::{Map, Value};

use crate::prompt::MAX_TITLES;
use memories_llm::answer::text_of;

/// Names of the list of memories that it supersedes.
pub(super) const SUPERSEDES: [&str; 2] = ["supersedes", "supersedes_memory_titles"];

/// Names of the list of memories that are wrong.
pub(super) const WRONG: [&str; 3] = ["wrong", "invalidates", "invalidate_memory_titles"];

/// The fields of an object.
pub(super) type Fields = Map<String, Value>;

/// The first text among fields of several names.
pub(super) fn first_text(fields: &Fields, names: &[&str]) -> String {
    names.iter().map(|name| text_of(fields, name)).find(|text| !text.is_empty()).unwrap_or_default()
}

/// The first field of several names that has a value.
pub(super) fn first_value<'a>(fields: &'a Fields, names: &[&str]) -> Option<&'a Value> {
    names.iter().filter_map(|name| fields.get(*name)).find(|value| !value.is_null())
}

/// Numbers and titles that an answer says its memory supersedes.
pub(super) fn superseded_by(value: Option<&Value>, warnings: &mut Vec<String>) -> Vec<String> {
    let mut titles: Vec<String> = match value {
        Some(Value::Array(items)) => items.iter().filter_map(name_of).collect(),
        Some(value) => name_of(value).into_iter().collect(),
        None => Vec::new(),
    };
    titles.dedup();
    keep_first(&mut titles, SUPERSEDES[0], warnings);
    titles
}

/// Cuts a list of a field that names more memories than one answer may.
pub(super) fn keep_first<T>(list: &mut Vec<T>, field: &str, warnings: &mut Vec<String>) {
    if list.len() > MAX_TITLES {
        warnings.push(format!("{} titles in `{field}`, {MAX_TITLES} are used", list.len()));
        list.truncate(MAX_TITLES);
    }
}

/// The memories that an answer calls wrong, as it names them, each with its reason.
pub(super) fn wrong_of(answer: &Fields) -> Vec<(String, String)> {
    let items = match first_value(answer, &WRONG) {
        Some(Value::Array(items)) => items.as_slice(),
        Some(item) => std::slice::from_ref(item),
        None => &[],
    };
    let reason_of_all = text_of(answer, "invalidation_reason");
    let mut wrong: Vec<(String, String)> = Vec::new();
    for item in items {
        let fields = item.as_object();
        let named =
            fields.and_then(|fields| first_value(fields, &["memory", "title", "memory_title", "number"]));
        let Some(name) = name_of(named.unwrap_or(item)) else { continue };
        let reason = fields.map(|fields| text_of(fields, "reason")).filter(|reason| !reason.is_empty());
        if !wrong.iter().any(|(other, _)| *other == name) {
            wrong.push((name, reason.unwrap_or_else(|| reason_of_all.clone())));
        }
    }
    wrong
}

/// A title, or the number of a memory, which may be a plain number.
fn name_of(value: &Value) -> Option<String> {
    match value {
        Value::String(title) => Some(title.trim().to_owned()).filter(|title| !title.is_empty()),
        Value::Number(number) => Some(format!("m{number}")),
        _ => None,
    }
}
