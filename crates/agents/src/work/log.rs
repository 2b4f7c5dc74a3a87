//! Lines of the log: commands with their results, edits, and the lessons that were kept in the memory file.

use serde::{Deserialize, Serialize};

use memories_store::{CommandLog, StoreError};

/// Characters of a command line in the log.
pub(super) const COMMAND_CHARS: usize = 300;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    /// The agent says that it failed.
    Failed,
    /// It failed for a reason that may be over the next time.
    Passing,
    /// It succeeded.
    Worked,
    /// Nobody knows.
    #[default]
    Unknown,
}

/// A file that a command or its output names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NamedFile {
    /// The path, from the root of the repository where it is below.
    pub path: String,
    /// False if there was none.
    pub exists: bool,
}

/// A command that ran.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Run {
    /// The command line on one line, without secrets, cut.
    pub command: String,
    /// See [`crate::work::command::Command::wording`].
    pub wording: u64,
    /// See [`crate::work::command::Command::action`].
    pub action: u64,
    /// See [`crate::work::command::Command::parts`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<u64>,
    /// How it ended.
    pub outcome: Outcome,
    /// The line of its output that says most of a failure.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reply: String,
    /// Files that it or its output names; of a failure only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<NamedFile>,
    /// When it began, in milliseconds since 1970, where the agent said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began: Option<u64>,
    /// The commit that was checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// A hash of the variables of the environment on which tools depend.
    pub environment: u64,
    /// See [`crate::work::command::Command::may_change`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_change: bool,
}

/// The event of a line.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Event {
    /// A command ran.
    Ran(Run),
    /// A tool of the agent changed a file, which is named as in [`NamedFile`].
    Edited(String),
    /// The failures of an action up to here are in the memory file.
    Kept(u64),
    /// A command that stood in for an action is in the memory file.
    Learned(u64),
    /// A command was refused once, in a session; the session may have it the next time.
    Held(u64),
    /// A command begins, in this folder, which is absolute.
    Begun { id: String, here: String },
}

/// A line of the log.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Line {
    /// When it was added, in milliseconds since 1970.
    pub at: u64,
    /// The agent's id of its session.
    pub session: String,
    /// The folder, from the root of the repository.
    pub folder: String,
    /// The event.
    #[serde(flatten)]
    pub event: Event,
    /// The failures of which an event of [`Event::Kept`] or [`Event::Learned`] knows. Other sessions may have added
    /// some before this line. Earlier versions did not write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Failures>,
}

/// The failures of an action since it last succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failures {
    /// Their number.
    pub count: u64,
    /// When the last one was added to the log, in milliseconds since 1970; 0 where there is none.
    pub last: u64,
}

impl Line {
    /// The command that ran.
    pub(super) fn run(&self) -> Option<&Run> {
        match &self.event {
            Event::Ran(run) => Some(run),
            _ => None,
        }
    }
}

/// The text of the log.
#[derive(Debug, Default)]
pub(crate) struct Log {
    text: String,
}

impl Log {
    /// Reads the lines of a machine. A log that came with an archive has lines of another, which nobody here saw.
    ///
    /// # Errors
    ///
    /// See [`CommandLog::read`].
    pub(crate) fn read(log: &CommandLog, machine: &str) -> Result<Log, StoreError> {
        if machine.is_empty() {
            return Ok(Log::default());
        }
        let mut text = log.read()?;
        let mark = mark(machine);
        if !text.lines().all(|line| line.starts_with(&mark)) {
            text =
                text.lines().filter(|line| line.starts_with(&mark)).flat_map(|line| [line, "\n"]).collect();
        }
        Ok(Log { text })
    }

    /// All lines that can be read, oldest first.
    pub(crate) fn lines(&self) -> impl Iterator<Item = Line> {
        self.text.lines().filter_map(read_line)
    }

    /// The lines, the latest first, without those of a folder of which a later one tells. These need not be read: the log
    /// of a long day is half a megabyte.
    pub(super) fn latest_elsewhere(&self) -> impl Iterator<Item = Line> {
        let mut known: Vec<String> = Vec::new();
        self.text.lines().rev().filter_map(move |text| {
            let has = |part: &str| memchr::memmem::find(text.as_bytes(), part.as_bytes()).is_some();
            // An edit may have been made in another folder.
            let is_edit = has("\"edited\":");
            if !is_edit && known.iter().any(|folder| has(folder)) {
                return None;
            }
            let line = read_line(text)?;
            if !is_edit {
                known.push(format!("\"folder\":{}", serde_json::Value::from(line.folder.as_str())));
            }
            Some(line)
        })
    }

    /// True if a line may tell of a command that failed.
    pub(super) fn may_have_failures(&self) -> bool {
        self.text.contains("\"failed\"")
    }

    /// The lines that have a text anywhere, oldest first. No other line is parsed.
    pub(crate) fn naming(&self, text: &str) -> Vec<Line> {
        let lines = self.text.lines().filter(|line| line.contains(text));
        lines.filter_map(read_line).collect()
    }

    /// The lines about an action in a folder, and the lines behind the first of them. No other line is parsed.
    pub(crate) fn since(&self, folder: &str, action: u64) -> Vec<Line> {
        let number = action.to_string();
        let Some(first) = memchr::memmem::find(self.text.as_bytes(), number.as_bytes()) else {
            return Vec::new();
        };
        let start = self.text[..first].rfind('\n').map_or(0, |at| at + 1);
        let lines = self.text[start..].lines().filter_map(read_line);
        let is_about = |line: &Line| {
            line.folder == folder
                && line.run().is_some_and(|run| run.action == action || run.parts.contains(&action))
        };
        lines.skip_while(|line| !is_about(line)).collect()
    }
}

#[cfg(test)]
thread_local! {
    /// Lines that this thread read, for tests.
    pub(super) static READ: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

fn read_line(line: &str) -> Option<Line> {
    #[cfg(test)]
    READ.with(|read| read.set(read.get() + 1));
    serde_json::from_str(line).ok()
}

/// The start of each line of a machine.
fn mark(machine: &str) -> String {
    format!("{{\"machine\":\"{machine}\",")
}

/// Adds lines of a machine to the log. Without a name of the machine nobody would believe them.
///
/// # Errors
///
/// See [`CommandLog::append`].
pub(crate) fn append(log: &CommandLog, machine: &str, lines: &[Line]) -> Result<(), StoreError> {
    if machine.is_empty() {
        return Ok(());
    }
    let mark = mark(machine);
    let written = lines.iter().filter_map(|line| {
        let text = serde_json::to_string(line).ok()?;
        Some(mark.clone() + text.strip_prefix('{')?)
    });
    log.append(&written.collect::<Vec<_>>())
}
