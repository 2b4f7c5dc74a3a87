//! Errors of recording a turn.

use crate::places::PlaceError;
use memories_document::DocumentError;
use memories_document::types::hint::{Advice, Hint};
use memories_store::StoreError;

/// Why a turn is not recorded. Nothing is changed then.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file cannot take the edit.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// The place cannot be resolved.
    #[error(transparent)]
    Place(#[from] PlaceError),
}

impl Hint for RecordError {
    fn advice(&self) -> Advice {
        match self {
            RecordError::Store(error) => error.advice(),
            RecordError::Document(error) => error.advice(),
            RecordError::Place(error) => error.advice(),
        }
    }
}
