//! An append-only log of lines in two files, such as `journal.jsonl` and, before it, `journal.1.jsonl`.
//!
//! Lines enter under the lock and leave in the order in which they came. A file that is full becomes the older part, and
//! the one that was older is dropped; before that, [`Upkeep`] keeps what is needed of its lines, some of them in a file of
//! their own, which is read first. The content of lines is not interpreted here, except for the first line of a file,
//! which may state a version.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::at::{Access, Facts};
use crate::error::{StoreError, unless_missing};
use crate::folder::Folder;
use crate::note::Addition;
use crate::platform::is_same_file;
use crate::sidecar::{Sidecar, stage};

/// Bytes of lines at which the current file becomes the older part.
const ROTATION_SIZE: u64 = 16 * 1024 * 1024;

/// Bytes read at a time.
const BLOCK_SIZE: usize = 64 * 1024;

/// Bytes read at a time when looking for the end of the last whole line.
const SMALL_BLOCK_SIZE: u64 = 4096;

/// Gives the lines of a log that a rotation keeps.
pub(crate) type Carry = fn(&LineLog) -> Result<Vec<String>, StoreError>;

/// The upkeep of a log: its version, its size, and the lines that survive a rotation.
#[derive(Debug, Clone, Copy)]
pub struct Upkeep {
    /// The version of the format, which the first line of each file states; `None` where none does.
    pub(crate) version: Option<u64>,
    /// Size at which the current file becomes the older part.
    pub(crate) rotation_size: u64,
    /// Keeps what is needed of the lines elsewhere. Called now and then, and before each rotation.
    pub(crate) keep: fn(&LineLog) -> Result<(), StoreError>,
    /// The file of the lines that a rotation keeps, and what gives them.
    pub(crate) carried: Option<(&'static str, Carry)>,
}

/// No upkeep: a rotation forgets the lines that it drops.
impl Default for Upkeep {
    fn default() -> Upkeep {
        Upkeep { version: None, rotation_size: ROTATION_SIZE, keep: |_| Ok(()), carried: None }
    }
}

/// The first line of a file.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Head {
    /// The version of the format.
    journal: u64,
    /// True if lines before those that are kept were dropped.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) dropped: bool,
}

/// How the first line of a file begins that states a version.
const HEAD: &[u8] = b"{\"journal\":";

/// How a copy ends that earlier versions made of a line when a log was rotated.
const COPY: &[u8] = b",\"carried\":true}";

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

/// The files of a log, open; a missing one is `None`.
pub(super) struct Parts {
    pub(super) current: Option<File>,
    pub(super) older: Option<File>,
    /// Lines of parts that were dropped.
    carried: Option<File>,
}

/// A log of lines in a sidecar folder. Neither need exist.
#[derive(Debug, Clone)]
pub struct LineLog {
    sidecar: Sidecar,
    current: String,
    older: String,
    upkeep: Upkeep,
}

impl LineLog {
    /// The log of a sidecar with this name and ending, such as `journal` and `.jsonl`.
    pub fn new(sidecar: &Sidecar, name: &str, ending: &str, upkeep: Upkeep) -> LineLog {
        let (current, older) = (format!("{name}{ending}"), format!("{name}.1{ending}"));
        LineLog { sidecar: sidecar.clone(), current, older, upkeep }
    }

    /// The folder that the log stands in.
    pub(crate) fn sidecar(&self) -> &Sidecar {
        &self.sidecar
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
        for (file, name, skip_copies) in self.in_order(&mut self.parts()?) {
            let Some(file) = file else { continue };
            let path = self.path(name);
            for (line, number) in BufReader::with_capacity(BLOCK_SIZE, file).split(b'\n').zip(1..) {
                let line = line.map_err(StoreError::read(&path))?;
                if !is_passed_over(&line, skip_copies) {
                    let text = text_of(&line);
                    let is_mended = matches!(text, Cow::Owned(_));
                    visit(LogLine { text: &text, file: &path, number, is_mended });
                }
            }
        }
        Ok(())
    }

    /// True if lines before those that are kept were dropped.
    ///
    /// # Errors
    ///
    /// When a file cannot be opened.
    pub fn has_dropped(&self) -> Result<bool, StoreError> {
        let Parts { current, older, .. } = self.parts()?;
        Ok([older, current].iter().flatten().any(|file| head_of(file).dropped))
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
        let ends = [None, None, end];
        for ((file, name, skip_copies), end) in self.in_order(parts).into_iter().zip(ends).rev() {
            let Some(file) = file.filter(|_| newest_first.len() < count) else { continue };
            let visit = |line: &[u8]| {
                if !is_passed_over(line, skip_copies) {
                    let line = text_of(line);
                    newest_first.extend(wanted(&line).then(|| line.into_owned()));
                }
                newest_first.len() < count
            };
            read_backwards(file, end, visit).map_err(StoreError::read(&self.path(name)))?;
        }
        newest_first.reverse();
        Ok(newest_first)
    }

    /// True if there is no current file, or it is to become the older part.
    pub(super) fn is_new_or_full(&self, folder: &Folder) -> bool {
        let facts = folder.facts(&self.current);
        facts.is_ok_and(|facts| facts.is_none_or(|facts| facts.size >= self.upkeep.rotation_size))
    }

    /// Keeps what is needed of the lines, and begins a new file where the current one is full. The caller holds the
    /// lock, and syncs the folder afterwards.
    pub(super) fn maintain(&self, folder: &Folder) -> Result<(), StoreError> {
        (self.upkeep.keep)(self)?;
        if folder.read(&self.current)?.is_none() {
            // The caller syncs the folder afterwards: the new name must be in it by then.
            return folder.write(&self.current, Access::Append).map(drop);
        }
        if !self.is_new_or_full(folder) {
            return Ok(());
        }
        self.carry(folder)?;
        let Parts { current, older, .. } = self.parts()?;
        let dropped = older.is_some() || current.is_some_and(|current| head_of(&current).dropped);
        let begin = || {
            folder.rename(&self.current, &self.older)?;
            let mut next = folder.create(&self.current)?;
            next.write_all(&self.first_line(dropped))?;
            next.sync_all()
        };
        begin().map_err(|source| StoreError::Write { action: "rotate", path: self.current_path(), source })
    }

    /// Writes the lines that the next rotation keeps.
    fn carry(&self, folder: &Folder) -> Result<(), StoreError> {
        let Some((name, lines)) = self.upkeep.carried else { return Ok(()) };
        match lines(self)? {
            lines if lines.is_empty() => unless_missing(folder.remove(name))
                .map(drop)
                .map_err(StoreError::write("remove", &folder.path(name))),
            lines => stage(folder, name, (lines.join("\n") + "\n").as_bytes(), true)?.publish(),
        }
    }

    /// The lines as they are to be added at the end, which is mended before; a warning says so. The caller holds the
    /// lock.
    pub(super) fn addition(
        &self,
        folder: &Folder,
        lines: &[String],
        warnings: &mut Vec<StoreError>,
    ) -> Result<Addition, StoreError> {
        let older = match self.parts() {
            Ok(parts) => parts.older,
            Err(refused) if refused.is_refusal() => return Err(refused),
            // The write of the lines reports this error.
            Err(_) => None,
        };
        let offset = self.mend_end(folder).map_or(0, |(size, mended)| {
            warnings.extend(mended);
            size
        });
        let mut bytes = match offset {
            0 => self.first_line(older.is_some_and(|older| head_of(&older).dropped)),
            _ => Vec::new(),
        };
        lines.iter().for_each(|line| bytes.extend(line.bytes().chain([b'\n'])));
        Ok(Addition { name: self.current.clone(), offset, bytes })
    }

    /// The first line of a file, which states the version.
    fn first_line(&self, dropped: bool) -> Vec<u8> {
        let Some(journal) = self.upkeep.version else { return Vec::new() };
        let line = serde_json::to_string(&Head { journal, dropped }).unwrap_or_default();
        (line + "\n").into_bytes()
    }

    /// Cuts off what a power cut or a kill left behind the last whole line: NUL bytes, and half a line, which is kept
    /// elsewhere. A whole entry gets its line end. Returns the size, and a warning.
    fn mend_end(&self, folder: &Folder) -> io::Result<(u64, Option<StoreError>)> {
        let Some(mut file) = folder.read(&self.current).map_err(io::Error::other)? else {
            return Ok((0, None));
        };
        let (size, whole) = (file.metadata()?.len(), end_of_whole_lines(&mut file)?);
        if whole == size {
            return Ok((size, None));
        }
        let mut end = Vec::new();
        file.seek(SeekFrom::Start(whole))?;
        file.read_to_end(&mut end)?;
        let is_nul = |byte: &u8| *byte == 0;
        let first = end.iter().position(|byte| !is_nul(byte)).unwrap_or(end.len());
        let behind = end.iter().rposition(|byte| !is_nul(byte)).map_or(first, |last| last + 1);
        let half = [&end[first..behind], b"\n"].concat();
        let is_whole = !half.starts_with(b"{") || serde_json::from_slice::<Value>(&half).is_ok();
        let warning = |aside| StoreError::CutEnd { path: self.current_path(), bytes: size - whole, aside };
        let mut file = folder.write(&self.current, Access::ReadWrite).map_err(io::Error::other)?;
        if half.len() > 1 && is_whole {
            file.seek(SeekFrom::Start(whole))?;
            file.write_all(&half)?;
            let size = file.stream_position()?;
            file.set_len(size)?;
            return Ok((size, (half.len() <= end.len()).then(|| warning(None))));
        }
        let mut aside = None;
        if half.len() > 1 {
            let name = format!("{}.torn", self.current);
            let mut torn = folder.write(&name, Access::Append).map_err(io::Error::other)?;
            torn.write_all(&half)?;
            torn.sync_data()?;
            aside = Some(self.path(&name));
        }
        file.set_len(whole)?;
        Ok((whole, Some(warning(aside))))
    }

    /// Both parts, opened at one moment.
    pub(super) fn parts(&self) -> Result<Parts, StoreError> {
        let Some(folder) = self.sidecar.open()? else {
            return Ok(Parts { current: None, older: None, carried: None });
        };
        let current = self.open_part(&folder, &self.current)?;
        let older = self.open_part(&folder, &self.older)?;
        // A rotation in between may have turned the file opened first into the older part.
        let same = current.as_ref().zip(older.as_ref()).is_some_and(|(one, other)| is_same_file(one, other));
        // This file is opened last: a rotation in between repeats a line, and loses none.
        let carried = self.upkeep.carried.map_or(Ok(None), |(name, _)| folder.read(name))?;
        Ok(Parts { current, older: older.filter(|_| !same), carried })
    }

    /// Opens a part for reading, unless it states a version that this program does not know.
    fn open_part(&self, folder: &Folder, name: &str) -> Result<Option<File>, StoreError> {
        let file = folder.read(name)?;
        let (version, known) = (file.as_ref().map(|file| head_of(file).journal), self.upkeep.version);
        match version.zip(known).filter(|(version, known)| version > known) {
            Some((version, known)) => {
                Err(StoreError::NewerFormat { path: self.path(name), line: 1, version, known })
            }
            None => Ok(file),
        }
    }

    /// The files with their names, the oldest lines first. `true` for a file in which copies of lines are passed over.
    fn in_order<'a>(&'a self, parts: &'a mut Parts) -> [(Option<&'a mut File>, &'a str, bool); 3] {
        let Parts { current, older, carried } = parts;
        let (has_carried, has_before) = (carried.is_some(), carried.is_some() || older.is_some());
        [
            (carried.as_mut(), self.carried_name(), false),
            (older.as_mut(), &*self.older, has_carried),
            (current.as_mut(), &*self.current, has_before),
        ]
    }

    /// The path of the part that is written to.
    pub(super) fn current_path(&self) -> PathBuf {
        self.path(&self.current)
    }

    /// The facts about the part that is written to; `None` where there is none.
    pub(super) fn current_facts(&self) -> Option<Facts> {
        self.sidecar.open().ok()??.facts(&self.current).ok()?
    }

    fn carried_name(&self) -> &'static str {
        self.upkeep.carried.map_or("", |(name, _)| name)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.sidecar.folder().join(name)
    }
}

/// True if a line is the first one of a file, or a copy that an earlier version made of a line in a file before it.
pub(super) fn is_passed_over(line: &[u8], skip_copies: bool) -> bool {
    line.starts_with(HEAD) || skip_copies && line.ends_with(COPY)
}

/// Longest first line in bytes.
const MAX_HEAD: usize = 200;

/// The first line of a file, which is at its beginning then.
pub(crate) fn head_of(mut file: &File) -> Head {
    let mut start = Vec::with_capacity(MAX_HEAD);
    let read = file.seek(SeekFrom::Start(0)).and_then(|_| file.take(MAX_HEAD as u64).read_to_end(&mut start));
    let read = read.and_then(|_| file.seek(SeekFrom::Start(0)));
    let line =
        start.split(|byte| *byte == b'\n').next().filter(|line| read.is_ok() && line.starts_with(HEAD));
    line.and_then(|line| serde_json::from_slice(line).ok()).unwrap_or_default()
}

/// Offset of the end of the last whole line.
pub(super) fn end_of_whole_lines(file: &mut File) -> io::Result<u64> {
    let mut position = file.seek(SeekFrom::End(0))?;
    let mut block = Vec::with_capacity(SMALL_BLOCK_SIZE as usize);
    while position > 0 {
        let start = position.saturating_sub(SMALL_BLOCK_SIZE);
        file.seek(SeekFrom::Start(start))?;
        block.clear();
        (&*file).take(position - start).read_to_end(&mut block)?;
        if let Some(newline) = memchr::memrchr(b'\n', &block) {
            return Ok(start + newline as u64 + 1);
        }
        position = start;
    }
    Ok(0)
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
