//! The pieces of a memory file that a person can take away one by one: entries, lines of people, and names.
//!
//! A document enters; its pieces leave, each with the words by which it is the same elsewhere. Pieces can be taken out of a
//! document, for programs that compare several versions of a file.

use crate::entry_text::EntryText;
use crate::free_lines::placed_lines;
use crate::region::Placed;
use crate::splice::blank_length;
use crate::tree::Document;
use crate::types::{Memory, Scope};

/// A kind of piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PieceKind {
    /// A memory.
    Entry,
    /// A line of a person.
    Line,
    /// The name in the heading of a section.
    Name,
}

/// A piece of a document.
#[derive(Debug, Clone)]
pub struct Piece {
    /// The scope of its section; `None` in a section of a person.
    pub scope: Option<Scope>,
    /// The section: its scope as a word, or the heading of a person's section.
    pub section: String,
    /// Its kind.
    pub kind: PieceKind,
    /// Its words, with plain line endings.
    pub text: String,
    /// The memory, where it is one.
    pub memory: Option<Memory>,
}

impl Piece {
    /// The words by which it is the same in another text.
    pub fn key(&self) -> String {
        format!("{}\n{:?}\n{}", self.section, self.kind, self.text)
    }
}

impl Document {
    /// The pieces, in the order of the file.
    pub fn each_piece(&self) -> Vec<Piece> {
        let all = (0..self.blocks().len()).flat_map(|block| self.pieces_of(block));
        all.map(|placed| placed.value).collect()
    }

    fn pieces_of(&self, at: usize) -> Vec<Placed<Piece>> {
        let (block, text) = (&self.blocks()[at], self.block_text(at));
        let scope = block.heading.as_ref().map(|heading| heading.scope.clone());
        let first = text.lines().next().unwrap_or_default().trim();
        let section = match &scope {
            Some(scope) => scope.to_string(),
            None => if first.starts_with("##") { first } else { "" }.to_owned(),
        };
        let piece = |kind, text: &str, memory| Piece {
            scope: scope.clone(),
            section: section.clone(),
            kind,
            text: text.trim_end().replace("\r\n", "\n"),
            memory,
        };
        let mut pieces = Vec::new();
        if let Some(heading) = &block.heading {
            pieces.push(Placed { value: piece(PieceKind::Name, &heading.name, None), range: 0..0 });
            for entry in &self.parsed(at).entries {
                let raw: EntryText<'_> = entry.of(text);
                let range = entry.range.start..entry.range.end + blank_length(&text[entry.range.end..]);
                pieces.push(Placed { value: piece(PieceKind::Entry, raw.text(), Some(raw.read())), range });
            }
        }
        for (range, line) in placed_lines(block, self.source()) {
            if line.trim() != "---" {
                pieces.push(Placed { value: piece(PieceKind::Line, line.trim(), None), range });
            }
        }
        pieces
    }

    /// The number of all memories.
    pub fn count_memories(&self) -> usize {
        let blocks = (0..self.blocks().len()).filter(|&at| self.blocks()[at].heading.is_some());
        blocks.map(|at| self.parsed(at).entries.len()).sum()
    }

    /// Takes entries and lines out.
    pub fn remove_pieces(&mut self, is_gone: impl Fn(&Piece) -> bool) {
        for at in 0..self.blocks().len() {
            let pieces = self.pieces_of(at).into_iter();
            let gone = pieces.filter(|placed| !placed.range.is_empty() && is_gone(&placed.value));
            let gone = gone.map(|placed| placed.range).collect();
            self.remove_ranges(at, gone);
        }
    }

    /// Takes sections of scopes out that have neither entries nor lines nor counts, where their name is gone.
    pub fn remove_empty_sections(&mut self, is_gone: impl Fn(&Piece) -> bool) {
        let is_empty = |document: &Document, at: usize| {
            let pieces = document.pieces_of(at);
            let parsed = document.parsed(at);
            let counted = parsed.visits.as_ref().is_some_and(|(visits, _)| visits.count > 0);
            let listed = parsed.ways.len() + parsed.worked.len() + parsed.seen.len() + parsed.tried.len();
            pieces.len() == 1 && !counted && listed == 0 && is_gone(&pieces[0].value)
        };
        let gone: Vec<usize> = (0..self.blocks().len())
            .filter(|&at| self.blocks()[at].heading.is_some() && is_empty(self, at))
            .collect();
        for at in gone.into_iter().rev() {
            self.blocks_mut().remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Location Memories\n\nMine.\n\n## Location 1: Hall\n**Visits:** 2\n\nBeware.\n\n### Memories\n\n\
        **[NOTE] a** *(Ep1)*\none\n\n**[NOTE] b**\ntwo\n\n### Tried\n\n- `x` *(Ep1, T4)*: No.\n\n---\n\n## Shopping\n\ntea\n";

    #[test]
    fn pieces_are_told_apart_and_taken_out() {
        let mut document = Document::parse(TEXT.to_owned());
        let texts: Vec<String> = document.each_piece().iter().map(Piece::key).collect();
        assert_eq!(
            texts,
            [
                "\nLine\nMine.",
                "location:1\nName\nHall",
                "location:1\nEntry\n**[NOTE] a** *(Ep1)*\none",
                "location:1\nEntry\n**[NOTE] b**\ntwo",
                "location:1\nLine\nBeware.",
                "## Shopping\nLine\n## Shopping",
                "## Shopping\nLine\ntea",
            ]
        );
        document.remove_pieces(|piece| {
            ["Beware.", "tea"].contains(&piece.text.as_str()) || piece.text.contains("one")
        });
        let text = document.into_text().unwrap();
        let expected =
            TEXT.replace("Beware.\n", "").replace("**[NOTE] a** *(Ep1)*\none\n\n", "").replace("tea\n", "");
        assert_eq!(text, expected);
    }

    #[test]
    fn a_section_goes_once_it_is_empty_and_its_name_is_gone() {
        let mut document = Document::parse(TEXT.replace("**Visits:** 2\n", ""));
        document.remove_empty_sections(|_| true);
        assert_eq!(document.each_piece().len(), 7);
        document.remove_pieces(|piece| piece.scope.is_some());
        document.remove_evidence();
        document.remove_empty_sections(|_| false);
        assert_eq!(document.each_piece().len(), 4);
        document.remove_empty_sections(|_| true);
        assert_eq!(document.into_text().unwrap(), "# Location Memories\n\nMine.\n\n## Shopping\n\ntea\n");
    }
}
