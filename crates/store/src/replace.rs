//! Replaces a memory file by a new text, and keeps the old one.
//!
//! A path, the version of the file that was read there and the new text enter. The old file becomes a numbered backup;
//! where it cannot be kept, it is not replaced. At each moment, also after a kill or a power cut, the path leads to the whole old
//! or the whole new text. Mode, owner, access list and attributes are kept. The caller holds the lock.

use std::fs;
use std::path::Path;

use crate::atomic_write::{PendingFile, temporary_path};
use crate::backups::{self, Outweighing};
use crate::error::StoreError;
use crate::file_version::FileVersion;
use crate::folder::Folder;
use crate::lock::{Lock, Signature, Written};
use crate::note::{self, Addition};
use crate::occasion::Occasion;
use crate::path::folder_of;
use crate::platform;
use crate::swap::{self, Placed};

/// The role of the temporary file, in its name.
const NEW: &str = "new";

/// A new text that is in place, on disk.
pub(super) struct Replaced {
    /// Attributes that could not be kept.
    pub(super) warnings: Vec<StoreError>,
    /// The largest state that outweighs the text.
    pub(super) outweighing: Option<Outweighing>,
}

/// Replaces the file for an occasion, and `additions` are to follow, in this order: temporary file, sync, sync of the lock
/// with its note, backup, exchange, sync of the folder. `None` where an editor has changed the file since it was read: then
/// nothing was written.
pub(super) fn replace(
    path: &Path,
    sidecar: &Folder,
    lock: &mut Lock,
    old: &FileVersion,
    text: &str,
    additions: &[Addition],
    occasion: Option<Occasion>,
) -> Result<Option<Replaced>, StoreError> {
    let new = temporary_path(path, std::process::id(), NEW);
    let mut new = PendingFile::write(new, path, old.model(), text.as_bytes())?;
    let inode = platform::inode(&new.metadata().map_err(StoreError::write("write", path))?);
    // From here on, the next writer can tell the new file from one that was swapped out.
    let size = text.len() as u64;
    let written = Written { inode, size };
    lock.sign(Some(written)).map_err(StoreError::write("lock", path))?;
    if !additions.is_empty() {
        let noted = lock.leave_note(&note::render(additions, Some(inode))).and_then(|()| lock.sync());
        noted.map_err(StoreError::write("note lines for", path))?;
    }
    let warnings = new.warnings();
    let outweighing;
    if let Some(metadata) = old.metadata() {
        // A backup made before this check would be of the editor's text, not of what we read.
        if !old.is_current()? {
            return Ok(None);
        }
        outweighing = backups::keep(sidecar, path, metadata, size, occasion)?;
    } else {
        backups::note_first(sidecar, occasion);
        outweighing = backups::largest_outweighing(sidecar, size).unwrap_or_default();
    }
    if !old.is_current()? {
        return Ok(None);
    }
    Ok(match swap::place(path, sidecar, old, new)? {
        Placed::Overtaken => None,
        Placed::InPlace => Some(Replaced { warnings, outweighing }),
    })
}

/// Removes temporary files that a killed writer left beside the file: those of the last holder of the
/// lock, or of any process where the lock names no holder (it is new, or damaged). A file of another program that the
/// last holder had swapped out gets its place back.
pub(super) fn sweep(path: &Path, sidecar: &Folder, last: Signature) {
    if let Some(process) = last.holder {
        swap::mend(path, sidecar, &temporary_path(path, process, NEW), last.written);
        return;
    }
    for leftover in fs::read_dir(folder_of(path)).into_iter().flatten().flatten() {
        let process = leftover.file_name().to_str().and_then(process_in_name);
        if process.is_some_and(|process| temporary_path(path, process, NEW) == leftover.path()) {
            let _ = fs::remove_file(leftover.path());
        }
    }
}

/// The process id in a name such as `.Memories.md.123.new`.
fn process_in_name(name: &str) -> Option<u32> {
    name.rsplit('.').nth(1)?.parse().ok()
}
