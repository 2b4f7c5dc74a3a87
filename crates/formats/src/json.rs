//! Values of JSON objects whose shape nobody promised.

use serde_json::{Map, Value};

use crate::found::Found;
use memories_document::types::instant;
use memories_document::types::text::truncate;

/// A JSON object.
pub(crate) type Object = Map<String, Value>;

/// Most characters that are shown of a key.
const KEY_CHARS: usize = 60;

/// Names of keys that are told, of each source.
const MOST_KEYS: usize = 200;

/// The text of a key; numbers count as texts. Empty where there is none.
pub(crate) fn text(object: &Object, key: &str) -> String {
    match object.get(key) {
        Some(Value::String(text)) => text.trim().to_owned(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    }
}

/// The first text that is not blank.
pub(crate) fn first_text(object: &Object, keys: &[&str]) -> String {
    keys.iter().map(|key| text(object, key)).find(|text| !text.is_empty()).unwrap_or_default()
}

/// The texts of a key: of a list, or of a text with commas.
pub(crate) fn texts(object: &Object, key: &str) -> Vec<String> {
    let all: Vec<&str> = match object.get(key) {
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(text)) => text.split(',').collect(),
        _ => Vec::new(),
    };
    all.into_iter().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()).collect()
}

/// The objects of a list.
pub(crate) fn objects<'a>(object: &'a Object, key: &str) -> impl Iterator<Item = &'a Object> {
    object.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object)
}

/// True for a key that says `true`.
pub(crate) fn is_true(object: &Object, key: &str) -> bool {
    object.get(key) == Some(&Value::Bool(true))
}

/// The first of these keys that states a time.
pub(crate) fn date(object: &Object, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| instant::stated(object.get(*key)?))
}

/// False for what says nothing: null, an empty text, list or object, `false`.
pub(crate) fn says_something(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Bool(true) | Value::Number(_) => true,
    }
}

/// True if a word is one of those between the spaces of a list.
pub(crate) fn is_any(word: &str, list: &str) -> bool {
    list.split_whitespace().any(|one| one == word)
}

/// Counts the keys that are not among the `known` ones: `settings` together, every other one by its name.
pub(crate) fn leave_out_keys(found: &mut Found, object: &Object, known: &str, settings: &str) {
    let said = || object.iter().filter(|(_, value)| says_something(value)).map(|(key, _)| key.as_str());
    if said().any(|key| is_any(key, settings)) {
        found.leave_out("settings", 1, "they say how the other program uses a note");
    }
    for key in said().filter(|key| !is_any(key, known) && !is_any(key, settings)) {
        let what = format!("`{}`", truncate(key, KEY_CHARS));
        let is_told = found.left_out.len() < MOST_KEYS || found.left_out.iter().any(|one| one.what == what);
        found.leave_out(if is_told { &what } else { "other keys" }, 1, "no memory has such a field");
    }
}
