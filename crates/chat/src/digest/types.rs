//! The input and the report of a digest.

use memories_document::types::{MemoryObject, Outcome, Scope, Span, fold_title};
use memories_llm::{ModelError, ModelUse};
use memories_notebook::add::AddReport;
use memories_store::journal::entry::MemoryEntry;
use memories_store::journal::text::Text;

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
        let mut names = vec![id.replace(['_', '-'], " "), id, fold_title(&self.name)];
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

/// The line of the journal about an entry that was written.
pub(super) fn journal_entry(written: &AddReport) -> MemoryEntry<'_> {
    let MemoryObject { scope, name, memory, author, writers: _ } = &written.entry;
    MemoryEntry {
        author: Some(*author),
        outcome: Some(Outcome::from(written.outcome).into()),
        scope: Some(scope.to_string().into()),
        name: Some(name.into()),
        category: Some(memory.category.as_str().into()),
        title: Some((&memory.title).into()),
        text: Some((&memory.text).into()),
        messages: memory.provenance.messages,
        tags: Some(memory.provenance.tags.iter().map(Text::from).collect()),
        ..MemoryEntry::default()
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
    pub written: Vec<AddReport>,
    /// The scopes whose summary failed.
    pub failed: Vec<FailedScope>,
    /// The last message that entries of the first scope (the place or the world) covered before.
    pub cursor: u64,
    /// The model and its usage; `None` if no model was asked.
    pub model: Option<ModelUse>,
    /// Everything that was left out, truncated or redacted.
    pub warnings: Vec<String>,
}
