//! The line of the journal for a model's answer from which no memory came.

use serde_json::Value;

use crate::error::ChatError;
use memories_document::types::Outcome;
use memories_llm::ModelUse;
use memories_notebook::Notebook;
use memories_record::report::model_entry;
use memories_store::journal::entry::Entry;

/// The entry of an answer about a conversation. The outcome is `declined` or `failed`.
pub(super) fn answer_alone<'a>(
    outcome: Outcome,
    conversation: &'a str,
    used: &'a ModelUse,
) -> Entry<'a, Value> {
    let model = Some(model_entry(used));
    Entry {
        outcome: Some(outcome.into()),
        conversation: Some(conversation.into()),
        model,
        ..Entry::default()
    }
}

/// Writes the answers that were rejected into the journal; the warnings of that.
///
/// # Errors
///
/// See [`ChatError`].
pub(super) fn note_rejected(
    notebook: &Notebook,
    command: &'static str,
    conversation: &str,
    rejected: &[ModelUse],
) -> Result<Vec<String>, ChatError> {
    if rejected.is_empty() {
        return Ok(Vec::new());
    }
    let noted = notebook.edit(command, |draft| {
        rejected.iter().for_each(|used| draft.note(answer_alone(Outcome::Failed, conversation, used)));
        Ok::<_, ChatError>(())
    })?;
    Ok(noted.warnings)
}
