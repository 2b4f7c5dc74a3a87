//! What file and journal say about play, for people who look inside.
//!
//! Sections of a [`crate::document::Document`] and lines of the journal enter; figures and lines of
//! text leave. Nothing is asked of a model, and nothing is written.

pub mod figures;
pub mod log;
mod report;
mod tally;

pub use report::render;
pub use tally::Tally;

use std::borrow::Cow;

use serde::Deserialize;

/// A text of a journal's line; borrowed where nothing in it is escaped.
#[derive(Debug, Clone, Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl Text<'_> {
    fn as_str(&self) -> &str {
        &self.0
    }
}
