//! The line of the journal for a model's answer from which no memory came.

use serde_json::Value;

use crate::journal::entry::{Entry, ModelEntry};
use crate::llm::ModelUse;

/// The entry for such an answer about a conversation. The outcome is `declined` or `failed`.
pub(super) fn answer_alone<'a>(
    outcome: &'static str,
    conversation: &'a str,
    used: &'a ModelUse,
) -> Entry<'a, Value> {
    let model = Some(ModelEntry::from(used));
    Entry {
        outcome: Some(outcome.into()),
        conversation: Some(conversation.into()),
        model,
        ..Entry::default()
    }
}
