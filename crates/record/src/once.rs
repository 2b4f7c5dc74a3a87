//! Recognises turns that were recorded before, and tried actions with the same whole reply.

use crate::effect::is_idle;
use crate::places::Place;
use crate::replies::answer;
use crate::report::RecordReport;
use crate::turn::Turn;
use memories_document::Section;
use memories_document::evidence::is_same_reply;
use memories_document::text::{stored_line, stored_reply};
use memories_document::types::{Attempt, fold_action};
use memories_notebook::files::Files;
use memories_notebook::rewind::Rewound;
use memories_store::StoreError;
use memories_store::journal::Journal;
use memories_store::journal::recorded::{Known, TurnKey};

/// Result of looking for a turn in the journal, if it was looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Checked {
    /// Its id, or its number and words, are to be looked for under the lock.
    NotYet,
    /// The turn is new. `line` is the hash of its line, for a turn that only its line identifies.
    IsNew { line: Option<u64> },
}

/// The beginning of a transaction that records a turn.
pub(super) enum Begun {
    /// It was recorded before.
    Before(Box<RecordReport>),
    /// It is new; the turns that were set aside for it.
    New(Option<Rewound>),
}

/// The report on a turn that was recorded before: one with its id, or with its episode, number, action and reply. `None`
/// if it is new. `running` is the running episode.
pub(super) fn recorded_before(
    journal: &Journal,
    turn: &Turn,
    files: &Files,
    running: u64,
) -> Result<Option<RecordReport>, StoreError> {
    let id = turn.id.as_deref();
    if id.is_none() && turn.turn.is_none() {
        return Ok(None);
    }
    let key = key_of(turn, || running, None);
    let known = match journal.known(&key, id, turn.turn) {
        Ok(Known::New) => return Ok(None),
        // A journal that cannot be read keeps no turn without id from being recorded.
        Err(_) if id.is_none() => return Ok(None),
        known => known?,
    };
    let with_id = id.map(|id| journal.turn_with_id(id)).transpose()?.flatten();
    let with_number = || turn.turn.and_then(|number| journal.same_turn(&key, number).ok().flatten());
    let recorded = with_id.or_else(with_number).and_then(|recorded| Turn::from_value(&recorded).ok());
    let recorded = recorded.unwrap_or_else(|| {
        let episode = turn.episode.or(Some(running));
        Turn { episode, ..turn.clone() }
    });
    let mut report = RecordReport::recorded_before(&recorded);
    report.visits = files.section_without_memories(&report.place.scope()).visits;
    report.warnings.extend(id.filter(|_| known == Known::OtherWithId).map(other_with_id));
    Ok(Some(report))
}

/// The key by which a turn of many is recognised, in that line of a file. A turn without an episode is of the running
/// one.
pub(super) fn key_of(turn: &Turn, running: impl FnOnce() -> u64, line: Option<(&str, usize)>) -> TurnKey {
    let episode = turn.episode.unwrap_or_else(running);
    TurnKey::of(turn.id.as_deref(), episode, turn.turn, &turn.action, &turn.response, line)
}

/// True if the action was answered by the same whole reply at its place before: it is listed there as tried or seen, or
/// it only waits and is listed nowhere. The list has the first characters of a reply; the journal has all.
pub(super) fn is_repeat(
    journal: &Journal,
    turn: &Turn,
    place: &Place,
    section: &Section,
) -> Result<bool, StoreError> {
    let folded = |action: &str| fold_action(&stored_line(action));
    let action = folded(&turn.action);
    let answer = answer(&turn.response);
    let reply = stored_reply(&answer);
    let is_same = |tried: &Attempt| folded(&tried.action) == action && is_same_reply(tried, &reply);
    let is_seen = |seen: &Attempt| {
        folded(&seen.action) == action && reply.starts_with(seen.reply.trim_end_matches('…'))
    };
    let is_listed = section.tried.iter().any(is_same) || section.seen.iter().any(is_seen);
    if !is_listed && !is_idle(&action) {
        return Ok(false);
    }
    if is_listed && reply == stored_line(&answer) {
        return Ok(true);
    }
    journal.has_reply(place.id, &turn.action, &turn.response)
}

/// The warning about a turn with the id of another.
pub(super) fn other_with_id(id: &str) -> String {
    format!("a turn with another action or reply has the id `{id}`: not recorded, unless with `--again`")
}
