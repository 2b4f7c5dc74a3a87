//! Figures about a memory file and the play behind it, and the journal for people.
//!
//! Sections of a [`memories_document::Document`] and lines of the journal enter; figures and lines of text
//! leave. No model is asked, and nothing is written.

pub(crate) mod collect;
pub mod figures;
pub mod log;
pub mod read;
pub mod report;
pub mod tally;
