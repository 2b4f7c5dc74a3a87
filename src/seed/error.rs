//! Positions in seed files, and the errors there. A seed file with an error cannot be used; nothing is written.

use std::fmt;

use memories_document::types::hint::Refused;

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
    pub(crate) fn wrong(&self, problem: impl Into<String>, expected: impl Into<String>) -> Refused {
        let problem = format!("{self}: {}, expected {}", problem.into(), expected.into());
        Refused::fix(problem, "nothing is written; correct the file and seed it again")
    }
}

impl fmt::Display for SeedPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` line {}", self.file, self.line)
    }
}
