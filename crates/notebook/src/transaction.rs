//! The one way to change a memory file: a transaction.
//!
//! A command's name and a function enter. The function is given a [`Draft`]: the memory file, its session
//! and the running episode as they are under the lock. It edits them and notes its journal entry; then all
//! of it is written, or, where the function fails, nothing. It always holds that
//!
//! * no other code opens and locks the file for a change, and none writes a line of the journal;
//! * entries are stamped here with version, id and time;
//! * a function that fails leaves nothing behind, not even an empty folder.

use std::cell::OnceCell;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::anchored::AnchoredFiles;
use crate::clock::Clock;
use crate::files::Files;
use crate::occasion::occasion;
use crate::snapshot::{highest_episode, state_of, with_highest_episode};
use crate::tracked::Tracker;
use memories_document::conflict::conflicts;
use memories_document::seen::seen;
use memories_document::types::instant::day;
use memories_document::types::{Author, Moment, Outcome, Writer};
use memories_document::{Document, DocumentError};
use memories_store::journal::Journal;
use memories_store::journal::entry::{Entry, RECORD};
use memories_store::{Change, Index, State, Store, StoreError, Update};

/// The version of the journal's lines.
const VERSION: u32 = 1;

/// The command that puts a former state in place of the file, whatever the file holds: also conflicts of a merge.
pub const RESTORE: &str = "restore";

/// The command that replaces a text with conflicts by the merged one.
pub const RESOLVE: &str = "merge --resolve";

/// A memory file with its session, state and journal.
#[derive(Clone)]
pub struct Notebook {
    store: Store,
    clock: Clock,
    writer: Option<Writer>,
    anchored: Option<Arc<dyn AnchoredFiles>>,
}

/// A session that ended with its episode.
#[derive(Debug)]
pub struct EndedSession {
    /// Live memories that it had.
    pub memories: u64,
    /// Its text; `None` where there was none.
    pub text: Option<String>,
}

/// The result of a transaction.
#[derive(Debug)]
#[must_use]
pub struct Written<T> {
    /// The answer of the function.
    pub value: T,
    /// True if the memory file has a new text.
    pub written: bool,
    /// Files beside the memory file that could not be written, such as a numbered backup.
    pub warnings: Vec<String>,
}

impl Notebook {
    /// Nothing is read before the first call.
    pub fn new(store: Store, clock: Clock) -> Notebook {
        Notebook { store, clock, writer: None, anchored: None }
    }

    /// The notebook for a writer, in whose name entries are stored; `None` for a person or a single player.
    #[must_use]
    pub fn with_writer(self, writer: Option<Writer>) -> Notebook {
        Notebook { writer, ..self }
    }

    /// The notebook with the files of the repository, to which entries may be anchored.
    #[must_use]
    pub fn with_anchored(self, anchored: Option<Arc<dyn AnchoredFiles>>) -> Notebook {
        Notebook { anchored, ..self }
    }

    /// The files.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The time and fresh ids.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The running episode and other counters; where they are damaged, no episode's number is used twice.
    pub fn state(&self) -> State {
        state_of(&self.store)
    }

    /// The episode that begins after the running one. Episode 1 is still to begin where nothing shows an episode, and
    /// there are no ephemeral memories.
    pub fn episode_after(&self, running: u64) -> u64 {
        let has_session = || !matches!(self.store.sidecar().session(), Ok(None));
        if running == 1 && highest_episode(&self.store).is_none() && !has_session() {
            1
        } else {
            running.saturating_add(1)
        }
    }

    /// The memory file and its session as they are, to be looked at.
    ///
    /// # Errors
    ///
    /// When the memory file cannot be read, or has conflicts of a merge.
    pub fn read(&self) -> Result<Files, StoreError> {
        Ok(as_seen(open(&self.store, self.store.read()?)?))
    }

    /// Opens for readers that change nothing later: a sidecar that is refused counts as missing.
    ///
    /// # Errors
    ///
    /// As [`Notebook::read`].
    pub fn read_without_sidecar(&self) -> Result<Files, StoreError> {
        match self.store.sidecar().session() {
            Err(StoreError::NotOurs { .. }) => {
                let text = self.store.read()?;
                let text = writable(&self.store, text)?;
                let files = Files::new(Document::parse(text), Document::parse(String::new()));
                Ok(as_seen(Files { viewer: self.store.viewer().clone(), ..files }))
            }
            _ => self.read(),
        }
    }

    /// Changes the files under the lock, or not at all. The function is called again, with fresh files, when
    /// an editor changed the file meanwhile: so it must keep nothing from an earlier call. It must not ask a
    /// model, for all other writers wait.
    ///
    /// # Errors
    ///
    /// Errors of the function, and of reading and writing the files. Nothing is written then, except after
    /// [`StoreError::NotConfirmed`] and where the session alone could not be put in place.
    pub fn edit<T, E: From<StoreError> + From<DocumentError>>(
        &self,
        command: &'static str,
        mut edit: impl FnMut(&mut Draft<'_>) -> Result<T, E>,
    ) -> Result<Written<T>, E> {
        let Update { value, written, warnings } = self.store.update(|text, _| {
            let mut draft = self.draft(command, text)?;
            let value = edit(&mut draft)?;
            Ok::<_, E>(draft.into_change(value)?)
        })?;
        Ok(Written { value, written, warnings: warnings.iter().map(ToString::to_string).collect() })
    }

    /// Changes what is kept of servers' refusals, without waiting for the lock, and nothing else.
    ///
    /// # Errors
    ///
    /// When another process is writing, and those of reading and writing the state.
    pub fn keep_refusals(&self, change: impl Fn(Value) -> Value) -> Result<(), Box<dyn std::error::Error>> {
        let notebook = Notebook { store: self.store.without_waiting(), ..self.clone() };
        let written = notebook.edit::<(), Box<dyn std::error::Error>>("", |draft| {
            let state = draft.state()?;
            draft.new_state = Some(State { refusals: change(state.refusals.clone()), ..state });
            Ok(())
        });
        written.map(|_| ())
    }

    /// Lets a function edit the files as they are without the lock, and writes nothing: a dry run.
    ///
    /// # Errors
    ///
    /// Errors of the function, and of reading the files.
    pub fn preview<T, E: From<StoreError>>(
        &self,
        mut edit: impl FnMut(&mut Draft<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        edit(&mut self.draft("", self.store.read()?)?)
    }

    fn draft(&self, command: &'static str, text: Option<String>) -> Result<Draft<'_>, StoreError> {
        let is_new = text.is_none();
        let files = match command {
            RESTORE | RESOLVE => files(&self.store, text.unwrap_or_default())?,
            _ => open(&self.store, text)?,
        };
        let now = self.clock.now();
        let mut files = Files {
            writer: self.writer.clone(),
            today: Some(day(&now)),
            anchored: self.anchored.clone(),
            ..files
        };
        let journal = Journal::of(&self.store);
        let tracker = Tracker::new(&files.lasting, &journal, &self.store);
        if let Some(left) = tracker.left().filter(|_| !Index::has_written(self.store.real_path())) {
            files.note_persons(left);
        }
        Ok(Draft {
            is_new,
            tracker,
            files,
            notebook: self,
            journal,
            command,
            id: self.clock.fresh_id(),
            now,
            replaced: false,
            ends_session: false,
            new_state: None,
            old_state: OnceCell::new(),
        })
    }
}

/// The files while they are edited, and what is written with them.
pub struct Draft<'a> {
    /// The memory file and its session.
    pub files: Files,
    /// True if there is no memory file yet.
    pub is_new: bool,
    /// The time of this change, RFC 3339.
    pub now: String,
    /// The running episode and other counters, where they are to be replaced.
    pub new_state: Option<State>,
    /// True if all memories of the session are to be removed.
    pub ends_session: bool,
    notebook: &'a Notebook,
    /// The state, once it was read.
    old_state: OnceCell<State>,
    journal: Journal,
    command: &'static str,
    id: String,
    replaced: bool,
    /// The edits of each change.
    tracker: Tracker,
}

impl Draft<'_> {
    /// See [`Notebook::episode_after`].
    pub fn episode_after(&self, running: u64) -> u64 {
        self.notebook.episode_after(running)
    }

    /// Begins a further change, which is written together with those before: a person's, unless said otherwise.
    pub fn begin_next(&mut self) {
        (self.id, self.now) = (self.notebook.clock.fresh_id(), self.notebook.clock.now());
        self.by(Author::Person);
    }

    /// The journal, with the lines of the changes before.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// The id of the line that is noted next.
    pub fn line_id(&self) -> &str {
        &self.id
    }

    pub(crate) fn store(&self) -> &Store {
        &self.notebook.store
    }

    /// The files, to be edited, and the journal with the lines of the changes before.
    pub fn files_and_journal(&mut self) -> (&mut Files, &Journal) {
        (&mut self.files, &self.journal)
    }

    /// Says who writes the entries of this change; without this call, a person.
    pub fn by(&mut self, author: Author) {
        self.files.authorship.set_author(author);
    }

    /// The whole text of the memory file.
    ///
    /// # Errors
    ///
    /// See [`DocumentError`].
    pub fn text(&self) -> Result<String, DocumentError> {
        self.files.lasting.clone().into_text()
    }

    /// Gives the memory file another text.
    pub fn replace_text(&mut self, text: String) {
        self.tracker.replace(&self.files.lasting);
        self.files.lasting = Document::parse(text);
        self.replaced = true;
    }

    /// The running episode and other counters, as the changes before leave them; see [`Notebook::state`].
    ///
    /// # Errors
    ///
    /// When they may be whole, but cannot be read: writing others would lose them.
    pub fn state(&self) -> Result<State, StoreError> {
        if let Some(state) = self.new_state.as_ref().or(self.old_state.get()) {
            return Ok(state.clone());
        }
        let state = match self.notebook.store.sidecar().state() {
            (state, None) => state,
            (state, Some(error)) if error.is_damage() => with_highest_episode(&self.notebook.store, state),
            (_, Some(error)) => return Err(error),
        };
        Ok(self.old_state.get_or_init(|| state).clone())
    }

    /// The time for reference lines: the running episode, and the last turn if it was recorded in it. A
    /// journal that cannot be read has no last turn; appending to it fails with a warning.
    ///
    /// # Errors
    ///
    /// As [`Draft::state`].
    pub fn moment(&self) -> Result<Moment, StoreError> {
        let episode = Some(self.state()?.episode);
        let last = self.journal.last_turns(1).ok().and_then(|mut last| last.pop());
        let last = last.filter(|turn| turn.episode == episode);
        Ok(Moment { episode, turn: last.and_then(|turn| turn.number), ..Moment::default() })
    }

    /// Removes all memories of the session; one that is damaged is set aside.
    ///
    /// # Errors
    ///
    /// When its text, which the journal keeps, may be whole but cannot be read.
    pub(crate) fn end_session(&mut self) -> Result<EndedSession, StoreError> {
        let is_new = self.ends_session || self.files.session.is_edited();
        let text = if is_new {
            Ok(self.files.session.clone().into_text().ok())
        } else {
            self.notebook.store.sidecar().session()
        };
        let text = match text {
            Err(error) if !error.is_damage() => return Err(error),
            text => text,
        };
        let sections = self.files.session.sections();
        let memories = sections.iter().map(|(_, section)| section.live().count() as u64).sum();
        if memories > 0 || text.is_err() {
            self.files.session = Document::parse(String::new());
            self.ends_session = true;
        }
        Ok(EndedSession { memories, text: text.ok().flatten() })
    }

    /// The journal entry of this change. Without one, the journal says nothing of it.
    pub fn note<T: Serialize>(&mut self, entry: Entry<'_, T>) {
        let command = (self.command != RECORD).then(|| self.command.into()).or(entry.command);
        let (id, time) = (Some((&self.id).into()), Some((&self.now).into()));
        let writer = self.files.writer.as_ref().filter(|_| entry.turn.is_some()).map(ToString::to_string);
        let writer = entry.writer.or(writer.map(Into::into));
        self.tracker.note(&self.files.lasting);
        self.journal.push(Entry { version: Some(VERSION), id, time, command, writer, ..entry }.to_line());
    }

    fn into_change<T>(mut self, value: T) -> Result<Change<T>, DocumentError> {
        // With the first memory of a session there is a memory file, too, though an empty one.
        let first = self.is_new && self.files.session.is_edited();
        let is_edited = self.replaced || self.files.lasting.is_edited() || first;
        let episode = if is_edited { self.state().unwrap_or_default().episode } else { 0 };
        if self.tracker.needs_line(&self.files.lasting) {
            self.note(Entry::<Value> { outcome: Some(Outcome::Changed.into()), ..Entry::default() });
        }
        let Files { lasting, session, authorship, .. } = self.files;
        let changes = self.tracker.finish(&lasting);
        let occasion = is_edited.then(|| occasion(self.command, episode, self.journal.pending()));
        let text = is_edited.then(|| lasting.into_text()).transpose()?;
        if let Some(changes) = changes {
            changes.add_to(self.journal.pending_mut(), text.as_deref());
        }
        let mut change = match text.zip(occasion) {
            Some((text, occasion)) => Change::to(text, value).with_occasion(occasion),
            None => Change::unchanged(value),
        };
        if self.ends_session || session.is_edited() {
            change = change.with_session(session.into_text()?);
        }
        if let Some(state) = self.new_state {
            change = change.with_state(state);
        }
        change = match self.journal.into_lines() {
            (_, lines) if lines.is_empty() => change,
            (log, lines) => change.with_lines(&log, lines),
        };
        Ok(match authorship.into_lines() {
            Some((written, lines)) => change.with_lines(&written, lines),
            None => change,
        })
    }
}

/// The files of a store with that text; an error where a merge left conflicts in it.
fn open(store: &Store, text: Option<String>) -> Result<Files, StoreError> {
    files(store, writable(store, text)?)
}

fn files(store: &Store, text: String) -> Result<Files, StoreError> {
    let session = match store.sidecar().session() {
        Err(error) if error.is_damage() => String::new(),
        session => session?.unwrap_or_default(),
    };
    let files = Files::new(Document::parse(text), Document::parse(session)).with_sidecar(store.sidecar());
    Ok(Files { viewer: store.viewer().clone(), ..files })
}

/// The files for a reader, without what their viewer may not see.
fn as_seen(mut files: Files) -> Files {
    if let Some(texts) = seen(&files.viewer, [&files.lasting, &files.session]) {
        [files.lasting, files.session] = texts.map(Document::parse);
    }
    files
}

/// The text of a file that may be written: without conflicts, and of no newer format.
fn writable(store: &Store, text: Option<String>) -> Result<String, StoreError> {
    let text = text.unwrap_or_default();
    if let Some(error) = StoreError::of_newer_format(store.path(), &text) {
        return Err(error);
    }
    match conflicts(&text) {
        Some(found) => Err(StoreError::Conflict { path: store.path().to_owned(), line: found.lines[0] }),
        None => Ok(text),
    }
}
