//! The map: the graph of the ways that were walked, what it answers, and its drawings.
//!
//! A snapshot of a memory file enters; answers leave, as text and as JSON. Nothing is read or written here, and
//! no way is invented: each step of a path was walked.

mod dot;
mod drawing;
mod graph;
mod lines;
mod mermaid;
mod report;
mod search;
mod trizbort;

pub use drawing::MapFormat;
pub use graph::Graph;
pub use report::MapReport;
