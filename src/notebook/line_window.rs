//! Lines of a file, read through a buffer of one size.
//!
//! An open file enters, its lines leave with their offsets. Memory stays at the size of the buffer,
//! whatever the file's size; only a longer line makes it grow.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use memchr::{memchr, memchr_iter};

/// A usual size of the buffer: smaller ones cost more calls, larger ones more page faults, and they
/// leave the processor's cache.
pub(super) const WINDOW: usize = 64 * 1024;

/// The lines of a file from its start on.
pub(super) struct LineWindow<'a> {
    file: &'a File,
    buffer: Vec<u8>,
    /// Offset of the buffer in the file.
    offset: u64,
    /// The bytes of the buffer that are not yet read as lines.
    start: usize,
    end: usize,
    at_end: bool,
}

impl LineWindow<'_> {
    /// Starts at the file's position, which is its first byte. A buffer as large as a small file is
    /// enough, and fresh memory costs time.
    pub(super) fn new(file: &File, size: usize) -> LineWindow<'_> {
        LineWindow { file, buffer: vec![0; size], offset: 0, start: 0, end: 0, at_end: false }
    }

    /// The next line without its line feed, and the offset at which it starts.
    #[inline]
    pub(super) fn next_line(&mut self) -> io::Result<Option<(u64, &[u8])>> {
        let mut searched = 0;
        loop {
            let rest = &self.buffer[self.start + searched..self.end];
            if let Some(length) = memchr(b'\n', rest) {
                let start = self.start;
                self.start += searched + length + 1;
                let line = &self.buffer[start..self.start - 1];
                return Ok(Some((self.offset + start as u64, line)));
            }
            if self.at_end {
                let start = self.start;
                self.start = self.end;
                let line = &self.buffer[start..self.end];
                return Ok((!line.is_empty()).then_some((self.offset + start as u64, line)));
            }
            searched = self.end - self.start;
            self.fill()?;
        }
    }

    /// Skips lines by their first byte, as far as the buffer holds them; the first line of the file
    /// is never skipped.
    #[inline]
    pub(super) fn skip(&mut self, is_skipped: impl Fn(u8) -> bool) {
        let rest = &self.buffer[self.start..self.end];
        let at_start = self.offset == 0 && self.start == 0;
        if at_start || !rest.first().is_some_and(|&first| is_skipped(first)) {
            return;
        }
        let mut next = 0;
        for newline in memchr_iter(b'\n', rest) {
            next = newline + 1;
            if !rest.get(next).is_some_and(|&first| is_skipped(first)) {
                break;
            }
        }
        self.start += next;
    }

    /// Goes back to the line that starts at `offset`.
    pub(super) fn rewind(&mut self, offset: u64) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(offset))?;
        (self.offset, self.start, self.end, self.at_end) = (offset, 0, 0, false);
        Ok(())
    }

    /// Offset of the end of the bytes read so far: the file's length once there are no more lines.
    pub(super) fn end(&self) -> u64 {
        self.offset + self.end as u64
    }

    /// Reads more bytes after those that are not used yet.
    fn fill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.offset += self.start as u64;
        self.end -= self.start;
        self.start = 0;
        if self.end == self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        let read = loop {
            match self.file.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => break result?,
            }
        };
        self.end += read;
        self.at_end = read == 0;
        Ok(())
    }
}
