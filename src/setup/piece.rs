//! A piece of text that was inserted, and how it is recorded.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An insertion: what it says, and the separators around it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Piece {
    /// Name of the entry, such as `mcpServers.memories`.
    pub entry: String,
    /// The value that was written.
    pub value: Value,
    /// Tables and lists on the way to the entry that were there before, the outermost included.
    pub existing: usize,
    /// Separator in front.
    pub before: String,
    /// The entry, or the outermost of the tables that were made for it.
    pub core: String,
    /// Separator behind.
    pub after: String,
}

/// A piece and its place in the text.
pub(super) struct Insertion {
    /// Byte at which it is inserted.
    pub(super) at: usize,
    pub(super) existing: usize,
    pub(super) before: String,
    pub(super) core: String,
    pub(super) after: String,
}

impl Insertion {
    /// The text with the insertion.
    pub(super) fn applied(&self, text: &str) -> String {
        let (head, tail) = text.split_at(self.at);
        [head, &self.before, &self.core, &self.after, tail].concat()
    }
}

impl Piece {
    /// The range of the piece, separators included, around its core.
    pub(super) fn around(&self, text: &str, start: usize, end: usize) -> Option<std::ops::Range<usize>> {
        let is_exact = text.get(start..end)? == self.core
            && text[..start].ends_with(&self.before)
            && text[end..].starts_with(&self.after);
        is_exact.then(|| start - self.before.len()..end + self.after.len())
    }
}

/// The text without some ranges, which do not overlap.
pub(super) fn cut(text: &str, mut ranges: Vec<std::ops::Range<usize>>) -> String {
    ranges.sort_by_key(|range| range.start);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for range in ranges {
        out.push_str(&text[at..range.start]);
        at = range.end;
    }
    out.push_str(&text[at..]);
    out
}

/// The line ending of a text: that of its first line.
pub(super) fn line_ending(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}
