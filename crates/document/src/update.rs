//! Edits of sections: visits, names, tried actions, and many edits of a section at once.
//!
//! Single edits and updates share the same steps, so an update says the same as its parts one after
//! the other. However many edits a section gets, it is parsed once for each kind of edit.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::DocumentError;
use crate::evidence::write_code_span;
use crate::grammar::heading_of;
use crate::lists::{AttemptLists, ListEdit, edit_list};
use crate::parser::{ParsedSection, have_worked};
use crate::region::RegionKind;
use crate::section::Section;
use crate::splice;
use crate::splice::EntryEdit;
use crate::stored_form::stored;
use crate::text::stored_line;
use crate::tree::Document;
use crate::types::{Attempt, Memory, Scope, Way, Witnesses, is_same_action};
use crate::visits::Visits;
use crate::ways::write_way;

/// Edits of the section of one scope.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SectionUpdate {
    /// The name, if the section is new or has none. New memories, in their order. Visits are raised to this number at
    /// least; the first visit counts where none is known. Of actions and ways, one that is listed already is written
    /// anew. Notes of a person are left out.
    pub added: Section,
    /// Edits of entries, by their number among all entries of the scope, from 0.
    pub entries: BTreeMap<usize, EntryEdit>,
}

impl From<Section> for SectionUpdate {
    fn from(added: Section) -> SectionUpdate {
        SectionUpdate { added, entries: BTreeMap::new() }
    }
}

impl Document {
    /// Makes many edits; sections that are missing are made. Memories take their stored form.
    ///
    /// # Errors
    ///
    /// See [`DocumentError`]; the document must then be discarded.
    pub fn update(&mut self, updates: &BTreeMap<Scope, SectionUpdate>) -> Result<(), DocumentError> {
        let known: BTreeSet<&Scope> = self.headings().map(|heading| &heading.scope).collect();
        let missing = updates.iter().filter(|(scope, _)| !known.contains(scope));
        let missing: Vec<(Scope, &str)> =
            missing.map(|(scope, update)| (scope.clone(), update.added.name.as_str())).collect();
        if !missing.is_empty() {
            self.make_sections(missing)?;
        }
        let mut blocks: BTreeMap<&Scope, Vec<usize>> = BTreeMap::new();
        for (at, block) in self.blocks().iter().enumerate() {
            let Some(heading) = &block.heading else { continue };
            if let Some((scope, _)) = updates.get_key_value(&heading.scope) {
                blocks.entry(scope).or_default().push(at);
            }
        }
        for (scope, blocks) in blocks {
            self.update_section(scope, &blocks, &updates[scope]);
        }
        Ok(())
    }

    fn update_section(&mut self, scope: &Scope, blocks: &[usize], update: &SectionUpdate) {
        let SectionUpdate { added, entries } = update;
        let nameless = blocks.iter().all(|&at| {
            let heading = self.blocks()[at].heading.as_ref();
            heading.is_none_or(|heading| heading.name.is_empty())
        });
        if nameless && !added.name.trim().is_empty() {
            self.rename(scope, &added.name);
        }
        self.edit_entries(blocks, entries);
        self.add_entries(blocks[0], added.memories.iter().map(stored).collect());
        self.raise_visits(blocks, added);
        self.put_ways(blocks, &added.ways);
        for kind in RegionKind::ACTIONS {
            self.put_attempts(blocks, kind, added.attempts(kind));
        }
    }

    /// Adds a memory in its stored form; makes the section where there is none.
    ///
    /// # Errors
    ///
    /// See [`DocumentError`].
    pub fn add(&mut self, scope: &Scope, name: &str, memory: &Memory) -> Result<(), DocumentError> {
        let memory = stored(memory);
        let block = self.ensure_section(scope, name)?;
        self.add_entries(block, vec![memory]);
        Ok(())
    }

    fn add_entries(&mut self, block: usize, memories: Vec<Memory>) {
        if memories.is_empty() {
            return;
        }
        let text = splice::add_entries(self.block_text(block), self.parsed(block), &memories, self.style());
        self.replace(block, text);
    }

    /// Counts a visit in an episode; makes the section where there is none. Of a place that was never
    /// visited it is the first one.
    ///
    /// # Errors
    ///
    /// See [`DocumentError`].
    pub fn visit(
        &mut self,
        scope: &Scope,
        name: &str,
        episode: u64,
        turn: Option<u64>,
    ) -> Result<(), DocumentError> {
        let block = self.ensure_section(scope, name)?;
        let mut visits = self.visits_of(block);
        if visits.count == 0 && visits.episodes.is_empty() {
            visits.first_turn = turn;
        }
        visits.count = visits.count.saturating_add(1);
        if !visits.episodes.contains(&episode) {
            visits.episodes.push(episode);
        }
        self.set_visits(block, &visits);
        Ok(())
    }

    /// Several sections of a scope are read as one: what is missing is added to the first of them.
    fn raise_visits(&mut self, blocks: &[usize], added: &Section) {
        if added.visits == 0 && added.episodes.is_empty() && added.first_visit.is_none() {
            return;
        }
        let all: Vec<Visits> = blocks.iter().map(|&block| self.visits_of(block)).collect();
        let counted = all.iter().fold(0, |sum: u64, visits| sum.saturating_add(visits.count));
        let mut listed: BTreeSet<u64> = all.iter().flat_map(|visits| &visits.episodes).copied().collect();
        let missing = added.visits.saturating_sub(counted);
        let mut visits = self.visits_of(blocks[0]);
        visits.count = visits.count.saturating_add(missing);
        let before = visits.episodes.len();
        visits.episodes.extend(added.episodes.iter().filter(|&&episode| listed.insert(episode)));
        let first =
            added.first_visit.as_ref().filter(|_| all.iter().all(|visits| visits.first_turn.is_none()));
        let first = first.filter(|first| first.episode == visits.episodes.first().copied());
        let first_turn = first.and_then(|first| first.turn);
        visits.first_turn = visits.first_turn.or(first_turn);
        if missing > 0 || first_turn.is_some() || visits.episodes.len() > before {
            self.set_visits(blocks[0], &visits);
        }
    }

    fn visits_of(&self, block: usize) -> Visits {
        self.parsed(block).visits.as_ref().map_or_else(Visits::default, |(visits, _)| visits.clone())
    }

    pub(super) fn set_visits(&mut self, block: usize, visits: &Visits) {
        let text = self.block_text(block);
        let change = splice::visits_change(text, self.parsed(block), visits);
        let text = splice::splice_all(text, &[change], self.style());
        self.replace(block, text);
    }

    /// Renames the first section of a scope, and the ways that lead there; `false` where there is none.
    pub fn rename(&mut self, scope: &Scope, name: &str) -> bool {
        let Some(block) = self.blocks_of(scope).next() else { return false };
        self.set_heading(block, scope, name);
        if let Scope::Location(id) = scope {
            self.rename_ends(*id, &stored_line(name));
        }
        true
    }

    /// Writes the heading of a section anew.
    pub(super) fn set_heading(&mut self, block: usize, scope: &Scope, name: &str) {
        let text = splice::replace_heading(self.block_text(block), scope, name, self.style());
        self.blocks_mut()[block].heading = heading_of(&text);
        self.replace(block, text);
    }

    /// Writes the new name of a place into the ways that lead there.
    fn rename_ends(&mut self, id: u64, name: &str) {
        let link = format!("(#location-{id}");
        for block in 0..self.blocks().len() {
            if self.blocks()[block].heading.is_none() || !self.block_text(block).contains(&link) {
                continue;
            }
            let is_other = |way: &Way| way.to == id && way.name != name;
            let ways = self.parsed(block).ways.iter();
            let changes = ways.filter(|line| line.value.is_whole && is_other(&line.value.way)).map(|line| {
                let way = Way { name: name.to_owned(), ..line.value.way.clone() };
                (line.range.clone(), Some(write_way(&way)))
            });
            let edit = ListEdit { changes: changes.collect(), new: Vec::new() };
            self.edit_list(block, RegionKind::Ways, &edit);
        }
    }

    /// Notes an action in one of the lists, in place of an earlier one of the same action; makes the section where there
    /// is none. At most `limit` stay: of the others the least repeated, then the oldest leave.
    ///
    /// # Errors
    ///
    /// See [`DocumentError`].
    pub fn put_attempt(
        &mut self,
        scope: &Scope,
        name: &str,
        list: RegionKind,
        attempt: &Attempt,
        limit: usize,
    ) -> Result<(), DocumentError> {
        self.ensure_section(scope, name)?;
        let blocks: Vec<usize> = self.blocks_of(scope).collect();
        self.edit_attempts(&blocks, list, |lists| {
            lists.put(attempt);
            lists.cut(limit, &Attempt { action: stored_line(&attempt.action), ..attempt.clone() });
        });
        Ok(())
    }

    /// The sections of places that may list an action, in the words given, without their memories.
    pub fn sections_with_action(&self, action: &str) -> impl Iterator<Item = (Scope, Section)> {
        self.sections_with(write_code_span(action))
    }

    /// The sections of places whose text holds another, without their memories.
    pub fn sections_with(&self, text: String) -> impl Iterator<Item = (Scope, Section)> {
        let is_meant = move |block: &usize| self.block_text(*block).contains(&text);
        (0..self.blocks().len()).filter(is_meant).filter_map(|block| {
            let scope = &self.blocks()[block].heading.as_ref()?.scope;
            let section =
                self.section_without_memories(scope).filter(|_| matches!(scope, Scope::Location(_)))?;
            Some((scope.clone(), section))
        })
    }

    /// Removes the tried action from the lines of which all who know them are among these; `false` where none lists it.
    pub fn remove_attempt(&mut self, scope: &Scope, action: &str, present: &Witnesses) -> bool {
        let blocks: Vec<usize> = self.blocks_of(scope).collect();
        let action = scope.key_of_action(&stored_line(action));
        let is_gone =
            |old: &Attempt| present.cover(&old.witnesses) && scope.key_of_action(&old.action) == action;
        let mut removed = false;
        self.edit_attempts(&blocks, RegionKind::Tried, |lists| removed = lists.remove(is_gone));
        removed
    }

    /// Writes actions of one kind; of one that is given twice, the last.
    fn put_attempts(&mut self, blocks: &[usize], kind: RegionKind, attempts: &[Attempt]) {
        let named = || attempts.iter().filter(|attempt| !stored_line(&attempt.action).is_empty());
        self.edit_attempts(blocks, kind, |lists| named().for_each(|attempt| lists.put(attempt)));
    }

    pub(super) fn edit_attempts(
        &mut self,
        blocks: &[usize],
        kind: RegionKind,
        edit: impl FnOnce(&mut AttemptLists<'_>),
    ) {
        let parsed: Vec<&ParsedSection> = blocks.iter().map(|&block| self.parsed(block)).collect();
        let heading = blocks.first().and_then(|&block| self.blocks()[block].heading.as_ref());
        let scope = heading.map_or(&Scope::World, |heading| &heading.scope);
        let mut lists = AttemptLists::of(scope, parsed.iter().map(|parsed| parsed.attempts(kind)));
        edit(&mut lists);
        let edits = lists.into_edits(have_worked(&parsed));
        for (&block, edit) in blocks.iter().zip(edits) {
            self.edit_list(block, kind, &edit);
        }
    }

    /// Removes ways; the heading goes with the last of them.
    pub(super) fn remove_ways(&mut self, blocks: &[usize], is_gone: impl Fn(&Way) -> bool) {
        for &block in blocks {
            let whole = self.parsed(block).ways.iter().filter(|line| line.value.is_whole);
            let gone = whole.filter(|line| is_gone(&line.value.way));
            let changes = gone.map(|line| (line.range.clone(), None)).collect();
            self.edit_list(block, RegionKind::Ways, &ListEdit { changes, new: Vec::new() });
        }
    }

    fn edit_list(&mut self, block: usize, kind: RegionKind, edit: &ListEdit) {
        if let Some(text) = edit_list(self.block_text(block), self.parsed(block), kind, edit, self.style()) {
            self.replace(block, text);
        }
    }

    /// Notes a way that was walked, in place of the same action to the same place; makes the section where
    /// there is none.
    ///
    /// # Errors
    ///
    /// See [`DocumentError`].
    pub fn put_way(&mut self, scope: &Scope, name: &str, way: &Way) -> Result<(), DocumentError> {
        self.ensure_section(scope, name)?;
        let blocks: Vec<usize> = self.blocks_of(scope).collect();
        self.put_ways(&blocks, std::slice::from_ref(way));
        Ok(())
    }

    /// Writes ways in place of those that are about the same; of two that are given, the last.
    pub(super) fn put_ways(&mut self, blocks: &[usize], ways: &[Way]) {
        let is_same = |one: &Way, other: &Way| {
            one.to == other.to
                && one.witnesses == other.witnesses
                && is_same_action(&one.action, &other.action)
        };
        let mut missing: Vec<&Way> = Vec::with_capacity(ways.len());
        for way in ways {
            match missing.iter_mut().find(|other| is_same(other, way)) {
                Some(other) => *other = way,
                None => missing.push(way),
            }
        }
        for &block in blocks {
            let mut edit = ListEdit::default();
            for line in self.parsed(block).ways.iter().filter(|line| line.value.is_whole) {
                let old = &line.value.way;
                let Some(at) = missing.iter().position(|new| is_same(old, new)) else { continue };
                let new = missing.remove(at);
                if new != old {
                    edit.changes.push((line.range.clone(), Some(write_way(new))));
                }
            }
            self.edit_list(block, RegionKind::Ways, &edit);
        }
        let new = missing.into_iter().map(write_way).collect();
        self.edit_list(blocks[0], RegionKind::Ways, &ListEdit { new, ..ListEdit::default() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_name_is_written_into_the_ways_that_lead_there_and_into_no_other() {
        let text = |name: &str| {
            format!(
                "## Location 1: Hall\n\n### Ways\n\n- `n` → [{name}](#location-2-{})\n- `s` → [Attic](#location-3-attic)\n\
                 - `u` → [Attic](#location-2-attic) *(beware of Fred, Ep1)*\n\n---\n\n## Location 2: {name}\n\n---\n",
                name.to_lowercase()
            )
        };
        let mut document = Document::parse(text("Attic"));
        assert!(document.rename(&Scope::Location(2), "Loft"));
        assert_eq!(document.into_text().unwrap(), text("Loft"));
    }
}
