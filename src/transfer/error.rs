//! Errors of import and export.

use crate::types::hint::{Advice, Hint};

/// A source cannot be read or a file cannot be written at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TransferError {
    /// The bytes are not in the format, or the sections do not fit into it.
    #[error("{problem}")]
    Unreadable {
        /// The problem.
        problem: String,
        /// The next step.
        hint: &'static str,
    },
    /// The program was built without SQLite.
    #[error("this build has no SQLite")]
    NoSqlite,
}

impl Hint for TransferError {
    fn advice(&self) -> Advice {
        match self {
            TransferError::Unreadable { hint, .. } => Advice::fix(*hint),
            TransferError::NoSqlite => Advice::fix("build with the feature `sqlite`, or use JSONL"),
        }
    }
}
