//! The two files that hold memories: `Memories.md`, which lasts, and `session.md`, which ends with its
//! episode. Both have the same format; a title is unique in both together.

use std::collections::HashMap;
use std::sync::Arc;

use crate::anchored::{AnchoredFiles, renew};
use crate::authorship::{Authorship, Repeated};
use memories_document::grammar::Heading;
use memories_document::seen::knows;
use memories_document::types::model_text::{ModelText, is_cleaned};
use memories_document::types::{
    Author, Memory, Persistence, Scope, Viewer, Witnesses, Writer, fold_title, without_brackets,
};
pub use memories_document::{Document, DocumentError, EntryMut, EntryRef, EntryText, Section};
use memories_store::Sidecar;

/// One of the two files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// `Memories.md`.
    Lasting,
    /// `session.md`.
    Session,
}

impl Tier {
    /// The file in which memories of a persistence live.
    pub fn of(persistence: Persistence) -> Tier {
        match persistence {
            Persistence::Core | Persistence::Permanent => Tier::Lasting,
            Persistence::Ephemeral => Tier::Session,
        }
    }

    /// The persistence that is written into this file: the session's entries omit it, because all
    /// of them are ephemeral.
    pub fn written(self, persistence: Persistence) -> Persistence {
        match self {
            Tier::Lasting => persistence,
            Tier::Session => Persistence::Permanent,
        }
    }

    /// An entry of this file: those of the session are ephemeral.
    fn entry(self, entry: EntryText<'_>) -> EntryText<'_> {
        match self {
            Tier::Lasting => entry,
            Tier::Session => entry.ephemeral(),
        }
    }
}

/// Both files while they are edited.
#[derive(Debug, Clone)]
pub struct Files {
    /// `Memories.md`.
    pub lasting: Document,
    /// `session.md`.
    pub session: Document,
    /// The authors of the entries.
    pub authorship: Authorship,
    /// The writer in whose name entries are stored, if there is one.
    pub writer: Option<Writer>,
    /// The day of this change in UTC, which dates new entries of no episode; `None` where nothing is written.
    pub today: Option<String>,
    /// The files of the repository, where entries may be anchored to them.
    pub anchored: Option<Arc<dyn AnchoredFiles>>,
    /// For whom entries are looked up.
    pub viewer: Viewer,
}

/// An entry of one of the files, open for edits.
#[derive(Debug)]
pub struct FoundEntry<'a> {
    /// The file in which it stands.
    pub tier: Tier,
    /// The entry.
    pub entry: EntryMut<'a>,
}

impl FoundEntry<'_> {
    /// The memory; one from the session file is ephemeral.
    pub(crate) fn memory(&self) -> Memory {
        self.tier.entry(self.entry.text()).read()
    }

    /// Writes the first line of the entry anew.
    pub(crate) fn revise_line(&mut self, memory: &Memory) {
        let persistence = self.tier.written(memory.persistence);
        self.entry.revise_line(&Memory { persistence, ..memory.clone() });
    }
}

/// Gives a new memory without an episode and without a date the day on which it is written.
pub fn date(memory: &mut Memory, today: Option<&str>) {
    let fields = &mut memory.provenance;
    if fields.episode.is_none() && fields.date.is_none() {
        fields.date = today.map(str::to_owned);
    }
}

impl Files {
    /// The place of a name, else one with the next free id.
    pub fn place_or_new(&self, name: &str) -> Scope {
        let next = || Scope::Location(Scope::next_location_id(self.headings().map(|heading| &heading.scope)));
        let known = self.headings().find(|heading| heading.is_called(name));
        known.map_or_else(next, |heading| heading.scope.clone())
    }

    /// Both documents. Without a sidecar folder nobody knows the author of any entry.
    pub fn new(lasting: Document, session: Document) -> Files {
        Files {
            lasting,
            session,
            authorship: Authorship::default(),
            writer: None,
            today: None,
            anchored: None,
            viewer: Viewer::Person,
        }
    }

    /// The same, with the authorship that the sidecar folder of the file knows.
    pub(crate) fn with_sidecar(self, sidecar: &Sidecar) -> Files {
        Files { authorship: Authorship::of(sidecar), ..self }
    }

    /// Gives a new memory the tag of the writer, and no other such tag; true if it had one.
    pub(super) fn sign(&self, memory: &mut Memory) -> bool {
        let had_another = memory.drop_writers();
        self.writer.iter().for_each(|writer| {
            memory.add_writer(writer);
        });
        had_another
    }

    /// Notes a person as the author of each live entry of the lasting file that a former text of it did not have.
    pub(super) fn note_persons(&mut self, former: &str) {
        let former = Document::parse(former.to_owned());
        let mut former_texts: HashMap<&Scope, Vec<&str>> = HashMap::new();
        for (heading, text) in former.placed_texts() {
            former_texts.entry(&heading.scope).or_default().push(text);
        }
        for (heading, text) in self.lasting.placed_texts() {
            let before = former_texts.get(&heading.scope).map_or(&[][..], Vec::as_slice);
            if before.contains(&text) {
                continue;
            }
            let before = Section::read(before.iter().copied());
            let has = |memory: &Memory| {
                before.live().any(|old| (&old.title, &old.text) == (&memory.title, &memory.text))
            };
            for memory in Section::read([text]).live().filter(|memory| !has(memory)) {
                self.authorship.note_author(&heading.scope, memory, Author::Person);
            }
        }
    }

    /// Anchors a memory to its files as they are.
    pub(crate) fn renew(&self, scope: &Scope, memory: &mut Memory) {
        renew(self.anchored.as_deref(), scope, memory);
    }

    /// Adds a memory to the file for its persistence.
    pub(super) fn append(
        &mut self,
        scope: &Scope,
        name: &str,
        memory: &Memory,
        repeated: Repeated,
    ) -> Result<(), DocumentError> {
        let tier = Tier::of(memory.persistence);
        let persistence = tier.written(memory.persistence);
        self.authorship.note(scope, memory, repeated);
        self.of(tier).add(scope, name, &Memory { persistence, ..memory.clone() })
    }

    /// The document of a tier.
    pub fn of(&mut self, tier: Tier) -> &mut Document {
        match tier {
            Tier::Lasting => &mut self.lasting,
            Tier::Session => &mut self.session,
        }
    }

    /// The sections of a scope in both files: the session's memories last, marked as ephemeral.
    pub fn section(&self, scope: &Scope) -> Section {
        let mut section = self.lasting.section(scope).unwrap_or_default();
        if let Some(session) = self.session.section(scope) {
            section.add_session(session);
        }
        section.memories.retain(|memory| self.viewer.knows(&memory.provenance.witnesses()));
        section
    }

    /// The section without its memories, which may be many: evidence, visits, notes.
    pub fn section_without_memories(&self, scope: &Scope) -> Section {
        let section = self.lasting.section_without_memories(scope).unwrap_or_default();
        Section { name: self.name_of(scope), ..section }
    }

    /// The same, as all of some who know it do.
    pub fn evidence_known_to(&self, scope: &Scope, all: &Witnesses) -> Section {
        Section { name: self.name_of(scope), ..self.lasting.evidence_known_to(scope, all) }
    }

    /// The headings of all sections, those of the session last.
    pub(crate) fn headings(&self) -> impl Iterator<Item = &Heading> {
        self.lasting.headings().chain(self.session.headings())
    }

    /// The scopes of both files, each once.
    pub fn scopes(&self) -> Vec<Scope> {
        let mut scopes: Vec<Scope> = Vec::new();
        for heading in self.headings() {
            if !scopes.contains(&heading.scope) {
                scopes.push(heading.scope.clone());
            }
        }
        scopes
    }

    /// The name in the first heading of a scope that has one; empty where none has.
    pub(crate) fn name_of(&self, scope: &Scope) -> String {
        let mut named = self.headings().filter(|heading| heading.scope == *scope && !heading.name.is_empty());
        named.next().map(|heading| heading.name.clone()).unwrap_or_default()
    }

    /// The live entries of a scope in both files that the viewer knows, those of the session last.
    pub fn live<'a>(&'a self, scope: &'a Scope) -> impl Iterator<Item = EntryText<'a>> {
        self.all_live(scope).filter(|entry| knows(&self.viewer, entry))
    }

    /// The live entries of a scope, also those that the viewer does not know: they have their titles, too.
    pub(crate) fn all_live<'a>(&'a self, scope: &'a Scope) -> impl Iterator<Item = EntryText<'a>> {
        self.entries(scope).map(|(tier, _, entry)| tier.entry(entry.text())).filter(EntryText::is_live)
    }

    /// All entries of a scope in both files, those of the session last, with their numbers in their files.
    fn entries<'a>(&'a self, scope: &'a Scope) -> impl Iterator<Item = (Tier, usize, EntryRef<'a>)> {
        let files = [(Tier::Lasting, &self.lasting), (Tier::Session, &self.session)];
        files.into_iter().flat_map(|(tier, document)| {
            document.entries(scope).enumerate().map(move |(number, entry)| (tier, number, entry))
        })
    }

    /// The first live entry of a scope with exactly this title.
    pub fn live_with_title(&self, scope: &Scope, title: &str) -> Option<Memory> {
        let folded = fold_title(title);
        self.live(scope).find(|entry| entry.has_title(&folded)).map(|entry| entry.read())
    }

    /// The first live entry that has a title, whether the viewer knows it or not.
    pub(crate) fn owner_of_title(&self, scope: &Scope, title: &str) -> Option<Memory> {
        let folded = fold_title(title);
        self.all_live(scope).find(|entry| entry.has_title(&folded)).map(|entry| entry.read())
    }

    /// True if an entry stands as the built-in rules wrote it.
    pub fn is_by_rules(&self, scope: &Scope, memory: &Memory) -> bool {
        self.authorship.author_of(scope, memory) == Author::Rules
    }

    /// Live entries of a scope with a title, in both files.
    pub fn find(&self, scope: &Scope, title: &str) -> Vec<(Tier, Memory)> {
        let found = self.titled(scope, title, live);
        found.into_iter().map(|(tier, _, entry)| (tier, tier.entry(entry.text()).read())).collect()
    }

    /// The file and the number of the live entry that a memory was read from.
    pub(super) fn number_of(&self, scope: &Scope, memory: &Memory) -> Option<(Tier, usize)> {
        let titled = self.titled(scope, &memory.title, live);
        let found = titled.iter().find(|(tier, _, entry)| tier.entry(entry.text()).read() == *memory);
        found.map(|(tier, number, _)| (*tier, *number))
    }

    /// The first live entry of a scope with a title, open for edits.
    pub(crate) fn first(&mut self, scope: &Scope, title: &str) -> Option<FoundEntry<'_>> {
        let (tier, number, _) = *self.titled(scope, title, live).first()?;
        Some(self.entry(scope, tier, number))
    }

    /// The only entry of a scope with a title that is `wanted`, open for edits.
    ///
    /// # Errors
    ///
    /// Where there is not exactly one: how many there are.
    pub fn only(
        &mut self,
        scope: &Scope,
        title: &str,
        wanted: impl Fn(&EntryRef<'_>) -> bool,
    ) -> Result<FoundEntry<'_>, usize> {
        let (tier, number) = match self.titled(scope, title, wanted).as_slice() {
            [(tier, number, _)] => (*tier, *number),
            several => return Err(several.len()),
        };
        Ok(self.entry(scope, tier, number))
    }

    /// The entry with a number that [`Files::titled`] has just returned.
    pub(super) fn entry(&mut self, scope: &Scope, tier: Tier, number: usize) -> FoundEntry<'_> {
        let entry = self.of(tier).entry_mut(scope, number);
        FoundEntry { tier, entry: entry.expect("the entry was just found") }
    }

    /// Entries of a scope with a title that are `wanted`, with their numbers in their files. Where no
    /// entry has the title, stray brackets around it are forgiven.
    pub(super) fn titled<'a>(
        &'a self,
        scope: &'a Scope,
        title: &str,
        wanted: impl Fn(&EntryRef<'_>) -> bool,
    ) -> Vec<(Tier, usize, EntryRef<'a>)> {
        let titled = |title: &str| {
            let folded = fold_title(title);
            // A model may name the title as it was shown.
            let is_shown = |entry: &EntryRef<'_>| {
                is_cleaned(title) && fold_title(&ModelText::of(&entry.text().read().title)) == folded
            };
            let is_meant = |entry: &EntryRef<'_>| entry.text().has_title(&folded) || is_shown(entry);
            self.entries(scope).filter(|(.., entry)| is_meant(entry)).collect::<Vec<_>>()
        };
        let mut found = titled(title);
        if found.is_empty() {
            found = titled(without_brackets(title));
        }
        found.retain(|(.., entry)| wanted(entry) && knows(&self.viewer, &entry.text()));
        found
    }
}

/// True if an entry is live, for look-ups.
pub fn live(entry: &EntryRef<'_>) -> bool {
    entry.text().is_live()
}
