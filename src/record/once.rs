//! Recognises what was recorded before: a whole turn, and the whole reply to a tried action.

use crate::document::Section;
use crate::document::evidence::is_same_reply;
use crate::document::text::{REPLY_CHARS, stored_line, stored_reply};
use crate::journal::Journal;
use crate::journal::recorded::TurnKey;
use crate::notebook::files::Files;
use crate::record::places::Place;
use crate::record::refusal::is_idle;
use crate::record::report::RecordReport;
use crate::record::turn::Turn;
use crate::store::{Store, StoreError};
use crate::types::{Attempt, fold_action};

/// Result of looking for a turn in the journal, if it was looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Checked {
    /// Its id is to be looked for under the lock.
    NotYet,
    /// It is new. The hash of its line, if that is by what it is known.
    IsNew { line: Option<u128> },
}

/// The report on a turn whose id was recorded before; `None` if it is new.
pub(super) fn recorded_before(
    store: &Store,
    turn: &Turn,
    files: &Files,
) -> Result<Option<RecordReport>, StoreError> {
    let Some(id) = turn.id.as_deref() else { return Ok(None) };
    let recorded = Journal::of(store).turn_with_id(id)?;
    let Some(recorded) = recorded.and_then(|recorded| Turn::from_value(&recorded).ok()) else {
        return Ok(None);
    };
    let differs = (&recorded.action, &recorded.response) != (&turn.action, &turn.response);
    let mut report = RecordReport::recorded_before(&recorded);
    report.visits = files.section_without_memories(&report.place.scope()).visits;
    report.warnings.extend(differs.then(|| other_with_id(id)));
    Ok(Some(report))
}

/// The key by which a turn of many is recognised, in that line of a file. A turn without an episode is of the running
/// one.
pub(super) fn key_of(turn: &Turn, running: impl FnOnce() -> u64, line: Option<(&str, usize)>) -> TurnKey {
    let episode = turn.episode.unwrap_or_else(running);
    TurnKey::of(turn.id.as_deref(), (episode, turn.turn), (&turn.action, &turn.response), line)
}

/// True if the action was answered by the same whole reply at its place before: it is listed as tried there, or it
/// only looks or waits and is listed nowhere. The list has the first characters of a reply; the journal has all.
pub(super) fn is_repeat(
    journal: &Journal,
    turn: &Turn,
    place: &Place,
    section: &Section,
) -> Result<bool, StoreError> {
    let folded = |action: &str| fold_action(&stored_line(action));
    let action = folded(&turn.action);
    let reply = stored_reply(&turn.response);
    let is_same = |tried: &Attempt| folded(&tried.action) == action && is_same_reply(tried, &reply);
    let is_listed = section.tried.iter().any(is_same);
    if !is_listed && !is_idle(&action) {
        return Ok(false);
    }
    // A reply that was cut may have lost a space at its end, too.
    if is_listed && reply.chars().count() + 1 < REPLY_CHARS {
        return Ok(true);
    }
    let last = journal.last_reply(place.id, |other| folded(other) == action)?;
    Ok(last.is_some_and(|last| stored_line(&last) == stored_line(&turn.response)))
}

/// The warning about a turn with the id of another.
pub(super) fn other_with_id(id: &str) -> String {
    format!("a turn with another action or reply has the id `{id}`: not recorded, unless with `--again`")
}
