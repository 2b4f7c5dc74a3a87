//! World Info of SillyTavern: entries by their uid. The book of a character card has a list of entries instead.

use serde_json::Value;

use crate::found::Found;
use crate::json::{Object, first_text, is_true, leave_out_keys, text, texts};
use crate::lore::{Lore, take};

/// Keys of an entry that are read.
const KNOWN: &str = "\
    uid id key keys keysecondary secondary_keys comment name content constant disable enabled extensions \
    displayIndex addMemo";

/// Keys that say when and where the other program shows an entry.
const SETTINGS: &str = "\
    selective selectiveLogic order insertion_order position excludeRecursion preventRecursion \
    delayUntilRecursion probability useProbability depth group groupOverride groupWeight scanDepth \
    caseSensitive case_sensitive matchWholeWords useGroupScoring automationId role vectorized sticky \
    cooldown delay priority use_regex characterFilter ignoreBudget matchPersonaDescription \
    matchCharacterDescription matchCharacterPersonality matchCharacterDepthPrompt matchScenario \
    matchCreatorNotes triggers outletName scan_depth token_budget recursive_scanning mode folder \
    activationPercent bookVersion insertorder alwaysActive characterFilterNames characterFilterTags \
    characterFilterExclude";

/// The key below `extensions` of the entries that `memories export` writes.
pub(crate) const OWN: &str = "memories";

/// True for an object whose entries have a content, and for one without entries that says to be a book.
pub(crate) fn is_one(book: &Object) -> bool {
    let is_entry =
        |entry: &Value| entry.get("content").is_some() && (entry.get("key").or(entry.get("keys"))).is_some();
    !book.contains_key("lorebookVersion")
        && match book.get("entries") {
            Some(Value::Object(entries)) => entries.values().next().is_none_or(is_entry),
            Some(Value::Array(entries)) => entries.first().is_some_and(is_entry),
            _ => false,
        }
}

/// True for an entry that `memories export` wrote.
pub(crate) fn is_own(entry: &Object) -> bool {
    entry.get("extensions").and_then(|extensions| extensions.get(OWN)).is_some_and(Value::is_object)
}

/// Reads a book.
pub(crate) fn read(found: &mut Found, book: &Object) {
    let entries: Vec<&Value> = match book.get("entries") {
        Some(Value::Object(entries)) => entries.values().collect(),
        Some(Value::Array(entries)) => entries.iter().collect(),
        _ => Vec::new(),
    };
    for entry in entries {
        match entry.as_object() {
            None => found.leave_out("entries", 1, "they are no objects"),
            Some(entry) if is_own(entry) => {
                found.leave_out("entries of `memories export`", 1, "the memory file has what they say");
            }
            Some(entry) => add(found, entry),
        }
    }
    let settings = format!("{SETTINGS} name description extensions");
    leave_out_keys(found, book, "entries originalData", &settings);
}

fn add(found: &mut Found, entry: &Object) {
    let keys = ["key", "keys", "keysecondary", "secondary_keys"].iter().flat_map(|key| texts(entry, key));
    take(
        found,
        Lore {
            name: first_text(entry, &["comment", "name"]),
            keys: keys.collect(),
            text: text(entry, "content"),
            is_core: is_true(entry, "constant"),
            is_off: is_true(entry, "disable") || entry.get("enabled") == Some(&Value::Bool(false)),
            ..Lore::default()
        },
    );
    leave_out_keys(found, entry, KNOWN, SETTINGS);
    if let Some(Value::Object(extensions)) = entry.get("extensions") {
        leave_out_keys(found, extensions, "", "");
    }
}
