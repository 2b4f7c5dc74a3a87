//! The values of a seed file with their lines, whatever its format.

use memories_document::types::text::fold_spaces;

/// A value and the line at which it begins.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    /// From 1.
    pub line: usize,
    pub value: Value,
}

/// A value of a seed file. Numbers and truth values are never used, so only their type is kept.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Flag,
    Number,
    /// A text, or a date or time of TOML.
    Text(String),
    List(Vec<Node>),
    /// Keys and values in the order of the file.
    Table(Vec<(Key, Node)>),
}

/// A key with its line; in JSON, the line of its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    /// From 1.
    pub line: usize,
    /// As written.
    pub name: String,
}

impl Node {
    /// Its type, for errors.
    pub(crate) fn kind(&self) -> &'static str {
        match self.value {
            Value::Null => "empty",
            Value::Flag => "true or false",
            Value::Number => "a number",
            Value::Text(_) => "a text",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }
}

/// A syntax error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Malformed {
    /// From 1.
    pub line: usize,
    /// The parser's message, on one line and without its position.
    pub problem: String,
}

impl Malformed {
    /// An error with the message of a parser, which names the line again.
    pub(super) fn new(line: usize, message: &str) -> Malformed {
        let problem = fold_spaces(message.split(" at line ").next().unwrap_or_default());
        Malformed { line: line.max(1), problem }
    }
}
