//! The best run as a route: the place of each action, the actions that this episode has done, and the next ones.
//!
//! A run and a file enter. Places are followed along the known ways, and each gain says where it was
//! made. [`crate::progress`] says which of them the running episode has done.

use crate::graph::Graph;
use crate::progress::{Deeds, progress};
use crate::search::{Paths, actions};
use crate::stop::Stop;
use memories_document::KnownSection;
use memories_document::run::{Run, write_steps};
use memories_document::types::fold_action;
use memories_notebook::Snapshot;

/// A run, with the places of its actions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Route {
    /// Its actions, in order.
    pub stops: Vec<Stop>,
    /// True for each gain that the running episode has made.
    pub made: Vec<bool>,
    /// The actions that are still to be done in the running episode.
    ahead: Vec<Stop>,
}

/// The actions that come next at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Next<'a> {
    /// Known ways back to the route; empty on it.
    pub back: Vec<String>,
    /// The actions of the route from there.
    pub stops: &'a [Stop],
}

impl Route {
    /// Follows a run through a file, of which only the sections of its places are read. `running` is the running episode.
    pub fn of(run: &Run, snapshot: &Snapshot, running: u64) -> Route {
        let mut deeds = Deeds::of(running);
        let mut at = run.begins_at.as_ref().map(|place| place.id);
        let mut stops: Vec<Stop> = Vec::new();
        for (leg, gain) in run.gains.iter().enumerate() {
            deeds.read(snapshot, gain.at.id);
            for (number, action) in gain.steps.iter().enumerate() {
                let is_last = number + 1 == gain.steps.len();
                at.into_iter().for_each(|place| deeds.read(snapshot, place));
                let leads_to = deeds.section(at).and_then(|section| leads_to(section, action));
                let to = if is_last { Some(gain.at.id) } else { leads_to.or(at) };
                stops.push(Stop {
                    leg,
                    number: stops.len(),
                    action: action.clone(),
                    folded: fold_action(action),
                    place: at,
                    gain: is_last.then(|| gain.earned.to_string()),
                    to,
                    is_walk: leads_to.is_some(),
                    is_done: false,
                });
                at = to;
            }
        }
        let start_of = |leg: usize| stops.partition_point(|stop| stop.leg < leg);
        let legs: Vec<&[Stop]> =
            (0..run.gains.len()).map(|leg| &stops[start_of(leg)..start_of(leg + 1)]).collect();
        let (made, ahead) = progress(&legs, &deeds);
        for stop in &mut stops {
            let is_ahead = |other: &Stop| other.number == stop.number;
            stop.is_done = made[stop.leg] || !ahead.iter().any(is_ahead);
        }
        Route { stops, made, ahead }
    }

    /// The number of the first of the actions ahead that is more than walking.
    fn deed(&self) -> Option<usize> {
        self.ahead.iter().position(|stop| !stop.is_walk || stop.gain.is_some())
    }

    /// The actions that come next at a place of the route, as far on as only walking lies between.
    pub(super) fn next_on_it(&self, here: u64) -> Option<Next<'_>> {
        let before_deed = &self.ahead[..=self.deed()?];
        let at = before_deed.iter().rposition(|stop| stop.place == Some(here))?;
        Some(Next { back: Vec::new(), stops: &self.ahead[at..] })
    }

    /// The actions that come next at a place off the route, with the way back; `None` where none is known that costs no
    /// more than `most`.
    pub(super) fn next_off_it(&self, here: u64, graph: &Graph<'_>, most: u64) -> Option<Next<'_>> {
        let deed = self.deed()?;
        let paths = Paths::within(graph, graph.find(here)?, most);
        let way_to = |at: usize| Some((at, paths.to(graph.find(self.ahead[at].place?)?)?));
        let (at, back) =
            (0..=deed).rev().filter_map(way_to).min_by_key(|(at, back)| back.len() + deed - at)?;
        let back = actions(&back).into_iter().map(str::to_owned).collect();
        Some(Next { back, stops: &self.ahead[at..] })
    }
}

/// The actions up to the first that reaches a goal: a place by its id or name, what is gained, or words of an action such
/// as the name of an item. `None` where none does.
pub(super) fn up_to<'s>(stops: &'s [Stop], goal: &str, graph: &Graph<'_>) -> Option<&'s [Stop]> {
    let folded = fold_action(goal);
    let is_place = |id: u64| id.to_string() == goal || fold_action(graph.place_name(id)) == folded;
    let says = |stop: &Stop| {
        let action = format!(" {} ", fold_action(&stop.action));
        action.contains(&format!(" {folded} ")) || stop.gain.as_deref() == Some(goal)
    };
    let reaches = |stop: &Stop| says(stop) || stop.to.is_some_and(is_place);
    stops.iter().position(reaches).map(|at| &stops[..=at])
}

impl Next<'_> {
    /// The first actions, behind those that lead back to the route: `s, w, then take lamp (+5), n`.
    pub fn write(&self, count: usize) -> String {
        let stops = self.stops.iter().take(count).map(Stop::label).collect::<Vec<_>>().join(", ");
        if self.back.is_empty() { stops } else { format!("{}, then {stops}", write_steps(&self.back)) }
    }
}

/// Where an action led from a place the last time.
fn leads_to(section: &KnownSection<'_>, action: &str) -> Option<u64> {
    let action = fold_action(action);
    section.ways.iter().find(|way| fold_action(&way.action) == action).map(|way| way.to)
}
