//! Errors of reading and changing the memory file.

use crate::correction::CorrectionError;
use memories_document::DocumentError;
use memories_document::types::hint::{Advice, Hint, Refused};
use memories_store::StoreError;

/// Why the memory file is not read or changed.
#[derive(Debug, thiserror::Error)]
pub enum NotebookError {
    /// The files cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file cannot take the change.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// A memory cannot be added or corrected.
    #[error(transparent)]
    Correction(#[from] CorrectionError),
    /// The change was not made for another reason.
    #[error(transparent)]
    Refused(#[from] Refused),
}

impl Hint for NotebookError {
    fn advice(&self) -> Advice {
        match self {
            NotebookError::Store(error) => error.advice(),
            NotebookError::Document(error) => error.advice(),
            NotebookError::Correction(error) => error.advice(),
            NotebookError::Refused(error) => error.advice(),
        }
    }
}
