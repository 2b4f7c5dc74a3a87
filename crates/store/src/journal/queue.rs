//! The turns that wait for a model.
//!
//! A log enters; the lines of these turns leave, and the copies that a rotation of the log carries over.

use std::collections::HashSet;
use std::sync::LazyLock;

use memchr::memmem::{self, Finder};
use serde_json::Value;

use crate::journal::entry::Entry;
use crate::{Follower, LineLog, Rotation, StoreError};

/// The turns that were resolved since the queue was read. Only new lines are read, because writers wait meanwhile.
#[derive(Debug)]
pub struct ResolvedTurns {
    follower: Follower,
    ids: HashSet<String>,
}

impl ResolvedTurns {
    /// From what follows the lines that are read already.
    pub(super) fn of(follower: Follower) -> ResolvedTurns {
        ResolvedTurns { follower, ids: HashSet::new() }
    }

    /// True if the turn of the line with that id was resolved.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub fn contains(&mut self, id: &str) -> Result<bool, StoreError> {
        for line in self.follower.poll()?.iter().filter(|line| line.contains("\"resolves\"")) {
            let entry: Option<Entry<'_>> = Entry::parse(line);
            self.ids.extend(entry.and_then(|entry| Some(entry.resolves?.to_string())));
        }
        Ok(self.ids.contains(id))
    }
}

/// The lines of the queue that a rotation of the journal carries over.
pub(super) const ROTATION: Rotation = Rotation { carry: carried_over, is_copy };

/// The lines of a log whose turn waits for a model, oldest first.
pub(super) fn queued(log: &LineLog) -> Result<Vec<String>, StoreError> {
    let (mut queue, mut resolved) = (Vec::new(), HashSet::new());
    log.visit(|line| {
        let concerns_queue = |word: &str| memmem::find(line.as_bytes(), word.as_bytes()).is_some();
        if !concerns_queue("\"queued\"") && !concerns_queue("\"resolves\"") {
            return;
        }
        let Some(entry) = Entry::<Value>::parse(line) else { return };
        resolved.extend(entry.resolves.as_deref().map(str::to_owned));
        if entry.is_queued() {
            queue.push((entry.id.as_deref().unwrap_or_default().to_owned(), line.to_owned()));
        }
    })?;
    queue.retain(|(id, _)| !resolved.contains(id));
    Ok(queue.into_iter().map(|(_, line)| line).collect())
}

/// The queued lines with which the next file begins. Unknown fields are kept.
fn carried_over(log: &LineLog) -> Result<Vec<String>, StoreError> {
    let carried = |line: String| {
        let mut line: Value = serde_json::from_str(&line).ok()?;
        // The change stands in the original, and is made once.
        line.as_object_mut()?.shift_remove("change");
        line["carried"] = Value::Bool(true);
        Some(line.to_string())
    };
    Ok(queued(log)?.into_iter().filter_map(carried).collect())
}

/// True if a line is a carried copy; only lines that contain the word are parsed.
fn is_copy(line: &[u8]) -> bool {
    static MARK: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"carried\""));
    // A rotation writes this ending; a text with the same words would end with a quotation mark.
    line.ends_with(b",\"carried\":true}")
        || MARK.find(line).is_some()
            && std::str::from_utf8(line).is_ok_and(|line| {
                Entry::<Value>::parse(line).is_some_and(|entry| entry.carried == Some(true))
            })
}
