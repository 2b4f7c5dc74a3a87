//! The map: the graph of the ways that were walked, answers about it, and its drawings.
//!
//! A snapshot of a memory file enters, and for unexplored directions the journal. Answers leave, as text and as JSON.
//! Nothing is written here, and no way is invented: each step of a path was walked.

mod best_run;
mod described;
mod dot;
mod drawing;
mod errand;
mod frontier;
mod goals;
mod graph;
mod layout;
mod lines;
mod mermaid;
mod progress;
mod report;
mod route;
mod search;
mod standing;
mod stop;
mod svg;

pub use best_run::{BestRun, route};
pub use described::Descriptions;
pub use drawing::MapFormat;
pub use goals::goals;
pub use graph::Graph;
pub use layout::{HALF_HEIGHT, HALF_WIDTH, LaidLevel, LaidPlace, LaidWay, Layout};
pub use report::MapReport;
pub use standing::standing;
