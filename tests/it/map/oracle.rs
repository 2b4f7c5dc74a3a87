//! The known ways of a world, worked out line by line and without a graph.

use std::collections::{BTreeMap, BTreeSet};

use memories::types::direction::Direction;
use memories::types::{Attempt, Scope, TryResult, Way, fold_action};

use super::World;

/// An action as it is compared.
fn key(action: &str) -> String {
    Direction::of(action).map_or_else(|| fold_action(action), |direction| direction.name().to_owned())
}

pub struct Oracle {
    /// All places that are named.
    pub places: BTreeSet<u64>,
    /// The places to which an action leads from a place, each with its cost.
    ways: BTreeMap<(u64, String), BTreeMap<u64, u64>>,
    /// Directions that were tried at a place.
    tried: BTreeMap<u64, BTreeSet<Direction>>,
    /// Directions that the game does not understand.
    not_understood: BTreeSet<Direction>,
}

impl Oracle {
    pub fn of(world: &World) -> Oracle {
        let mut oracle = Oracle {
            places: BTreeSet::new(),
            ways: BTreeMap::new(),
            tried: BTreeMap::new(),
            not_understood: BTreeSet::new(),
        };
        for (scope, section) in world {
            let attempted = |action: &String| Direction::of(action);
            let tried = section.tried.iter().map(|attempt| &attempt.action).filter_map(attempted);
            let Scope::Location(id) = scope else {
                oracle.not_understood.extend(tried);
                continue;
            };
            oracle.places.insert(*id);
            oracle.places.extend(section.ways.iter().map(|way| way.to));
            let others = section.worked.iter().map(|attempt| &attempt.action);
            let others = others.chain(section.ways.iter().map(|way| &way.action)).filter_map(attempted);
            oracle.tried.insert(*id, tried.chain(others).collect());
            for action in section.ways.iter().map(|way| key(&way.action)) {
                let lines = || section.ways.iter().filter(|way| key(&way.action) == action);
                let moment = |attempt: &&Attempt| (attempt.episode, attempt.turn);
                let tries = section.tried.iter().filter(|attempt| key(&attempt.action) == action);
                let tried = tries.max_by_key(moment).filter(|attempt| !attempt.result.is_unknown());
                let ends: BTreeSet<u64> = lines().map(|way| way.to).collect();
                let ends: Vec<&Way> =
                    ends.into_iter().map(|to| latest(lines().filter(|way| way.to == to))).collect();
                let walked: u64 = ends.iter().map(|way| way.count).sum();
                let cost = |way: &&Way| {
                    let last = (way.episode, way.turn);
                    let doubt = match tried {
                        Some(tried) if tried.result == TryResult::Deadly && moment(&tried) >= last => 20_000,
                        Some(tried) if moment(&tried) > last => 1,
                        _ => 0,
                    };
                    (way.to, 1000 * walked / way.count + doubt)
                };
                oracle.ways.insert((*id, action), ends.iter().map(cost).collect());
            }
        }
        oracle
    }

    /// The cost of an action that leads from one place to another.
    pub fn cost(&self, from: u64, action: &str, to: u64) -> Option<u64> {
        self.ways.get(&(from, key(action)))?.get(&to).copied()
    }

    /// Costs of the cheapest path to each place that can be reached, and its number of steps.
    pub fn distances(&self, from: u64) -> BTreeMap<u64, (u64, u64)> {
        let mut distances = BTreeMap::new();
        if self.places.contains(&from) {
            distances.insert(from, (0, 0));
        }
        // No path has more steps than there are places.
        for _ in &self.places {
            for ((at, _), ends) in &self.ways {
                for (to, cost) in ends {
                    let Some((before, steps)) = distances.get(at).copied() else { continue };
                    let reached = (before + cost, steps + 1);
                    let known = distances.entry(*to).or_insert(reached);
                    *known = reached.min(*known);
                }
            }
        }
        distances
    }

    /// Places with directions that were never tried there, by id.
    pub fn open(&self) -> impl Iterator<Item = (u64, Vec<Direction>)> {
        self.places.iter().filter_map(|id| {
            let is_tried = |direction: &Direction| {
                self.tried.get(id).is_some_and(|tried| tried.contains(direction))
                    || self.not_understood.contains(direction)
            };
            let open: Vec<Direction> = Direction::ALL.into_iter().filter(|way| !is_tried(way)).collect();
            (!open.is_empty()).then_some((*id, open))
        })
    }
}

/// The line that counts of those for one action and one end: the latest, of equals the last.
fn latest<'a>(lines: impl Iterator<Item = &'a Way>) -> &'a Way {
    lines.max_by_key(|way| (way.episode, way.turn)).unwrap()
}
