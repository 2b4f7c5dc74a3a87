//! The notebook: a memory file, its session file and its journal, read and changed together.
//!
//! `Memories.md` lasts; `session.md` ends with its episode. A store enters. An immutable [`Snapshot`] leaves for
//! readers; for writers, one transaction changes files and journal in one step. It always holds that
//!
//! * [`Notebook::edit`] is the only way to change a memory file, and it changes everything or nothing;
//! * the lock is held only while an edit runs, so an edit never asks a model;
//! * no words vanish: an entry that is replaced is struck and stays in the file;
//! * a model never changes an entry that a person wrote: it contests the entry, and both stay.
//!
//! # Where to begin
//!
//! * [`Snapshot::read`] reads the files as they are now. [`SharedSnapshot`] keeps a snapshot for many threads until a
//!   file changes.
//! * [`Notebook::edit`] opens a [`Draft`], which has the changes that all front ends share. [`Draft::add`] adds a
//!   memory.
//! * [`add::store_memory`] decides between new, revised, contested and duplicate; [`duplicates::says_the_same`]
//!   compares two texts, and [`authority`] says who may change what.
//! * [`history`] rebuilds former states of the memory file from the journal; [`past`] finds the one of a moment.
//!
//! # Example
//!
//! ```
//! use std::time::Duration;
//! use memories_document::types::{Category, Memory, Scope};
//! use memories_notebook::authority::Authority;
//! use memories_notebook::{Clock, NewMemory, Notebook, Snapshot};
//! use memories_store::Store;
//!
//! let folder = tempfile::tempdir()?;
//! let store = Store::open(folder.path().join("Memories.md"), Duration::from_secs(10))?;
//! let notebook = Notebook::new(store.clone(), Clock::fixed("2026-01-31T10:40:00Z"));
//! let memory = Memory::new(Category::discovery(), "Trap door", "It is under the rug.");
//! let new = NewMemory { scope: Scope::Location(23), name: "Living Room".to_owned(), memory, speaker: None };
//! notebook.edit("add", |draft| draft.add(&new, Authority::Command, &mut Vec::new()))?;
//!
//! let snapshot = Snapshot::read(&store)?;
//! assert_eq!(snapshot.section(&Scope::Location(23)).memories[0].title, "Trap door");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod add;
mod add_report;
mod anchored;
pub mod authority;
mod authors;
pub mod authorship;
mod carry;
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
pub mod past;
pub mod protection;
mod ranking;
pub mod rewind;
mod rewrite;
pub mod same;
#[cfg(test)]
mod samples;
pub(crate) mod snapshot;
mod strengthen;
pub mod strike;
mod summary;
mod telling;
pub mod titles;
mod tracked;
mod transaction;
mod unsupported;

pub use anchored::{AnchoredFiles, FileState, KnownChanges};
pub use authors::{Authors, MemoryObjects, name_authors};
pub use changes::NewMemory;
pub use clock::Clock;
pub use correction::Telling;
pub use error::NotebookError;
pub use protection::Protection;
pub use ranking::Ranked;
pub use rewrite::replace_own;
pub use snapshot::{SharedSnapshot, Snapshot};
pub use transaction::{Draft, Notebook, RESOLVE, RESTORE, Written};
