//! What the running episode has done of a route: which of its gains are made, and what is still to do.
//!
//! The actions of a run and the sections of a file enter. A section knows of each action only when it last worked, and when
//! it was last refused; a run may need one action several times. So what cannot be told apart counts as not done: doing a
//! step again costs a turn, to skip one costs the gain.

use std::collections::HashMap;

use crate::document::{KnownSection, Tries};
use crate::map::stop::Stop;
use crate::types::{Scope, fold_action};

/// The sections of places, and what they tell of the running episode.
pub(super) struct Deeds<'a> {
    places: HashMap<u64, &'a KnownSection<'a>>,
    running: u64,
    /// What was done at the places that the running episode has visited.
    now: HashMap<u64, DoneHere>,
}

/// Actions of the running episode at a place, folded, each with the turn of the last time.
#[derive(Default)]
struct DoneHere {
    worked: Vec<(String, u64)>,
    refused: Vec<(String, u64)>,
}

impl<'a> Deeds<'a> {
    pub(super) fn of(sections: &'a [KnownSection<'a>], running: u64) -> Deeds<'a> {
        let mut deeds = Deeds { places: HashMap::new(), running, now: HashMap::new() };
        for section in sections {
            let Scope::Location(id) = section.scope else { continue };
            deeds.places.insert(id, section);
            if section.was_visited_in(running) {
                let (worked, refused) = (done_in(&section.worked, running), done_in(&section.tried, running));
                deeds.now.insert(id, DoneHere { worked, refused });
            }
        }
        deeds
    }

    pub(super) fn section(&self, place: Option<u64>) -> Option<&'a KnownSection<'a>> {
        self.places.get(&place?).copied()
    }

    /// The turn in which the action of a stop last worked at its place.
    fn worked(&self, stop: &Stop) -> Option<u64> {
        last(&self.now.get(&stop.place?)?.worked, &stop.action)
    }

    /// The turn in which it was last refused there.
    fn refused(&self, stop: &Stop) -> Option<u64> {
        last(&self.now.get(&stop.place?)?.refused, &stop.action)
    }

    /// True if the place where a stop leads was visited.
    fn has_arrived(&self, stop: &Stop) -> bool {
        self.section(stop.to).is_some_and(|section| section.was_visited_in(self.running))
    }
}

/// The actions of an episode, folded, with their turns.
fn done_in(tries: &[Tries<'_>], episode: u64) -> Vec<(String, u64)> {
    let attempts = tries.iter().flat_map(|tries| tries.done_in(episode));
    attempts.filter_map(|done| Some((fold_action(&done.action), done.turn?))).collect()
}

fn last(done: &[(String, u64)], action: &str) -> Option<u64> {
    if done.is_empty() {
        return None;
    }
    let action = fold_action(action);
    done.iter().filter(|(other, _)| *other == action).map(|(_, turn)| *turn).max()
}

/// What the running episode has done of the legs of a route, each of which ends with a gain.
pub(super) struct Progress {
    /// Whether the gain of each leg is made.
    pub(super) made: Vec<bool>,
    /// When each was made, as far as a turn is known.
    turns: Vec<Option<u64>>,
}

impl Progress {
    pub(super) fn of(legs: &[&[Stop]], deeds: &Deeds<'_>) -> Progress {
        let mut progress = Progress { made: Vec::new(), turns: Vec::new() };
        for (number, leg) in legs.iter().enumerate() {
            let before = &legs[..number];
            let (is_made, turn) =
                leg.last().map_or((false, None), |gain| progress.is_made(gain, before, deeds));
            progress.made.push(is_made);
            progress.turns.push(turn);
        }
        // What cannot be told apart is made where a later gain is.
        for number in (0..legs.len().saturating_sub(1)).rev() {
            let is_doubtful = legs[number].last().is_some_and(|gain| occurs(gain, &legs[..number]));
            progress.made[number] |= is_doubtful && progress.made[number + 1];
        }
        progress
    }

    /// Whether and when the gain of a leg was made. Where an earlier leg has the same action, it must have been done after
    /// the gain before.
    fn is_made(&self, gain: &Stop, before: &[&[Stop]], deeds: &Deeds<'_>) -> (bool, Option<u64>) {
        let turn = if gain.is_walk { None } else { deeds.worked(gain) };
        let is_done = if gain.is_walk { deeds.has_arrived(gain) } else { turn.is_some() };
        if !occurs(gain, before) {
            return (is_done, turn);
        }
        let last = self.turns.last().copied().flatten();
        let is_later = turn.zip(last).is_some_and(|(turn, last)| turn > last);
        (is_done && is_later, turn.filter(|_| is_later))
    }

    /// What is still to do: of the first leg whose gain is not made the deeds that are not done, and all of the later ones;
    /// of legs whose gains are made only the walking between them.
    pub(super) fn ahead(&self, legs: &[&[Stop]], deeds: &Deeds<'_>) -> Vec<Stop> {
        let mut ahead = Vec::new();
        let mut is_first = true;
        for (number, leg) in legs.iter().enumerate() {
            if self.made[number] {
                if !is_first {
                    ahead.extend(leg.iter().filter(|stop| stop.is_walk).cloned().map(without_gain));
                }
                continue;
            }
            let since = self.turns[..number].iter().copied().flatten().max().unwrap_or(0);
            let open = match is_first {
                true => still_to_do(leg, since, deeds),
                false => leg.to_vec(),
            };
            is_first &= open.is_empty();
            ahead.extend(open);
        }
        ahead
    }
}

/// The stops of a leg that were not done since the gain before it. One that was refused behind all that comes before it is
/// passed; where that is the gain itself, so is the leg.
fn still_to_do(leg: &[Stop], since: u64, deeds: &Deeds<'_>) -> Vec<Stop> {
    let mut open: Vec<Stop> = Vec::new();
    let mut latest = since;
    for stop in leg {
        let done = deeds.worked(stop).filter(|turn| *turn > since);
        let is_untouched = open.iter().all(|stop| stop.is_walk);
        let is_refused = || is_untouched && deeds.refused(stop).is_some_and(|turn| turn > latest);
        match done {
            _ if stop.gain.is_none() && stop.is_walk => open.push(stop.clone()),
            Some(turn) if stop.gain.is_none() => latest = latest.max(turn),
            _ if is_refused() && stop.gain.is_some() => return Vec::new(),
            _ if is_refused() => {}
            _ => open.push(stop.clone()),
        }
    }
    open
}

/// True if one of the legs has the same action at the same place, or walks to the same place.
fn occurs(gain: &Stop, legs: &[&[Stop]]) -> bool {
    let action = fold_action(&gain.action);
    legs.iter().flat_map(|leg| leg.iter()).any(|stop| match gain.is_walk {
        true => stop.to == gain.to || stop.place == gain.to,
        false => stop.place == gain.place && fold_action(&stop.action) == action,
    })
}

fn without_gain(stop: Stop) -> Stop {
    Stop { gain: None, ..stop }
}
