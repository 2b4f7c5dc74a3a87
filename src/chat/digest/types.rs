//! The input and the report of a digest.

use serde::Serialize;

use crate::journal::entry::MemoryEntry;
use crate::journal::text::Text;
use crate::llm::{ModelError, ModelUse};
use crate::types::{Author, Category, Scope, Span};

/// A character that is present when a place is left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresentCharacter {
    /// Its id.
    pub id: String,
    /// Its name; empty if unknown.
    pub name: String,
}

impl PresentCharacter {
    /// Its names in messages, in lower case: the id, the id with spaces, and the name.
    pub(super) fn names(&self) -> Vec<String> {
        let id = self.id.to_lowercase();
        let mut names = vec![id.replace(['_', '-'], " "), id, self.name.trim().to_lowercase()];
        names.retain(|name| !name.is_empty());
        names.dedup();
        names
    }
}

/// The event after which a conversation is digested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Occasion {
    /// The place with this id was left; the characters were present.
    Exit(u64, Vec<PresentCharacter>),
    /// A place of this name was left, which the memory file does not know yet: it gets the next free id.
    ExitNew(String, Vec<PresentCharacter>),
    /// An event in the story.
    Event {
        /// The kind of event, such as `quest_completed`.
        kind: String,
        /// Names and values of related ids, such as `quest_id` and `find-lamp`.
        related: Vec<(String, String)>,
        /// Further tags, without `#`.
        tags: Vec<String>,
    },
}

/// An entry that was written.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WrittenEntry {
    /// Always `stored`.
    pub outcome: &'static str,
    /// Its section.
    pub scope: Scope,
    /// The name of the section; may be empty.
    pub name: String,
    /// Its category.
    pub category: Category,
    /// Its title.
    pub title: String,
    /// Its text.
    pub text: String,
    /// The messages that it summarises.
    pub messages: Span,
    /// Its tags.
    pub tags: Vec<String>,
}

impl WrittenEntry {
    pub(super) fn journal_entry(&self) -> MemoryEntry<'_> {
        MemoryEntry {
            author: Some(Author::Model),
            outcome: Some(self.outcome.into()),
            scope: Some(self.scope.to_string().into()),
            name: Some((&self.name).into()),
            category: Some(self.category.as_str().into()),
            title: Some((&self.title).into()),
            text: Some((&self.text).into()),
            messages: Some(self.messages),
            tags: Some(self.tags.iter().map(Text::from).collect()),
            ..MemoryEntry::default()
        }
    }
}

/// A scope whose summary failed.
#[derive(Debug)]
pub struct FailedScope {
    /// The scope.
    pub scope: Scope,
    /// The messages that remain to be digested.
    pub messages: Span,
    /// The error of the model call.
    pub error: ModelError,
}

/// The result of a digest.
#[derive(Debug, Default)]
pub struct DigestReport {
    /// The entries written.
    pub written: Vec<WrittenEntry>,
    /// The scopes whose summary failed.
    pub failed: Vec<FailedScope>,
    /// The last message that entries of the first scope (the place or the world) covered before.
    pub cursor: u64,
    /// The model and its usage; `None` if no model was asked.
    pub model: Option<ModelUse>,
    /// Everything that was left out, truncated or redacted.
    pub warnings: Vec<String>,
}
