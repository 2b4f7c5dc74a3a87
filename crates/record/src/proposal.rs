//! The memories that a model or the built-in rules propose for a turn.

use crate::effect::Effect;
use memories_document::types::{Memory, same_title};
use memories_search::grounding::Grounding;

/// The place that a memory belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Where the action was taken.
    Before,
    /// At the place reached.
    After,
}

/// A memory to store.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposed {
    /// The memory; a title that is missing is made from its text.
    pub memory: Memory,
    /// Its place.
    pub side: Side,
    /// The memories that it supersedes.
    pub supersedes: Vec<Named>,
    /// The verdict on it against what the model was shown.
    pub grounding: Grounding,
}

/// A memory that an answer names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Its title.
    pub title: String,
    /// Its place, where a number says it.
    pub side: Option<Side>,
    /// True where the answer gave another title, and this one is only the nearest.
    pub is_guess: bool,
}

impl Named {
    /// True if both name one memory: they share a title, and no two places are said.
    pub(crate) fn is_same(&self, other: &Named) -> bool {
        let is_elsewhere = self.side.is_some() && other.side.is_some() && self.side != other.side;
        !is_elsewhere && same_title(&self.title, &other.title)
    }
}

/// A memory that an answer calls wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// The memory.
    pub named: Named,
    /// Why it is wrong; empty where the turn itself is the reason.
    pub reason: String,
    /// The verdict on that against what the model was shown.
    pub grounding: Grounding,
}

/// A proposed change.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Proposal {
    /// The memories to store.
    pub memories: Vec<Proposed>,
    /// Memories that are wrong.
    pub wrong: Vec<Wrong>,
    /// The effect of the turn, where a model states it.
    pub effect: Option<Effect>,
    /// The reason for the whole.
    pub reasoning: String,
    /// Parts of the answer that were dropped or changed.
    pub warnings: Vec<String>,
}

impl Proposed {
    /// A memory of the built-in rules, which is made of the turn's own words.
    pub(super) fn by_rules(memory: Memory, side: Side) -> Proposed {
        Proposed { memory, side, supersedes: Vec::new(), grounding: Grounding::BorneOut }
    }
}

impl Proposal {
    /// Nothing to store, with the reason.
    pub(super) fn decline(reason: &str) -> Proposal {
        Proposal { reasoning: reason.to_owned(), ..Proposal::default() }
    }
}
