//! Lorebooks of NovelAI: entries with keys, and categories that they name by id.

use std::collections::HashMap;

use serde_json::Value;

use crate::found::Found;
use crate::json::{Object, date, is_true, leave_out_keys, objects, text, texts};
use crate::lore::{Lore, take};

/// Keys of an entry that are read.
const KNOWN: &str = "text displayName keys id category enabled forceActivation lastUpdatedAt hidden";

/// Keys that say how the other program uses an entry.
const SETTINGS: &str = "\
    contextConfig searchRange keyRelative nonStoryActivatable loreBiasGroups phraseBiasGroups \
    advancedConditions activationType order settings";

/// True for an object with `lorebookVersion` and entries.
pub(crate) fn is_one(book: &Object) -> bool {
    book.contains_key("lorebookVersion") && book.get("entries").is_some_and(Value::is_array)
}

/// Reads a lorebook.
pub(crate) fn read(found: &mut Found, book: &Object) {
    let categories: HashMap<String, String> =
        objects(book, "categories").map(|category| (text(category, "id"), text(category, "name"))).collect();
    for entry in objects(book, "entries") {
        take(
            found,
            Lore {
                name: text(entry, "displayName"),
                keys: texts(entry, "keys"),
                text: text(entry, "text"),
                kind: categories.get(&text(entry, "category")).cloned().unwrap_or_default(),
                is_core: is_true(entry, "forceActivation"),
                is_off: entry.get("enabled") == Some(&Value::Bool(false)),
                date: date(entry, &["lastUpdatedAt"]),
                ..Lore::default()
            },
        );
        leave_out_keys(found, entry, KNOWN, SETTINGS);
    }
    let all = book.get("entries").and_then(Value::as_array).map_or(0, Vec::len);
    found.leave_out("entries", all - objects(book, "entries").count(), "they are no objects");
    leave_out_keys(found, book, "lorebookVersion entries categories", "settings order");
}
