//! Reads the texts of both sides, and merges them by the place of the copy in the known history. If no known machine wrote
//! the copy, a guard protects pieces of this side.

use std::collections::BTreeSet;

use crate::error::SyncError;
use crate::machine::{Fleet, Place};
use crate::remote::Remote;
use memories_document::conflict::conflicts;
use memories_document::merge::merge_keeping_both;
use memories_document::types::text::{fold_case, fold_spaces};
use memories_document::types::{Author, Persistence, Scope, fold_title};
use memories_document::{Document, Piece, PieceKind};
use memories_notebook::{Authors, Notebook};

/// The texts of a merge, and the place of the copy.
pub(super) struct Sides<'a> {
    /// The text of the last sync.
    pub(super) agreed: Option<&'a str>,
    pub(super) ours: &'a str,
    pub(super) theirs: &'a str,
    pub(super) place: Place,
}

/// A merged text.
pub(super) struct Merged {
    pub(super) text: String,
    /// Names of pieces that the copy lacks or changed, and that stay.
    pub(super) kept: Vec<String>,
}

impl Sides<'_> {
    /// Merges the texts; `None` where that is not possible by meaning, and lines clash.
    pub(super) fn merge(&self, fleet: &Fleet, guard: Option<&Guard>) -> Result<Option<Merged>, SyncError> {
        let (agreed, mut kept) = (self.agreed.unwrap_or_default(), Vec::new());
        let is_removed = |piece: &Piece| fleet.is_removed(piece);
        let merged = match (self.place, guard) {
            (Place::Unknown, None) => merge_keeping_both(agreed, self.ours, self.theirs),
            (Place::Newer, _) => {
                // A machine that did not know of a removal may have brought the piece back.
                let before = keys(&Document::parse(agreed.to_owned()));
                let came_back = |piece: &Piece| is_removed(piece) && !before.contains(&piece.key());
                let mut theirs = Document::parse(self.theirs.to_owned());
                theirs.remove_pieces(came_back);
                merge_keeping_both(agreed, self.ours, &theirs.into_text()?)
            }
            (Place::Older, _) => merge_keeping_both(self.theirs, self.ours, self.theirs),
            (Place::Apart | Place::Unknown, guard) => {
                let [ours, mut theirs] = [(self.ours, self.theirs), (self.theirs, self.ours)]
                    .map(|(text, other)| without_removed(text, other, is_removed));
                let mut base = Document::parse(agreed.to_owned());
                base.remove_evidence();
                let [in_ours, in_theirs] = [&ours, &theirs].map(keys);
                let stays = |piece: &Piece| {
                    let is_lacking = in_ours.contains(&piece.key()) != in_theirs.contains(&piece.key());
                    is_lacking && !is_removed(piece) && guard.is_none_or(|guard| guard.protects(piece))
                };
                if let Some(guard) = guard.filter(|_| self.place == Place::Unknown) {
                    let lacking: Vec<Piece> = base.each_piece().into_iter().filter(stays).collect();
                    kept.extend(lacking.iter().filter(|piece| in_ours.contains(&piece.key())).map(name_of));
                    let weak =
                        |piece: &Piece| !in_ours.contains(&piece.key()) && guard.weakens(piece, &lacking);
                    theirs.remove_pieces(weak);
                }
                base.remove_pieces(stays);
                let [base, ours, theirs] = [base, ours, theirs].map(Document::into_text);
                merge_keeping_both(&base?, &ours?, &theirs?)
            }
        };
        let Some(merged) = merged else { return Ok(None) };
        let mut document = Document::parse(merged.text);
        document.set_counts(&fleet.counts());
        if matches!(self.place, Place::Apart) {
            document.remove_empty_sections(is_removed);
        }
        Ok(Some(Merged { text: document.into_text()?, kept }))
    }

    /// Names of pieces of the last agreed text that the copy lacks, though this side has them and no machine removed them.
    pub(super) fn lacking(&self, fleet: &Fleet) -> Vec<String> {
        let [ours, theirs] = [self.ours, self.theirs].map(|text| keys(&Document::parse(text.to_owned())));
        let agreed = Document::parse(self.agreed.unwrap_or_default().to_owned());
        let is_lacking = |piece: &Piece| {
            let key = piece.key();
            ours.contains(&key) && !theirs.contains(&key) && !fleet.is_removed(piece)
        };
        agreed.each_piece().iter().filter(|piece| is_lacking(piece)).map(name_of).collect()
    }
}

/// A text without the pieces that a machine removed. If a machine replaced a name, the text gets the other side's name.
fn without_removed(text: &str, other: &str, is_removed: impl Fn(&Piece) -> bool) -> Document {
    let mut document = Document::parse(text.to_owned());
    document.remove_pieces(&is_removed);
    let is_name = |piece: &Piece| piece.kind == PieceKind::Name;
    let names: Vec<Piece> = Document::parse(other.to_owned()).each_piece();
    for old in document.each_piece().iter().filter(|piece| is_name(piece) && is_removed(piece)) {
        let new = names.iter().find(|new| is_name(new) && new.scope == old.scope && !is_removed(new));
        if let (Some(new), Some(scope)) = (new, &old.scope) {
            document.rename(scope, &new.text);
        }
    }
    document
}

fn keys(document: &Document) -> BTreeSet<String> {
    document.each_piece().iter().map(Piece::key).collect()
}

/// The name of a piece for people.
pub(super) fn name_of(piece: &Piece) -> String {
    let place = if piece.section.is_empty() { "the file" } else { &piece.section };
    match (&piece.memory, piece.kind) {
        (Some(memory), _) => {
            let core = if memory.persistence == Persistence::Core { " - CORE" } else { "" };
            format!("[{}{core}] {} ({place})", memory.category.as_str(), memory.title)
        }
        (None, PieceKind::Name) if piece.text.is_empty() => format!("the heading ({place})"),
        (None, PieceKind::Name) => format!("the name `{}` ({place})", piece.text),
        (None, _) => format!("the line `{}` ({place})", piece.text),
    }
}

/// Knows which pieces only a known machine may remove.
pub(super) struct Guard(Authors);

impl Guard {
    pub(super) fn of(notebook: &Notebook) -> Guard {
        Guard(Authors::read(notebook.store().sidecar()))
    }

    /// True for lines of people, for `CORE` and `DANGER`, and for an entry that no program is known to have written.
    pub(super) fn protects(&self, piece: &Piece) -> bool {
        let by_program = |scope: &Scope, memory| {
            let author = self.0.of(scope, memory);
            matches!(author, Author::Model | Author::Rules | Author::Agent | Author::Program)
        };
        match (piece.kind, &piece.memory, &piece.scope) {
            (PieceKind::Line, ..) => true,
            (_, Some(memory), Some(scope)) => {
                memory.persistence == Persistence::Core
                    || memory.category.is_danger()
                    || !by_program(scope, memory)
            }
            _ => false,
        }
    }

    /// True if an entry says the same as one that is protected, in another form.
    fn weakens(&self, piece: &Piece, lacking: &[Piece]) -> bool {
        let words = |text: &str| fold_case(&fold_spaces(text));
        let is_same = |old: &Piece| match (&old.memory, &piece.memory) {
            (Some(old_memory), Some(memory)) => {
                old.section == piece.section
                    && fold_title(&old_memory.title) == fold_title(&memory.title)
                    && words(&old_memory.text) == words(&memory.text)
                    && self.protects(old)
            }
            _ => false,
        };
        lacking.iter().any(is_same)
    }
}

/// The text of a remote copy, without conflicts.
pub(super) fn text_of(remote: &dyn Remote, bytes: Vec<u8>) -> Result<String, SyncError> {
    let text = String::from_utf8(bytes).map_err(|error| SyncError::NotUtf8 {
        url: remote.to_string(),
        byte: error.utf8_error().valid_up_to() + 1,
    })?;
    match conflicts(&text) {
        Some(found) => Err(SyncError::Conflict { url: remote.to_string(), line: found.lines[0] }),
        None => Ok(text),
    }
}
