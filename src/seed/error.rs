//! Errors of seed files, with file and line.

use std::fmt;

use memories_document::types::hint::{Advice, Hint};

/// A seed file cannot be used; nothing is written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SeedError {
    /// The text cannot be parsed in its format.
    #[error("{at} is not {format}: {problem}")]
    Malformed {
        /// The position of the error.
        at: SeedPosition,
        /// The format's name.
        format: &'static str,
        /// Message of the parser.
        problem: String,
    },
    /// A field has a wrong value, or is missing.
    #[error("{at}: {problem}, expected {expected}")]
    Wrong {
        /// The position of the field.
        at: SeedPosition,
        /// The field and its value.
        problem: String,
        /// The expected value.
        expected: String,
    },
    /// The files describe neither an agent nor a scene.
    #[error("there is no agent and no scenario in {files}{}", unknown.as_ref().map(|one| format!("; {one}")).unwrap_or_default())]
    Nothing {
        /// The files.
        files: String,
        /// A warning about an unknown key, if there is one.
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

/// A position in the seed files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeedPosition {
    /// The file's name.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
}

impl SeedPosition {
    /// An error at this position.
    pub(crate) fn wrong(&self, problem: impl Into<String>, expected: impl Into<String>) -> SeedError {
        SeedError::Wrong { at: self.clone(), problem: problem.into(), expected: expected.into() }
    }
}

impl fmt::Display for SeedPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` line {}", self.file, self.line)
    }
}
