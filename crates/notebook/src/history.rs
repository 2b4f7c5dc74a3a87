//! The former states of a memory file, from its journal and its backups.
//!
//! A store enters; a [`History`] leaves: parts of which each state can be rebuilt, from the oldest that is known to the
//! present one. Each part is rebuilt from one text, the present one or a backup, whose hash is that of one of its states.
//! The edits lead from there to the states before and behind. The part ends where an edit does not fit or a hash differs:
//! a state may be missing, but it is never wrong. Nothing is locked, and nothing is written.

use std::collections::HashMap;
use std::thread;
use std::time::Duration;

use crate::tracked::last_text;
use memories_document::edits::edits_between;
use memories_document::types::chunked::ChunkedText;
use memories_document::types::edit::{Edit, apply, undo};
use memories_store::journal::Journal;
use memories_store::journal::chain::{Chain, Segment};
use memories_store::journal::change::{chunked_hash, text_hash};
use memories_store::{Follower, Store, StoreError};

pub use memories_store::journal::chain::HistoryStep;

/// How often a file is read whose last change may not be in the journal yet.
const MAX_LOOKS: usize = 50;

/// The pause between two readings.
const PAUSE: Duration = Duration::from_millis(2);

/// The states of a memory file, as far as they are known.
#[derive(Debug)]
pub struct History {
    /// Oldest first; between two of them nothing is known. The last one ends with the present text.
    pub parts: Vec<KnownPart>,
}

/// States that follow each other without a gap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownPart {
    /// The text before the first step.
    pub start: String,
    /// The steps, oldest first; may be empty.
    pub steps: Vec<HistoryStep>,
}

impl KnownPart {
    /// The text after this number of steps.
    pub fn text_at(&self, steps: usize) -> String {
        let mut text = ChunkedText::new(&self.start);
        for step in &self.steps[..steps] {
            apply(&step.edits, &mut text).expect("the edits were tried when this was made");
        }
        text.text()
    }
}

impl History {
    /// Reads the history as it is now, and begins to follow it.
    ///
    /// # Errors
    ///
    /// When the memory file or the journal cannot be read.
    pub fn read(store: &Store) -> Result<(History, HistoryFollower), StoreError> {
        let (lines, follower) = Journal::of(store).follow(usize::MAX, |_| true)?;
        let mut chain = Chain::default();
        lines.into_iter().for_each(|line| chain.push(line));
        let (text, left, is_broken) = (String::new(), None, false);
        let mut follower = HistoryFollower { store: store.clone(), follower, text, left, is_broken };
        let mut segments = follower.settle(chain, None)?;
        let last = segments.pop().and_then(|last| rebuild(last, &follower.text));
        let mut parts = parts_of_backups(store, segments);
        let present = || KnownPart { start: follower.text.clone(), steps: Vec::new() };
        parts.push(last.unwrap_or_else(present));
        Ok((History { parts }, follower))
    }
}

/// The place in a history up to which it was read.
#[derive(Debug)]
pub struct HistoryFollower {
    store: Store,
    follower: Follower,
    /// The last text.
    text: String,
    /// Hash of the text that the last command left; `None` where that is not known.
    left: Option<String>,
    /// Lines may have been lost by an error.
    is_broken: bool,
}

impl HistoryFollower {
    /// The text after the last step.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The steps since the last call, which lead from the text at that call to the present one; none if nothing was
    /// changed. `None` if they are not known: then the caller reads the history anew.
    ///
    /// # Errors
    ///
    /// When the memory file or the journal cannot be read. From then on, the steps are not known.
    pub fn poll(&mut self) -> Result<Option<Vec<HistoryStep>>, StoreError> {
        if std::mem::replace(&mut self.is_broken, true) {
            return Ok(None);
        }
        let mut text = std::mem::take(&mut self.text);
        let chain = Chain::continued(text_hash(&text), self.left.take());
        let segments = self.settle(chain, Some(&text))?;
        let Ok([Segment { steps, .. }]) = <[Segment; 1]>::try_from(segments) else { return Ok(None) };
        let made = steps.iter().try_for_each(|step| apply(&step.edits, &mut text));
        self.is_broken = made.is_none() || text != self.text;
        Ok((!self.is_broken).then_some(steps))
    }

    /// Adds new lines to a chain that begins with the text `before`, until they lead to the present text or another
    /// program has changed the file. The last segment ends with the present text.
    fn settle(&mut self, mut chain: Chain, before: Option<&str>) -> Result<Vec<Segment>, StoreError> {
        let mut hash = String::new();
        for _ in 0..MAX_LOOKS {
            self.text = self.store.read()?.unwrap_or_default();
            let last_hash = std::mem::replace(&mut hash, text_hash(&self.text));
            // A writer leaves a note before its text is there, and ends it after its lines are.
            let is_completing = self.store.is_completing();
            let lines = self.follower.poll()?;
            let is_same = lines.is_empty() && last_hash == hash;
            lines.into_iter().for_each(|line| chain.push(line));
            if chain.has_reached(&hash) || is_same && !is_completing {
                break;
            }
            if is_completing {
                thread::sleep(PAUSE);
            }
        }
        self.left = chain.left().map(str::to_owned);
        let outside = if chain.has_reached(&hash) { None } else { self.outside(&chain, before) };
        Ok(chain.finish(&hash, outside))
    }

    /// The edits from the last state of a chain to the present text, which no command made.
    fn outside(&self, chain: &Chain, before: Option<&str>) -> Option<Vec<Edit>> {
        if let Some(before) = before.filter(|before| chain.has_reached(&text_hash(before))) {
            return Some(edits_between(before, &self.text));
        }
        let left = chain.left().filter(|left| chain.has_reached(left))?;
        let left = last_text(&Journal::of(&self.store), &self.store, left).ok().flatten()?;
        Some(edits_between(&left, &self.text))
    }
}

/// The parts whose segments have a state that is kept as a backup.
fn parts_of_backups(store: &Store, segments: Vec<Segment>) -> Vec<KnownPart> {
    if segments.is_empty() {
        return Vec::new();
    }
    let mut texts = HashMap::new();
    for backup in store.backups().unwrap_or_default() {
        if let Ok(text) = store.read_backup(backup.number) {
            texts.insert(text_hash(&text), text);
        }
    }
    let parts = segments.into_iter().filter_map(|segment| {
        let known = segment.states.iter().rev().find_map(|(_, hash)| texts.get(hash))?;
        rebuild(segment, known)
    });
    parts.collect()
}

/// The steps of a segment around the state that has this text, as far as edits and hashes fit.
fn rebuild(segment: Segment, known: &str) -> Option<KnownPart> {
    let hash = text_hash(known);
    let place = segment.states.iter().rev().find(|(_, state)| *state == hash)?.0;
    let walk = Walk { segment: &segment, place, known };
    let back = walk.back(0, Hashes::Last).map(|text| (0, text));
    let (start, text) = match back {
        Ok(back) => back,
        Err(_) => {
            let start = walk.back(0, Hashes::All).err().unwrap_or(place);
            (start, walk.back(start, Hashes::Last).ok()?)
        }
    };
    let all = segment.steps.len();
    let end = walk.on(Hashes::Last).or_else(|_| walk.on(Hashes::All)).map_or_else(|end| end, |()| all);
    let mut steps = segment.steps;
    steps.truncate(end);
    steps.drain(..start);
    Some(KnownPart { start: text.text(), steps })
}

/// The hashes that a walk compares. If all edits and the last hash fit, the hashes between fit, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hashes {
    Last,
    All,
}

/// A walk through a segment, which stands behind a number of steps and has the text of that state.
struct Walk<'a> {
    segment: &'a Segment,
    place: usize,
    known: &'a str,
}

impl Walk<'_> {
    /// Takes steps back until this number of steps is left.
    ///
    /// # Errors
    ///
    /// When they do not fit: the last state with the right hash among those that were compared.
    fn back(&self, end: usize, hashes: Hashes) -> Result<ChunkedText, usize> {
        let mut text = ChunkedText::new(self.known);
        let mut right = self.place;
        let states = &self.segment.states;
        let last = states.iter().map(|(place, _)| *place).find(|place| *place >= end);
        let mut states = states.iter().rev().skip_while(|(place, _)| *place >= self.place).peekable();
        for place in (end..self.place).rev() {
            undo(&self.segment.steps[place].edits, &mut text).ok_or(right)?;
            while let Some((_, hash)) = states.next_if(|(state, _)| *state == place) {
                if hashes == Hashes::All || Some(place) == last {
                    right = if chunked_hash(&text) == *hash { place } else { return Err(right) };
                }
            }
        }
        Ok(text)
    }

    /// Makes all steps that follow.
    ///
    /// # Errors
    ///
    /// As [`Walk::back`].
    fn on(&self, hashes: Hashes) -> Result<(), usize> {
        let mut right = self.place;
        let Segment { steps, states } = self.segment;
        if right == steps.len() {
            return Ok(());
        }
        let mut text = ChunkedText::new(self.known);
        let mut states = states.iter().skip_while(|(place, _)| *place <= self.place).peekable();
        for (place, step) in (1..).zip(steps).skip(self.place) {
            apply(&step.edits, &mut text).ok_or(right)?;
            while let Some((_, hash)) = states.next_if(|(state, _)| *state == place) {
                if hashes == Hashes::All || place == steps.len() {
                    right = if chunked_hash(&text) == *hash { place } else { return Err(right) };
                }
            }
        }
        Ok(())
    }
}
