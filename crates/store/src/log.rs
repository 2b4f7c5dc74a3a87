//! An append-only log of lines in two files, such as `journal.jsonl` and, before it, `journal.1.jsonl`.
//!
//! Lines enter under the lock and leave in the order in which they came. A file that is full becomes the
//! older part, and the one that was older is dropped. It is full of new lines: copies do not count. The content of
//! lines is not interpreted here: [`Rotation`] says which lines the new file begins with, and how to distinguish such a
//! copy from its original.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use memchr::memmem;

use crate::at::{Access, Facts};
use crate::error::StoreError;
use crate::folder::Folder;
use crate::platform;
use crate::sidecar::Sidecar;

/// Bytes of lines besides copies at which the current file becomes the older part.
const ROTATION_SIZE: u64 = 16 * 1024 * 1024;

/// Bytes read at a time.
const BLOCK_SIZE: usize = 64 * 1024;

/// The lines that a rotation must keep.
#[derive(Debug, Clone, Copy)]
pub struct Rotation {
    /// The lines that the new file begins with: marked copies of lines that are still needed.
    pub carry: fn(&LineLog) -> Result<Vec<String>, StoreError>,
    /// True if a line is such a copy. Readers of both parts pass over it.
    pub is_copy: fn(&[u8]) -> bool,
}

/// A line of a log, and its place.
#[derive(Debug, Clone, Copy)]
pub struct LogLine<'a> {
    /// The line without its line end.
    pub text: &'a str,
    /// The file that it stands in.
    pub file: &'a Path,
    /// Its number in that file, from 1.
    pub number: usize,
    /// True if bytes were replaced that no line of text has.
    pub is_mended: bool,
}

/// The two files of a log, open; a missing one is `None`.
pub(super) struct Parts {
    pub(super) current: Option<File>,
    pub(super) older: Option<File>,
}

/// A log of lines in a sidecar folder. Neither need exist.
#[derive(Debug, Clone)]
pub struct LineLog {
    sidecar: Sidecar,
    current: String,
    older: String,
    /// The next `current`, during a rotation.
    next: String,
    rotation: Rotation,
    rotation_size: u64,
}

impl LineLog {
    /// The log of a sidecar with this name and ending, such as `journal` and `.jsonl`.
    pub fn new(sidecar: &Sidecar, name: &str, ending: &str, rotation: Rotation) -> LineLog {
        LineLog {
            sidecar: sidecar.clone(),
            current: format!("{name}{ending}"),
            older: format!("{name}.1{ending}"),
            next: format!("{name}{ending}.new"),
            rotation,
            rotation_size: ROTATION_SIZE,
        }
    }

    #[cfg(test)]
    pub(crate) fn with_rotation_size(sidecar: &Sidecar, rotation: Rotation, rotation_size: u64) -> LineLog {
        LineLog { rotation_size, ..LineLog::new(sidecar, "journal", ".jsonl", rotation) }
    }

    /// Visits all lines, oldest first, without their line ends.
    ///
    /// # Errors
    ///
    /// When a file cannot be read.
    pub fn visit(&self, mut visit: impl FnMut(&str)) -> Result<(), StoreError> {
        self.visit_lines(|line| visit(line.text))
    }

    /// Reads the lines with their positions.
    ///
    /// # Errors
    ///
    /// When a file cannot be read.
    pub(crate) fn visit_lines(&self, mut visit: impl FnMut(LogLine<'_>)) -> Result<(), StoreError> {
        let Parts { current, older } = self.parts()?;
        let skip_copies = older.is_some();
        for (file, name, skip_copies) in [(older, &self.older, false), (current, &self.current, skip_copies)]
        {
            let Some(file) = file else { continue };
            let path = self.path(name);
            for (line, number) in BufReader::with_capacity(BLOCK_SIZE, file).split(b'\n').zip(1..) {
                let line = line.map_err(StoreError::read(&path))?;
                if !(skip_copies && self.is_copy(&line)) {
                    let text = text_of(&line);
                    let is_mended = matches!(text, Cow::Owned(_));
                    visit(LogLine { text: &text, file: &path, number, is_mended });
                }
            }
        }
        Ok(())
    }

    /// The last `count` lines that `wanted` accepts, oldest first. Reads from the end and no
    /// further than it must.
    ///
    /// # Errors
    ///
    /// When a file cannot be read.
    pub(crate) fn tail(
        &self,
        count: usize,
        wanted: impl FnMut(&str) -> bool,
    ) -> Result<Vec<String>, StoreError> {
        self.tail_of(&mut self.parts()?, None, count, wanted)
    }

    /// The tail of parts that are open. `end` is where the current part ends for the caller.
    pub(super) fn tail_of(
        &self,
        parts: &mut Parts,
        end: Option<u64>,
        count: usize,
        mut wanted: impl FnMut(&str) -> bool,
    ) -> Result<Vec<String>, StoreError> {
        let mut newest_first: Vec<String> = Vec::new();
        if count > 0 {
            self.visit_backwards(parts, end, |line| {
                let line = text_of(line);
                newest_first.extend(wanted(&line).then(|| line.into_owned()));
                newest_first.len() < count
            })?;
        }
        newest_first.reverse();
        Ok(newest_first)
    }

    /// The name of the file that is written to.
    pub(super) fn name(&self) -> &str {
        &self.current
    }

    /// Adds lines at the end, all or (but for a kill) none. With `sync` they survive a power cut, once the folder is
    /// synced too. The caller holds the lock.
    pub(crate) fn append(&self, lines: &[String], sync: bool) -> Result<(), StoreError> {
        let folder = self.sidecar.create()?;
        self.rotate_if_full(&folder)?;
        let mut file = folder.write(&self.current, Access::Append)?;
        let written = append_bytes(&mut file, joined(lines));
        written.map_err(StoreError::write("write", &self.current_path()))?;
        if sync { file.sync_data().map_err(StoreError::write("sync", &self.current_path())) } else { Ok(()) }
    }

    /// Refuses a log that is not the caller's own. All else that is wrong with it shows when it is written.
    pub(super) fn refuse_foreign(&self, folder: &Folder) -> Result<(), StoreError> {
        match folder.read(&self.current) {
            Err(error @ StoreError::NotOurs { .. }) => Err(error),
            _ => Ok(()),
        }
    }

    /// Both parts, opened at one moment.
    pub(super) fn parts(&self) -> Result<Parts, StoreError> {
        let Some(folder) = self.sidecar.open()? else { return Ok(Parts { current: None, older: None }) };
        let current = folder.read(&self.current)?;
        let older = folder.read(&self.older)?;
        // A rotation in between may have turned the file opened first into the older part.
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
    pub(super) fn current_path(&self) -> PathBuf {
        self.path(&self.current)
    }

    /// The facts about the part that is written to; `None` where there is none.
    pub(super) fn current_facts(&self) -> Option<Facts> {
        self.sidecar.open().ok()??.facts(&self.current).ok()?
    }

    fn path(&self, name: &str) -> PathBuf {
        self.sidecar.folder().join(name)
    }

    pub(super) fn is_copy(&self, line: &[u8]) -> bool {
        (self.rotation.is_copy)(line)
    }

    /// Visits the lines from the last to the first, until `visit` returns `false`.
    fn visit_backwards(
        &self,
        parts: &mut Parts,
        end: Option<u64>,
        mut visit: impl FnMut(&[u8]) -> bool,
    ) -> Result<(), StoreError> {
        let mut more = true;
        let skip_copies = parts.older.is_some();
        if let Some(file) = &mut parts.current {
            read_backwards(file, end, |line| {
                // A file begins with its copies: before one there are only others.
                let is_copy = skip_copies && self.is_copy(line);
                more = is_copy || visit(line);
                more && !is_copy
            })
            .map_err(StoreError::read(&self.current_path()))?;
        }
        if let Some(file) = parts.older.as_mut().filter(|_| more) {
            read_backwards(file, None, &mut visit).map_err(StoreError::read(&self.path(&self.older)))?;
        }
        Ok(())
    }

    /// True if the lines behind the copies, with which a file begins, are large enough for a rotation, and half of
    /// the file: else each line of a long queue would be copied again and again. Where copies end is seen from one
    /// line.
    fn is_full(&self, folder: &Folder, size: u64) -> Result<bool, StoreError> {
        let own = self.rotation_size.max(size / 2);
        let Some(at) = size.checked_sub(own) else { return Ok(false) };
        let Some(file) = folder.read(&self.current)? else { return Ok(false) };
        let line = line_behind(file, at).map_err(StoreError::read(&self.current_path()))?;
        Ok(!self.is_copy(&line))
    }

    fn rotate_if_full(&self, folder: &Folder) -> Result<(), StoreError> {
        let error = |source| StoreError::Write { action: "rotate", path: self.current_path(), source };
        let Some(facts) = folder.facts(&self.current).map_err(error)? else {
            return finish_rotation(folder, &self.current).map_err(error);
        };
        if !self.is_full(folder, facts.size)? {
            // Where there is a current file, a next one is left from a rotation that did not finish.
            let _ = folder.remove(&self.next);
            return Ok(());
        }
        let bytes = joined(&(self.rotation.carry)(self)?);
        let written = folder.create(&self.next).and_then(|mut next| {
            next.write_all(&bytes)?;
            next.sync_all()
        });
        if let Err(source) = written {
            let _ = folder.remove(&self.next);
            return Err(error(source));
        }
        folder.rename(&self.current, &self.older).map_err(error)?;
        folder.rename(&self.next, &self.current).map_err(error)
    }
}

fn joined(lines: &[impl AsRef<str>]) -> Vec<u8> {
    lines.iter().flat_map(|line| line.as_ref().bytes().chain([b'\n'])).collect()
}

/// Adds the lines that a killed writer was about to add to the log file of this name, as far as they are not there:
/// all may be among its last, or it may end with the first of them.
pub(super) fn add_missing(folder: &Folder, name: &str, lines: &[&str]) -> Result<(), StoreError> {
    let bytes = joined(lines);
    let path = folder.path(name);
    finish_rotation(folder, name).map_err(StoreError::write("rotate", &path))?;
    let mut file = folder.write(name, Access::Append)?;
    let add = || {
        let size = file.seek(SeekFrom::End(0))?;
        file.seek(SeekFrom::Start(size.saturating_sub((bytes.len() + BLOCK_SIZE) as u64)))?;
        let mut last = Vec::new();
        file.read_to_end(&mut last)?;
        if memmem::find(&last, &bytes).is_some() {
            return Ok(());
        }
        match begun(&last, &bytes) {
            0 => append_bytes(&mut file, bytes)?,
            begun => write_or_take_back(&mut file, size, &bytes[begun..])?,
        }
        file.sync_data()
    };
    add().map_err(StoreError::write("write", &path))?;
    folder.sync()
}

/// Bytes of these lines with which a log ends, because a kill has cut off the rest.
fn begun(log: &[u8], lines: &[u8]) -> usize {
    let starts = [0].into_iter().chain(memchr::memchr_iter(b'\n', log).map(|end| end + 1));
    let ends = starts.map(|start| &log[start..]).filter(|end| end.len() < lines.len());
    ends.into_iter().find(|end| lines.starts_with(end)).map_or(0, <[u8]>::len)
}

/// A kill between the two renames of a rotation leaves only the next file, which is then whole and on disk.
fn finish_rotation(folder: &Folder, name: &str) -> io::Result<()> {
    let next = format!("{name}.new");
    if folder.facts(name)?.is_none() && folder.facts(&next)?.is_some_and(|next| next.is_file) {
        folder.rename(&next, name)
    } else {
        Ok(())
    }
}

/// A line as text: bytes that are not UTF-8, and controls, are U+FFFD.
pub(super) fn text_of(line: &[u8]) -> Cow<'_, str> {
    let is_control = |byte: &u8| *byte < b' ' && !matches!(byte, b'\t' | b'\r');
    let text = String::from_utf8_lossy(line);
    if line.iter().any(is_control) {
        Cow::Owned(text.replace(|c: char| c < ' ' && !matches!(c, '\t' | '\r'), "\u{FFFD}"))
    } else {
        text
    }
}

/// The first line that begins at an offset or behind it.
fn line_behind(mut file: File, at: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(at.saturating_sub(1)))?;
    let mut reader = BufReader::new(file);
    if at > 0 {
        reader.skip_until(b'\n')?;
    }
    let mut line = Vec::new();
    reader.read_until(b'\n', &mut line)?;
    line.pop_if(|last| *last == b'\n');
    Ok(line)
}

/// A torn last line is ended first, so that it costs only itself. What cannot be written whole (the
/// disk is full) is taken back.
fn append_bytes(file: &mut File, mut bytes: Vec<u8>) -> io::Result<()> {
    let size = file.seek(SeekFrom::End(0))?;
    if size > 0 {
        let mut last = [0];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            bytes.insert(0, b'\n');
        }
    }
    write_or_take_back(file, size, &bytes)
}

fn write_or_take_back(file: &mut File, size: u64, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes).inspect_err(|_| {
        let _ = file.set_len(size);
    })
}

/// Visits the lines from the last to the first, until `visit` returns `false`. Reads blocks backwards from
/// `end`, or from the end of the file; larger ones where a line is longer than a block.
fn read_backwards(file: &mut File, end: Option<u64>, mut visit: impl FnMut(&[u8]) -> bool) -> io::Result<()> {
    let mut position = end.map_or_else(|| file.seek(SeekFrom::End(0)), Ok)?;
    let mut block_size = BLOCK_SIZE;
    // The start of the block read last, up to its first newline: perhaps half a line.
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
    use super::*;

    #[test]
    fn lines_that_a_kill_has_cut_off_anywhere_are_completed() {
        let folder = tempfile::tempdir().unwrap();
        let sidecar = Folder::make(&folder.path().join("sidecar")).unwrap();
        let lines = ["{\"id\":\"1\"}", "{\"id\":\"2\"}", "{\"id\":\"2\"} 3"];
        let whole = joined(&lines);
        for before in ["", "{\"id\":\"0\"}\n", "{\"id\":\"1\"}\n{\"id\n"] {
            for end in 0..=whole.len() {
                let written = [before.as_bytes(), &whole[..end]].concat();
                sidecar.create("log").unwrap().write_all(&written).unwrap();
                add_missing(&sidecar, "log", &lines).unwrap();
                add_missing(&sidecar, "log", &lines).unwrap();
                let added = sidecar.read_bytes("log").unwrap().unwrap();
                assert_eq!(String::from_utf8(added).unwrap(), format!("{before}{}", lines.join("\n")) + "\n");
            }
        }
        // A torn line of another change is ended.
        sidecar.create("log").unwrap().write_all(b"{\"id\":\"0").unwrap();
        add_missing(&sidecar, "log", &lines).unwrap();
        let added = sidecar.read_bytes("log").unwrap().unwrap();
        assert_eq!(added, [b"{\"id\":\"0\n", &whole[..]].concat());
    }
}
