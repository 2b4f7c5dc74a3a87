//! Merges the items of an import into the memory files, in one pass.
//!
//! [`MergeReport`] gives the reason for each item that was not stored. The caller writes the files once.
//! Importing the same source again changes nothing.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::document::text::{TITLE_CHARS, stored_line};
use crate::document::{DocumentError, Section, SectionUpdate, stored};
use crate::notebook::files::{Files, Tier};
use crate::redact::redact;
use crate::transfer::place::PlaceIndex;
use crate::transfer::section_entries::{MergeOutcome, SectionEntries};
use crate::transfer::{Item, Origin, PlaceReference, SourceItem};
use crate::types::{Attempt, Memory, Scope, fold_action};

pub use crate::transfer::section_entries::OnConflict;

/// Options of an import.
#[derive(Debug, Clone, Default)]
pub struct MergeOptions {
    /// How to treat titles that are in use.
    pub on_conflict: OnConflict,
    /// Make a new place for an unknown place name.
    pub new_places: bool,
    /// The scope of items without a place.
    pub fallback: Option<Scope>,
}

/// A memory that was not stored because of another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unstored {
    /// Its position in the source.
    pub at: Origin,
    /// The section.
    pub scope: Scope,
    /// Its title.
    pub title: String,
    /// For a duplicate, the title of the existing entry; otherwise the reason.
    pub other: String,
}

/// The result of an import.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MergeReport {
    /// New memories.
    pub stored: u64,
    /// Entries whose text was replaced.
    pub revised: u64,
    /// Memories that the file had already.
    pub already_there: u64,
    /// Memories that say the same as another one.
    pub duplicates: Vec<Unstored>,
    /// Memories left out because their titles are in use.
    pub skipped: Vec<Unstored>,
    /// Items that could not be stored, with the reason.
    pub failed: Vec<(Origin, String)>,
    /// Sections added.
    pub new_sections: u64,
    /// Tried actions that are new or have a higher count than before.
    pub tried: u64,
    /// Renamed places, shortened titles, possible secrets.
    pub warnings: Vec<String>,
}

/// The merge of one section.
#[derive(Debug, Default)]
struct SectionMerge {
    entries: SectionEntries,
    /// The name in the file, else the first one in the source.
    name: String,
    known: bool,
    named_otherwise: bool,
    visits: u64,
    episodes: Vec<u64>,
    /// The source describes the place itself, not only its memories.
    described: bool,
    tried: HashMap<String, Attempt>,
    /// Folded actions to write, in order.
    new_tried: Vec<String>,
    to_write: HashSet<String>,
}

/// The state of an import.
struct Merge<'a> {
    lasting: HashMap<Scope, Section>,
    session: HashMap<Scope, Section>,
    targets: BTreeMap<Scope, SectionMerge>,
    places: PlaceIndex,
    files: &'a Files,
    options: &'a MergeOptions,
    report: MergeReport,
}

/// Merges the items of a source; `progress` is called once for each.
///
/// # Errors
///
/// [`DocumentError`] if a file cannot be edited at all; discard `files` then.
pub fn merge(
    files: &mut Files,
    items: &[SourceItem],
    options: &MergeOptions,
    mut progress: impl FnMut(),
) -> Result<MergeReport, DocumentError> {
    let mut merge = Merge::begin(files, items, options);
    for found in items {
        let taken = found.item.as_ref().map_err(Clone::clone).and_then(|item| merge.take(found.at, item));
        merge.report.failed.extend(taken.err().map(|problem| (found.at, problem)));
        progress();
    }
    let Merge { targets, mut report, .. } = merge;
    let new = targets.values().filter(|target| !target.known && target.update(Tier::Lasting).is_some());
    report.new_sections = new.count() as u64;
    write(files, &targets)?;
    Ok(report)
}

impl<'a> Merge<'a> {
    fn begin(files: &'a Files, items: &[SourceItem], options: &'a MergeOptions) -> Merge<'a> {
        let mut places = PlaceIndex::default();
        for heading in files.lasting.headings() {
            places.learn(&heading.scope, &heading.name);
        }
        for item in items.iter().filter_map(|found| found.item.as_ref().ok()) {
            let (Item::Memory { place, .. } | Item::Section { place, .. }) = item;
            if let PlaceReference::Scope(scope, name) = place {
                places.learn(scope, name);
            }
        }
        places.new_places = options.new_places;
        places.fallback.clone_from(&options.fallback);
        Merge {
            lasting: files.lasting.sections().into_iter().collect(),
            session: files.session.sections().into_iter().collect(),
            targets: BTreeMap::new(),
            places,
            files,
            options,
            report: MergeReport::default(),
        }
    }

    fn take(&mut self, at: Origin, item: &Item) -> Result<(), String> {
        let (Item::Memory { place, .. } | Item::Section { place, .. }) = item;
        let (scope, name) = self.places.find(place)?;
        match item {
            Item::Memory { memory, titled, .. } => self.take_memory(at, &scope, &name, memory, *titled),
            Item::Section { visits, episodes, tried, .. } => {
                let target = self.target(at, &scope, &name);
                target.described = true;
                target.visits = target.visits.max(*visits);
                let mut listed: HashSet<u64> = target.episodes.iter().copied().collect();
                target.episodes.extend(episodes.iter().filter(|&&episode| listed.insert(episode)));
                let added = tried.iter().filter(|attempt| target.take_attempt(attempt)).count();
                self.report.tried += added as u64;
                Ok(())
            }
        }
    }

    /// The merge of a section, begun with the content of both files.
    fn target(&mut self, at: Origin, scope: &Scope, name: &str) -> &mut SectionMerge {
        let (lasting, session) = (self.lasting.get(scope), self.session.get(scope));
        let target =
            self.targets.entry(scope.clone()).or_insert_with(|| SectionMerge::begin(lasting, session));
        let name = stored_line(name);
        if target.name.is_empty() {
            target.name = name;
        } else if !name.is_empty()
            && name.to_lowercase() != target.name.to_lowercase()
            && !target.named_otherwise
        {
            target.named_otherwise = true;
            let whose = if target.known { " in the file" } else { "" };
            self.report
                .warnings
                .push(format!("{scope} is called `{}`{whose}; {at} says `{name}`", target.name));
        }
        target
    }

    fn take_memory(
        &mut self,
        at: Origin,
        scope: &Scope,
        name: &str,
        memory: &Memory,
        titled: bool,
    ) -> Result<(), String> {
        let cut = titled && stored_line(&memory.title).chars().count() > TITLE_CHARS;
        let memory = stored(memory);
        let tier = Tier::of(memory.persistence);
        let document = if tier == Tier::Lasting { &self.files.lasting } else { &self.files.session };
        document.check_memory(&memory).map_err(|error| error.to_string())?;
        let secrets = secrets_of(&memory);
        let on_conflict = self.options.on_conflict;
        let title = memory.title.clone();
        let outcome = self.target(at, scope, name).entries.merge(memory, titled, on_conflict);
        let unstored = |other: String| Unstored { at, scope: scope.clone(), title: title.clone(), other };
        let written = matches!(outcome, MergeOutcome::Stored | MergeOutcome::Revised);
        match outcome {
            MergeOutcome::Stored => self.report.stored += 1,
            MergeOutcome::Revised => self.report.revised += 1,
            MergeOutcome::AlreadyThere => self.report.already_there += 1,
            MergeOutcome::Duplicate(title) => self.report.duplicates.push(unstored(title)),
            MergeOutcome::Conflict(why) if on_conflict == OnConflict::Skip => {
                self.report.skipped.push(unstored(why))
            }
            MergeOutcome::Conflict(why) => return Err(format!("{scope}: {why}")),
        }
        if written && cut {
            self.report.warnings.push(format!("{at}: the title is cut at {TITLE_CHARS} characters"));
        }
        if written && !secrets.is_empty() {
            let kinds = secrets.join(", ");
            let warning = format!("{at}: this looks like a secret and is stored unchanged: {kinds}");
            self.report.warnings.push(warning);
        }
        Ok(())
    }
}

/// The kinds of secrets that a memory seems to contain.
fn secrets_of(memory: &Memory) -> Vec<&'static str> {
    let texts = [Some(&memory.title), Some(&memory.text), memory.context.as_ref()];
    let mut kinds: Vec<&'static str> =
        texts.into_iter().flatten().filter_map(|text| redact(text)).flat_map(|masked| masked.kinds).collect();
    kinds.dedup();
    kinds
}

impl SectionMerge {
    fn begin(lasting: Option<&Section>, session: Option<&Section>) -> SectionMerge {
        let tried = lasting.iter().flat_map(|section| &section.tried);
        SectionMerge {
            entries: SectionEntries::of(lasting, session),
            name: lasting.map(|section| section.name.clone()).unwrap_or_default(),
            known: lasting.is_some(),
            tried: tried.map(|attempt| (fold_action(&attempt.action), attempt.clone())).collect(),
            ..SectionMerge::default()
        }
    }

    /// Merges a tried action; `false` if it is empty or already known with the same or a higher count.
    fn take_attempt(&mut self, attempt: &Attempt) -> bool {
        let attempt = Attempt { action: stored_line(&attempt.action), ..attempt.clone() };
        let action = fold_action(&attempt.action);
        let known = self.tried.get(&action).is_some_and(|known| known.count >= attempt.count);
        if action.is_empty() || known {
            return false;
        }
        if self.to_write.insert(action.clone()) {
            self.new_tried.push(action.clone());
        }
        self.tried.insert(action, attempt);
        true
    }

    /// The edits of a section in one file; `None` if there are none.
    fn update(&self, tier: Tier) -> Option<SectionUpdate> {
        let mut update = self.entries.update(tier);
        update.name.clone_from(&self.name);
        let mut wanted = !update.memories.is_empty() || !update.entries.is_empty();
        if tier == Tier::Lasting {
            update.visits = self.visits;
            update.episodes.clone_from(&self.episodes);
            update.attempts = self.new_tried.iter().map(|action| self.tried[action].clone()).collect();
            wanted |= self.described;
        }
        wanted.then_some(update)
    }
}

/// Applies the edits of all sections to both files.
fn write(files: &mut Files, targets: &BTreeMap<Scope, SectionMerge>) -> Result<(), DocumentError> {
    for tier in [Tier::Lasting, Tier::Session] {
        let updates =
            targets.iter().filter_map(|(scope, target)| Some((scope.clone(), target.update(tier)?)));
        files.of(tier).update(&updates.collect())?;
    }
    Ok(())
}
