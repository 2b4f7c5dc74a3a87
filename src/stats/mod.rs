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
