//! Edits of sections: visits, names, tried actions, and many edits of a section at once.
//!
//! Single edits and updates share the same steps, so an update says the same as its parts one after
//! the other. However many edits a section gets, it is parsed once for each kind of edit.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::document::error::DocumentError;
use crate::document::grammar::{self, Visits};
use crate::document::parser::Tried;
use crate::document::splice;
use crate::document::splice::EntryEdit;
use crate::document::stored_form::stored;
use crate::document::text::stored_line;
use crate::document::tree::Document;
use crate::types::{Attempt, Memory, Scope, fold_action};

/// Edits of the section of one scope.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SectionUpdate {
    /// The name, if the section is new or has none.
    pub name: String,
    /// Visits are raised to this number at least.
    pub visits: u64,
    /// Episodes of visits.
    pub episodes: Vec<u64>,
    /// New memories, in their order.
    pub memories: Vec<Memory>,
    /// Edits of entries, by their number among all entries of the scope, from 0.
    pub entries: BTreeMap<usize, EntryEdit>,
    /// Tried actions; one that is listed already is written anew.
    pub attempts: Vec<Attempt>,
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
            missing.map(|(scope, update)| (scope.clone(), update.name.as_str())).collect();
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
            self.update_section(scope, &blocks, &updates[scope])?;
        }
        Ok(())
    }

    fn update_section(
        &mut self,
        scope: &Scope,
        blocks: &[usize],
        update: &SectionUpdate,
    ) -> Result<(), DocumentError> {
        let nameless = blocks.iter().all(|&at| {
            let heading = self.blocks()[at].heading.as_ref();
            heading.is_none_or(|heading| heading.name.is_empty())
        });
        if nameless && !update.name.trim().is_empty() {
            self.rename(scope, &update.name)?;
        }
        self.edit_entries(blocks, &update.entries)?;
        self.add_entries(blocks[0], update.memories.iter().map(stored).collect())?;
        self.raise_visits(blocks, update);
        self.put_attempts(blocks, &update.attempts)
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
        self.add_entries(block, vec![memory])
    }

    fn add_entries(&mut self, block: usize, memories: Vec<Memory>) -> Result<(), DocumentError> {
        if memories.is_empty() {
            return Ok(());
        }
        memories.iter().try_for_each(|memory| self.check_memory(memory))?;
        let text = splice::add_entries(self.block_text(block), self.parsed(block), &memories, self.style());
        self.replace(block, text);
        Ok(())
    }

    /// Counts a visit in an episode; makes the section where there is none.
    ///
    /// # Errors
    ///
    /// See [`DocumentError`].
    pub fn visit(&mut self, scope: &Scope, name: &str, episode: u64) -> Result<(), DocumentError> {
        let block = self.ensure_section(scope, name)?;
        let mut visits = self.visits_of(block);
        visits.count = visits.count.saturating_add(1);
        if !visits.episodes.contains(&episode) {
            visits.episodes.push(episode);
        }
        self.set_visits(block, &visits);
        Ok(())
    }

    /// Several sections of a scope are read as one: what is missing is added to the first of them.
    fn raise_visits(&mut self, blocks: &[usize], update: &SectionUpdate) {
        if update.visits == 0 && update.episodes.is_empty() {
            return;
        }
        let all: Vec<Visits> = blocks.iter().map(|&block| self.visits_of(block)).collect();
        let counted = all.iter().fold(0, |sum: u64, visits| sum.saturating_add(visits.count));
        let mut listed: BTreeSet<u64> = all.iter().flat_map(|visits| &visits.episodes).copied().collect();
        let missing = update.visits.saturating_sub(counted);
        let mut visits = self.visits_of(blocks[0]);
        visits.count = visits.count.saturating_add(missing);
        let before = visits.episodes.len();
        visits.episodes.extend(update.episodes.iter().filter(|&&episode| listed.insert(episode)));
        if missing > 0 || visits.episodes.len() > before {
            self.set_visits(blocks[0], &visits);
        }
    }

    fn visits_of(&self, block: usize) -> Visits {
        self.parsed(block).visits.as_ref().map_or_else(Visits::default, |(visits, _)| visits.clone())
    }

    fn set_visits(&mut self, block: usize, visits: &Visits) {
        let text = splice::set_visits(self.block_text(block), self.parsed(block), visits, self.style());
        self.replace(block, text);
    }

    /// Renames the first section of a scope; `false` where there is none.
    ///
    /// # Errors
    ///
    /// See [`DocumentError`].
    pub fn rename(&mut self, scope: &Scope, name: &str) -> Result<bool, DocumentError> {
        self.check_new_text(name)?;
        let Some(block) = self.blocks_of(scope).next() else { return Ok(false) };
        let text = splice::replace_heading(self.block_text(block), scope, name, self.style());
        self.blocks_mut()[block].heading = text.lines().next().and_then(grammar::parse_heading);
        self.replace(block, text);
        Ok(true)
    }

    /// Notes a tried action, in place of an earlier one of the same action; makes the section where
    /// there is none. At most `limit` stay: of the others the least repeated, then the oldest leave.
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
        self.ensure_section(scope, name)?;
        let blocks: Vec<usize> = self.blocks_of(scope).collect();
        self.put_attempts(&blocks, std::slice::from_ref(attempt))?;
        let action = fold_action(&stored_line(&attempt.action));
        let is_same_action = |tried: &Tried| fold_action(&tried.attempt.action) == action;
        let block = blocks.into_iter().find(|&block| self.parsed(block).tried.iter().any(is_same_action));
        let Some(block) = block else { return Ok(()) };
        loop {
            let parsed = self.parsed(block);
            let others = parsed.tried.iter().filter(|tried| !is_same_action(tried));
            let rank = |tried: &&Tried| {
                let Attempt { count, episode, turn, .. } = tried.attempt;
                (count, episode, turn)
            };
            match others.min_by_key(rank) {
                Some(least) if parsed.tried.len() > limit.max(1) => {
                    let text = splice::remove_attempt(self.block_text(block), parsed, least);
                    self.replace(block, text);
                }
                _ => return Ok(()),
            }
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
        if wanted.is_empty() {
            return Ok(());
        }
        for &block in blocks {
            let mut changes: Vec<(&Tried, &Attempt)> = Vec::new();
            for tried in &self.parsed(block).tried {
                if let Some(attempt) = wanted.remove(&fold_action(&tried.attempt.action)) {
                    changes.push((tried, attempt));
                }
            }
            if !changes.is_empty() {
                let text = splice::replace_attempts(self.block_text(block), &changes, self.style());
                self.replace(block, text);
            }
        }
        let new: Vec<&Attempt> = order.iter().filter_map(|action| wanted.remove(action)).collect();
        if !new.is_empty() {
            let (text, parsed) = (self.block_text(blocks[0]), self.parsed(blocks[0]));
            let text = splice::add_attempts(text, parsed, &new, self.style());
            self.replace(blocks[0], text);
        }
        Ok(())
    }

    /// Removes the tried action; `false` where it is not listed.
    pub fn remove_attempt(&mut self, scope: &Scope, action: &str) -> bool {
        let action = fold_action(&stored_line(action));
        let mut removed = false;
        for block in self.blocks_of(scope).collect::<Vec<_>>() {
            let same = |tried: &&Tried| fold_action(&tried.attempt.action) == action;
            while let Some(tried) = self.parsed(block).tried.iter().find(same) {
                let text = splice::remove_attempt(self.block_text(block), self.parsed(block), tried);
                self.replace(block, text);
                removed = true;
            }
        }
        removed
    }
}
