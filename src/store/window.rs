//! Sections of a file, found without reading more than a window of it at a time.
//!
//! An open file and a question about headings enter; the texts of the sections wanted leave. The
//! same line scan decides that decides for writers. Memory stays at one window, whatever the file's
//! size; only a line longer than the window makes it grow.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use memchr::{memchr, memchr_iter};

use crate::document::scan::{self, Event, Lines, walk};

/// Smaller windows cost more calls; larger ones cost more fresh memory and leave the processor's cache.
pub(super) const WINDOW: usize = 64 * 1024;

/// The texts of all sections whose heading line is wanted, in the order of the file.
///
/// # Errors
///
/// When the file cannot be read, also because somebody cut it short meanwhile.
pub fn read_sections(file: File, wanted: impl FnMut(&[u8]) -> bool) -> io::Result<Vec<Vec<u8>>> {
    read_sections_through(WINDOW, file, wanted)
}

fn read_sections_through(
    window: usize,
    mut file: File,
    mut wanted: impl FnMut(&[u8]) -> bool,
) -> io::Result<Vec<Vec<u8>>> {
    let mut found: Vec<(u64, Option<u64>)> = Vec::new();
    let mut open = false;
    let size = usize::try_from(file.metadata()?.len()).unwrap_or(window);
    let mut window = Window::new(&mut file, size.saturating_add(1).min(window));
    walk(&mut window, |event| {
        let Event::Visible(offset, line) = event else { return };
        if line.first() != Some(&b'#') && offset != 0 {
            return;
        }
        let line = scan::first_line_without_bom(offset, line);
        if scan::is_section_boundary(line) {
            if let Some((_, end)) = found.last_mut().filter(|_| open) {
                *end = Some(offset);
            }
            open = wanted(line);
            if open {
                found.push((offset, None));
            }
        }
    })?;
    let length = window.offset + window.end as u64;
    found
        .into_iter()
        .map(|(start, end)| {
            let size = end.unwrap_or(length) - start;
            let mut text = vec![0; usize::try_from(size).map_err(io::Error::other)?];
            file.seek(SeekFrom::Start(start))?;
            file.read_exact(&mut text)?;
            if start == 0 && text.starts_with(b"\xEF\xBB\xBF") {
                text.drain(..3);
            }
            Ok(text)
        })
        .collect()
}

/// A part of a file in memory, moving forward.
pub(super) struct Window<'a> {
    file: &'a mut File,
    buffer: Vec<u8>,
    /// Where in the file the buffer begins.
    offset: u64,
    /// The bytes of the buffer that are not yet read as lines.
    start: usize,
    end: usize,
    at_end: bool,
}

impl Window<'_> {
    /// A window of that size: no more than a small file needs, for fresh memory is dear.
    pub(super) fn new(file: &mut File, size: usize) -> Window<'_> {
        Window { file, buffer: vec![0; size], offset: 0, start: 0, end: 0, at_end: false }
    }

    /// Passes over lines that begin like plain text, as far as the buffer holds them.
    #[inline]
    fn skip_plain(&mut self) {
        let rest = &self.buffer[self.start..self.end];
        // The first line of a file may begin with a byte order mark.
        let at_start = self.offset == 0 && self.start == 0;
        if at_start || !rest.first().is_some_and(|&first| scan::is_plain_start(first)) {
            return;
        }
        let mut next = 0;
        for newline in memchr_iter(b'\n', rest) {
            next = newline + 1;
            if !rest.get(next).is_some_and(|&first| scan::is_plain_start(first)) {
                break;
            }
        }
        self.start += next;
    }

    /// Reads on behind the bytes that are still to be used.
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

impl Lines for Window<'_> {
    type Error = io::Error;

    #[inline]
    fn next_line(&mut self, all: bool) -> io::Result<Option<(u64, &[u8])>> {
        if !all {
            self.skip_plain();
        }
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

    fn rewind(&mut self, offset: u64) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(offset))?;
        self.offset = offset;
        self.start = 0;
        self.end = 0;
        self.at_end = false;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;
    use crate::document::Document;
    use crate::types::Scope;

    fn file(text: &str) -> File {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(text.as_bytes()).expect("written");
        file.rewind().expect("at its start");
        file
    }

    #[test]
    fn windows_end_anywhere() {
        let filler = "x".repeat(100) + "\n";
        let long = "y".repeat(3 * WINDOW) + "\n";
        let text = format!(
            "# T\n{}## Location 5: A\na\n## Location 6: B\n{long}## Location 5: C\n{}c",
            filler.repeat(5000),
            filler.repeat(6000)
        );
        let found = read_sections(file(&text), |line| line.starts_with(b"## Location 5:")).expect("read");
        let lengths: Vec<usize> = found.iter().map(Vec::len).collect();
        assert_eq!(lengths, [17 + 2, 17 + 6000 * 101 + 1]);
        assert!(found[0].starts_with(b"## Location 5: A\na\n"));
    }

    #[test]
    fn an_unclosed_fence_sends_the_window_back() {
        let filler = "text\n".repeat(200_000);
        let text = format!("```\n## Location 5: A\n{filler}## Location 6: B\nb\n");
        let found = read_sections(file(&text), |line| line.starts_with(b"## Location 6:")).expect("read");
        assert_eq!(found, [b"## Location 6: B\nb\n".to_vec()]);
    }

    proptest! {
        #[test]
        fn the_window_finds_what_the_document_finds(
            lines in prop::collection::vec(prop::sample::select(vec![
                "## Location 1: A", "## Location 2: B", "# T", "text", "```", "<!--", "x -->", "", "\u{FEFF}", "## Notes\r",
                "   ~~~", "~~~~",
            ]), 0..20),
            window in 1_usize..40,
        ) {
            let text = lines.join("\n");
            let document = Document::parse(text.clone());
            let scope = Scope::Location(1);
            let expected: Vec<&str> = document.section_texts(&scope).collect();
            let found = read_sections_through(window, file(&text), |line| line.starts_with(b"## Location 1:"));
            let found = found.expect("read");
            let found: Vec<&str> = found.iter().map(|text| std::str::from_utf8(text).expect("text")).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
