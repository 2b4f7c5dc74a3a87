//! JSON (one document) and JSONL (one object a line).
//!
//! JSONL has a line for each section (`scope`, `name`, `visits`, `episodes`, `tried`), followed by one for
//! each of its memories. JSON is `{"version": 1, "sections": [{…, "memories": [{…}]}]}`; a list of memories
//! or an object with `memories` can be read as well.

use serde_json::{Map, Value, json};

use crate::transfer::object::{memory_object, read_item, read_section, section_object, unknown_keys};
use crate::transfer::source::{Item, Origin, TransferSource};
use memories_document::Section;
use memories_document::types::hint::Refused;
use memories_document::types::json::without_mark;
use memories_document::types::{Scope, json};

impl TransferSource {
    /// Adds the item that `read` makes of a JSON value, and notes unknown keys.
    pub(super) fn add(&mut self, at: Origin, value: &Value, read: impl Fn(&Value) -> Result<Item, String>) {
        if let Value::Object(object) = value {
            unknown_keys(object).for_each(|key| self.leave_out_key(key));
        }
        self.push(at, read(value));
    }
}

/// The version of the documents that are written, and the newest that is read.
const VERSION: u64 = 1;

/// Writes a line for each section and each memory.
pub(crate) fn write_jsonl(sections: &[(Scope, Section)]) -> Vec<u8> {
    let mut out = String::new();
    let mut line = |object: Map<String, Value>| {
        out.push_str(&Value::Object(object).to_string());
        out.push('\n');
    };
    for (scope, section) in sections {
        line(section_object(scope, section));
        for memory in &section.memories {
            line(memory_object(scope, memory));
        }
    }
    out.into_bytes()
}

/// Reads line by line; a line that cannot be read does not affect the others.
pub(crate) fn read_jsonl(bytes: &[u8]) -> TransferSource {
    let mut source = TransferSource::default();
    for (at, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let at = Origin::Line(at + 1);
        if without_mark(line).trim_ascii().is_empty() {
            continue;
        }
        match std::str::from_utf8(line).map(|line| json::read::<Value>(line.as_bytes())) {
            Ok(Ok(value)) => source.add(at, &value, read_item),
            Ok(Err(error)) => source.push(at, Err(not_json(&error))),
            Err(_) => source.push(at, Err("not UTF-8".to_owned())),
        }
    }
    source
}

/// The parser's message without its line number, which always is 1 here.
fn not_json(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what);
    format!("not JSON: {what}, column {}", error.column())
}

/// Writes one document.
pub(crate) fn write_json(sections: &[(Scope, Section)]) -> Vec<u8> {
    let section = |(scope, section): &(Scope, Section)| {
        let mut object = section_object(scope, section);
        let memories = section.memories.iter().map(|memory| {
            let mut object = memory_object(scope, memory);
            object.shift_remove("scope");
            Value::Object(object)
        });
        object.insert("memories".to_owned(), memories.collect());
        Value::Object(object)
    };
    let sections: Vec<Value> = sections.iter().map(section).collect();
    let mut text = format!("{:#}", json!({"version": VERSION, "sections": sections}));
    text.push('\n');
    text.into_bytes()
}

/// Keys of a document that hold no memories, or all of them.
const DOCUMENT_KEYS: [&str; 3] = ["version", "sections", "memories"];

/// A key of a document and what it holds: `` `notes` (3)``.
fn described(key: &str, value: &Value) -> String {
    match value {
        Value::Array(values) => format!("`{key}` ({})", values.len()),
        _ => format!("`{key}`"),
    }
}

/// Reads one document.
///
/// # Errors
///
/// If it is not JSON, neither a list nor an object with memories, or of a newer version.
pub(crate) fn read_json(bytes: &[u8]) -> Result<TransferSource, Refused> {
    let hint =
        "send {\"sections\": […]}, {\"memories\": […]} or a list; one object a line is `--format jsonl`";
    let unreadable = |problem: String| Refused::fix(problem, hint);
    let document: Value = json::read(bytes).map_err(|error| unreadable(format!("not JSON: {error}")))?;
    let mut source = TransferSource::default();
    let mut number = 0;
    match &document {
        Value::Array(memories) => add_memories(&mut source, memories, &mut number, None),
        Value::Object(object) => {
            let list = |key: &str| object.get(key).and_then(Value::as_array);
            // Only this program's own documents have sections; what other programs number says nothing here.
            let version = list("sections").and(object.get("version")).and_then(Value::as_u64);
            if let Some(version) = version.filter(|&version| version > VERSION) {
                let problem = format!("the document has version {version}, and this program knows {VERSION}");
                return Err(Refused::fix(problem, "install the newest `memories`"));
            }
            let others = object.iter().filter(|(key, _)| !DOCUMENT_KEYS.contains(&key.as_str()));
            if list("sections").or(list("memories")).is_none() {
                let found: Vec<String> = others.map(|(key, value)| described(key, value)).collect();
                let found = if found.is_empty() {
                    String::new()
                } else {
                    format!("; left out: {}", found.join(", "))
                };
                let problem =
                    format!("the document has neither a list `sections` nor a list `memories`{found}");
                return Err(unreadable(problem));
            }
            for (key, value) in others {
                let count = value.as_array().map_or(1, Vec::len) as u64;
                source.leave_out(format!("`{key}`"), count, "only `sections` and `memories` are read");
            }
            for (at, section) in list("sections").into_iter().flatten().enumerate() {
                add_section(&mut source, Origin::Section(at + 1), section, &mut number);
            }
            add_memories(&mut source, list("memories").map_or(&[], Vec::as_slice), &mut number, None);
        }
        _ => return Err(unreadable("the document is neither an object nor a list".to_owned())),
    }
    Ok(source)
}

fn add_section(source: &mut TransferSource, at: Origin, section: &Value, number: &mut usize) {
    let Value::Object(object) = section else {
        return source.push(at, Err("expected a JSON object".to_owned()));
    };
    source.add(at, section, |_| read_section(object));
    match object.get("memories") {
        None | Some(Value::Null) => {}
        Some(Value::Array(memories)) => add_memories(source, memories, number, Some(object)),
        Some(_) => source.push(at, Err("`memories` is not a list".to_owned())),
    }
}

/// Adds memories; those of a section get its place.
fn add_memories(
    source: &mut TransferSource,
    memories: &[Value],
    number: &mut usize,
    section: Option<&Map<String, Value>>,
) {
    const PLACE: [&str; 6] = ["scope", "location", "place", "location_id", "location_name", "name"];
    for memory in memories {
        *number += 1;
        let mut memory = memory.clone();
        if let (Some(section), Value::Object(object)) = (section, &mut memory) {
            for key in PLACE.iter().filter(|key| section.contains_key(**key)) {
                object.insert((*key).to_owned(), section[*key].clone());
            }
        }
        source.add(Origin::Memory(*number), &memory, read_item);
    }
}
