//! How a line of the journal changed the memory file: the edits, and hashes of the text before and after.
//!
//! Lines of one transaction follow each other: the first one has the hash before, the last one the hash after. A line
//! without a change left the file as it was, or is older than this field: if the next hash is that of the line before
//! it, it changed nothing. Where edits are missing, the text cannot be rebuilt from here.

use std::cell::Cell;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use crate::StoreError;
use crate::journal::Journal;
use memories_document::types::chunked::ChunkedText;
use memories_document::types::edit::Edit;

/// Bytes removed and inserted together up to which the edits of a line are kept.
const MAX_EDITS: usize = 1 << 20;

/// The change of the memory file by a line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileChange {
    /// Hash of the text that the transaction found; only in its first line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The edits that lead to the text with that hash from the one that the last transaction left, where these differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside: Option<Vec<Edit>>,
    /// The edits of the line; `None` where they are too large.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edits: Option<Vec<Edit>>,
    /// Hash of the text that the transaction left; only in its last line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

impl FileChange {
    /// The change of a line; `None` where it has none.
    pub fn of_line(line: &str) -> Option<FileChange> {
        #[derive(Deserialize)]
        struct Line<'a> {
            #[serde(borrow)]
            change: Option<&'a RawValue>,
        }
        if !line.contains("\"change\":") {
            return None;
        }
        let change = serde_json::from_str::<Line<'_>>(line).ok()?.change?;
        Some(FileChange::of_json(change.get()))
    }

    /// Reads a change. One that is damaged has neither edits nor hashes.
    pub(crate) fn of_json(json: &str) -> FileChange {
        serde_json::from_str(json).unwrap_or_default()
    }

    /// The line with this change, which is its last field.
    pub fn add_to(&self, line: &mut String) {
        if let (Ok(change), Some(end)) = (serde_json::to_string(self), line.strip_suffix('}')) {
            *line = format!("{end},\"change\":{change}}}");
        }
    }
}

/// The edits, if they are small enough to be kept.
pub fn bounded(edits: Vec<Edit>) -> Option<Vec<Edit>> {
    let size: usize = edits.iter().map(Edit::size).sum();
    (size <= MAX_EDITS).then_some(edits)
}

/// The hash by which a text of the memory file is known, in hexadecimal digits.
pub fn text_hash(text: &str) -> String {
    format!("{:032x}", xxh3_128(text.as_bytes()))
}

/// The hash of a text in chunks, equal to the hash of the whole text.
pub fn chunked_hash(text: &ChunkedText) -> String {
    let mut hash = Xxh3::new();
    text.chunks().for_each(|chunk| hash.update(chunk.as_bytes()));
    format!("{:032x}", hash.digest128())
}

impl Journal {
    /// The hash of the text that the last transaction left; `None` where no line has one.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub fn last_text_hash(&self) -> Result<Option<String>, StoreError> {
        let mut last = None;
        self.log.tail(1, |line| {
            last = FileChange::of_line(line).and_then(|change| change.to);
            last.is_some()
        })?;
        Ok(last)
    }

    /// The changes of the last transaction that wrote, oldest first. `None` where that transaction did not find the text
    /// with that hash.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub fn last_changes(&self, from: &str) -> Result<Option<Vec<FileChange>>, StoreError> {
        let mut newest_first = Vec::new();
        let mut left = None;
        let is_found = Cell::new(false);
        self.log.tail(1, |line| {
            let Some(change) = FileChange::of_line(line) else { return false };
            left = change.to.clone().or(left.take());
            is_found.set(change.from.as_deref() == Some(from));
            let is_last = is_found.get() || change.from.is_some() && change.from != left;
            newest_first.push(change);
            is_last
        })?;
        newest_first.reverse();
        Ok(is_found.get().then_some(newest_first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_added_to_a_line_and_read_from_it() {
        let edits = vec![Edit { at: 7, removed: String::new(), inserted: "\"change\":\n".to_owned() }];
        let change = FileChange { from: Some(text_hash("")), edits: Some(edits), ..FileChange::default() };
        let mut line = r#"{"id":"1"}"#.to_owned();
        change.add_to(&mut line);
        assert_eq!(
            line,
            r#"{"id":"1","change":{"from":"99aa06d3014798d86001c324468d497f","edits":[[7,"","\"change\":\n"]]}}"#
        );
        assert_eq!(FileChange::of_line(&line), Some(change));
    }

    #[test]
    fn a_damaged_change_has_nothing_and_a_turn_may_have_such_a_field() {
        let of = FileChange::of_line;
        assert_eq!(of(r#"{"id":"1","change":{"edits":[[1,2]]}}"#), Some(FileChange::default()));
        assert_eq!(of(r#"{"id":"1","change":[7]}"#), Some(FileChange::default()));
        assert_eq!(of(r#"{"id":"1","turn":{"change":{"to":"a"}}}"#), None);
        assert_eq!(of(r#"{"id":"1","change":{"to":"a"#), None);
    }
}
