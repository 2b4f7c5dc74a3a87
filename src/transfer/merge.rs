//! Puts what a source says into the memory files, in one pass.
//!
//! Items enter with both files; the files leave with all that could be taken in, and a [`MergeReport`] that
//! says of everything else why not. The caller writes the files once. A source that is read again
//! changes nothing.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::document::text::{TITLE_CHARS, stored_line};
use crate::document::{DocumentError, Section, SectionUpdate, stored};
use crate::notebook::files::{Files, Tier};
use crate::redact::redact;
use crate::transfer::place::PlaceIndex;
use crate::transfer::settle::{MergeOutcome, SectionEntries};
use crate::transfer::{Item, Origin, PlaceReference, SourceItem};
use crate::types::{Attempt, Memory, Scope, fold_action};

pub use crate::transfer::settle::OnConflict;

/// How to take things in.
#[derive(Debug, Clone, Default)]
pub struct MergeOptions {
    /// What to do where a title is in use.
    pub on_conflict: OnConflict,
    /// Whether a name that no place bears makes a new place.
    pub new_places: bool,
    /// Where goes what says nothing of its place.
    pub fallback: Option<Scope>,
}

/// A memory that was not stored, for another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unstored {
    /// Where it stands in the source.
    pub at: Origin,
    /// The section.
    pub scope: Scope,
    /// Its title.
    pub title: String,
    /// Of a near-duplicate, the title of the entry that is there; else why it was not stored.
    pub other: String,
}

/// What came of a source.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MergeReport {
    /// New memories.
    pub stored: u64,
    /// SectionEntries that say something else now.
    pub revised: u64,
    /// Memories that were there.
    pub already_there: u64,
    /// Memories that say what another one says.
    pub duplicates: Vec<Unstored>,
    /// Memories left out because their titles are in use.
    pub skipped: Vec<Unstored>,
    /// What could not be taken in, and why.
    pub failed: Vec<(Origin, String)>,
    /// Sections that there were not before.
    pub new_sections: u64,
    /// Tried actions, new or tried more often than was known.
    pub tried: u64,
    /// What may not be as wished.
    pub warnings: Vec<String>,
}

/// What happens to one section.
#[derive(Debug, Default)]
struct SectionMerge {
    entries: SectionEntries,
    /// As the file names it, else as the source does first.
    name: String,
    known: bool,
    named_otherwise: bool,
    visits: u64,
    episodes: Vec<u64>,
    /// Whether the source speaks of the place itself.
    described: bool,
    tried: HashMap<String, Attempt>,
    /// Those that are to be written, in their order.
    new_tried: Vec<String>,
    to_write: HashSet<String>,
}

/// The merge while it goes on.
struct Merge<'a> {
    lasting: HashMap<Scope, Section>,
    session: HashMap<Scope, Section>,
    targets: BTreeMap<Scope, SectionMerge>,
    places: PlaceIndex,
    files: &'a Files,
    options: &'a MergeOptions,
    report: MergeReport,
}

/// Takes in the items of a source; `progress` is called once for each.
///
/// # Errors
///
/// [`DocumentError`] where a file cannot be edited at all; it is then to be thrown away.
pub fn merge(
    files: &mut Files,
    items: &[SourceItem],
    options: &MergeOptions,
    mut progress: impl FnMut(),
) -> Result<MergeReport, DocumentError> {
    let mut merge = Merge::begin(files, items, options);
    for found in items {
        match &found.item {
            Err(problem) => merge.report.failed.push((found.at, problem.clone())),
            Ok(item) => {
                if let Err(problem) = merge.take(found.at, item) {
                    merge.report.failed.push((found.at, problem));
                }
            }
        }
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
        match item {
            Item::Memory { place, memory, titled } => {
                let (scope, name) = self.places.find(place)?;
                self.take_memory(at, &scope, &name, memory, *titled)
            }
            Item::Section { place, visits, episodes, tried } => {
                let (scope, name) = self.places.find(place)?;
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

    /// The target of a section, begun with what both files say of it.
    fn target(&mut self, at: Origin, scope: &Scope, name: &str) -> &mut SectionMerge {
        if !self.targets.contains_key(scope) {
            let (lasting, session) = (self.lasting.get(scope), self.session.get(scope));
            let mut target =
                SectionMerge { entries: SectionEntries::of(lasting, session), ..SectionMerge::default() };
            target.known = lasting.is_some();
            if let Some(section) = lasting {
                target.name.clone_from(&section.name);
                let action = |attempt: &Attempt| (fold_action(&attempt.action), attempt.clone());
                target.tried = section.tried.iter().map(action).collect();
            }
            self.targets.insert(scope.clone(), target);
        }
        let target = self.targets.get_mut(scope).expect("it is there or was just made");
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
        let outcome = self.target(at, scope, name).entries.settle(memory, titled, on_conflict);
        let unstored = |other: String| Unstored { at, scope: scope.clone(), title: title.clone(), other };
        let written = matches!(outcome, MergeOutcome::Stored(_) | MergeOutcome::Revised);
        match outcome {
            MergeOutcome::Stored(_) => self.report.stored += 1,
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
            let warning = format!("{at}: this looks like a secret and is stored as it stands: {kinds}");
            self.report.warnings.push(warning);
        }
        Ok(())
    }
}

/// The kinds of secrets that a memory seems to hold, each once.
fn secrets_of(memory: &Memory) -> Vec<&'static str> {
    let texts = [Some(&memory.title), Some(&memory.text), memory.context.as_ref()];
    let mut kinds: Vec<&'static str> =
        texts.into_iter().flatten().filter_map(|text| redact(text)).flat_map(|masked| masked.kinds).collect();
    kinds.dedup();
    kinds
}

impl SectionMerge {
    /// Takes in a tried action; `false` where it is known to have been tried as often, or is empty.
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

    /// The edits of a file's section; `None` where there are none.
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

/// Writes all targets into the files.
fn write(files: &mut Files, targets: &BTreeMap<Scope, SectionMerge>) -> Result<(), DocumentError> {
    for tier in [Tier::Lasting, Tier::Session] {
        let updates =
            targets.iter().filter_map(|(scope, target)| Some((scope.clone(), target.update(tier)?)));
        files.of(tier).update(&updates.collect())?;
    }
    Ok(())
}
