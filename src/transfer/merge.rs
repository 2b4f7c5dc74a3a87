//! Merges the items of an import into the memory files, in one pass.
//!
//! [`MergeReport`] gives the reason for each item that was not stored. The caller writes the files once.
//! Importing the same source again changes nothing.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::Hash;

use crate::transfer::place::PlaceIndex;
use crate::transfer::secrets::MaskedItems;
use crate::transfer::section_entries::{MergeOutcome, SectionEntries};
use crate::transfer::{Item, Origin, PlaceReference, SourceItem};
use memories_document::text::{TITLE_CHARS, stored_line};
use memories_document::types::{Attempt, Memory, Moment, Scope, Way, fold_action, same_title};
use memories_document::{DocumentError, Section, SectionUpdate, stored};
use memories_llm::redact::redact;
use memories_notebook::files::{Files, Tier, date};

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
    /// Store what looks like a secret as it is.
    pub keep_secrets: bool,
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
    /// Texts with what looks like a secret, which was masked.
    pub masked: u64,
    /// The kinds of these secrets.
    pub masked_kinds: Vec<&'static str>,
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
    first_visit: Option<Moment>,
    tried: CountMerge<String, Attempt>,
    worked: CountMerge<String, Attempt>,
    /// By action and place reached.
    ways: CountMerge<(String, u64), Way>,
    /// By episode.
    seen: CountMerge<String, Attempt>,
}

/// Counted facts of a file and of a source by their subject. Of two about one subject the greater count stays.
#[derive(Debug)]
struct CountMerge<K, T> {
    known: HashMap<K, T>,
    /// Subjects that are to be written, in order.
    new: Vec<K>,
}

impl<K, T> Default for CountMerge<K, T> {
    fn default() -> CountMerge<K, T> {
        CountMerge { known: HashMap::new(), new: Vec::new() }
    }
}

impl<K: Hash + Eq + Clone, T: Clone> CountMerge<K, T> {
    fn of<'a>(known: impl Iterator<Item = &'a T>, key: impl Fn(&T) -> K) -> CountMerge<K, T>
    where
        T: 'a,
    {
        CountMerge { known: known.map(|value| (key(value), value.clone())).collect(), new: Vec::new() }
    }

    /// Takes a value; `false` where one that counts as much is known.
    fn take(&mut self, key: K, value: T, count: impl Fn(&T) -> u64) -> bool {
        if self.known.get(&key).is_some_and(|known| count(known) >= count(&value)) {
            return false;
        }
        if !self.new.contains(&key) {
            self.new.push(key.clone());
        }
        self.known.insert(key, value);
        true
    }

    fn to_write(&self) -> Vec<T> {
        self.new.iter().map(|key| self.known[key].clone()).collect()
    }
}

/// The state of an import.
struct Merge<'a> {
    lasting: HashMap<Scope, Section>,
    session: HashMap<Scope, Section>,
    /// The day of the import.
    today: Option<String>,
    targets: BTreeMap<Scope, SectionMerge>,
    places: PlaceIndex,
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
    let secrets = if options.keep_secrets { MaskedItems::unchanged(items) } else { MaskedItems::of(items) };
    let mut merge = Merge::begin(files, &secrets.items, options);
    (merge.report.masked, merge.report.masked_kinds) = (secrets.texts, secrets.kinds);
    for found in &secrets.items {
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
    fn begin(files: &Files, items: &[Cow<'_, SourceItem>], options: &'a MergeOptions) -> Merge<'a> {
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
            today: files.today.clone(),
            targets: BTreeMap::new(),
            places,
            options,
            report: MergeReport::default(),
        }
    }

    fn take(&mut self, at: Origin, item: &Item) -> Result<(), String> {
        let (Item::Memory { place, .. } | Item::Section { place, .. }) = item;
        let (scope, name) = self.places.find(place)?;
        match item {
            Item::Memory { memory, .. } => self.take_memory(at, &scope, &name, memory),
            Item::Section { section, .. } => {
                let target = self.target(at, &scope, &name);
                target.described = true;
                self.report.tried += target.take_section(section);
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
        } else if !name.is_empty() && !same_title(&name, &target.name) && !target.named_otherwise {
            target.named_otherwise = true;
            let whose = if target.known { " in the file" } else { "" };
            self.report
                .warnings
                .push(format!("{scope} is called `{}`{whose}; {at} says `{name}`", target.name));
        }
        target
    }

    fn take_memory(&mut self, at: Origin, scope: &Scope, name: &str, memory: &Memory) -> Result<(), String> {
        let titled = !memory.title.trim().is_empty();
        let cut = titled && stored_line(&memory.title).chars().count() > TITLE_CHARS;
        let mut memory = stored(memory);
        date(&mut memory, self.today.as_deref());
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
    let masked = memory.texts().into_iter().filter_map(|text| redact(text));
    let mut kinds: Vec<&'static str> = masked.flat_map(|masked| masked.kinds).collect();
    kinds.dedup();
    kinds
}

impl SectionMerge {
    fn begin(lasting: Option<&Section>, session: Option<&Section>) -> SectionMerge {
        let key = |attempt: &Attempt| attempt.witnesses.keyed(fold_action(&attempt.action));
        let lists = || lasting.into_iter();
        SectionMerge {
            entries: SectionEntries::of(lasting, session),
            name: lasting.map(|section| section.name.clone()).unwrap_or_default(),
            known: lasting.is_some(),
            tried: CountMerge::of(lists().flat_map(|section| &section.tried), key),
            worked: CountMerge::of(lists().flat_map(|section| &section.worked), key),
            seen: CountMerge::of(lists().flat_map(|section| &section.seen), key),
            ways: CountMerge::of(lists().flat_map(|section| &section.ways), Way::key),
            ..SectionMerge::default()
        }
    }

    /// Merges visits and evidence; the number of tried actions that are new or have a greater count.
    fn take_section(&mut self, section: &Section) -> u64 {
        self.visits = self.visits.max(section.visits);
        let mut listed: HashSet<u64> = self.episodes.iter().copied().collect();
        self.episodes.extend(section.episodes.iter().filter(|&&episode| listed.insert(episode)));
        self.first_visit = self.first_visit.take().or_else(|| section.first_visit.clone());
        for way in &section.ways {
            let after =
                way.after.iter().map(|action| stored_line(action)).filter(|action| !action.is_empty());
            let way = Way { action: stored_line(&way.action), after: after.collect(), ..way.clone() };
            if !way.action.is_empty() {
                self.ways.take(way.key(), way, |way| way.count);
            }
        }
        for attempt in &section.worked {
            take_attempt(&mut self.worked, attempt);
        }
        for attempt in &section.seen {
            take_attempt(&mut self.seen, attempt);
        }
        section.tried.iter().filter(|attempt| take_attempt(&mut self.tried, attempt)).count() as u64
    }

    /// The edits of a section in one file; `None` if there are none.
    fn update(&self, tier: Tier) -> Option<SectionUpdate> {
        let mut update = self.entries.update(tier);
        let added = &mut update.added;
        added.name.clone_from(&self.name);
        let mut wanted = !added.memories.is_empty() || !update.entries.is_empty();
        if tier == Tier::Lasting {
            added.visits = self.visits;
            added.episodes.clone_from(&self.episodes);
            added.first_visit.clone_from(&self.first_visit);
            added.tried = self.tried.to_write();
            added.worked = self.worked.to_write();
            added.ways = self.ways.to_write();
            added.seen = self.seen.to_write();
            wanted |= self.described;
        }
        wanted.then_some(update)
    }
}

/// Merges an action; `false` if it is empty or already known with the same or a higher count.
fn take_attempt(list: &mut CountMerge<String, Attempt>, attempt: &Attempt) -> bool {
    let attempt = Attempt { action: stored_line(&attempt.action), ..attempt.clone() };
    let action = fold_action(&attempt.action);
    let key = attempt.witnesses.keyed(action.clone());
    !action.is_empty() && list.take(key, attempt, |attempt| attempt.count)
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
