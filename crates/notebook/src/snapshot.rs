//! A memory file and its session as they were read at one moment.
//!
//! A store enters, an immutable [`Snapshot`] leaves, which any number of threads may read. The files are cut into
//! sections by one scan, and each section is parsed when it is first asked for. [`SharedSnapshot`] holds the current
//! one for processes that answer many questions.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use foldhash::fast::FixedState;

use crate::ranking::{Ranked, rank};
use crate::summary::Summary;
use memories_document::check::{Reading, first_error, misread_heading};
use memories_document::conflict::conflicts;
use memories_document::grammar::Heading;
use memories_document::problem::{Kind, Problem};
use memories_document::seen::seen;
use memories_document::types::hint::MERGE_OR_RESOLVE;
use memories_document::types::{Memory, Scope, Way};
use memories_document::version::{NewerFormat, newer_format};
use memories_document::{Document, EntrySpan, EntryText, KnownSection, PlaceNames, Section};
use memories_store::journal::Journal;
pub use memories_store::{OpenFiles, Sidecar, State, Store, StoreError};

/// The section of a scope that has none.
static NOTHING: LazyLock<Section> = LazyLock::new(Section::default);

/// A memory file and its session as they were read.
pub struct Snapshot {
    files: OpenFiles,
    store: Store,
    lasting: Document,
    /// Line of the first conflict of a merge; the lines in conflict were left out.
    conflict: Option<usize>,
    session: Document,
    scopes: OnceLock<HashMap<Scope, ScopeBlocks, FixedState>>,
    entries: OnceLock<Entries>,
    /// The blocks of the memory file in which a line may be misread.
    suspects: Vec<usize>,
    place_names: OnceLock<PlaceNames>,
    /// The name of each place, by its first heading with a name.
    names: OnceLock<HashMap<u64, String, FixedState>>,
    summary: OnceLock<Summary>,
    ranking: OnceLock<Vec<Ranked>>,
}

/// Where the sections of one scope stand; they are read as one on first use.
#[derive(Default)]
struct ScopeBlocks {
    lasting: Vec<usize>,
    session: Vec<usize>,
    section: OnceLock<Box<Section>>,
}

/// Positions of the entries: first those of the memory file, then those of the session.
struct Entries {
    all: Vec<EntrySpan>,
    lasting: usize,
}

impl Snapshot {
    /// Reads both files as the store's viewer sees them. A session that cannot be read withholds nothing that lasts.
    ///
    /// # Errors
    ///
    /// When the memory file cannot be read.
    pub fn read(store: &Store) -> Result<Snapshot, StoreError> {
        let files = store.open_files()?;
        let lasting = files.memories.read()?.unwrap_or_default();
        let mut reading = Reading::of(lasting);
        let conflicts = reading.has_marker.then(|| conflicts(reading.document.source())).flatten();
        let conflict = conflicts.as_ref().and_then(|found| found.lines.first().copied());
        if let Some(found) = conflicts {
            reading = Reading::of(found.rest);
        }
        let mut session = Document::parse(files.session.read().ok().flatten().unwrap_or_default());
        if let Some([lasting, of_session]) = seen(store.viewer(), [&reading.document, &session]) {
            (reading, session) = (Reading::of(lasting), Document::parse(of_session));
        }
        let Reading { document: lasting, suspects, .. } = reading;
        Ok(Snapshot {
            files,
            store: store.clone(),
            lasting,
            conflict,
            session,
            scopes: OnceLock::new(),
            entries: OnceLock::new(),
            suspects,
            place_names: OnceLock::new(),
            names: OnceLock::new(),
            summary: OnceLock::new(),
            ranking: OnceLock::new(),
        })
    }

    /// True if the file and its session still are those that were read.
    ///
    /// # Errors
    ///
    /// When that cannot be determined.
    pub fn is_current(&self) -> Result<bool, StoreError> {
        Ok(self.files.memories.is_current()? && self.files.session.is_current()?)
    }

    /// The highest episode that a visit, memory or tried action bears.
    pub(super) fn highest_episode(&self) -> Option<u64> {
        let of_section = |section: &Section| {
            let memories = section.memories.iter().filter_map(|memory| memory.provenance.episode);
            let tried = section.tried.iter().filter_map(|tried| tried.episode);
            memories.chain(tried).chain(section.episodes.iter().copied()).max()
        };
        self.scopes().keys().map(|scope| self.section(scope)).filter_map(of_section).max()
    }

    /// The running episode, which may change while the memory file does not.
    pub fn running_episode(&self) -> u64 {
        state_of(&self.store).episode
    }

    /// The folder beside the memory file.
    pub(super) fn sidecar(&self) -> &Sidecar {
        self.store.sidecar()
    }

    /// True if there is a memory file.
    pub fn exists(&self) -> bool {
        self.files.file().is_some()
    }

    /// A warning where a part of the memory file could not be read as it was meant, or where the file is missing and
    /// a former state is not.
    pub fn warning(&self) -> Option<String> {
        if !self.exists() {
            return self.store.outweighed().map(|warning| warning.to_string());
        }
        if let Some(line) = self.conflict {
            return Some(format!("line {line}: an unresolved git merge conflict; hint: {MERGE_OR_RESOLVE}"));
        }
        if let Some(NewerFormat { version, line }) = newer_format(self.text()) {
            let kind = Kind::NewerFormat(version);
            return Some(format!("line {line}: {kind}; hint: {}", kind.hint()));
        }
        let Problem { line, kind, .. } = first_error(&self.lasting, &self.suspects)?;
        Some(format!("line {line}: {kind}; hint: memories check"))
    }

    /// The line of a scope's heading, where the scope has no section because that line is misread.
    pub fn misread_line(&self, scope: &Scope) -> Option<usize> {
        if self.scopes().contains_key(scope) {
            return None;
        }
        misread_heading(&self.lasting, &self.suspects, scope)
    }

    /// The memory file, without lines in conflict.
    pub fn document(&self) -> &Document {
        &self.lasting
    }

    /// The text of the memory file, without lines in conflict.
    pub fn text(&self) -> &str {
        self.lasting.source()
    }

    /// Scopes and names of all sections of the memory file, in its order.
    pub fn headings(&self) -> impl Iterator<Item = &Heading> + Clone {
        self.lasting.headings()
    }

    /// The names that several places of the memory file share.
    pub fn place_names(&self) -> &PlaceNames {
        self.place_names.get_or_init(|| PlaceNames::of(self.headings()))
    }

    /// The names of the places to which ways lead, by the headings.
    pub fn ends_of<'a>(&'a self, ways: impl Iterator<Item = &'a Way>) -> HashMap<u64, &'a str> {
        let names = self.names.get_or_init(|| {
            let mut names = HashMap::default();
            for Heading { scope, name } in self.headings() {
                match scope {
                    Scope::Location(id) if !name.is_empty() => {
                        names.entry(*id).or_insert_with(|| name.clone());
                    }
                    _ => {}
                }
            }
            names
        });
        ways.filter_map(|way| Some((way.to, names.get(&way.to)?.as_str()))).collect()
    }

    /// The sections of a scope in memory file and session: the session's memories last, and marked as
    /// ephemeral. Empty where there is no section.
    pub fn section(&self, scope: &Scope) -> &Section {
        let Some(blocks) = self.scopes().get(scope) else { return &NOTHING };
        blocks.section.get_or_init(|| {
            let mut section = self.lasting.section_in(&blocks.lasting);
            section.add_session(self.session.section_in(&blocks.session));
            section.keep_known(scope, |_| true);
            Box::new(section)
        })
    }

    /// The ways and tries of a place in the memory file, as far as a map needs them; `None` where it has no section.
    pub fn known_section(&self, place: u64) -> Option<KnownSection<'_>> {
        self.lasting.known_section_in(&self.scopes().get(&Scope::Location(place))?.lasting)
    }

    /// Positions of the entries: those of the memory file, then those of the session.
    pub fn entries(&self) -> &[EntrySpan] {
        &self.located().all
    }

    /// The range of the lasting entries; the others end with the episode.
    pub fn lasting_entries(&self) -> Range<usize> {
        0..self.located().lasting
    }

    /// The headings of all sections, indexed by [`EntrySpan::section`].
    pub fn section_headings(&self) -> impl Iterator<Item = &Heading> {
        self.headings().chain(self.session.headings())
    }

    /// The texts of a scope's sections in the memory file, each with its heading.
    pub fn section_texts<'a>(&'a self, scope: &'a Scope) -> impl Iterator<Item = &'a str> {
        self.lasting.section_texts(scope)
    }

    /// The numbers of entries and places.
    pub fn summary(&self) -> &Summary {
        self.summary.get_or_init(|| {
            let lasting = self.lasting_entries();
            let entries = self.entries().iter().enumerate();
            let entries = entries.map(|(at, entry)| (entry.status, lasting.contains(&at)));
            Summary::of(self.headings().map(|heading| &heading.scope), entries)
        })
    }

    /// The live entries, the most important first.
    pub fn by_importance(&self) -> &[Ranked] {
        self.ranking.get_or_init(|| {
            let memories: Vec<Memory> = (0..self.entries().len()).map(|at| self.memory(at)).collect();
            rank(&memories)
        })
    }

    /// The heading of an entry's section.
    pub fn heading_of(&self, entry: usize) -> &Heading {
        let EntrySpan { block, .. } = self.entries()[entry];
        let document = if self.lasting_entries().contains(&entry) { &self.lasting } else { &self.session };
        document.heading_at(block).expect("an entry stands below the heading of a section")
    }

    /// An entry as it stands in the file.
    pub fn entry_text(&self, entry: usize) -> &str {
        let document = if self.lasting_entries().contains(&entry) { &self.lasting } else { &self.session };
        &document.source()[self.entries()[entry].range.clone()]
    }

    /// The memory of an entry.
    pub fn memory(&self, entry: usize) -> Memory {
        let text = EntryText::new(self.entry_text(entry), self.entries()[entry].status);
        if self.lasting_entries().contains(&entry) { text.read() } else { text.ephemeral().read() }
    }

    fn located(&self) -> &Entries {
        self.entries.get_or_init(|| {
            let mut all: Vec<EntrySpan> = self.lasting.entry_spans().collect();
            let (lasting, sections) = (all.len(), self.headings().count());
            let behind = u32::try_from(sections).expect("fewer sections than bytes");
            let of_session = self.session.entry_spans();
            all.extend(of_session.map(|entry| EntrySpan { section: entry.section + behind, ..entry }));
            Entries { all, lasting }
        })
    }

    fn scopes(&self) -> &HashMap<Scope, ScopeBlocks, FixedState> {
        self.scopes.get_or_init(|| {
            let most = self.section_headings().count();
            let mut scopes: HashMap<Scope, ScopeBlocks, FixedState> =
                HashMap::with_capacity_and_hasher(most, FixedState::default());
            for (at, scope) in self.lasting.scoped_blocks() {
                scopes.entry(scope.clone()).or_default().lasting.push(at);
            }
            for (at, scope) in self.session.scoped_blocks() {
                scopes.entry(scope.clone()).or_default().session.push(at);
            }
            scopes
        })
    }
}

/// The current snapshot of one memory file, shared by all readers.
pub struct SharedSnapshot {
    store: Store,
    latest: Mutex<Option<Arc<Snapshot>>>,
}

impl SharedSnapshot {
    /// Nothing is read before the first call.
    pub fn new(store: Store) -> SharedSnapshot {
        SharedSnapshot { store, latest: Mutex::new(None) }
    }

    /// The store that is read.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The file as it is now: the same snapshot as before, unless the file or its session changed.
    ///
    /// # Errors
    ///
    /// When one of them cannot be read.
    pub fn current(&self) -> Result<Arc<Snapshot>, StoreError> {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(snapshot) = latest.take()
            && snapshot.is_current()?
        {
            return Ok(Arc::clone(latest.insert(snapshot)));
        }
        Ok(Arc::clone(latest.insert(Arc::new(Snapshot::read(&self.store)?))))
    }
}

/// The highest episode that memory file or journal show.
pub(super) fn highest_episode(store: &Store) -> Option<u64> {
    let shown = Snapshot::read(store).ok().and_then(|snapshot| snapshot.highest_episode());
    shown.max(Journal::of(store).highest_episode())
}

/// The running episode and other counters; where they are damaged, no episode's number is used twice.
pub(super) fn state_of(store: &Store) -> State {
    let (state, damage) = store.sidecar().state();
    if damage.is_none() { state } else { with_highest_episode(store, state) }
}

/// A damaged state with the highest episode that is shown.
pub(super) fn with_highest_episode(store: &Store, state: State) -> State {
    State { episode: highest_episode(store).unwrap_or(state.episode), ..state }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use memories_document::types::Persistence;
    use memories_store::Change;

    fn write(store: &Store, text: &str, session: &str) {
        let change = |_: Option<String>, _: &_| {
            Ok::<_, StoreError>(Change::to(text.to_owned(), ()).with_session(session.to_owned()))
        };
        let _ = store.update(change).unwrap();
    }

    #[test]
    fn a_snapshot_is_shared_until_a_file_changes() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("Memories.md"), Duration::from_secs(10)).unwrap();
        let shared = SharedSnapshot::new(store.clone());
        assert_eq!(shared.current().unwrap().entries().len(), 0);
        write(&store, "## World\n\n**[NOTE] a**\n", "");
        let first = shared.current().unwrap();
        assert!(Arc::ptr_eq(&first, &shared.current().unwrap()));
        write(&store, "## World\n\n**[NOTE] a**\n", "## World\n\n**[NOTE] b**\n");
        let second = shared.current().unwrap();
        assert!(!first.is_current().unwrap() && second.is_current().unwrap());
        let titles = |snapshot: &Snapshot| {
            let memories = &snapshot.section(&Scope::World).memories;
            memories.iter().map(|memory| memory.title.clone()).collect::<Vec<_>>()
        };
        assert_eq!((titles(&first), titles(&second)), (vec!["a".to_owned()], vec!["a".into(), "b".into()]));
        assert_eq!(second.section(&Scope::World).memories[1].persistence, Persistence::Ephemeral);
        assert_eq!(second.memory(1).persistence, Persistence::Ephemeral);
        assert_eq!((second.lasting_entries(), second.heading_of(1).scope.clone()), (0..1, Scope::World));
        assert_eq!(*second.section(&Scope::Scene), Section::default());
    }
}
