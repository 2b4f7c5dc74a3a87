//! Replaces a memory file by a new text, and keeps the old one.
//!
//! A path, the version of the file that was read there and the new text enter. The old file becomes `<name>.backup` and
//! a numbered backup. At each moment, also after a kill or a power cut, the path leads to the whole old
//! or the whole new text. Mode, owner, access list and attributes are kept. The caller holds the lock.

use std::fs;
use std::path::{Path, PathBuf};

use super::atomic_write::{PendingFile, temporary_path};
use super::backups::{self, Outweighing};
use super::error::StoreError;
use super::file_version::FileVersion;
use super::folder::Folder;
use super::lock::{Lock, Signature, Written};
use super::packed::Stamp;
use super::path::folder_of;
use super::swap::{self, Placed};

/// Result of an attempt to replace a file.
pub(super) enum Outcome {
    /// The new text is on disk.
    Replaced(Replaced),
    /// An editor has changed the file since it was read; nothing was written.
    Overtaken,
}

/// A new text that is in place.
pub(super) struct Replaced {
    /// Backups that could not be kept, and attributes.
    pub(super) warnings: Vec<StoreError>,
    /// The largest state that outweighs the text.
    pub(super) outweighing: Option<Outweighing>,
    /// A temporary file could not be removed.
    pub(super) is_left_over: bool,
}

/// Replaces the file, in this order: temporary file, sync, backups, exchange, sync of the folder. Large backups are
/// packed then.
pub(super) fn replace(
    path: &Path,
    sidecar: &Folder,
    lock: &mut Lock,
    old: &FileVersion,
    text: &str,
) -> Result<Outcome, StoreError> {
    let [new, spare] = temporary_paths(path, std::process::id());
    let mut new = PendingFile::write(new, path, old.model(), text.as_bytes())?;
    let new_file = Stamp::of(&new.metadata().map_err(StoreError::write("write", path))?);
    // From here on, the next writer can tell the new file from one that was swapped out.
    let size = text.len() as u64;
    let written = Written { inode: new_file.inode, size };
    lock.sign(Some(written)).map_err(StoreError::write("lock", path))?;
    let (mut warnings, mut kept, mut packs) = (new.warnings(), None, false);
    if let Some(metadata) = old.metadata() {
        // A backup made before this check would be of the editor's text, not of what we read.
        if !old.is_current()? {
            return Ok(Outcome::Overtaken);
        }
        match backups::keep(sidecar, path, metadata, size) {
            Err(error @ StoreError::NotOurs { .. }) => return Err(error),
            Err(warning) => warnings.push(warning),
            Ok(done) => kept = Some(done),
        }
        let is_on_disk = kept.as_ref().is_some_and(|kept| kept.is_linked);
        packs = is_on_disk && kept.as_ref().is_some_and(|kept| kept.is_large);
        if !packs {
            // One backup that is on disk is enough: this one need not wait for the disk then.
            back_up(path, &spare, old, !is_on_disk)?;
        }
    }
    if !old.is_current()? {
        return Ok(Outcome::Overtaken);
    }
    let placed = swap::place(path, sidecar, old, new)?;
    if placed == Placed::Overtaken {
        return Ok(Outcome::Overtaken);
    }
    if packs {
        pack(path, sidecar, (old, &spare), (text, new_file), &mut warnings);
    }
    let outweighing = match kept {
        Some(kept) => kept.outweighing,
        None => backups::largest_outweighing(sidecar, size).unwrap_or_default(),
    };
    let is_left_over = placed == Placed::WithLeftover;
    Ok(Outcome::Replaced(Replaced { warnings, outweighing, is_left_over }))
}

/// Packs the state that was replaced. Where that fails, or saves nothing, the state stays whole, and has a copy for
/// people.
fn pack(
    path: &Path,
    sidecar: &Folder,
    (old, spare): (&FileVersion, &Path),
    new: (&str, Stamp),
    warnings: &mut Vec<StoreError>,
) {
    let is_packed = backups::pack(sidecar, old, new, (&backup_path(path), spare)).unwrap_or_else(|warning| {
        warnings.push(warning);
        false
    });
    if !is_packed {
        warnings.extend(back_up(path, spare, old, false).err());
    }
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
fn back_up(path: &Path, spare: &Path, old: &FileVersion, sync: bool) -> Result<(), StoreError> {
    let copied = PendingFile::copy(spare.to_owned(), &backup_path(path), old, sync);
    let error = |source| StoreError::Write { action: "back up", path: path.to_owned(), source };
    copied.and_then(PendingFile::rename).map_err(error)
}
