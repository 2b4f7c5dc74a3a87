//! Finds the part of the best run of a game that is left in the running episode, at a place.

use memories_world::BestRun;

/// Actions of the best run that a recall shows.
const NEXT: usize = 3;

/// Longest way back to the best run that a recall shows, in actions.
const NEAR: usize = 4;

/// A sentence that names the next actions at a place; `None` where the run is done, or the place is far from it.
pub(super) fn next_at(best: &BestRun<'_>, here: u64) -> Option<String> {
    let next = best.next_at(here).filter(|next| next.back.len() <= NEAR)?;
    let score = best.memory.provenance.score.map_or(String::new(), |score| format!(", {score} points"));
    Some(format!("Next (best run{score}): {}", next.write(NEXT)))
}
