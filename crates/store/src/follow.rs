//! The lines of a log as they are written.
//!
//! A log enters; its last lines leave, and each poll gives the lines written since. The file's identity shows
//! a rotation. A line counts once its line feed is there. Nothing waits here: how often to poll is the
//! caller's decision.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use crate::error::StoreError;
use crate::log::{LineLog, Parts, end_of_whole_lines, is_passed_over, text_of};
use crate::platform;

/// The place in a log up to which it has been read.
#[derive(Debug)]
pub struct Follower {
    log: LineLog,
    /// The part that was current when it was opened.
    current: Option<File>,
    /// Offset behind the last whole line that was read.
    offset: u64,
}

impl Follower {
    /// The last of the lines that are wanted, as [`LineLog::tail`] gives them, and a follower for those
    /// still to come.
    ///
    /// # Errors
    ///
    /// When the log cannot be read.
    pub(crate) fn start(
        log: LineLog,
        count: usize,
        wanted: impl FnMut(&str) -> bool,
    ) -> Result<(Vec<String>, Follower), StoreError> {
        let mut parts = log.parts()?;
        let end = parts.current.as_mut().map(end_of_whole_lines).transpose();
        let end = end.map_err(StoreError::read(&log.current_path()))?;
        let lines = log.tail_of(&mut parts, end, count, wanted)?;
        let Parts { current, .. } = parts;
        let offset = end.unwrap_or(0);
        Ok((lines, Follower { log, current, offset }))
    }

    /// The lines that were written since, oldest first, as they stand; none where nothing was.
    ///
    /// # Errors
    ///
    /// When the log cannot be read.
    pub fn poll(&mut self) -> Result<Vec<String>, StoreError> {
        let mut lines = Vec::new();
        let failed = |log: &LineLog, source| StoreError::Read { path: log.current_path(), source };
        // Check for a rotation before reading: once rotated, the old part gets no more lines.
        let rotated = self.is_rotated();
        self.read_on(&mut lines).map_err(|source| failed(&self.log, source))?;
        if rotated {
            let Parts { current, older, .. } = self.log.parts()?;
            // After two rotations, the older part came and went between two polls.
            let missed = older.filter(|older| {
                !self.current.as_ref().is_some_and(|read| platform::is_same_file(read, older))
            });
            for part in [missed, current].into_iter().flatten() {
                (self.current, self.offset) = (Some(part), 0);
                self.read_on(&mut lines).map_err(|source| failed(&self.log, source))?;
            }
        }
        Ok(lines)
    }

    /// True if another file is current now. Between the two renames of a rotation there is none, and
    /// the answer comes with a later poll.
    fn is_rotated(&self) -> bool {
        let Some(present) = self.log.current_facts() else { return false };
        let Some(current) = &self.current else { return true };
        match current.metadata() {
            Ok(opened) if present.identity.is_some() => platform::identity(&opened) != present.identity,
            _ => present.size < self.offset,
        }
    }

    fn read_on(&mut self, lines: &mut Vec<String>) -> io::Result<()> {
        let Some(file) = &mut self.current else { return Ok(()) };
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(self.offset))?;
        file.read_to_end(&mut bytes)?;
        let Some(last) = memchr::memrchr(b'\n', &bytes) else { return Ok(()) };
        self.offset += last as u64 + 1;
        let whole = bytes[..last].split(|byte| *byte == b'\n');
        let new = whole.filter(|line| !is_passed_over(line, false));
        lines.extend(new.map(|line| text_of(line).into_owned()));
        Ok(())
    }
}
