//! Edits of a configuration text: entries are put in, and taken out again.
//!
//! A text, entries and the record of earlier insertions enter; a new text and a new record leave. Each edit is
//! proven before it is given out: the new text is parsed, and its value must be the old one with, or without, the
//! entry. Everything else keeps its bytes.

use serde_json::Value;

use super::difference::Difference;
use super::entry::{Entry, State};
use super::json::{self, Dialect};
use super::piece::Piece;
use super::problem::Problem;
use super::{toml, yaml};

/// The format of a configuration file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Json(Dialect),
    Toml,
    /// Only read: people paste the entry.
    Yaml,
}

/// A text after an edit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Edited {
    pub text: String,
    /// The inserted parts, in the order of the insertions.
    pub pieces: Vec<Piece>,
    /// The entries by their order, as they were found.
    pub states: Vec<State>,
    /// The edits, without anything else of the text.
    pub difference: String,
}

const NOT_EXACT: &str = "its form is one that cannot be edited exactly";

impl Format {
    /// The value of a text, null where it is blank.
    pub(crate) fn value(self, text: &str) -> Result<Value, Problem> {
        match self {
            Format::Json(dialect) => json::value(text, dialect),
            Format::Toml => toml::value(text),
            Format::Yaml => yaml::value(text),
        }
    }

    /// The byte at which an entry is inserted, its text, and the number of tables and lists on the way that were there
    /// before.
    fn insertion(self, text: &str, entry: &Entry) -> Result<(usize, String, usize), Problem> {
        match self {
            Format::Json(dialect) => json::insertion(text, dialect, entry),
            _ => Ok((text.len(), toml::insertion(text, entry)?, entry.path.len())),
        }
    }

    fn without(self, text: &str, entry: &Entry, position: usize) -> Option<String> {
        match self {
            Format::Json(dialect) => json::without(text, dialect, entry, position),
            _ => toml::without(text, entry),
        }
    }
}

/// A text while it is edited.
struct Draft {
    format: Format,
    text: String,
    root: Value,
    difference: Difference,
}

impl Draft {
    fn new(format: Format, text: &str) -> Result<Draft, Problem> {
        let root = format.value(text)?;
        Ok(Draft { format, text: text.to_owned(), root, difference: Difference::default() })
    }

    /// Takes a new text over if its value is the wanted one: the proof of each edit.
    fn accepts(&mut self, text: String, is_wanted: impl Fn(&Value) -> bool) -> bool {
        let Some(root) = self.format.value(&text).ok().filter(is_wanted) else { return false };
        (self.text, self.root) = (text, root);
        true
    }

    /// Puts an entry in.
    fn insert(&mut self, entry: &Entry) -> Result<Piece, Problem> {
        let (at, text, existing) = self.format.insertion(&self.text, entry)?;
        let wanted = [false, true].map(|is_first| entry.added(&self.root, is_first));
        let new = [&self.text[..at], &text, &self.text[at..]].concat();
        if !self.accepts(new, |root| wanted.contains(root)) {
            return Err(Problem::NotEditable(NOT_EXACT));
        }
        self.difference.insert(entry.name(), &entry.value, at, text.len());
        Ok(Piece { entry: entry.name(), value: entry.value.clone(), existing, text })
    }

    /// Takes one value of an entry out: as the text that was inserted, or by its place.
    fn take_out(&mut self, entry: &Entry, value: &Value, piece: Option<&Piece>) -> Result<(), Problem> {
        let Some(position) = entry.position(&self.root, value) else { return Ok(()) };
        let wanted = normal(entry.removed(&self.root, value));
        let before = self.text.clone();
        let inserted = piece.map_or("", |piece| &piece.text);
        let places = before.match_indices(inserted).filter(|_| !inserted.is_empty());
        let texts = places.map(|(at, _)| [&before[..at], &before[at + inserted.len()..]].concat());
        let mut texts = texts.chain(self.format.without(&before, entry, position));
        if !texts.any(|text| self.accepts(text, |root| normal(entry.pruned(root)) == wanted)) {
            return Err(Problem::NotEditable(NOT_EXACT));
        }
        let core = match piece {
            Some(piece) => piece.text.trim_matches([',', ' ', '\t', '\r', '\n']).to_owned(),
            None => format!("{}: {value}", entry.name()),
        };
        self.difference.remove(entry.name(), value, core, &before, &self.text);
        Ok(())
    }

    /// Takes tables and lists out that we made, as far as nothing is left in them.
    fn prune(&mut self, entry: &Entry, existing: usize) {
        let Format::Json(dialect) = self.format else { return };
        let wanted = normal(entry.pruned(&self.root));
        while let Some(shorter) = json::without_empty_holder(&self.text, dialect, entry, existing) {
            if shorter == self.text || !self.accepts(shorter, |root| normal(entry.pruned(root)) == wanted) {
                break;
            }
        }
    }

    /// Takes all entries out, the last one that was put in first. The pieces leave that stay in the text: those that
    /// somebody changed, and those of other agents.
    fn take_all_out(&mut self, entries: &[Entry], pieces: &[Piece]) -> Result<Vec<Piece>, Problem> {
        let known = with_former(entries, pieces);
        let entry_of = |piece: &Piece| known.iter().find(|entry| is_of(piece, entry));
        let found = states(&self.root, &known, pieces);
        let is_changed = |piece: &Piece| {
            known.iter().zip(&found).any(|(entry, state)| is_of(piece, entry) && *state == State::Changed)
        };
        let (mut left, taken): (Vec<Piece>, Vec<Piece>) =
            pieces.iter().cloned().partition(|piece| entry_of(piece).is_none() || is_changed(piece));
        left.iter_mut().for_each(|piece| inherit(piece, &taken));
        for piece in pieces.iter().rev() {
            if let Some(entry) = entry_of(piece) {
                self.take_out(entry, &piece.value, Some(piece))?;
                self.prune(entry, piece.existing);
            }
        }
        for entry in entries {
            self.take_out(entry, &entry.value, None)?;
        }
        // A table in which a later entry stood may be empty only now.
        for piece in pieces.iter().rev() {
            if let Some(entry) = entry_of(piece) {
                self.prune(entry, piece.existing);
            }
        }
        Ok(left)
    }

    /// The text with its mark, and what was done to it.
    fn finished(self, mark: &str, pieces: Vec<Piece>, states: Vec<State>) -> Edited {
        let difference = self.difference.lines(&self.text);
        Edited { text: [mark, &self.text].concat(), pieces, states, difference }
    }
}

/// A blank text and an empty table are the same configuration.
fn normal(value: Value) -> Value {
    match value {
        Value::Object(table) if table.is_empty() => Value::Null,
        value => value,
    }
}

/// A mark that some editors put in front of a text in UTF-8. It stays.
const BYTE_ORDER_MARK: char = '\u{FEFF}';

fn split_mark(text: &str) -> (&str, &str) {
    let rest = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    text.split_at(text.len() - rest.len())
}

fn states(root: &Value, entries: &[Entry], pieces: &[Piece]) -> Vec<State> {
    let written = |entry: &Entry| Some(&piece_of(entry, pieces)?.value);
    entries.iter().map(|entry| entry.state(root, written(entry))).collect()
}

fn piece_of<'p>(entry: &Entry, pieces: &'p [Piece]) -> Option<&'p Piece> {
    pieces.iter().find(|piece| is_of(piece, entry))
}

/// True if a piece is what was written of an entry. Agents that share a file have hooks of the same name.
fn is_of(piece: &Piece, entry: &Entry) -> bool {
    piece.entry == entry.name() && Entry::recorded(&piece.entry, &piece.value).agent() == entry.agent()
}

/// The entries, and those that another version wrote for this agent and that this version does not have.
fn with_former(entries: &[Entry], pieces: &[Piece]) -> Vec<Entry> {
    let former = pieces.iter().filter(|piece| !entries.iter().any(|entry| is_of(piece, entry)));
    let former = former.map(|piece| Entry::recorded(&piece.entry, &piece.value));
    let is_of_agent = |former: &Entry| {
        former.agent().is_some() && entries.iter().any(|entry| entry.agent() == former.agent())
    };
    entries.iter().cloned().chain(former.filter(is_of_agent)).collect()
}

/// True if a text has nothing of what was recorded, also not as somebody changed it.
///
/// # Errors
///
/// When the text is not valid.
pub(crate) fn has_none(format: Format, text: &str, pieces: &[Piece]) -> Result<bool, Problem> {
    let root = format.value(split_mark(text).1)?;
    let is_missing =
        |piece: &Piece| Entry::recorded(&piece.entry, &piece.value).state(&root, None) == State::Missing;
    Ok(pieces.iter().all(is_missing))
}

/// Puts in what is missing, and replaces what we wrote otherwise earlier.
///
/// # Errors
///
/// When the text is not valid, or cannot be edited exactly.
pub(crate) fn apply(
    format: Format,
    text: &str,
    entries: &[Entry],
    pieces: &[Piece],
) -> Result<Edited, Problem> {
    let (mark, body) = split_mark(text);
    let mut draft = Draft::new(format, body)?;
    let found = states(&draft.root, entries, pieces);
    if format == Format::Yaml {
        return Ok(draft.finished(mark, pieces.to_vec(), found));
    }
    let known = with_former(entries, pieces);
    let is_present = |entry: &Entry| entry.state(&draft.root, None) == State::Present;
    let has_former = known[entries.len()..].iter().any(is_present);
    let mut pieces = pieces.to_vec();
    if has_former || found.contains(&State::Outdated) {
        pieces = draft.take_all_out(entries, &pieces)?;
    }
    for (entry, state) in entries.iter().zip(states(&draft.root, entries, &pieces)) {
        if state == State::Missing {
            let mut piece = draft.insert(entry)?;
            // A table that an earlier run made is still ours, although its entry was deleted since.
            let earlier = piece_of(entry, &pieces).map(|earlier| earlier.existing);
            piece.existing = piece.existing.min(earlier.unwrap_or(piece.existing));
            pieces.retain(|piece| !is_of(piece, entry));
            pieces.push(piece);
        }
    }
    Ok(draft.finished(mark, pieces, found))
}

/// Takes out what we put in. What somebody changed stays.
///
/// # Errors
///
/// When the text is not valid, or cannot be edited exactly.
pub(crate) fn remove(
    format: Format,
    text: &str,
    entries: &[Entry],
    pieces: &[Piece],
) -> Result<Edited, Problem> {
    let (mark, body) = split_mark(text);
    let mut draft = Draft::new(format, body)?;
    let found = states(&draft.root, entries, pieces);
    let left = if format == Format::Yaml { pieces.to_vec() } else { draft.take_all_out(entries, pieces)? };
    Ok(draft.finished(mark, left, found))
}

/// Lets a piece that is left answer for the tables that were made for pieces that are taken out.
fn inherit(left: &mut Piece, taken: &[Piece]) {
    let path = |piece: &Piece| Entry::recorded(&piece.entry, &piece.value).path;
    let own = path(left);
    for piece in taken {
        let shared = path(piece).iter().zip(&own).take_while(|(one, other)| one == other).count();
        if shared + 1 >= left.existing {
            left.existing = left.existing.min(piece.existing);
        }
    }
}
