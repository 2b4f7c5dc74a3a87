//! The turns that were recorded, to recognise one that is sent again.
//!
//! A turn is the same if its id was recorded, or if episode, number, action and reply are equal; as many turns of a
//! file are the same as were recorded, for a game may repeat itself. One without number and id is the same if it stands
//! in the same line of the same file. Secrets are redacted on both sides.
//!
//! Each of these facts is a number, a hash. The file `recorded` has the sorted numbers of all turns up to a place in the
//! journal; those behind are taken from its lines. The file outlives the lines, and is written anew now and then. If it
//! is lost, the journal's lines give it again, except for turns whose lines were dropped.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};

use memchr::memmem;
use serde::Deserialize;
use xxhash_rust::xxh3::xxh3_128;

use crate::journal::aside::{LineSet, Moved};
use crate::journal::entry::PlayedTurn;
use crate::journal::numbers::{Head, Kept, VERSION, end_hash, render};
use crate::log::{Parts, end_of_whole_lines, head_of, is_passed_over, text_of};
use crate::sidecar::{RECORDED, stage};
use crate::{LineLog, StoreError};
use memories_document::text::stored_line;
use memories_document::types::fold_action;
use memories_document::types::text::composed;

/// The turns that were recorded.
#[derive(Debug)]
pub struct RecordedTurns {
    kept: Option<Kept>,
    /// How often each number stands in the lines behind those; less where their turns are set aside.
    newer: HashMap<u64, i64>,
    /// How often each number of a turn was met.
    met: HashMap<u64, u64>,
    /// Numbers of ids that are recorded now.
    added: HashSet<u64>,
    /// False if turns were recorded of which nothing is known any more.
    is_complete: bool,
}

/// Hashes by which a turn is recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnKey {
    /// Hash of the caller's id.
    id: Option<u64>,
    /// Hash of the caller's id, action and reply.
    said: Option<u64>,
    /// Hash of episode, number, action and reply; `None` for a turn without a number.
    pub(super) turn: Option<u64>,
    /// Hash of file, line, action and reply, for a turn without number and id; `None` where it is in no file.
    pub line: Option<u64>,
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
        let id = id.map(composed);
        TurnKey {
            id: id.as_ref().map(|id| hash(id)),
            said: id.as_ref().map(|id| hash(&format!("{content} {id}"))),
            turn: number.map(|number| hash(&format!("{episode} {number} {content}"))),
            line: line
                .filter(|_| id.is_none() && number.is_none())
                .map(|(file, line)| hash(&format!("{line} {content} {file}"))),
        }
    }
}

fn hash(text: &str) -> u64 {
    // The line of a turn was kept with all its digits, of which these are the last.
    xxh3_128(text.as_bytes()) as u64
}

/// The number of a reply to an action at a place.
pub(super) fn reply_number(place: u64, action: &str, response: &str) -> u64 {
    hash(&format!("{place} {}\n{}", fold_action(&stored_line(action)), composed(&stored_line(response))))
}

/// The numbers of the turn of a line. A line that resolves another has the same turn again.
pub(super) fn numbers_of(line: &str) -> Vec<u64> {
    #[derive(Deserialize)]
    #[serde(bound(deserialize = "'de: 'a"))]
    struct Line<'a> {
        turn: Option<PlayedTurn<'a>>,
        resolves: Option<serde::de::IgnoredAny>,
        source_line: Option<String>,
    }
    let line = line.contains("\"turn\":").then(|| serde_json::from_str::<Line<'_>>(line).ok()).flatten();
    let line = line.filter(|line| line.resolves.is_none());
    let Some((turn, source_line)) = line.and_then(|line| Some((line.turn?, line.source_line))) else {
        return Vec::new();
    };
    let response = turn.response().unwrap_or_default();
    let action = turn.action.as_deref().unwrap_or_default();
    let key =
        TurnKey::of(turn.id.as_deref(), turn.episode.unwrap_or_default(), turn.turn, action, &response, None);
    let line = source_line.and_then(|line| u128::from_str_radix(&line, 16).ok());
    let reply = turn.place().map(|place| reply_number(place, action, &response));
    let numbers = [key.id, key.said, key.turn, line.map(|line| line as u64), reply];
    numbers.into_iter().flatten().collect()
}

/// A set of lines, given with their ids.
pub fn line_set<'a>(lines: impl IntoIterator<Item = (&'a str, &'a str)>) -> LineSet {
    let mut set = LineSet::default();
    lines.into_iter().for_each(|(id, line)| set.add(id, &numbers_of(line)));
    set
}

impl RecordedTurns {
    /// Reads the turns of a log and of further lines; where `needles` are given, only lines that contain one of them.
    pub(super) fn read(
        log: &LineLog,
        pending: &[String],
        needles: Option<&[String]>,
    ) -> Result<RecordedTurns, StoreError> {
        let Parts { current, older, .. } = log.parts()?;
        let kept = log.sidecar().open()?.map_or(Ok(None), |folder| Kept::open(&folder))?;
        let (mut is_complete, mut from, mut parts) = (true, 0, Vec::new());
        if let Some(kept) = &kept {
            is_complete = kept.head.complete;
            from = kept.head.to;
        } else {
            is_complete &= ![&older, &current].into_iter().flatten().any(|file| head_of(file).dropped);
        }
        let ends_in = |file: &Option<File>| {
            kept.as_ref().zip(file.as_ref()).is_some_and(|(kept, file)| kept.ends_in(file))
        };
        let has_older = older.is_some();
        if ends_in(&current) {
            parts.push((current, from, true));
        } else {
            let from = if ends_in(&older) { from } else { 0 };
            parts.extend([(older, from, false), (current, 0, has_older)]);
        }
        let mut newer = HashMap::new();
        let mut add = |line: &str| {
            let is_meant = |needle: &String| memmem::find(line.as_bytes(), needle.as_bytes()).is_some();
            if let Some(Moved { set_aside, brought_back }) = Moved::by(line) {
                set_aside.numbers().for_each(|number| *newer.entry(number).or_default() -= 1);
                brought_back.numbers().for_each(|number| *newer.entry(number).or_default() += 1);
            } else if needles.is_none_or(|needles| needles.iter().any(is_meant)) {
                numbers_of(line).into_iter().for_each(|number| *newer.entry(number).or_default() += 1);
            }
        };
        let path = log.current_path();
        let failed = || StoreError::read(&path);
        for (file, from, skip_copies) in parts {
            let Some(mut file) = file else { continue };
            file.seek(SeekFrom::Start(from)).map_err(failed())?;
            for line in BufReader::new(file).split(b'\n') {
                let line = line.map_err(failed())?;
                if !is_passed_over(&line, skip_copies) {
                    add(&text_of(&line));
                }
            }
        }
        pending.iter().for_each(|line| add(line));
        Ok(RecordedTurns { kept, newer, met: HashMap::new(), added: HashSet::new(), is_complete })
    }

    /// False if turns were recorded of which nothing is known any more: the file of their numbers was lost after the
    /// journal had dropped their lines.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Says whether a turn is one of these. A turn that was recorded once is met once.
    ///
    /// # Errors
    ///
    /// When the file of the numbers cannot be read.
    pub fn meet(&mut self, key: &TurnKey) -> Result<Known, StoreError> {
        let mut is_known = key.line.map_or(Ok(0), |line| self.count(line))? > 0;
        if let Some(turn) = key.turn {
            let count = self.count(turn)?;
            let met = self.met.entry(turn).or_default();
            is_known |= count > *met;
            *met += u64::from(count > *met);
        }
        let is_there = |number: Option<u64>| match number {
            Some(number) => Ok::<_, StoreError>(self.added.contains(&number) || self.count(number)? > 0),
            None => Ok(false),
        };
        if !is_there(key.said)? && is_there(key.id)? {
            return Ok(Known::OtherWithId);
        }
        Ok(if is_known || is_there(key.said)? { Known::Recorded } else { Known::New })
    }

    /// Adds the id of a turn that is recorded now.
    pub fn add_id(&mut self, key: &TurnKey) {
        self.added.extend(key.id.into_iter().chain(key.said));
    }

    /// Takes back the id of a turn that is not recorded after all.
    pub fn remove_id(&mut self, key: &TurnKey) {
        key.id.iter().chain(&key.said).for_each(|number| {
            self.added.remove(number);
        });
    }

    /// Takes turns out that are set aside from now on.
    pub fn set_aside(&mut self, lines: &LineSet) {
        for number in lines.numbers() {
            *self.newer.entry(number).or_default() -= 1;
            self.added.remove(&number);
        }
    }

    pub(super) fn count(&self, number: u64) -> Result<u64, StoreError> {
        let kept = self.kept.as_ref().map_or(Ok(0), |kept| kept.count(number))?;
        let newer = self.newer.get(&number).copied().unwrap_or_default();
        Ok(kept.saturating_add_signed(newer))
    }
}

/// Writes the file of the numbers up to the end of the journal, unless no turn has come.
pub(super) fn keep(log: &LineLog) -> Result<(), StoreError> {
    let recorded = RecordedTurns::read(log, &[], None)?;
    let Some(mut current) = log.parts()?.current.filter(|_| !recorded.newer.is_empty()) else {
        return Ok(());
    };
    let mut numbers = recorded.kept.as_ref().map_or_else(|| Ok(Vec::new()), Kept::all)?;
    let mut newer = recorded.newer;
    numbers.retain(|number| match newer.get_mut(number) {
        Some(count) if *count < 0 => {
            *count += 1;
            false
        }
        _ => true,
    });
    numbers.extend(newer.iter().flat_map(|(number, count)| (0..*count).map(|_| *number)));
    let path = log.current_path();
    let failed = || StoreError::read(&path);
    let to = end_of_whole_lines(&mut current).map_err(failed())?;
    let end = end_hash(&current, to).map_err(failed())?.unwrap_or_default();
    let head = Head { recorded: VERSION, to, end, complete: recorded.is_complete };
    let folder = log.sidecar().create()?;
    stage(&folder, RECORDED, &render(head, numbers), true)?.publish()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests lose the file")]

    use std::fs;

    use serde_json::{Value, json};
    use tempfile::TempDir;

    use super::*;
    use crate::{Sidecar, Upkeep};

    struct Folders {
        _folder: TempDir,
        sidecar: Sidecar,
        log: LineLog,
    }

    impl Folders {
        fn new() -> Folders {
            let folder = tempfile::tempdir().unwrap();
            let sidecar = Sidecar::of(&folder.path().join("Memories.md"));
            let upkeep = Upkeep { rotation_size: 1500, ..crate::journal::upkeep() };
            let log = LineLog::new(&sidecar, "journal", ".jsonl", upkeep);
            Folders { _folder: folder, sidecar, log }
        }

        fn add(&self, turn: Value, line: Option<u64>) {
            let folder = self.sidecar.create().unwrap();
            let line = line.map(|line| format!("{line:032x}"));
            let line = json!({"id": "1", "turn": turn, "source_line": line}).to_string();
            self.log.maintain(&folder).unwrap();
            self.log.addition(&folder, &[line], &mut Vec::new()).unwrap().write(&folder).unwrap();
        }

        fn read(&self) -> RecordedTurns {
            RecordedTurns::read(&self.log, &[], None).unwrap()
        }

        fn remove(&self, name: &str) {
            fs::remove_file(self.sidecar.folder().join(name)).unwrap();
        }
    }

    fn turn(id: Option<&str>, number: Option<u64>, reply: &str) -> Value {
        json!({"id": id, "episode": 1, "turn": number, "action": "look", "response": reply,
            "location_before": {"id": 7}})
    }

    fn key(id: Option<&str>, number: Option<u64>, reply: &str) -> TurnKey {
        TurnKey::of(id, 1, number, "look", reply, None)
    }

    fn meet(recorded: &mut RecordedTurns, key: &TurnKey) -> Known {
        recorded.meet(key).unwrap()
    }

    #[test]
    fn turns_are_met_as_often_as_they_were_recorded() {
        let folders = Folders::new();
        folders.add(turn(None, Some(3), "You see nothing."), None);
        folders.add(turn(None, Some(3), "You see nothing."), None);
        let (mut recorded, key) = (folders.read(), key(None, Some(3), "You see nothing."));
        let met: Vec<Known> = (0..3).map(|_| meet(&mut recorded, &key)).collect();
        assert_eq!(met, [Known::Recorded, Known::Recorded, Known::New]);
    }

    #[test]
    fn a_turn_without_number_and_id_is_known_by_its_line() {
        let key = |id, number, line| TurnKey::of(id, 1, number, "look", "A field.", line);
        let folders = Folders::new();
        folders.add(turn(None, None, "A field."), key(None, None, Some(("/game.jsonl", 7))).line);
        for (known, id, number, line) in [
            (Known::Recorded, None, None, Some(("/game.jsonl", 7))),
            (Known::New, None, None, Some(("/game.jsonl", 8))),
            (Known::New, None, None, Some(("/other.jsonl", 7))),
            (Known::New, None, None, None),
            (Known::New, Some("a"), None, Some(("/game.jsonl", 7))),
            (Known::New, None, Some(7), Some(("/game.jsonl", 7))),
        ] {
            let found = meet(&mut folders.read(), &key(id, number, line));
            assert_eq!(found, known, "{id:?} {number:?} {line:?}");
        }
    }

    #[test]
    fn a_turn_is_known_by_its_numbers_and_words_or_by_its_id() {
        let folders = Folders::new();
        folders.add(turn(None, Some(3), "A field."), None);
        folders.add(turn(None, Some(3), "A field."), None);
        folders.add(turn(Some("a"), Some(4), "A field."), None);
        folders.add(turn(None, None, "A field."), None);
        let mut recorded = folders.read();
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
            assert_eq!(meet(&mut recorded, &key(id, number, reply)), known, "{id:?} {number:?} {reply}");
        }
    }

    #[test]
    fn every_turn_stays_known_however_often_the_journal_is_rotated() {
        let folders = Folders::new();
        let ids: Vec<String> = (0..200).map(|number| format!("t{number}")).collect();
        for (number, id) in (0..).zip(&ids) {
            folders.add(turn(Some(id), Some(number), "A field."), None);
            folders.add(turn(None, Some(number % 10), "A wood."), None);
            if number % 9 == 0 {
                let mut recorded = folders.read();
                for (number, id) in (0..=number).zip(&ids) {
                    assert_eq!(
                        meet(&mut recorded, &key(Some(id), None, "A field.")),
                        Known::Recorded,
                        "{id}"
                    );
                    assert_eq!(meet(&mut recorded, &key(None, Some(number), "A field.")), Known::Recorded);
                }
                assert!(recorded.is_complete());
            }
        }
        let (mut recorded, key) = (folders.read(), key(None, Some(3), "A wood."));
        assert_eq!((0..21).filter(|_| meet(&mut recorded, &key) == Known::Recorded).count(), 20);
        assert_eq!(recorded.count(reply_number(7, "LOOK", "A  wood.")).unwrap(), 200);
        let mut lines = 0;
        folders.log.visit(|_| lines += 1).unwrap();
        assert!(lines < 40, "{lines} lines are kept");
    }

    #[test]
    fn a_lost_file_is_made_again_from_the_journal_and_what_is_missing_is_said() {
        let folders = Folders::new();
        let known =
            |number| meet(&mut folders.read(), &key(None, Some(number), "A field.")) == Known::Recorded;
        let add = |numbers: std::ops::Range<u64>| {
            numbers.for_each(|number| folders.add(turn(None, Some(number), "A field."), None));
        };
        add(0..12);
        folders.remove(RECORDED);
        assert!(folders.read().is_complete() && (0..12).all(known));
        add(12..100);
        assert!(folders.read().is_complete() && (0..100).all(known));
        // One that is damaged is as good as lost.
        fs::write(folders.sidecar.folder().join(RECORDED), "{\"recorded\":1").unwrap();
        assert!(!folders.read().is_complete() && !known(0) && known(99));
        add(100..101);
        assert!(!folders.read().is_complete() && known(99) && known(100));
        // Without the journal, it has what it had.
        for file in ["journal.jsonl", "journal.1.jsonl"] {
            folders.remove(file);
        }
        add(101..140);
        assert!(known(99) && (101..140).all(known));
    }
}
