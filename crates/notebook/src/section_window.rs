//! Sections of a file, found without keeping the whole file in memory.
//!
//! An open file and a predicate on headings enter; the texts of the sections wanted leave. A file that is
//! not UTF-8, in which a merge left conflicts, or in which a heading is misread, is an error: it has to be
//! read whole. Reading a whole file of 10 MB costs a `recall` more than twice the time, one of 100 MB four times: most
//! of that is fresh memory.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::str::Utf8Error;

use memchr::{memchr, memchr_iter};

use memories_document::check::is_suspect_line;
use memories_document::scan::{self, Event, LineScan};
use memories_document::version::stated_version;
use memories_store::is_utf16;

/// Bytes read at a time: smaller buffers cost more calls, larger ones more page faults, and they leave
/// the processor's cache.
const WINDOW: usize = 64 * 1024;

/// The texts of all sections whose heading line is wanted, in the order of the file.
///
/// # Errors
///
/// When the file cannot be read, also because it was truncated meanwhile; when it is not UTF-8, or has the
/// marker of a conflict or a heading that is misread.
pub(super) fn read_sections(file: &File, wanted: impl FnMut(&[u8]) -> bool) -> io::Result<Vec<Vec<u8>>> {
    read_sections_through(WINDOW, file, wanted)
}

fn read_sections_through(
    window: usize,
    mut file: &File,
    wanted: impl FnMut(&[u8]) -> bool,
) -> io::Result<Vec<Vec<u8>>> {
    let mut reader = BufReader::with_capacity(window, Utf8Reader { file, begun: Vec::new() });
    let mut finder = SectionFinder {
        wanted,
        scan: LineScan::default(),
        in_scope: false,
        ranges: Vec::new(),
        is_open: false,
    };
    let mut offset = 0;
    let mut line = Vec::new();
    if is_utf16(reader.fill_buf()?) {
        return Err(io::ErrorKind::InvalidData.into());
    }
    loop {
        loop {
            // The first line of the file may begin with a byte order mark.
            if offset > 0 && finder.may_skip_plain_lines() {
                let skipped = length_of_plain_lines(reader.buffer());
                reader.consume(skipped);
                offset += skipped as u64;
            }
            let read = match memchr(b'\n', reader.buffer()) {
                Some(end) => {
                    finder.read(offset, &reader.buffer()[..end])?;
                    reader.consume(end + 1);
                    end + 1
                }
                // It ends behind the buffer.
                None => {
                    line.clear();
                    let read = reader.read_until(b'\n', &mut line)?;
                    if read == 0 {
                        break;
                    }
                    finder.read(offset, line.strip_suffix(b"\n").unwrap_or(&line))?;
                    read
                }
            };
            offset += read as u64;
        }
        let Some((_, Some(resume))) = finder.scan.end() else { break };
        offset = reader.seek(SeekFrom::Start(resume))?;
    }
    let length = offset;
    let read = |(start, end): (u64, Option<u64>)| {
        let size = end.unwrap_or(length) - start;
        let mut text = vec![0; usize::try_from(size).map_err(io::Error::other)?];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut text)?;
        if start == 0 && text.starts_with(b"\xEF\xBB\xBF") {
            text.drain(..3);
        }
        Ok(text)
    };
    finder.ranges.into_iter().map(read).collect()
}

/// Length of the whole lines at the start of a buffer that begin like plain text.
fn length_of_plain_lines(buffer: &[u8]) -> usize {
    let is_plain = |at: usize| buffer.get(at).is_some_and(|&first| scan::is_plain_start(first));
    let mut length = 0;
    if is_plain(0) {
        for newline in memchr_iter(b'\n', buffer) {
            length = newline + 1;
            if !is_plain(length) {
                break;
            }
        }
    }
    length
}

/// A file that is read as UTF-8: other bytes are an error.
struct Utf8Reader<'a> {
    file: &'a File,
    /// The beginning of a character whose other bytes are still to be read.
    begun: Vec<u8>,
}

impl Utf8Reader<'_> {
    fn check(&mut self, mut bytes: &[u8]) -> Result<(), Utf8Error> {
        while let Some((first, rest)) = bytes.split_first().filter(|_| !self.begun.is_empty()) {
            self.begun.push(*first);
            bytes = rest;
            match std::str::from_utf8(&self.begun) {
                Err(error) if error.error_len().is_some() => return Err(error),
                Err(_) => {}
                Ok(_) => self.begun.clear(),
            }
        }
        match std::str::from_utf8(bytes) {
            Err(error) if error.error_len().is_none() => self.begun.extend(&bytes[error.valid_up_to()..]),
            checked => drop(checked?),
        }
        Ok(())
    }
}

impl Read for Utf8Reader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        let is_cut = read == 0 && !self.begun.is_empty();
        if is_cut || self.check(&buffer[..read]).is_err() {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(read)
    }
}

impl Seek for Utf8Reader<'_> {
    /// To the start of a line.
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.begun.clear();
        self.file.seek(position)
    }
}

/// Finds the positions of the wanted sections, line by line.
struct SectionFinder<W> {
    wanted: W,
    scan: LineScan,
    /// True in a section of ours. Outside each line is looked at: an entry there belongs to a heading that is misread.
    in_scope: bool,
    /// From the heading to the next one; without an end as long as there is no next one.
    ranges: Vec<(u64, Option<u64>)>,
    is_open: bool,
}

impl<W: FnMut(&[u8]) -> bool> SectionFinder<W> {
    /// True if lines for which [`scan::is_plain_start`] holds decide nothing here.
    fn may_skip_plain_lines(&self) -> bool {
        self.in_scope && !self.scan.needs_every_line()
    }

    /// Reads a line. One that is a marker of a conflict, or may be misread, is an error.
    fn read(&mut self, offset: u64, line: &[u8]) -> io::Result<()> {
        let (offset, line) = match self.scan.read(offset, line) {
            Event::Visible(offset, line) => (offset, line),
            // The whole file is read, so that its reader is warned.
            Event::Hidden(_, line) if !self.in_scope && stated_version(line).is_some() => {
                return Err(io::ErrorKind::InvalidData.into());
            }
            _ => return Ok(()),
        };
        let text = scan::first_line_without_bom(offset, line);
        if scan::is_conflict_marker(text) || is_suspect_line(offset, line, &mut self.in_scope) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        if text.first() == Some(&b'#') && scan::is_section_boundary(text) {
            if let Some((_, end)) = self.ranges.last_mut().filter(|_| self.is_open) {
                *end = Some(offset);
            }
            self.is_open = (self.wanted)(text);
            if self.is_open {
                self.ranges.push((offset, None));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;
    use memories_document::Document;
    use memories_document::types::Scope;

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
        let found = read_sections(&file(&text), |line| line.starts_with(b"## Location 5:")).expect("read");
        let lengths: Vec<usize> = found.iter().map(Vec::len).collect();
        assert_eq!(lengths, [17 + 2, 17 + 6000 * 101 + 1]);
        assert!(found[0].starts_with(b"## Location 5: A\na\n"));
    }

    #[test]
    fn an_unclosed_fence_sends_the_window_back() {
        let filler = "text\n".repeat(200_000);
        let text = format!("```\n## Location 5: A\n{filler}## Location 6: B\nb\n");
        let found = read_sections(&file(&text), |line| line.starts_with(b"## Location 6:")).expect("read");
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
            mark in prop::sample::select(vec!["", "\u{FEFF}"]),
        ) {
            let text = mark.to_owned() + &lines.join("\n");
            let document = Document::parse(text.clone());
            let scope = Scope::Location(1);
            let expected: Vec<&str> = document.section_texts(&scope).collect();
            let found = read_sections_through(window, &file(&text), |line| line.starts_with(b"## Location 1:"));
            let found = found.expect("read");
            let found: Vec<&str> = found.iter().map(|text| std::str::from_utf8(text).expect("text")).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
