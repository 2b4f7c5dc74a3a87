//! Refusals of a command.

use memories_document::types::hint::Refused;
use memories_notebook::NotebookError;

/// A refusal, for the model.
pub(super) fn refused<T>(text: impl Into<String>) -> Result<T, NotebookError> {
    Err(Refused::fix(text, "correct the command").into())
}
