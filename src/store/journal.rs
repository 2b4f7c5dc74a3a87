//! The journal: what was recorded, what was decided and why, and the queue of what waits for a model.
//!
//! JSON objects enter, one a line, and leave in the order in which they came, from `journal.1.jsonl`
//! (the older part) and `journal.jsonl`. Lines that are no objects, such as one torn by a kill, are
//! passed over and spoil no other. Rotation never loses what is queued and unresolved: such lines
//! are carried into the new journal, marked `"carried": true`. Writers hold the lock.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use memchr::memmem;
use serde_json::Value;

use super::error::StoreError;
use super::platform;
use super::snapshot;
use super::window::{WINDOW, Window};
use crate::document::scan::Lines as _;

/// The size at which a journal becomes the older part.
const ROTATION_SIZE: u64 = 16 * 1024 * 1024;

/// How much is read at first when looking for the last lines.
const BLOCK_SIZE: usize = 64 * 1024;

/// The two files of a journal, open; a missing one is `None`.
pub(super) struct Parts {
    pub(super) current: Option<File>,
    pub(super) older: Option<File>,
}

/// The two files of a journal.
#[derive(Debug)]
pub(super) struct Journal {
    current: PathBuf,
    older: PathBuf,
    /// The next `current`, during a rotation.
    next: PathBuf,
    rotation_size: u64,
}

impl Journal {
    pub(super) fn new(folder: &Path) -> Journal {
        Journal {
            current: folder.join("journal.jsonl"),
            older: folder.join("journal.1.jsonl"),
            next: folder.join("journal.jsonl.new"),
            rotation_size: ROTATION_SIZE,
        }
    }

    #[cfg(test)]
    pub(super) fn with_rotation_size(folder: &Path, rotation_size: u64) -> Journal {
        Journal { rotation_size, ..Journal::new(folder) }
    }

    /// Adds lines at the end, all or (but for a kill) none.
    pub(super) fn append(&self, lines: &[Value]) -> Result<(), StoreError> {
        if lines.is_empty() {
            return Ok(());
        }
        self.rotate_if_full()?;
        let mut bytes = Vec::new();
        for line in lines {
            bytes.extend_from_slice(line.to_string().as_bytes());
            bytes.push(b'\n');
        }
        append_bytes(&self.current, bytes).map_err(StoreError::write("write", &self.current))
    }

    /// The last of the lines that are wanted, at most that many, oldest first.
    pub(super) fn tail(
        &self,
        count: usize,
        mut wanted: impl FnMut(&str) -> bool,
    ) -> Result<Vec<Value>, StoreError> {
        let mut newest_first = Vec::new();
        let mut parts = self.parts()?;
        if count > 0 {
            self.visit_backwards(&mut parts, None, |line| {
                if std::str::from_utf8(line).is_ok_and(&mut wanted) {
                    newest_first.extend(parse_line(line));
                }
                newest_first.len() < count
            })?;
        }
        newest_first.reverse();
        Ok(newest_first)
    }

    /// The last of the lines that are wanted, as they stand, oldest first. `end` is where the current
    /// part ends for the caller.
    pub(super) fn tail_text(
        &self,
        parts: &mut Parts,
        end: Option<u64>,
        count: usize,
        mut wanted: impl FnMut(&str) -> bool,
    ) -> Result<Vec<String>, StoreError> {
        let mut newest_first: Vec<String> = Vec::new();
        if count > 0 {
            self.visit_backwards(parts, end, |line| {
                let line = std::str::from_utf8(line).ok().filter(|line| wanted(line));
                newest_first.extend(line.map(str::to_owned));
                newest_first.len() < count
            })?;
        }
        newest_first.reverse();
        Ok(newest_first)
    }

    /// Shows all lines as they stand, oldest first; none is copied.
    pub(super) fn visit(&self, mut visit: impl FnMut(&str)) -> Result<(), StoreError> {
        let Parts { mut current, mut older } = self.parts()?;
        let mark = carried_mark();
        let skip_carried = older.is_some();
        let files = [(&mut older, &self.older, false), (&mut current, &self.current, skip_carried)];
        for (file, path, skip_carried) in files {
            let Some(file) = file else { continue };
            let mut window = Window::new(file, WINDOW);
            while let Some((_, line)) = window.next_line(true).map_err(StoreError::read(path))? {
                if !(skip_carried && is_carried_text(&mark, line))
                    && let Ok(line) = std::str::from_utf8(line)
                {
                    visit(line);
                }
            }
        }
        Ok(())
    }

    /// Both parts, opened at one moment.
    pub(super) fn parts(&self) -> Result<Parts, StoreError> {
        let current = snapshot::open(&self.current)?;
        let older = snapshot::open(&self.older)?;
        // A rotation in between has made what we opened the older part.
        let same = match (&current, &older) {
            (Some(current), Some(older)) => {
                let [current, older] = [current, older].map(File::metadata);
                current.is_ok_and(|current| older.is_ok_and(|older| platform::is_same_file(&current, &older)))
            }
            _ => false,
        };
        Ok(Parts { current, older: older.filter(|_| !same) })
    }

    /// The path of the part that is written to.
    pub(super) fn current_path(&self) -> &Path {
        &self.current
    }

    /// Shows the lines from the last to the first, until told to stop.
    fn visit_backwards(
        &self,
        parts: &mut Parts,
        end: Option<u64>,
        mut visit: impl FnMut(&[u8]) -> bool,
    ) -> Result<(), StoreError> {
        let mark = carried_mark();
        let mut more = true;
        let skip_carried = parts.older.is_some();
        if let Some(file) = &mut parts.current {
            read_backwards(file, end, |line| {
                more = (skip_carried && is_carried_text(&mark, line)) || visit(line);
                more
            })
            .map_err(StoreError::read(&self.current))?;
        }
        if let Some(file) = parts.older.as_mut().filter(|_| more) {
            read_backwards(file, None, &mut visit).map_err(StoreError::read(&self.older))?;
        }
        Ok(())
    }

    /// All lines, oldest first.
    pub(super) fn lines(&self) -> Result<Lines, StoreError> {
        let open =
            |path: &PathBuf| Ok(snapshot::open(path)?.map(|file| (path.clone(), BufReader::new(file))));
        let older = open(&self.older)?;
        let current = open(&self.current)?;
        let in_older_part = older.is_some();
        let parts = [current, older].into_iter().flatten().collect();
        Ok(Lines { parts, in_older_part, skip_carried: in_older_part, wanted: |_| true })
    }

    /// Queued lines that no later line resolves, oldest first.
    pub(super) fn queued(&self) -> Result<Vec<Value>, StoreError> {
        let mut queue: Vec<Value> = Vec::new();
        let concerns_queue = |line: &[u8]| {
            memmem::find(line, b"\"queued\"").is_some() || memmem::find(line, b"\"resolves\"").is_some()
        };
        for line in (Lines { wanted: concerns_queue, ..self.lines()? }) {
            let line = line?;
            if let Some(resolved) = line.get("resolves") {
                queue.retain(|queued| queued.get("id") != Some(resolved));
            }
            if line.get("outcome").and_then(Value::as_str) == Some("queued") {
                queue.push(line);
            }
        }
        Ok(queue)
    }

    /// A kill between the two renames leaves only `next`, which is then already whole and on disk.
    fn rotate_if_full(&self) -> Result<(), StoreError> {
        let error = |source| StoreError::Write { action: "rotate", path: self.current.clone(), source };
        match fs::metadata(&self.current) {
            Ok(metadata) if metadata.len() < self.rotation_size => {
                // Where there is a current journal, a next one is of a rotation that did not come to its end.
                let _ = fs::remove_file(&self.next);
                return Ok(());
            }
            Ok(_) => {}
            Err(missing) if missing.kind() == io::ErrorKind::NotFound => {
                return match fs::rename(&self.next, &self.current) {
                    Err(failed) if failed.kind() != io::ErrorKind::NotFound => Err(error(failed)),
                    _ => Ok(()),
                };
            }
            Err(source) => return Err(error(source)),
        }
        let mut bytes = Vec::new();
        for mut line in self.queued()? {
            line["carried"] = Value::Bool(true);
            bytes.extend_from_slice(line.to_string().as_bytes());
            bytes.push(b'\n');
        }
        let written = File::create(&self.next).and_then(|mut next| {
            next.write_all(&bytes)?;
            next.sync_all()
        });
        if let Err(source) = written {
            let _ = fs::remove_file(&self.next);
            return Err(error(source));
        }
        fs::rename(&self.current, &self.older).map_err(error)?;
        fs::rename(&self.next, &self.current).map_err(error)
    }
}

/// The lines of a journal, oldest first. An item is an error where a file cannot be read on.
#[derive(Debug)]
pub struct Lines {
    /// What is still to be read, the oldest part last.
    parts: Vec<(PathBuf, BufReader<File>)>,
    in_older_part: bool,
    /// Whether the older part has what the current one carries.
    skip_carried: bool,
    /// Which lines are worth parsing.
    wanted: fn(&[u8]) -> bool,
}

impl Iterator for Lines {
    type Item = Result<Value, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut line = Vec::new();
        loop {
            let (path, reader) = self.parts.last_mut()?;
            line.clear();
            match reader.read_until(b'\n', &mut line) {
                Ok(0) => {
                    self.parts.pop();
                    self.in_older_part = false;
                }
                Ok(_) if !(self.wanted)(&line) => {}
                Ok(_) => match parse_line(&line) {
                    Some(line) if !(self.skip_carried && !self.in_older_part && is_carried(&line)) => {
                        return Some(Ok(line));
                    }
                    _ => {}
                },
                Err(source) => {
                    let path = path.clone();
                    self.parts.clear();
                    return Some(Err(StoreError::Read { path, source }));
                }
            }
        }
    }
}

/// A torn last line is ended first, so that it costs only itself. What cannot be written whole (the
/// disk is full) is taken back.
fn append_bytes(path: &Path, mut bytes: Vec<u8>) -> io::Result<()> {
    let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
    let size = file.seek(SeekFrom::End(0))?;
    if size > 0 {
        let mut last = [0];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            bytes.insert(0, b'\n');
        }
    }
    file.write_all(&bytes).inspect_err(|_| {
        let _ = file.set_len(size);
    })
}

fn parse_line(line: &[u8]) -> Option<Value> {
    serde_json::from_slice(line).ok().filter(Value::is_object)
}

fn is_carried(line: &Value) -> bool {
    line.get("carried") == Some(&Value::Bool(true))
}

/// What every carried line holds; others may hold it too.
pub(super) fn carried_mark() -> memmem::Finder<'static> {
    memmem::Finder::new(b"\"carried\"")
}

/// Whether a line is carried; parses only what may be.
pub(super) fn is_carried_text(mark: &memmem::Finder<'_>, line: &[u8]) -> bool {
    mark.find(line).is_some() && parse_line(line).is_some_and(|line| is_carried(&line))
}

/// Shows the lines from the last to the first, until told to stop. Reads blocks from the end (or where
/// the file ends for the caller), larger ones where a line is longer than a block.
fn read_backwards(file: &mut File, end: Option<u64>, mut visit: impl FnMut(&[u8]) -> bool) -> io::Result<()> {
    let mut position = end.map_or_else(|| file.seek(SeekFrom::End(0)), Ok)?;
    let mut block_size = BLOCK_SIZE;
    // The beginning of the file's unread end, up to its first newline: perhaps half a line.
    let mut half = Vec::new();
    while position > 0 {
        let length = usize::try_from(position).map_or(block_size, |left| left.min(block_size));
        position -= length as u64;
        let mut block = vec![0; length];
        file.seek(SeekFrom::Start(position))?;
        file.read_exact(&mut block)?;
        block.append(&mut half);
        let mut end = block.len();
        while let Some(newline) = memchr::memrchr(b'\n', &block[..end]) {
            if newline + 1 < end && !visit(&block[newline + 1..end]) {
                return Ok(());
            }
            end = newline;
        }
        block.truncate(end);
        if end >= block_size {
            block_size *= 2;
        }
        half = block;
    }
    if !half.is_empty() {
        visit(&half);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn small(folder: &Path, rotation_size: u64) -> Journal {
        Journal::with_rotation_size(folder, rotation_size)
    }

    fn ids(lines: &[Value]) -> Vec<u64> {
        lines.iter().map(|line| line["id"].as_u64().unwrap()).collect()
    }

    fn all(journal: &Journal) -> Vec<u64> {
        ids(&journal.lines().unwrap().collect::<Result<Vec<_>, _>>().unwrap())
    }

    #[test]
    fn no_journal_has_no_lines() {
        let folder = tempfile::tempdir().unwrap();
        let journal = small(&folder.path().join("missing"), 100);
        assert!(journal.tail(3, |_| true).unwrap().is_empty());
        assert!(all(&journal).is_empty());
        assert!(journal.queued().unwrap().is_empty());
    }

    #[test]
    fn a_torn_line_costs_only_itself() {
        let folder = tempfile::tempdir().unwrap();
        let journal = small(folder.path(), ROTATION_SIZE);
        journal.append(&[json!({"id": 1})]).unwrap();
        let mut file = OpenOptions::new().append(true).open(&journal.current).unwrap();
        file.write_all(b"{\"id\": 2, \"text\": \"to").unwrap();
        assert_eq!(ids(&journal.tail(5, |_| true).unwrap()), [1]);
        journal.append(&[json!({"id": 3, "text": "two\nlines"}), json!({"id": 4})]).unwrap();
        file.write_all(b"\n\n[1]\n7\n\xff\xfe\n\"x\"").unwrap();
        assert_eq!(ids(&journal.tail(5, |_| true).unwrap()), [1, 3, 4]);
        assert_eq!(all(&journal), [1, 3, 4]);
    }

    #[test]
    fn the_tail_is_the_end_of_all_lines_whatever_their_length() {
        let folder = tempfile::tempdir().unwrap();
        let journal = small(folder.path(), u64::MAX);
        let lengths = [0, 10, BLOCK_SIZE - 30, BLOCK_SIZE, 3, 5 * BLOCK_SIZE + 1, 2 * BLOCK_SIZE, 7, 0];
        for (id, length) in lengths.iter().enumerate() {
            journal.append(&[json!({"id": id, "text": "x".repeat(*length)})]).unwrap();
        }
        let expected = all(&journal);
        assert_eq!(expected.len(), lengths.len());
        for count in 0..=lengths.len() + 1 {
            let first = expected.len().saturating_sub(count);
            assert_eq!(ids(&journal.tail(count, |_| true).unwrap()), expected[first..], "{count}");
        }
    }

    #[test]
    fn rotation_keeps_one_older_part_and_every_queued_line() {
        let folder = tempfile::tempdir().unwrap();
        let journal = small(folder.path(), 2000);
        journal
            .append(&[json!({"id": 1, "outcome": "queued"}), json!({"id": 2, "outcome": "queued"})])
            .unwrap();
        for id in 3..400 {
            let line = match id {
                50 => json!({"id": id, "outcome": "stored", "resolves": 2}),
                51 => json!({"id": id, "outcome": "queued", "text": "\"resolves\" 1"}),
                200 => json!({"id": id, "outcome": "queued", "resolves": 51}),
                _ => json!({"id": id, "outcome": "declined"}),
            };
            journal.append(&[line]).unwrap();
            let queued = match id {
                ..50 => vec![1, 2],
                50 => vec![1],
                51..200 => vec![1, 51],
                _ => vec![1, 200],
            };
            assert_eq!(ids(&journal.queued().unwrap()), queued, "{id}");
            assert_eq!(ids(&journal.tail(3, |_| true).unwrap()), [id - 2, id - 1, id]);
        }
        assert!(fs::metadata(&journal.current).unwrap().len() < 2100);
        assert!(fs::metadata(&journal.older).unwrap().len() < 2100);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        let kept = all(&journal);
        assert!(kept.starts_with(&[1, 200]), "carried lines come first: {kept:?}");
        assert!(kept[2..].windows(2).all(|pair| pair[0] + 1 == pair[1]), "and none twice: {kept:?}");
    }

    #[test]
    fn a_kill_between_the_renames_of_a_rotation_loses_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let journal = small(folder.path(), 60);
        journal.append(&[json!({"id": 1, "outcome": "queued"})]).unwrap();
        journal.append(&[json!({"id": 2, "outcome": "declined", "why": "to fill the file"})]).unwrap();
        journal.append(&[json!({"id": 3})]).unwrap();
        fs::rename(&journal.current, &journal.next).unwrap();
        assert_eq!(ids(&journal.queued().unwrap()), [1]);
        journal.append(&[json!({"id": 4})]).unwrap();
        assert_eq!(ids(&journal.queued().unwrap()), [1]);
        assert_eq!(ids(&journal.tail(4, |_| true).unwrap()), [1, 2, 3, 4]);
        assert!(!journal.next.exists());
    }
}
