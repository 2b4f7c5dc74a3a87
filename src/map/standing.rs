//! Where the player stands: at the end of the last turn, and before the first turn of an episode where the game begins.

use crate::journal::Journal;
use crate::map::best_run::BestRun;
use crate::notebook::Snapshot;
use crate::store::{Store, StoreError};
use crate::types::{Scope, ScopeName};

/// The place where the last turn of the running episode ended. Before its first turn it is the place where the best run
/// and the last recorded episode began; `None` where these differ, or neither is known.
///
/// # Errors
///
/// When the journal cannot be read.
pub(crate) fn standing(store: &Store, snapshot: &Snapshot) -> Result<Option<ScopeName>, StoreError> {
    let journal = Journal::of(store);
    let last = journal.last_turns(1)?.pop();
    if let Some(last) = &last
        && last.episode >= Some(snapshot.running_episode())
    {
        return Ok(last.place());
    }
    let turns = match last.and_then(|last| last.episode) {
        Some(episode) => journal.turns_of_episode(episode)?.unwrap_or_default(),
        None => Vec::new(),
    };
    let of_last = turns.first().and_then(|first| first.begins_at());
    let of_best = BestRun::read(snapshot).and_then(|best| best.begins_at());
    let is_doubtful = of_last.is_some() && of_best.is_some() && of_last != of_best;
    let beginning = of_best.or(of_last).filter(|_| !is_doubtful);
    Ok(beginning.map(|place| ScopeName::Scope(Scope::Location(place))))
}
