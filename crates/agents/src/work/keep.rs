//! Writes the lessons of an agent's session into the memory file when the session ends.
//!
//! The log enters; tries, actions that worked, and lessons leave, as the built-in rules write them. What a person has
//! deleted is not written again.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::work::command::Command;
use crate::work::log::{Event, Line, Log, Outcome, append};
use crate::work::reply::names;
use crate::work::verdict::{History, is_listed_as};
use memories_document::RegionKind;
use memories_document::types::{
    Anchor, Attempt, Author, Category, FolderPath, Memory, Moment, Scope, Witnesses, is_path_of_file,
};
use memories_notebook::add::{Claim, store_memory};
use memories_notebook::authority::{Authority, Proof};
use memories_notebook::correct::{Correction, Target, correct};
use memories_notebook::{Draft, FileState, Notebook, NotebookError};
use memories_store::{CommandLog, slashed, without_dots};

/// The rules, about something without a score and without a death.
const RULES: Authority = Authority::Rules(Proof { died: false, scored: false, rose: false });

/// Failures from which on a command is kept.
const OFTEN: u64 = 2;

/// Files to which a lesson is anchored.
const MOST_ANCHORS: usize = 8;

/// Characters of a lesson's title.
const TITLE_CHARS: usize = 60;

/// Evidence and lessons to write about one action in one folder.
struct Kept<'a> {
    scope: Scope,
    action: u64,
    history: History<'a>,
}

/// Writes what the log of this machine knows into the memory file. `limit` is the number of tries that a section keeps. The answer is
/// the number of actions that were written.
///
/// # Errors
///
/// See [`NotebookError`].
pub fn keep(
    notebook: &Notebook,
    session: &str,
    now: u64,
    machine: &str,
    limit: usize,
) -> Result<usize, NotebookError> {
    let log = CommandLog::of(notebook.store().sidecar());
    let lines = || {
        let log = Log::read(&log, machine)?;
        let lines = if log.may_have_failures() { log.lines().collect() } else { Vec::new() };
        Ok::<Vec<Line>, NotebookError>(lines)
    };
    if actions(&lines()?).is_empty() {
        return Ok(0);
    }
    let written = notebook.edit::<_, NotebookError>("hook", |draft| {
        draft.by(Author::Rules);
        // Another session may have kept more before this one got the lock.
        let lines = lines()?;
        let mut done = Vec::new();
        for one in &actions(&lines) {
            let Scope::Folder(folder) = &one.scope else { continue };
            for event in write(draft, one, limit)? {
                let (session, folder) = (session.to_owned(), folder.as_str().to_owned());
                done.push(Line { at: now, session, folder, event, until: Some(one.history.until()) });
            }
        }
        Ok(done)
    })?;
    append(&log, machine, &written.value)?;
    Ok(written.value.len())
}

/// The actions of the log of which something may have to be written.
fn actions(lines: &[Line]) -> Vec<Kept<'_>> {
    let runs = || lines.iter().filter_map(|line| Some((line.folder.as_str(), line.run()?)));
    let failed: BTreeSet<(&str, u64)> = runs()
        .filter(|(_, run)| run.outcome == Outcome::Failed)
        .map(|(folder, run)| (folder, run.action))
        .collect();
    let kept = failed.into_iter().filter_map(|(folder, action)| {
        let scope = Scope::Folder(FolderPath::canonical(folder)?);
        Some(Kept { scope, action, history: History::of(action, folder, lines)? })
    });
    kept.filter(|Kept { history, .. }| !history.is_kept || history.instead.is_some() && !history.is_learned)
        .collect()
}

/// Writes what is known of an action. The answer says what the file has now.
fn write(draft: &mut Draft<'_>, kept: &Kept<'_>, limit: usize) -> Result<Vec<Event>, NotebookError> {
    let Kept { scope, action, history } = kept;
    let section = draft.files.section(scope);
    let is_same = |tried: &&Attempt| is_listed_as(&tried.action, *action, &history.shown);
    let listed = section.tried.iter().find(is_same).cloned();
    let Some((_, run)) = history.last_failure else {
        if let Some(listed) = listed.filter(|_| history.worked) {
            draft.files.lasting.remove_attempt(scope, &listed.action, &Witnesses::default());
            let worked = Attempt { action: listed.action, count: 1, ..Attempt::default() };
            draft.files.lasting.put_attempt(scope, &section.name, RegionKind::Worked, &worked, limit)?;
        }
        if history.worked {
            invalidate(draft, scope, *action)?;
        }
        return Ok(Vec::new());
    };
    if run.outcome != Outcome::Failed || history.ran_unknown {
        return Ok(Vec::new());
    }
    let mut written = Vec::new();
    if !history.is_kept && (history.failures >= OFTEN || listed.is_some()) {
        let count = history.failures.max(listed.as_ref().map_or(0, |listed| listed.count));
        let wording = listed.map_or_else(|| run.command.clone(), |listed| listed.action);
        let attempt = Attempt { action: wording, count, reply: run.reply.clone(), ..Attempt::default() };
        draft.files.lasting.put_attempt(scope, &section.name, RegionKind::Tried, &attempt, limit)?;
        written.push(Event::Kept(*action));
    }
    if let Some(instead) = history.instead.filter(|_| !history.is_learned) {
        let reply = if run.reply.is_empty() { String::new() } else { format!(": {}", run.reply) };
        let text = format!("`{}` failed{reply}\n`{instead}` worked instead.", run.command);
        let title: String = run.command.chars().take(TITLE_CHARS).collect();
        let mut memory = Memory::new(lesson(), title, text);
        memory.provenance.date = today(draft);
        memory.provenance.tags = anchors(draft, scope, &[&run.command, instead], &run.reply);
        let claim = Claim::of(RULES);
        store_memory(&mut draft.files, scope, &section.name, &memory, claim, &mut Vec::new())?;
        written.push(Event::Learned(*action));
    }
    Ok(written)
}

/// The files that a lesson names, as they are: words of its commands and of its reply.
fn anchors(draft: &Draft<'_>, scope: &Scope, commands: &[&str], reply: &str) -> Vec<String> {
    let (Some(files), Scope::Folder(folder)) = (&draft.files.anchored, scope) else { return Vec::new() };
    let arguments = commands.iter().flat_map(|command| Command::read(command).arguments);
    let mut tags: Vec<String> = Vec::new();
    for word in arguments.chain(names(reply)) {
        // The words of a reply may start at the root, and those of a command do not.
        let paths = [folder.to_path().join(&word), PathBuf::from(&word)].map(|path| without_dots(&path));
        let anchor = paths.iter().find_map(|path| {
            let path = slashed(path).filter(|path| is_path_of_file(path))?;
            match files.state(&path) {
                FileState::Blob(blob) => Some(Anchor { path, blob }.tag()),
                FileState::Gone | FileState::NotRead => None,
            }
        });
        tags.extend(anchor.filter(|tag| !tags.contains(tag)));
    }
    tags.truncate(MOST_ANCHORS);
    tags
}

/// Strikes the lesson of an action that works after all, if nobody has changed it.
fn invalidate(draft: &mut Draft<'_>, scope: &Scope, action: u64) -> Result<(), NotebookError> {
    let is_meant = |memory: &Memory| {
        let of = memory.text.split('`').nth(1).map(|command| Command::read(command).action);
        memory.category == lesson() && of == Some(action)
    };
    let found = draft.files.live(scope).map(|entry| entry.read()).find(is_meant);
    let Some(memory) =
        found.filter(|memory| draft.files.authorship.author_of(scope, memory) == Author::Rules)
    else {
        return Ok(());
    };
    let target = Target { scope: scope.clone(), title: memory.title, line: None };
    let reason = "The command works now.".to_owned();
    let at = Moment { date: today(draft), ..Moment::default() };
    correct(&mut draft.files, &Correction::Invalidate(vec![target], reason), &at, RULES)?;
    Ok(())
}

/// The date of this change.
fn today(draft: &Draft<'_>) -> Option<String> {
    draft.now.get(..10).map(str::to_owned)
}

/// The category of a command that failed, and of another one that worked in its place.
pub(super) fn lesson() -> Category {
    Category::new("ERROR_LESSON").expect("the name of a category")
}
