//! Inserts new sections.
//!
//! All new sections are inserted in one pass over the blocks: a location before the first larger id,
//! else after the last location; other scopes in the order of their kinds.

use std::collections::BTreeMap;

use crate::error::DocumentError;
use crate::grammar;
use crate::near::misread_sections;
use crate::scan::BYTE_ORDER_MARK;
use crate::splice;
use crate::tree::{Block, Document, FILE_TITLE};
use crate::types::{Scope, ScopeKind};

/// Positions of new sections in a list of blocks.
struct Places {
    /// For each block the largest location id up to it.
    largest: Vec<Option<u64>>,
    /// For each kind of scope its first and last block.
    ends: BTreeMap<ScopeKind, (usize, usize)>,
}

impl Places {
    fn of(blocks: &[Block]) -> Places {
        let mut places = Places { largest: Vec::with_capacity(blocks.len()), ends: BTreeMap::new() };
        let mut largest = None;
        for (at, block) in blocks.iter().enumerate() {
            if let Some(heading) = &block.heading {
                if let Scope::Location(id) = heading.scope {
                    largest = largest.max(Some(id));
                }
                places.ends.entry(ScopeKind::from(&heading.scope)).or_insert((at, at)).1 = at;
            }
            places.largest.push(largest);
        }
        places
    }

    /// The block before which the section of a new scope is inserted.
    fn of_scope(&self, scope: &Scope) -> usize {
        if let Scope::Location(id) = scope {
            let at = self.largest.partition_point(|largest| *largest <= Some(*id));
            if at < self.largest.len() {
                return at;
            }
        }
        let kind = ScopeKind::from(scope);
        let same = self.ends.get(&kind).map(|(_, last)| last + 1);
        // The first block of any later kind.
        let later = || self.ends.range(kind..).map(|(_, (first, _))| *first).min();
        let earlier = || self.ends.values().map(|(_, last)| last + 1).max();
        same.or_else(later).or_else(earlier).unwrap_or(self.largest.len())
    }
}

impl Document {
    /// The first section of a scope, made if it is missing.
    pub(super) fn ensure_section(&mut self, scope: &Scope, name: &str) -> Result<usize, DocumentError> {
        if let Some(block) = self.blocks_of(scope).next() {
            return Ok(block);
        }
        self.make_sections(vec![(scope.clone(), name)])?;
        Ok(self.blocks_of(scope).next().expect("it was just made"))
    }

    /// Makes sections for scopes that have none; each scope is given once.
    pub(super) fn make_sections(&mut self, mut wanted: Vec<(Scope, &str)>) -> Result<(), DocumentError> {
        let misread = misread_sections(self.source());
        if let Some((scope, line)) =
            misread.iter().find(|(scope, _)| wanted.iter().any(|(other, _)| other == scope))
        {
            return Err(DocumentError::MisreadSection { scope: scope.clone(), line: *line });
        }
        let ending = self.style().line_ending;
        let blank =
            |block: &Block| block.source_start().is_some() && block.text(self.source()).trim().is_empty();
        if self.blocks().iter().all(blank) {
            // Blank lines of a file that holds nothing else are its author's.
            let mut text: String = self.blocks().iter().map(|block| block.text(self.source())).collect();
            if !text.is_empty() && !text.ends_with('\n') {
                text.push_str(ending);
            }
            let title = Block::new(FILE_TITLE.replace('\n', ending));
            *self.blocks_mut() = vec![Block::new(text), title];
            self.blocks_mut().retain(|block| !block.text("").is_empty());
        }
        let places = Places::of(self.blocks());
        wanted.sort_by_cached_key(|(scope, _)| (places.of_scope(scope), scope.clone()));
        let mut wanted = wanted.into_iter().map(|new| (places.of_scope(&new.0), new)).peekable();
        let old = std::mem::take(self.blocks_mut());
        let count = old.len();
        for (at, block) in old.into_iter().map(Some).chain([None]).enumerate() {
            while let Some((_, (scope, name))) = wanted.next_if(|(before, _)| *before == at) {
                self.end_with_blank_line();
                let heading = self.style().convert(&grammar::write_heading(&scope, name));
                // A blank line separates it from the next section, new or old.
                let last = at == count && wanted.peek().is_none();
                let after = if last { "" } else { ending };
                let text = format!("{heading}{ending}{ending}---{ending}{after}");
                self.blocks_mut().push(Block::new(text));
            }
            self.blocks_mut().extend(block);
        }
        Ok(())
    }

    /// Ends the last block with a blank line. A byte order mark stays at the front.
    pub(super) fn end_with_blank_line(&mut self) {
        let Some(last) = self.blocks().last() else { return };
        let text = last.text(self.source());
        if text == BYTE_ORDER_MARK.encode_utf8(&mut [0; 4]) || splice::ends_with_blank_line(text) {
            return;
        }
        let mut text = text.to_owned();
        while !splice::ends_with_blank_line(&text) {
            text.push_str(self.style().line_ending);
        }
        self.blocks_mut().last_mut().expect("it was there").set_text(text);
    }
}
