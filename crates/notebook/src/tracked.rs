//! The edits of the memory file within a transaction, for each line of the journal its own.
//!
//! A [`Tracker`] starts with the text that was read. It is told of each line, and before the whole text is replaced. In
//! the end it adds its changes to each line, and records changes of the file that came from elsewhere before.

use memories_document::Document;
use memories_document::edits::{Mark, edits_between};
use memories_document::types::edit::{Edit, apply};
use memories_store::journal::Journal;
use memories_store::journal::change::{FileChange, bounded, text_hash};
use memories_store::{Store, StoreError};

/// A state of the memory file.
enum Point {
    /// A mark of the document as it is now.
    Mark(Mark),
    /// The text of a document that was replaced since.
    Text(String),
}

impl Point {
    fn edits_to(&self, document: &Document) -> Vec<Edit> {
        match self {
            Point::Mark(mark) => document.edits_since(mark),
            Point::Text(text) => {
                document.clone().into_text().map_or_else(|_| Vec::new(), |new| edits_between(text, &new))
            }
        }
    }

    /// The state, for a document that is about to be replaced.
    fn keep(&mut self, document: &Document) {
        if let Point::Mark(mark) = self {
            *self = Point::Text(document.text_at(mark));
        }
    }
}

/// A change of the memory file that no transaction made.
pub(super) struct Outside {
    /// The text that the last transaction left.
    left: String,
    /// The edits from that text to the one that was read.
    edits: Vec<Edit>,
}

/// The states between the lines of a transaction.
pub(super) struct Tracker {
    /// The hash of the text that was read.
    from: String,
    /// True if that is the text which the last transaction left.
    is_known: bool,
    /// The change that something else made since then, where it is known.
    outside: Option<Outside>,
    /// The states before and after the last line.
    before: Point,
    last: Point,
    /// The edits of each line.
    steps: Vec<Vec<Edit>>,
}

impl Tracker {
    /// Starts with the document as it was read.
    pub(super) fn new(document: &Document, journal: &Journal, store: &Store) -> Tracker {
        let [before, last] = [document.mark(), document.mark()].map(Point::Mark);
        let from = text_hash(document.source());
        // A journal that cannot be read cannot be written either, and says so.
        let left = journal.last_text_hash().ok().flatten();
        let is_known = left.as_ref() == Some(&from);
        let outside =
            left.filter(|_| !is_known).and_then(|left| last_text(journal, store, &left).ok().flatten());
        let outside = outside.map(|left| Outside { edits: edits_between(&left, document.source()), left });
        Tracker { from, is_known, outside, before, last, steps: Vec::new() }
    }

    /// The text that the last transaction left, where something else has changed it since.
    pub(super) fn left(&self) -> Option<&str> {
        self.outside.as_ref().map(|outside| outside.left.as_str())
    }

    /// Takes note of the edits that belong to a line.
    pub(super) fn note(&mut self, document: &Document) {
        self.steps.push(self.last.edits_to(document));
        self.before = std::mem::replace(&mut self.last, Point::Mark(document.mark()));
    }

    /// The document is about to be replaced by another.
    pub(super) fn replace(&mut self, document: &Document) {
        self.before.keep(document);
        self.last.keep(document);
    }

    /// True if there are edits and no line to which they could belong.
    pub(super) fn needs_line(&self, document: &Document) -> bool {
        self.steps.is_empty() && !self.last.edits_to(document).is_empty()
    }

    /// The changes of the lines, and those of the file before them; `None` if there are none. Edits after the last line
    /// belong to that line. The hash of the new text is still missing.
    pub(super) fn finish(mut self, document: &Document) -> Option<FileChanges> {
        let rest = self.last.edits_to(document);
        if let Some(last) = self.steps.last_mut().filter(|_| !rest.is_empty()) {
            *last = self.before.edits_to(document);
        }
        if self.steps.is_empty() {
            return None;
        }
        if self.is_known && self.steps.iter().all(Vec::is_empty) {
            return None;
        }
        let outside = self.outside.and_then(|outside| bounded(outside.edits));
        Some(FileChanges { from: self.from, outside, steps: self.steps })
    }
}

/// The text with that hash, which the last transaction left. The newest backup is the text that the last one which wrote
/// has found, or, where a write was cut off, the one that it left. A file that was made anew has no former state.
pub(super) fn last_text(journal: &Journal, store: &Store, last: &str) -> Result<Option<String>, StoreError> {
    let newest = store.backups()?.first().map(|backup| store.read_backup(backup.number)).transpose()?;
    for text in newest.into_iter().chain([String::new()]) {
        let found = continued(journal, text, last)?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// The text with the hash `last` to which the last transactions lead from that one; `None` where they do not.
fn continued(journal: &Journal, mut text: String, last: &str) -> Result<Option<String>, StoreError> {
    let hash = text_hash(&text);
    if hash == last {
        return Ok(Some(text));
    }
    let Some(changes) = journal.last_changes(&hash)? else { return Ok(None) };
    let made = changes.iter().enumerate().try_for_each(|(at, change)| {
        // The first one has found the text behind these edits.
        let outside = change.outside.as_deref().filter(|_| at > 0).unwrap_or_default();
        apply(outside, &mut text)?;
        apply(change.edits.as_deref()?, &mut text)
    });
    Ok(made.is_some().then_some(text).filter(|text| text_hash(text) == last))
}

/// The changes of the lines of a transaction.
pub(super) struct FileChanges {
    from: String,
    outside: Option<Vec<Edit>>,
    steps: Vec<Vec<Edit>>,
}

impl FileChanges {
    /// Adds to each line its change; `to` is the text that the transaction leaves, `None` where that is the one it found.
    pub(super) fn add_to(self, lines: &mut [String], to: Option<&str>) {
        let FileChanges { from, mut outside, steps } = self;
        let to = to.map_or_else(|| from.clone(), text_hash);
        let last = lines.len().saturating_sub(1);
        let mut from = Some(from);
        for (at, (line, edits)) in lines.iter_mut().zip(steps).enumerate() {
            let to = (at == last).then(|| to.clone());
            let (from, outside) = (from.take(), outside.take());
            if from.is_some() || to.is_some() || !edits.is_empty() {
                FileChange { from, outside, edits: bounded(edits), to }.add_to(line);
            }
        }
    }
}
