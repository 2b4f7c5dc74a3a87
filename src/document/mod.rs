//! The file as text and as sections: parse, locate, edit, print.
//!
//! A text enters and is cut into blocks, each from one level-1 or level-2 heading to the next. A
//! block that no edit touches leaves byte for byte as it came; an edited one is spliced. So printing
//! what was parsed gives the same bytes, whatever the text. Nothing here reads or writes files.

mod bulk;
pub mod compare;
pub mod edit;
pub mod encoding;
pub mod fields;
pub mod format;
pub mod grammar;
pub mod inspect;
pub mod link;
mod nearest;
pub mod outline;
pub mod problem;
pub mod references;
pub mod scan;
pub mod section;
mod sections;
mod stored;
pub mod text;
mod view;
pub mod viewer;

use std::ops::Range;

use crate::document::edit::Style;
use crate::document::grammar::{Heading, Visits};
use crate::document::scan::{Event, TextLines, walk};
use crate::document::section::{Tried, parse_section};
use crate::document::text::{Fences, stored_line};
use crate::types::{Attempt, Memory, Reference, Scope, Status, fold_action, same_title};

pub use bulk::Addition;
pub use nearest::nearest;
pub use stored::stored;
pub use view::Section;

const BYTE_ORDER_MARK: char = '\u{FEFF}';

/// From more edited blocks on, a text is copied together instead of moved about.
const MOST_MOVES: usize = 8;

/// The first line of a new file.
pub const FILE_TITLE: &str = "# Location Memories\n";

/// Why an edit cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// A comment that is open since `line` would end at a `-->` of the new text.
    #[error(
        "the comment opened in line {line} is never closed, and the new text holds `-->`, which would close it"
    )]
    WouldCloseComment {
        /// Line of the opener, from 1.
        line: usize,
    },
    /// The file would not be read back as it was meant.
    #[error("the edited file would be read differently from line {line} on")]
    Misread {
        /// First line of the section that would change, from 1.
        line: usize,
    },
}

/// A parsed file.
#[derive(Debug, Clone)]
pub struct Document {
    source: String,
    blocks: Vec<Block>,
    style: Style,
    /// Line of a comment that is never closed.
    open_comment: Option<usize>,
}

/// From one heading to the next.
#[derive(Debug, Clone)]
struct Block {
    heading: Option<Heading>,
    text: BlockText,
}

#[derive(Debug, Clone)]
enum BlockText {
    Source(Range<usize>),
    Edited(String),
}

/// Where an entry stands. Valid until the next edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryId {
    block: usize,
    entry: usize,
}

impl Document {
    /// Cuts a file into sections.
    pub fn parse(source: String) -> Document {
        let mut starts: Vec<usize> = Vec::new();
        let mut unclosed: Vec<u64> = Vec::new();
        let bytes = source.as_bytes();
        let Ok(()) = walk(&mut TextLines::new(bytes), |event| match event {
            Event::Visible(offset, line) => {
                if scan::is_section_boundary(scan::first_line_without_bom(offset, line)) {
                    starts.push(usize::try_from(offset).expect("an offset into memory fits"));
                }
            }
            Event::Hidden(..) => {}
            Event::Unclosed { opener, .. } => unclosed.push(opener),
        });
        let is_comment = |&&offset: &&u64| bytes[offset as usize..].trim_ascii_start().starts_with(b"<!--");
        let comment = unclosed.iter().find(is_comment);
        let open_comment = comment.map(|&offset| line_number(&source, offset as usize));
        let fences = unclosed.len() > usize::from(comment.is_some());
        let style = Style {
            line_ending: if first_ending_is_crlf(&source) { "\r\n" } else { "\n" },
            fences: if fences { Fences::Escape } else { Fences::Keep },
        };
        if starts.first() == Some(&0) && source.starts_with(BYTE_ORDER_MARK) {
            // The mark is a block of its own, so that nothing is ever written before it.
            starts[0] = BYTE_ORDER_MARK.len_utf8();
        }
        if starts.first() != Some(&0) && !source.is_empty() {
            starts.insert(0, 0);
        }
        let ends = starts.iter().skip(1).copied().chain([source.len()]);
        let blocks = starts.iter().copied().zip(ends).map(|(start, end)| {
            let line = source[start..end].lines().next().unwrap_or("");
            let heading = grammar::parse_heading(line);
            Block { heading, text: BlockText::Source(start..end) }
        });
        Document { blocks: blocks.collect(), style, open_comment, source }
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
        // Of each block, and the end of the text, where none begins.
        let mut starts = vec![0];
        starts.extend(self.blocks.iter().scan(0, |end, block| {
            *end += self.text_of(block).len();
            Some(*end)
        }));
        let text = self.splice();
        let marked = text.starts_with(BYTE_ORDER_MARK);
        let line_at = |start: &usize| text[*start..].split('\n').next().unwrap_or_default().as_bytes();
        let mut expected = starts.into_iter().filter(|start| scan::is_section_boundary(line_at(start)));
        let mut misread: Option<usize> = None;
        let Ok(()) = walk(&mut TextLines::new(text.as_bytes()), |event| {
            let Event::Visible(offset, line) = event else { return };
            if misread.is_some() || !scan::is_section_boundary(scan::first_line_without_bom(offset, line)) {
                return;
            }
            let offset = usize::try_from(offset).expect("an offset into memory fits");
            let start = if offset == 0 && marked { BYTE_ORDER_MARK.len_utf8() } else { offset };
            if expected.next() != Some(start) {
                misread = Some(offset);
            }
        });
        match misread.or_else(|| expected.next()) {
            Some(offset) => Err(DocumentError::Misread { line: line_number(&text, offset) }),
            None => Ok(text),
        }
    }

    /// The source with the edited blocks in their places. For few of them it is not copied: fresh
    /// memory for a large file costs more than moving what follows an edit.
    fn splice(self) -> String {
        let edited = self.blocks.iter().filter(|block| matches!(block.text, BlockText::Edited(_)));
        if edited.count() > MOST_MOVES {
            return self.blocks.iter().map(|block| self.text_of(block)).collect();
        }
        let (mut end, mut text) = (self.source.len(), self.source);
        let mut new = String::new();
        for block in self.blocks.iter().rev() {
            match &block.text {
                BlockText::Edited(edited) => new.insert_str(0, edited),
                BlockText::Source(range) => {
                    // What stood between this block and the next gives way to what was edited there.
                    text.replace_range(range.end..end, &new);
                    new.clear();
                    end = range.start;
                }
            }
        }
        text.replace_range(..end, &new);
        text
    }

    /// Whether any edit was made.
    pub fn is_edited(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block.text, BlockText::Edited(_)))
    }

    /// Scopes and names of all sections, in the order of the file.
    pub fn headings(&self) -> impl Iterator<Item = &Heading> + Clone {
        self.blocks.iter().filter_map(|block| block.heading.as_ref())
    }

    /// What the file says of a scope; `None` where it has no section.
    pub fn section(&self, scope: &Scope) -> Option<Section> {
        let blocks: Vec<usize> = self.blocks_of(scope).collect();
        let texts = blocks.iter().map(|&at| self.block_text(at));
        (!blocks.is_empty()).then(|| Section::read(texts))
    }

    /// The text of each section of a scope as it stands in the file.
    pub fn section_texts<'a>(&'a self, scope: &'a Scope) -> impl Iterator<Item = &'a str> {
        self.blocks_of(scope).map(|at| self.block_text(at))
    }

    /// Live entries of a scope that bear a title.
    pub fn find(&self, scope: &Scope, title: &str) -> Vec<(EntryId, Memory)> {
        let mut found = self.find_all(scope, title);
        found.retain(|(_, memory)| memory.is_live());
        found
    }

    /// All entries of a scope that bear a title, superseded ones too.
    pub fn find_all(&self, scope: &Scope, title: &str) -> Vec<(EntryId, Memory)> {
        let mut found = Vec::new();
        for block in self.blocks_of(scope) {
            for (entry, candidate) in parse_section(self.block_text(block)).entries.into_iter().enumerate() {
                if same_title(&candidate.memory.title, title) {
                    found.push((EntryId { block, entry }, candidate.memory));
                }
            }
        }
        found
    }

    /// What an entry says, as it stands in the file.
    pub fn memory(&self, id: EntryId) -> Memory {
        parse_section(self.block_text(id.block)).entries.swap_remove(id.entry).memory
    }

    /// Number of the line, from 1, at which an entry starts.
    pub fn line_of(&self, id: EntryId) -> usize {
        let before = (0..id.block).map(|at| self.block_text(at).matches('\n').count()).sum::<usize>();
        before + parse_section(self.block_text(id.block)).entries[id.entry].line_number + 1
    }

    /// Counts a visit in an episode; makes the section where there is none.
    ///
    /// # Errors
    ///
    /// See [`DocumentError`].
    pub fn visit(&mut self, scope: &Scope, name: &str, episode: u64) -> Result<(), DocumentError> {
        let block = self.ensure_section(scope, name)?;
        let parts = parse_section(self.block_text(block));
        let mut visits = parts.visits.as_ref().map_or_else(Visits::default, |(visits, _)| visits.clone());
        visits.count = visits.count.saturating_add(1);
        if !visits.episodes.contains(&episode) {
            visits.episodes.push(episode);
        }
        let text = edit::set_visits(self.block_text(block), &parts, &visits, self.style);
        self.replace(block, text);
        Ok(())
    }

    /// Adds a memory in its stored form; makes the section where there is none.
    ///
    /// # Errors
    ///
    /// See [`DocumentError`].
    pub fn add(&mut self, scope: &Scope, name: &str, memory: &Memory) -> Result<(), DocumentError> {
        let memory = stored(memory);
        self.check_memory(&memory)?;
        let block = self.ensure_section(scope, name)?;
        let parts = parse_section(self.block_text(block));
        let text = edit::add_entry(self.block_text(block), &parts, &memory, self.style);
        self.replace(block, text);
        Ok(())
    }

    /// Writes an entry anew.
    ///
    /// # Errors
    ///
    /// See [`DocumentError`].
    pub fn revise(&mut self, id: EntryId, memory: &Memory) -> Result<(), DocumentError> {
        let memory = stored(memory);
        self.check_memory(&memory)?;
        self.edit_entry(id, |text, entry, style| edit::replace_entry(text, entry, &memory, style));
        Ok(())
    }

    /// Writes only an entry's first line anew: importance, status between active and tentative …
    pub fn revise_line(&mut self, id: EntryId, memory: &Memory) {
        let memory = stored(memory);
        self.edit_entry(id, |text, entry, style| edit::replace_entry_line(text, entry, &memory, style));
    }

    /// Gives an entry a `See also:` line and leaves its other lines as they are.
    ///
    /// # Errors
    ///
    /// See [`DocumentError`].
    pub fn set_see_also(&mut self, id: EntryId, see_also: &str) -> Result<(), DocumentError> {
        let see_also = stored_line(see_also);
        self.check_new_text(&see_also)?;
        self.edit_entry(id, |text, entry, style| edit::set_see_also(text, entry, &see_also, style));
        Ok(())
    }

    /// Strikes an entry and says why, where there is a reason.
    ///
    /// # Errors
    ///
    /// See [`DocumentError`].
    pub fn supersede(&mut self, id: EntryId, reference: Option<&Reference>) -> Result<(), DocumentError> {
        if let Some(reference) = reference {
            self.check_new_text(&grammar::write_reference(reference))?;
        }
        self.edit_entry(id, |text, entry, style| edit::supersede_entry(text, entry, reference, style));
        Ok(())
    }

    /// Takes an entry's strikes and reference away.
    pub fn revive(&mut self, id: EntryId, status: Status) {
        self.edit_entry(id, |text, entry, style| edit::revive_entry(text, entry, status, style));
    }

    /// Removes an entry.
    pub fn remove(&mut self, id: EntryId) {
        self.edit_entry(id, |text, entry, _| edit::remove_entry(text, entry));
    }

    /// Gives the first section of a scope another name; `false` where there is none.
    ///
    /// # Errors
    ///
    /// See [`DocumentError`].
    pub fn rename(&mut self, scope: &Scope, name: &str) -> Result<bool, DocumentError> {
        self.check_new_text(name)?;
        let Some(block) = self.blocks_of(scope).next() else { return Ok(false) };
        let text = edit::replace_heading(self.block_text(block), scope, name, self.style);
        self.blocks[block].heading = text.lines().next().and_then(grammar::parse_heading);
        self.replace(block, text);
        Ok(true)
    }

    /// Notes a try, in place of an earlier one of the same action. At most `limit` stay: of the
    /// others the least repeated, then the oldest leave first.
    ///
    /// # Errors
    ///
    /// See [`DocumentError`].
    pub fn put_attempt(
        &mut self,
        scope: &Scope,
        name: &str,
        attempt: &Attempt,
        limit: usize,
    ) -> Result<(), DocumentError> {
        self.check_new_text(&grammar::write_attempt(attempt))?;
        let (block, old) = match self.find_attempt(scope, &attempt.action) {
            Some((block, old)) => (block, Some(old)),
            None => (self.ensure_section(scope, name)?, None),
        };
        let parts = parse_section(self.block_text(block));
        let text = edit::put_attempt(self.block_text(block), &parts, old.as_ref(), attempt, self.style);
        self.replace(block, text);
        let action = fold_action(&attempt.action);
        loop {
            let parts = parse_section(self.block_text(block));
            let others = parts.tried.iter().filter(|tried| fold_action(&tried.attempt.action) != action);
            let rank = |tried: &&Tried| {
                let Attempt { count, episode, turn, .. } = tried.attempt;
                (count, episode, turn)
            };
            match others.min_by_key(rank) {
                Some(least) if parts.tried.len() > limit.max(1) => {
                    let text = edit::remove_attempt(self.block_text(block), &parts, least);
                    self.replace(block, text);
                }
                _ => return Ok(()),
            }
        }
    }

    /// Forgets the tries of an action; `false` where there were none.
    pub fn remove_attempt(&mut self, scope: &Scope, action: &str) -> bool {
        let mut removed = false;
        while let Some((block, tried)) = self.find_attempt(scope, action) {
            let parts = parse_section(self.block_text(block));
            let text = edit::remove_attempt(self.block_text(block), &parts, &tried);
            self.replace(block, text);
            removed = true;
        }
        removed
    }

    fn find_attempt(&self, scope: &Scope, action: &str) -> Option<(usize, Tried)> {
        let action = fold_action(&stored_line(action));
        self.blocks_of(scope).find_map(|block| {
            let tried = parse_section(self.block_text(block)).tried;
            let same = tried.into_iter().find(|tried| fold_action(&tried.attempt.action) == action);
            same.map(|tried| (block, tried))
        })
    }

    fn blocks_of<'a>(&'a self, scope: &'a Scope) -> impl Iterator<Item = usize> + 'a {
        let of_scope =
            move |block: &Block| block.heading.as_ref().is_some_and(|heading| heading.scope == *scope);
        self.blocks.iter().enumerate().filter(move |(_, block)| of_scope(block)).map(|(at, _)| at)
    }

    fn block_text(&self, at: usize) -> &str {
        self.text_of(&self.blocks[at])
    }

    fn text_of<'a>(&'a self, block: &'a Block) -> &'a str {
        match &block.text {
            BlockText::Source(range) => &self.source[range.clone()],
            BlockText::Edited(text) => text,
        }
    }

    fn edit_entry(&mut self, id: EntryId, change: impl FnOnce(&str, &section::Entry, Style) -> String) {
        let text = self.block_text(id.block);
        let parts = parse_section(text);
        let text = change(text, &parts.entries[id.entry], self.style);
        self.replace(id.block, text);
    }

    fn replace(&mut self, at: usize, mut text: String) {
        let last = at + 1 == self.blocks.len();
        if !last && !edit::ends_with_blank_line(&text) {
            text.push_str(self.style.line_ending);
        }
        self.blocks[at].text = BlockText::Edited(text);
    }

    /// Whether the file can take a memory.
    ///
    /// # Errors
    ///
    /// [`DocumentError::WouldCloseComment`] where it cannot.
    pub fn check_memory(&self, memory: &Memory) -> Result<(), DocumentError> {
        match self.open_comment {
            None => Ok(()),
            Some(_) => self.check_new_text(&edit::render_entry(memory, self.style.fences)),
        }
    }

    fn check_new_text(&self, text: &str) -> Result<(), DocumentError> {
        match self.open_comment {
            Some(line) if text.contains("-->") => Err(DocumentError::WouldCloseComment { line }),
            _ => Ok(()),
        }
    }
}

fn first_ending_is_crlf(text: &str) -> bool {
    memchr::memchr(b'\n', text.as_bytes()).is_some_and(|at| at > 0 && text.as_bytes()[at - 1] == b'\r')
}

/// Number of the line, from 1, that starts at or holds an offset.
pub fn line_number(text: &str, offset: usize) -> usize {
    memchr::memchr_iter(b'\n', &text.as_bytes()[..offset.min(text.len())]).count() + 1
}
