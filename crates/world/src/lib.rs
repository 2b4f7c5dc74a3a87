//! The map: the graph of the ways that were walked, answers about it, and its drawings.
//!
//! A snapshot of a memory file enters. Answers leave, as text and as JSON, and drawings in Mermaid, Graphviz and SVG.
//! It always holds that
//!
//! * nothing is written here;
//! * no way is invented: each step of a path was walked.
//!
//! # Where to begin
//!
//! * [`Graph::read`] makes the graph of a snapshot. [`Graph::path`] and [`Graph::near`] answer questions about it as a
//!   [`MapReport`].
//! * [`Graph::draw`] draws the map in a [`MapFormat`]; [`Layout`] says where places stand on a picture.
//! * [`BestRun`] is the best run of a game that is known, and [`route()`] follows it. [`goals()`] lists the known gains
//!   of points.
//!
//! # Example
//!
//! ```
//! use std::time::Duration;
//! use memories_notebook::Snapshot;
//! use memories_store::{Store, StoreError};
//! use memories_world::Graph;
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("Memories.md");
//! std::fs::write(&path, "## Location 1: House\n\n### Ways\n\n- `north` → [Forest](#location-2-forest)\n\n\
//!     ## Location 2: Forest\n")?;
//! let snapshot = Snapshot::read(&Store::open(&path, Duration::from_secs(10))?)?;
//! let answer = Graph::read(&snapshot).path(1, 2);
//! assert!(answer.is_known);
//! assert_eq!(answer.json["actions"][0], "north");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
pub use stop::Stop;
