//! A file or folder of another program, as far as all readers need it.

use serde_json::Value;

use crate::folder::Folder;
use memories_document::types::json::{self, text_without_mark};

/// What a file holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// One JSON document.
    Json(Value),
    /// JSON, line by line; an error says why a line is none.
    Lines(Vec<Result<Value, String>>),
    /// A picture.
    Png(Vec<u8>),
    /// An archive.
    Zip(Vec<u8>),
    /// Notes.
    Folder(Folder),
    /// Anything else.
    Other,
}

/// A file or a folder.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// Its name.
    pub name: String,
    /// Its content.
    pub content: Content,
}

impl Source {
    /// A file of that name.
    pub fn of_bytes(name: &str, bytes: &[u8]) -> Source {
        let content = if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
            Content::Png(bytes.to_vec())
        } else if bytes.starts_with(b"PK\x03\x04") {
            Content::Zip(bytes.to_vec())
        } else {
            content_of(bytes)
        };
        Source { name: name.to_owned(), content }
    }

    /// A folder of that name.
    pub fn of_folder(name: &str, folder: Folder) -> Source {
        Source { name: name.to_owned(), content: Content::Folder(folder) }
    }

    /// Its JSON document, if it is one.
    pub(crate) fn json(&self) -> Option<&Value> {
        match &self.content {
            Content::Json(value) => Some(value),
            _ => None,
        }
    }
}

fn content_of(bytes: &[u8]) -> Content {
    let text = json::without_mark(bytes).trim_ascii();
    if !text.starts_with(b"{") && !text.starts_with(b"[") {
        return Content::Other;
    }
    if let Ok(value) = json::read(bytes) {
        return Content::Json(value);
    }
    let line = |line: &[u8]| {
        let Ok(text) = std::str::from_utf8(line) else { return Some(Err("it is not UTF-8".to_owned())) };
        let text = text_without_mark(text).trim();
        let read = || serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"));
        (!text.is_empty()).then(read)
    };
    let mut lines = bytes.split(|&byte| byte == b'\n').filter_map(line).peekable();
    // A long file of the program's own is not read to its end only to see that it is none of these.
    if lines.peek().is_some_and(|line| line.as_ref().is_ok_and(is_foreign)) {
        return Content::Lines(lines.collect());
    }
    Content::Other
}

/// True for the first line of a graph or a chat.
fn is_foreign(line: &Value) -> bool {
    let kind = line.get("type").and_then(Value::as_str);
    let is_chat = || ["user_name", "chat_metadata", "mes"].iter().any(|key| line.get(*key).is_some());
    matches!(kind, Some("entity" | "relation")) || is_chat()
}
