//! The notebook: a memory file, its session file and its journal, read and changed together.
//!
//! `Memories.md` lasts, `session.md` ends with its episode. [`Snapshot`] reads both, and [`Notebook`] is
//! the only way to change them. `add`, `correct` and `dialogue` are the edits; `duplicates` decides
//! which texts say the same.

pub mod add;
mod add_report;
pub mod authority;
mod authors;
pub mod authorship;
mod changes;
mod clock;
pub mod confirm;
pub mod contest;
pub mod correct;
mod correction;
mod decide;
pub(crate) mod dialogue;
pub mod doubt;
mod duplicate_entry;
pub mod duplicates;
pub mod edit;
mod error;
pub mod files;
pub mod history;
mod mark;
mod occasion;
pub mod protection;
mod ranking;
mod rewrite;
#[cfg(test)]
mod samples;
pub(crate) mod snapshot;
mod strengthen;
pub mod strike;
mod summary;
pub mod titles;
mod tracked;
mod transaction;
mod unsupported;

pub use authors::name_authors;
pub use authors::{Authors, MemoryObjects};
pub use changes::NewMemory;
pub use clock::Clock;
pub use error::NotebookError;
pub use protection::Protection;
pub use ranking::Ranked;
pub use rewrite::replace_own;
pub use snapshot::SharedSnapshot;
pub use snapshot::Snapshot;
pub use transaction::Notebook;
pub use transaction::{Draft, RESOLVE, RESTORE, Written};
