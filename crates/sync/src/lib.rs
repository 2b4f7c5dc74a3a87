//! Merges a memory file with its copy in an object store, so that many machines share one memory.
//!
//! A notebook and a [`Remote`] enter; both hold the merged text, and a [`SyncReport`] leaves. The flow is the function
//! [`sync`]. It always holds that
//!
//! * the local file is written in one transaction, and the remote copy only if it still is the merged version;
//! * an error leaves both sides as they are;
//! * a kill at any moment loses nothing and counts nothing twice: `agreement` records the push on its way.

mod agreement;
mod credentials;
mod error;
mod failure;
mod flow;
mod object;
mod options;
mod remote;
mod report;
mod shared_file;
mod texts;
mod url;

use memories_notebook::Clock;

pub use credentials::{Variables, destination};
pub use error::SyncError;
pub use flow::{read, sync};
pub use options::Options;
pub use remote::Remote;
pub use report::{Brought, SyncReport};
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
