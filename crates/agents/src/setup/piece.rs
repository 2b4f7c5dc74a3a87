//! A piece of text that was inserted, and how it is recorded.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The text that an insertion added, and the entry it stands for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Piece {
    /// Name of the entry, such as `mcpServers.memories`.
    pub entry: String,
    /// The value that was written.
    pub value: Value,
    /// Tables and lists on the way to the entry that were there before, the outermost included.
    pub existing: usize,
    /// The text of the insertion, separators included.
    pub text: String,
}

/// The line ending of a text: that of its first line.
pub(super) fn line_ending(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}
