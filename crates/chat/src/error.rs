//! Errors of digests, extraction and injection.

use memories_document::DocumentError;
use memories_document::types::hint::{Advice, Hint};
use memories_search::SearchError;
use memories_store::StoreError;

/// No memory of a conversation was written or injected. A failed model call is not an error: it is in the report.
#[derive(Debug, thiserror::Error)]
pub enum ChatError {
    /// Neither the file nor the conversation knows the place that was left.
    #[error("there is no place {0}: neither the memory file nor the conversation knows it")]
    UnknownPlace(u64),
    /// The bytes are no chat request.
    #[error("this is not a chat request: {0}")]
    NotRequest(String),
    /// The memories cannot be searched.
    #[error(transparent)]
    Search(#[from] SearchError),
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
            ChatError::NotRequest(_) => Advice::fix(
                "send a request such as {\"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}]}",
            ),
            ChatError::Search(error) => error.advice(),
            ChatError::Store(error) => error.advice(),
            ChatError::Document(error) => error.advice(),
        }
    }
}
