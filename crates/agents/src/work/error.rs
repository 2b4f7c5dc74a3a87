//! Errors about commands and their log.

use memories_document::DocumentError;
use memories_document::types::hint::{Advice, Hint};
pub use memories_notebook::correct::CorrectionError;
pub use memories_recall::RecallError;
use memories_store::StoreError;

/// Why nothing is known of a command, or nothing could be noted.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// A file cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The memory file cannot take what is to be kept.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// A lesson that was learned cannot be struck.
    #[error(transparent)]
    Correction(#[from] CorrectionError),
    /// The sections of the folders cannot be read.
    #[error(transparent)]
    Recall(#[from] RecallError),
}

impl Hint for WorkError {
    fn advice(&self) -> Advice {
        match self {
            WorkError::Store(error) => error.advice(),
            WorkError::Document(error) => error.advice(),
            WorkError::Correction(error) => error.advice(),
            WorkError::Recall(error) => error.advice(),
        }
    }
}
