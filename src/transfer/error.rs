//! Errors of import and export.

use memories_document::types::hint::{Advice, Hint};

/// A source cannot be read or a file cannot be written at all: its bytes are not in the format, the
/// sections do not fit into it, or this build lacks it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct TransferError {
    /// The problem.
    pub problem: String,
    /// The next step.
    pub hint: &'static str,
}

#[cfg(not(feature = "sqlite"))]
impl TransferError {
    /// The program was built without SQLite.
    pub(crate) fn no_sqlite() -> TransferError {
        let hint = "build with the feature `sqlite`, or use JSONL";
        TransferError { problem: "this build has no SQLite".to_owned(), hint }
    }
}

impl Hint for TransferError {
    fn advice(&self) -> Advice {
        Advice::fix(self.hint)
    }
}
