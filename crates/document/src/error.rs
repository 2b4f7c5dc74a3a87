//! Errors of edits.

use crate::types::Scope;
use crate::types::hint::{Advice, Hint};

/// Why an edit cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// The section is there, under a heading that is misread; a second one would hide it.
    #[error("line {line} is most likely the heading of {scope}, but is not read as one")]
    MisreadSection {
        /// The scope that is meant.
        scope: Scope,
        /// Line of the heading, from 1.
        line: usize,
    },
    /// The file would not be read back as it was meant.
    #[error("the edited file would be read differently from line {line} on")]
    Misread {
        /// First line of the section that would change, from 1.
        line: usize,
    },
}

impl Hint for DocumentError {
    fn advice(&self) -> Advice {
        Advice::fix("mend the file by hand; `memories check` shows its problems")
    }
}
