//! A remote copy in a folder that several machines see: a memory file, written as every other one.
//!
//! Its state bears the ids of the last pushes, and its history serves `restore`. Locks have to work in that folder.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::error::SyncError;
use crate::remote::{Copy, Fetched, Put, Remote, Version};
use memories_document::types::Outcome;
use memories_notebook::{Clock, Notebook};
use memories_store::Store;

/// Time limit on waiting for other writers of the copy.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// A memory file as the remote copy of others.
pub(super) struct SharedFile {
    notebook: Notebook,
}

/// Why the copy was not written.
enum Refusal {
    Changed,
    Failed(SyncError),
}

impl<E: Into<SyncError>> From<E> for Refusal {
    fn from(error: E) -> Refusal {
        Refusal::Failed(error.into())
    }
}

impl SharedFile {
    pub(super) fn open(path: &Path, clock: Clock) -> Result<SharedFile, SyncError> {
        let store = Store::open(path, LOCK_TIMEOUT)?;
        Ok(SharedFile { notebook: Notebook::new(store, clock) })
    }
}

impl fmt::Display for SharedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "file://{}", self.notebook.store().path().display())
    }
}

impl Remote for SharedFile {
    fn fetch(&self, known: Option<&Version>) -> Result<Fetched, SyncError> {
        let store = self.notebook.store();
        store.complete_last_change()?;
        // Read the pushes before the text: pushes that are read later could name one whose text was not read.
        let pushes = self.notebook.state().pushes;
        let Some(text) = store.read()? else { return Ok(Fetched::Missing) };
        let version = version_of(&text);
        if known == Some(&version) {
            return Ok(Fetched::Unchanged);
        }
        Ok(Fetched::Copy(Copy { bytes: text.into_bytes(), version, pushes }))
    }

    fn put(&self, text: &str, old: Option<&Version>, pushes: &[String]) -> Result<Put, SyncError> {
        let written = self.notebook.edit::<_, Refusal>("sync", |draft| {
            let present = if draft.is_new { None } else { Some(version_of(&draft.text()?)) };
            if present.as_ref() != old {
                return Err(Refusal::Changed);
            }
            let mut state = draft.state()?;
            state.pushes = pushes.to_vec();
            draft.new_state = Some(state);
            draft.rewrite(Outcome::Synced, text.to_owned(), text.lines().count());
            Ok(())
        });
        match written {
            Ok(_) => Ok(Put::Done(version_of(text))),
            Err(Refusal::Changed) => Ok(Put::Lost),
            Err(Refusal::Failed(error)) => Err(error),
        }
    }

    /// Writers of a memory file wait for each other.
    fn prove(&self, _: &str) -> Result<u64, SyncError> {
        Ok(0)
    }
}

fn version_of(text: &str) -> Version {
    let hash: String = Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    Version { e_tag: Some(hash), version: None }
}
