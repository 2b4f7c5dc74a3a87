//! Why nothing can be recalled.

use memories_document::types::hint::{Advice, Hint, Refused};
use memories_document::types::{Scope, did_you_mean};
use memories_notebook::NotebookError;
use memories_store::StoreError;

/// Why nothing can be recalled.
#[derive(Debug, thiserror::Error)]
pub enum RecallError {
    /// The file cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No place has that name.
    #[error("no place is called `{name}`")]
    UnknownName {
        /// The name asked for.
        name: String,
        /// The most similar names.
        nearest: Vec<String>,
    },
    /// Several places have that name.
    #[error("{} places are called `{name}`", candidates.len())]
    AmbiguousName {
        /// The name asked for.
        name: String,
        /// Their scopes.
        candidates: Vec<Scope>,
    },
}

impl Hint for RecallError {
    fn advice(&self) -> Advice {
        match self {
            RecallError::Store(error) => error.advice(),
            RecallError::UnknownName { nearest, .. } => Advice::fix(
                did_you_mean(nearest)
                    .unwrap_or_else(|| "give the place's id; `memories list` shows what there is".to_owned()),
            ),
            RecallError::AmbiguousName { candidates, .. } => {
                let scopes: Vec<String> = candidates.iter().map(|scope| format!("`{scope}`")).collect();
                Advice::fix(format!("say which one: {}", scopes.join(", ")))
            }
        }
    }
}

impl From<RecallError> for NotebookError {
    fn from(error: RecallError) -> NotebookError {
        match error {
            RecallError::Store(error) => error.into(),
            error => Refused { problem: error.to_string(), advice: error.advice() }.into(),
        }
    }
}
