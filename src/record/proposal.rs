//! The memory that a model or the built-in rules propose for a turn.

use crate::record::effect::Effect;
use crate::types::Memory;

/// The place that a memory belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Where the action was taken.
    Before,
    /// At the place reached.
    After,
}

/// A proposed change.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Proposal {
    /// The memories to store, each with its place; a model gives one at most.
    pub memories: Vec<(Memory, Side)>,
    /// Titles that they supersede.
    pub supersedes: Vec<String>,
    /// Titles of memories that are wrong.
    pub invalidates: Vec<String>,
    /// Why they are wrong.
    pub invalidation_reason: String,
    /// The effect of the turn, where a model states it.
    pub effect: Option<Effect>,
    /// The reason for the whole.
    pub reasoning: String,
    /// Parts of the answer that were dropped or changed.
    pub warnings: Vec<String>,
}

impl Proposal {
    /// Nothing to store, with the reason.
    pub(super) fn decline(reason: &str) -> Proposal {
        Proposal { reasoning: reason.to_owned(), ..Proposal::default() }
    }
}
