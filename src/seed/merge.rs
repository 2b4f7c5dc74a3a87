//! Merges initial memories into the memory file.
//!
//! Three hashes decide about each memory: the one in the entry's `seed:` source (the seed's text at the
//! last write), that of the entry as it stands, and that of the seed's text now. The file changes only if
//! the first and the last differ, if the memory is new, or if an option asks for it.

use std::collections::BTreeMap;

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

use crate::seed::cast::Cast;
use crate::seed::plan::{InitialMemory, InitialSection};
use memories_document::types::{
    Author, Category, Cause, Memory, Moment, Reference, Scope, Status, same_title,
};
use memories_document::{DocumentError, EntryEdit, Section, SectionUpdate, stored};
use memories_llm::redact::redact;
use memories_notebook::authorship::Repeated;
use memories_notebook::files::{Files, date};

/// Prefix of the source that marks a seeded entry; a hash follows.
const MARK: &str = "seed:";

/// The reason given when `prune` invalidates an entry.
const NO_LONGER: &str = "no longer in the seed";

/// How to treat memories that people changed or the seed dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SeedOptions {
    /// Overwrite a person's changes with the seed's text.
    pub force: bool,
    /// Invalidate seeded memories that the seed no longer contains.
    pub prune: bool,
}

/// The result for an initial memory, or for one seeded earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[derive(Serialize, strum::Display, strum::IntoStaticStr, strum::VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum SeedOutcome {
    /// New.
    Stored,
    /// The seed's new text replaced its old one.
    Revised,
    /// Pruned earlier; the seed contains it again, and so does the file.
    Revived,
    /// The seed no longer contains it: invalidated.
    Struck,
    /// The section was given the seed's new name.
    Renamed,
    /// The entry is as the seed has it.
    Unchanged,
    /// A person changed or struck it and the seed did not change: the entry stays.
    Edited,
    /// Both changed, or another entry uses its title: the file's text stays.
    Kept,
    /// The seed no longer contains it; the entry stays.
    Left,
}

impl SeedOutcome {
    /// True if this result changes the file.
    pub(crate) fn changes(self) -> bool {
        use SeedOutcome::{Renamed, Revised, Revived, Stored, Struck};
        matches!(self, Stored | Revised | Revived | Struck | Renamed)
    }
}

/// The result for one entry or section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SeedChange {
    /// The result.
    pub outcome: SeedOutcome,
    /// The section.
    pub scope: Scope,
    /// The category; absent for a renamed section.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<Category>,
    /// The title of the entry, or the name of the section.
    pub title: String,
    /// Why the file's text stays, unless the outcome says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<&'static str>,
}

/// The result of seeding.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SeedReport {
    /// The results, section by section.
    pub changes: Vec<SeedChange>,
    /// Unknown keys, unknown agents, possible secrets.
    pub warnings: Vec<String>,
}

impl SeedReport {
    /// The number of changes with that outcome.
    pub fn count(&self, outcome: SeedOutcome) -> usize {
        self.of(outcome).count()
    }

    /// The changes with that outcome.
    pub(crate) fn of(&self, outcome: SeedOutcome) -> impl Iterator<Item = &SeedChange> {
        self.changes.iter().filter(move |change| change.outcome == outcome)
    }

    /// True if there is anything to write.
    pub fn changes_the_file(&self) -> bool {
        self.changes.iter().any(|change| change.outcome.changes())
    }
}

/// Merges the initial memories of all sections into the files.
///
/// # Errors
///
/// See [`DocumentError`]; discard `files` then.
pub(super) fn merge(
    files: &mut Files,
    cast: &Cast,
    all: &[InitialSection],
    options: &SeedOptions,
) -> Result<SeedReport, DocumentError> {
    let mut report = SeedReport { warnings: cast.warnings.clone(), ..SeedReport::default() };
    let mut updates = BTreeMap::new();
    for initial in all {
        report.warnings.extend(initial.warnings.iter().cloned());
        let mut seeding = SectionSeeding::begin(files, initial, *options, &mut report);
        initial.memories.iter().for_each(|memory| seeding.add(memory));
        seeding.prune_or_leave(cast);
        let SectionSeeding { update, renames, .. } = seeding;
        if !update.added.memories.is_empty() || !update.entries.is_empty() {
            note_authors(files, &initial.scope, &update);
            updates.insert(initial.scope.clone(), update);
        }
        if renames {
            files.lasting.rename(&initial.scope, &initial.name);
            report.changes.push(SeedChange {
                outcome: SeedOutcome::Renamed,
                scope: initial.scope.clone(),
                category: None,
                title: initial.name.clone(),
                why: None,
            });
        }
    }
    files.lasting.update(&updates)?;
    Ok(report)
}

/// Notes that the seed is the author of the entries that it gives a text.
fn note_authors(files: &mut Files, scope: &Scope, update: &SectionUpdate) {
    let revised = update.entries.values().filter_map(|edit| match edit {
        EntryEdit::Revise(memory) => Some(memory),
        _ => None,
    });
    files.authorship.set_author(Author::Seed);
    for memory in update.added.memories.iter().chain(revised) {
        files.authorship.note(scope, memory, Repeated::No);
    }
}

/// The merge of one section.
struct SectionSeeding<'a> {
    options: SeedOptions,
    initial: &'a InitialSection,
    /// The section in the memory file.
    section: Section,
    /// The section in the session file: entries that end with the episode.
    session: Section,
    /// The day of the seeding.
    today: Option<String>,
    /// For each entry, true if it was matched with an initial memory.
    matched: Vec<bool>,
    update: SectionUpdate,
    report: &'a mut SeedReport,
    renames: bool,
}

impl<'a> SectionSeeding<'a> {
    fn begin(
        files: &Files,
        initial: &'a InitialSection,
        options: SeedOptions,
        report: &'a mut SeedReport,
    ) -> SectionSeeding<'a> {
        let section = files.lasting.section(&initial.scope).unwrap_or_default();
        SectionSeeding {
            options,
            initial,
            matched: vec![false; section.memories.len()],
            section,
            session: files.session.section(&initial.scope).unwrap_or_default(),
            today: files.today.clone(),
            update: Section { name: initial.name.clone(), ..Section::default() }.into(),
            report,
            renames: false,
        }
    }

    fn add(&mut self, initial: &InitialMemory) {
        let memory = stored(&initial.memory);
        let hash = digest(&memory);
        let (outcome, why) = match self.find(&memory, &hash) {
            Some(number) => {
                self.matched[number] = true;
                self.merge_seeded(number, memory.clone(), &hash, initial.only_if_new)
            }
            None => self.merge_new(memory.clone(), &hash),
        };
        if outcome.changes() {
            for masked in memory.texts().into_iter().filter_map(|text| redact(text)) {
                let kinds = masked.kinds.join(", ");
                let address = format!("\"{}\" of {}", memory.title, self.initial.scope);
                self.report
                    .warnings
                    .push(format!("{address} looks like it holds a secret and is stored unchanged: {kinds}"));
            }
        }
        self.note(outcome, &memory, why);
    }

    fn note(&mut self, outcome: SeedOutcome, memory: &Memory, why: Option<&'static str>) {
        self.report.changes.push(SeedChange {
            outcome,
            scope: self.initial.scope.clone(),
            category: Some(memory.category.clone()),
            title: memory.title.clone(),
            why,
        });
    }

    /// The seeded entry of this memory: the one with the same hash, else one of the same category about the
    /// same agent. Live entries come first.
    fn find(&self, memory: &Memory, hash: &str) -> Option<usize> {
        let all = self.section.memories.iter().enumerate();
        let free = all.filter(|(number, entry)| !self.matched[*number] && mark_of(entry).is_some());
        let mut free: Vec<(usize, &Memory)> = free.collect();
        free.sort_by_key(|(_, entry)| !entry.is_live());
        let same = |entry: &Memory| mark_of(entry) == Some(hash);
        let alike = |entry: &Memory| entry.category == memory.category && about(entry) == about(memory);
        let found = free.iter().find(|(_, entry)| same(entry));
        found.or_else(|| free.iter().find(|(_, entry)| alike(entry))).map(|(number, _)| *number)
    }

    /// A memory that was seeded before.
    fn merge_seeded(
        &mut self,
        number: usize,
        memory: Memory,
        hash: &str,
        only_if_new: bool,
    ) -> (SeedOutcome, Option<&'static str>) {
        let entry = self.section.memories[number].clone();
        let before = mark_of(&entry).unwrap_or_default();
        let now = digest(&entry);
        if self.is_pruned(&entry) {
            if self.is_in_use(&memory.title, Some(number)) {
                return (SeedOutcome::Kept, Some("its title is in use"));
            }
            self.revise(number, &entry, memory, hash);
            return (SeedOutcome::Revived, None);
        }
        if only_if_new || before == hash && !self.options.force {
            let as_given = now == before && entry.is_live();
            let unchanged = as_given || only_if_new;
            return (if unchanged { SeedOutcome::Unchanged } else { SeedOutcome::Edited }, None);
        }
        if before == hash && now == hash && entry.is_live() {
            return (SeedOutcome::Unchanged, None);
        }
        // A person may have made the same change as the seed.
        let untouched = entry.is_live() && (now == before || now == hash);
        if !untouched && !self.options.force {
            let why = if entry.is_live() { "both were changed" } else { "it is struck in the file" };
            return (SeedOutcome::Kept, Some(why));
        }
        if self.is_in_use(&memory.title, Some(number)) {
            return (SeedOutcome::Kept, Some("its title is in use"));
        }
        let identity = memory.category.as_str() == "IDENTITY";
        self.revise(number, &entry, memory, hash);
        let named_otherwise = self.section.name != self.initial.name && !self.section.name.is_empty();
        self.renames |= identity && named_otherwise;
        (SeedOutcome::Revised, None)
    }

    /// A memory that was never seeded.
    fn merge_new(&mut self, memory: Memory, hash: &str) -> (SeedOutcome, Option<&'static str>) {
        let has_title = |entry: &&Memory| entry.is_live() && same_title(&entry.title, &memory.title);
        let own = self.section.memories.iter().position(|entry| has_title(&entry));
        let mut others = self.session.memories.iter().chain(&self.update.added.memories);
        if own.is_none() && !others.any(|entry| has_title(&entry)) {
            let mut memory = marked(memory, hash);
            date(&mut memory, self.today.as_deref());
            self.update.added.memories.push(memory);
            return (SeedOutcome::Stored, None);
        }
        let Some(number) = own else { return (SeedOutcome::Kept, Some("its title is in use")) };
        let entry = self.section.memories[number].clone();
        if entry.text == memory.text && !self.options.force {
            return (SeedOutcome::Unchanged, None);
        }
        if !self.options.force || self.matched[number] {
            return (SeedOutcome::Kept, Some("its title is in use"));
        }
        self.matched[number] = true;
        self.revise(number, &entry, memory, hash);
        (SeedOutcome::Revised, None)
    }

    /// Gives an entry the text of the seed; it keeps its other fields. Words of a person are struck, not replaced.
    fn revise(&mut self, number: usize, entry: &Memory, new: Memory, hash: &str) {
        let mut provenance = entry.provenance.clone();
        provenance.sources.retain(|source| !source.starts_with(MARK));
        for tag in &new.provenance.tags {
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
            ..new
        };
        let as_given = mark_of(entry).is_some_and(|mark| mark == digest(entry));
        if as_given || entry.text == revised.text {
            self.update.entries.insert(number, EntryEdit::Revise(marked(revised, hash)));
            return;
        }
        if entry.is_live() {
            let cause = Cause::SupersededBy(revised.title.clone());
            let reference = Reference { at: Moment::default(), cause };
            self.update.entries.insert(number, EntryEdit::Supersede(Some(reference)));
        }
        self.update.added.memories.push(marked(revised, hash));
    }

    /// True if another live entry of either file has the title.
    fn is_in_use(&self, title: &str, except: Option<usize>) -> bool {
        let others = self.section.memories.iter().enumerate().filter(|(number, _)| Some(*number) != except);
        let mut live = others.map(|(_, entry)| entry).chain(&self.session.memories);
        live.any(|entry| entry.is_live() && same_title(&entry.title, title))
    }

    /// Treats seeded entries that the seed no longer contains. Entries about agents that it does not describe
    /// are skipped, since another seed file may describe them.
    fn prune_or_leave(&mut self, cast: &Cast) {
        let entries = self.section.memories.clone();
        for (number, entry) in entries.iter().enumerate() {
            let described = |id: &str| cast.agents.iter().any(|agent| agent.id == id);
            let elsewhere = about(entry).is_some_and(|id| !described(id));
            let gone = entry.is_live() && !self.matched[number] && !elsewhere;
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
            self.note(outcome, entry, why);
        }
    }

    /// True if the entry was invalidated by `prune`.
    fn is_pruned(&self, entry: &Memory) -> bool {
        let cause = entry.reference.as_ref().map(|reference| &reference.cause);
        !entry.is_live() && matches!(cause, Some(Cause::Invalidated(reason)) if reason == NO_LONGER)
    }
}

/// The hash in the source of a seeded entry.
fn mark_of(memory: &Memory) -> Option<&str> {
    memory.provenance.sources.iter().find_map(|source| source.strip_prefix(MARK))
}

fn marked(mut memory: Memory, hash: &str) -> Memory {
    memory.provenance.sources.push(format!("{MARK}{hash}"));
    memory
}

/// The id of the agent that a memory is about.
fn about(memory: &Memory) -> Option<&str> {
    memory.provenance.tags.iter().find_map(|tag| tag.strip_prefix("about:"))
}

/// The hash of the parts that a seed defines, as eight hex digits: category, subject, title and text.
fn digest(memory: &Memory) -> String {
    let about = about(memory).unwrap_or_default();
    let whole = format!("{}\n{about}\n{}\n{}", memory.category, memory.title, memory.text);
    format!("{:08x}", xxh3_64(whole.as_bytes()) >> 32)
}
