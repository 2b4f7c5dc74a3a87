//! A memory file and its session as they were read, and whether they still are.

use std::path::PathBuf;

use super::error::StoreError;
use super::snapshot::Snapshot;

/// What was read of a memory file and of the memories that end with its episode. The texts are empty
/// where there is no file. The files stay open, so that a later one is never taken for them.
#[derive(Default)]
pub struct Reading {
    /// The text of the memory file.
    pub file: String,
    /// The text of the session.
    pub session: String,
    snapshots: Vec<(PathBuf, Snapshot)>,
}

impl Reading {
    pub(super) fn take(file: PathBuf, session: PathBuf) -> Result<Reading, StoreError> {
        let (file_text, file_snapshot) = Snapshot::take(&file)?;
        let (session_text, session_snapshot) = Snapshot::take(&session)?;
        Ok(Reading {
            file: file_text.unwrap_or_default(),
            session: session_text.unwrap_or_default(),
            snapshots: vec![(file, file_snapshot), (session, session_snapshot)],
        })
    }

    /// Whether the paths still lead to the files as they were read: same inode, size and time.
    ///
    /// # Errors
    ///
    /// Where that cannot be seen.
    pub fn is_current(&self) -> Result<bool, StoreError> {
        for (path, snapshot) in &self.snapshots {
            if !snapshot.is_current(path)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
