//! Tried actions, known ways and earlier visits of the places of a turn, from file and journal.
//!
//! It is gathered only where a model is asked, since it takes one reading of the whole journal.

use crate::journal::Journal;
use crate::journal::entry::{Entry, PlaceEntry};
use crate::notebook::files::Files;
use crate::record::places::Place;
use crate::store::StoreError;
use crate::types::{Attempt, Moment, fold_action};

/// Tried actions, known ways and earlier visits of the places of a turn.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// Actions that changed nothing at the place where the action was taken.
    pub tried: Vec<Attempt>,
    /// Actions that led from there to another place, in the order in which they were first taken.
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
        let mut surroundings =
            Surroundings { tried: files.section(&before.scope()).tried, ..Surroundings::default() };
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
            let Some((action, place)) = turn.action.zip(turn.location_after) else { return };
            if from == Some(before.id) && to != from && turn.died != Some(true) {
                surroundings.add_way(&action, &place);
            }
        })?;
        surroundings.seen_before = if here.is_there { here.before_stay } else { here.last };
        surroundings.seen_after = there.last;
        Ok(surroundings)
    }

    /// The same action twice: where it led last counts.
    fn add_way(&mut self, action: &str, place: &PlaceEntry<'_>) {
        let name = place.name.as_deref().unwrap_or_default().to_owned();
        let to = Place { id: place.id.unwrap_or_default(), name };
        let folded = fold_action(action);
        match self.ways.iter_mut().find(|(known, _)| fold_action(known) == folded) {
            Some((_, known)) => *known = to,
            None => self.ways.push((action.to_owned(), to)),
        }
    }
}
