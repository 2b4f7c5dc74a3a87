//! A text in a file of its own, in a folder that only its owner can enter, for as long as a command runs.

use std::path::{Path, PathBuf};

use crate::atomic_write::{Existing, write_file};
use crate::error::StoreError;
use crate::platform;

/// A file that goes with the value, with its folder and what else is in that.
#[derive(Debug)]
pub struct ScratchFile {
    folder: PathBuf,
    path: PathBuf,
}

impl ScratchFile {
    /// Writes a text to a file of that name, in a new folder below `parent`.
    ///
    /// # Errors
    ///
    /// When folder or file cannot be made.
    pub fn new(parent: &Path, name: &Path, text: &str) -> Result<ScratchFile, StoreError> {
        let named = |number: u32| parent.join(format!("memories-{}-{number}", std::process::id()));
        // A folder that is there already may be anybody's.
        let made =
            (1..u32::MAX).map(named).find_map(|folder| match platform::private_folders().create(&folder) {
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => None,
                result => Some(result.map(|()| folder)),
            });
        let folder = made.expect("a folder has fewer entries than there are numbers");
        let folder = folder.map_err(StoreError::write("make a folder in", parent))?;
        let scratch = ScratchFile { path: folder.join(name), folder };
        write_file(&scratch.path, text.as_bytes(), Existing::Replace)?;
        Ok(scratch)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ScratchFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_goes_with_the_value() {
        let parent = tempfile::tempdir().unwrap();
        let scratch = ScratchFile::new(parent.path(), Path::new("Memories.md"), "text").unwrap();
        let other = ScratchFile::new(parent.path(), Path::new("Memories.md"), "other").unwrap();
        assert_ne!(scratch.path(), other.path());
        assert_eq!(std::fs::read_to_string(scratch.path()).unwrap(), "text");
        drop((scratch, other));
        assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 0);
    }
}
