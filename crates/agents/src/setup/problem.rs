//! Problems of a configuration text.

/// The reason why a text is not edited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The text is not valid. Line and column count from 1, the column in characters.
    #[error("line {line}, column {column}: {what}")]
    Invalid { line: usize, column: usize, what: String },
    /// A key of the configuration has a value of another kind than the agent documents.
    #[error("`{key}` is not {expected}")]
    WrongKind { key: String, expected: &'static str },
    /// The text is valid, and an edit of it would not be exact.
    #[error("{0}")]
    NotEditable(&'static str),
}

impl Problem {
    /// An error of a parser at a byte of the text.
    pub(super) fn at(text: &str, byte: usize, what: &str) -> Problem {
        let before = &text[..text.floor_char_boundary(byte)];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
        Problem::Invalid { line, column, what: lower_case(what) }
    }
}

/// The text as the end of one of our sentences: without capital and full stop.
fn lower_case(text: &str) -> String {
    let text = text.trim().trim_end_matches('.').lines().collect::<Vec<_>>().join(": ");
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_lowercase().chain(characters).collect())
}
