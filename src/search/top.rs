//! The most important memories of a file, optionally with decay over time.
//!
//! Time is counted in turns of play, as far as the file shows them: an episode is as long as the highest turn of
//! its memories, and the present is the end of the last episode.

use std::collections::BTreeMap;

use crate::document::grammar::Heading;
use crate::notebook::Snapshot;
use crate::types::{Memory, Persistence, Scope, Viewer};

/// A memory ranked by its importance.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RankedMemory {
    /// Its section.
    pub scope: Scope,
    /// The name of that section; may be empty.
    pub name: String,
    /// The name as people read it: with the id where several places share it, the scope where it is empty.
    pub place: String,
    /// The memory itself.
    pub memory: Memory,
    /// Age in turns of play; `None` if the memory has no episode.
    pub age: Option<u64>,
    /// Importance after decay, from 0 to 1000.
    pub importance: f64,
}

/// The `limit` most important live memories that a reader may see; of equally important ones, the later one comes
/// first.
///
/// With a half-life in turns, importance decays to `importance × 0.5^(age / half-life)`. Core memories and
/// memories without an episode do not decay.
pub(crate) fn top(
    snapshot: &Snapshot,
    viewer: &Viewer,
    limit: usize,
    half_life: Option<f64>,
) -> Vec<RankedMemory> {
    let memories: Vec<Memory> = (0..snapshot.entries().len()).map(|at| snapshot.memory(at)).collect();
    let clock = TurnClock::of(&memories);
    let mut ranked: Vec<(f64, Option<u64>, usize)> = Vec::new();
    let is_shown =
        |(at, memory): &(usize, &Memory)| memory.is_live() && viewer.sees(&snapshot.heading_of(*at).scope);
    for (at, memory) in memories.iter().enumerate().filter(is_shown) {
        let age = clock.age(memory);
        ranked.push((decayed(memory, age, half_life), age, at));
    }
    let later = |age: Option<u64>| std::cmp::Reverse(age.unwrap_or(u64::MAX));
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(later(b.1).cmp(&later(a.1))).then(b.2.cmp(&a.2)));
    ranked.truncate(limit);
    let ranked = ranked.into_iter().map(|(importance, age, at)| {
        let Heading { scope, name } = snapshot.heading_of(at).clone();
        let place = snapshot.place_names().label(&scope, &name);
        RankedMemory { scope, name, place, memory: memories[at].clone(), age, importance }
    });
    ranked.collect()
}

fn decayed(memory: &Memory, age: Option<u64>, half_life: Option<f64>) -> f64 {
    let importance = f64::from(memory.importance());
    match (half_life, age) {
        (Some(half_life), Some(age)) if memory.persistence != Persistence::Core && half_life > 0.0 => {
            importance * 0.5_f64.powf(age as f64 / half_life)
        }
        _ => importance,
    }
}

/// Counts turns of play across episodes.
struct TurnClock {
    /// Highest turn of each episode.
    last_turns: BTreeMap<u64, u64>,
}

impl TurnClock {
    fn of(memories: &[Memory]) -> TurnClock {
        let mut last_turns: BTreeMap<u64, u64> = BTreeMap::new();
        for fields in memories.iter().map(|memory| &memory.provenance) {
            if let Some(episode) = fields.episode {
                let last = last_turns.entry(episode).or_default();
                *last = (*last).max(fields.turns.map_or(0, |turns| turns.last));
            }
        }
        TurnClock { last_turns }
    }

    /// Turns since a memory was learned. A memory without a turn is as old as the end of its episode.
    fn age(&self, memory: &Memory) -> Option<u64> {
        let episode = memory.provenance.episode?;
        let own = self.last_turns.get(&episode)?;
        let turn = memory.provenance.turns.map_or(*own, |turns| turns.last);
        let since = self.last_turns.range(episode + 1..).map(|(_, last)| last);
        Some(since.fold(own - turn, |age, last| age.saturating_add(*last)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Category, Span};

    fn memory(episode: u64, turn: u64) -> Memory {
        let mut memory = Memory::new(Category::note(), format!("{episode} {turn}"), "x");
        memory.provenance.episode = Some(episode);
        memory.provenance.turns = Some(Span::one(turn));
        memory
    }

    #[test]
    fn age_is_counted_across_episodes() {
        let unknown = Memory::new(Category::note(), "a", "b");
        let memories = [memory(1, 10), memory(1, 4), memory(3, 20), memory(3, 5), unknown];
        let clock = TurnClock::of(&memories);
        let ages: Vec<Option<u64>> = memories.iter().map(|memory| clock.age(memory)).collect();
        assert_eq!(ages, [Some(20), Some(26), Some(0), Some(15), None]);
    }

    #[test]
    fn importance_is_halved_but_not_that_of_core() {
        let old = memory(1, 1);
        assert_eq!(decayed(&old, Some(100), Some(50.0)), 125.0);
        assert_eq!(decayed(&old, Some(100), None), 500.0);
        assert_eq!(decayed(&old, None, Some(50.0)), 500.0);
        let core = Memory { persistence: Persistence::Core, ..old };
        assert_eq!(decayed(&core, Some(100), Some(50.0)), 500.0);
    }
}
