//! Figures about a memory file and the play behind it, and the journal for people.
//!
//! Sections of a [`crate::document::Document`] and lines of the journal enter; figures and lines of text
//! leave. No model is asked, and nothing is written.

pub(crate) mod collect;
pub(crate) mod figures;
pub(crate) mod log;
pub(crate) mod read;
pub(crate) mod report;
pub(crate) mod tally;
