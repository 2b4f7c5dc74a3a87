//! Tried actions, known ways and earlier visits of the places of a turn, from file and journal.
//!
//! It is gathered only where a model is asked, since earlier visits take one reading of the whole journal.

use std::cmp::Reverse;
use std::collections::HashSet;

use crate::document::Section;
use crate::journal::Journal;
use crate::journal::entry::{Entry, PlaceEntry};
use crate::notebook::files::Files;
use crate::record::places::Place;
use crate::store::StoreError;
use crate::types::{Attempt, Moment, Way, fold_action};

/// Tried actions, known ways and earlier visits of the places of a turn.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// Actions that changed nothing at the place where the action was taken, the latest first.
    pub tried: Vec<Attempt>,
    /// Actions that led from there to another place, the latest first.
    pub ways: Vec<(String, Place)>,
    /// The last turn there before the present stay.
    pub seen_before: Option<Moment>,
    /// The last turn at the place reached.
    pub seen_after: Option<Moment>,
}

/// The turns at one place as they are read.
#[derive(Default)]
struct Visits {
    last: Option<Moment>,
    /// The last turn of an earlier stay.
    before_stay: Option<Moment>,
    /// The last turn ended there.
    is_there: bool,
}

impl Visits {
    /// Passes a turn that began, and ended, there or elsewhere.
    fn pass(&mut self, moment: &Moment, (began, ended): (bool, bool)) {
        if began || ended {
            let same_episode = self.last.as_ref().is_some_and(|last| last.episode == moment.episode);
            if !(began && self.is_there && same_episode) {
                self.before_stay = self.last.take();
            }
            self.last = Some(moment.clone());
        }
        self.is_there = ended;
    }
}

impl Surroundings {
    /// Reads the journal. `until`: the id of the line of the turn itself, where it has one.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub(super) fn of(
        journal: &Journal,
        files: &Files,
        (before, after): (&Place, &Place),
        until: Option<&str>,
    ) -> Result<Surroundings, StoreError> {
        let Section { mut tried, ways, .. } = files.section(&before.scope());
        tried.sort_by_key(|attempt| Reverse((attempt.episode, attempt.turn)));
        let mut surroundings = Surroundings { tried, ways: latest_ways(ways), ..Surroundings::default() };
        let (mut here, mut there, mut is_past) = (Visits::default(), Visits::default(), true);
        journal.visit(|line| {
            let Some(entry) = Entry::parse(line).filter(|entry: &Entry<'_>| entry.resolves.is_none()) else {
                return;
            };
            is_past &= until.is_none_or(|until| entry.id.as_deref() != Some(until));
            let Some(turn) = entry.turn.filter(|_| is_past) else { return };
            let id = |place: &Option<PlaceEntry<'_>>| place.as_ref()?.id;
            let (from, to) = (turn.place(), id(&turn.location_after).or(turn.place()));
            let moment = Moment { episode: turn.episode, turn: turn.turn, ..Moment::default() };
            for (visits, place) in [(&mut here, before), (&mut there, after)] {
                visits.pass(&moment, (from == Some(place.id), to == Some(place.id)));
            }
        })?;
        surroundings.seen_before = if here.is_there { here.before_stay } else { here.last };
        surroundings.seen_after = there.last;
        Ok(surroundings)
    }
}

/// Where each action led last, the latest first.
fn latest_ways(mut ways: Vec<Way>) -> Vec<(String, Place)> {
    ways.sort_by_key(|way| Reverse((way.episode, way.turn)));
    let mut seen = HashSet::new();
    ways.retain(|way| seen.insert(fold_action(&way.action)));
    ways.into_iter().map(|Way { action, to, name, .. }| (action, Place { id: to, name })).collect()
}
