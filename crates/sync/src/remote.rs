//! A remote copy of a memory file and the states of machines beside it: fetch one, and put another in its place on a
//! condition.

use std::collections::BTreeMap;
use std::fmt;

use crate::error::SyncError;

pub use memories_store::RemoteVersion as Version;

/// Longest name of a machine, in bytes.
const MAX_NAME: usize = 80;

/// Something that is kept at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Item<'a> {
    /// The copy itself.
    Text,
    /// The state of the machine with that name.
    Machine(&'a str),
}

/// The answer to a question for an item.
#[derive(Debug)]
pub enum Fetched {
    /// It has the version that is known.
    Unchanged,
    /// There is none.
    Missing,
    /// Its bytes.
    Copy(Vec<u8>, Version),
}

/// The result of a conditional write.
#[derive(Debug)]
pub enum Put {
    /// The item has this version now.
    Done(Version),
    /// Another writer was faster.
    Lost,
}

/// The file with the state of a machine.
pub(super) fn file_of(machine: &str) -> String {
    format!("{machine}.json")
}

/// The machine whose state is in the file with that name; `None` for any other file.
pub(super) fn machine_of(file: &str) -> Option<&str> {
    let is_id = |name: &&str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    file.strip_suffix(".json").filter(|name| name.len() <= MAX_NAME).filter(is_id)
}

/// A place for a remote copy.
pub trait Remote: fmt::Display {
    /// Fetches an item, unless it has the known version.
    ///
    /// # Errors
    ///
    /// When the store cannot be reached, refuses, or answers with something else than a whole text.
    fn fetch(&self, item: Item<'_>, known: Option<&Version>) -> Result<Fetched, SyncError>;

    /// Puts a text if the item still has that version, or if there still is none.
    ///
    /// # Errors
    ///
    /// When the store cannot be reached or refuses. The text may have arrived even so.
    fn put(&self, item: Item<'_>, text: &str, old: Option<&Version>) -> Result<Put, SyncError>;

    /// The versions of the states of all machines, by their names.
    ///
    /// # Errors
    ///
    /// When the store cannot be reached or refuses.
    fn machines(&self) -> Result<BTreeMap<String, Version>, SyncError>;
}
