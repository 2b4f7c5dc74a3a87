//! A text without what some steps of its history have done.
//!
//! A part of a history and the ids of its lines enter; the text leaves that the file would have without them. All other
//! steps are carried over: each is merged with the new text, on the base of the text that it found.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::history::{HistoryStep, KnownPart};
use memories_document::merge::merge_keeping_both;
use memories_document::types::Outcome;
use memories_document::types::chunked::ChunkedText;
use memories_document::types::edit::{apply, undo};
use memories_store::journal::aside::{self, Aside, has_outcome, returns_to_former_state};
use memories_store::journal::change::text_hash;
use memories_store::journal::entry::Entry;

/// The steps from the first one that is to be set aside to the present.
pub(super) struct Window<'a> {
    part: &'a KnownPart,
    /// The number of steps before.
    first: usize,
    /// The text before.
    start: String,
}

impl<'a> Window<'a> {
    /// `None` if the part, which ends with the present text, lacks one of the lines.
    pub(super) fn of(part: &'a KnownPart, present: &str, lines: &HashMap<&str, &str>) -> Option<Window<'a>> {
        let is_aside = |step: &HistoryStep| id_of(step).is_some_and(|id| lines.contains_key(id.as_str()));
        let first = part.steps.iter().position(is_aside)?;
        if part.steps[first..].iter().filter(|step| is_aside(step)).count() < lines.len() {
            return None;
        }
        let mut start = ChunkedText::new(present);
        part.steps[first..].iter().rev().try_for_each(|step| undo(&step.edits, &mut start))?;
        Some(Window { part, first, start: start.text() })
    }

    /// The present text without what these lines have done, and without what was set aside before. `None` if another
    /// change cannot be carried over.
    pub(super) fn without(&self, aside: &Aside, lines: &HashMap<&str, &str>) -> Option<String> {
        let steps = &self.part.steps[self.first..];
        let known: HashSet<String> = steps.iter().filter_map(id_of).collect();
        let gone = |id: &str| known.contains(id) && (lines.contains_key(id) || aside.has(Some(id)));
        let returns = |step: &&HistoryStep| step.line.as_deref().is_some_and(returns_to_former_state);
        let has_returns = steps.iter().any(|step| returns(&step));
        // The new text at each state to which a later step may return.
        let mut states = HashMap::new();
        let (mut old, mut new) = (self.start.clone(), self.start.clone());
        // The text before the first of the steps that are to be carried over together.
        let mut base: Option<String> = None;
        for step in steps {
            let is_aside = id_of(step).is_some_and(|id| gone(&id)) || undoes_only(step, gone);
            if (is_aside || has_returns)
                && let Some(base) = base.take()
            {
                new = carry(&base, new, &old)?;
            }
            if has_returns {
                states.insert(text_hash(&old), new.clone());
            }
            if !is_aside && base.is_none() && !step.edits.is_empty() {
                base = Some(old.clone());
            }
            apply(&step.edits, &mut old)?;
            if !is_aside && returns(&step) {
                let hash = text_hash(&old);
                let before = || self.stood_before(&hash).then(|| old.clone());
                if let Some(known) = states.get(&hash).cloned().or_else(before) {
                    (new, base) = (known, None);
                }
            }
        }
        match base {
            Some(base) => carry(&base, new, &old),
            None => Some(new),
        }
    }

    /// True if the file had the text with that hash before the first step.
    fn stood_before(&self, hash: &str) -> bool {
        let mut text = ChunkedText::new(&self.start);
        let stood = self.part.steps[..self.first]
            .iter()
            .rev()
            .any(|step| undo(&step.edits, &mut text).is_some() && text_hash(&text.text()) == hash);
        stood || text_hash(&self.start) == hash
    }
}

/// The text `new` with the change that leads from `before` to `after`.
pub(super) fn carry(before: &str, new: String, after: &str) -> Option<String> {
    merge_keeping_both(before, &new, after).map(|merged| merged.text)
}

/// True for a step that set aside what is gone all the same.
fn undoes_only(step: &HistoryStep, gone: impl Fn(&str) -> bool) -> bool {
    let line = step.line.as_deref().filter(|line| has_outcome(line, Outcome::Rewound));
    let entry = line.and_then(Entry::<Value>::parse);
    entry.and_then(|entry| entry.set_aside).is_some_and(|lines| lines.ids().all(gone))
}

/// The id of the line of a step.
pub(super) fn id_of(step: &HistoryStep) -> Option<String> {
    aside::id_of(step.line.as_deref()?).map(Cow::into_owned)
}
