//! The rules by which imported memories are merged into one section.
//!
//! Live titles stay unique. A memory that the section already has, or a duplicate of one, is not
//! stored; an entry that is struck here is only revived on request. Memories of the same source are not
//! searched for duplicates among themselves.

use std::collections::HashMap;

use memories_document::types::{Cause, Memory, Moment, Persistence, Reference, Status, fold_title};
use memories_document::{EntryEdit, Section, SectionUpdate};
use memories_notebook::duplicates::{ComparableText, says_the_same};
use memories_notebook::files::Tier;

/// How to treat a memory whose title has another text here, or is struck here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnConflict {
    /// Do not store it, and report it as failed.
    #[default]
    Refuse,
    /// Do not store it, and count it.
    Skip,
    /// Replace the entry; a struck one stays, and the memory is added as a new entry.
    Revise,
}

/// The result for one memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MergeOutcome {
    /// Stored as a new entry.
    Stored,
    /// The entry of its title was replaced.
    Revised,
    /// An entry of its title has the same text.
    AlreadyThere,
    /// A duplicate of the entry with this title.
    Duplicate(String),
    /// Not stored, for the reason given.
    Conflict(String),
}

/// An entry of the section, existing or new.
#[derive(Debug)]
struct MergeEntry {
    memory: Memory,
    tier: Tier,
    /// Its number in its file; `None` for a new entry.
    number: Option<usize>,
    /// A memory of the source was matched with it.
    matched: bool,
    revised: bool,
    /// A memory of the source with another text took its place.
    superseded: bool,
    /// It moves from the session file to the memory file.
    moves: bool,
}

/// The entries of one section during the merge.
#[derive(Debug, Default)]
pub(crate) struct SectionEntries {
    entries: Vec<MergeEntry>,
    by_title: HashMap<String, Vec<usize>>,
    /// The first live entry of each text, to find memories that come without a title.
    by_text: HashMap<String, usize>,
    /// Existing live entries prepared for comparison, made when first needed.
    comparable: Option<Vec<(usize, ComparableText)>>,
}

impl SectionEntries {
    /// The entries of a section in both files.
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
        self.entries.push(MergeEntry {
            memory,
            tier,
            number,
            matched: false,
            revised: false,
            superseded: false,
            moves: false,
        });
    }

    /// Merges a memory in its stored form; `titled` is true if the source gave it a title.
    pub fn merge(&mut self, memory: Memory, titled: bool, on_conflict: OnConflict) -> MergeOutcome {
        let same_title = self.by_title.get(&fold_title(&memory.title)).cloned().unwrap_or_default();
        if let Some(at) = self.match_entry(&same_title, &memory) {
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
        if let Some(at) = same_title.iter().copied().find(addressed) {
            let other = &self.entries[at];
            if other.number.is_some() && says_the_same(&other.memory.text, &memory.text) {
                return MergeOutcome::Duplicate(other.memory.title.clone());
            }
            if !titled {
                return self.store_under_free_title(memory);
            }
            return match on_conflict {
                OnConflict::Revise if other.number.is_some() && !other.matched => self.revise(at, memory),
                OnConflict::Revise => MergeOutcome::Conflict(format!(
                    "the source has two memories that are called `{}`",
                    other.memory.title
                )),
                _ => MergeOutcome::Conflict(format!("a memory is called `{}` already", other.memory.title)),
            };
        }
        let struck = |at: &usize| {
            let other = &self.entries[*at];
            !other.memory.is_live()
                && other.number.is_some()
                && !other.matched
                && other.memory.text == memory.text
        };
        if on_conflict != OnConflict::Revise && same_title.iter().any(struck) {
            return MergeOutcome::Conflict(format!("`{}` is struck here", memory.title));
        }
        match self.duplicate(&memory.text) {
            Some(title) => MergeOutcome::Duplicate(title),
            None => self.store(memory),
        }
    }

    /// The entry equal to this memory: same title, same text, and both live or both struck. An existing entry
    /// is matched once, so that repeated memories of a source are all kept, except live ones, whose titles
    /// are unique.
    fn match_entry(&mut self, same_title: &[usize], memory: &Memory) -> Option<usize> {
        let same = |entry: &MergeEntry| {
            entry.memory.text == memory.text && entry.memory.is_live() == memory.is_live()
        };
        let unique = memory.is_live() && !memory.category.only_grows();
        let of_title = || same_title.iter().copied().filter(|&at| same(&self.entries[at]));
        let unmatched = of_title().find(|&at| self.entries[at].number.is_some() && !self.entries[at].matched);
        let at = unmatched.or_else(|| of_title().find(|_| unique))?;
        self.entries[at].matched = true;
        Some(at)
    }

    /// Moves an entry out of the session file if the source has it as lasting.
    fn promote_or_leave(&mut self, at: usize, memory: Memory) -> MergeOutcome {
        let entry = &self.entries[at];
        if entry.tier == Tier::Session && Tier::of(memory.persistence) == Tier::Lasting && !entry.moves {
            return self.revise(at, memory);
        }
        MergeOutcome::AlreadyThere
    }

    /// The title of the first existing live entry that is a duplicate of the text.
    fn duplicate(&mut self, text: &str) -> Option<String> {
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
        let tier = Tier::of(memory.persistence);
        self.push(memory, tier, None);
        MergeOutcome::Stored
    }

    /// Appends the first free number to a title made from the text's first words.
    fn store_under_free_title(&mut self, mut memory: Memory) -> MergeOutcome {
        let stem = memory.title;
        let live = |at: &usize| self.entries[*at].memory.is_live();
        let taken = |title: &str| self.by_title.get(&fold_title(title)).is_some_and(|at| at.iter().any(live));
        memory.title =
            (2..).map(|number| format!("{stem} ({number})")).find(|title| !taken(title)).unwrap_or(stem);
        self.store(memory)
    }

    /// Puts a memory in the place of an entry, which is superseded where its text is another. Context, links and
    /// a higher persistence of the old one are kept.
    fn revise(&mut self, at: usize, new: Memory) -> MergeOutcome {
        let entry = &mut self.entries[at];
        let revised = entry.memory.revised_to(new);
        if entry.number.is_some() && revised.text != entry.memory.text {
            let cause = Cause::SupersededBy(revised.title.clone());
            entry.memory.status = Status::Superseded;
            entry.memory.reference = Some(Reference { at: Moment::default(), cause });
            entry.superseded = true;
            self.store(revised);
            return MergeOutcome::Revised;
        }
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
                Some(_) if entry.moves && tier == Tier::Lasting => update.added.memories.push(memory()),
                Some(number) if entry.moves => drop(update.entries.insert(number, EntryEdit::Remove)),
                Some(number) if entry.tier == tier && entry.superseded => {
                    let reference = entry.memory.reference.clone();
                    update.entries.insert(number, EntryEdit::Supersede(reference));
                }
                Some(number) if entry.tier == tier && entry.revised => {
                    update.entries.insert(number, EntryEdit::Revise(memory()));
                }
                None if entry.tier == tier => update.added.memories.push(memory()),
                _ => {}
            }
        }
        update
    }
}
