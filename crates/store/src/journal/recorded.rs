//! The turns that a journal has, to recognise one that is sent again.
//!
//! A turn is the same if its id was recorded, or if episode, number, action and reply are equal; as many turns of a
//! file are the same as were recorded, for a game may repeat itself. One without number and id is the same if it stands
//! in the same line of the same file. Secrets are redacted on both sides. Hashes of all turns are kept, so that a file
//! of many turns reads the journal once.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use xxhash_rust::xxh3::xxh3_128;

use crate::StoreError;
use crate::journal::entry::{Entry, PlayedTurn};
use crate::journal::{EarlierTurn, Journal};
use memories_document::types::text::composed;

/// Turns among which those of an episode are looked for.
const EPISODE_TURNS: usize = 5000;

/// The turns of a journal.
#[derive(Debug, Clone, Default)]
pub struct RecordedTurns {
    /// How often each was recorded, less those that were met again.
    turns: HashMap<u128, u64>,
    /// Turns without number and id, by their lines.
    lines: HashSet<u128>,
    /// Ids, each with what was said in that turn.
    ids: HashMap<u128, u128>,
}

/// Hashes by which a turn is recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnKey {
    /// Hash of the caller's id.
    id: Option<u128>,
    /// Hash of action and reply.
    content: u128,
    /// Hash of episode, number, action and reply; `None` for a turn without a number.
    turn: Option<u128>,
    /// Hash of file, line, action and reply, for a turn without number and id; `None` where it is in no file.
    pub line: Option<u128>,
}

/// Result of looking for a turn among those recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// It was not.
    New,
    /// It was.
    Recorded,
    /// A turn with its id was, which has another action or reply.
    OtherWithId,
}

impl TurnKey {
    /// The key of a turn with its caller's id, its episode and its number, and its line in a file.
    pub fn of(
        id: Option<&str>,
        episode: u64,
        number: Option<u64>,
        action: &str,
        response: &str,
        line: Option<(&str, usize)>,
    ) -> TurnKey {
        let (action, response) = (composed(action), composed(response));
        let content = xxh3_128(format!("{} {action}{response}", action.len()).as_bytes());
        TurnKey {
            id: id.map(|id| xxh3_128(composed(id).as_bytes())),
            content,
            turn: number.map(|number| xxh3_128(format!("{episode} {number} {content}").as_bytes())),
            line: line
                .filter(|_| id.is_none() && number.is_none())
                .map(|(file, line)| xxh3_128(format!("{line} {content} {file}").as_bytes())),
        }
    }
}

impl RecordedTurns {
    /// Says whether a turn is one of these. A turn that was recorded once is met once.
    pub fn meet(&mut self, key: &TurnKey) -> Known {
        let left = key.turn.and_then(|turn| self.turns.get_mut(&turn)).filter(|left| **left > 0);
        let has_turn = left.map(|left| *left -= 1).is_some();
        let has_line = key.line.is_some_and(|line| self.lines.contains(&line));
        match key.id.and_then(|id| self.ids.get(&id)) {
            Some(content) if *content != key.content => Known::OtherWithId,
            Some(_) => Known::Recorded,
            None if has_turn || has_line => Known::Recorded,
            None => Known::New,
        }
    }

    /// Adds the id of a turn that is recorded now.
    pub fn add_id(&mut self, key: &TurnKey) {
        self.ids.extend(key.id.map(|id| (id, key.content)));
    }

    /// Takes back the id of a turn that is not recorded after all.
    pub fn remove_id(&mut self, key: &TurnKey) {
        if let Some(id) = key.id {
            self.ids.remove(&id);
        }
    }

    fn add(&mut self, key: &TurnKey) {
        self.add_id(key);
        self.lines.extend(key.line);
        if let Some(turn) = key.turn {
            *self.turns.entry(turn).or_default() += 1;
        }
    }
}

impl EarlierTurn {
    /// Id of the place where it began.
    pub fn begins_at(&self) -> Option<u64> {
        let id = |field: &str| self.turn[field]["id"].as_u64();
        id("location_before").or_else(|| id("location_after"))
    }
}

impl Journal {
    /// All turns that are still kept.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub fn recorded_turns(&self) -> Result<RecordedTurns, StoreError> {
        let mut recorded = RecordedTurns::default();
        self.visit(|line| {
            // A line that resolves another has the same turn again.
            let entry = recorded_turn(line).filter(|entry| entry.resolves.is_none());
            let Some((turn, source_line)) = entry.and_then(|entry| Some((entry.turn?, entry.source_line)))
            else {
                return;
            };
            let response = turn.response().unwrap_or_default();
            let action = turn.action.as_deref().unwrap_or_default();
            let (episode, number) = (turn.episode.unwrap_or_default(), turn.turn);
            let key = TurnKey::of(turn.id.as_deref(), episode, number, action, &response, None);
            let line = source_line.and_then(|line| u128::from_str_radix(&line, 16).ok());
            recorded.add(&TurnKey { line, ..key });
        })?;
        Ok(recorded)
    }

    /// The turn with the caller's id, as JSON. Searches from the end, because writers wait meanwhile.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub fn turn_with_id(&self, id: &str) -> Result<Option<Value>, StoreError> {
        let quoted = format!("\"id\":{}", Value::from(id));
        let is_meant = |line: &str| {
            line.contains(&quoted) && played_turn(line).is_some_and(|turn| turn.id.as_deref() == Some(id))
        };
        let line = self.tail(1, is_meant)?.pop();
        Ok(line.and_then(|line| Entry::<Value>::parse(&line)?.turn))
    }

    /// The turn of that episode and number with the same action and reply, as JSON. Searches from the end, back to the
    /// episode before.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub fn same_turn(&self, key: &TurnKey, episode: u64, number: u64) -> Result<Option<Value>, StoreError> {
        let numbered = format!("\"turn\":{number},");
        let mut found = None;
        self.tail(1, |line| {
            if line.contains(&numbered)
                && let Some(turn) = played_turn(line).filter(|turn| turn.turn == Some(number))
            {
                let response = turn.response().unwrap_or_default();
                let action = turn.action.as_deref().unwrap_or_default();
                let (episode, number) = (turn.episode.unwrap_or_default(), turn.turn);
                if TurnKey::of(None, episode, number, action, &response, None).turn == key.turn {
                    found = Entry::<Value>::parse(line).and_then(|entry| entry.turn);
                }
            }
            found.is_some() || episode_of(line).is_some_and(|other| other < episode)
        })?;
        Ok(found)
    }

    /// The whole reply to the last turn at a place whose action `is_meant`. Searches from the end.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub fn last_reply(
        &self,
        place: u64,
        is_meant: impl Fn(&str) -> bool,
    ) -> Result<Option<String>, StoreError> {
        let mut reply = None;
        self.tail(1, |line| {
            let turn = played_turn(line).filter(|turn| turn.place() == Some(place));
            let turn = turn.filter(|turn| turn.action.as_deref().is_some_and(&is_meant));
            reply = turn.and_then(|turn| turn.response());
            reply.is_some()
        })?;
        Ok(reply)
    }

    /// The last turns as they were played, oldest first, whatever `retry` made of them later.
    pub fn last_turns(&self, count: usize) -> Result<Vec<EarlierTurn>, StoreError> {
        let mut newest_first = Vec::new();
        self.tail(count, |line| {
            let turn = turn_as_played(line);
            let is_turn = turn.is_some();
            newest_first.extend(turn);
            is_turn
        })?;
        newest_first.reverse();
        Ok(newest_first)
    }

    /// The turns of an episode at a place since the player came there, oldest first.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub fn turns_of_stay(&self, episode: u64, place: u64) -> Result<Vec<EarlierTurn>, StoreError> {
        let mut newest_first: Vec<EarlierTurn> = Vec::new();
        self.tail(1, |line| {
            let Some(turn) = turn_as_played(line) else { return false };
            let end = turn.turn["location_after"]["id"].as_u64();
            let is_here = turn.begins_at() == Some(place) && end.is_none_or(|end| end == place);
            let is_of_stay = turn.episode == Some(episode) && is_here;
            if is_of_stay {
                newest_first.push(turn);
            }
            !is_of_stay
        })?;
        newest_first.reverse();
        Ok(newest_first)
    }

    /// The turns of an episode as they were played, oldest first; `None` where no end of them is found in the last
    /// `EPISODE_TURNS`.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub fn turns_of_episode(&self, episode: u64) -> Result<Option<Vec<EarlierTurn>>, StoreError> {
        let mut newest_first: Vec<EarlierTurn> = Vec::new();
        let mut looked_at = 0;
        self.tail(1, |line| {
            let Some(turn) = turn_as_played(line) else { return false };
            looked_at += 1;
            let is_before = turn.episode < Some(episode);
            let is_first = turn.episode == Some(episode) && turn.number.is_some_and(|number| number <= 1);
            if turn.episode == Some(episode) {
                newest_first.push(turn);
            }
            is_before || is_first || looked_at > EPISODE_TURNS
        })?;
        newest_first.reverse();
        Ok(Some(newest_first).filter(|_| looked_at <= EPISODE_TURNS))
    }
}

/// The whole turn of a line that was recorded when it was played.
fn turn_as_played(line: &str) -> Option<EarlierTurn> {
    let entry = line.contains("\"turn\":").then(|| Entry::parse(line)).flatten();
    let entry = entry.filter(|entry: &Entry<'_, Value>| entry.resolves.is_none() && entry.carried.is_none());
    entry.as_ref().and_then(EarlierTurn::of)
}

/// The entry of a line that may have a turn.
fn recorded_turn(line: &str) -> Option<Entry<'_>> {
    line.contains("\"turn\":").then(|| Entry::parse(line)).flatten()
}

/// The episode of the turn of a line, without parsing the line.
fn episode_of(line: &str) -> Option<u64> {
    let (_, rest) = line.split_once("\"episode\":")?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    rest[..digits].parse().ok()
}

/// The turn of a line.
fn played_turn(line: &str) -> Option<PlayedTurn<'_>> {
    recorded_turn(line)?.turn
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(id: Option<&str>, number: Option<u64>, reply: &str) -> TurnKey {
        TurnKey::of(id, 1, number, "look", reply, None)
    }

    #[test]
    fn turns_are_met_as_often_as_they_were_recorded() {
        let mut recorded = RecordedTurns::default();
        let key = key(None, Some(3), "You see nothing.");
        recorded.add(&key);
        recorded.add(&key);
        let met: Vec<Known> = (0..3).map(|_| recorded.meet(&key)).collect();
        assert_eq!(met, [Known::Recorded, Known::Recorded, Known::New]);
    }

    #[test]
    fn a_turn_without_number_and_id_is_known_by_its_line() {
        let key = |id, number, line| TurnKey::of(id, 1, number, "look", "A field.", line);
        let mut recorded = RecordedTurns::default();
        recorded.add(&key(None, None, Some(("/game.jsonl", 7))));
        for (known, id, number, line) in [
            (Known::Recorded, None, None, Some(("/game.jsonl", 7))),
            (Known::New, None, None, Some(("/game.jsonl", 8))),
            (Known::New, None, None, Some(("/other.jsonl", 7))),
            (Known::New, None, None, None),
            (Known::New, Some("a"), None, Some(("/game.jsonl", 7))),
            (Known::New, None, Some(7), Some(("/game.jsonl", 7))),
        ] {
            assert_eq!(recorded.meet(&key(id, number, line)), known, "{id:?} {number:?} {line:?}");
        }
    }

    #[test]
    fn a_turn_is_known_by_its_numbers_and_words_or_by_its_id() {
        let mut recorded = RecordedTurns::default();
        recorded.add(&key(None, Some(3), "A field."));
        recorded.add(&key(None, Some(3), "A field."));
        recorded.add(&key(Some("a"), Some(4), "A field."));
        recorded.add(&key(None, None, "A field."));
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
            assert_eq!(recorded.meet(&key(id, number, reply)), known, "{id:?} {number:?} {reply}");
        }
    }
}
