//! The result of a merge.

use crate::types::Scope;

/// Names of the three texts, for the markers of conflicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Labels<'a> {
    /// The text that both sides grew from.
    pub base: &'a str,
    /// The side that takes up the other.
    pub ours: &'a str,
    /// The other side.
    pub theirs: &'a str,
}

impl Default for Labels<'_> {
    fn default() -> Self {
        Labels { base: "base", ours: "ours", theirs: "theirs" }
    }
}

/// The result of a merge.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Merged {
    /// The merged text.
    pub text: String,
    /// Conflicts that a person has to resolve, in the order of the text.
    pub conflicts: Vec<MergeConflict>,
    /// Decisions that a person may want to know, a sentence each.
    pub notices: Vec<String>,
}

/// A place in a merged text where both sides say something else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeConflict {
    /// Scope and title of the entry; `None` where lines clash.
    pub entry: Option<(Scope, String)>,
    /// Line of the first marker, from 1.
    pub line: usize,
}
