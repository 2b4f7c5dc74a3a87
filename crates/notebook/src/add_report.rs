//! The outcome of adding a memory, for its caller and for the journal.

use serde::Serialize;

use crate::protection::Protection;
use memories_document::types::{Author, Memory, MemoryObject, Outcome, written_by};

/// The outcome of adding a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AddOutcome {
    /// The memory was added.
    Stored,
    /// The memory has the title of an entry, which was superseded or holds all of its text.
    Revised,
    /// The memory stands as tentative beside an entry that it would strike or replace, and may not.
    Contested,
    /// Another entry of other writers says the same, and has this writer now, too.
    Confirmed,
    /// Another entry says the same.
    Duplicate,
}

impl From<AddOutcome> for Outcome {
    fn from(outcome: AddOutcome) -> Outcome {
        match outcome {
            AddOutcome::Stored => Outcome::Stored,
            AddOutcome::Revised => Outcome::Revised,
            AddOutcome::Contested => Outcome::Contested,
            AddOutcome::Confirmed => Outcome::Confirmed,
            AddOutcome::Duplicate => Outcome::Duplicate,
        }
    }
}

/// The outcome of adding a memory, with the entry that is there now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AddReport {
    /// Stored, revised, contested, confirmed, or a duplicate.
    pub outcome: AddOutcome,
    /// The memory as it was written; for a duplicate, the entry that is there.
    #[serde(flatten)]
    pub entry: MemoryObject,
    /// The author of what was to be added.
    #[serde(skip)]
    pub by: Author,
    /// For a duplicate: the text that was not stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_stored: Option<String>,
    /// Titles that it superseded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub superseded: Vec<String>,
    /// For a duplicate: the importance to which the existing entry was raised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raised_to: Option<u16>,
    /// For a duplicate: why the existing entry is protected, and stays as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stays: Option<Protection>,
    /// For a duplicate: what the memory says besides its text that the existing entry does not take, such as
    /// its category.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_taken: Vec<&'static str>,
    /// The entry that has the title and may not be replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beside: Option<KeptEntry>,
    /// The entries that it contests.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contested: Vec<KeptEntry>,
}

/// An entry that stays as it is: it is contested, or keeps its title.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeptEntry {
    /// Its title.
    pub title: String,
    /// Why it may not be changed or replaced.
    pub reason: Protection,
}

impl AddReport {
    pub(super) fn of(outcome: AddOutcome, by: Author, entry: MemoryObject) -> AddReport {
        AddReport {
            outcome,
            entry,
            by,
            not_stored: None,
            superseded: Vec::new(),
            raised_to: None,
            stays: None,
            not_taken: Vec::new(),
            beside: None,
            contested: Vec::new(),
        }
    }

    /// The report on a duplicate that confirmed the entry.
    pub(super) fn confirmed(self, memory: &Memory) -> AddReport {
        AddReport { outcome: AddOutcome::Confirmed, ..self.with(memory) }
    }

    /// The report with the entry as it was written at last.
    pub(super) fn with(mut self, memory: &Memory) -> AddReport {
        let MemoryObject { scope, name, author, .. } = &self.entry;
        self.entry = MemoryObject::of(scope, name, memory, *author);
        self
    }

    /// The title of the entry.
    pub fn title(&self) -> &str {
        &self.entry.memory.title
    }

    /// The text that was to be added.
    pub fn text(&self) -> &str {
        self.not_stored.as_ref().unwrap_or(&self.entry.memory.text)
    }

    /// Text to put behind an entry that was confirmed: ` (3 writers)`.
    pub fn writers(&self) -> String {
        written_by(&self.entry.memory.writers()).map(|writers| format!(" ({writers})")).unwrap_or_default()
    }

    /// Text to put before what is said of a memory that contests others:
    /// `contested "Troll", which stays (a person wrote it): `.
    pub fn contesting(&self) -> String {
        let told = |one: &KeptEntry| format!("\"{}\", which stays ({})", one.title, one.reason);
        if self.contested.is_empty() {
            String::new()
        } else {
            format!("contested {}: ", self.contested.iter().map(told).collect::<Vec<_>>().join(" and "))
        }
    }

    /// Text to put behind the title of the entry that is there: `, importance raised to 900`, or
    /// `, which stays as it is: a person wrote it`.
    pub fn raised(&self) -> String {
        let raised = self.raised_to.map(|importance| format!(", importance raised to {importance}"));
        let raised = raised.or_else(|| self.stays.map(|why| format!(", which stays as it is: {why}")));
        let kept = if self.not_taken.is_empty() {
            String::new()
        } else {
            format!("; unchanged: {}", self.not_taken.join(", "))
        };
        raised.unwrap_or_default() + &kept
    }

    /// Text to put behind the section of a memory that is stored, such as
    /// ` beside "Troll", which stays: a person wrote it`.
    pub fn beside(&self) -> String {
        let told =
            |beside: &KeptEntry| format!(" beside \"{}\", which stays: {}", beside.title, beside.reason);
        self.beside.as_ref().map(told).unwrap_or_default()
    }
}
