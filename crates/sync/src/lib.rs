//! Merges a memory file with its copy in an object store or a shared folder, so that many machines share one memory.
//!
//! A notebook and a [`Remote`] enter. Both hold the merged text afterwards, and a [`SyncReport`] leaves. It always
//! holds that
//!
//! * the local file is written in one transaction, and the remote copy only if it still is the merged version;
//! * an error leaves both sides as they are;
//! * every count is the sum over the states of all machines, so nothing counts twice;
//! * a kill at any moment loses nothing: the module `ledger` keeps a state before the store gets it.
//!
//! # Where to begin
//!
//! * [`sync`] is the flow: fetch, merge, write the local file, put the copy on a condition, and begin again where
//!   another machine was faster. [`read`] only reads a copy.
//! * [`RemoteUrl::parse`] reads the address of a copy, and [`open`] opens it.
//! * The modules `object` and `shared_file` are the two kinds of [`Remote`].
//! * [`Variables`] carries keys and settings of the clouds; nothing here reads the environment.
//!
//! # Example
//!
//! ```
//! use std::time::Duration;
//! use memories_notebook::{Clock, Notebook};
//! use memories_store::Store;
//! use memories_sync::{Options, RemoteUrl, Variables, open, sync};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("Memories.md");
//! std::fs::write(&path, "## Location 23: Living Room\n\n**[DISCOVERY] Trap door**\nIt is under the rug.\n")?;
//! let clock = || Clock::fixed("2026-01-31T10:40:00Z");
//! let notebook = Notebook::new(Store::open(&path, Duration::from_secs(10))?, clock());
//!
//! let shared = folder.path().join("shared.md");
//! let remote = open(&RemoteUrl::File(shared.clone()), &Variables::default(), clock())?;
//! sync(&notebook, &*remote, &Options { lock_timeout: Duration::from_secs(10), ..Options::default() })?;
//! assert_eq!(std::fs::read_to_string(shared)?, std::fs::read_to_string(path)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bounded;
mod credentials;
mod error;
mod failure;
mod flow;
mod ledger;
mod machine;
mod object;
mod options;
mod remote;
mod report;
mod shared_file;
#[cfg(test)]
mod tests;
mod texts;
mod url;

use memories_notebook::Clock;

pub use credentials::{Variables, destination};
pub use error::SyncError;
pub use flow::{read, sync};
pub use options::Options;
pub use remote::{Fetched, Item, Put, Remote, Version};
pub use report::{Kinds, SyncReport};
pub use url::RemoteUrl;

/// Opens the remote copy at an address.
///
/// # Errors
///
/// When the variables and files of its cloud name no usable store.
pub fn open(url: &RemoteUrl, variables: &Variables, clock: Clock) -> Result<Box<dyn Remote>, SyncError> {
    match url {
        RemoteUrl::Object { .. } => Ok(Box::new(object::ObjectRemote::open(url, variables)?)),
        RemoteUrl::File(path) => Ok(Box::new(shared_file::SharedFile::open(path, clock)?)),
    }
}
