//! A memory file and its session, opened for reading, and a check whether they have changed since.

use std::fs::File;
use std::path::PathBuf;

use super::error::StoreError;
use super::file_version::FileVersion;

/// A memory file and the memories that end with its episode. Both stay open, so that a later file is
/// never taken for one of them.
pub struct OpenFiles {
    file: (PathBuf, FileVersion),
    session: (PathBuf, FileVersion),
}

impl OpenFiles {
    pub(super) fn open(file: PathBuf, session: PathBuf) -> Result<OpenFiles, StoreError> {
        let open = |path: PathBuf| FileVersion::open(&path).map(|version| (path, version));
        Ok(OpenFiles { file: open(file)?, session: open(session)? })
    }

    /// The memory file; `None` where there is none.
    pub fn file(&self) -> Option<&File> {
        self.file.1.file()
    }

    /// The text of the memory file; empty where there is none.
    ///
    /// # Errors
    ///
    /// When it cannot be read or is no text.
    pub(crate) fn read_file(&self) -> Result<String, StoreError> {
        Ok(self.file.1.read(&self.file.0)?.unwrap_or_default())
    }

    /// The text of the session; empty where there is none.
    ///
    /// # Errors
    ///
    /// When it cannot be read or is no text.
    pub(crate) fn read_session(&self) -> Result<String, StoreError> {
        Ok(self.session.1.read(&self.session.0)?.unwrap_or_default())
    }

    /// True if the paths still lead to the files as they were opened: same inode, size and time.
    ///
    /// # Errors
    ///
    /// When that cannot be determined.
    pub(crate) fn is_current(&self) -> Result<bool, StoreError> {
        let [file, session] = [&self.file, &self.session].map(|(path, opened)| opened.is_current(path));
        Ok(file? && session?)
    }
}
