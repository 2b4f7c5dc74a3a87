//! World Info that keeps itself up to date: an entry for each section, found again by its scope.

use serde_json::{Map, Value, json};

use crate::json::Object;
use crate::said::{is_lore, line, memories, name, ways};
use crate::world_info::OWN;
use memories_document::Section;
use memories_document::types::Scope;
use memories_document::types::hint::Refused;
use memories_document::types::json;

/// A book, and what became of its entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorldInfo {
    /// The text of the file.
    pub text: String,
    /// Entries of sections.
    pub entries: usize,
    /// Entries of sections that are gone; they are switched off.
    pub gone: usize,
}

/// The book with an entry for each section. Entries of others stay as they are, and so does all of ours but the text.
/// `is_whole` says that no section is left out on request.
///
/// # Errors
///
/// If the text that is there is no World Info.
pub fn world_info(
    existing: Option<&str>,
    sections: &[(Scope, Section)],
    is_whole: bool,
) -> Result<WorldInfo, Refused> {
    let mut book = match existing.filter(|text| !text.trim().is_empty()) {
        None => Map::from_iter([("entries".to_owned(), json!({}))]),
        Some(text) => book_of(text)?,
    };
    let Some(Value::Object(entries)) = book.get_mut("entries") else { return Err(no_book()) };
    let names: Vec<(Scope, String)> =
        sections.iter().map(|(scope, section)| (scope.clone(), name(scope, section))).collect();
    let mut written: Vec<String> = Vec::new();
    for (scope, section) in sections.iter().filter(|(scope, _)| is_lore(scope)) {
        let content = content(section, &names);
        if content.is_empty() {
            continue;
        }
        let scope_text = scope.to_string();
        match entries.values_mut().find_map(|entry| own(entry, &scope_text)) {
            Some(entry) => update(entry, content),
            None => add(entries, scope, &name(scope, section), &content),
        }
        written.push(scope_text);
    }
    let mut gone = 0;
    for entry in entries.values_mut().filter_map(Value::as_object_mut).filter(|_| is_whole) {
        let is_gone = scope_of(entry).is_some_and(|scope| !written.iter().any(|other| other == scope));
        if is_gone {
            gone += 1;
            if entry.get("disable") != Some(&Value::Bool(true)) {
                entry.insert("disable".to_owned(), json!(true));
                entry["extensions"][OWN]["gone"] = json!(true);
            }
        }
    }
    let mut text = format!("{:#}", Value::Object(book));
    text.push('\n');
    Ok(WorldInfo { text, entries: written.len(), gone })
}

fn book_of(text: &str) -> Result<Object, Refused> {
    match json::read(text.as_bytes()) {
        Ok(Value::Object(book)) => Ok(book),
        _ => Err(no_book()),
    }
}

fn no_book() -> Refused {
    Refused::fix(
        "the file that is there is no World Info",
        "give another file, or one that SillyTavern exported",
    )
}

/// The scope that an entry of ours stands for.
fn scope_of(entry: &Object) -> Option<&str> {
    entry.get("extensions")?.get(OWN)?.get("scope")?.as_str()
}

fn own<'a>(entry: &'a mut Value, scope: &str) -> Option<&'a mut Object> {
    let entry = entry.as_object_mut()?;
    (scope_of(entry) == Some(scope)).then_some(entry)
}

/// What the section says, a line for each memory and each way.
fn content(section: &Section, names: &[(Scope, String)]) -> String {
    let said = memories(section).map(|memory| format!("{}: {}", line(&memory.title), line(&memory.text)));
    let ways =
        ways(section, names).into_iter().map(|(action, _, name)| format!("{action} leads to {}", line(name)));
    said.chain(ways).collect::<Vec<_>>().join("\n")
}

/// Puts the new text into an entry. One that was switched off because its section was gone is switched on.
fn update(entry: &mut Object, content: String) {
    entry.insert("content".to_owned(), json!(content));
    let mark = entry.get_mut("extensions").and_then(|extensions| extensions.get_mut(OWN));
    if let Some(Value::Object(mark)) = mark
        && mark.shift_remove("gone").is_some()
    {
        entry.insert("disable".to_owned(), json!(false));
    }
}

/// Adds an entry as SillyTavern makes it.
fn add(entries: &mut Object, scope: &Scope, name: &str, content: &str) {
    let numbers =
        entries.iter().flat_map(|(key, entry)| [key.parse().ok(), entry.get("uid").and_then(Value::as_u64)]);
    let uid: u64 = numbers.flatten().max().map_or(0, |uid: u64| uid.saturating_add(1));
    let is_everywhere = matches!(scope, Scope::World | Scope::Game | Scope::Scene);
    let keys: Vec<&str> = if is_everywhere { Vec::new() } else { vec![name] };
    let entry = json!({
        "uid": uid, "key": keys, "keysecondary": [], "comment": scope.label(name), "content": content,
        "constant": is_everywhere, "vectorized": false, "selective": true, "selectiveLogic": 0, "addMemo": true,
        "order": 100, "position": 0, "disable": false, "excludeRecursion": false, "preventRecursion": false,
        "probability": 100, "useProbability": true, "depth": 4,
        "extensions": {OWN: {"scope": scope.to_string()}},
    });
    entries.insert(uid.to_string(), entry);
}
