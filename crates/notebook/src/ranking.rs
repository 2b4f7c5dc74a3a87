//! The live memories of a file by importance, for a server that is asked for the best again and again.
//!
//! Time is counted in turns of play, as far as the file shows them: an episode is as long as the highest turn of
//! its memories, and the present is the end of the last episode.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use memories_document::types::instant::Instant;
use memories_document::types::{Memory, Persistence};

/// A live entry and what ranks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ranked {
    /// Its number in the snapshot.
    pub at: usize,
    /// Its importance, 1 to 1000.
    pub importance: u16,
    /// Age in turns of play; `None` if it has no episode.
    pub age: Option<u64>,
    /// The points that were gained; 0 for a loss.
    pub(crate) points: i64,
    /// The instant of its date.
    pub(crate) date: Option<Instant>,
    /// True for a core memory, which does not decay.
    pub(crate) is_core: bool,
}

impl Ranked {
    /// Importance after decay, from 0 to 1000.
    pub fn decayed(&self, half_life: f64) -> f64 {
        let importance = f64::from(self.importance);
        match self.age {
            Some(age) if !self.is_core && half_life > 0.0 => {
                importance * 0.5_f64.powf(age as f64 / half_life)
            }
            _ => importance,
        }
    }

    /// The order of equally important entries: by the points that they gained, since the game itself says these; then
    /// the younger first, by turns of play, then by date, then the later in the file.
    pub fn order(&self) -> impl Ord + use<> {
        (Reverse(self.points), self.age.unwrap_or(u64::MAX), Reverse(self.date), Reverse(self.at))
    }
}

/// All live entries, the most important first. The memories are those of all entries, in their order.
pub(super) fn rank(memories: &[Memory]) -> Vec<Ranked> {
    let clock = TurnClock::of(memories);
    let live = memories.iter().enumerate().filter(|(_, memory)| memory.is_live());
    let ranked = live.map(|(at, memory)| Ranked {
        at,
        importance: memory.importance(),
        age: clock.age(memory),
        points: memory.provenance.score_change.unwrap_or(0).max(0),
        date: memory.provenance.date.as_deref().and_then(Instant::of),
        is_core: memory.persistence == Persistence::Core,
    });
    let mut ranked: Vec<Ranked> = ranked.collect();
    ranked.sort_unstable_by_key(|ranked| (Reverse(ranked.importance), ranked.order()));
    ranked
}

/// Counts turns of play across episodes.
struct TurnClock {
    /// Highest turn of each episode, and the turns of all episodes after it.
    episodes: BTreeMap<u64, (u64, u64)>,
}

impl TurnClock {
    fn of(memories: &[Memory]) -> TurnClock {
        let mut episodes: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        for Memory { provenance: fields, .. } in memories {
            if let Some(episode) = fields.episode {
                let (last, _) = episodes.entry(episode).or_default();
                *last = (*last).max(fields.turns.map_or(0, |turns| turns.last));
            }
        }
        let mut since = 0_u64;
        for (last, after) in episodes.values_mut().rev() {
            *after = since;
            since = since.saturating_add(*last);
        }
        TurnClock { episodes }
    }

    /// Turns since a memory was learned. A memory without a turn is as old as the end of its episode.
    fn age(&self, memory: &Memory) -> Option<u64> {
        let (last, since) = self.episodes.get(&memory.provenance.episode?)?;
        let turn = memory.provenance.turns.map_or(*last, |turns| turns.last);
        Some((last - turn).saturating_add(*since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memories_document::EntryText;
    use memories_document::types::Status;

    fn memories(lines: &[&str]) -> Vec<Memory> {
        lines.iter().map(|line| EntryText::new(line, Status::Active).read()).collect()
    }

    fn ranked(lines: &[&str]) -> Vec<Ranked> {
        let mut ranked = rank(&memories(lines));
        ranked.sort_unstable_by_key(|ranked| ranked.at);
        ranked
    }

    #[test]
    fn age_is_counted_across_episodes() {
        let lines = [
            "**[NOTE] a** *(Ep1, T10)*",
            "**[NOTE] b** *(Ep1, T4)*",
            "**[NOTE] c** *(Ep3, T20)*",
            "**[NOTE] d** *(Ep3, T5)*",
            "**[NOTE] e**",
        ];
        let ages: Vec<Option<u64>> = ranked(&lines).into_iter().map(|ranked| ranked.age).collect();
        assert_eq!(ages, [Some(20), Some(26), Some(0), Some(15), None]);
    }

    #[test]
    fn of_equally_important_entries_those_with_points_come_first() {
        let memories = memories(&[
            "**[SUCCESS] a** *(Ep1, T1, +5)*",
            "**[NOTE] b** *(Ep1, T3)*",
            "**[SUCCESS] c** *(Ep1, T2, +10)*",
            "**[DANGER] d** *(Ep1, T4, -10)*",
            "**[NOTE] e** *(Ep1, T1, importance 501)*",
            "**[SUCCESS] f** *(Ep1, T6, +10, importance 499)*",
            "**[SUCCESS] g** *(Ep1, T5, +5)*",
        ]);
        let order: Vec<usize> = rank(&memories).iter().map(|ranked| ranked.at).collect();
        assert_eq!(order, [4, 2, 6, 0, 3, 1, 5]);
    }

    #[test]
    fn importance_is_halved_but_not_that_of_core() {
        let decayed =
            |ranked: Ranked, age: Option<u64>, half_life: f64| Ranked { age, ..ranked }.decayed(half_life);
        let [old, core] = ranked(&["**[NOTE] a** *(Ep1, T1)*", "**[NOTE - CORE] b** *(Ep1, T1)*"])[..] else {
            panic!("both are live");
        };
        assert_eq!(decayed(old, Some(100), 50.0), 125.0);
        assert_eq!(decayed(old, None, 50.0), 500.0);
        assert_eq!(decayed(core, Some(100), 50.0), 500.0);
    }
}
