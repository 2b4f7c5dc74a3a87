//! Replaces a memory file by a new text, and keeps the old one.
//!
//! A path, the version of the file that was read there and the new text enter. The old file becomes `<name>.backup` and
//! a numbered backup. At each moment, also after a kill or a power cut, the path leads to the whole old
//! or the whole new text. Mode, owner, access list and attributes are kept. The caller holds the lock.

use std::fs;
use std::path::{Path, PathBuf};

use super::atomic_write::{PendingFile, temporary_path};
use super::backups;
use super::error::StoreError;
use super::file_version::FileVersion;
use super::folder::Folder;
use super::lock::{Lock, Signature, Written};
use super::path::folder_of;
use super::platform;
use super::swap;

/// Result of an attempt to replace a file.
pub(super) enum Outcome {
    /// The new text is on disk. The warnings name backups that could not be kept.
    Replaced(Vec<StoreError>),
    /// An editor has changed the file since it was read; nothing was written.
    Overtaken,
}

/// Replaces the file, in this order: temporary file, sync, backups, exchange, sync of the folder.
pub(super) fn replace(
    path: &Path,
    sidecar: &Folder,
    lock: &mut Lock,
    old: &FileVersion,
    text: &str,
) -> Result<Outcome, StoreError> {
    let [new, spare] = temporary_paths(path, std::process::id());
    let mut new = PendingFile::write(new, path, old.model(), text.as_bytes())?;
    let inode = new.metadata().map_or(0, |metadata| platform::inode(&metadata));
    // From here on, the next writer can tell the new file from one that was swapped out.
    lock.sign(Some(Written { inode, size: text.len() as u64 })).map_err(StoreError::write("lock", path))?;
    let mut warnings = new.warnings();
    if let Some(metadata) = old.metadata() {
        // A backup made before this check would be of the editor's text, not of what we read.
        if !old.is_current()? {
            return Ok(Outcome::Overtaken);
        }
        let is_on_disk = match backups::keep(sidecar, path, metadata, text.len() as u64) {
            Ok(is_linked) => is_linked,
            Err(error @ StoreError::NotOurs { .. }) => return Err(error),
            Err(warning) => {
                warnings.push(warning);
                false
            }
        };
        // One backup that is on disk is enough: this one need not wait for the disk then.
        back_up(path, spare, old, !is_on_disk)?;
    }
    if !old.is_current()? {
        return Ok(Outcome::Overtaken);
    }
    Ok(match swap::place(path, sidecar, old, new)? {
        true => Outcome::Replaced(warnings),
        false => Outcome::Overtaken,
    })
}

/// Removes temporary files that a killed writer left beside the file: those of the last holder of the
/// lock, or of any process where the lock names no holder (it is new, or damaged). A file of another program that the
/// last holder had swapped out gets its place back.
pub(super) fn sweep(path: &Path, sidecar: &Folder, last: Signature) {
    if let Some(process) = last.holder {
        let [new, spare] = temporary_paths(path, process);
        swap::mend(path, sidecar, &new, last.written);
        let _ = fs::remove_file(spare);
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

/// Copies the old text to the backup that people look at. It has an inode of its own: who edits it in place changes
/// no numbered backup.
fn back_up(path: &Path, spare: PathBuf, old: &FileVersion, sync: bool) -> Result<(), StoreError> {
    let copied = PendingFile::copy(spare, &backup_path(path), old, sync);
    let error = |source| StoreError::Write { action: "back up", path: path.to_owned(), source };
    copied.and_then(PendingFile::rename).map_err(error)
}
