//! The ranks of memories in a recall, and the room that each rank may take.

use memories_document::types::instant::Instant;
use memories_document::types::{DEFAULT_IMPORTANCE, Memory, Persistence};

/// Categories of what was found out and leads on.
const FINDS: [&str; 4] = ["SUCCESS", "DISCOVERY", "PUZZLE", "PROCEDURE"];

/// Room in tokens for the memories of each rank, all together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rooms {
    /// For core and DANGER, which actions never displace.
    pub(super) vital: usize,
    /// For changes of the score.
    pub(super) scored: usize,
    /// For finds.
    pub(super) found: usize,
    /// For the others.
    pub(super) other: usize,
}

/// Core and DANGER, then what changed the score, then what was found, then importance, then the most recent; of equals the
/// later in the file. What contests another memory comes behind all: it must not push out what it contests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    contests_nothing: bool,
    is_core_or_danger: bool,
    is_scored: bool,
    is_found: bool,
    importance: u16,
    episode: Option<u64>,
    turn: Option<u64>,
    date: Option<Instant>,
    /// Its number in the section.
    pub(super) at: usize,
}

impl Rank {
    /// The rank of a memory with that number.
    pub(super) fn of(memory: &Memory, at: usize) -> Rank {
        let provenance = &memory.provenance;
        Rank {
            contests_nothing: !memory.contests(),
            is_core_or_danger: memory.persistence == Persistence::Core || memory.category.is_danger(),
            is_scored: provenance.score_change.is_some_and(|change| change != 0),
            is_found: FINDS.contains(&memory.category.as_str()) && memory.importance() >= DEFAULT_IMPORTANCE,
            importance: memory.importance(),
            episode: provenance.episode,
            turn: provenance.turns.map(|turns| turns.last),
            date: provenance.date.as_deref().and_then(Instant::of),
            at,
        }
    }

    /// True if the number of successes and failures that are shown does not count it.
    pub(super) fn has_no_limit(self) -> bool {
        self.contests_nothing && (self.is_core_or_danger || self.is_scored)
    }

    /// True if it changed the score or was found.
    pub(super) fn is_find(self) -> bool {
        self.contests_nothing && (self.is_scored || self.is_found)
    }

    /// True if it does not stand where a find is left out: that a place is dark, say.
    pub(super) fn is_minor(self) -> bool {
        self.importance < DEFAULT_IMPORTANCE && !self.is_core_or_danger && !self.is_scored
    }

    /// The room that it may take, together with those before it.
    pub(super) fn room(self, rooms: &Rooms) -> usize {
        match self.contests_nothing {
            true if self.is_core_or_danger => rooms.vital,
            true if self.is_scored => rooms.scored,
            true if self.is_found => rooms.found,
            _ => rooms.other,
        }
    }
}
