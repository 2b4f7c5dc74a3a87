//! Edits of a configuration text: entries are put in, and taken out again.
//!
//! A text, entries and the record of what was put in earlier enter; a new text and a new record leave. Each edit is
//! proven before it is given out: the new text is parsed, and its value must be the old one with, or without, the
//! entry. Everything else keeps its bytes.

use serde_json::Value;

use super::difference::Difference;
use super::entry::{Entry, State};
use super::json::{self, Dialect};
use super::piece::{Insertion, Piece};
use super::problem::Problem;
use super::{toml, yaml};

/// The format of a configuration file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Json(Dialect),
    Toml,
    Yaml,
}

/// A text after an edit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Edited {
    pub text: String,
    /// What was put into it, in the order of the insertions.
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
        Ok(match self {
            Format::Json(dialect) => json::parse(text, dialect)?.map_or(Value::Null, |root| root.value()),
            Format::Toml => toml::value(text)?,
            Format::Yaml => yaml::parse(text)?.root.map_or(Value::Null, |root| root.value()),
        })
    }

    fn insertion(self, text: &str, entry: &Entry) -> Result<Insertion, Problem> {
        match self {
            Format::Json(dialect) => json::insertion(text, json::parse(text, dialect)?.as_ref(), entry),
            Format::Toml => toml::insertion(text, entry),
            Format::Yaml => yaml::insertion(text, &yaml::parse(text)?, entry),
        }
    }

    /// Texts without an entry, the most exact first. The caller proves them.
    fn candidates(self, text: &str, entry: &Entry, position: usize, piece: Option<&Piece>) -> Vec<String> {
        let mut candidates = Vec::new();
        if let Format::Json(dialect) = self {
            let Ok(Some(root)) = json::parse(text, dialect) else { return candidates };
            candidates
                .extend(piece.and_then(|piece| json::without_piece(text, &root, entry, position, piece)));
            candidates.extend(json::without(text, &root, entry, position));
            return candidates;
        }
        if let Some(Piece { before, core, after, .. }) = piece {
            for whole in
                [[before, core, after].map(String::as_str).concat(), [before.as_str(), core].concat()]
            {
                candidates.extend(
                    text.match_indices(&whole)
                        .map(|(at, _)| [&text[..at], &text[at + whole.len()..]].concat()),
                );
            }
        }
        candidates.extend(match self {
            Format::Yaml => yaml::parse(text).ok().and_then(|document| yaml::without(text, &document, entry)),
            _ => toml::without(text, entry),
        });
        candidates
    }

    fn without_empty_holder(self, text: &str, entry: &Entry, existing: usize) -> Option<String> {
        match self {
            Format::Json(dialect) => {
                json::without_empty_holder(text, &json::parse(text, dialect).ok()??, entry, existing)
            }
            Format::Yaml => yaml::without_empty_holder(text, &yaml::parse(text).ok()?, entry, existing),
            Format::Toml => None,
        }
    }

    /// Puts one entry in.
    fn insert(
        self,
        text: &str,
        entry: &Entry,
        difference: &mut Difference,
    ) -> Result<(String, Piece), Problem> {
        let root = self.value(text)?;
        let insertion = self.insertion(text, entry)?;
        let new = insertion.applied(text);
        let is_wanted =
            |value: Value| [false, true].iter().any(|&is_first| entry.added(&root, is_first) == value);
        if !self.value(&new).is_ok_and(is_wanted) {
            return Err(Problem::NotEditable(NOT_EXACT));
        }
        let Insertion { at, existing, before, core, after } = insertion;
        difference.insert(entry.name(), &entry.value, at, new.len() - text.len());
        let value = entry.value.clone();
        Ok((new, Piece { entry: entry.name(), value, existing, before, core, after }))
    }

    /// Takes one value of an entry out.
    fn take_out(
        self,
        text: &str,
        entry: &Entry,
        value: &Value,
        piece: Option<&Piece>,
        difference: &mut Difference,
    ) -> Result<String, Problem> {
        let root = self.value(text)?;
        let Some(position) = entry.position(&root, value) else { return Ok(text.to_owned()) };
        let wanted = normal(entry.removed(&root, value));
        let is_exact =
            |new: &String| self.value(new).is_ok_and(|found| normal(entry.pruned(&found)) == wanted);
        let found = self.candidates(text, entry, position, piece).into_iter().find(is_exact);
        let new = found.ok_or(Problem::NotEditable(NOT_EXACT))?;
        let core = piece.map_or_else(|| format!("{}: {value}", entry.name()), |piece| piece.core.clone());
        difference.remove(entry.name(), value, core, text, &new);
        Ok(new)
    }

    /// Takes tables and lists out that we made, as far as nothing is left in them.
    fn prune(self, mut text: String, entry: &Entry, existing: usize) -> Result<String, Problem> {
        let wanted = normal(entry.pruned(&self.value(&text)?));
        while let Some(shorter) = self.without_empty_holder(&text, entry, existing) {
            if shorter == text
                || !self.value(&shorter).is_ok_and(|value| normal(entry.pruned(&value)) == wanted)
            {
                break;
            }
            text = shorter;
        }
        Ok(text)
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
    let found = states(&format.value(body)?, entries, pieces);
    let (mut body, mut pieces) = (body.to_owned(), pieces.to_vec());
    let root = format.value(&body)?;
    let known = with_former(entries, &pieces);
    let has_former = known[entries.len()..].iter().any(|entry| entry.state(&root, None) == State::Present);
    let mut difference = Difference::default();
    if has_former || found.contains(&State::Outdated) {
        (body, pieces) = take_all_out(format, body, entries, &pieces, &mut difference)?;
    }
    for (entry, state) in entries.iter().zip(states(&format.value(&body)?, entries, &pieces)) {
        if state == State::Missing {
            let (longer, mut piece) = format.insert(&body, entry, &mut difference)?;
            // What an earlier run made is still ours, although its entry was deleted since.
            let earlier = piece_of(entry, &pieces).map(|earlier| earlier.existing);
            piece.existing = piece.existing.min(earlier.unwrap_or(piece.existing));
            pieces.retain(|piece| !is_of(piece, entry));
            pieces.push(piece);
            body = longer;
        }
    }
    let difference = difference.lines(&body);
    Ok(Edited { text: format!("{mark}{body}"), pieces, states: found, difference })
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
    let found = states(&format.value(body)?, entries, pieces);
    let mut difference = Difference::default();
    let (body, pieces) = take_all_out(format, body.to_owned(), entries, pieces, &mut difference)?;
    let difference = difference.lines(&body);
    Ok(Edited { text: format!("{mark}{body}"), pieces, states: found, difference })
}

/// Takes all entries out, the last one that was put in first. The pieces leave that stay in the text: those that
/// somebody changed, and those of other agents.
fn take_all_out(
    format: Format,
    mut text: String,
    entries: &[Entry],
    pieces: &[Piece],
    difference: &mut Difference,
) -> Result<(String, Vec<Piece>), Problem> {
    let known = with_former(entries, pieces);
    let entry_of = |piece: &Piece| known.iter().find(|entry| is_of(piece, entry));
    let found = states(&format.value(&text)?, &known, pieces);
    let is_changed = |piece: &Piece| {
        known.iter().zip(&found).any(|(entry, state)| is_of(piece, entry) && *state == State::Changed)
    };
    let (mut left, taken): (Vec<Piece>, Vec<Piece>) =
        pieces.iter().cloned().partition(|piece| entry_of(piece).is_none() || is_changed(piece));
    left.iter_mut().for_each(|piece| inherit(piece, &taken));
    for piece in pieces.iter().rev() {
        let Some(entry) = entry_of(piece) else { continue };
        text = format.take_out(&text, entry, &piece.value, Some(piece), difference)?;
        text = format.prune(text, entry, piece.existing)?;
    }
    for entry in entries {
        text = format.take_out(&text, entry, &entry.value, None, difference)?;
    }
    // A table in which a later entry stood may be empty only now.
    for piece in pieces.iter().rev() {
        if let Some(entry) = entry_of(piece) {
            text = format.prune(text, entry, piece.existing)?;
        }
    }
    Ok((text, left))
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
