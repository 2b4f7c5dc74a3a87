//! The input and the report of an extraction.

use serde::Serialize;

use crate::conversation::Conversation;
use memories_document::types::Scope;
use memories_llm::{ModelError, ModelUse};
use memories_notebook::add::AddReport;

/// The outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ExtractOutcome {
    /// Memories were stored, or merged with existing ones.
    Stored,
    /// Nothing was worth remembering.
    Nothing,
    /// Extraction is not due yet.
    #[default]
    Waiting,
    /// The conversation has reached its maximum number of memories.
    Full,
    /// The model failed; the same turns are due at the next call.
    Failed,
}

/// The result of a call.
#[derive(Debug, Default)]
pub struct ExtractReport {
    /// The outcome.
    pub outcome: ExtractOutcome,
    /// Number of replies seen in the conversation.
    pub turns: u64,
    /// Number of replies until extraction is due; `None` if the mode does not count replies.
    pub due_in: Option<u64>,
    /// The memories stored or merged.
    pub memories: Vec<AddReport>,
    /// The model and its usage; `None` if no model was asked.
    pub model: Option<ModelUse>,
    /// The error of the model call.
    pub failure: Option<ModelError>,
    /// Everything that was dropped, redacted or truncated.
    pub warnings: Vec<String>,
}

/// The input of a call.
#[derive(Debug, Clone, Copy)]
pub struct ExtractInput<'a> {
    /// The last turns or the whole conversation; the last message is the reply.
    pub conversation: &'a Conversation,
    /// True if it is the whole conversation.
    pub whole: bool,
    /// True if each request of the conversation has all that was said before: then a reply that is missing was dropped.
    pub has_history: bool,
    /// True if the conversation is being saved.
    pub saving: bool,
    /// The scope of new memories; by default the place of the last message, or else the world.
    pub scope: Option<&'a Scope>,
    /// Memories injected into the request that are not in blocks of the messages.
    pub injected: &'a [String],
    /// Tags of the memories, besides their own.
    pub tags: &'a [String],
}

impl<'a> ExtractInput<'a> {
    /// The last turns of a conversation that goes on.
    pub fn of(conversation: &'a Conversation) -> ExtractInput<'a> {
        ExtractInput {
            conversation,
            whole: false,
            has_history: false,
            saving: false,
            scope: None,
            injected: &[],
            tags: &[],
        }
    }
}
