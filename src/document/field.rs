//! A field of an entry by its shape.

use std::borrow::Cow;

use crate::types::Span;

/// A field by its shape; texts as they are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Field<'a> {
    Episode(u64),
    Turns(Span),
    Messages(Span),
    ScoreChange(i64),
    Date(Cow<'a, str>),
    Importance(u16),
    Score(i64),
    Moves(i64),
    Source(&'a str),
    Tag(&'a str),
    Goal(&'a str),
    /// A shape that no field has.
    Other,
}

/// Accepts `2026-01-31`, also followed by `T` and a time (RFC 3339).
pub(crate) fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let shape = bytes.len() >= 10
        && bytes[..10].iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    let ends_field = |c: char| c.is_whitespace() || c.is_control() || matches!(c, ',' | ')');
    shape && (bytes.len() == 10 || (bytes[10] == b'T' && !text.contains(ends_field)))
}
