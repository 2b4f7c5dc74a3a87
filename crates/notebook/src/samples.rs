//! Files and memories for the tests of this crate.

use tempfile::TempDir;

use crate::add::{AddReport, Claim, store_memory};
use crate::authority::{Authority, Proof};
use crate::correction::Target;
use crate::files::Files;
use memories_document::Document;
use memories_document::types::{Author, Category, Memory, Scope};
use memories_store::Sidecar;

/// The place of the memories.
pub(super) const SCOPE: Scope = Scope::Location(5);

/// A model about a turn that proves nothing.
pub(super) const MODEL: Authority = Authority::Turn(Proof { died: false, scored: false, rose: false });

/// Files of a folder of their own, in which a model writes.
pub(super) fn files() -> (TempDir, Files) {
    let folder = tempfile::tempdir().unwrap();
    let [lasting, session] = [(); 2].map(|()| Document::parse(String::new()));
    let mut files =
        Files::new(lasting, session).with_sidecar(&Sidecar::of(&folder.path().join("Memories.md")));
    files.authorship.set_author(Author::Model);
    (folder, files)
}

pub(super) fn memory(category: &str, title: &str, text: &str) -> Memory {
    Memory::new(Category::new(category).unwrap(), title, text)
}

pub(super) fn store(files: &mut Files, memory: &Memory, authority: Authority) -> AddReport {
    store_memory(files, &SCOPE, "Bridge", memory, Claim::of(authority), &mut Vec::new()).unwrap()
}

/// Titles and texts of the live memories.
pub(super) fn live(files: &Files) -> Vec<String> {
    files.section(&SCOPE).live().map(|memory| format!("{}: {}", memory.title, memory.text)).collect()
}

pub(super) fn target(title: &str) -> Target {
    Target { scope: SCOPE, title: title.to_owned(), line: None }
}
