//! What becomes of each gift, given what the file says already.
//!
//! InitialSection enter with both files; the files leave with what had to change, and a [`SeedReport`]. Three things
//! decide: the hash in the entry's mark (what the seed said last), the hash of the entry as it is, and
//! that of the gift. The file is only touched where the first and the last differ, where the gift is
//! new, or where the caller asks for more.

use std::collections::BTreeMap;

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

use crate::document::{DocumentError, EntryEdit, Section, SectionUpdate, stored};
use crate::notebook::files::Files;
use crate::redact::redact;
use crate::seed::cast::Cast;
use crate::seed::plan::{InitialMemory, InitialSection};
use crate::types::{Category, Cause, Memory, Moment, Reference, Scope, Status, same_title};

/// What the sources of a gifted entry begin with; a hash follows.
const MARK: &str = "seed:";

/// The reason with which `prune` strikes.
const NO_LONGER: &str = "no longer in the seed";

/// How to settle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SeedOptions {
    /// Whether the seed's text takes the place of what a person changed.
    pub force: bool,
    /// Whether what the seed no longer says is struck.
    pub prune: bool,
}

/// What became of a gift, or of one from before.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Serialize, strum::Display, strum::IntoStaticStr, strum::VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum SeedOutcome {
    /// It is new.
    Stored,
    /// The seed's new text took the place of its old one.
    Revised,
    /// It was struck when the seed did not say it, and is back.
    Revived,
    /// The seed no longer says it: it is struck.
    Struck,
    /// The section has the seed's new name.
    Renamed,
    /// It is there as the seed gave it.
    Unchanged,
    /// A person changed or struck it, the seed did not: it stays as it is.
    Edited,
    /// Both changed, or a person's own entry bears its title: the file's text stays.
    Kept,
    /// The seed no longer says it; it stays.
    Left,
}

impl SeedOutcome {
    /// Whether the file is not as before.
    pub(crate) fn changes(self) -> bool {
        use SeedOutcome::{Renamed, Revised, Revived, Stored, Struck};
        matches!(self, Stored | Revised | Revived | Struck | Renamed)
    }
}

/// What became of one entry or section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SeedChange {
    /// What.
    pub outcome: SeedOutcome,
    /// The section.
    pub scope: Scope,
    /// The kind of memory; none of a section that was renamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<Category>,
    /// The title of the entry, or the name of the section.
    pub title: String,
    /// Why the file's text stays, where that is not clear.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<&'static str>,
}

/// What came of a seed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SeedReport {
    /// What became of each entry, section by section.
    pub changes: Vec<SeedChange>,
    /// What may not be as wished.
    pub warnings: Vec<String>,
}

impl SeedReport {
    /// How many have that outcome.
    pub fn count(&self, outcome: SeedOutcome) -> usize {
        self.of(outcome).count()
    }

    /// Those of that outcome.
    pub(crate) fn of(&self, outcome: SeedOutcome) -> impl Iterator<Item = &SeedChange> {
        self.changes.iter().filter(move |change| change.outcome == outcome)
    }

    /// Whether anything is to be written.
    pub fn changes_the_file(&self) -> bool {
        self.changes.iter().any(|change| change.outcome.changes())
    }
}

/// Gives the sections what they lack.
///
/// # Errors
///
/// See [`DocumentError`]; the files are then to be thrown away.
pub fn settle(
    files: &mut Files,
    cast: &Cast,
    all: &[InitialSection],
    options: &SeedOptions,
) -> Result<SeedReport, DocumentError> {
    let mut report = SeedReport { warnings: cast.warnings.clone(), ..SeedReport::default() };
    let mut updates = BTreeMap::new();
    for gifts in all {
        report.warnings.extend(gifts.warnings.iter().cloned());
        let mut seeding = SectionSeeding::begin(files, gifts, *options);
        gifts.gifts.iter().for_each(|gift| seeding.give(gift));
        seeding.leave_the_rest(cast);
        let SectionSeeding { update, changes, warnings, renames, .. } = seeding;
        if !update.memories.is_empty() || !update.entries.is_empty() {
            updates.insert(gifts.scope.clone(), update);
        }
        report.changes.extend(changes);
        report.warnings.extend(warnings);
        if renames {
            files.lasting.rename(&gifts.scope, &gifts.name)?;
            report.changes.push(SeedChange {
                outcome: SeedOutcome::Renamed,
                scope: gifts.scope.clone(),
                category: None,
                title: gifts.name.clone(),
                why: None,
            });
        }
    }
    files.lasting.update(&updates)?;
    Ok(report)
}

/// One section while it is given its gifts.
struct SectionSeeding<'a> {
    options: SeedOptions,
    gifts: &'a InitialSection,
    /// What the lasting file says of it.
    section: Section,
    /// What the session says of it: entries that end with the episode.
    session: Section,
    /// Of each entry whether it is one of the gifts.
    met: Vec<bool>,
    update: SectionUpdate,
    changes: Vec<SeedChange>,
    warnings: Vec<String>,
    renames: bool,
}

impl<'a> SectionSeeding<'a> {
    fn begin(files: &Files, gifts: &'a InitialSection, options: SeedOptions) -> SectionSeeding<'a> {
        let section = files.lasting.section(&gifts.scope).unwrap_or_default();
        SectionSeeding {
            options,
            gifts,
            met: vec![false; section.memories.len()],
            section,
            session: files.session.section(&gifts.scope).unwrap_or_default(),
            update: SectionUpdate { name: gifts.name.clone(), ..SectionUpdate::default() },
            changes: Vec::new(),
            warnings: Vec::new(),
            renames: false,
        }
    }

    fn give(&mut self, gift: &InitialMemory) {
        let memory = stored(&gift.memory);
        let told = digest(&memory);
        let (outcome, why) = match self.find(&memory, &told) {
            Some(number) => {
                self.met[number] = true;
                self.settle_gifted(number, memory.clone(), &told, gift.only_if_new)
            }
            None => self.settle_new(memory.clone(), &told),
        };
        if outcome.changes() {
            for masked in [&memory.title, &memory.text].into_iter().filter_map(|text| redact(text)) {
                let kinds = masked.kinds.join(", ");
                let address = format!("\"{}\" of {}", memory.title, self.gifts.scope);
                self.warnings
                    .push(format!("{address} looks like it holds a secret, stored as it is: {kinds}"));
            }
        }
        self.tell(outcome, &memory, why);
    }

    fn tell(&mut self, outcome: SeedOutcome, memory: &Memory, why: Option<&'static str>) {
        self.changes.push(SeedChange {
            outcome,
            scope: self.gifts.scope.clone(),
            category: Some(memory.category.clone()),
            title: memory.title.clone(),
            why,
        });
    }

    /// The entry that was this gift: of the same words by its mark, else gifted, of the same kind and
    /// about the same one. Live ones first.
    fn find(&self, memory: &Memory, told: &str) -> Option<usize> {
        let entries = || {
            let all = self.section.memories.iter().enumerate();
            let free = all.filter(|(number, entry)| !self.met[*number] && mark_of(entry).is_some());
            free.collect::<Vec<_>>()
        };
        let same = |entry: &Memory| mark_of(entry) == Some(told);
        let alike = |entry: &Memory| entry.category == memory.category && about(entry) == about(memory);
        let live = entries().into_iter().filter(|(_, entry)| entry.is_live());
        let struck = entries().into_iter().filter(|(_, entry)| !entry.is_live());
        let all: Vec<(usize, &Memory)> = live.chain(struck).collect();
        let found = all.iter().find(|(_, entry)| same(entry));
        found.or_else(|| all.iter().find(|(_, entry)| alike(entry))).map(|(number, _)| *number)
    }

    fn settle_gifted(
        &mut self,
        number: usize,
        memory: Memory,
        told: &str,
        only_if_new: bool,
    ) -> (SeedOutcome, Option<&'static str>) {
        let entry = self.section.memories[number].clone();
        let before = mark_of(&entry).unwrap_or_default();
        let now = digest(&entry);
        if self.is_pruned(&entry) {
            if self.is_in_use(&memory.title, Some(number)) {
                return (SeedOutcome::Kept, Some("its title is in use"));
            }
            self.revise(number, &entry, memory, told);
            return (SeedOutcome::Revived, None);
        }
        if only_if_new || before == told && !self.options.force {
            let as_given = now == before && entry.is_live();
            return (
                if as_given || only_if_new { SeedOutcome::Unchanged } else { SeedOutcome::Edited },
                None,
            );
        }
        if before == told && now == told && entry.is_live() {
            return (SeedOutcome::Unchanged, None);
        }
        // Who changed the entry to what the seed says now has said it first.
        let untouched = entry.is_live() && (now == before || now == told);
        if !untouched && !self.options.force {
            let why = if entry.is_live() { "both were changed" } else { "it is struck in the file" };
            return (SeedOutcome::Kept, Some(why));
        }
        if self.is_in_use(&memory.title, Some(number)) {
            return (SeedOutcome::Kept, Some("its title is in use"));
        }
        let identity = memory.category.as_str() == "IDENTITY";
        self.revise(number, &entry, memory, told);
        let named_otherwise = self.section.name != self.gifts.name && !self.section.name.is_empty();
        self.renames |= identity && named_otherwise;
        (SeedOutcome::Revised, None)
    }

    /// A gift that no entry has been before.
    fn settle_new(&mut self, memory: Memory, told: &str) -> (SeedOutcome, Option<&'static str>) {
        let bears = |entry: &&Memory| entry.is_live() && same_title(&entry.title, &memory.title);
        let own = self.section.memories.iter().position(|entry| bears(&entry));
        let mut others = self.session.memories.iter().chain(&self.update.memories);
        if own.is_none() && !others.any(|entry| bears(&entry)) {
            self.update.memories.push(marked(memory, told));
            return (SeedOutcome::Stored, None);
        }
        let Some(number) = own else { return (SeedOutcome::Kept, Some("its title is in use")) };
        let entry = self.section.memories[number].clone();
        if entry.text == memory.text && !self.options.force {
            return (SeedOutcome::Unchanged, None);
        }
        if !self.options.force || self.met[number] {
            return (SeedOutcome::Kept, Some("its title is in use"));
        }
        self.met[number] = true;
        self.revise(number, &entry, memory, told);
        (SeedOutcome::Revised, None)
    }

    /// The gift in place of an entry, which keeps what it says besides: its fields and closing lines.
    fn revise(&mut self, number: usize, entry: &Memory, gift: Memory, told: &str) {
        let mut provenance = entry.provenance.clone();
        provenance.sources.retain(|source| !source.starts_with(MARK));
        for tag in &gift.provenance.tags {
            if !provenance.tags.contains(tag) {
                provenance.tags.push(tag.clone());
            }
        }
        let revised = Memory {
            persistence: entry.persistence,
            status: if entry.is_live() { entry.status } else { Status::Active },
            context: entry.context.clone(),
            see_also: entry.see_also.clone(),
            provenance,
            ..gift
        };
        self.update.entries.insert(number, EntryEdit::Revise(marked(revised, told)));
    }

    /// Whether another live entry of either file bears a title.
    fn is_in_use(&self, title: &str, but: Option<usize>) -> bool {
        let others = self.section.memories.iter().enumerate().filter(|(number, _)| Some(*number) != but);
        let mut live = others.map(|(_, entry)| entry).chain(&self.session.memories);
        live.any(|entry| entry.is_live() && same_title(&entry.title, title))
    }

    /// What was given before and is in the seed no longer: what an agent is, and the scene. What one
    /// knows of somebody who is not described now may be told by another file.
    fn leave_the_rest(&mut self, cast: &Cast) {
        let entries = self.section.memories.clone();
        for (number, entry) in entries.iter().enumerate() {
            let described = |id: &str| cast.agents.iter().any(|agent| agent.id == id);
            let elsewhere = about(entry).is_some_and(|id| !described(id));
            let gone = entry.is_live() && !self.met[number] && !elsewhere;
            let Some(before) = mark_of(entry).filter(|_| gone) else { continue };
            let untouched = digest(entry) == before;
            let (outcome, why) = match self.options.prune {
                true if untouched || self.options.force => (SeedOutcome::Struck, None),
                true => (SeedOutcome::Left, Some("it was changed in the file")),
                false => (SeedOutcome::Left, None),
            };
            if outcome == SeedOutcome::Struck {
                let cause = Cause::Invalidated(NO_LONGER.to_owned());
                let reference = Reference { at: Moment::default(), cause };
                self.update.entries.insert(number, EntryEdit::Supersede(Some(reference)));
            }
            self.tell(outcome, entry, why);
        }
    }

    /// Whether an entry was struck because the seed did not say it.
    fn is_pruned(&self, entry: &Memory) -> bool {
        let cause = entry.reference.as_ref().map(|reference| &reference.cause);
        !entry.is_live() && matches!(cause, Some(Cause::Invalidated(reason)) if reason == NO_LONGER)
    }
}

/// The hash in the mark of a gifted entry.
fn mark_of(memory: &Memory) -> Option<&str> {
    memory.provenance.sources.iter().find_map(|source| source.strip_prefix(MARK))
}

fn marked(mut memory: Memory, told: &str) -> Memory {
    memory.provenance.sources.push(format!("{MARK}{told}"));
    memory
}

/// Whom a memory is about.
fn about(memory: &Memory) -> Option<&str> {
    memory.provenance.tags.iter().find_map(|tag| tag.strip_prefix("about:"))
}

/// Eight digits for what a seed says in an entry: kind, whom it is about, title and text.
fn digest(memory: &Memory) -> String {
    let about = about(memory).unwrap_or_default();
    let whole = format!("{}\n{about}\n{}\n{}", memory.category, memory.title, memory.text);
    format!("{:08x}", xxh3_64(whole.as_bytes()) >> 32)
}
