//! A text that a person edits in a file of its own, in the sidecar folder.
//!
//! The text enters, and the person's edited text leaves. The file is removed with the value, unless it is kept: then
//! the person has it still. A kill leaves it there, too. Later edits remove what was kept and is stored by then, and
//! the oldest of many.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crate::error::StoreError;
use crate::file_version::FileVersion;
use crate::folder::Folder;
use crate::platform;
use memories_document::scan::BYTE_ORDER_MARK;

/// Number of copies that are kept.
const KEPT: usize = 10;

/// A file for a person to edit.
pub struct WorkingCopy {
    folder: Arc<Folder>,
    name: String,
    path: PathBuf,
    is_kept: bool,
}

impl WorkingCopy {
    /// Writes a text to a file of that folder.
    pub(super) fn new(folder: Arc<Folder>, text: &str) -> Result<WorkingCopy, StoreError> {
        // A copy of an earlier edit that was kept stays.
        let name = folder.free_name(|number| format!("edit.{}.{number}.md", std::process::id()));
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

/// Removes the copies of ended processes that hold no line which the memory file does not have, and the oldest of many.
/// Returns the others, the one that was changed last first.
pub(super) fn tidy(folder: &Folder, memories: &str) -> Vec<PathBuf> {
    // A copy has no byte order mark.
    let lines: HashSet<&str> = memories.trim_start_matches(BYTE_ORDER_MARK).lines().collect();
    let is_stored = |text: &str| text.lines().all(|line| line.is_empty() || lines.contains(line));
    let mut kept: Vec<(Reverse<SystemTime>, String)> = Vec::new();
    for name in folder.names().unwrap_or_default() {
        let Some(name) = name.to_str().filter(|name| is_left(name)) else { continue };
        let version = folder.read(name).and_then(|file| FileVersion::of(folder.path(name), file));
        let Ok(version) = version else { continue };
        match version.read() {
            Ok(Some(text)) if is_stored(&text) => drop(folder.remove(name)),
            // Bytes that are not UTF-8 may be a person's work: the copy is kept, too.
            _ => {
                let modified = version.metadata().and_then(|metadata| metadata.modified().ok());
                kept.push((Reverse(modified.unwrap_or(SystemTime::UNIX_EPOCH)), name.to_owned()));
            }
        }
    }
    kept.sort();
    for (_, name) in kept.drain(KEPT.min(kept.len())..) {
        // One that cannot be removed now can be the next time.
        let _ = folder.remove(&name);
    }
    kept.into_iter().map(|(_, name)| folder.path(name)).collect()
}

/// True for the name of a copy whose process has ended.
fn is_left(name: &str) -> bool {
    let parts: Vec<&str> = name.split('.').collect();
    let ["edit", process, number, "md"] = parts[..] else { return false };
    let (Ok(process), Ok(_)) = (process.parse(), number.parse::<u32>()) else { return false };
    !platform::is_running(process)
}

impl Drop for WorkingCopy {
    fn drop(&mut self) {
        if !self.is_kept {
            let _ = self.folder.remove(&self.name);
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use super::*;
    use crate::folder::Hosts;

    #[test]
    fn copies_of_running_processes_and_other_files_are_left_alone() {
        let path = tempfile::tempdir().unwrap();
        let folder = Folder::make(&path.path().join("sidecar"), Hosts::default()).unwrap();
        let own = format!("edit.{}.1.md", std::process::id());
        // No process has a number of this size.
        let names =
            [&own, "edit.999999999.1.md", "edit.999999998.1.md", "edit.x.1.md", "edit.999999999.1.md.swp"];
        for name in names {
            fs::write(folder.path(name), "one\n\ntwo\n").unwrap();
        }
        fs::write(folder.path(names[2]), "one\nthree\n").unwrap();
        assert_eq!(tidy(&folder, "# Title\none\ntwo\n"), [folder.path(names[2])]);
        let left: Vec<bool> = names.iter().map(|name| folder.path(name).exists()).collect();
        assert_eq!(left, [true, false, true, true, true]);
    }
}
