//! Limits of what a recall shows.

use memories_document::types::instant::Instant;

/// Limits of what is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Tokens of the whole answer, by [`estimate_tokens`](crate::budget::estimate_tokens); `None` shows
    /// everything.
    pub max_tokens: Option<usize>,
    /// Limit of entries of category SUCCESS, beside those that matter most: core, and what changed the score.
    pub max_successes: usize,
    /// As for SUCCESS, of entries of category FAILURE.
    pub max_failures: usize,
    /// Limit of characters of one text; 0 for the whole.
    pub max_text_chars: usize,
    /// The present time, by which a memory with a date has an age; without it the date alone is shown.
    pub now: Option<Instant>,
}

impl Limits {
    /// The same limits at a time, RFC 3339.
    pub fn at(self, now: &str) -> Limits {
        Limits { now: Instant::of(now), ..self }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { max_tokens: Some(300), max_successes: 5, max_failures: 5, max_text_chars: 0, now: None }
    }
}
