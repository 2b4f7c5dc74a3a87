//! The memory that a rule proposes.

use crate::llm::answer::{text_problem, title_problem};
use crate::record::proposal::{Proposal, Side};
use crate::record::rules::sentences::cut;
use crate::types::{Category, Memory, Status};

/// Longest title, in characters.
pub const MAX_TITLE_CHARS: usize = 60;
/// Longest text, in characters.
pub const MAX_TEXT_CHARS: usize = 240;

/// A memory that becomes a proposal with [`Draft::because`].
pub(super) struct Draft {
    memory: Memory,
    side: Side,
}

impl Draft {
    /// A confirmed memory of the place where the action was taken.
    pub(super) fn new(category: Category, importance: u16, title: &str, text: &str) -> Draft {
        let mut memory = Memory::new(category, cut(title, MAX_TITLE_CHARS), cut(text, MAX_TEXT_CHARS));
        memory.provenance.importance = Some(importance);
        Draft { memory, side: Side::Before }
    }

    /// The same, marked as tentative.
    pub(super) fn tentative(mut self, tentative: bool) -> Draft {
        self.memory.status = if tentative { Status::Tentative } else { Status::Active };
        self
    }

    /// The same, for the place where the player is now.
    pub(super) fn at_arrival(mut self, at_arrival: bool) -> Draft {
        self.side = if at_arrival { Side::After } else { Side::Before };
        self
    }

    /// The proposal to store it, with the rule that fired; declines an unusable title or text.
    pub(super) fn because(self, reason: &str) -> Proposal {
        let Draft { memory, side } = self;
        match title_problem(&memory.title).or_else(|| text_problem(&memory.text, "")) {
            Some(problem) => Proposal::decline(problem),
            None => Proposal { memory: Some((memory, side)), ..Proposal::decline(reason) },
        }
    }
}
