//! One line of the journal: a JSON object, with one type for writers and readers.
//!
//! Every change of the memory file, of the session or of the running episode by a command is one entry,
//! and so is every recorded turn. The table says which fields a line has besides `version`, `id`, `time`
//! and `outcome`:
//!
//! | command | fields |
//! |---|---|
//! | `record` (not named in the line) | `turn`, `writer`, `triggers`, `memories`, `invalidated`, `reasoning`, `model`, `warnings`, `visits`; where its episode ended ephemeral memories `ephemeral_ended` and `session`; of a file of turns `source_line`, by which a turn without number and id is known |
//! | `retry` | the same, and `resolves`: the `id` of the line whose turn waited |
//! | `add`, `form_memory` | `memories` |
//! | `supersede` and other corrections | `corrected`, `reasoning` |
//! | `episode` | `episode`, `ephemeral_ended`, `session`: the text that was cleared |
//! | `check` (formerly also `fmt`) | `lines`: how many were rewritten |
//! | `restore` | `state`: the number of the backup; `set_aside` and `brought_back`: see [`super::aside`] |
//! | `rewind` (also of `record`) | `episode`, `after`: the number of the last turn that stays, `writer`, `set_aside` |
//! | `import`, `seed` | `reasoning` |
//! | `consolidate` | `scope`, `corrected`, `decisions`, `reasoning`, `refused`, `model`; where a model was asked about a scope that grew `kept`: the lasting memories that it has now |
//! | `digest`, `extract` | `conversation`, `memories`, `model` |
//!
//! A line whose transaction changed the memory file has `change`, too: see [`super::change`]. A line with `carried` is
//! what a rotation kept of a turn that waits, without its `change`. Readers are tolerant: unknown fields are
//! ignored, and each field may be missing.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::journal::aside::LineSet;
use crate::journal::text::Text;
use memories_document::types::{Author, Outcome, Persistence, Span};

/// The command that records turns. Its lines are known by their turn and name no command.
pub const RECORD: &str = "record";

/// A line of the journal. `T` is the turn as its reader wants it: [`PlayedTurn`], or a whole JSON value.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'a, T: Deserialize<'de>"))]
#[expect(missing_docs, reason = "the names are the keys of the journal, which `docs/files.md` explains")]
pub struct Entry<'a, T = PlayedTurn<'a>> {
    pub version: Option<u32>,
    pub id: Option<Text<'a>>,
    pub time: Option<Text<'a>>,
    pub outcome: Option<Text<'a>>,
    pub effect: Option<Text<'a>>,
    pub command: Option<Text<'a>>,
    pub scope: Option<Text<'a>>,
    pub conversation: Option<Text<'a>>,
    pub episode: Option<u64>,
    pub ephemeral_ended: Option<u64>,
    pub session: Option<Text<'a>>,
    pub lines: Option<u64>,
    pub state: Option<u64>,
    pub turn: Option<T>,
    pub triggers: Option<Vec<Text<'a>>>,
    pub memories: Option<Vec<MemoryEntry<'a>>>,
    pub corrected: Option<Vec<MemoryEntry<'a>>>,
    pub invalidated: Option<Vec<Text<'a>>>,
    pub decisions: Option<Value>,
    pub reasoning: Option<Text<'a>>,
    pub refused: Option<Value>,
    pub kept: Option<u64>,
    pub model: Option<ModelEntry<'a>>,
    pub warnings: Option<Vec<Text<'a>>>,
    pub visits: Option<u64>,
    pub source_line: Option<Text<'a>>,
    pub resolves: Option<Text<'a>>,
    pub carried: Option<bool>,
    pub writer: Option<Text<'a>>,
    pub after: Option<u64>,
    pub set_aside: Option<LineSet>,
    pub brought_back: Option<LineSet>,
    /// The change of the memory file. It is not decoded here: only the history needs it.
    pub change: Option<&'a RawValue>,
}

impl<'a, T: Deserialize<'a>> Entry<'a, T> {
    /// Reads a line; `None` where it is no entry, such as one that a kill has torn.
    pub fn parse(line: &'a str) -> Option<Entry<'a, T>> {
        serde_json::from_str(line).ok()
    }
}

impl<'a, T> Entry<'a, T> {
    /// The changes of memories, whichever command made them.
    pub fn parts(&self) -> impl Iterator<Item = &MemoryEntry<'a>> {
        self.memories.iter().chain(&self.corrected).flatten()
    }

    /// True if this is the outcome of the line as a whole.
    pub fn has(&self, outcome: Outcome) -> bool {
        is_outcome(self.outcome.as_ref(), outcome)
    }

    /// True if its turn waits for a model.
    pub fn is_queued(&self) -> bool {
        self.has(Outcome::Queued)
    }
}

impl<T: Serialize> Entry<'_, T> {
    /// The line, without a line feed. The order of its keys is part of the format, and so is which
    /// missing values are written as `null`.
    pub fn to_line(&self) -> String {
        let Ok(Value::Object(mut line)) = serde_json::to_value(self) else { return String::new() };
        let of_episode = self.ephemeral_ended.is_some();
        let of_conversation = self.conversation.is_some();
        line.retain(|key, value| {
            !value.is_null() || (of_episode && key == "session") || (of_conversation && key == "model")
        });
        if let Some(command) = line.shift_remove("command") {
            let at = match self {
                Entry { turn: Some(_), .. } => line.len() - usize::from(self.change.is_some()),
                Entry { conversation: Some(_), .. } => 3,
                _ => 4,
            };
            line.shift_insert(at, "command".to_owned(), command);
        }
        Value::Object(line).to_string()
    }
}

/// True if that is the outcome which a line names.
fn is_outcome(named: Option<&Text<'_>>, outcome: Outcome) -> bool {
    named.is_some_and(|named| &**named == outcome.name())
}

/// The change of one memory.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
#[expect(missing_docs, reason = "the names are the keys of the journal, which `docs/files.md` explains")]
pub struct MemoryEntry<'a> {
    /// `stored`, `revised`, `contested`, `duplicate`; of a correction `superseded`, `invalidated`, `forgotten` and so
    /// on.
    pub outcome: Option<Text<'a>>,
    pub scope: Option<Text<'a>>,
    /// The name of the section.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<Text<'a>>,
    pub title: Option<Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persistence: Option<Persistence>,
    /// Its author.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<Author>,
    /// Titles that it superseded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub superseded: Vec<Text<'a>>,
    /// Titles of the protected memories that it contests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contested: Vec<Text<'a>>,
    /// Its importance, if it is not the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub importance: Option<u16>,
    /// For a duplicate: the importance to which the existing memory was raised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raised_to: Option<u16>,
    /// The messages of a conversation from which it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<Span>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<Text<'a>>>,
    /// The whole memory, if it was forgotten.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Value>,
}

impl MemoryEntry<'_> {
    /// True if this is the outcome for the memory.
    pub fn has(&self, outcome: Outcome) -> bool {
        is_outcome(self.outcome.as_ref(), outcome)
    }
}

/// The model that was asked, and what it cost.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
#[expect(missing_docs, reason = "the names are the keys of the journal, which `docs/files.md` explains")]
pub struct ModelEntry<'a> {
    pub name: Option<Text<'a>>,
    pub calls: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Text<'a>>,
    /// The text of its answer, whatever became of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<Text<'a>>,
}

/// The turn of a line, as far as figures, `log` and comparisons need it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
#[expect(missing_docs, reason = "the names are the keys of the journal, which `docs/files.md` explains")]
pub struct PlayedTurn<'a> {
    /// The caller's id.
    pub id: Option<Text<'a>>,
    pub episode: Option<u64>,
    pub turn: Option<u64>,
    pub action: Option<Text<'a>>,
    /// Not decoded: it is long, and only comparisons need it.
    response: Option<&'a RawValue>,
    pub location_before: Option<PlaceEntry<'a>>,
    pub location_after: Option<PlaceEntry<'a>>,
    pub score_before: Option<i64>,
    pub score_after: Option<i64>,
    pub died: Option<bool>,
}

/// A place of a turn.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
#[expect(missing_docs, reason = "the names are the keys of the journal, which `docs/files.md` explains")]
pub struct PlaceEntry<'a> {
    pub id: Option<u64>,
    pub name: Option<Text<'a>>,
}

impl PlayedTurn<'_> {
    /// The game's response.
    pub fn response(&self) -> Option<String> {
        serde_json::from_str(self.response?.get()).ok()
    }

    /// The id of the place where the action was taken; where the turn names none, of the one reached.
    pub fn place(&self) -> Option<u64> {
        let id = |place: &Option<PlaceEntry<'_>>| place.as_ref()?.id;
        id(&self.location_before).or(id(&self.location_after))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of every kind, as the program wrote them before they had a type.
    const LINES: &str = include_str!("../../../../fixtures/journal/journal.jsonl");

    #[test]
    fn every_line_is_read_and_written_byte_by_byte() {
        for line in LINES.lines() {
            assert_eq!(Entry::<Value>::parse(line).unwrap().to_line(), line);
        }
    }

    #[test]
    fn the_change_of_the_file_is_the_last_field() {
        for line in [
            r#""turn":{},"resolves":"0","command":"retry""#,
            r#""outcome":"formatted","command":"fmt","lines":1"#,
        ] {
            let line =
                format!(r#"{{"version":1,"id":"1","time":"t",{line},"change":{{"edits":[[0,"","x"]]}}}}"#);
            assert_eq!(Entry::<Value>::parse(&line).unwrap().to_line(), line);
        }
    }

    #[test]
    fn the_fixture_has_every_field() {
        let named = |field: &str| LINES.contains(&format!("\"{field}\":"));
        let Ok(Value::Object(fields)) = serde_json::to_value(Entry::<Value>::default()) else { panic!() };
        let missing: Vec<&String> = fields.keys().filter(|field| !named(field)).collect();
        let unwritten = [
            "effect",
            "kept",
            "source_line",
            "carried",
            "writer",
            "after",
            "set_aside",
            "brought_back",
            "change",
        ];
        assert_eq!(missing, unwritten);
    }

    #[test]
    fn what_is_missing_or_not_known_is_passed_over() {
        let entry = Entry::<PlayedTurn<'_>>::parse(r#"{"mood": 7, "turn": {"action": "wait\n"}}"#).unwrap();
        assert_eq!(entry.turn.unwrap().action.as_deref(), Some("wait\n"));
        assert!(Entry::<Value>::parse("{}").is_some());
        assert!(Entry::<Value>::parse("[]").is_none() && Entry::<Value>::parse("{\"id\": \"x").is_none());
    }
}
