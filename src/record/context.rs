//! A turn together with all that the files say about it, and what its judge made of it.

use crate::journal::EarlierTurn;
use crate::llm::ModelUse;
use crate::notebook::files::Files;
use crate::record::places::Place;
use crate::record::proposal::Proposal;
use crate::record::triggers::{Changes, Trigger};
use crate::record::turn::Turn;
use crate::types::Memory;

/// A turn with all that the memory file and the journal say about it.
#[derive(Debug, Clone)]
pub struct TurnContext {
    /// As the caller sent it, without what looks like a secret.
    pub turn: Turn,
    /// The turn's episode, or the running one.
    pub episode: u64,
    /// The turn's number, or one more than the last.
    pub number: u64,
    /// Where the action was taken.
    pub before: Place,
    /// Where the player is afterwards.
    pub after: Place,
    /// What the turn changed in the game's state.
    pub changes: Changes,
    /// Why it is worth a judgement.
    pub triggers: Vec<Trigger>,
    /// The same action brought the same reply here before, and nothing changed.
    pub repeat: bool,
    /// What is known of both places already.
    pub memories: PlaceMemories,
    /// Earlier turns of the episode, oldest first.
    pub history: Vec<EarlierTurn>,
}

/// What came of asking about a turn.
pub(super) enum ModelOutcome {
    NotAsked,
    Answered(Box<Proposal>, ModelUse),
    Failed(ModelUse),
}

/// Live memories of the places of a turn.
#[derive(Debug, Clone, Default)]
pub struct PlaceMemories {
    /// Of the place where the action was taken.
    pub before: Vec<Memory>,
    /// Of the place reached; empty where that is the same place.
    pub after: Vec<Memory>,
}

impl PlaceMemories {
    pub(super) fn of(files: &Files, before: &Place, after: &Place) -> PlaceMemories {
        let live = |place: &Place| files.section(&place.scope()).live().cloned().collect();
        let after = if after.id == before.id { Vec::new() } else { live(after) };
        PlaceMemories { before: live(before), after }
    }
}
