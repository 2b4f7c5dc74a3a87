//! Reads a memory file that no other program is in the middle of saving.
//!
//! A path enters, and the size of the text that is known to have been there; the text leaves, with its version.
//! Editors and git save by removing the file, or by cutting it to nothing, before they write it. A file that has just
//! become shorter or has just gone is therefore read again until it rests, for a bounded time. Any other is read at
//! once. A file that git tracks counts as gone also where this program has never seen it.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::error::StoreError;
use crate::file_version::FileVersion;
use crate::git::Index;
use crate::path::folder_of;

/// Time without a change after which a shorter or missing file is taken as it is.
const REST: Duration = Duration::from_millis(200);

/// Longest time to wait for that.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// Time between two looks.
const PAUSE: Duration = Duration::from_millis(2);

/// Reads the whole file; no text where there is no file.
pub(super) fn take(path: &Path, mut last_size: u64) -> Result<(Option<String>, FileVersion), StoreError> {
    let start = Instant::now();
    loop {
        let version = FileVersion::open(path)?;
        if last_size == 0 && version.metadata().is_none() && is_tracked(path) {
            // The former size is not known. Any size above 0 makes a missing file count as one that shrank.
            last_size = 1;
        }
        if start.elapsed() > MAX_WAIT || !is_being_saved(path, &version, last_size) {
            let text = version.read();
            // The file was truncated while it was read.
            let is_cut = matches!(&text, Ok(Some(text)) if (text.len() as u64) < version.size());
            if !is_cut || start.elapsed() > MAX_WAIT {
                return Ok((text?, version.replaceable()));
            }
        }
        thread::sleep(PAUSE);
    }
}

/// True if git tracks the file.
fn is_tracked(path: &Path) -> bool {
    Index::around(path).is_some_and(|index| index.lists_it())
}

/// True if the file is shorter than it was, or missing, and that since a moment ago.
fn is_being_saved(path: &Path, version: &FileVersion, last_size: u64) -> bool {
    if version.size() >= last_size {
        return false;
    }
    let changed = match version.metadata() {
        Some(metadata) => metadata.modified(),
        // The removal of a file changes its folder.
        None => fs::metadata(folder_of(path)).and_then(|folder| folder.modified()),
    };
    // A change in the future, by another clock, counts as recent.
    changed.is_ok_and(|changed| changed.elapsed().unwrap_or_default() < REST)
}
