//! The known ways of a world, worked out line by line and without a graph.

use std::collections::{BTreeMap, BTreeSet};

use memories::types::direction::Direction;
use memories::types::{Attempt, Scope, Way, fold_action};

use super::World;

/// An action as it is compared.
fn key(action: &str) -> String {
    Direction::of(action).map_or_else(|| fold_action(action), |direction| direction.name().to_owned())
}

pub struct Oracle {
    /// All places that are named.
    pub places: BTreeSet<u64>,
    /// Where an action leads from a place, and whether that is in doubt.
    ways: BTreeMap<(u64, String), (u64, bool)>,
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
                let lines = section.ways.iter().filter(|way| key(&way.action) == action);
                let latest = latest(lines.collect());
                let moment = |attempt: &&Attempt| (attempt.episode, attempt.turn);
                let tries = section.tried.iter().filter(|attempt| key(&attempt.action) == action);
                let tried = tries.max_by_key(moment).filter(|attempt| !attempt.effect_unknown);
                let walked = (latest.episode, latest.turn);
                if tried.is_some_and(|tried| tried.deadly && moment(&tried) >= walked) {
                    continue;
                }
                let refused = tried.is_some_and(|tried| moment(&tried) > walked);
                let mut lines = section.ways.iter().filter(|way| key(&way.action) == action);
                let elsewhere = lines.any(|way| way.to != latest.to);
                let doubtful = refused || elsewhere || !latest.refused_without.is_empty();
                oracle.ways.insert((*id, action), (latest.to, doubtful));
            }
        }
        oracle
    }

    /// Where an action leads.
    pub fn take(&self, from: u64, action: &str) -> Option<(u64, bool)> {
        self.ways.get(&(from, key(action))).copied()
    }

    /// Steps to all places that can be reached, and how many of these are in doubt at least.
    pub fn distances(&self, from: u64) -> BTreeMap<u64, (usize, usize)> {
        let mut distances = BTreeMap::new();
        if self.places.contains(&from) {
            distances.insert(from, (0, 0));
        }
        // No path has more steps than there are places.
        for _ in &self.places {
            for ((at, _), (to, doubtful)) in &self.ways {
                let Some((steps, doubts)) = distances.get(at).copied() else { continue };
                let cost = (steps + 1, doubts + usize::from(*doubtful));
                let known = distances.entry(*to).or_insert(cost);
                *known = cost.min(*known);
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

/// The line that counts of those for one action: of each destination the latest, of equals the last; of destinations
/// the latest, of equals the first.
fn latest(lines: Vec<&Way>) -> &Way {
    let mut latest: Vec<&Way> = Vec::new();
    for line in lines {
        match latest.iter_mut().find(|way| way.to == line.to) {
            Some(way) if (line.episode, line.turn) >= (way.episode, way.turn) => *way = line,
            Some(_) => {}
            None => latest.push(line),
        }
    }
    let mut latest = latest.into_iter();
    let first = latest.next().unwrap();
    latest.fold(
        first,
        |best, way| {
            if (way.episode, way.turn) > (best.episode, best.turn) { way } else { best }
        },
    )
}
