//! The journal's lines as they come.
//!
//! A journal enters; its last lines leave, and with each poll those written since. A rotation is
//! noticed by the file's identity, and what it carries over is not told twice. A line counts when its
//! end is there. Nothing waits here: how often to look is the caller's affair.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};

use super::error::StoreError;
use super::journal::{Journal, Parts, carried_mark, is_carried_text};
use super::platform;

/// How much is read at a time when looking for the end of the last whole line.
const BLOCK_SIZE: u64 = 4096;

/// What has been read of a journal, and where to read on.
#[derive(Debug)]
pub struct Follower {
    journal: Journal,
    /// The part that was current when it was opened.
    current: Option<File>,
    /// Behind the last whole line that was read.
    offset: u64,
    /// Whether the older part has what this one carries.
    skip_carried: bool,
}

impl Follower {
    pub(super) fn start(
        journal: Journal,
        count: usize,
        wanted: impl FnMut(&str) -> bool,
    ) -> Result<(Vec<String>, Follower), StoreError> {
        let mut parts = journal.parts()?;
        let end = parts.current.as_mut().map(end_of_whole_lines).transpose();
        let end = end.map_err(StoreError::read(journal.current_path()))?;
        let lines = journal.tail_text(&mut parts, end, count, wanted)?;
        let Parts { current, older } = parts;
        let offset = end.unwrap_or(0);
        Ok((lines, Follower { journal, current, offset, skip_carried: older.is_some() }))
    }

    /// The lines that were written since, oldest first, as they stand; none where nothing was.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub fn poll(&mut self) -> Result<Vec<String>, StoreError> {
        let mut lines = Vec::new();
        let failed =
            |journal: &Journal, source| StoreError::Read { path: journal.current_path().to_owned(), source };
        // Whether it is rotated is asked first: afterwards nothing more comes to the old part.
        let rotated = self.is_rotated();
        self.read_on(&mut lines).map_err(|source| failed(&self.journal, source))?;
        if rotated {
            let Parts { current, older } = self.journal.parts()?;
            (self.current, self.offset, self.skip_carried) = (current, 0, older.is_some());
            self.read_on(&mut lines).map_err(|source| failed(&self.journal, source))?;
        }
        Ok(lines)
    }

    /// Whether another file is current now. Between the two renames of a rotation there is none, and
    /// the answer comes with a later poll.
    fn is_rotated(&self) -> bool {
        let Ok(present) = fs::metadata(self.journal.current_path()) else { return false };
        let Some(current) = &self.current else { return true };
        match current.metadata() {
            Ok(opened) if platform::identity(&opened).is_some() => !platform::is_same_file(&opened, &present),
            _ => present.len() < self.offset,
        }
    }

    fn read_on(&mut self, lines: &mut Vec<String>) -> io::Result<()> {
        let Some(file) = &mut self.current else { return Ok(()) };
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(self.offset))?;
        file.read_to_end(&mut bytes)?;
        let Some(last) = memchr::memrchr(b'\n', &bytes) else { return Ok(()) };
        self.offset += last as u64 + 1;
        let mark = carried_mark();
        let whole = bytes[..last].split(|byte| *byte == b'\n');
        let new = whole.filter(|line| !(self.skip_carried && is_carried_text(&mark, line)));
        lines.extend(new.filter_map(|line| std::str::from_utf8(line).ok()).map(str::to_owned));
        Ok(())
    }
}

/// Where the last line that has its end ends.
fn end_of_whole_lines(file: &mut File) -> io::Result<u64> {
    let mut position = file.seek(SeekFrom::End(0))?;
    let mut block = Vec::new();
    while position > 0 {
        let start = position.saturating_sub(BLOCK_SIZE);
        file.seek(SeekFrom::Start(start))?;
        block.clear();
        file.by_ref().take(position - start).read_to_end(&mut block)?;
        if let Some(newline) = memchr::memrchr(b'\n', &block) {
            return Ok(start + newline as u64 + 1);
        }
        position = start;
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use serde_json::json;

    use super::*;

    fn ids(lines: &[String]) -> Vec<u64> {
        let id = |line: &String| serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].as_u64();
        lines.iter().map(|line| id(line).unwrap()).collect()
    }

    fn append(folder: &std::path::Path, ids: std::ops::Range<u64>) {
        for id in ids {
            Journal::new(folder).append(&[json!({"id": id})]).unwrap();
        }
    }

    #[test]
    fn lines_come_once_and_in_order() {
        let folder = tempfile::tempdir().unwrap();
        append(folder.path(), 0..5);
        let (lines, mut follower) = Follower::start(Journal::new(folder.path()), 2, |_| true).unwrap();
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
        let mut file = fs::OpenOptions::new().append(true).open(folder.path().join("journal.jsonl")).unwrap();
        file.write_all(b"{\"id\":").unwrap();
        let (lines, mut follower) = Follower::start(Journal::new(folder.path()), 9, |_| true).unwrap();
        assert_eq!(ids(&lines), [0]);
        assert!(follower.poll().unwrap().is_empty());
        file.write_all(b" 1}\n{").unwrap();
        assert_eq!(ids(&follower.poll().unwrap()), [1]);
    }

    #[test]
    fn a_journal_that_is_not_there_yet_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let (lines, mut follower) = Follower::start(Journal::new(folder.path()), 9, |_| true).unwrap();
        assert!(lines.is_empty() && follower.poll().unwrap().is_empty());
        append(folder.path(), 0..2);
        assert_eq!(ids(&follower.poll().unwrap()), [0, 1]);
    }

    #[test]
    fn a_rotation_loses_nothing_and_tells_nothing_twice() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::with_rotation_size(folder.path(), 400);
        journal.append(&[json!({"id": 0, "outcome": "queued"})]).unwrap();
        let (_, mut follower) =
            Follower::start(Journal::with_rotation_size(folder.path(), 400), 9, |_| true).unwrap();
        let mut seen = Vec::new();
        for id in 1..200 {
            journal.append(&[json!({"id": id, "text": "some"})]).unwrap();
            if id % 7 == 0 {
                seen.extend(ids(&follower.poll().unwrap()));
            }
        }
        seen.extend(ids(&follower.poll().unwrap()));
        assert_eq!(seen, (1..200).collect::<Vec<u64>>());
    }
}
