//! A turn with everything that the files say about it, and the outcome of its judgement.

use crate::changes::Changes;
use crate::effect::Effect;
use crate::places::Place;
use crate::proposal::Proposal;
use crate::surroundings::Surroundings;
use crate::triggers::Trigger;
use crate::turn::Turn;
use memories_document::types::{Memory, Moment, Witnesses};
use memories_llm::ModelUse;
use memories_notebook::files::Files;

/// A turn with everything that memory file and journal say about it.
#[derive(Debug, Clone)]
pub struct TurnContext {
    /// As the caller sent it, with secrets redacted.
    pub turn: Turn,
    /// The turn's episode, else the running one.
    pub episode: u64,
    /// The turn's number, else one more than the last.
    pub number: u64,
    /// Where the action was taken.
    pub before: Place,
    /// Where the player is afterwards.
    pub after: Place,
    /// Changes of the game's state in this turn.
    pub changes: Changes,
    /// The effect of the turn, as far as a model has not stated another.
    pub effect: Effect,
    /// The triggers that fired.
    pub triggers: Vec<Trigger>,
    /// A judge is asked: a trigger fired, and the turn does not repeat an earlier one, with the same action and the same
    /// reply. A turn that waits for a model is not compared.
    pub is_judged: bool,
    /// Actions that opened the way which the turn walked, oldest first.
    pub opened_by: Vec<String>,
    /// Live memories of both places; read only where a judge is asked.
    pub memories: PlaceMemories,
    /// Earlier turns of the episode, oldest first.
    pub history: Vec<Turn>,
    /// Tried actions, ways and earlier visits of both places; gathered only where a model is asked.
    pub surroundings: Surroundings,
}

impl TurnContext {
    /// Its episode and number.
    pub(super) fn moment(&self) -> Moment {
        Moment { episode: Some(self.episode), turn: Some(self.number), ..Moment::default() }
    }
}

impl Turn {
    /// Those who know it: who was present, or everybody.
    pub fn witnesses(&self) -> Witnesses {
        Witnesses::named(&self.present)
    }
}

/// The outcome of a judgement.
pub enum ModelOutcome {
    NotAsked,
    /// It is to be asked later.
    PutOff,
    Answered(Box<Proposal>, ModelUse),
    Failed(ModelUse),
}

/// Live memories of the places of a turn.
#[derive(Debug, Clone, Default)]
pub struct PlaceMemories {
    /// Memories of the place where the action was taken.
    pub before: Vec<Memory>,
    /// Memories of the place reached; empty where that is the same place.
    pub after: Vec<Memory>,
}

impl PlaceMemories {
    /// Those that everybody knows who will know what is remembered of the turn.
    pub(super) fn of(files: &Files, before: &Place, after: &Place, turn: &Turn) -> PlaceMemories {
        let witnesses = turn.witnesses();
        let live = |place: &Place| -> Vec<Memory> {
            let scope = place.scope();
            let all = files.live(&scope).map(|entry| entry.read());
            all.filter(|memory| memory.provenance.witnesses().cover(&witnesses)).collect()
        };
        PlaceMemories {
            before: live(before),
            after: if after.id == before.id { Vec::new() } else { live(after) },
        }
    }
}
