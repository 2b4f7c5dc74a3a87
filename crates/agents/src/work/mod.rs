//! Work on a repository: commands as actions, their results, and the lessons that are kept.
//!
//! A command line and a working folder enter; after the command ran, its output enters, too. A verdict leaves before
//! the command runs, a line of the log after it, and entries of the memory file at the end of a session. Git and the
//! command itself are never run.

pub(crate) mod command;
mod effect;
mod fold;
mod instead;
mod keep;
pub(crate) mod log;
mod masking;
mod powershell;
mod program;
mod reply;
mod shell;
pub(crate) mod surroundings;
pub mod verdict;

use std::cell::LazyCell;
use std::path::{Path, PathBuf};

use anstream::adapter::strip_str;

use memories_document::Section;
use memories_document::types::frame::one_line;
use memories_document::types::model_text::ModelText;
use memories_document::types::text::{fold_spaces, truncate};
use memories_document::types::{FolderPath, Memory, MemoryObject, Scope, ScopeName};
use memories_llm::redact::redacted;
use memories_notebook::{AnchoredFiles, KnownChanges, MemoryObjects, NotebookError, Snapshot};
use memories_recall::{owned_sections, render_stale};
use memories_store::{CommandLog, Store, StoreError};

use command::Command;
pub use command::Shell;
pub use keep::keep;
use log::{COMMAND_CHARS, Event, Line, Log, Outcome, Run, append};
use masking::{masked, secrets, without};
use surroundings::Surroundings;
pub use surroundings::is_foreign;
use verdict::{History, Verdict, in_words_for_agent, judge};

/// The action of a command that ran nobody knows where.
const ELSEWHERE: u64 = 0;

/// Bytes of a command line that is read at most. A longer one is a program, and no other will be the same.
pub const LONGEST_COMMAND: usize = 64 * 1024;

/// Memories about a command that are said.
const MEMORIES: usize = 2;

/// Characters of such a memory.
const MEMORY_CHARS: usize = 300;

/// The work of one session of an agent on a repository.
#[derive(Debug, Clone, Copy)]
pub struct Work<'a> {
    /// The memory file.
    pub store: &'a Store,
    /// The root of the repository, absolute.
    pub root: &'a Path,
    /// The working folder, absolute.
    pub here: &'a Path,
    /// The agent's id of its session.
    pub session: &'a str,
    /// The shell of its commands.
    pub shell: Shell,
    /// The present time, in milliseconds since 1970.
    pub now: u64,
    /// A hash of the variables of the environment on which tools depend.
    pub environment: u64,
    /// A name of this machine that nobody else knows; empty if there is none. Lines of the log that bear no such name
    /// do not count.
    pub machine: &'a str,
    /// The files of the repository, of which a memory may say that they changed.
    pub files: Option<&'a dyn AnchoredFiles>,
}

/// Knowledge of a command.
#[derive(Debug)]
pub struct Answer {
    /// The folder in which it runs.
    pub scope: Scope,
    /// The verdict.
    pub verdict: Verdict,
    /// Live memories of the folder and of those above that name it.
    pub memories: Vec<MemoryObject>,
}

impl Answer {
    /// The text for the agent; `None` where there is nothing to say.
    pub fn text(&self) -> Option<ModelText> {
        let mut text = in_words_for_agent(&self.verdict);
        for MemoryObject { scope, name, memory, .. } in &self.memories {
            let said = truncate(&fold_spaces(&memory.text), MEMORY_CHARS);
            let stale = render_stale(memory).map(|stale| format!(" ({stale})")).unwrap_or_default();
            let line =
                format!("{} of {}: {}. {said}{stale}", memory.category, scope.label(name), memory.title);
            text.push_str(&one_line(&line));
            text.push('\n');
        }
        (!text.is_empty()).then(|| ModelText::of(&text))
    }
}

/// How a command ended, as the agent says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It succeeded.
    Well,
    /// It failed, with the exit code if it is known.
    Badly(Option<i64>),
    /// A person stopped it: nobody knows how it would have ended.
    Stopped,
    /// A time limit stopped it.
    OutOfTime,
    /// It still runs.
    NotYet,
}

impl Work<'_> {
    /// The surroundings of a command that changes to the folder `cd` first.
    fn surroundings(&self, cd: Option<&str>) -> Option<Surroundings> {
        Surroundings::of(self.root, self.here, cd, self.store.real_path(), self.environment)
    }

    /// Finds what is known of a command line; `None` where it runs outside of the repository.
    ///
    /// # Errors
    ///
    /// When the log or the memory file cannot be read.
    pub fn known(&self, text: &str) -> Result<Option<Answer>, NotebookError> {
        let shown = masked(text, self.shell);
        let command = Command::read_as(&shown, self.shell);
        let Some(surroundings) = self.surroundings(command.folder.as_deref()) else { return Ok(None) };
        let mut lines = self.log()?.since(surroundings.folder.as_str(), command.action);
        // A log that came with a repository may claim anything of times to come.
        lines.retain(|line| line.at <= self.now);
        let folder = surroundings.folder.clone();
        let scopes: Vec<Scope> =
            std::iter::once(folder.clone()).chain(folder.parents()).map(Scope::Folder).collect();
        let names: Vec<ScopeName> = scopes.iter().cloned().map(ScopeName::Scope).collect();
        let snapshot = Snapshot::read(self.store)?;
        let sections = owned_sections(&snapshot, &names)?;
        let section = sections.first().map(|(_, section)| section);
        let tried = section.map_or(&[][..], |section| &section.tried);
        let worked = section.map_or(&[][..], |section| &section.worked);
        let verdict = judge(&command, &lines, tried, worked, &surroundings, self.now);
        let verdict = if shown == text { verdict } else { verdict.of_masked() };
        // It works after all.
        let is_old = |verdict: &Verdict| matches!(verdict, Verdict::Worked | Verdict::Changed);
        let lessons = !is_old(&verdict);
        let named = sections.iter().flat_map(|(scope, section)| {
            naming(section, command.action, lessons).map(move |memory| (scope, section.name.as_str(), memory))
        });
        let objects = LazyCell::new(|| MemoryObjects::of(&snapshot));
        let mut memories: Vec<MemoryObject> =
            named.take(MEMORIES).map(|(scope, name, memory)| objects.object(scope, name, memory)).collect();
        let mut changes = KnownChanges::default();
        let shown = || memories.iter().map(|object| (&object.scope, &object.memory));
        if self.files.is_some_and(|files| changes.look(files, shown())) {
            memories.iter_mut().for_each(|object| changes.say(&object.scope, &mut object.memory));
        }
        Ok(Some(Answer { scope: Scope::Folder(folder), verdict, memories }))
    }

    /// The working folder as a scope; `None` outside of the repository.
    pub fn folder(&self) -> Option<FolderPath> {
        self.surroundings(None).map(|surroundings| surroundings.folder)
    }

    /// Notes when and where a command begins: what changes while it runs has changed since, and some agents name only
    /// the folder in which it ends. `id` is the agent's id of the call.
    ///
    /// # Errors
    ///
    /// When the log cannot be written.
    pub fn begin(&self, id: &str) -> Result<(), NotebookError> {
        if id.is_empty() {
            return Ok(());
        }
        let Some(folder) = self.folder() else { return Ok(()) };
        let here = self.here.to_string_lossy().into_owned();
        self.append(&folder, Event::Begun { id: id.to_owned(), here })
    }

    /// When and in which folder a call began, where that was noted.
    fn begun(&self, id: &str) -> Result<Option<(u64, PathBuf)>, NotebookError> {
        let lines = self.log()?.naming(id);
        Ok(lines.into_iter().rev().find_map(|line| match line.event {
            Event::Begun { id: begun, here } if begun == id => Some((line.at, PathBuf::from(here))),
            _ => None,
        }))
    }

    /// Notes a command that ran; `id` is the agent's id of the call. The answer is a text for the agent where it
    /// failed.
    ///
    /// # Errors
    ///
    /// When the log cannot be written.
    pub fn note_command(
        &self,
        text: &str,
        id: &str,
        ended: Ended,
        output: &str,
    ) -> Result<Option<ModelText>, NotebookError> {
        let begun = if id.is_empty() { None } else { self.begun(id)? };
        let secrets = secrets(text, self.shell);
        let masked = masked(text, self.shell);
        let command = Command::read_as(&masked, self.shell);
        let here = begun.as_ref().filter(|_| command.folder.is_some());
        let work = Work { here: here.map_or(self.here, |(_, here)| here), ..*self };
        let shown = truncate(&fold_spaces(&masked), COMMAND_CHARS);
        let Some(surroundings) = work.surroundings(command.folder.as_deref()) else {
            return work.note_elsewhere(shown, command.may_change);
        };
        let output = &without(&strip_str(&reply::whole_lines(output)).to_string(), &secrets);
        let outcome = outcome(&command, ended, output);
        let has_failed = matches!(outcome, Outcome::Failed | Outcome::Passing);
        let output = if has_failed { redacted(output) } else { String::new() };
        let named = reply::names(&output);
        let run = Run {
            command: shown.clone(),
            wording: command.wording,
            action: command.action,
            parts: command.parts.clone(),
            outcome,
            reply: reply::reply_of(&output),
            files: if has_failed {
                surroundings.files(command.arguments.iter().chain(&named))
            } else {
                Vec::new()
            },
            began: begun.map(|(at, _)| at),
            commit: surroundings.commit(),
            environment: surroundings.environment,
            may_change: command.may_change,
        };
        self.append(&surroundings.folder, Event::Ran(run))?;
        if outcome != Outcome::Failed {
            return Ok(None);
        }
        let lines = self.log()?.since(surroundings.folder.as_str(), command.action);
        let history = History::of(command.action, surroundings.folder.as_str(), &lines);
        let times = history.map_or(1, |history| history.failures);
        let times = if times > 1 { format!(" {times} times") } else { String::new() };
        let command = one_line(&shown);
        Ok(Some(ModelText::of(&format!(
            "Noted: `{command}` failed here{times}. As long as nothing changes, it is likely to fail again.\n"
        ))))
    }

    /// Notes a command that ran nobody knows where. It counts as a change alone.
    fn note_elsewhere(&self, command: String, may_change: bool) -> Result<Option<ModelText>, NotebookError> {
        let Some(surroundings) = self.surroundings(None).filter(|_| may_change) else { return Ok(None) };
        let run = Run {
            command,
            wording: ELSEWHERE,
            action: ELSEWHERE,
            outcome: Outcome::Unknown,
            environment: surroundings.environment,
            may_change,
            ..Run::default()
        };
        self.append(&surroundings.folder, Event::Ran(run))?;
        Ok(None)
    }

    /// Notes a file that a tool of the agent changed.
    ///
    /// # Errors
    ///
    /// When the log cannot be written.
    pub fn note_edit(&self, path: &Path) -> Result<(), NotebookError> {
        let Some(surroundings) = self.surroundings(None) else { return Ok(()) };
        self.append(&surroundings.folder, Event::Edited(redacted(&surroundings.name_of(path))))
    }

    /// True the first time that the session asks to hold back a command in these circumstances.
    ///
    /// # Errors
    ///
    /// When the log cannot be read or written.
    pub fn hold(&self, text: &str) -> Result<bool, NotebookError> {
        let command = Command::read_as(&masked(text, self.shell), self.shell);
        let Some(surroundings) = self.surroundings(command.folder.as_deref()) else { return Ok(false) };
        let is_same = |line: &Line| {
            line.session == self.session && matches!(line.event, Event::Held(held) if held == command.wording)
        };
        if self.log()?.lines().any(|line| is_same(&line)) {
            return Ok(false);
        }
        self.append(&surroundings.folder, Event::Held(command.wording))?;
        Ok(true)
    }

    /// The folders in which this or earlier sessions worked last, the latest first, at most `count`.
    ///
    /// # Errors
    ///
    /// When the log cannot be read.
    pub fn last_folders(&self, count: usize) -> Result<Vec<Scope>, NotebookError> {
        let log = self.log()?;
        let mut folders: Vec<Scope> = Vec::new();
        for line in log.latest_elsewhere() {
            let path = match &line.event {
                Event::Edited(path) => path.rsplit_once('/').map_or("/", |(folder, _)| folder),
                _ => line.folder.as_str(),
            };
            let Ok(folder) = FolderPath::parse(path) else { continue };
            let scope = Scope::Folder(folder);
            if folders.len() < count && !folders.contains(&scope) {
                folders.push(scope);
            }
            if folders.len() >= count {
                break;
            }
        }
        Ok(folders)
    }

    fn log(&self) -> Result<Log, StoreError> {
        Log::read(&CommandLog::of(self.store.sidecar()), self.machine)
    }

    /// Adds an event in a folder to the log.
    fn append(&self, folder: &FolderPath, event: Event) -> Result<(), NotebookError> {
        let folder = folder.as_str().to_owned();
        let line = Line { at: self.now, session: self.session.to_owned(), folder, event, until: None };
        Ok(append(&CommandLog::of(self.store.sidecar()), self.machine, &[line])?)
    }
}

/// The exit codes of a command that Ctrl-C ended: of a shell of POSIX, and of Windows in both ways to write it.
const INTERRUPTED: [i64; 3] = [130, 0xC000_013A, -0x3FFF_FEC6];

fn outcome(command: &Command, ended: Ended, output: &str) -> Outcome {
    match ended {
        Ended::NotYet | Ended::Stopped => Outcome::Unknown,
        Ended::Badly(Some(code)) if INTERRUPTED.contains(&code) => Outcome::Unknown,
        Ended::OutOfTime => Outcome::Passing,
        Ended::Badly(Some(1)) if command.answers => Outcome::Worked,
        Ended::Badly(code) if command.asks_elsewhere || reply::is_passing(code, output) => Outcome::Passing,
        Ended::Badly(_) => Outcome::Failed,
        Ended::Well if command.hides_code => Outcome::Unknown,
        Ended::Well => Outcome::Worked,
    }
}

/// Live memories that have a command in a code span.
fn naming(section: &Section, action: u64, lessons: bool) -> impl Iterator<Item = &Memory> {
    let names_it = move |text: &str| {
        let spans = text.split('`').skip(1).step_by(2);
        spans.filter(|span| !span.is_empty()).any(|span| Command::is_action(span, action))
    };
    let live = section.live().filter(move |memory| lessons || memory.category != keep::lesson());
    live.filter(move |memory| names_it(&memory.title) || names_it(&memory.text))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::work::log::READ;
    use memories_notebook::{Clock, Notebook};

    #[test]
    fn a_session_begins_without_reading_the_whole_log() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Memories.md");
        let store = Store::open(&path, Duration::from_secs(10)).unwrap();
        let root = store.real_path().parent().unwrap().to_owned();
        let shell = Shell::Posix;
        let (session, machine, environment, files) = ("s", "m", 0, None);
        let work = Work {
            store: &store,
            root: &root,
            here: &root,
            session,
            shell,
            now: 1,
            environment,
            machine,
            files,
        };
        for number in 0..100_u8 {
            let folder = root.join(format!("part{}", 2.min(number)));
            let work = Work { here: &folder, ..work };
            work.note_command("make", "", Ended::Well, "").unwrap();
        }
        let read = READ.get();
        let folders: Vec<String> = work.last_folders(9).unwrap().iter().map(Scope::to_string).collect();
        assert_eq!(folders, ["dir:part2", "dir:part1", "dir:part0"]);
        let notebook = Notebook::new(store.clone(), Clock::fixed("2026-01-31T10:40:00Z"));
        assert_eq!(keep(&notebook, session, 2, machine, 9).unwrap(), 0);
        assert_eq!(READ.get() - read, 3, "lines that were read");
    }
}
