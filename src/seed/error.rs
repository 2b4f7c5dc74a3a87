//! What can be wrong with a seed, and where.

use crate::types::hint::{Advice, Hint};

/// Why a seed cannot be used. Nothing is written then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SeedError {
    /// The text is not of its format.
    #[error("`{file}` line {line} is not {format}: {problem}")]
    Malformed {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The format's name.
        format: &'static str,
        /// What its parser says.
        problem: String,
    },
    /// A field is not what it should be.
    #[error("`{file}` line {line}: {problem}, expected {expected}")]
    Wrong {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The field, and what it is.
        problem: String,
        /// What it should be.
        expected: String,
    },
    /// The files speak of nobody and of no scene.
    #[error("there is no agent and no scenario in {files}{}", unknown.as_ref().map(|one| format!("; {one}")).unwrap_or_default())]
    Nothing {
        /// The files.
        files: String,
        /// A key of theirs that means nothing.
        unknown: Option<String>,
    },
}

impl Hint for SeedError {
    fn advice(&self) -> Advice {
        Advice::fix(match self {
            SeedError::Malformed { .. } => {
                "correct the line; `--format` says toml, yaml or json where the file's name does not"
            }
            SeedError::Wrong { .. } => "nothing is written; correct the file and seed it again",
            SeedError::Nothing { .. } => {
                "give agents under `agents`, each with `id` and `name`, or a `scenario` with `location`; see `--help`"
            }
        })
    }
}

/// Where something stands: file and line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeedPosition {
    /// The file's name.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
}
