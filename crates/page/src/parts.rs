//! The parts of sections: memories, evidence and notes, each different one once.
//!
//! A section's text enters; the numbers of its parts leave, in the order of the file. Most parts of a section are those
//! of its version before, so each is looked up by its text first. A part is kept as the JSON that `page/unpack.js`
//! reads: an object for a memory, which has texts of its own, and a short list for everything else, because a turn adds
//! one or two of them.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use crate::strings::Strings;
use memories_document::fields::write_fields;
use memories_document::grammar::write_reference;
use memories_document::types::{Attempt, Category, Memory, Persistence, Status, Way};
use memories_document::{Document, EntryText, Note};

/// All parts that the sections ever had.
#[derive(Debug, Default)]
pub(super) struct Parts {
    list: Vec<Box<RawValue>>,
    /// The actions, and the game's replies to them.
    texts: Strings,
    /// By the lines of the file.
    number_of_entry: HashMap<String, u32, FixedState>,
    /// By its JSON.
    number_of_other: HashMap<String, u32, FixedState>,
}

/// A section as it stood at a step.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SectionParts {
    /// The name in its heading.
    pub(super) name: String,
    /// The numbers of its parts: visits, memories, notes, ways, actions that worked, tries, what was seen.
    pub(super) numbers: Vec<u32>,
}

/// A memory of a section.
#[derive(Serialize)]
struct MemoryPart<'a> {
    k: &'static str,
    category: &'a Category,
    status: Status,
    persistence: Persistence,
    title: &'a str,
    text: &'a str,
    importance: u16,
    #[serde(skip_serializing_if = "String::is_empty")]
    fields: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    episode: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    see_also: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reference: Option<String>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    tags: &'a [String],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    writers: Vec<&'a str>,
}

impl Parts {
    /// The parts of a scope's sections, given as one text; `None` where it has no section.
    pub(super) fn of_section(&mut self, text: String) -> Option<SectionParts> {
        let document = Document::parse(text);
        let scope = &document.headings().next()?.scope;
        let section = document.section_without_memories(scope)?;
        let mut numbers = Vec::new();
        if section.visits > 0 || !section.episodes.is_empty() {
            numbers.push(self.number(json!(["v", section.visits, section.episodes]).to_string()));
        }
        numbers.extend(document.entries(scope).map(|entry| self.number_of_memory(&entry.text())));
        numbers.extend(section.notes.iter().map(|Note { heading, text }| {
            let gap = if heading.is_empty() { "" } else { ": " };
            self.number(json!(["n", format!("{heading}{gap}{text}")]).to_string())
        }));
        numbers.extend(section.ways.iter().map(|way| self.number_of_way(way)));
        numbers.extend(section.worked.iter().map(|attempt| self.number_of_attempt("o", attempt)));
        numbers.extend(section.tried.iter().map(|attempt| self.number_of_attempt("t", attempt)));
        numbers.extend(section.seen.iter().map(|attempt| self.number_of_attempt("s", attempt)));
        Some(SectionParts { name: section.name.clone(), numbers })
    }

    /// All parts so far, by their numbers.
    pub(super) fn list(&self) -> &[Box<RawValue>] {
        &self.list
    }

    /// The texts that evidence names by number.
    pub(super) fn texts(&self) -> &[String] {
        self.texts.list()
    }

    fn number_of_memory(&mut self, entry: &EntryText<'_>) -> u32 {
        if let Some(number) = self.number_of_entry.get(entry.text()) {
            return *number;
        }
        let part = memory_part(&entry.read());
        let number = self.push(part);
        self.number_of_entry.insert(entry.text().to_owned(), number);
        number
    }

    fn number_of_attempt(&mut self, kind: &str, attempt: &Attempt) -> u32 {
        let Attempt { action, count, episode, turn, reply, result } = attempt;
        let action = self.texts.number(action);
        let reply = self.texts.number(reply);
        self.number(short(&[
            json!(kind),
            json!(action),
            json!(count),
            json!(episode),
            json!(turn),
            json!(reply),
            json!((!result.is_vain()).then_some(result)),
        ]))
    }

    fn number_of_way(&mut self, way: &Way) -> u32 {
        let Way { action, to, name: _, count, episode, turn, after } = way;
        let action = self.texts.number(action);
        let after: Vec<_> = after.iter().map(|opener| self.texts.number(opener)).collect();
        self.number(short(&[
            json!("w"),
            json!(action),
            json!(to),
            json!(count),
            json!(episode),
            json!(turn),
            json!(after),
        ]))
    }

    fn number(&mut self, part: String) -> u32 {
        if let Some(number) = self.number_of_other.get(&part) {
            return *number;
        }
        let raw = RawValue::from_string(part.clone()).unwrap_or_else(|_| RawValue::NULL.to_owned());
        let number = self.push(raw);
        self.number_of_other.insert(part, number);
        number
    }

    fn push(&mut self, part: Box<RawValue>) -> u32 {
        let number = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        self.list.push(part);
        number
    }
}

fn memory_part(memory: &Memory) -> Box<RawValue> {
    let Memory { category, persistence, status, title, text, context, see_also, provenance, reference } =
        memory;
    let reference = reference.as_ref().map(|reference| {
        let line = write_reference(reference);
        line.trim_start_matches('[').trim_end_matches(']').to_owned()
    });
    let part = MemoryPart {
        k: "memory",
        category,
        status: *status,
        persistence: *persistence,
        title,
        text,
        importance: memory.importance(),
        fields: write_fields(provenance),
        episode: provenance.episode,
        turn: provenance.turns.map(|turns| turns.first),
        see_also: see_also.as_deref(),
        context: context.as_deref(),
        reference,
        tags: &provenance.tags,
        writers: memory.writers(),
    };
    to_raw_value(&part).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// A list as JSON, without what says nothing at its end.
fn short(list: &[Value]) -> String {
    let says_nothing = |value: &Value| value.is_null() || *value == json!(0) || *value == json!([]);
    let length = list.iter().rposition(|value| !says_nothing(value)).map_or(0, |last| last + 1);
    json!(list[..length]).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_names_its_openers_as_texts() {
        let mut parts = Parts::default();
        let ways = "- `n` → Location 2: B *(after open </script>; say <!-- hi)*\n- `s` → Location 2: B\n";
        parts.of_section(format!("## Location 1: A\n\n### Ways\n\n{ways}")).unwrap();
        let lists: Vec<Value> =
            parts.list().iter().map(|part| serde_json::from_str(part.get()).unwrap()).collect();
        assert_eq!(lists[0][6].as_array().map(Vec::len), Some(2));
        let text = |number: &Value| parts.texts()[number.as_u64().unwrap() as usize].as_str();
        assert_eq!((text(&lists[0][6][0]), text(&lists[0][6][1])), ("open </script>", "say <!-- hi"));
        assert_eq!(lists[1].as_array().map(Vec::len), Some(4), "a way without them says nothing of them");
    }
}
