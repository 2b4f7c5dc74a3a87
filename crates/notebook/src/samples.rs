//! Files and memories for the tests of this crate.

use tempfile::TempDir;

use crate::files::Files;
use memories_document::Document;
use memories_document::types::{Author, Category, Memory};
use memories_store::Sidecar;

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
