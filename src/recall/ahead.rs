//! What of the best run of a game is still to be done in the running episode.
//!
//! The entry of the run and the whole memory file enter, once for any number of places; a sentence about a place leaves.

use crate::document::known_ways;
use crate::document::run::{BEST_RUN, Run};
use crate::map::{Graph, Route};
use crate::notebook::Snapshot;
use crate::types::{Memory, Scope};

/// Actions of the best run that a recall shows.
const NEXT: usize = 3;

/// Longest way back to the best run that a recall shows, in actions.
const NEAR: usize = 4;

/// The best run, as far as the running episode has not done it.
pub(crate) struct Ahead<'a> {
    score: Option<i64>,
    route: Route,
    graph: Graph<'a>,
}

impl<'a> Ahead<'a> {
    /// From the entry of the run and the text of the whole file.
    pub(crate) fn of(memory: &Memory, text: &'a str, running_episode: u64) -> Option<Ahead<'a>> {
        let run = Run::of(memory)?;
        let sections = known_ways(text);
        let route = Route::of(&run, &sections, running_episode);
        Some(Ahead {
            score: memory.provenance.score,
            route,
            graph: Graph::of(sections, Some(running_episode)),
        })
    }

    /// A sentence that names the next actions at a place; `None` where the run is done, or the place is far from it.
    pub(super) fn at(&self, here: u64) -> Option<String> {
        let next = self.route.next_at(here, &self.graph).filter(|next| next.back.len() <= NEAR)?;
        let score = self.score.map_or(String::new(), |score| format!(", {score} points"));
        Some(format!("Next (best run{score}): {}", next.write(NEXT)))
    }
}

/// The live entry of the best run.
pub(crate) fn entry_of_best_run(snapshot: &Snapshot) -> Option<Memory> {
    Some(snapshot.unread(&Scope::Game).live_with_title(BEST_RUN)?.read())
}

/// The same, unless the run is of the running episode: all of a run is done in its own episode.
pub(crate) fn run_to_follow(snapshot: &Snapshot) -> Option<Memory> {
    entry_of_best_run(snapshot).filter(|memory| memory.provenance.episode != Some(snapshot.running_episode()))
}
