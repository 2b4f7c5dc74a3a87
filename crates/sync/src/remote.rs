//! A remote copy of a memory file: fetch it, and put another text in its place on a condition.

use std::fmt;

use crate::error::SyncError;

/// Ids of pushes that a remote copy bears at most. With 8 characters each they fit into the 2 KB that S3 has for
/// metadata.
pub(crate) const MAX_PUSHES: usize = 200;

/// The version of a remote copy: its ETag, and its generation where the store has such.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Version {
    pub e_tag: Option<String>,
    pub version: Option<String>,
}

/// A remote copy as it was fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copy {
    pub bytes: Vec<u8>,
    pub version: Version,
    /// The ids of the last pushes that led to it, the newest last.
    pub pushes: Vec<String>,
}

/// The answer to a question for the remote copy.
#[derive(Debug)]
pub enum Fetched {
    /// It has the version that is known.
    Unchanged,
    /// There is none.
    Missing,
    Copy(Copy),
}

/// The result of a conditional write.
#[derive(Debug)]
pub enum Put {
    Done(Version),
    /// Another writer was faster.
    Lost,
}

/// A place for a remote copy.
pub trait Remote: fmt::Display {
    /// Fetches the copy, unless it has the known version.
    ///
    /// # Errors
    ///
    /// When the store cannot be reached, refuses, or answers with something else than a whole text.
    fn fetch(&self, known: Option<&Version>) -> Result<Fetched, SyncError>;

    /// Puts a text if the copy still has that version, or if there still is none. The copy bears these pushes then.
    ///
    /// # Errors
    ///
    /// When the store cannot be reached or refuses. The text may have arrived even so.
    fn put(&self, text: &str, old: Option<&Version>, pushes: &[String]) -> Result<Put, SyncError>;

    /// Proves that conditions are heeded, with an object of its own, which is removed. `id` is part of its name. Returns the
    /// number of requests.
    ///
    /// # Errors
    ///
    /// [`SyncError::Unconditional`] where they are not, and as [`Remote::put`].
    fn prove(&self, id: &str) -> Result<u64, SyncError>;
}
