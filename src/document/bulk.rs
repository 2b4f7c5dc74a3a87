//! Much at once: all sections read in one pass, and additions to many of them written in one.
//!
//! What is to be added enters, gathered by scope; each section is taken apart and put together once,
//! however much comes into it. The file then says the same as if each thing had been added alone.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use crate::document::grammar::{self, Visits};
use crate::document::scan;
use crate::document::section::{Parts, Tried, parse_section};
use crate::document::text::stored_line;
use crate::document::view::Section;
use crate::document::{BYTE_ORDER_MARK, Document, DocumentError, EntryId, FILE_TITLE, edit, stored};
use crate::types::{Attempt, Memory, Scope, fold_action};

/// What is to be added to the section of one scope.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Addition {
    /// The name, should the section be new or without one.
    pub name: String,
    /// At least so many visits.
    pub visits: u64,
    /// Episodes of visits.
    pub episodes: Vec<u64>,
    /// New memories, in their order.
    pub memories: Vec<Memory>,
    /// Entries to be written anew, by their number among all of the scope, from 0.
    pub revisions: BTreeMap<usize, Memory>,
    /// Tried actions; one that is listed is written anew.
    pub attempts: Vec<Attempt>,
}

impl Document {
    /// What the file says of each scope, in the order of its sections.
    pub fn sections(&self) -> Vec<(Scope, Section)> {
        let mut order: Vec<&Scope> = Vec::new();
        let mut texts: HashMap<&Scope, Vec<&str>> = HashMap::new();
        for block in &self.blocks {
            let Some(heading) = &block.heading else { continue };
            let of_scope = texts.entry(&heading.scope).or_default();
            if of_scope.is_empty() {
                order.push(&heading.scope);
            }
            of_scope.push(self.text_of(block));
        }
        let read = |scope: &Scope| (scope.clone(), Section::read(texts[scope].iter().copied()));
        order.into_iter().map(read).collect()
    }

    /// Scope and line, from 1, of each section's heading.
    pub fn heading_lines(&self) -> impl Iterator<Item = (&Scope, usize)> {
        let mut line = 1;
        self.blocks.iter().filter_map(move |block| {
            let at = line;
            line += memchr::memchr_iter(b'\n', self.text_of(block).as_bytes()).count();
            Some((&block.heading.as_ref()?.scope, at))
        })
    }

    /// Removes the entry of that number, from 0, among all of a scope.
    pub fn remove_numbered(&mut self, scope: &Scope, number: usize) {
        if let Some(id) = self.entry_numbered(scope, number) {
            self.remove(id);
        }
    }

    /// Where the entry of that number stands, from 0, among all of a scope.
    pub fn entry_numbered(&self, scope: &Scope, number: usize) -> Option<EntryId> {
        let mut before = 0;
        for block in self.blocks_of(scope) {
            let entries = parse_section(self.block_text(block)).entries.len();
            if number < before + entries {
                return Some(EntryId { block, entry: number - before });
            }
            before += entries;
        }
        None
    }

    /// Adds to many sections; makes those that there are not. Memories take their stored form.
    ///
    /// # Errors
    ///
    /// See [`DocumentError`]; the document is then to be thrown away.
    pub fn add_all(&mut self, additions: &BTreeMap<Scope, Addition>) -> Result<(), DocumentError> {
        let known: BTreeSet<&Scope> = self.headings().map(|heading| &heading.scope).collect();
        let missing = additions.iter().filter(|(scope, _)| !known.contains(scope));
        let missing: Vec<(Scope, &str)> =
            missing.map(|(scope, addition)| (scope.clone(), addition.name.as_str())).collect();
        if !missing.is_empty() {
            self.make_sections(missing)?;
        }
        let mut blocks: BTreeMap<&Scope, Vec<usize>> = BTreeMap::new();
        for (at, block) in self.blocks.iter().enumerate() {
            let Some(heading) = &block.heading else { continue };
            if let Some((scope, _)) = additions.get_key_value(&heading.scope) {
                blocks.entry(scope).or_default().push(at);
            }
        }
        for (scope, blocks) in blocks {
            self.add_to_section(scope, &blocks, &additions[scope])?;
        }
        Ok(())
    }

    fn add_to_section(
        &mut self,
        scope: &Scope,
        blocks: &[usize],
        addition: &Addition,
    ) -> Result<(), DocumentError> {
        let nameless = blocks.iter().all(|&at| {
            let heading = self.blocks[at].heading.as_ref();
            heading.is_none_or(|heading| heading.name.is_empty())
        });
        if nameless && !addition.name.trim().is_empty() {
            self.rename(scope, &addition.name)?;
        }
        if !addition.revisions.is_empty() {
            self.revise_all(blocks, &addition.revisions)?;
        }
        if !addition.memories.is_empty() {
            let memories: Vec<Memory> = addition.memories.iter().map(stored).collect();
            memories.iter().try_for_each(|memory| self.check_memory(memory))?;
            let text = self.block_text(blocks[0]);
            let text = edit::add_entries(text, &parse_section(text), &memories, self.style);
            self.replace(blocks[0], text);
        }
        self.raise_visits(blocks, addition);
        self.put_attempts(blocks, &addition.attempts)
    }

    fn revise_all(
        &mut self,
        blocks: &[usize],
        revisions: &BTreeMap<usize, Memory>,
    ) -> Result<(), DocumentError> {
        let revisions: BTreeMap<usize, Memory> =
            revisions.iter().map(|(at, memory)| (*at, stored(memory))).collect();
        revisions.values().try_for_each(|memory| self.check_memory(memory))?;
        let mut first = 0;
        for &block in blocks {
            let parts = parse_section(self.block_text(block));
            let next = first + parts.entries.len();
            let changes: Vec<_> = revisions
                .range(first..next)
                .map(|(at, memory)| (&parts.entries[at - first], memory))
                .collect();
            if !changes.is_empty() {
                let text = edit::replace_entries(self.block_text(block), &changes, self.style);
                self.replace(block, text);
            }
            first = next;
        }
        Ok(())
    }

    /// Several sections of a scope are read as one: what lacks is added to the first of them.
    fn raise_visits(&mut self, blocks: &[usize], addition: &Addition) {
        if addition.visits == 0 && addition.episodes.is_empty() {
            return;
        }
        let whole = Section::read(blocks.iter().map(|&at| self.block_text(at)));
        let block = blocks[0];
        let parts = parse_section(self.block_text(block));
        let mut visits = parts.visits.as_ref().map_or_else(Visits::default, |(visits, _)| visits.clone());
        let missing = addition.visits.saturating_sub(whole.visits);
        visits.count = visits.count.saturating_add(missing);
        let mut listed: BTreeSet<u64> = whole.episodes.iter().copied().collect();
        let before = visits.episodes.len();
        visits.episodes.extend(addition.episodes.iter().filter(|&&episode| listed.insert(episode)));
        if missing > 0 || visits.episodes.len() > before {
            let text = edit::set_visits(self.block_text(block), &parts, &visits, self.style);
            self.replace(block, text);
        }
    }

    /// Writes tried actions; of one that is given twice, the last.
    fn put_attempts(&mut self, blocks: &[usize], attempts: &[Attempt]) -> Result<(), DocumentError> {
        let mut wanted: HashMap<String, &Attempt> = HashMap::new();
        let mut order: Vec<String> = Vec::new();
        for attempt in attempts.iter().filter(|attempt| !stored_line(&attempt.action).is_empty()) {
            self.check_new_text(&grammar::write_attempt(attempt))?;
            let action = fold_action(&stored_line(&attempt.action));
            if wanted.insert(action.clone(), attempt).is_none() {
                order.push(action);
            }
        }
        for &block in blocks {
            let parts = parse_section(self.block_text(block));
            let mut changes: Vec<(&Tried, &Attempt)> = Vec::new();
            for tried in &parts.tried {
                if let Some(attempt) = wanted.remove(&fold_action(&tried.attempt.action)) {
                    changes.push((tried, attempt));
                }
            }
            if !changes.is_empty() {
                let text = edit::replace_attempts(self.block_text(block), &changes, self.style);
                self.replace(block, text);
            }
        }
        let new: Vec<&Attempt> = order.iter().filter_map(|action| wanted.remove(action)).collect();
        if !new.is_empty() {
            let text = self.block_text(blocks[0]);
            let text = edit::add_attempts(text, &parse_section(text), &new, self.style);
            self.replace(blocks[0], text);
        }
        Ok(())
    }

    /// How many lines of the file are a person's: no heading of a section, visits, entry or tried
    /// action, not blank and no thematic break. A comment within an entry belongs to the entry.
    pub fn free_lines(&self) -> usize {
        self.blocks.iter().map(|block| free_lines(self.text_of(block), block.heading.is_some())).sum()
    }
}

fn free_lines(text: &str, of_scope: bool) -> usize {
    let parts = if of_scope { parse_section(text) } else { Parts::default() };
    let mut owned: Vec<Range<usize>> = parts.entries.into_iter().map(|entry| entry.range).collect();
    owned.extend(parts.tried.into_iter().map(|tried| tried.range));
    owned.extend(parts.visits.map(|(_, range)| range));
    owned.sort_by_key(|range| range.start);
    let mut owned = owned.into_iter().peekable();
    let lines = scan::lines(text);
    let mut is_free = |(number, line): &(usize, &scan::Line)| {
        while owned.next_if(|range| range.end <= line.range.start).is_some() {}
        let content = line.text(text).trim_start_matches(BYTE_ORDER_MARK);
        let heading = match (of_scope, number) {
            (true, 0) => true,
            (true, _) => matches!(content.trim(), "### Memories" | "### Tried"),
            (false, _) => content == FILE_TITLE.trim_end(),
        };
        let ours = heading || owned.peek().is_some_and(|range| range.start <= line.range.start);
        !ours && !scan::is_blank(content) && !scan::is_thematic_break(content)
    };
    lines.iter().enumerate().filter(|line| is_free(line)).count()
}
