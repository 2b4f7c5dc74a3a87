//! A text that a person edits in a file of its own, in the sidecar folder.
//!
//! The text enters, and the person's edited text leaves. The file is removed with the value, unless it is kept: then
//! the person has it still. A kill leaves it there, too.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::file_version::FileVersion;
use crate::folder::Folder;

/// A file for a person to edit.
pub struct WorkingCopy {
    folder: Folder,
    name: String,
    path: PathBuf,
    is_kept: bool,
}

impl WorkingCopy {
    /// Writes a text to a file of that folder.
    pub(super) fn new(folder: Folder, text: &str) -> Result<WorkingCopy, StoreError> {
        let named = |number: u32| format!("edit.{}.{number}.md", std::process::id());
        // A copy of an earlier edit that was kept stays.
        let name = (1..).map(named).find(|name| matches!(folder.facts(name), Ok(None)));
        let name = name.expect("a folder has fewer files than there are numbers");
        let path = folder.path(&name);
        let copy = WorkingCopy { folder, name, path, is_kept: false };
        let written = copy.folder.create(&copy.name).and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(StoreError::write("write", &copy.path))?;
        Ok(copy)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The text as the person left it.
    ///
    /// # Errors
    ///
    /// When the file is gone, is not UTF-8 or cannot be read.
    pub fn read(&self) -> Result<String, StoreError> {
        let text = FileVersion::of(self.path.clone(), self.folder.read(&self.name)?)?.read()?;
        text.ok_or_else(|| StoreError::read(&self.path)(ErrorKind::NotFound.into()))
    }

    /// Leaves the file to the person, and says where it is.
    pub fn keep(mut self) -> PathBuf {
        self.is_kept = true;
        self.path.clone()
    }
}

impl Drop for WorkingCopy {
    fn drop(&mut self) {
        if !self.is_kept {
            let _ = self.folder.remove(&self.name);
        }
    }
}
