//! The types of an update: the change that an edit returns, and the result of the update.

use crate::error::StoreError;
use crate::log::LineLog;
use crate::occasion::Occasion;
use crate::state::State;

/// The result of an edit, to be written: the file first and, when that is on disk, state, session and log,
/// under the same lock.
#[derive(Debug, Clone)]
#[must_use]
pub struct Change<T> {
    pub(crate) value: T,
    pub(crate) text: Option<String>,
    pub(crate) session: Option<String>,
    pub(crate) state: Option<State>,
    pub(crate) lines: Vec<NewLines>,
    pub(crate) occasion: Option<Occasion>,
}

/// Lines that are added to a log.
#[derive(Debug, Clone)]
pub(crate) struct NewLines {
    pub(crate) log: LineLog,
    pub(crate) lines: Vec<String>,
}

impl<T> Change<T> {
    /// The file stays as it is.
    pub fn unchanged(value: T) -> Change<T> {
        Change { value, text: None, session: None, state: None, lines: Vec::new(), occasion: None }
    }

    /// The file gets this text. Where that is the text it has, nothing is written.
    pub fn to(text: String, value: T) -> Change<T> {
        Change { text: Some(text), ..Change::unchanged(value) }
    }

    /// Also adds lines to a log, which a power cut cannot take when the update has returned.
    pub fn with_lines(mut self, log: &LineLog, lines: Vec<String>) -> Change<T> {
        debug_assert!(!lines.iter().any(|line| line.contains('\n')), "a line of a log is one line");
        self.lines.push(NewLines { log: log.clone(), lines });
        self
    }

    /// Says for people why the file gets another text.
    pub fn with_occasion(self, occasion: Occasion) -> Change<T> {
        Change { occasion: Some(occasion), ..self }
    }

    /// Also replaces the state.
    pub fn with_state(mut self, state: State) -> Change<T> {
        self.state = Some(state);
        self
    }

    /// Also replaces the text of the session, the memories that end with the episode.
    pub fn with_session(mut self, text: String) -> Change<T> {
        self.session = Some(text);
        self
    }
}

/// The result of an update.
#[derive(Debug)]
#[must_use]
pub struct Update<T> {
    /// The value of the edit that was written.
    pub value: T,
    /// True if the file has a new text.
    pub written: bool,
    /// Failures beside the new file: a numbered backup, the state, or the log could not be written. Where
    /// neither file nor session nor state is new, they are errors instead. Also a state that outweighs the file.
    pub warnings: Vec<StoreError>,
}
