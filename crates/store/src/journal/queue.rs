//! The turns that wait for a model.
//!
//! A log enters; the lines of these turns leave, and those that a rotation keeps in a file of their own.

use std::collections::HashSet;

use memchr::memmem;
use serde_json::Value;

use crate::journal::aside::Aside;
use crate::journal::entry::Entry;
use crate::{Follower, LineLog, LogLine, StoreError};

/// The turns that were resolved or set aside since the queue was read. Only new lines are read, because writers wait meanwhile.
#[derive(Debug)]
pub struct ResolvedTurns {
    follower: Follower,
    ids: HashSet<String>,
    aside: Aside,
}

impl ResolvedTurns {
    /// From what follows the lines that are read already.
    pub(super) fn of(follower: Follower) -> ResolvedTurns {
        ResolvedTurns { follower, ids: HashSet::new(), aside: Aside::default() }
    }

    /// True if the turn of the line with that id was resolved, or set aside.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub fn contains(&mut self, id: &str) -> Result<bool, StoreError> {
        for line in self.follower.poll()? {
            self.aside.read_on(&line);
            if line.contains("\"resolves\"") {
                let entry: Option<Entry<'_>> = Entry::parse(&line);
                self.ids.extend(entry.and_then(|entry| Some(entry.resolves?.to_string())));
            }
        }
        Ok(self.ids.contains(id) || self.aside.has(Some(id)))
    }
}

/// The lines of a log whose turn waits for a model, oldest first. `true`: the line is in the current file.
pub(super) fn queued(log: &LineLog) -> Result<Vec<(String, bool)>, StoreError> {
    let current = log.current_path();
    let (mut queue, mut resolved, mut aside) = (Vec::new(), Vec::new(), Aside::default());
    log.visit_lines(|LogLine { text, file, .. }| {
        aside.read_on(text);
        let concerns_queue = |word: &str| memmem::find(text.as_bytes(), word.as_bytes()).is_some();
        if !concerns_queue("\"queued\"") && !concerns_queue("\"resolves\"") {
            return;
        }
        let Some(entry) = Entry::<Value>::parse(text) else { return };
        let id = entry.id.as_deref().unwrap_or_default().to_owned();
        resolved.extend(entry.resolves.as_deref().map(|resolved| (id.clone(), resolved.to_owned())));
        if entry.is_queued() {
            queue.push((id, text.to_owned(), file == current));
        }
    })?;
    // An answer that is set aside resolves nothing.
    let resolved = resolved.into_iter().filter(|(id, _)| !aside.has(Some(id))).map(|(_, resolved)| resolved);
    let resolved: HashSet<String> = resolved.collect();
    queue.retain(|(id, ..)| !resolved.contains(id) && !aside.has(Some(id)));
    Ok(queue.into_iter().map(|(_, line, is_current)| (line, is_current)).collect())
}

/// The queued lines that the next rotation would drop. Unknown fields are kept.
pub(super) fn carried_over(log: &LineLog) -> Result<Vec<String>, StoreError> {
    let carried = |(line, _): (String, bool)| {
        let mut line: Value = serde_json::from_str(&line).ok()?;
        // The change was made once.
        line.as_object_mut()?.shift_remove("change");
        line["carried"] = Value::Bool(true);
        Some(line.to_string())
    };
    Ok(queued(log)?.into_iter().filter(|(_, is_current)| !is_current).filter_map(carried).collect())
}
