//! Reads the world from a store: its former states, and the effects of its turns.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use crate::range::{Filter, Position, StepRange};
use crate::steps::{Step, StepKind};
use crate::strings::Strings;
use crate::world::World;
use memories_document::types::edit;
use memories_notebook::history::{History, HistoryStep};
use memories_recall::Limits;
use memories_record::stats::read::{self as stats, ReadStats};
use memories_record::stats::tally::{Tally, TurnEffect};
use memories_store::journal::entry::Entry;
use memories_store::{Store, StoreError};
use memories_world::Descriptions;

/// The effects of turns, by the ids of their lines in the journal.
pub(super) type Effects = HashMap<String, TurnEffect, FixedState>;

/// What one reading of the journal tells.
pub(super) struct Figures {
    /// The figures of `stats`.
    pub(super) read: ReadStats,
    /// Counts over the steps.
    pub(super) tally: Tally,
    /// The effects of the turns.
    pub(super) effects: Effects,
    /// The descriptions of places.
    pub(super) descriptions: Descriptions,
}

/// The figures of a store, and what its turns changed. `file` is the name of the memory file on the page, `now` the
/// present time (RFC 3339).
///
/// # Errors
///
/// When the memory file cannot be read.
pub(super) fn figures(store: &Store, file: &str, limits: &Limits, now: &str) -> Result<Figures, StoreError> {
    let (mut tally, mut effects) = (Tally::default(), Effects::default());
    let mut descriptions = Descriptions::default();
    let read = stats::read(store, file.to_owned(), limits, now, |entry| {
        descriptions.add(entry);
        let effect = tally.count(entry);
        if let (Some(id), Some(effect)) = (&entry.id, effect) {
            effects.insert(id.to_string(), effect);
        }
    })?;
    Ok(Figures { read, tally, effects, descriptions })
}

/// The world of a history, as far as the range goes.
pub(super) fn world(history: &History, effects: &Effects, range: &StepRange) -> World {
    let mut world = World::default();
    let mut filter = Filter::new(range);
    for part in &history.parts {
        let mut kind = if world.step_count() == 0 { StepKind::Start } else { StepKind::Gap };
        // The text before the first step that is shown.
        let mut start = Some(part.start.clone());
        for history_step in &part.steps {
            let effect = |entry: &Entry<'_>| effects.get(entry.id.as_deref()?).copied();
            let step = step(history_step, effect, world.strings());
            match (filter.next(&step), &mut start) {
                (Position::Before, Some(text)) => {
                    // The history has checked its edits.
                    let _ = edit::apply(&history_step.edits, text);
                    continue;
                }
                (Position::After, _) => return world,
                (Position::Within, _) | (Position::Before, None) => {}
            }
            if let Some(text) = start.take() {
                world.begin(kind, text);
                kind = StepKind::Gap;
            }
            let _ = world.advance(step, &history_step.edits);
        }
        if let Some(text) = start {
            world.begin(kind, text);
        }
    }
    world
}

/// The step of a line, or of a change from outside. `effect` says what a turn changed.
fn step(
    step: &HistoryStep,
    effect: impl FnOnce(&Entry<'_>) -> Option<TurnEffect>,
    strings: &mut Strings,
) -> Step {
    match step.line.as_deref().and_then(Entry::parse) {
        None => Step::without_line(StepKind::Outside),
        Some(entry) => Step::of(&entry, effect(&entry), strings),
    }
}

/// Adds steps to a world that has those before.
pub(super) fn advance(world: &mut World, tally: &mut Tally, steps: &[HistoryStep]) {
    for history_step in steps {
        let step = step(history_step, |entry| tally.count(entry), world.strings());
        // The history has checked the edits.
        let _ = world.advance(step, &history_step.edits);
    }
}
