//! The notebook: a memory file, its session file and its journal, read and changed together.
//!
//! `Memories.md` lasts, `session.md` ends with its episode. [`Snapshot`] reads both, and [`Notebook`] is
//! the one way to change them. `add`, `correct` and `dialogue` are the edits; `duplicates` decides
//! which texts say the same.

pub(crate) mod add;
mod add_report;
pub(crate) mod authority;
mod authors;
pub(crate) mod authorship;
mod changes;
mod clock;
pub(crate) mod confirm;
mod contents;
pub(crate) mod contest;
pub(crate) mod correct;
mod correction;
mod decide;
pub(crate) mod dialogue;
pub(crate) mod doubt;
mod duplicate_entry;
pub(crate) mod duplicates;
pub(crate) mod edit;
pub mod files;
pub mod history;
mod mark;
mod occasion;
pub(crate) mod protection;
mod ranking;
mod rewrite;
#[cfg(test)]
mod samples;
mod section_window;
pub(crate) mod snapshot;
mod strengthen;
pub(crate) mod strike;
mod summary;
pub(crate) mod titles;
mod tracked;
mod transaction;
mod unsupported;

#[cfg(feature = "mcp")]
pub(crate) use authors::name_authors;
pub(crate) use authors::{Authors, MemoryObjects};
#[cfg(feature = "view")]
pub(crate) use changes::AddError;
pub(crate) use changes::NewMemory;
pub use clock::Clock;
pub use protection::Protection;
pub(crate) use ranking::Ranked;
pub(crate) use rewrite::replace_own;
pub use snapshot::SharedSnapshot;
pub use snapshot::Snapshot;
pub use transaction::Notebook;
pub(crate) use transaction::{Draft, RESOLVE, RESTORE, Written};
