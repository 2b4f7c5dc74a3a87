//! A memory file and its session as they were read at one moment.
//!
//! A store enters, an immutable [`Snapshot`] leaves, which any number of threads may read. Entries
//! and sections are located at most once, and each section is parsed at most once. [`SharedSnapshot`]
//! holds the current one for processes that answer many questions.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use crate::contents::{Contents, ScopeContents};
use crate::ranking::{Ranked, rank};
use crate::section_window::read_sections;
use crate::summary::Summary;
use memories_document::check::first_error;
use memories_document::comment_end::read as read_comment_ends;
use memories_document::conflict::conflicts;
use memories_document::entry_text::{Head, HeadReader};
use memories_document::grammar::{Heading, split_heading};
use memories_document::near::misread_sections;
use memories_document::outline::EntrySpan;
use memories_document::problem::{Kind, Problem};
use memories_document::types::hint::MERGE_OR_RESOLVE;
use memories_document::types::{Memory, Scope, Way};
use memories_document::version::{NewerFormat, newer_format};
use memories_document::{EntryText, PlaceNames, Section, UnreadSection};
use memories_store::journal::Journal;
use memories_store::{OpenFiles, Sidecar, State, Store, StoreError};

/// The section of a scope that has none.
static NOTHING: LazyLock<Section> = LazyLock::new(Section::default);

/// A memory file and its session as they were read.
pub struct Snapshot {
    files: OpenFiles,
    store: Store,
    lasting: String,
    /// Line of the first conflict of a merge; the lines in conflict were left out.
    conflict: Option<usize>,
    session: String,
    /// The heading lines of the whole file, where only some of its sections were read.
    heading_lines: Option<String>,
    /// True if the text is known to have no line that is misread.
    is_read_as_meant: bool,
    contents: OnceLock<Contents>,
    place_names: OnceLock<PlaceNames>,
    summary: OnceLock<Summary>,
    ranking: OnceLock<Vec<Ranked>>,
}

impl Snapshot {
    /// Reads both files whole.
    ///
    /// # Errors
    ///
    /// When the memory file cannot be read.
    pub fn read(store: &Store) -> Result<Snapshot, StoreError> {
        let files = store.open_files()?;
        let lasting = files.memories.read()?.unwrap_or_default();
        Ok(match conflicts(&lasting) {
            Some(found) => {
                Snapshot { conflict: found.lines.first().copied(), ..Snapshot::of(store, files, found.rest) }
            }
            None => Snapshot::of(store, files, lasting),
        })
    }

    /// Reads only those sections of the memory file whose scope and name are wanted, and the session: as
    /// if the file had no others. A file with conflicts or lines that are misread is read whole.
    ///
    /// # Errors
    ///
    /// When the memory file cannot be read.
    pub fn read_sections(
        store: &Store,
        mut wanted: impl FnMut(&Scope, &str) -> bool,
    ) -> Result<Snapshot, StoreError> {
        let files = store.open_files()?;
        let Some(file) = files.file() else { return Ok(Snapshot::of(store, files, String::new())) };
        let mut heading_lines = String::new();
        let texts = read_sections(file, |line| {
            let line = read_comment_ends(std::str::from_utf8(line).unwrap_or_default().trim_end());
            heading_lines.extend([&line, "\n"]);
            split_heading(&line).is_some_and(|(scope, name)| wanted(&scope, name))
        });
        // A single section may be large: it is not copied.
        let joined = |mut texts: Vec<Vec<u8>>| match texts.len() {
            1 => texts.remove(0),
            _ => texts.concat(),
        };
        match texts.ok().and_then(|texts| String::from_utf8(joined(texts)).ok()) {
            Some(lasting) if first_error(&lasting).is_none() => {
                let heading_lines = Some(heading_lines);
                Ok(Snapshot { heading_lines, is_read_as_meant: true, ..Snapshot::of(store, files, lasting) })
            }
            // Reading the whole file gives the exact error or its line, or leaves conflicts out, or succeeds
            // because the write is over.
            _ => Snapshot::read(store),
        }
    }

    /// A session that cannot be read withholds nothing that lasts.
    fn of(store: &Store, files: OpenFiles, lasting: String) -> Snapshot {
        let session = files.session.read().ok().flatten().unwrap_or_default();
        Snapshot {
            files,
            store: store.clone(),
            lasting,
            conflict: None,
            session,
            heading_lines: None,
            is_read_as_meant: false,
            contents: OnceLock::new(),
            place_names: OnceLock::new(),
            summary: OnceLock::new(),
            ranking: OnceLock::new(),
        }
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
        let of_section = |unread: UnreadSection<'_>| {
            let UnreadSection { section, entries, .. } = &unread;
            let mut heads = HeadReader::default();
            let memories = entries.iter().filter_map(|entry| heads.read(entry).episode).max();
            let tried = section.tried.iter().filter_map(|tried| tried.episode);
            memories.into_iter().chain(tried).chain(section.episodes.iter().copied()).max()
        };
        self.contents().scopes.keys().map(|scope| self.unread(scope)).filter_map(of_section).max()
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
        if self.is_read_as_meant {
            return None;
        }
        if let Some(NewerFormat { version, line }) = newer_format(&self.lasting) {
            let kind = Kind::NewerFormat(version);
            return Some(format!("line {line}: {kind}; hint: {}", kind.hint()));
        }
        let Problem { line, kind, .. } = first_error(&self.lasting)?;
        Some(format!("line {line}: {kind}; hint: memories check"))
    }

    /// The line of a scope's heading, where the scope has no section because that line is misread.
    pub fn misread_line(&self, scope: &Scope) -> Option<usize> {
        if self.contents().scopes.contains_key(scope) {
            return None;
        }
        misread_sections(&self.lasting).into_iter().find(|(other, _)| other == scope).map(|(_, line)| line)
    }

    /// The text of the memory file, without lines in conflict.
    pub fn text(&self) -> &str {
        &self.lasting
    }

    /// The text of the memory file, also of sections that were not read.
    pub fn whole_text(&self) -> Cow<'_, str> {
        match self.heading_lines {
            None => Cow::Borrowed(&self.lasting),
            Some(_) => Cow::Owned(self.store.read().ok().flatten().unwrap_or_default()),
        }
    }

    /// The same, for a reader that needs nothing else: a large file is in memory once.
    pub fn into_text(self) -> String {
        self.lasting
    }

    /// Scopes and names of all sections of the memory file, in its order.
    pub fn headings(&self) -> impl Iterator<Item = &Heading> + Clone {
        let contents = self.contents();
        contents.sections[..contents.lasting_sections].iter().map(|section| &section.heading)
    }

    /// Scopes and names of all sections of the memory file, whichever of them were read.
    pub fn all_headings(&self) -> impl Iterator<Item = (Scope, &str)> {
        let lines = self.heading_lines.iter().flat_map(|lines| lines.lines());
        let read = self.heading_lines.is_none().then(|| self.headings()).into_iter().flatten();
        lines.filter_map(split_heading).chain(read.map(|heading| (heading.scope.clone(), &*heading.name)))
    }

    /// The names that several places of the memory file share.
    pub fn place_names(&self) -> &PlaceNames {
        self.place_names.get_or_init(|| PlaceNames::of_parts(self.all_headings()))
    }

    /// The names of the places to which ways lead, by the headings, and which of them other places share. A scope
    /// without ways does not cost a look at each heading of a large file.
    pub fn ends_of<'a>(
        &'a self,
        ways: impl Iterator<Item = &'a Way> + Clone,
    ) -> (HashMap<u64, &'a str>, PlaceNames) {
        let ends: HashSet<u64> = ways.clone().map(|way| way.to).collect();
        if ends.is_empty() {
            return (HashMap::new(), PlaceNames::default());
        }
        let headings: Vec<(Scope, &str)> = self.all_headings().collect();
        let mut names = HashMap::new();
        for (scope, name) in &headings {
            match scope {
                Scope::Location(id) if ends.contains(id) && !name.is_empty() => {
                    names.entry(*id).or_insert(*name);
                }
                _ => {}
            }
        }
        let printed = ways.map(|way| names.get(&way.to).copied().unwrap_or(&way.name));
        let shared = PlaceNames::among(printed, headings.into_iter());
        (names, shared)
    }

    /// The sections of a scope in memory file and session: the session's memories last, and marked as
    /// ephemeral. Empty where there is no section.
    pub fn section(&self, scope: &Scope) -> &Section {
        let Some(contents) = self.contents().scopes.get(scope) else { return &NOTHING };
        contents.section.get_or_init(|| Box::new(self.unread(scope).read().1))
    }

    /// The same with memories that are still to be read: a place may have very many.
    pub fn unread(&self, scope: &Scope) -> UnreadSection<'_> {
        let contents = self.contents();
        let Some(known) = contents.scopes.get(scope) else { return UnreadSection::nothing(scope) };
        let mut entries = Vec::new();
        for &section in &known.sections {
            let text = self.text_of(section);
            let of_section = contents.entries_of(section).iter();
            let of_section = of_section.map(|entry| EntryText::new(&text[entry.range.clone()], entry.status));
            let is_lasting = (section as usize) < contents.lasting_sections;
            entries.extend(of_section.map(|text| if is_lasting { text } else { text.ephemeral() }));
        }
        let section = known.without_memories.get_or_init(|| Box::new(self.read_without_memories(known)));
        UnreadSection { scope: scope.clone(), section: Cow::Borrowed(section), entries }
    }

    /// Reads the sections of a scope without their entries. An entry is followed by at most blank lines before the next
    /// one, a heading or a break, so the rest is read as if the entries were not there.
    fn read_without_memories(&self, known: &ScopeContents) -> Section {
        let contents = self.contents();
        let rest = |section: u32| {
            let (text, span) = (self.text_of(section), &contents.sections[section as usize]);
            let (mut rest, mut copied) = (String::new(), span.range.start);
            for entry in contents.entries_of(section) {
                rest.push_str(&text[copied..entry.range.start]);
                copied = entry.range.end;
            }
            rest + &text[copied..span.range.end]
        };
        let is_lasting = |section: &u32| (*section as usize) < contents.lasting_sections;
        let lasting: Vec<String> = known.sections.iter().copied().filter(is_lasting).map(rest).collect();
        let mut section = Section::read(lasting.iter().map(String::as_str));
        // The session adds only memories, and a name where the file has none.
        if section.name.is_empty() {
            let headings = known.sections.iter().map(|section| &contents.sections[*section as usize].heading);
            let name = headings.map(|heading| &heading.name).find(|name| !name.is_empty());
            section.name = name.cloned().unwrap_or_default();
        }
        section
    }

    /// The text that holds a section.
    fn text_of(&self, section: u32) -> &str {
        if (section as usize) < self.contents().lasting_sections { &self.lasting } else { &self.session }
    }

    /// Positions of the entries: those of the memory file, then those of the session.
    pub fn entries(&self) -> &[EntrySpan] {
        &self.contents().entries
    }

    /// The range of the lasting entries; the others end with the episode.
    pub fn lasting_entries(&self) -> Range<usize> {
        0..self.contents().lasting_entries
    }

    /// The headings of all sections, indexed by [`EntrySpan::section`].
    pub fn section_headings(&self) -> impl Iterator<Item = &Heading> {
        self.contents().sections.iter().map(|section| &section.heading)
    }

    /// The texts of a scope's sections in the memory file, each with its heading.
    pub fn section_texts(&self, scope: &Scope) -> impl Iterator<Item = &str> {
        let contents = self.contents();
        let of_scope = contents.scopes.get(scope).map_or(&[][..], |known| &known.sections);
        let spans = of_scope.iter().map(|section| *section as usize);
        let lasting = spans.filter(|section| *section < contents.lasting_sections);
        lasting.map(|section| &self.lasting[contents.sections[section].range.clone()])
    }

    /// The numbers of entries and places.
    pub fn summary(&self) -> &Summary {
        self.summary.get_or_init(|| {
            let contents = self.contents();
            let scope_of = |entry: &EntrySpan| &contents.sections[entry.section as usize].heading.scope;
            let entries = contents.entries.iter().enumerate();
            let entries =
                entries.map(|(at, entry)| (scope_of(entry), entry.status, at < contents.lasting_entries));
            Summary::of(self.headings().map(|heading| &heading.scope), entries)
        })
    }

    /// The live entries, the most important first.
    pub fn by_importance(&self) -> &[Ranked] {
        self.ranking.get_or_init(|| {
            let mut heads = HeadReader::default();
            let heads: Vec<Head> = (0..self.entries().len()).map(|at| heads.read(&self.entry(at))).collect();
            rank(&heads)
        })
    }

    /// The heading of an entry's section.
    pub fn heading_of(&self, entry: usize) -> &Heading {
        let contents = self.contents();
        &contents.sections[contents.entries[entry].section as usize].heading
    }

    /// An entry as it stands in the file.
    pub fn entry_text(&self, entry: usize) -> &str {
        let contents = self.contents();
        let text = if entry < contents.lasting_entries { &self.lasting } else { &self.session };
        &text[contents.entries[entry].range.clone()]
    }

    /// The memory of an entry.
    pub fn memory(&self, entry: usize) -> Memory {
        self.entry(entry).read()
    }

    /// An entry that is not read yet.
    fn entry(&self, entry: usize) -> EntryText<'_> {
        let contents = self.contents();
        let text = EntryText::new(self.entry_text(entry), contents.entries[entry].status);
        if entry < contents.lasting_entries { text } else { text.ephemeral() }
    }

    fn contents(&self) -> &Contents {
        self.contents.get_or_init(|| Contents::of(&self.lasting, &self.session))
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

    use proptest::prelude::*;

    use super::*;
    use memories_document::Document;
    use memories_document::types::Persistence;
    use memories_store::{Change, UpdateError};

    fn write(store: &Store, text: &str, session: &str) {
        let change = |_: Option<String>, _: &_| {
            Ok::<_, StoreError>(Change::to(text.to_owned(), ()).with_session(session.to_owned()))
        };
        let update: Result<_, UpdateError<StoreError>> = store.update(change);
        let _ = update.unwrap();
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

    proptest! {
        #[test]
        fn sections_read_alone_are_those_of_the_whole_file(
            lines in prop::collection::vec(prop::sample::select(vec![
                "## Location 1: A", "## Location 2: B", "## Location 3: a", "# T", "text", "```", "````", "<!--", "x -->", "", "\u{FEFF}",
                "## Notes\r", "   ~~~", "~~~~", "**[NOTE] a** *(Ep1, T2)*", "**[NOTE - SUPERSEDED] b**", "**Visits:** 3",
                "- `take x`: no", "---", "### Tried",
            ]), 0..24),
            wanted in 0_u64..4,
        ) {
            let text = lines.join("\n");
            let folder = tempfile::tempdir().unwrap();
            let store = Store::open(folder.path().join("Memories.md"), Duration::from_secs(10)).unwrap();
            write(&store, &text, "");
            let document = Document::parse(text.clone());
            let whole = Snapshot::read(&store).unwrap();
            let is_wanted = |scope: &Scope| matches!(scope, Scope::Location(id) if id & wanted != 0);
            let part = Snapshot::read_sections(&store, |scope, _| is_wanted(scope)).unwrap();
            let headings: Vec<&Heading> = document.headings().filter(|heading| is_wanted(&heading.scope)).collect();
            // A file with a line that is misread is read whole.
            let read = part.headings().filter(|heading| is_wanted(&heading.scope));
            prop_assert_eq!(read.collect::<Vec<_>>(), headings);
            for scope in [Scope::Location(1), Scope::Location(2)] {
                let expected = document.section(&scope).unwrap_or_default();
                prop_assert_eq!(whole.section(&scope), &expected);
                prop_assert_eq!(part.place_names(), whole.place_names());
                if is_wanted(&scope) {
                    prop_assert_eq!(part.section(&scope), &expected);
                }
            }
        }
    }
}
