//! The tree: a source text, its blocks, and how they become a text again.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use foldhash::fast::FixedState;
use memchr::memmem;

use crate::error::DocumentError;
use crate::grammar::{Heading, heading_of};
use crate::parser::{ParsedSection, parse_section};
use crate::scan::{self, BYTE_ORDER_MARK, Event, line_number, walk};
use crate::section::Section;
use crate::splice::{self, Style};
use crate::text::Fences;
use crate::types::{Scope, Witnesses};

/// Beyond this many edited blocks the text is built anew; up to it, bytes are moved within the source.
const MAX_MOVES: usize = 8;

/// The first line of a new file.
pub(super) const FILE_TITLE: &str = "# Location Memories\n";

/// A parsed file.
#[derive(Debug, Clone)]
pub struct Document {
    source: String,
    blocks: Vec<Block>,
    style: Style,
}

/// The lines from one section heading to the next.
#[derive(Debug, Clone)]
pub(super) struct Block {
    /// `None` where the heading names no scope.
    pub(super) heading: Option<Heading>,
    text: BlockText,
    /// The parsed text, computed on first use.
    parsed: OnceLock<Box<ParsedSection>>,
}

/// The text of a block. A copy of it is cheap.
#[derive(Debug, Clone)]
pub(super) enum BlockText {
    /// A range of the source.
    Source(Range<usize>),
    /// A text of its own.
    Edited(Arc<String>),
}

impl BlockText {
    /// The text itself; `source` is the text of its document.
    pub(super) fn of<'a>(&'a self, source: &'a str) -> &'a str {
        match self {
            BlockText::Source(range) => &source[range.clone()],
            BlockText::Edited(text) => text,
        }
    }
}

impl Block {
    fn from_source(source: &str, range: Range<usize>) -> Block {
        let heading = heading_of(&source[range.clone()]);
        Block { heading, text: BlockText::Source(range), parsed: OnceLock::new() }
    }

    /// A block with a text of its own.
    pub(super) fn new(text: String) -> Block {
        let heading = heading_of(&text);
        Block { heading, text: BlockText::Edited(Arc::new(text)), parsed: OnceLock::new() }
    }

    /// The text of the node; `source` is the text of its document.
    pub(super) fn text<'a>(&'a self, source: &'a str) -> &'a str {
        self.text.of(source)
    }

    /// The same, to be kept.
    pub(super) fn kept_text(&self) -> &BlockText {
        &self.text
    }

    /// Its parsed text.
    pub(super) fn parsed(&self, source: &str) -> &ParsedSection {
        self.parsed.get_or_init(|| Box::new(parse_section(self.text(source))))
    }

    /// Replaces its text and discards what was parsed from the old one.
    pub(super) fn set_text(&mut self, text: String) {
        self.text = BlockText::Edited(Arc::new(text));
        self.parsed = OnceLock::new();
    }

    fn is_edited(&self) -> bool {
        matches!(self.text, BlockText::Edited(_))
    }

    /// Offset of its first byte in the source; `None` where it was edited.
    pub(super) fn source_start(&self) -> Option<usize> {
        match &self.text {
            BlockText::Source(range) => Some(range.start),
            BlockText::Edited(_) => None,
        }
    }
}

impl Document {
    /// Cuts a file into blocks. None of them is parsed yet.
    pub fn parse(source: String) -> Document {
        Document::parse_seeing(source, |_, _| ())
    }

    /// As [`Document::parse`]: `see` gets each event of the scan, with the number of the block in which its line stands.
    pub(super) fn parse_seeing(source: String, mut see: impl FnMut(usize, Event<'_>)) -> Document {
        let mut starts: Vec<usize> = Vec::new();
        let mut unclosed: Vec<u64> = Vec::new();
        let bytes = source.as_bytes();
        // A byte order mark is a block of its own: it is part of no line, and nothing is written before it.
        let mark = if source.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 };
        let mut block = usize::from(mark > 0);
        walk(bytes, |event| {
            match event {
                Event::Visible(offset, line) => {
                    let is_start = scan::is_section_boundary(scan::first_line_without_bom(offset, line));
                    // The first line begins the first block, whatever it is.
                    if is_start && offset > 0 {
                        starts.push(usize::try_from(offset).expect("an offset into memory fits"));
                        block += 1;
                    }
                }
                Event::Hidden(..) => {}
                Event::Unclosed { opener, .. } => unclosed.push(opener),
            }
            see(block, event);
        });
        let is_comment = |&&offset: &&u64| bytes[offset as usize..].trim_ascii_start().starts_with(b"<!--");
        let open_comment = unclosed.iter().any(|offset| is_comment(&offset));
        let fences = unclosed.len() > usize::from(open_comment);
        let style = Style {
            line_ending: if first_ending_is_crlf(&source) { "\r\n" } else { "\n" },
            fences: if fences { Fences::Escape } else { Fences::Keep },
            open_comment,
        };
        if mark < source.len() {
            starts.insert(0, mark);
        }
        if mark > 0 {
            starts.insert(0, 0);
        }
        let ends = starts.iter().skip(1).copied().chain([source.len()]);
        let ranges = starts.iter().copied().zip(ends);
        let blocks = ranges.map(|(start, end)| Block::from_source(&source, start..end)).collect();
        Document { blocks, style, source }
    }

    /// The file's text. Its sections are checked to be read back as they were meant.
    ///
    /// # Errors
    ///
    /// [`DocumentError::Misread`] where they would not be.
    pub fn into_text(self) -> Result<String, DocumentError> {
        if !self.is_edited() {
            return Ok(self.source);
        }
        let meant = self.section_starts();
        let reread = Document::parse(self.print());
        let read = reread.section_starts();
        match (0..meant.len().max(read.len())).find(|&at| meant.get(at) != read.get(at)) {
            Some(at) => {
                let line = line_number(&reread.source, *read.get(at).unwrap_or_else(|| &meant[at]));
                Err(DocumentError::Misread { line })
            }
            None => Ok(reread.source),
        }
    }

    /// Offsets of the headings at which blocks begin.
    fn section_starts(&self) -> Vec<usize> {
        let begins_section = |block: &Block| scan::is_section_boundary(block.text(&self.source).as_bytes());
        self.placed_blocks().filter(|(_, block)| begins_section(block)).map(|(start, _)| start).collect()
    }

    /// Each block with its offset.
    fn placed_blocks(&self) -> impl Iterator<Item = (usize, &Block)> {
        self.blocks.iter().scan(0, |end, block| {
            let start = *end;
            *end += block.text(&self.source).len();
            Some((start, block))
        })
    }

    /// The source with the edited blocks in their places. For few of them it is not copied: fresh
    /// memory for a large file costs more than moving what follows an edit.
    fn print(self) -> String {
        if self.blocks.iter().filter(|block| block.is_edited()).count() > MAX_MOVES {
            return self.blocks.iter().map(|block| block.text(&self.source)).collect();
        }
        let (mut end, mut text) = (self.source.len(), self.source);
        let mut new = String::new();
        for block in self.blocks.iter().rev() {
            match &block.text {
                BlockText::Edited(edited) => new.insert_str(0, edited),
                BlockText::Source(range) => {
                    // Replace the bytes between this block and the next unedited one by the edited blocks.
                    text.replace_range(range.end..end, &new);
                    new.clear();
                    end = range.start;
                }
            }
        }
        text.replace_range(..end, &new);
        text
    }

    /// True if any block was edited or removed.
    pub fn is_edited(&self) -> bool {
        let unedited =
            self.blocks.iter().filter(|block| !block.is_edited()).map(|block| block.text(&self.source).len());
        unedited.sum::<usize>() != self.source.len() || self.blocks.iter().any(Block::is_edited)
    }

    /// True if any section holds these words, as they are written in the file.
    pub fn holds(&self, words: &str) -> bool {
        let finder = memmem::Finder::new(words);
        self.blocks.iter().any(|block| finder.find(block.text(&self.source).as_bytes()).is_some())
    }

    /// Scopes and names of all sections, in the order of the file.
    pub fn headings(&self) -> impl Iterator<Item = &Heading> + Clone {
        self.blocks.iter().filter_map(|block| block.heading.as_ref())
    }

    /// Scope and line, from 1, of each section's heading.
    pub fn heading_lines(&self) -> impl Iterator<Item = (&Scope, usize)> {
        let mut line = 1;
        self.blocks.iter().filter_map(move |block| {
            let at = line;
            line += memchr::memchr_iter(b'\n', block.text(&self.source).as_bytes()).count();
            Some((&block.heading.as_ref()?.scope, at))
        })
    }

    /// Offset of each section's heading.
    pub fn heading_offsets(&self) -> impl Iterator<Item = usize> {
        self.placed_blocks().filter(|(_, block)| block.heading.is_some()).map(|(start, _)| start)
    }

    /// The heading of a block.
    pub fn heading_at(&self, block: usize) -> Option<&Heading> {
        self.blocks[block].heading.as_ref()
    }

    /// Each section with its heading, as it stands in the file.
    pub fn placed_texts(&self) -> impl Iterator<Item = (&Heading, &str)> {
        self.blocks.iter().filter_map(|block| Some((block.heading.as_ref()?, block.text(&self.source))))
    }

    /// The text of each section of a scope as it stands in the file.
    pub fn section_texts<'a>(&'a self, scope: &'a Scope) -> impl Iterator<Item = &'a str> {
        self.blocks_of(scope).map(|at| self.block_text(at))
    }

    /// The sections of a scope, read as one; `None` where it has no section.
    pub fn section(&self, scope: &Scope) -> Option<Section> {
        self.read_scope(scope, true)
    }

    /// The section without its memories, which may be many: evidence, visits, notes.
    pub fn section_without_memories(&self, scope: &Scope) -> Option<Section> {
        self.read_scope(scope, false)
    }

    /// The section without its memories, with the evidence that all of these know. Empty where the scope has no section.
    pub fn evidence_known_to(&self, scope: &Scope, all: &Witnesses) -> Section {
        let mut section = self.section_without_memories(scope).unwrap_or_default();
        section.keep_known(scope, |witnesses| witnesses.cover(all));
        section
    }

    fn read_scope(&self, scope: &Scope, with_memories: bool) -> Option<Section> {
        let blocks: Vec<usize> = self.blocks_of(scope).collect();
        let parsed = |at| Cow::Borrowed(self.parsed(at));
        (!blocks.is_empty()).then(|| self.read_blocks(&blocks, with_memories, parsed))
    }

    /// Every scope with its sections and memories, in the order of the file.
    pub fn sections(&self) -> Vec<(Scope, Section)> {
        self.each_section().collect()
    }

    /// The same, one at a time. The parsed values are not cached, so that a large file is in memory once.
    pub fn each_section(&self) -> impl Iterator<Item = (Scope, Section)> {
        let mut blocks: HashMap<&Scope, Vec<usize>, FixedState> = HashMap::default();
        for (at, scope) in self.scoped_blocks() {
            blocks.entry(scope).or_default().push(at);
        }
        self.headings().filter_map(move |heading| {
            let of_scope = blocks.remove(&heading.scope)?;
            Some((heading.scope.clone(), self.section_in(&of_scope)))
        })
    }

    /// The numbers of the blocks that have a scope, each with it, in the order of the file.
    pub fn scoped_blocks(&self) -> impl Iterator<Item = (usize, &Scope)> {
        let blocks = self.blocks.iter().enumerate();
        blocks.filter_map(|(at, block)| Some((at, &block.heading.as_ref()?.scope)))
    }

    /// The sections in these blocks, which are all of one scope, read as one. The parsed values are not cached.
    pub fn section_in(&self, blocks: &[usize]) -> Section {
        self.read_blocks(blocks, true, |at| match self.blocks[at].parsed.get() {
            Some(parsed) => Cow::Borrowed(&**parsed),
            None => Cow::Owned(parse_section(self.block_text(at))),
        })
    }

    fn read_blocks<'a>(
        &'a self,
        blocks: &[usize],
        with_memories: bool,
        parsed: impl Fn(usize) -> Cow<'a, ParsedSection>,
    ) -> Section {
        let mut section = Section::default();
        let mut scope = &Scope::World;
        for &at in blocks {
            let (parsed, text) = (parsed(at), self.block_text(at));
            if with_memories {
                section.memories.extend(parsed.entries.iter().map(|entry| entry.read(text)));
            }
            let heading = self.blocks[at].heading.as_ref();
            section.append(heading, &parsed);
            scope = heading.map_or(scope, |heading| &heading.scope);
        }
        section.keep_latest(scope);
        section
    }

    /// Its blocks in their order: the scope that the heading of each names, and its text, heading and all. Together
    /// they are the text of the file.
    pub fn pieces(&self) -> impl Iterator<Item = (Option<&Scope>, &str)> {
        self.blocks
            .iter()
            .map(|block| (block.heading.as_ref().map(|heading| &heading.scope), block.text(&self.source)))
    }

    /// The text that was parsed.
    pub fn source(&self) -> &str {
        &self.source
    }

    pub(super) fn style(&self) -> Style {
        self.style
    }

    /// True if a comment or a code fence is never closed.
    pub(super) fn is_unclosed(&self) -> bool {
        self.style.open_comment || self.style.fences == Fences::Escape
    }

    pub(super) fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The blocks, for edits of the list itself.
    pub(super) fn blocks_mut(&mut self) -> &mut Vec<Block> {
        &mut self.blocks
    }

    pub(super) fn blocks_of<'a>(&'a self, scope: &'a Scope) -> impl Iterator<Item = usize> + 'a {
        let of_scope =
            move |block: &Block| block.heading.as_ref().is_some_and(|heading| heading.scope == *scope);
        self.blocks.iter().enumerate().filter(move |(_, block)| of_scope(block)).map(|(at, _)| at)
    }

    pub(super) fn block_text(&self, at: usize) -> &str {
        self.blocks[at].text(&self.source)
    }

    pub(super) fn parsed(&self, at: usize) -> &ParsedSection {
        self.blocks[at].parsed(&self.source)
    }

    /// Takes ranges out of a block's text.
    pub(super) fn remove_ranges(&mut self, at: usize, mut gone: Vec<Range<usize>>) {
        if gone.is_empty() {
            return;
        }
        gone.sort_by_key(|range| range.start);
        let changes: Vec<_> = gone.into_iter().map(|range| (range, String::new())).collect();
        let text = splice::splice_all(self.block_text(at), &changes, self.style);
        self.replace(at, text);
    }

    /// Replaces a block's text, set off from the next block by a blank line.
    pub(super) fn replace(&mut self, at: usize, mut text: String) {
        let last = at + 1 == self.blocks.len();
        if !last && !splice::ends_with_blank_line(&text) {
            text.push_str(self.style.line_ending);
        }
        self.blocks[at].set_text(text);
    }
}

fn first_ending_is_crlf(text: &str) -> bool {
    memchr::memchr(b'\n', text.as_bytes()).is_some_and(|at| at > 0 && text.as_bytes()[at - 1] == b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parser::PARSED;
    use crate::splice::EntryEdit;
    use crate::types::{Category, Memory};

    fn parsed_by(work: impl FnOnce()) -> usize {
        let before = PARSED.get();
        work();
        PARSED.get() - before
    }

    #[test]
    fn a_section_is_parsed_once_for_each_version_of_its_text() {
        let place = |id: u64| format!("## Location {id}: A\n\n### Memories\n\n**[NOTE] a**\nx\n\n---\n\n");
        let source = (1..100).map(place).collect::<String>();
        let mut document = Document::parse(String::new());
        assert_eq!(parsed_by(|| document = Document::parse(source)), 0);
        let scope = Scope::Location(50);
        let memory = Memory::new(Category::note(), "b", "y");
        assert_eq!(parsed_by(|| document.add(&scope, "", &memory).unwrap()), 1);
        let revise = |document: &mut Document| {
            assert_eq!(document.section(&scope).unwrap().memories.len(), 2);
            let mut entry = document.entry_mut(&scope, 1).unwrap();
            entry.edit(EntryEdit::Supersede(None));
            assert!(!entry.memory().is_live());
            entry.revise_line(&memory);
        };
        assert_eq!(parsed_by(|| revise(&mut document)), 2);
        assert_eq!(parsed_by(|| assert_eq!(document.section(&scope), document.section(&scope))), 1);
        assert_eq!(parsed_by(|| drop(document.into_text().unwrap())), 0);
    }
}
