//! The lines of a journal as steps of the memory file, in parts without gaps.
//!
//! Lines enter, oldest first; [`Segment`]s leave, whose steps follow each other by the hashes in the lines. No text is
//! known here: a segment is told of its states by their hashes.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::journal::change::FileChange;
use memories_document::types::edit::Edit;

/// A step of the memory file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryStep {
    /// The line of a recorded turn, or of another command that changed the file. `None`: something else changed it.
    pub line: Option<String>,
    /// The edits of the text before, in the order of their offsets; none where the step left it as it was, and for the
    /// first step of a part where they are not known: its state is the text with which the part starts.
    pub edits: Vec<Edit>,
}

/// Steps that follow each other without a gap.
#[derive(Debug, Clone, Default)]
pub struct Segment {
    /// The steps, oldest first.
    pub steps: Vec<HistoryStep>,
    /// Known hashes of texts, each with the number of steps behind which the text stands.
    pub states: Vec<(usize, String)>,
}

impl Segment {
    /// Drops the steps behind the last state whose hash is known.
    fn cut(&mut self) {
        self.steps.truncate(self.states.last().map_or(0, |(steps, _)| *steps));
    }

    fn add_state(&mut self, hash: String) {
        self.states.push((self.steps.len(), hash));
    }
}

/// The segments, while lines are added.
#[derive(Debug, Clone)]
pub struct Chain {
    /// At least one; the last one is open.
    segments: Vec<Segment>,
    /// Hash of the last state that is known; `None` behind a gap, until the next one.
    state: Option<String>,
    /// Hash of the text that the last transaction left.
    left: Option<String>,
    /// True within a transaction: its first line has come, and its last one has not.
    is_within: bool,
    /// Lines of turns behind the last state that have no change. If the next hash is the same, they left the file as it was.
    unchanged: Vec<String>,
}

/// The fields of a line that count here.
#[derive(Deserialize)]
struct Line<'a> {
    turn: Option<IgnoredAny>,
    carried: Option<bool>,
    #[serde(borrow)]
    change: Option<&'a RawValue>,
}

/// Begins with the first line of a journal.
impl Default for Chain {
    fn default() -> Chain {
        Chain {
            segments: vec![Segment::default()],
            state: None,
            left: None,
            is_within: false,
            unchanged: Vec::new(),
        }
    }
}

impl Chain {
    /// Begins with the text that has the hash `state`, where the last transaction left one with the hash `left`.
    pub fn continued(state: String, left: Option<String>) -> Chain {
        let mut chain = Chain { left, ..Chain::default() };
        chain.reach(state);
        chain
    }

    /// True if the lines lead to the text with that hash.
    pub fn has_reached(&self, hash: &str) -> bool {
        !self.is_within && self.state.as_deref() == Some(hash)
    }

    /// Hash of the text that the last transaction left; `None` where that is not known.
    pub fn left(&self) -> Option<&str> {
        self.left.as_deref().filter(|_| !self.is_within)
    }

    /// Adds the next line. One that is no entry, and a carried copy, is no step.
    pub fn push(&mut self, line: String) {
        let Ok(Line { turn, carried, change }) = serde_json::from_str::<Line<'_>>(&line) else {
            // Within a transaction, the edits of this line are missing.
            if self.is_within && !line.trim().is_empty() {
                self.begin_anew(None);
            }
            return;
        };
        if carried == Some(true) {
            return;
        }
        let is_turn = turn.is_some();
        let Some(change) = change.map(|change| FileChange::of_json(change.get())) else {
            if is_turn && self.is_within {
                self.step(Some(line), Vec::new());
            } else if is_turn {
                self.unchanged.push(line);
            }
            return;
        };
        let FileChange { from, outside, edits, to } = change;
        match from {
            Some(from) => {
                let is_left = self.state.is_some() && self.state == self.left;
                self.begin(from, outside.filter(|_| is_left));
            }
            None if !self.is_within => self.begin_anew(None),
            None => {}
        }
        self.is_within = true;
        match edits {
            Some(edits) if is_turn || !edits.is_empty() => self.step(Some(line), edits),
            Some(_) => {}
            None => {
                self.begin_anew(None);
                self.step(Some(line), Vec::new());
            }
        }
        if let Some(to) = to {
            self.is_within = false;
            self.left = Some(to.clone());
            self.reach(to);
        }
    }

    /// Ends with the text that has that hash. `outside` are the edits that lead to it from the last state, where these
    /// differ and are known.
    pub fn finish(mut self, hash: &str, outside: Option<Vec<Edit>>) -> Vec<Segment> {
        self.begin(hash.to_owned(), outside);
        self.segments.retain(|segment| !segment.states.is_empty());
        self.segments
    }

    /// A transaction finds the text with that hash, to which those edits led from the last state.
    fn begin(&mut self, from: String, outside: Option<Vec<Edit>>) {
        let unchanged = std::mem::take(&mut self.unchanged);
        let is_same = self.state.as_ref() == Some(&from);
        if self.is_within || !is_same && outside.is_none() {
            return self.begin_anew(Some(from));
        }
        unchanged.into_iter().for_each(|line| self.step(Some(line), Vec::new()));
        if let Some(outside) = outside.filter(|_| !is_same) {
            self.step(None, outside);
        }
        self.reach(from);
    }

    /// Begins a segment behind a gap.
    fn begin_anew(&mut self, state: Option<String>) {
        self.unchanged.clear();
        if let Some(last) = self.segments.last_mut() {
            last.cut();
        }
        self.segments.push(Segment::default());
        self.state = None;
        state.into_iter().for_each(|state| self.reach(state));
    }

    fn step(&mut self, line: Option<String>, edits: Vec<Edit>) {
        self.open().steps.push(HistoryStep { line, edits });
    }

    fn reach(&mut self, state: String) {
        self.open().add_state(state.clone());
        self.state = Some(state);
    }

    fn open(&mut self) -> &mut Segment {
        self.segments.last_mut().expect("there is always one")
    }
}
