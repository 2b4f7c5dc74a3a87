//! The line scan: which lines of a file count, and which are hidden in a code fence or a comment.
//!
//! This one scan decides where sections begin, for readers and writers. A fence or comment that is never closed hides nothing: at
//! the end of the input the scan goes back behind its opening line and continues as if that line were
//! plain text. Each kind of opening line is given up at most once per length, so hostile input costs no
//! more than a few passes.

use std::iter;
use std::ops::Range;

use memchr::{memchr, memmem};

/// Some programs put this mark at the start of a file; it belongs to no line.
pub const BYTE_ORDER_MARK: char = '\u{FEFF}';

/// True if a line with that first byte is plain text: it starts no section, opens no fence and no comment, and is no
/// marker of a merge conflict.
#[inline]
fn is_plain_start(first: u8) -> bool {
    !matches!(first, b'#' | b'`' | b'~' | b'<' | b'>' | b'|' | b' ')
}

/// An event of the scan.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// A line that counts, and its offset.
    Visible(u64, &'a [u8]),
    /// A line within a fence or comment, or one that opens or closes it, and its offset.
    Hidden(u64, &'a [u8]),
    /// The fence or comment opened at `opener` is never closed: that line and all lines from `resume` on,
    /// which were reported as hidden, are not. The scan continues at `resume`.
    Unclosed {
        /// Offset of the opening line.
        opener: u64,
        /// Offset of the line after it.
        resume: u64,
    },
}

/// Reports each line of a text, without its line feed.
pub fn walk(text: &[u8], mut report: impl FnMut(Event<'_>)) {
    let mut scan = LineScan::default();
    let mut position = 0;
    loop {
        while position < text.len() {
            let rest = &text[position..];
            let length = memchr(b'\n', rest).unwrap_or(rest.len());
            report(scan.read(position as u64, &rest[..length]));
            position += length + 1;
        }
        let Some((opener, resume)) = scan.end() else { return };
        report(Event::Unclosed { opener, resume: resume.unwrap_or(u64::MAX) });
        let Some(resume) = resume else { return };
        position = usize::try_from(resume).expect("an offset into memory fits");
    }
}

/// The line scan, one line at a time.
#[derive(Default)]
pub struct LineScan {
    open: Option<Open>,
    /// Blocks that are known to stay unclosed, one of each kind.
    unclosed: Vec<Block>,
}

impl LineScan {
    /// Decides whether the next line is visible or hidden; `offset` is where it starts, `line` has no
    /// line feed.
    #[inline]
    pub fn read<'a>(&mut self, offset: u64, line: &'a [u8]) -> Event<'a> {
        if let Some(current) = &mut self.open {
            current.resume.get_or_insert(offset);
            if current.block.is_closed_by(line) {
                self.open = None;
            }
            return Event::Hidden(offset, line);
        }
        match Block::opened_by(first_line_without_bom(offset, line)) {
            Some(block) if !self.unclosed.iter().any(|known| known.implies_unclosed(block)) => {
                if block != Block::Comment || !block.is_closed_by(line) {
                    self.open = Some(Open { block, opener: offset, resume: None });
                }
                Event::Hidden(offset, line)
            }
            _ => Event::Visible(offset, line),
        }
    }

    /// To be called at the end of the input. `Some((opener, resume))` where a block is still open: the
    /// line at `opener` is visible, and the scan goes on with the line at `resume`, where there is one.
    pub fn end(&mut self) -> Option<(u64, Option<u64>)> {
        let open = self.open.take()?;
        self.unclosed.retain(|known| !open.block.implies_unclosed(*known));
        self.unclosed.push(open.block);
        Some((open.opener, open.resume))
    }
}

/// The first line of a file without its byte order mark; any other line as it is.
pub fn first_line_without_bom(offset: u64, line: &[u8]) -> &[u8] {
    if offset == 0 { line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line) } else { line }
}

/// An open fence or comment.
struct Open {
    block: Block,
    opener: u64,
    resume: Option<u64>,
}

/// A block that hides lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Block {
    /// A code fence: its character and length.
    Fence(u8, usize),
    /// An HTML comment.
    Comment,
}

impl Block {
    /// The block that a line opens: indented by three spaces at most, as in CommonMark.
    #[inline]
    pub(crate) fn opened_by(line: &[u8]) -> Option<Block> {
        if line.first().is_none_or(|&first| is_plain_start(first) || first == b'#') {
            return None;
        }
        let line = unindent(line)?;
        if line.starts_with(b"<!--") {
            return Some(Block::Comment);
        }
        let mark = *line.first()?;
        if !matches!(mark, b'`' | b'~') {
            return None;
        }
        let length = line.iter().take_while(|&&byte| byte == mark).count();
        let info = &line[length..];
        let valid = length >= 3 && (mark == b'~' || memchr(b'`', info).is_none());
        valid.then_some(Block::Fence(mark, length))
    }

    /// True if another block stays unclosed wherever this one does: one that needs the same end or a
    /// longer one.
    pub(crate) fn implies_unclosed(self, other: Block) -> bool {
        match (self, other) {
            (Block::Comment, Block::Comment) => true,
            (Block::Fence(mark, length), Block::Fence(same, longer)) => mark == same && length <= longer,
            _ => false,
        }
    }

    /// True if a line ends the block. A comment may end on the line that opens it.
    pub(crate) fn is_closed_by(self, line: &[u8]) -> bool {
        match self {
            Block::Comment => memmem::find(line, b"-->").is_some(),
            Block::Fence(mark, length) => {
                let Some(line) = unindent(line) else { return false };
                let run = line.iter().take_while(|&&byte| byte == mark).count();
                run >= length && line[run..].iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
            }
        }
    }
}

/// A line of a text and whether it is hidden.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its bytes, with line ending.
    pub range: Range<usize>,
    /// True if it is within a fence or comment.
    pub hidden: bool,
}

impl Line {
    /// The line without its line ending.
    pub fn text<'a>(&self, source: &'a str) -> &'a str {
        let line = &source[self.range.clone()];
        let line = line.strip_suffix('\n').unwrap_or(line);
        line.strip_suffix('\r').unwrap_or(line)
    }
}

/// All lines of a text.
pub fn lines(text: &str) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    walk(text.as_bytes(), |event| match event {
        Event::Visible(offset, line) => lines.push(line_at(text, offset, line, false)),
        Event::Hidden(offset, line) => lines.push(line_at(text, offset, line, true)),
        Event::Unclosed { opener, resume } => {
            while lines.last().is_some_and(|line| line.range.start as u64 >= resume) {
                lines.pop();
            }
            if let Some(line) = lines.last_mut() {
                debug_assert_eq!(line.range.start as u64, opener);
                line.hidden = false;
            }
        }
    });
    lines
}

fn line_at(text: &str, offset: u64, line: &[u8], hidden: bool) -> Line {
    let start = usize::try_from(offset).expect("an offset into memory fits");
    let end = (start + line.len() + 1).min(text.len());
    Line { range: start..end, hidden }
}

/// The ranges of the lines of a part of a text, each with its line feed.
pub(crate) fn line_ranges(text: &[u8], part: Range<usize>) -> impl Iterator<Item = Range<usize>> + Clone {
    let mut start = part.start;
    iter::from_fn(move || {
        let line = start..line_end(text, start).min(part.end);
        start = line.end;
        (!line.is_empty()).then_some(line)
    })
}

/// The end of the line that holds an offset, with its line feed.
pub(crate) fn line_end(text: &[u8], offset: usize) -> usize {
    memchr(b'\n', &text[offset..]).map_or(text.len(), |at| offset + at + 1)
}

/// The line without its indentation of at most three spaces; `None` if it is indented deeper.
pub(crate) fn unindent(line: &[u8]) -> Option<&[u8]> {
    let spaces = line.iter().take_while(|&&byte| byte == b' ').count();
    (spaces <= 3).then(|| &line[spaces..])
}

/// The level of a `#` heading at column 0.
#[inline]
pub(crate) fn heading_level(line: &[u8]) -> Option<usize> {
    if line.first() != Some(&b'#') {
        return None;
    }
    let level = line.iter().take_while(|&&byte| byte == b'#').count();
    let delimited = matches!(line.get(level), None | Some(b' ' | b'\t' | b'\r' | b'\n'));
    (level <= 6 && delimited).then_some(level)
}

/// Start of the line with which git opens a conflict that it could not merge.
pub const CONFLICT_OPEN: &[u8] = b"<<<<<<< ";
/// Start of the line that closes it.
pub const CONFLICT_CLOSE: &[u8] = b">>>>>>> ";
/// Start of the line before what both sides had.
pub const CONFLICT_BASE: &[u8] = b"||||||| ";

/// True if a line, at column 0 and not hidden, is one by which a conflict is recognised.
pub fn is_conflict_marker(line: &[u8]) -> bool {
    [CONFLICT_OPEN, CONFLICT_CLOSE, CONFLICT_BASE].iter().any(|mark| line.starts_with(mark))
}

/// True if a line starts or ends a section: a level-1 or level-2 heading at column 0.
#[inline]
pub fn is_section_boundary(line: &[u8]) -> bool {
    heading_level(line).is_some_and(|level| level <= 2)
}

/// True if a line, without its line ending, goes on behind a carriage return, with which old Macs ended lines.
pub(crate) fn has_lone_return(line: &str) -> bool {
    memchr(b'\r', line.as_bytes()).is_some()
}

/// True if a line has only spaces and tabs.
pub(crate) fn is_blank(line: impl AsRef<[u8]>) -> bool {
    line.as_ref().iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}

/// True if a line is a thematic break: three or more `-`, `*` or `_`, with white space between them.
pub(crate) fn is_thematic_break(line: &str) -> bool {
    let Some(line) = unindent(line.as_bytes()) else { return false };
    let Some(&mark @ (b'-' | b'*' | b'_')) = line.first() else { return false };
    line.iter().all(|&byte| byte == mark || matches!(byte, b' ' | b'\t' | b'\r'))
        && line.iter().filter(|&&byte| byte == mark).count() >= 3
}

/// Line numbers of a text, for many look-ups.
#[derive(Debug)]
pub struct LineNumbers {
    ends: Vec<usize>,
}

impl LineNumbers {
    /// The line numbers of a text.
    pub fn of(text: &str) -> LineNumbers {
        LineNumbers { ends: memchr::memchr_iter(b'\n', text.as_bytes()).collect() }
    }

    /// Number of the line, from 1, that starts at or holds an offset.
    pub fn line(&self, offset: usize) -> usize {
        self.ends.partition_point(|&end| end < offset) + 1
    }
}

/// Number of the line, from 1, that starts at or holds an offset.
pub fn line_number(text: &str, offset: usize) -> usize {
    memchr::memchr_iter(b'\n', &text.as_bytes()[..offset.min(text.len())]).count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(text: &str) -> Vec<bool> {
        lines(text).iter().map(|line| line.hidden).collect()
    }

    #[test]
    fn a_fence_hides_its_lines() {
        assert_eq!(hidden("a\n```\n## b\n```\nc\n"), [false, true, true, true, false]);
        assert_eq!(hidden("~~~ x`y\n```\n~~~~\n```"), [true, true, true, false]);
    }

    #[test]
    fn an_unclosed_fence_hides_nothing() {
        assert_eq!(hidden("```\n## b\n"), [false, false]);
        assert_eq!(hidden("````\n```\nx\n```\ny"), [false, true, true, true, false]);
        assert_eq!(hidden("```"), [false]);
    }

    #[test]
    fn a_comment_hides_its_lines_and_may_close_at_once() {
        assert_eq!(hidden("<!-- a\n# b\n-->\nc"), [true, true, true, false]);
        assert_eq!(hidden("<!-- a -->\n# b"), [true, false]);
        assert_eq!(hidden("x <!-- a\n# b\n-->"), [false, false, false]);
        assert_eq!(hidden("<!-- a\n# b\n<!-- c"), [false, false, false]);
    }

    #[test]
    fn openers_that_never_close_cost_one_pass_a_length() {
        let text = "``` x\n".repeat(200_000);
        assert!(lines(&text).iter().all(|line| !line.hidden));
    }

    #[test]
    fn headings_stand_at_column_zero() {
        assert_eq!(heading_level(b"## Location 1: x"), Some(2));
        assert_eq!(heading_level(b"##"), Some(2));
        assert_eq!(heading_level(b"##\nmore lines"), Some(2));
        assert_eq!(heading_level(b" ## x"), None);
        assert_eq!(heading_level(b"##x"), None);
        assert_eq!(heading_level(b"####### x"), None);
    }
}
