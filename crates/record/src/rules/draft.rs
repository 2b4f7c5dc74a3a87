//! The memory that a rule proposes.

use crate::proposal::Side;
use crate::rules::headline::headline;
use crate::rules::sentences::bounded;
use memories_document::types::{Category, Memory};

/// Longest title, in characters.
pub const MAX_TITLE_CHARS: usize = 80;
/// Longest text, in characters.
pub const MAX_TEXT_CHARS: usize = 500;

/// A fact, with the rule that found it.
pub(super) struct Draft {
    pub(super) memory: Memory,
    pub(super) side: Side,
    /// The game's words, by which an entry that says the same is recognised; may be empty.
    pub(super) quote: String,
    /// The entry with this title is rewritten, because the latest event counts.
    pub(super) latest: bool,
    pub(super) reason: &'static str,
}

impl Draft {
    /// A confirmed memory of the place where the action was taken.
    pub(super) fn new(category: Category, title: &str, text: &str, reason: &'static str) -> Draft {
        let title = headline(title, MAX_TITLE_CHARS);
        let memory = Memory::new(category, title, bounded(text.trim(), MAX_TEXT_CHARS));
        Draft { memory, side: Side::Before, quote: String::new(), latest: false, reason }
    }

    pub(super) fn quoting(mut self, quote: &str) -> Draft {
        quote.clone_into(&mut self.quote);
        self
    }

    pub(super) fn important(mut self, importance: u16) -> Draft {
        self.memory.provenance.importance = Some(importance);
        self
    }

    /// The same, with the points that it brought.
    pub(super) fn scoring(mut self, points: i64) -> Draft {
        self.memory.provenance.score_change = Some(points).filter(|points| *points != 0);
        self
    }

    /// The same, for the place where the player is now.
    pub(super) fn at_arrival(mut self, at_arrival: bool) -> Draft {
        self.side = if at_arrival { Side::After } else { Side::Before };
        self
    }
}
