//! The files of a sync beside a memory file. `remotes/` of the sidecar has texts and states of machines by name. If this
//! file is itself a remote copy, `machines/` has the states of its machines.
//!
//! A name enters, a text leaves or goes in. A file is whole or not there, and is on disk when a call returns. Who holds
//! [`Remotes`] is the only process that writes this folder.

use std::io::Write;
use std::time::Duration;

use crate::error::{StoreError, unless_missing};
use crate::folder::Folder;
use crate::lock::Lock;
use crate::sidecar::Sidecar;

/// A folder of texts in the sidecar, which one process at a time may write. It keeps nobody from writing the file.
#[derive(Debug, Clone, Copy)]
pub struct Shelf<'a> {
    sidecar: &'a Sidecar,
    folder: &'static str,
    lock: &'static str,
}

/// Ending of a file that is being written.
const TEMPORARY: &str = ".new";

/// The right to write such a folder.
#[derive(Debug)]
pub struct Remotes {
    _lock: Lock,
    folder: Folder,
}

impl<'a> Shelf<'a> {
    /// The folder with which a memory file is synced.
    pub(super) fn remotes(sidecar: &'a Sidecar) -> Shelf<'a> {
        Shelf { sidecar, folder: "remotes", lock: "sync-lock" }
    }

    /// The folder of machines' states beside a memory file that is itself a remote copy.
    pub(super) fn machines(sidecar: &'a Sidecar) -> Shelf<'a> {
        Shelf { sidecar, folder: "machines", lock: "machines-lock" }
    }

    /// The right to write the folder. Waits for other processes that have it, up to `limit`.
    ///
    /// # Errors
    ///
    /// When another one still has it then, and when the sidecar cannot be made.
    pub fn lock(&self, limit: Duration) -> Result<Remotes, StoreError> {
        let (lock, sidecar) = Lock::acquire(self.sidecar, self.lock, limit)?;
        let folder = sidecar.folder_or_new(self.folder)?;
        folder.make_private().map_err(StoreError::write("close to others", &folder.path("")))?;
        Ok(Remotes { _lock: lock, folder })
    }

    /// A text that is kept; `None` where there is none.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or is not UTF-8.
    pub fn read(&self, name: &str) -> Result<Option<String>, StoreError> {
        let Some(folder) = self.look()? else { return Ok(None) };
        let Some(bytes) = folder.read_bytes(name)? else { return Ok(None) };
        String::from_utf8(bytes).map(Some).map_err(|error| {
            let source = std::io::Error::new(std::io::ErrorKind::InvalidData, error);
            StoreError::Read { path: folder.path(name), source }
        })
    }

    /// The names of all texts that are kept.
    ///
    /// # Errors
    ///
    /// When the folder cannot be read.
    pub fn names(&self) -> Result<Vec<String>, StoreError> {
        let Some(folder) = self.look()? else { return Ok(Vec::new()) };
        let names = folder.names().map_err(StoreError::read(&folder.path("")))?;
        let names = names.into_iter().filter_map(|name| name.into_string().ok());
        Ok(names.filter(|name| !name.ends_with(TEMPORARY)).collect())
    }

    fn look(&self) -> Result<Option<Folder>, StoreError> {
        self.sidecar.open()?.map_or(Ok(None), |folder| folder.folder(self.folder))
    }
}

impl Remotes {
    /// Keeps a text under a name.
    ///
    /// # Errors
    ///
    /// When it cannot be written; then the name has what it had.
    pub fn keep(&self, name: &str, text: &str) -> Result<(), StoreError> {
        let temporary = format!("{name}{TEMPORARY}");
        let written = self.folder.create(&temporary).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        });
        let renamed = written.and_then(|()| self.folder.rename(&temporary, name));
        renamed.map_err(StoreError::write("write", &self.folder.path(name)))?;
        self.folder.sync()
    }

    /// Removes a text.
    ///
    /// # Errors
    ///
    /// When it is there and cannot be removed.
    pub fn remove(&self, name: &str) -> Result<(), StoreError> {
        unless_missing(self.folder.remove(name))
            .map_err(StoreError::write("remove", &self.folder.path(name)))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_kept_by_name_and_one_process_syncs_at_a_time() {
        let scratch = tempfile::tempdir().unwrap();
        let sidecar = Sidecar::of(&scratch.path().join("Memories.md"));
        let shelf = Shelf::remotes(&sidecar);
        assert_eq!(shelf.read("a.md").unwrap(), None);
        let remotes = shelf.lock(Duration::ZERO).unwrap();
        remotes.keep("a.md", "one").unwrap();
        remotes.keep("a.md", "two").unwrap();
        assert_eq!((shelf.read("a.md").unwrap().as_deref(), shelf.names().unwrap().len()), (Some("two"), 1));
        assert!(matches!(shelf.lock(Duration::ZERO), Err(StoreError::Locked { .. })));
        drop(remotes);
        let remotes = shelf.lock(Duration::ZERO).unwrap();
        remotes.remove("a.md").unwrap();
        remotes.remove("a.md").unwrap();
        assert_eq!(shelf.read("a.md").unwrap(), None);
    }
}
