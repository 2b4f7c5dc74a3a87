//! Entries and the files of a repository that they are anchored to.
//!
//! The files are asked through [`AnchoredFiles`], which a front end provides: nothing here reads one. What is said of
//! them stands in [`Memory::stale`]; a confirmed entry is anchored to its files as they are.

use std::collections::HashMap;
use std::fmt::Debug;

use memories_document::types::{Anchor, Memory, Scope};

/// A file as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileState {
    /// It has this blob.
    Blob(String),
    /// Nothing is there.
    Gone,
    /// It is not read: a link, a device, a huge file, or outside of the repository.
    NotRead,
}

/// The files of a repository.
pub trait AnchoredFiles: Debug + Send + Sync {
    /// The file at a path from the root.
    fn state(&self, path: &str) -> FileState;

    /// For each anchor what has changed since, in words: `src/x.rs changed 3 commits ago`.
    fn changes(&self, anchors: &[Anchor]) -> Vec<Option<String>>;
}

/// What is known of changes of files, each of which is looked at once.
#[derive(Debug, Default)]
pub struct KnownChanges(HashMap<Anchor, Option<String>>);

impl KnownChanges {
    /// Looks at the files of memories of folders that are not known yet; false where there are none.
    pub fn look<'m>(
        &mut self,
        files: &dyn AnchoredFiles,
        memories: impl Iterator<Item = (&'m Scope, &'m Memory)>,
    ) -> bool {
        let of_folders = memories.filter(|(scope, _)| matches!(scope, Scope::Folder(_)));
        let mut new: Vec<Anchor> = Vec::new();
        for anchor in of_folders.flat_map(|(_, memory)| memory.anchors()) {
            if !self.0.contains_key(&anchor) && !new.contains(&anchor) {
                new.push(anchor);
            }
        }
        let said = if new.is_empty() { Vec::new() } else { files.changes(&new) };
        let is_new = !new.is_empty();
        self.0.extend(new.into_iter().zip(said));
        is_new
    }

    /// Says of a memory which of its files are known to have changed.
    pub fn say(&self, scope: &Scope, memory: &mut Memory) {
        if !self.0.is_empty() && matches!(scope, Scope::Folder(_)) {
            // A merge may have left a file twice: an entry that was confirmed on one side is not stale.
            let is_fresh =
                |path: &str| memory.anchors().any(|one| one.path == path && self.0.get(&one) == Some(&None));
            let changed = memory.anchors().filter(|anchor| !is_fresh(&anchor.path));
            memory.stale = changed.filter_map(|anchor| self.0.get(&anchor)?.clone()).collect();
        }
    }
}

/// Anchors a memory of a folder to its files as they are. A file that is gone is no longer named, and what cannot be read
/// stays.
pub(crate) fn renew(files: Option<&dyn AnchoredFiles>, scope: &Scope, memory: &mut Memory) {
    let Some(files) = files.filter(|_| matches!(scope, Scope::Folder(_))) else { return };
    memory.provenance.tags.retain_mut(|tag| {
        let Some(anchor) = Anchor::of_tag(tag) else { return true };
        match files.state(&anchor.path) {
            FileState::Blob(blob) if !anchor.is_at(&blob) => *tag = Anchor { blob, ..anchor }.tag(),
            FileState::Gone => return false,
            FileState::Blob(_) | FileState::NotRead => {}
        }
        true
    });
}

/// Adds the anchors of another memory, where they name further files.
pub(crate) fn inherit(memory: &mut Memory, other: &Memory) {
    for anchor in other.anchors() {
        if !memory.anchors().any(|own| own.path == anchor.path) {
            memory.provenance.tags.push(anchor.tag());
        }
    }
}
