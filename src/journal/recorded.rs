//! The turns that a journal has, to recognise one that is sent again.
//!
//! A turn is the same if its id was recorded, or if episode, number, action and reply are equal. Secrets are
//! redacted on both sides. Hashes of all turns are kept, so that a file of many turns reads the journal once.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use xxhash_rust::xxh3::xxh3_128;

use crate::journal::Journal;
use crate::journal::entry::{Entry, PlayedTurn};
use crate::store::StoreError;

/// The turns of a journal.
#[derive(Debug, Clone, Default)]
pub(crate) struct RecordedTurns {
    turns: HashSet<u128>,
    /// Ids, each with what was said in that turn.
    ids: HashMap<u128, u128>,
}

/// Hashes by which a turn is recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TurnKey {
    /// Hash of the caller's id.
    id: Option<u128>,
    /// Hash of action and reply.
    content: u128,
    /// Hash of episode, number, action and reply; `None` for a turn without a number, which is always new.
    turn: Option<u128>,
}

/// Whether a turn was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// It was not.
    New,
    /// It was.
    Recorded,
    /// A turn with its id was, which has another action or reply.
    OtherWithId,
}

impl TurnKey {
    /// The key of a turn with its caller's id, its episode and its number.
    pub(crate) fn of(
        id: Option<&str>,
        (episode, number): (u64, Option<u64>),
        (action, response): (&str, &str),
    ) -> TurnKey {
        let content = xxh3_128(format!("{} {action}{response}", action.len()).as_bytes());
        TurnKey {
            id: id.map(|id| xxh3_128(id.as_bytes())),
            content,
            turn: number.map(|number| xxh3_128(format!("{episode} {number} {content}").as_bytes())),
        }
    }
}

impl RecordedTurns {
    /// Says whether a turn is one of these.
    pub(crate) fn know(&self, key: &TurnKey) -> Known {
        match key.id.and_then(|id| self.ids.get(&id)) {
            Some(content) if *content != key.content => Known::OtherWithId,
            Some(_) => Known::Recorded,
            None if key.turn.is_some_and(|turn| self.turns.contains(&turn)) => Known::Recorded,
            None => Known::New,
        }
    }

    /// Adds a turn.
    pub(crate) fn insert(&mut self, key: &TurnKey) {
        self.turns.extend(key.turn);
        self.ids.extend(key.id.map(|id| (id, key.content)));
    }
}

impl Journal {
    /// All turns that are still kept.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub(crate) fn recorded_turns(&self) -> Result<RecordedTurns, StoreError> {
        let mut recorded = RecordedTurns::default();
        self.visit(|line| {
            let Some(turn) = played_turn(line) else { return };
            let response = turn.response().unwrap_or_default();
            let action = turn.action.as_deref().unwrap_or_default();
            let when = (turn.episode.unwrap_or_default(), turn.turn);
            recorded.insert(&TurnKey::of(turn.id.as_deref(), when, (action, &response)));
        })?;
        Ok(recorded)
    }

    /// The turn with the caller's id, as JSON. Searches from the end, because writers wait meanwhile.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub(crate) fn turn_with_id(&self, id: &str) -> Result<Option<Value>, StoreError> {
        let quoted = format!("\"id\":{}", Value::from(id));
        let is_meant = |line: &str| {
            line.contains(&quoted) && played_turn(line).is_some_and(|turn| turn.id.as_deref() == Some(id))
        };
        let line = self.log().tail(1, is_meant)?.pop();
        Ok(line.and_then(|line| Entry::<Value>::parse(&line)?.turn))
    }

    /// The whole reply to the last turn at a place whose action `is_meant`. Searches from the end.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub(crate) fn last_reply(
        &self,
        place: u64,
        is_meant: impl Fn(&str) -> bool,
    ) -> Result<Option<String>, StoreError> {
        let mut reply = None;
        self.log().tail(1, |line| {
            let turn = played_turn(line).filter(|turn| turn.place() == Some(place));
            let turn = turn.filter(|turn| turn.action.as_deref().is_some_and(&is_meant));
            reply = turn.and_then(|turn| turn.response());
            reply.is_some()
        })?;
        Ok(reply)
    }
}

/// The turn of a line.
fn played_turn(line: &str) -> Option<PlayedTurn<'_>> {
    line.contains("\"turn\":").then(|| Entry::parse(line)).flatten()?.turn
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(id: Option<&str>, number: Option<u64>, reply: &str) -> TurnKey {
        TurnKey::of(id, (1, number), ("look", reply))
    }

    #[test]
    fn a_turn_is_known_by_its_numbers_and_words_or_by_its_id() {
        let mut recorded = RecordedTurns::default();
        recorded.insert(&key(None, Some(3), "A field."));
        recorded.insert(&key(Some("a"), Some(4), "A field."));
        recorded.insert(&key(None, None, "A field."));
        for (known, id, number, reply) in [
            (Known::Recorded, None, Some(3), "A field."),
            (Known::Recorded, Some("b"), Some(3), "A field."),
            (Known::Recorded, Some("a"), Some(9), "A field."),
            (Known::OtherWithId, Some("a"), Some(4), "A wood."),
            (Known::New, None, Some(3), "A wood."),
            (Known::New, None, Some(5), "A field."),
            (Known::New, None, None, "A field."),
            (Known::New, Some("b"), None, "A field."),
        ] {
            assert_eq!(recorded.know(&key(id, number, reply)), known, "{id:?} {number:?} {reply}");
        }
    }
}
