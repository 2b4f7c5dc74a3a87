//! A field of an entry by its shape.

use std::borrow::Cow;

use crate::types::Span;

/// A field by its shape; texts as they are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Field<'a> {
    /// `Ep3`
    Episode(u64),
    /// `T5` or `T5-7`
    Turns(Span),
    /// `M5` or `M5-7`
    Messages(Span),
    /// `+25`
    ScoreChange(i64),
    /// A day or an instant.
    Date(Cow<'a, str>),
    /// `importance 800`, in thousandths.
    Importance(u16),
    /// `score 35`
    Score(i64),
    /// `moves 120`
    Moves(i64),
    /// `source:NAME`, without the word before the colon.
    Source(&'a str),
    /// `#tag`
    Tag(&'a str),
    /// `Goal: TEXT`, without the word before the colon.
    Goal(&'a str),
    /// A shape that no field has.
    Other,
}

/// Accepts `2026-01-31`, also followed by `T` and a time (RFC 3339).
pub fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let shape = bytes.len() >= 10
        && bytes[..10].iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    let ends_field = |c: char| c.is_whitespace() || c.is_control() || matches!(c, ',' | ')');
    shape && (bytes.len() == 10 || (bytes[10] == b'T' && !text.contains(ends_field)))
}
