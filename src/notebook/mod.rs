//! Edits of the memory files: add, correct, note a line of dialogue, and recognise near-duplicates.
//!
//! Two files together are one notebook: `Memories.md`, which lasts, and `session.md`, which ends with
//! its episode.

pub(crate) mod add;
mod changes;
mod clock;
pub(crate) mod correct;
pub(crate) mod dialogue;
pub mod files;
mod line_window;
pub(crate) mod near_duplicates;
mod section_window;
pub(crate) mod snapshot;
mod transaction;

pub(crate) use changes::NewMemory;
pub use clock::Clock;
pub use snapshot::SharedSnapshot;
pub use snapshot::Snapshot;
pub use transaction::Notebook;
pub(crate) use transaction::{Draft, Written};
