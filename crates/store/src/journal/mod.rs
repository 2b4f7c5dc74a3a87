//! The journal of a memory file: recorded turns, changes with their reasons, and the turns that wait for
//! a model.
//!
//! A store enters; lines leave, oldest first, to be parsed as `entry::Entry`, the one schema of writers
//! and readers. A line that is no entry, such as one torn by a kill, does not affect the others. Turns
//! that wait are lines with the outcome `queued` that no later line `resolves`; a rotation puts those that would be
//! dropped into a file of their own, marked `"carried": true`. Only the crate `memories-notebook` writes lines.

pub mod chain;
pub mod change;
pub mod damage;
pub mod entry;
mod numbers;
mod played;
mod queue;
pub mod recorded;
pub mod text;

use serde_json::Value;

use crate::sidecar::QUEUE;
use crate::{Follower, LineLog, LogLine, Store, StoreError, Upkeep};
use memories_document::types::{Scope, ScopeName};

use entry::Entry;
pub use queue::ResolvedTurns;
use queue::{carried_over, queued};

/// The version of the journal, which the first line of each file states. Files of version 1 state none.
const VERSION: u64 = 2;

/// Lines in which the running episode is looked for where `state.json` is damaged.
const LAST_LINES: usize = 200;

/// The journal of a memory file. It need not exist.
#[derive(Debug, Clone)]
pub struct Journal {
    log: LineLog,
    /// Lines of a change that is not written yet: for its own later steps, they are the last lines.
    pending: Vec<String>,
}

/// The journal's version, and what it keeps of lines that are dropped.
fn upkeep() -> Upkeep {
    Upkeep {
        version: Some(VERSION),
        keep: recorded::keep,
        carried: Some((QUEUE, carried_over)),
        ..Upkeep::default()
    }
}

/// A turn that was played before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EarlierTurn {
    /// Its episode.
    pub episode: Option<u64>,
    /// Its number within the episode.
    pub number: Option<u64>,
    /// The whole turn, as it was recorded.
    pub turn: Value,
    /// Its effect; empty where that is not known.
    pub effect: String,
}

impl EarlierTurn {
    /// The turn of a line; `None` where it has none.
    pub fn of(entry: &Entry<'_, Value>) -> Option<EarlierTurn> {
        let turn = entry.turn.clone().filter(Value::is_object)?;
        let effect = entry.effect.as_deref().unwrap_or_default().to_owned();
        Some(EarlierTurn { episode: turn["episode"].as_u64(), number: turn["turn"].as_u64(), turn, effect })
    }

    /// The place where the turn ended.
    pub fn place(&self) -> Option<ScopeName> {
        let fields = ["location_after", "location_before"];
        let place = fields.into_iter().map(|field| &self.turn[field]).find(|place| place.is_object())?;
        let id = place["id"].as_u64().map(|id| ScopeName::Scope(Scope::Location(id)));
        id.or_else(|| Some(ScopeName::Name(place["name"].as_str()?.to_owned())))
    }
}

impl Journal {
    /// The journal of a memory file.
    pub fn of(store: &Store) -> Journal {
        Journal::on(LineLog::new(store.sidecar(), "journal", ".jsonl", upkeep()))
    }

    /// The log that a change adds its lines to.
    pub fn log(&self) -> &LineLog {
        &self.log
    }

    fn on(log: LineLog) -> Journal {
        Journal { log, pending: Vec::new() }
    }

    /// Adds a line to those that a change is about to write.
    pub fn push(&mut self, line: String) {
        self.pending.push(line);
    }

    /// The lines that a change is about to write.
    pub fn pending(&self) -> &[String] {
        &self.pending
    }

    /// The same, to be completed.
    pub fn pending_mut(&mut self) -> &mut [String] {
        &mut self.pending
    }

    /// The log, and the lines that a change adds to it.
    pub fn into_lines(self) -> (LineLog, Vec<String>) {
        (self.log, self.pending)
    }

    /// The last `count` lines that `wanted` accepts, oldest first. Reads from the end and no further than it must.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub(crate) fn tail(
        &self,
        count: usize,
        mut wanted: impl FnMut(&str) -> bool,
    ) -> Result<Vec<String>, StoreError> {
        let pending = self.pending.iter().rev().filter(|line| wanted(line));
        let mut last: Vec<String> = pending.take(count).cloned().collect();
        last.reverse();
        let mut lines = match count - last.len() {
            0 => Vec::new(),
            missing => self.log.tail(missing, wanted)?,
        };
        lines.append(&mut last);
        Ok(lines)
    }

    /// Visits all lines that are still kept, oldest first. Some may be no entries.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub fn visit(&self, visit: impl FnMut(&str)) -> Result<(), StoreError> {
        self.log.visit(visit)
    }

    /// Reads the entries with the positions of their lines.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub fn visit_lines(&self, visit: impl FnMut(LogLine<'_>)) -> Result<(), StoreError> {
        self.log.visit_lines(visit)
    }

    /// The last `count` lines that `wanted` accepts, oldest first; and a follower that gives those
    /// still to come. Reads from the end and no further than it must.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub fn follow(
        &self,
        count: usize,
        wanted: impl FnMut(&str) -> bool,
    ) -> Result<(Vec<String>, Follower), StoreError> {
        Follower::start(self.log.clone(), count, wanted)
    }

    /// The lines whose turn waits for a model, oldest first.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub fn queued(&self) -> Result<Vec<String>, StoreError> {
        Ok(queued(&self.log)?.into_iter().map(|(line, _)| line).collect())
    }

    /// The highest episode in the last lines of the journal.
    pub fn highest_episode(&self) -> Option<u64> {
        let mut highest = None;
        let visited = self.tail(LAST_LINES, |line| {
            let entry: Option<Entry<'_>> = Entry::parse(line);
            let episode = entry.and_then(|entry| entry.episode.max(entry.turn.and_then(|turn| turn.episode)));
            highest = highest.max(episode);
            episode.is_some()
        });
        visited.ok().and(highest)
    }

    /// The turns that are resolved from now on.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub fn watch_queue(&self) -> Result<ResolvedTurns, StoreError> {
        let (_, follower) = self.follow(0, |_| false)?;
        Ok(ResolvedTurns::of(follower))
    }
}

#[cfg(test)]
mod tests;
