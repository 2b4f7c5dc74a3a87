//! What a model, or the built-in rules, want to keep of a turn.

use crate::types::Memory;

/// Where a memory belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Where the action was taken.
    Before,
    /// At the place reached.
    After,
}

/// What a model wants to change.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Proposal {
    /// The memory to keep, if any, and where.
    pub memory: Option<(Memory, Side)>,
    /// Titles that the memory takes the place of.
    pub supersedes: Vec<String>,
    /// Titles that are wrong.
    pub invalidates: Vec<String>,
    /// Why they are wrong.
    pub invalidation_reason: String,
    /// Why all this.
    pub reasoning: String,
    /// What was dropped or changed.
    pub warnings: Vec<String>,
}

impl Proposal {
    /// Nothing to keep, and why.
    pub(super) fn decline(reason: &str) -> Proposal {
        Proposal { reasoning: reason.to_owned(), ..Proposal::default() }
    }
}
