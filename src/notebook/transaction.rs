//! The one way to change a memory file: a transaction.
//!
//! A command's name and a function enter. The function is given a [`Draft`]: the memory file, its session
//! and the running episode as they are under the lock. It edits them and notes its journal entry; then all
//! of it is written, or, where the function fails, nothing. It always holds that
//!
//! * no other code opens and locks the file for a change, and none writes a line of the journal;
//! * entries are stamped here with version, id and time;
//! * a function that fails leaves nothing behind, not even an empty folder.

use serde::Serialize;
use serde_json::Value;

use crate::document::conflict::conflicts;
use crate::document::{Document, DocumentError};
use crate::journal::Journal;
use crate::journal::entry::{Entry, RECORD};
use crate::notebook::authorship::Author;
use crate::notebook::clock::Clock;
use crate::notebook::files::Files;
use crate::store::{Change, Sidecar, State, Store, StoreError, Update, UpdateError};
use crate::types::Moment;

/// The version of the journal's lines.
const VERSION: u32 = 1;

/// A memory file with its session, state and journal.
#[derive(Clone)]
pub struct Notebook {
    store: Store,
    clock: Clock,
}

/// A session that ended with its episode.
#[derive(Debug)]
pub(crate) struct EndedSession {
    /// Live memories that it had.
    pub memories: u64,
    /// Its text; `None` where there was none.
    pub text: Option<String>,
}

/// The result of a transaction.
#[derive(Debug)]
#[must_use]
pub(crate) struct Written<T> {
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
        Notebook { store, clock }
    }

    /// The files.
    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// The time and fresh ids.
    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The memory file and its session as they are, to be looked at.
    ///
    /// # Errors
    ///
    /// When one of them cannot be read, or the memory file has conflicts of a merge.
    pub fn read(&self) -> Result<Files, StoreError> {
        open(&self.store, self.store.read()?)
    }

    /// Changes the files under the lock, or not at all. The function is called again, with fresh files, when
    /// an editor changed the file meanwhile: so it must keep nothing from an earlier call. It must not ask a
    /// model, for all other writers wait.
    ///
    /// # Errors
    ///
    /// Those of the function, and those of reading and writing the files. Nothing is written then, except after
    /// [`StoreError::NotConfirmed`] and where the session alone could not be put in place.
    pub(crate) fn edit<T, E: From<StoreError> + From<DocumentError>>(
        &self,
        command: &'static str,
        mut edit: impl FnMut(&mut Draft<'_>) -> Result<T, E>,
    ) -> Result<Written<T>, E> {
        let update = self.store.update(|text, sidecar| {
            let mut draft = self.draft(command, text, sidecar)?;
            let value = edit(&mut draft)?;
            Ok(draft.into_change(value)?)
        });
        let Update { value, written, warnings } = update.map_err(|error: UpdateError<E>| match error {
            UpdateError::Store(error) => error.into(),
            UpdateError::Edit(error) => error,
        })?;
        Ok(Written { value, written, warnings: warnings.iter().map(ToString::to_string).collect() })
    }

    /// Changes what is kept of servers' refusals, without waiting for the lock, and nothing else.
    ///
    /// # Errors
    ///
    /// When another process is writing, and those of reading and writing the state.
    pub(crate) fn keep_refusals(
        &self,
        change: impl Fn(Value) -> Value,
    ) -> Result<(), Box<dyn std::error::Error>> {
        let notebook = Notebook { store: self.store.without_waiting(), clock: self.clock.clone() };
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
    /// Those of the function, and those of reading the files.
    pub(crate) fn preview<T, E: From<StoreError>>(
        &self,
        mut edit: impl FnMut(&mut Draft<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        edit(&mut self.draft("", self.store.read()?, self.store.sidecar())?)
    }

    fn draft<'a>(
        &self,
        command: &'static str,
        text: Option<String>,
        sidecar: &'a Sidecar,
    ) -> Result<Draft<'a>, StoreError> {
        Ok(Draft {
            is_new: text.is_none(),
            files: open(&self.store, text)?,
            sidecar,
            journal: Journal::of(&self.store),
            command,
            id: self.clock.fresh_id(),
            now: self.clock.now(),
            replaced: false,
            ends_session: false,
            new_state: None,
            line: None,
        })
    }
}

/// The files while they are edited, and what is written with them.
pub(crate) struct Draft<'a> {
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
    sidecar: &'a Sidecar,
    journal: Journal,
    command: &'static str,
    id: String,
    replaced: bool,
    line: Option<String>,
}

impl Draft<'_> {
    /// Says that a program writes the entries of this change, and no person.
    pub(crate) fn by_program(&mut self) {
        self.files.authorship.set_author(Author::Program);
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
    pub(crate) fn replace_text(&mut self, text: String) {
        self.files.lasting = Document::parse(text);
        self.replaced = true;
    }

    /// The running episode and other counters.
    ///
    /// # Errors
    ///
    /// When they are there but cannot be read: what is built on the default would be wrong.
    pub(crate) fn state(&self) -> Result<State, StoreError> {
        Ok(self.sidecar.state_for_writers()?.0)
    }

    /// The time for reference lines: the running episode, and the last turn if it was recorded in it.
    ///
    /// # Errors
    ///
    /// As [`Draft::state`]; also when the journal cannot be read.
    pub(crate) fn moment(&self) -> Result<Moment, StoreError> {
        let episode = Some(self.state()?.episode);
        let last = self.journal.last_turns(1)?.pop().filter(|turn| turn.episode == episode);
        Ok(Moment { episode, turn: last.and_then(|turn| turn.number), ..Moment::default() })
    }

    /// Removes all memories of the session.
    ///
    /// # Errors
    ///
    /// When its text, which the journal keeps, cannot be read.
    pub(crate) fn end_session(&mut self) -> Result<EndedSession, StoreError> {
        let text = self.sidecar.session()?;
        let sections = self.files.session.sections();
        let memories = sections.iter().map(|(_, section)| section.live().count() as u64).sum();
        if memories > 0 {
            self.files.session = Document::parse(String::new());
            self.ends_session = true;
        }
        Ok(EndedSession { memories, text })
    }

    /// The journal entry of this change. Without one, the journal says nothing of it.
    pub(crate) fn note<T: Serialize>(&mut self, entry: Entry<'_, T>) {
        let command = (self.command != RECORD).then(|| self.command.into());
        let (id, time) = (Some((&self.id).into()), Some((&self.now).into()));
        self.line = Some(Entry { version: Some(VERSION), id, time, command, ..entry }.to_line());
    }

    fn into_change<T>(self, value: T) -> Result<Change<T>, DocumentError> {
        let Files { lasting, session, authorship } = self.files;
        // With the first memory of a session there is a memory file, too, though an empty one.
        let first = self.is_new && session.is_edited();
        let mut change = match self.replaced || lasting.is_edited() || first {
            true => Change::to(lasting.into_text()?, value),
            false => Change::unchanged(value),
        };
        if self.ends_session || session.is_edited() {
            change = change.with_session(session.into_text()?);
        }
        if let Some(state) = self.new_state {
            change = change.with_state(state);
        }
        if let Some(line) = self.line {
            change = change.with_lines(self.journal.log(), vec![line]);
        }
        Ok(match authorship.into_lines() {
            Some((written, lines)) => change.with_lines(&written, lines),
            None => change,
        })
    }
}

/// The files of a store with that text; an error where a merge left conflicts in it.
fn open(store: &Store, text: Option<String>) -> Result<Files, StoreError> {
    let text = text.unwrap_or_default();
    if let Some(found) = conflicts(&text) {
        return Err(StoreError::Conflict { path: store.path().to_owned(), line: found.lines[0] });
    }
    let session = Document::parse(store.sidecar().session()?.unwrap_or_default());
    Ok(Files::new(Document::parse(text), session).with_sidecar(store.folder()))
}
