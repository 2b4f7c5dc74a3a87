//! Progress of the running episode on a route: the gains that are made, and the steps that are left.
//!
//! The actions of a run and the sections of its places enter. A section knows of each action only when it last worked, and
//! when it was last refused; a run may need one action several times. So that much of a run is done as can have been done
//! in its order: doing a step again costs a turn, to skip one costs the gain.

use std::collections::HashMap;

use crate::stop::Stop;
use memories_document::types::fold_action;
use memories_document::{KnownSection, Tries};
use memories_notebook::Snapshot;

/// The sections of the places of a run, and what they tell of the running episode.
pub(super) struct Deeds<'a> {
    places: HashMap<u64, DeedsHere<'a>>,
    running: u64,
}

/// The section of a place, and the actions of the running episode there, folded, each with the turn of the last time.
struct DeedsHere<'a> {
    section: KnownSection<'a>,
    worked: Vec<(String, u64)>,
    refused: Vec<(String, u64)>,
}

impl<'a> Deeds<'a> {
    pub(super) fn of(running: u64) -> Deeds<'a> {
        Deeds { places: HashMap::new(), running }
    }

    /// Adds a place of the run, if the file has its section.
    pub(super) fn read(&mut self, snapshot: &'a Snapshot, place: u64) {
        if self.places.contains_key(&place) {
            return;
        }
        let Some(section) = snapshot.known_section(place) else { return };
        let is_visited = section.was_visited_in(self.running);
        let done = |tries: &[Tries<'_>]| if is_visited { done_in(tries, self.running) } else { Vec::new() };
        let (worked, refused) = (done(&section.worked), done(&section.tried));
        self.places.insert(place, DeedsHere { section, worked, refused });
    }

    pub(super) fn section(&self, place: Option<u64>) -> Option<&KnownSection<'a>> {
        self.places.get(&place?).map(|here| &here.section)
    }

    /// The turn in which the action of a stop last worked at its place.
    fn worked(&self, stop: &Stop) -> Option<u64> {
        last(&self.places.get(&stop.place?)?.worked, &stop.folded)
    }

    /// The turn in which it was last refused there.
    fn refused(&self, stop: &Stop) -> Option<u64> {
        last(&self.places.get(&stop.place?)?.refused, &stop.folded)
    }

    /// True if its place lists the action in no episode, such as waiting.
    fn leaves_no_trace(&self, stop: &Stop) -> bool {
        self.section(stop.place).is_none_or(|section| {
            let mut is_listed = false;
            for tries in section.worked.iter().chain(&section.tried) {
                tries.actions(|other| is_listed |= fold_action(other) == stop.folded);
            }
            !is_listed
        })
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

fn last(done: &[(String, u64)], folded: &str) -> Option<u64> {
    done.iter().filter(|(other, _)| other == folded).map(|(_, turn)| *turn).max()
}

/// The progress of the running episode on a route whose legs end with a gain each: true for each leg whose gain is made,
/// and the stops still to do. These are all behind those that are done. Of legs whose gain is made, only the walking is
/// left.
pub(super) fn progress(legs: &[&[Stop]], deeds: &Deeds<'_>) -> (Vec<bool>, Vec<Stop>) {
    let stops: Vec<&Stop> = legs.iter().flat_map(|leg| leg.iter()).collect();
    let done = done_in_order(&stops, deeds);
    let is_made = |gain: &Stop| {
        let is_done = if gain.is_walk { deeds.has_arrived(gain) } else { deeds.worked(gain).is_some() };
        let is_unique = || stops.iter().filter(|other| is_same(gain, other)).count() == 1;
        is_done && (gain.number < done || is_unique())
    };
    let made: Vec<bool> = legs.iter().map(|leg| leg.last().is_some_and(is_made)).collect();
    let mut ahead = Vec::new();
    for (leg, is_made) in legs.iter().zip(&made) {
        let open = leg.iter().filter(|stop| stop.number >= done).cloned();
        match is_made {
            true => ahead.extend(open.filter(|stop| stop.is_walk).map(|stop| Stop { gain: None, ..stop })),
            false => ahead.extend(open),
        }
    }
    (made, ahead)
}

/// The greatest number of stops, from the first on, that can have been done in their order: of each action the last of
/// them is no earlier than it comes in the run. Walking leaves no trace, and a refusal passes a stop.
fn done_in_order(stops: &[&Stop], deeds: &Deeds<'_>) -> usize {
    let mut done = 0;
    // The last time of each action so far, in the order of the run.
    let mut times: Vec<(usize, u64)> = Vec::new();
    for (number, stop) in stops.iter().enumerate() {
        if stop.is_walk {
            if stop.gain.is_some() && !deeds.has_arrived(stop) {
                break;
            }
            continue;
        }
        match deeds.worked(stop).max(deeds.refused(stop)) {
            Some(turn) => {
                times.retain(|(other, _)| !is_same(stop, stops[*other]));
                times.push((number, turn));
            }
            None if deeds.leaves_no_trace(stop) => continue,
            None => break,
        }
        if times.is_sorted_by_key(|(_, turn)| *turn) {
            done = number + 1;
        }
    }
    // A gain by walking belongs to what is done before it.
    let walked = stops[done..].iter().take_while(|stop| stop.is_walk);
    let gains = walked.enumerate().filter(|(_, stop)| stop.gain.is_some() && deeds.has_arrived(stop));
    gains.last().map_or(done, |(at, _)| done + at + 1)
}

/// True if two stops are the same action at the same place, or walk to the same place.
fn is_same(stop: &Stop, other: &Stop) -> bool {
    if stop.is_walk {
        other.to == stop.to || other.place == stop.to
    } else {
        other.place == stop.place && other.folded == stop.folded
    }
}
