//! Tried actions, known ways and earlier visits of the places of a turn, from file and journal.
//!
//! It is gathered only where a model is asked, since earlier visits take one reading of the whole journal.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use crate::places::Place;
use memories_document::Section;
use memories_document::types::{Attempt, Moment, Way, Witnesses, fold_action};
use memories_notebook::files::Files;
use memories_store::StoreError;
use memories_store::journal::Journal;
use memories_store::journal::entry::Entry;

/// Tried actions, known ways and earlier visits of the places of a turn.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// Actions that changed nothing at the place where the action was taken, the latest first.
    pub tried: Vec<Attempt>,
    /// Actions that led from there to another place, the latest first.
    pub ways: Vec<(String, Place)>,
    /// When the places were seen before.
    pub seen: Seen,
}

/// The last turns at each place, as turns are read in order.
#[derive(Debug, Default)]
pub(super) struct Visits {
    places: HashMap<u64, Stays>,
    /// The place where the last turn ended.
    now: Option<u64>,
}

/// The turns at one place.
#[derive(Debug, Default)]
struct Stays {
    last: Option<Moment>,
    /// The last turn of an earlier stay.
    before_stay: Option<Moment>,
}

/// When the places of a turn were seen before.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// The last turn at the place where the action was taken, before the present stay.
    pub before: Option<Moment>,
    /// The last turn at the place reached.
    pub after: Option<Moment>,
}

impl Visits {
    /// All turns of a journal.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub(super) fn of(journal: &Journal) -> Result<Visits, StoreError> {
        let mut visits = Visits::default();
        let aside = journal.aside()?;
        journal.visit(|line| {
            let counts = |entry: &Entry<'_>| entry.resolves.is_none() && !aside.has(entry.id.as_deref());
            let entry = Entry::parse(line).filter(counts);
            let Some(turn) = entry.and_then(|entry| entry.turn) else { return };
            let to = turn.location_after.as_ref().and_then(|place| place.id);
            visits.pass(turn.episode, turn.turn, turn.place(), to);
        })?;
        Ok(visits)
    }

    /// Passes a turn: episode and number, and the places where it began and ended. Without an end it stayed.
    pub(super) fn pass(
        &mut self,
        episode: Option<u64>,
        turn: Option<u64>,
        from: Option<u64>,
        to: Option<u64>,
    ) {
        let to = to.or(from);
        let moment = Moment { episode, turn, ..Moment::default() };
        for place in from.into_iter().chain(to.filter(|_| to != from)) {
            let stays = self.places.entry(place).or_default();
            let same_episode = stays.last.as_ref().is_some_and(|last| last.episode == episode);
            if !(from == Some(place) && self.now == Some(place) && same_episode) {
                stays.before_stay = stays.last.take();
            }
            stays.last = Some(moment.clone());
        }
        self.now = to;
    }

    /// When the places of the next turn were seen: before the present stay where it begins, and the one reached.
    pub(super) fn seen(&self, before: u64, after: u64) -> Seen {
        let stays = |place| self.places.get(&place);
        let seen =
            |stays: &Stays| if self.now == Some(before) { &stays.before_stay } else { &stays.last }.clone();
        Seen {
            before: stays(before).and_then(seen),
            after: stays(after).and_then(|stays| stays.last.clone()),
        }
    }
}

impl Surroundings {
    /// The surroundings of a turn at a place that all know who are present, and when its places were seen.
    pub(super) fn of(files: &Files, before: &Place, present: &Witnesses, seen: Seen) -> Surroundings {
        let Section { mut tried, ways, .. } = files.evidence_known_to(&before.scope(), present);
        tried.sort_by_key(|attempt| Reverse((attempt.episode, attempt.turn)));
        Surroundings { tried, ways: latest_ways(ways), seen }
    }
}

/// Where each action led last, the latest first.
fn latest_ways(mut ways: Vec<Way>) -> Vec<(String, Place)> {
    ways.sort_by_key(|way| Reverse((way.episode, way.turn)));
    let mut seen = HashSet::new();
    ways.retain(|way| seen.insert(fold_action(&way.action)));
    ways.into_iter().map(|Way { action, to, name, .. }| (action, Place { id: to, name })).collect()
}
