//! One entry of a document, for reading and for edits.
//!
//! An entry is found by its number among all entries of its scope, from 0, and then borrowed: while an
//! [`EntryMut`] lives, nothing else can edit its document, so that it always means the same entry.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::entry_text::EntryText;
use crate::parser::{Entry, parse_entries};
use crate::splice::{self, EntryEdit};
use crate::stored_form::stored;
use crate::text::stored_line;
use crate::tree::Document;
use crate::types::{Memory, Scope, Status};

/// An entry of a document that is only read.
#[derive(Debug, Clone, Copy)]
pub struct EntryRef<'a> {
    document: &'a Document,
    block: usize,
    entry: &'a Entry,
}

impl<'a> EntryRef<'a> {
    /// The entry as it stands in the file.
    pub fn text(&self) -> EntryText<'a> {
        self.entry.of(self.document.block_text(self.block))
    }

    /// Reads the memory.
    pub fn memory(&self) -> Memory {
        self.text().read()
    }

    /// Number of its first line in the file, from 1.
    pub fn line(&self) -> usize {
        self.document.first_line(self.block) + self.entry.line_number
    }
}

/// Position of an entry in the text of its document, and what its first line shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntrySpan {
    /// Number of its section among all that name a scope.
    pub section: u32,
    /// Number of the block of that section.
    pub block: usize,
    /// From its first line to the end of its last line that is not blank.
    pub range: Range<usize>,
    /// Active, tentative or superseded.
    pub status: Status,
    /// The episode, if it is the first field.
    pub episode: Option<u64>,
}

/// An entry of a document, open for edits.
#[derive(Debug)]
pub struct EntryMut<'a> {
    document: &'a mut Document,
    block: usize,
    entry: usize,
}

impl EntryMut<'_> {
    /// The entry as it stands in the file.
    pub fn text(&self) -> EntryText<'_> {
        self.read_only().text()
    }

    /// Reads the memory.
    pub fn memory(&self) -> Memory {
        self.text().read()
    }

    /// Number of its first line in the file, from 1.
    pub fn line(&self) -> usize {
        self.read_only().line()
    }

    fn read_only(&self) -> EntryRef<'_> {
        let entry = &self.document.parsed(self.block).entries[self.entry];
        EntryRef { document: self.document, block: self.block, entry }
    }

    /// Makes one edit.
    pub fn edit(&mut self, edit: EntryEdit) {
        let edit = stored_edit(edit);
        self.document.splice_entries(self.block, &[(self.entry, &edit)]);
    }

    /// Writes only the first line anew. It takes no new text, so every file can take it.
    pub fn revise_line(&mut self, memory: &Memory) {
        let edit = EntryEdit::ReviseLine(stored(memory));
        self.document.splice_entries(self.block, &[(self.entry, &edit)]);
    }

    /// Removes the entry; comments that a person put into it stay.
    pub fn remove(self) {
        self.document.splice_entries(self.block, &[(self.entry, &EntryEdit::Remove)]);
    }
}

impl Document {
    /// All entries of a scope, in the order of the file.
    pub fn entries<'a>(&'a self, scope: &'a Scope) -> impl Iterator<Item = EntryRef<'a>> + 'a {
        self.blocks_of(scope).flat_map(move |block| {
            let entries = self.parsed(block).entries.iter();
            entries.map(move |entry| EntryRef { document: self, block, entry })
        })
    }

    /// Positions of the entries of all sections, in the order of the file. Nothing else of the sections is read.
    pub fn entry_spans(&self) -> impl Iterator<Item = EntrySpan> {
        let blocks = self.blocks().iter().enumerate().filter(|(_, block)| block.heading.is_some());
        (0..).zip(blocks).zip(self.heading_offsets()).flat_map(|((section, (block, _)), start)| {
            let text = self.block_text(block);
            parse_entries(text).into_iter().map(move |entry| {
                let range = start + entry.range.start..start + entry.range.end;
                let episode = entry.of(text).parts().first_field_as_episode();
                EntrySpan { section, block, range, status: entry.status, episode }
            })
        })
    }

    /// The entry of that number among all entries of a scope, from 0.
    pub fn entry_mut(&mut self, scope: &Scope, number: usize) -> Option<EntryMut<'_>> {
        let mut entry = number;
        let block = self.blocks_of(scope).find(|&block| {
            let entries = self.parsed(block).entries.len();
            let found = entry < entries;
            entry -= if found { 0 } else { entries };
            found
        })?;
        Some(EntryMut { document: self, block, entry })
    }

    /// Number of a block's first line, from 1.
    pub(super) fn first_line(&self, block: usize) -> usize {
        let newlines = |at: usize| memchr::memchr_iter(b'\n', self.block_text(at).as_bytes()).count();
        (0..block).map(newlines).sum::<usize>() + 1
    }

    /// Edits entries of a scope's sections by their numbers among all entries of the scope.
    pub(super) fn edit_entries(&mut self, blocks: &[usize], edits: &BTreeMap<usize, EntryEdit>) {
        if edits.is_empty() {
            return;
        }
        let edits: BTreeMap<usize, EntryEdit> =
            edits.iter().map(|(&at, edit)| (at, stored_edit(edit.clone()))).collect();
        let mut first = 0;
        for &block in blocks {
            let next = first + self.parsed(block).entries.len();
            let of_block: Vec<(usize, &EntryEdit)> =
                edits.range(first..next).map(|(at, edit)| (at - first, edit)).collect();
            self.splice_entries(block, &of_block);
            first = next;
        }
    }

    /// Edits entries of one block, in their order.
    fn splice_entries(&mut self, block: usize, edits: &[(usize, &EntryEdit)]) {
        if edits.is_empty() {
            return;
        }
        let (text, parsed, style) = (self.block_text(block), self.parsed(block), self.style());
        let splices: Vec<_> = edits
            .iter()
            .flat_map(|(at, edit)| splice::edit_entry(text, &parsed.entries[*at], edit, style))
            .collect();
        let text = splice::splice_all(text, &splices, style);
        self.replace(block, text);
    }
}

/// The edit with what it writes in its stored form.
fn stored_edit(edit: EntryEdit) -> EntryEdit {
    match edit {
        EntryEdit::Revise(memory) => EntryEdit::Revise(stored(&memory)),
        EntryEdit::ReviseLine(memory) => EntryEdit::ReviseLine(stored(&memory)),
        EntryEdit::SetSeeAlso(see_also) => EntryEdit::SetSeeAlso(stored_line(&see_also)),
        edit @ (EntryEdit::Supersede(_) | EntryEdit::Revive(_) | EntryEdit::Remove) => edit,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::check;

    proptest! {
        #[test]
        fn entries_that_are_found_alone_are_those_of_the_sections(
            lines in prop::collection::vec(prop::sample::select(vec![
                "## Location 1: A", "## World", "# T", " ## x", "### Memories", "text", "```", "~~~~", "<!--", "-->",
                "", "  ", "---", "**[NOTE] a** *(Ep1, T2)*", "**[DANGER - CORE] b c**", "**[NOTE] **", "**[] d**",
                "**[NOTE - SUPERSEDED] e** *(T2, Ep1)*", "~~struck~~", "**[X] f** tail", " **[X] g**", "\u{FEFF}",
                "**[X] h** *(Ep7)*\r", "- `take x`: no", "Context: here", "**[NOTE] \\***", "- ~~struck~~",
            ]), 0..24),
        ) {
            let text = lines.join("\n");
            let document = Document::parse(text.clone());
            let headings: Vec<_> = document.headings().collect();
            let read = |entry: EntrySpan| {
                let memory = EntryText::new(&text[entry.range], entry.status).read();
                assert!(entry.episode.is_none() || entry.episode == memory.provenance.episode, "{text:?}");
                assert_eq!(document.heading_at(entry.block), Some(headings[entry.section as usize]));
                (headings[entry.section as usize].scope.clone(), memory)
            };
            let read: Vec<_> = document.entry_spans().map(read).collect();
            let located = check::entries(&text).into_iter();
            let expected: Vec<_> = located.map(|entry| (entry.scope, entry.memory)).collect();
            prop_assert_eq!(read, expected, "{:?}", text);
        }
    }
}
