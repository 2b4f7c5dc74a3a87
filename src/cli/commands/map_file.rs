//! Reads the ids of a game's places from a file of another program.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use serde_json::Value;

use crate::cli::context::MAX_INPUT;
use crate::cli::failure::Failure;
use memories_document::types::fields::count;
use memories_document::types::json;
use memories_store::read_bounded;

/// Reads the ids of a map: a JSON array of ids or of objects with an `id`, an object keyed by ids,
/// either of them within another object, or a text with one id a line.
///
/// # Errors
///
/// When the file cannot be read or names no places.
pub(crate) fn read_map(path: &Path) -> Result<BTreeSet<u64>, Failure> {
    let shown = path.display();
    let text = read_bounded(path, MAX_INPUT).and_then(|bytes| {
        String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
    });
    let text = text.map_err(|error| {
        Failure::caused(format!("cannot read the map `{shown}`"), error)
            .hint("name a JSON file with ids, or a text with one id a line")
    })?;
    let ids = match json::read::<Value>(text.as_bytes()) {
        Ok(value) => ids_of(&value),
        Err(_) => ids_of_lines(json::text_without_mark(&text)),
    };
    ids.filter(|ids| !ids.is_empty()).ok_or_else(|| {
        let failure = Failure::user(format!("the map `{shown}` names no places"));
        failure.hint("a map is `[1, 2]`, `[{\"id\": 1}]`, `{\"1\": …}`, or a text with one id a line")
    })
}

fn ids_of(value: &Value) -> Option<BTreeSet<u64>> {
    match value {
        Value::Number(_) => Some(BTreeSet::from([value.as_u64()?])),
        Value::Array(items) => items.iter().map(id_of).collect(),
        Value::Object(object) => {
            let keys: Option<BTreeSet<u64>> = object.keys().map(|key| key.trim().parse().ok()).collect();
            let inner =
                || object.values().filter(|value| value.is_array() || value.is_object()).find_map(ids_of);
            keys.filter(|keys| !keys.is_empty()).or_else(inner)
        }
        _ => None,
    }
}

fn id_of(item: &Value) -> Option<u64> {
    match item {
        Value::Object(object) => ["id", "num"].iter().find_map(|name| count(object.get(*name)?).ok()),
        other => count(other).ok(),
    }
}

/// Each line begins with an id; empty lines and lines that begin with `#` are skipped.
fn ids_of_lines(text: &str) -> Option<BTreeSet<u64>> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let first = |line: &str| line.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok();
    lines.map(first).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_of_all_forms() {
        let read = |json: &str| ids_of(&serde_json::from_str(json).expect("JSON"));
        for json in [
            "[1, 2]",
            r#"[{"id": 1, "name": "A"}, {"num": 2}]"#,
            r#"{"1": "A", "2": {}}"#,
            r#"{"game": "zork", "rooms": [{"id": 2}, {"id": 1}]}"#,
        ] {
            assert_eq!(read(json), Some(BTreeSet::from([1, 2])), "{json}");
        }
        assert_eq!(read(r#"{"a": "b"}"#), None);
        assert_eq!(ids_of_lines("# Zork\n1 West of House\n\n2: North\n"), Some(BTreeSet::from([1, 2])));
        assert_eq!(ids_of_lines("West of House"), None);
    }
}
