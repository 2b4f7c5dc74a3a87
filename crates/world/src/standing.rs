//! Where the player stands: at the end of the last turn, and before the first turn of an episode where the game begins.

use crate::best_run::BestRun;
use memories_document::types::{Scope, ScopeName};
use memories_notebook::Snapshot;
use memories_store::journal::{EarlierTurn, Journal};
use memories_store::{Store, StoreError};

/// The place where the last turn of the running episode ended, among those that the viewer of the store knows. Before its
/// first turn it is the place where the best run and the last recorded episode began; `None` where these differ, or
/// neither is known.
///
/// # Errors
///
/// When the journal cannot be read.
pub fn standing(store: &Store, snapshot: &Snapshot) -> Result<Option<ScopeName>, StoreError> {
    let journal = Journal::of(store);
    let knows = |turn: &EarlierTurn| store.viewer().knows(&turn.witnesses());
    let last = journal.last_known_turn(knows)?;
    if let Some(last) = &last
        && last.episode >= Some(snapshot.running_episode())
    {
        return Ok(last.place());
    }
    let turns = match last.and_then(|last| last.episode) {
        Some(episode) => journal.turns_of_episode(episode)?.unwrap_or_default(),
        None => Vec::new(),
    };
    let of_last = turns.iter().find(|turn| knows(turn)).and_then(|first| first.begins_at());
    let of_best = BestRun::read(snapshot).and_then(|best| best.begins_at());
    let is_doubtful = of_last.is_some() && of_best.is_some() && of_last != of_best;
    let beginning = of_best.or(of_last).filter(|_| !is_doubtful);
    Ok(beginning.map(|place| ScopeName::Scope(Scope::Location(place))))
}
