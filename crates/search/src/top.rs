//! The most important memories of a file, optionally with decay over time.

use memories_document::grammar::Heading;
use memories_document::types::{Memory, Scope};
use memories_notebook::{Ranked, Snapshot};

/// A memory ranked by its importance.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedMemory {
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

/// The `limit` most important live memories; of equally important ones those that gained more points come first, then the
/// later ones.
///
/// With a half-life in turns, importance decays to `importance × 0.5^(age / half-life)`. Core memories and
/// memories without an episode do not decay.
pub fn top(snapshot: &Snapshot, limit: usize, half_life: Option<f64>) -> Vec<RankedMemory> {
    let ranked = snapshot.by_importance().iter();
    let best: Vec<(f64, Ranked)> = match half_life {
        None => ranked.take(limit).map(|ranked| (f64::from(ranked.importance), *ranked)).collect(),
        Some(half_life) => {
            let mut decayed: Vec<_> = ranked.map(|ranked| (ranked.decayed(half_life), *ranked)).collect();
            decayed.sort_by(|(one, a), (other, b)| other.total_cmp(one).then(a.order().cmp(&b.order())));
            decayed.truncate(limit);
            decayed
        }
    };
    let memory = |(importance, Ranked { at, age, .. }): (f64, Ranked)| {
        let Heading { scope, name } = snapshot.heading_of(at).clone();
        let place = snapshot.place_names().label(&scope, &name);
        RankedMemory { scope, name, place, memory: snapshot.memory(at), age, importance }
    };
    best.into_iter().map(memory).collect()
}
