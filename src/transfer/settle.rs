//! What becomes of each memory that comes into a section: the rules, on one section at a time.
//!
//! The section as it is enters, then one memory after the other; each leaves with its [`MergeOutcome`], and in
//! the end the additions to both files. Titles stay the address of live entries; what is there
//! already, or says nearly the same as what was there before, is not stored twice; what is struck here
//! does not come alive unasked. Among themselves the memories of a source are taken as they are.

use std::collections::HashMap;

use crate::document::{EntryEdit, Section, SectionUpdate};
use crate::notebook::files::Tier;
use crate::notebook::near_duplicates::{ComparableText, says_the_same};
use crate::types::{Memory, Persistence, fold_title};

/// What to do where a title is in use for other words, or struck here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnConflict {
    /// Do not store it, and report it as failed.
    #[default]
    Refuse,
    /// Do not store it, and count it.
    Skip,
    /// Write the entry anew; what was struck stays so, beside the new entry.
    Revise,
}

/// What became of a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MergeOutcome {
    /// It is new, under this title.
    Stored(String),
    /// The entry of its title says it now.
    Revised,
    /// An entry of its title says the same.
    AlreadyThere,
    /// Another entry, of this title, says nearly the same.
    Duplicate(String),
    /// Not stored, for the reason given.
    Conflict(String),
}

/// An entry of the section, there before or new.
#[derive(Debug)]
struct MergeEntry {
    memory: Memory,
    tier: Tier,
    /// Its number among the entries of its file that were there before; `None` for a new one.
    number: Option<usize>,
    /// Whether a memory of the source was found to be this one.
    met: bool,
    revised: bool,
    /// Whether it leaves the session for the lasting file.
    moves: bool,
}

/// The entries of one section while memories come in.
#[derive(Debug, Default)]
pub(crate) struct SectionEntries {
    entries: Vec<MergeEntry>,
    by_title: HashMap<String, Vec<usize>>,
    /// Live texts without titles of their own, by words: the entry that has them.
    by_text: HashMap<String, usize>,
    /// What was there before, made ready when first needed.
    comparable: Option<Vec<(usize, ComparableText)>>,
}

impl SectionEntries {
    /// The entries of a section as both files have them.
    pub(crate) fn of(lasting: Option<&Section>, session: Option<&Section>) -> SectionEntries {
        let mut entries = SectionEntries::default();
        let tiers = [(Tier::Lasting, lasting), (Tier::Session, session)];
        for (tier, section) in tiers.into_iter().filter_map(|(tier, section)| Some((tier, section?))) {
            for (number, memory) in section.memories.iter().enumerate() {
                let mut memory = memory.clone();
                if tier == Tier::Session {
                    memory.persistence = Persistence::Ephemeral;
                }
                entries.push(memory, tier, Some(number));
            }
        }
        entries
    }

    fn push(&mut self, memory: Memory, tier: Tier, number: Option<usize>) {
        let at = self.entries.len();
        self.by_title.entry(fold_title(&memory.title)).or_default().push(at);
        if memory.is_live() {
            self.by_text.entry(memory.text.clone()).or_insert(at);
        }
        self.entries.push(MergeEntry { memory, tier, number, met: false, revised: false, moves: false });
    }

    /// Takes in a memory in its stored form; `titled` says that its title is the source's own.
    pub fn settle(&mut self, memory: Memory, titled: bool, on_conflict: OnConflict) -> MergeOutcome {
        let bearers = self.by_title.get(&fold_title(&memory.title)).cloned().unwrap_or_default();
        if let Some(at) = self.meet(&bearers, &memory) {
            return self.promote_or_leave(at, memory);
        }
        if !memory.is_live() || memory.category.only_grows() {
            return self.store(memory);
        }
        if !titled && let Some(&at) = self.by_text.get(&memory.text) {
            return MergeOutcome::Duplicate(self.entries[at].memory.title.clone());
        }
        let addressed = |at: &usize| {
            let other = &self.entries[*at].memory;
            other.is_live() && !other.category.only_grows()
        };
        if let Some(at) = bearers.iter().copied().find(addressed) {
            let other = &self.entries[at];
            if other.number.is_some() && says_the_same(&other.memory.text, &memory.text) {
                return MergeOutcome::Duplicate(other.memory.title.clone());
            }
            return match on_conflict {
                _ if !titled => self.store_under_free_title(memory),
                OnConflict::Revise => self.revise(at, memory),
                _ => MergeOutcome::Conflict(format!("a memory is called `{}` already", other.memory.title)),
            };
        }
        let struck = |at: &usize| {
            let other = &self.entries[*at];
            !other.memory.is_live()
                && other.number.is_some()
                && !other.met
                && other.memory.text == memory.text
        };
        if on_conflict != OnConflict::Revise && bearers.iter().any(struck) {
            return MergeOutcome::Conflict(format!("`{}` is struck here", memory.title));
        }
        match self.near_duplicate(&memory.text) {
            Some(title) => MergeOutcome::Duplicate(title),
            None => self.store(memory),
        }
    }

    /// The entry that is this memory: of its title and text, and struck where it is struck. One that
    /// was there before is met once, so that what stands twice in a source is not taken for one;
    /// live titles are unique all the same.
    fn meet(&mut self, bearers: &[usize], memory: &Memory) -> Option<usize> {
        let same = |entry: &MergeEntry| {
            entry.memory.text == memory.text && entry.memory.is_live() == memory.is_live()
        };
        let address = memory.is_live() && !memory.category.only_grows();
        let of_title = || bearers.iter().copied().filter(|&at| same(&self.entries[at]));
        let unmet = of_title().find(|&at| self.entries[at].number.is_some() && !self.entries[at].met);
        let at = unmet.or_else(|| of_title().find(|_| address))?;
        self.entries[at].met = true;
        Some(at)
    }

    /// What is to last does not stay where it would end with the episode.
    fn promote_or_leave(&mut self, at: usize, memory: Memory) -> MergeOutcome {
        let entry = &self.entries[at];
        if entry.tier == Tier::Session && Tier::of(memory.persistence) == Tier::Lasting && !entry.moves {
            return self.revise(at, memory);
        }
        MergeOutcome::AlreadyThere
    }

    /// The title of the first entry, live and there before, that says nearly the same.
    fn near_duplicate(&mut self, text: &str) -> Option<String> {
        let entries = &self.entries;
        let texts = self.comparable.get_or_insert_with(|| {
            let live = |entry: &MergeEntry| {
                entry.number.is_some() && entry.memory.is_live() && !entry.memory.category.only_grows()
            };
            let numbers = (0..entries.len()).filter(|&at| live(&entries[at]));
            numbers.map(|at| (at, ComparableText::new(&entries[at].memory.text))).collect()
        });
        let text = ComparableText::new(text);
        let (at, _) = texts.iter().find(|(_, other)| text.says_the_same(other))?;
        Some(entries[*at].memory.title.clone())
    }

    fn store(&mut self, memory: Memory) -> MergeOutcome {
        let title = memory.title.clone();
        let tier = Tier::of(memory.persistence);
        self.push(memory, tier, None);
        MergeOutcome::Stored(title)
    }

    /// Gives the title, which is only the text's first words, the next free number.
    fn store_under_free_title(&mut self, mut memory: Memory) -> MergeOutcome {
        let stem = memory.title;
        let live = |at: &usize| self.entries[*at].memory.is_live();
        let taken = |title: &str| self.by_title.get(&fold_title(title)).is_some_and(|at| at.iter().any(live));
        memory.title =
            (2..).map(|number| format!("{stem} ({number})")).find(|title| !taken(title)).unwrap_or(stem);
        self.store(memory)
    }

    /// Writes an entry anew; what the new one leaves open stays, and core stays core.
    fn revise(&mut self, at: usize, new: Memory) -> MergeOutcome {
        let entry = &mut self.entries[at];
        let old = &entry.memory;
        let revised = Memory {
            title: old.title.clone(),
            persistence: old.persistence.min(new.persistence),
            context: new.context.clone().or_else(|| old.context.clone()),
            see_also: new.see_also.clone().or_else(|| old.see_also.clone()),
            ..new
        };
        entry.moves |= entry.tier == Tier::Session && Tier::of(revised.persistence) == Tier::Lasting;
        entry.memory = revised;
        entry.revised = true;
        MergeOutcome::Revised
    }

    /// The edits of one file.
    pub(crate) fn update(&self, tier: Tier) -> SectionUpdate {
        let mut update = SectionUpdate::default();
        for entry in &self.entries {
            let memory =
                || Memory { persistence: tier.written(entry.memory.persistence), ..entry.memory.clone() };
            match entry.number {
                Some(_) if entry.moves && tier == Tier::Lasting => update.memories.push(memory()),
                Some(number) if entry.moves => drop(update.entries.insert(number, EntryEdit::Remove)),
                Some(_) if entry.tier != tier => {}
                Some(number) if entry.revised => {
                    update.entries.insert(number, EntryEdit::Revise(memory()));
                }
                Some(_) => {}
                None if entry.tier == tier => update.memories.push(memory()),
                None => {}
            }
        }
        update
    }
}
