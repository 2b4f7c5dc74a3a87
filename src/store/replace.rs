//! Replaces a memory file by a new text, and keeps the old one.
//!
//! A path, the version of the file that was read there and the new text enter. The old file becomes `<name>.backup` and
//! a numbered backup. At each moment, also after a kill or a power cut, the path leads to the whole old
//! or the whole new text. Mode and owner are kept. The caller holds the lock.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use super::atomic_write::{PendingFile, RemovedOnDrop, sync_folder_of, temporary_path};
use super::backups;
use super::error::StoreError;
use super::file_version::FileVersion;
use super::path::folder_of;

/// Result of an attempt to replace a file.
pub(super) enum Outcome {
    /// The new text is on disk. The warnings name backups that could not be kept.
    Replaced(Vec<StoreError>),
    /// An editor has changed the file since it was read; nothing was written.
    Overtaken,
}

/// Replaces the file, in this order: temporary file, sync, backups, rename, sync of the folder.
pub(super) fn replace(
    path: &Path,
    numbered_backups: &Path,
    old: &FileVersion,
    text: &str,
) -> Result<Outcome, StoreError> {
    let [new, spare] = temporary_paths(path, std::process::id());
    let new = PendingFile::write(new, path, old.metadata(), text.as_bytes())?;
    let mut warnings = Vec::new();
    if let Some(metadata) = old.metadata() {
        // A backup made before this check would be of the editor's text, not of what we read.
        if !old.is_current()? {
            return Ok(Outcome::Overtaken);
        }
        if let Err(warning) = backups::keep(numbered_backups, path, metadata) {
            warnings.push(warning);
        }
        back_up(path, spare)?;
    }
    if !old.is_current()? {
        return Ok(Outcome::Overtaken);
    }
    new.replace()?;
    sync_folder_of(path)?;
    Ok(Outcome::Replaced(warnings))
}

/// Removes temporary files that a killed writer left beside the file: those of the last holder of the
/// lock, or of any process where the lock names no holder (it is new, or damaged).
pub(super) fn sweep(path: &Path, last_holder: Option<u32>) {
    if let Some(process) = last_holder {
        for leftover in temporary_paths(path, process) {
            let _ = fs::remove_file(leftover);
        }
        return;
    }
    for leftover in fs::read_dir(folder_of(path)).into_iter().flatten().flatten() {
        let process = leftover.file_name().to_str().and_then(process_in_name);
        if process.is_some_and(|process| temporary_paths(path, process).contains(&leftover.path())) {
            let _ = fs::remove_file(leftover.path());
        }
    }
}

/// The process id in a name such as `.Memories.md.123.new`.
fn process_in_name(name: &str) -> Option<u32> {
    name.rsplit('.').nth(1)?.parse().ok()
}

/// The path of the state before the last write: `<name>.backup`.
pub(super) fn backup_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".backup");
    path.with_file_name(name)
}

/// The names that the process with this id uses beside the file: for the new text and for the backup.
fn temporary_paths(path: &Path, process: u32) -> [PathBuf; 2] {
    ["new", "old"].map(|role| temporary_path(path, process, role))
}

/// Keeps the old text by a second name of its inode: that needs no copy and no sync, and cannot be torn.
fn back_up(path: &Path, spare: PathBuf) -> Result<(), StoreError> {
    let error = |source| StoreError::Write { action: "back up", path: path.to_owned(), source };
    let _ = fs::remove_file(&spare);
    let spare = RemovedOnDrop { path: spare };
    if fs::hard_link(path, &spare.path).is_err() {
        // No links here (or not to this file): a copy, which needs its own sync.
        fs::copy(path, &spare.path).map_err(error)?;
        // Linux syncs through any handle, Windows only through one that may write.
        let copy = OpenOptions::new().write(true).open(&spare.path).or_else(|_| File::open(&spare.path));
        copy.and_then(|copy| copy.sync_all()).map_err(error)?;
    }
    fs::rename(&spare.path, backup_path(path)).map_err(error)
    // The drop of `spare` matters here: a rename between two names of one inode does nothing and
    // leaves both, as when a writer was killed between backup and replacement.
}
