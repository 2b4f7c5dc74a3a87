//! Failures of a command.

use memories_document::DocumentError;
use memories_document::types::hint::{Advice, Hint};
use memories_store::StoreError;

/// Why a command was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum ToolFailure {
    /// The model asked for what cannot be done; the text is for it.
    #[error("{0}")]
    Refused(String),
    /// The files cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file cannot take the edit.
    #[error(transparent)]
    Document(#[from] DocumentError),
}

impl Hint for ToolFailure {
    fn advice(&self) -> Advice {
        match self {
            ToolFailure::Refused(_) => Advice::fix("correct the command"),
            ToolFailure::Store(error) => error.advice(),
            ToolFailure::Document(error) => error.advice(),
        }
    }
}

/// A refusal, for the model.
pub(super) fn refused<T>(text: impl Into<String>) -> Result<T, ToolFailure> {
    Err(ToolFailure::Refused(text.into()))
}
