//! A remote copy in a folder that several machines see: a memory file, written as every other one.
//!
//! Its sidecar folder has the states of the machines, and its history serves `restore`. Locks have to work in that folder.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::time::Duration;

use ring::digest::{SHA256, digest};

use crate::error::SyncError;
use crate::remote::{Fetched, Item, Put, Remote, Version, file_of, machine_of};
use memories_document::types::Outcome;
use memories_notebook::{Clock, Notebook};
use memories_store::Store;

/// Time limit on waiting for other writers of the copy.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// A memory file as the remote copy of others.
pub(super) struct SharedFile {
    notebook: Notebook,
}

impl SharedFile {
    pub(super) fn open(path: &Path, clock: Clock) -> Result<SharedFile, SyncError> {
        let store = Store::open(path, LOCK_TIMEOUT)?;
        Ok(SharedFile { notebook: Notebook::new(store, clock) })
    }

    fn put_text(&self, text: &str, old: Option<&Version>) -> Result<Put, SyncError> {
        let written = self.notebook.edit("sync", |draft| {
            let present = if draft.is_new { None } else { Some(version_of(&draft.text()?)) };
            let is_known = present.as_ref() == old;
            if is_known {
                draft.rewrite(Outcome::Synced, text.to_owned(), text.lines().count());
            }
            Ok::<_, SyncError>(is_known)
        })?;
        Ok(if written.value { Put::Done(version_of(text)) } else { Put::Lost })
    }
}

impl fmt::Display for SharedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "file://{}", self.notebook.store().path().display())
    }
}

impl Remote for SharedFile {
    fn fetch(&self, item: Item<'_>, known: Option<&Version>) -> Result<Fetched, SyncError> {
        let store = self.notebook.store();
        let text = match item {
            Item::Text => {
                store.complete_last_change()?;
                store.read()?
            }
            Item::Machine(name) => store.machines().read(&file_of(name))?,
        };
        let Some(text) = text else { return Ok(Fetched::Missing) };
        let version = version_of(&text);
        Ok(if known == Some(&version) {
            Fetched::Unchanged
        } else {
            Fetched::Copy(text.into_bytes(), version)
        })
    }

    fn put(&self, item: Item<'_>, text: &str, old: Option<&Version>) -> Result<Put, SyncError> {
        let Item::Machine(name) = item else { return self.put_text(text, old) };
        let shelf = self.notebook.store().machines();
        let machines = shelf.lock(LOCK_TIMEOUT)?;
        let present = shelf.read(&file_of(name))?.map(|text| version_of(&text));
        if present.as_ref() != old {
            return Ok(Put::Lost);
        }
        machines.keep(&file_of(name), text)?;
        Ok(Put::Done(version_of(text)))
    }

    fn machines(&self) -> Result<BTreeMap<String, Version>, SyncError> {
        let store = self.notebook.store();
        let mut machines = BTreeMap::new();
        for file in store.machines().names()? {
            if let (Some(name), Some(text)) = (machine_of(&file), store.machines().read(&file)?) {
                machines.insert(name.to_owned(), version_of(&text));
            }
        }
        Ok(machines)
    }
}

fn version_of(text: &str) -> Version {
    let hash: String =
        digest(&SHA256, text.as_bytes()).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    Version { e_tag: Some(hash), version: None }
}
