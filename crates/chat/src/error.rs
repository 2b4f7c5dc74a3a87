//! Errors of digests and extraction.

use memories_document::DocumentError;
use memories_document::types::hint::{Advice, Hint};
use memories_store::StoreError;

/// No memory of a conversation was written. A failed model call is not an error: it is in the report.
#[derive(Debug, thiserror::Error)]
pub enum ChatError {
    /// Neither the file nor the conversation knows the place that was left.
    #[error("there is no place {0}: neither the memory file nor the conversation knows it")]
    UnknownPlace(u64),
    /// The file cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file cannot take the entry.
    #[error(transparent)]
    Document(#[from] DocumentError),
}

impl Hint for ChatError {
    fn advice(&self) -> Advice {
        match self {
            ChatError::UnknownPlace(_) => Advice::fix(
                "`memories list` shows the places; a message says where it was said by `location`",
            ),
            ChatError::Store(error) => error.advice(),
            ChatError::Document(error) => error.advice(),
        }
    }
}
