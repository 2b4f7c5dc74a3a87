//! The states of all machines, and all that follows from them: sums of counts, removals, and the history of the copy.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};

use memories_document::counts::{Counts, add_counts};
use memories_document::{Document, Piece};

/// Texts of each kind that a machine lists.
const MAX_TEXTS: usize = 200;

/// Begins the name of a state without a machine: the counts of a file from elsewhere.
pub(super) const ORIGIN: &str = "origin-";

/// The state of a machine. Only that machine changes it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Machine {
    version: u32,
    /// Its name.
    pub(super) machine: String,
    /// Grows with each change.
    pub(super) sequence: u64,
    /// The amounts by which it raised or lowered each count.
    pub(super) counts: Counts,
    /// Pieces that it removed, by hash; one that it wrote again has a number below 0.
    pub(super) removed: BTreeMap<String, i64>,
    /// Texts that it put, each with those that it was merged from.
    pub(super) texts: VecDeque<Vec<String>>,
    /// Texts that its own commands left, as its journal names them.
    pub(super) wrote: VecDeque<String>,
    /// The text that it found before its first change.
    pub(super) found: String,
    /// Origins that are texts of its own.
    pub(super) claims: BTreeSet<String>,
}

impl Machine {
    pub(super) fn new(name: String) -> Machine {
        Machine { version: 1, machine: name, ..Machine::default() }
    }

    pub(super) fn render(&self) -> String {
        serde_json::to_string(self).expect("a state has only string keys") + "\n"
    }

    /// Reads a state; `None` where it is none, or that of another machine.
    pub(super) fn parse(text: &[u8], name: &str) -> Option<Machine> {
        serde_json::from_slice(text).ok().filter(|state: &Machine| state.machine == name)
    }

    /// Notes that a text was merged from others.
    pub(super) fn note_text(&mut self, text: &str, from: impl IntoIterator<Item = impl AsRef<str>>) {
        let text = hash(text);
        let from: BTreeSet<String> = from.into_iter().map(|from| hash(from.as_ref())).collect();
        let from = from.into_iter().filter(|from| *from != text);
        let edge: Vec<String> = std::iter::once(text.clone()).chain(from).collect();
        if self.texts.back() != Some(&edge) {
            self.texts.push_back(edge);
        }
        let surplus = self.texts.len().saturating_sub(MAX_TEXTS);
        self.texts.drain(..surplus);
    }

    /// Notes texts of its own.
    pub(super) fn note_own(&mut self, texts: impl IntoIterator<Item = String>) {
        for text in texts {
            if !self.wrote.contains(&text) {
                self.wrote.push_back(text);
            }
        }
        let surplus = self.wrote.len().saturating_sub(MAX_TEXTS);
        self.wrote.drain(..surplus);
    }

    /// The same without what another state says.
    pub(super) fn without(mut self, other: &Machine) -> Machine {
        add_counts(&mut self.counts, &other.counts, -1);
        for (piece, times) in &other.removed {
            *self.removed.entry(piece.clone()).or_default() -= times;
        }
        self.removed.retain(|_, times| *times != 0);
        self
    }
}

/// Where a copy stands in the history that all machines know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// It is the text of the last sync, or grew from it.
    Newer,
    /// The text of the last sync grew from it.
    Older,
    /// It is known, and neither.
    Apart,
    /// No machine knows it.
    Unknown,
}

/// All machines that are known.
#[derive(Debug, Default)]
pub(super) struct Fleet {
    pub(super) own: Machine,
    pub(super) others: BTreeMap<String, Machine>,
}

impl Fleet {
    fn all(&self) -> impl Iterator<Item = &Machine> {
        self.others.values().chain([&self.own])
    }

    /// The sums of all counts.
    pub(super) fn counts(&self) -> Counts {
        let claimed: BTreeSet<&str> =
            self.all().flat_map(|state| &state.claims).map(String::as_str).collect();
        // The counts of a text that a machine put are in the states already, unless it had found that text.
        let put: BTreeSet<&String> =
            self.all().flat_map(|state| &state.texts).filter_map(|edge| edge.first()).collect();
        let found: BTreeSet<String> = self.all().map(|state| format!("{ORIGIN}{}", state.found)).collect();
        let is_void = |state: &Machine| {
            state.machine.starts_with(ORIGIN)
                && (claimed.contains(state.machine.as_str())
                    || put.contains(&state.found) && !found.contains(&state.machine))
        };
        let mut sum = Counts::new();
        for state in self.all().filter(|state| !is_void(state)) {
            add_counts(&mut sum, &state.counts, 1);
        }
        sum
    }

    /// How often a piece was removed, less how often it came back.
    fn removals(&self, piece: &str) -> i64 {
        self.all().filter_map(|state| state.removed.get(piece)).sum()
    }

    /// True if a machine removed the piece, and none wrote it again.
    pub(super) fn is_removed(&self, piece: &Piece) -> bool {
        self.removals(&key_of(piece)) > 0
    }

    /// Notes as this machine's what was removed between two of its texts, and what came back.
    pub(super) fn note_removals(&mut self, before: &BTreeSet<String>, after: &BTreeSet<String>) {
        for piece in before.difference(after) {
            let sum = self.removals(piece);
            if sum <= 0 {
                *self.own.removed.entry(piece.clone()).or_default() += 1 - sum;
            }
        }
        for piece in after.difference(before) {
            let sum = self.removals(piece);
            if sum > 0 {
                *self.own.removed.entry(piece.clone()).or_default() -= sum;
            }
        }
        self.own.removed.retain(|_, times| *times != 0);
    }

    /// True if a machine's commands left that text, or a machine put it.
    pub(super) fn knows(&self, text: &str) -> bool {
        let (own, put) = (journal_hash(text), hash(text));
        let is_known = |state: &Machine| {
            state.wrote.contains(&own) || state.texts.iter().flatten().any(|text| *text == put)
        };
        self.all().any(is_known)
    }

    /// Places a copy, given the text of the last sync.
    pub(super) fn place(&self, copy: &str, agreed: Option<&str>) -> Place {
        let (copy, agreed) = (hash(copy), agreed.map(hash));
        if agreed.as_ref() == Some(&copy) {
            return Place::Newer;
        }
        let mut parents: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for edge in self.all().flat_map(|state| &state.texts) {
            if let Some((text, from)) = edge.split_first() {
                parents.entry(text).or_default().extend(from.iter().map(String::as_str));
            }
        }
        let grew_from = |text: &str, from: &str| {
            let (mut open, mut seen) = (vec![text], BTreeSet::new());
            while let Some(text) = open.pop() {
                for parent in parents.get(text).into_iter().flatten() {
                    if *parent == from {
                        return true;
                    }
                    if seen.insert(*parent) {
                        open.push(parent);
                    }
                }
            }
            false
        };
        if let Some(agreed) = agreed {
            if grew_from(&copy, &agreed) {
                return Place::Newer;
            }
            if grew_from(&agreed, &copy) {
                return Place::Older;
            }
        }
        let is_known = parents.iter().any(|(text, from)| *text == copy || from.contains(&copy.as_str()));
        if is_known { Place::Apart } else { Place::Unknown }
    }

    /// A state with the counts of a text that no machine wrote; with `only_surplus`, without the counts that are known.
    /// `None` if there is such a state already, or nothing to count.
    pub(super) fn origin(&self, text: &str, only_surplus: bool) -> Option<Machine> {
        let name = origin_of(text);
        if self.others.contains_key(&name) || self.knows(text) {
            return None;
        }
        let mut counts = Document::parse(text.to_owned()).counts();
        if only_surplus {
            add_counts(&mut counts, &self.counts(), -1);
        }
        counts.values_mut().for_each(|counts| counts.retain(|_, count| *count > 0));
        counts.retain(|_, counts| !counts.is_empty());
        let is_empty = counts.is_empty();
        let state = Machine { sequence: 1, counts, found: hash(text), ..Machine::new(name) };
        (!is_empty).then_some(state)
    }

    /// Claims the origins that are texts of this machine.
    pub(super) fn claim(&mut self) {
        let own = self.own.wrote.iter().filter(|text| **text != self.own.found);
        let own = own.map(|text| format!("{ORIGIN}{text}")).filter(|name| self.others.contains_key(name));
        let own: Vec<String> = own.collect();
        self.own.claims.extend(own);
    }
}

/// The name of the state with the counts of a text from elsewhere.
fn origin_of(text: &str) -> String {
    format!("{ORIGIN}{}", journal_hash(text))
}

/// The hashes of the pieces of a text.
pub(super) fn pieces(text: &str) -> BTreeSet<String> {
    Document::parse(text.to_owned()).each_piece().iter().map(key_of).collect()
}

fn key_of(piece: &Piece) -> String {
    hash(&piece.key())
}

/// The first 64 bits of a text's SHA-256 in hexadecimal digits.
pub(super) fn hash(text: &str) -> String {
    digest(&SHA256, text.as_bytes()).as_ref().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The name of a text in `wrote`: the beginning of its hash in the journal.
pub(super) fn journal_hash(text: &str) -> String {
    short(&memories_store::journal::change::text_hash(text))
}

/// The beginning of a hash of the journal.
pub(super) fn short(hash: &str) -> String {
    hash.chars().take(16).collect()
}
