//! The journal of a memory file: recorded turns, changes with their reasons, and the turns that wait for
//! a model.
//!
//! A store enters; lines leave, oldest first, to be parsed as `entry::Entry`, the one schema of writers
//! and readers. A line that is no entry, such as one torn by a kill, does not affect the others. Turns
//! that wait are lines with the outcome `queued` that no later line `resolves`; a rotation puts those that would be
//! dropped into a file of their own, marked `"carried": true`. Only the crate `memories-notebook` writes lines.

pub mod aside;
pub mod chain;
pub mod change;
pub mod damage;
pub mod entry;
mod numbers;
mod played;
mod queue;
pub mod recorded;
pub mod text;

use serde_json::Value;

use crate::sidecar::QUEUE;
use crate::{Follower, LineLog, LogLine, Store, StoreError, Upkeep};

use aside::Aside;
use entry::Entry;
pub use queue::ResolvedTurns;
use queue::{carried_over, queued};

/// The version of the journal, which the first line of each file states. Files of version 1 state none.
const VERSION: u64 = 2;

/// The journal of a memory file. It need not exist.
#[derive(Debug, Clone)]
pub struct Journal {
    log: LineLog,
    /// Lines of a change that is not written yet: for its own later steps, they are the last lines.
    pending: Vec<String>,
}

/// The journal's version, and what it keeps of lines that are dropped.
fn upkeep() -> Upkeep {
    Upkeep {
        version: Some(VERSION),
        keep: recorded::keep,
        carried: Some((QUEUE, carried_over)),
        ..Upkeep::default()
    }
}

/// A turn that was played before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EarlierTurn {
    /// Its episode.
    pub episode: Option<u64>,
    /// Its number within the episode.
    pub number: Option<u64>,
    /// The writer who recorded it, where several share the file.
    pub writer: Option<String>,
    /// The whole turn, as it was recorded.
    pub turn: Value,
    /// Its effect; empty where that is not known.
    pub effect: String,
}

impl EarlierTurn {
    /// The turn of a line; `None` where it has none.
    pub fn of(entry: &Entry<'_, Value>) -> Option<EarlierTurn> {
        let turn = entry.turn.clone().filter(Value::is_object)?;
        let effect = entry.effect.as_deref().unwrap_or_default().to_owned();
        let writer = entry.writer.as_deref().map(str::to_owned);
        Some(EarlierTurn {
            episode: turn["episode"].as_u64(),
            number: turn["turn"].as_u64(),
            writer,
            turn,
            effect,
        })
    }
}

impl Journal {
    /// The journal of a memory file.
    pub fn of(store: &Store) -> Journal {
        Journal::on(LineLog::new(store.sidecar(), "journal", ".jsonl", upkeep()))
    }

    /// The log that a change adds its lines to.
    pub fn log(&self) -> &LineLog {
        &self.log
    }

    fn on(log: LineLog) -> Journal {
        Journal { log, pending: Vec::new() }
    }

    /// Adds a line to those that a change is about to write.
    pub fn push(&mut self, line: String) {
        self.pending.push(line);
    }

    /// The lines that a change is about to write.
    pub fn pending(&self) -> &[String] {
        &self.pending
    }

    /// The same, to be completed.
    pub fn pending_mut(&mut self) -> &mut [String] {
        &mut self.pending
    }

    /// The log, and the lines that a change adds to it.
    pub fn into_lines(self) -> (LineLog, Vec<String>) {
        (self.log, self.pending)
    }

    /// The last `count` lines that `wanted` accepts and no rewind has set aside, oldest first. Reads from the end and no
    /// further than it must.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub(crate) fn tail(
        &self,
        count: usize,
        mut wanted: impl FnMut(&str) -> bool,
    ) -> Result<Vec<String>, StoreError> {
        let mut aside = Aside::default();
        let mut wanted = |line: &str| !aside.skips(line) && wanted(line);
        let pending = self.pending.iter().rev().filter(|line| wanted(line));
        let mut last: Vec<String> = pending.take(count).cloned().collect();
        last.reverse();
        let mut lines = match count - last.len() {
            0 => Vec::new(),
            missing => self.log.tail(missing, wanted)?,
        };
        lines.append(&mut last);
        Ok(lines)
    }

    /// Visits all lines that are still kept, oldest first, also those that are set aside. Some may be no entries.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub fn visit(&self, visit: impl FnMut(&str)) -> Result<(), StoreError> {
        self.log.visit(visit)
    }

    /// Reads the entries with the positions of their lines.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub fn visit_lines(&self, visit: impl FnMut(LogLine<'_>)) -> Result<(), StoreError> {
        self.log.visit_lines(visit)
    }

    /// The last `count` lines that `wanted` accepts, oldest first; and a follower that gives those
    /// still to come. Reads from the end and no further than it must.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub fn follow(
        &self,
        count: usize,
        wanted: impl FnMut(&str) -> bool,
    ) -> Result<(Vec<String>, Follower), StoreError> {
        Follower::start(self.log.clone(), count, wanted)
    }

    /// The lines whose turn waits for a model, oldest first.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub fn queued(&self) -> Result<Vec<String>, StoreError> {
        Ok(queued(&self.log)?.into_iter().map(|(line, _)| line).collect())
    }

    /// The turns that are resolved from now on.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub fn watch_queue(&self) -> Result<ResolvedTurns, StoreError> {
        let (_, follower) = self.follow(0, |_| false)?;
        Ok(ResolvedTurns::of(follower))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests play the writer that is killed")]

    use std::fs::{self, OpenOptions};
    use std::io::Write;
    use std::path::{Path, PathBuf};

    use serde_json::json;
    use tempfile::TempDir;

    use super::*;
    use crate::Sidecar;

    const CURRENT: &str = "journal.jsonl";
    const OLDER: &str = "journal.1.jsonl";
    /// The size in which the log is read.
    const BLOCK: usize = 64 * 1024;

    fn journal_of_size(folder: &Path, rotation_size: u64) -> Journal {
        let sidecar = Sidecar::of(&folder.join("Memories.md"));
        let upkeep = Upkeep { rotation_size, ..upkeep() };
        Journal::on(LineLog::new(&sidecar, "journal", ".jsonl", upkeep))
    }

    /// A file of the journal in a folder.
    fn file(folder: &TempDir, name: &str) -> PathBuf {
        Sidecar::of(&folder.path().join("Memories.md")).folder().join(name)
    }

    fn add(journal: &Journal, lines: &[Value]) {
        let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
        let folder = journal.log.sidecar().create().unwrap();
        if journal.log.is_new_or_full(&folder) {
            journal.log.maintain(&folder).unwrap();
        }
        journal.log.addition(&folder, &lines, &mut Vec::new()).unwrap().write(&folder).unwrap();
    }

    /// The ids of the lines that are entries.
    fn ids(lines: &[String]) -> Vec<u64> {
        let entries = lines.iter().filter_map(|line| Entry::<Value>::parse(line));
        entries.map(|entry| entry.id.unwrap().parse().unwrap()).collect()
    }

    fn all(journal: &Journal) -> Vec<u64> {
        let mut lines = Vec::new();
        journal.visit(|line| lines.push(line.to_owned())).unwrap();
        ids(&lines)
    }

    #[test]
    fn no_journal_has_no_lines() {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal_of_size(&folder.path().join("missing"), 100);
        assert!(journal.log.tail(3, |_| true).unwrap().is_empty());
        assert!(all(&journal).is_empty());
        assert!(journal.queued().unwrap().is_empty());
    }

    #[test]
    fn a_torn_line_costs_only_itself() {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal_of_size(folder.path(), u64::MAX);
        add(&journal, &[json!({"id": "1"})]);
        let mut file = OpenOptions::new().append(true).open(file(&folder, CURRENT)).unwrap();
        file.write_all(b"{\"id\": \"2\", \"text\": \"to").unwrap();
        assert_eq!(ids(&journal.log.tail(5, |line| Entry::<Value>::parse(line).is_some()).unwrap()), [1]);
        add(&journal, &[json!({"id": "3", "text": "two\nlines"}), json!({"id": "4"})]);
        file.write_all(b"\n\n[1]\n7\n\xff\xfe\n\"x\"").unwrap();
        assert_eq!(
            ids(&journal.log.tail(5, |line| Entry::<Value>::parse(line).is_some()).unwrap()),
            [1, 3, 4]
        );
        assert_eq!(all(&journal), [1, 3, 4]);
    }

    #[test]
    fn the_tail_is_the_end_of_all_lines_whatever_their_length() {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal_of_size(folder.path(), u64::MAX);
        let lengths = [0, 10, BLOCK - 30, BLOCK, 3, 5 * BLOCK + 1, 2 * BLOCK, 7, 0];
        for (id, length) in lengths.iter().enumerate() {
            add(&journal, &[json!({"id": id.to_string(), "text": "x".repeat(*length)})]);
        }
        let expected = all(&journal);
        assert_eq!(expected.len(), lengths.len());
        for count in 0..=lengths.len() + 1 {
            let first = expected.len().saturating_sub(count);
            assert_eq!(ids(&journal.log.tail(count, |_| true).unwrap()), expected[first..], "{count}");
        }
    }

    #[test]
    fn rotation_keeps_one_older_part_and_every_queued_line() {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal_of_size(folder.path(), 2000);
        let first = json!({"id": "1", "outcome": "queued", "change": {"edits": []}});
        add(&journal, &[first, json!({"id": "2", "outcome": "queued"})]);
        for id in 3..400 {
            let line = match id {
                50 => json!({"id": id.to_string(), "outcome": "stored", "resolves": "2"}),
                51 => json!({"id": id.to_string(), "outcome": "queued", "text": "\"resolves\" 1"}),
                200 => json!({"id": id.to_string(), "outcome": "queued", "resolves": "51"}),
                _ => json!({"id": id.to_string(), "outcome": "declined"}),
            };
            add(&journal, &[line]);
            let queued = match id {
                ..50 => vec![1, 2],
                50 => vec![1],
                51..200 => vec![1, 51],
                _ => vec![1, 200],
            };
            assert_eq!(ids(&journal.queued().unwrap()), queued, "{id}");
            assert_eq!(ids(&journal.log.tail(3, |_| true).unwrap()), [id - 2, id - 1, id]);
        }
        assert!(fs::metadata(file(&folder, CURRENT)).unwrap().len() < 2100);
        assert!(fs::metadata(file(&folder, OLDER)).unwrap().len() < 2100);
        assert_eq!(fs::read_dir(file(&folder, "")).unwrap().count(), 3);
        let carried = fs::read_to_string(file(&folder, QUEUE)).unwrap();
        assert!(!carried.contains("change"), "a file is not changed twice by a line and its copy");
        let kept = all(&journal);
        assert!(kept.starts_with(&[1, 200]), "carried lines come first: {kept:?}");
        assert!(kept[2..].windows(2).all(|pair| pair[0] + 1 == pair[1]), "and none twice: {kept:?}");
    }

    /// The queue is longer than a file may be.
    #[test]
    fn a_long_queue_pushes_no_history_out() {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal_of_size(folder.path(), 2000);
        let text = "x".repeat(60);
        for id in 0..100 {
            add(&journal, &[json!({"id": id.to_string(), "outcome": "queued", "text": text})]);
        }
        let queue: Vec<u64> = (0..100).collect();
        let mut resolved = journal.watch_queue().unwrap();
        for id in 100..600 {
            let line = match id {
                ..550 => json!({"id": id.to_string(), "outcome": "declined", "text": text}),
                id => json!({"id": id.to_string(), "outcome": "stored", "resolves": (id - 550).to_string()}),
            };
            add(&journal, &[line]);
            assert!(!resolved.contains("none").unwrap());
            if id % 25 == 0 && id > 150 {
                let waiting = if id < 550 { &queue[..] } else { &queue[id as usize - 549..] };
                assert_eq!(ids(&journal.queued().unwrap()), waiting, "{id}");
                let kept = all(&journal);
                assert!((id - 15..=id).all(|recent| kept.contains(&recent)), "{id}: {kept:?}");
            }
        }
        let known = |id: u64| resolved.contains(&id.to_string()).unwrap();
        assert_eq!((0..100).map(known).collect::<Vec<bool>>(), [[true; 50], [false; 50]].concat());
    }

    #[test]
    fn a_kill_within_a_rotation_loses_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal_of_size(folder.path(), u64::MAX);
        add(&journal, &[json!({"id": "1", "outcome": "queued"}), json!({"id": "2", "outcome": "declined"})]);
        fs::rename(file(&folder, CURRENT), file(&folder, OLDER)).unwrap();
        assert_eq!(ids(&journal.queued().unwrap()), [1]);
        add(&journal, &[json!({"id": "3"})]);
        assert_eq!(ids(&journal.queued().unwrap()), [1]);
        assert_eq!(ids(&journal.log.tail(4, |_| true).unwrap()), [1, 2, 3]);
    }

    #[test]
    fn copies_of_an_earlier_version_are_read_where_the_original_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal_of_size(folder.path(), 300);
        let older =
            "{\"id\":\"1\",\"outcome\":\"queued\",\"carried\":true}\n{\"id\":\"2\",\"outcome\":\"queued\"}\n";
        let copies = older.replace("queued\"}", "queued\",\"carried\":true}") + "{\"id\":\"3\"}\n";
        journal.log.sidecar().create().unwrap();
        fs::write(file(&folder, CURRENT), &copies).unwrap();
        assert_eq!(all(&journal), [1, 2, 3]);
        fs::write(file(&folder, OLDER), older).unwrap();
        assert_eq!(all(&journal), [1, 2, 3]);
        assert_eq!(ids(&journal.tail(5, |_| true).unwrap()), [1, 2, 3]);
        for id in 4..60 {
            add(&journal, &[json!({"id": id.to_string()})]);
            assert_eq!(ids(&journal.queued().unwrap()), [1, 2], "{id}");
        }
        add(&journal, &[json!({"id": "60", "resolves": "1"}), json!({"id": "61", "resolves": "2"})]);
        assert!(journal.queued().unwrap().is_empty());
    }

    #[test]
    fn the_first_line_states_a_version_and_a_newer_one_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal_of_size(folder.path(), u64::MAX);
        add(&journal, &[json!({"id": "1"})]);
        let text = fs::read_to_string(file(&folder, CURRENT)).unwrap();
        assert_eq!(text, "{\"journal\":2}\n{\"id\":\"1\"}\n");
        fs::write(file(&folder, CURRENT), text.replace("2}", "3}")).unwrap();
        let refused = journal.visit(|_| ()).unwrap_err().to_string();
        assert!(refused.contains("journal.jsonl`, line 1: the file has format 3"), "{refused}");
        let sidecar = journal.log.sidecar().create().unwrap();
        assert!(journal.log.addition(&sidecar, &["{}".to_owned()], &mut Vec::new()).is_err());
    }

    #[test]
    fn what_a_power_cut_left_behind_the_last_line_is_cut_off_and_told_once() {
        let line = "{\"id\":\"1\"}\n";
        let torn = |half: &str| Some(format!("{half}\n"));
        for (end, kept, told, aside) in [
            ("", "", false, None),
            ("\0\0\0", "", true, None),
            ("{\"id\":\"2\"}", "{\"id\":\"2\"}\n", false, None),
            ("{\"id\":\"2\"}\0\0", "{\"id\":\"2\"}\n", true, None),
            ("{\"id\":\"2", "", true, torn("{\"id\":\"2")),
            ("\0{\"id\":\0\"2\"}\0", "", true, torn("{\"id\":\0\"2\"}")),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let journal = journal_of_size(folder.path(), u64::MAX);
            let sidecar = journal.log.sidecar().create().unwrap();
            fs::write(file(&folder, CURRENT), format!("{line}{end}")).unwrap();
            let mut warnings = Vec::new();
            for _ in 0..2 {
                let added = journal.log.addition(&sidecar, &["{}".to_owned()], &mut warnings).unwrap();
                added.write(&sidecar).unwrap();
            }
            assert_eq!(warnings.len(), usize::from(told), "{end:?}: {warnings:?}");
            assert_eq!(
                fs::read_to_string(file(&folder, CURRENT)).unwrap(),
                format!("{line}{kept}{{}}\n{{}}\n")
            );
            assert_eq!(fs::read_to_string(file(&folder, "journal.jsonl.torn")).ok(), aside, "{end:?}");
            assert!(journal.damage().unwrap().is_none());
        }
    }

    fn append(folder: &Path, ids: std::ops::Range<u64>) {
        for id in ids {
            add(&journal_of_size(folder, u64::MAX), &[json!({"id": id.to_string()})]);
        }
    }

    #[test]
    fn lines_come_once_and_in_order() {
        let folder = tempfile::tempdir().unwrap();
        append(folder.path(), 0..5);
        let (lines, mut follower) = journal_of_size(folder.path(), u64::MAX).follow(2, |_| true).unwrap();
        assert_eq!(ids(&lines), [3, 4]);
        assert!(follower.poll().unwrap().is_empty());
        append(folder.path(), 5..8);
        assert_eq!(ids(&follower.poll().unwrap()), [5, 6, 7]);
        assert!(follower.poll().unwrap().is_empty());
    }

    #[test]
    fn half_a_line_waits_for_its_end() {
        let folder = tempfile::tempdir().unwrap();
        append(folder.path(), 0..1);
        let mut file = OpenOptions::new().append(true).open(file(&folder, CURRENT)).unwrap();
        file.write_all(b"{\"id\":").unwrap();
        let (lines, mut follower) = journal_of_size(folder.path(), u64::MAX).follow(9, |_| true).unwrap();
        assert_eq!(ids(&lines), [0]);
        assert!(follower.poll().unwrap().is_empty());
        file.write_all(b" \"1\"}\n{").unwrap();
        assert_eq!(ids(&follower.poll().unwrap()), [1]);
    }

    #[test]
    fn a_journal_that_is_not_there_yet_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let (lines, mut follower) = journal_of_size(folder.path(), u64::MAX).follow(9, |_| true).unwrap();
        assert!(lines.is_empty() && follower.poll().unwrap().is_empty());
        append(folder.path(), 0..2);
        assert_eq!(ids(&follower.poll().unwrap()), [0, 1]);
    }

    #[test]
    fn two_rotations_between_two_looks_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal_of_size(folder.path(), 400);
        append(folder.path(), 0..1);
        let (_, mut follower) = journal.follow(9, |_| true).unwrap();
        for id in 1..90 {
            add(&journal, &[json!({"id": id.to_string()})]);
        }
        assert!(!fs::read_to_string(file(&folder, OLDER)).unwrap().contains("\"0\""), "two at least");
        assert_eq!(ids(&follower.poll().unwrap()), (1..90).collect::<Vec<u64>>());
    }

    #[test]
    fn a_rotation_loses_nothing_and_repeats_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal_of_size(folder.path(), 400);
        add(&journal, &[json!({"id": "0", "outcome": "queued"})]);
        let (_, mut follower) = journal.follow(9, |_| true).unwrap();
        let mut seen = Vec::new();
        for id in 1..200 {
            add(&journal, &[json!({"id": id.to_string(), "text": "some"})]);
            if id % 7 == 0 {
                seen.extend(ids(&follower.poll().unwrap()));
            }
        }
        seen.extend(ids(&follower.poll().unwrap()));
        assert_eq!(seen, (1..200).collect::<Vec<u64>>());
    }
}
