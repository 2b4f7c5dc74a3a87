//! Edits of the memory files: add, correct, note a line of dialogue, and recognise near-duplicates.
//!
//! Two files together are one notebook: `Memories.md`, which lasts, and `session.md`, which ends with
//! its episode.

pub mod add;
mod changes;
mod clock;
pub mod correct;
pub mod dialogue;
pub mod files;
mod line_window;
pub mod near_duplicates;
mod section_window;
pub mod snapshot;
mod transaction;

pub use changes::{AddError, NewMemory};
pub use clock::Clock;
pub use snapshot::{SharedSnapshot, Snapshot};
pub use transaction::{Draft, Notebook, Written};
