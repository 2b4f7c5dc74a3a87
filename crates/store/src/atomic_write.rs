//! Writes a file so that its path leads to the whole old or the whole new content, never to a part.
//!
//! A path and bytes enter. The bytes go to a temporary file in the same folder; a rename or a link then
//! puts that file in place. Locks and backups are left to the caller.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::attributes::{self, Lost, Model};
use crate::error::{StoreError, unless_missing};
use crate::path::folder_of;
use crate::platform;

/// How to treat a file that is already there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// It stays, and nothing is written.
    Keep,
    /// It is replaced, and the new file gets its mode and owner.
    Replace,
}

/// Writes a file that is not a memory file: settings, an export, a page of the manual. Returns `false`
/// where a file was there and has been kept. A symbolic link counts as a file: pass its real path where
/// it is to be followed.
///
/// # Errors
///
/// When the file cannot be written; then the old one is still there.
pub fn write_file(path: &Path, bytes: &[u8], existing: Existing) -> Result<bool, StoreError> {
    let old = unless_missing(fs::metadata(path)).map_err(StoreError::read(path))?;
    if existing == Existing::Keep && old.is_some() {
        return Ok(false);
    }
    let temporary = temporary_path(path, std::process::id(), "new");
    // Where the file cannot be read, it is not known who else may.
    let readable = old.as_ref().filter(|old| old.is_file()).and_then(|_| File::open(path).ok());
    let model = old.as_ref().map(|metadata| Model { metadata, file: readable.as_ref() });
    let pending = PendingFile::write(temporary, path, model, bytes)?;
    // Windows does not replace a file that is open.
    drop(readable);
    let placed = match existing {
        Existing::Keep => pending.create()?,
        Existing::Replace => pending.replace().map(|()| true)?,
    };
    if placed {
        sync_folder_of(path)?;
    }
    Ok(placed)
}

/// Writes a program in the shell's language, which everybody who may read it may run.
///
/// # Errors
///
/// As [`write_file`].
pub fn write_script(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    write_file(path, bytes, Existing::Replace)?;
    platform::make_executable(path).map_err(StoreError::write("make executable", path))
}

/// Creates a folder with those above it, unless it is there.
///
/// # Errors
///
/// When it cannot be created.
pub fn create_folder(path: &Path) -> Result<(), StoreError> {
    fs::create_dir_all(path).map_err(StoreError::write("create", path))
}

/// Makes the new name of a file survive a power cut.
pub(super) fn sync_folder_of(path: &Path) -> Result<(), StoreError> {
    let unconfirmed = |source| StoreError::NotConfirmed { path: path.to_owned(), source };
    platform::sync_folder(folder_of(path)).map_err(unconfirmed)
}

/// The temporary name beside a file that the process with this id uses: `.Memories.md.123.new`.
pub(super) fn temporary_path(path: &Path, process: u32, role: &str) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{process}.{role}"));
    path.with_file_name(name)
}

/// A file that is complete under its temporary name. Dropped before it is put in place, it is removed.
pub(super) struct PendingFile {
    file: File,
    temporary: RemovedOnDrop,
    target: PathBuf,
    lost: Vec<Lost>,
}

impl PendingFile {
    /// Writes and syncs a file that will stand at `target`, in the place of `old`. A failed sync is final: a second
    /// sync would succeed although the data are lost.
    pub(super) fn write(
        temporary: PathBuf,
        target: &Path,
        old: Option<Model<'_>>,
        bytes: &[u8],
    ) -> Result<PendingFile, StoreError> {
        let written = || {
            if old.is_some() {
                // A rename needs no right to write the file itself; the owner's protection is respected here.
                unless_missing(OpenOptions::new().write(true).open(target))?;
            }
            let mut pending = PendingFile::create_new(temporary, target, old)?;
            pending.file.write_all(bytes)?;
            pending.file.sync_all()?;
            Ok(pending)
        };
        written().map_err(StoreError::write("write", target))
    }

    /// Creates the temporary file with mode, owner and attributes of an old one. No other process uses its name: what
    /// is there was left by a killed process of the same id.
    fn create_new(path: PathBuf, target: &Path, old: Option<Model<'_>>) -> io::Result<PendingFile> {
        let file = match platform::create_exclusively(&path, old.is_some()) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                fs::remove_file(&path)?;
                platform::create_exclusively(&path, old.is_some())?
            }
            created => created?,
        };
        let (temporary, target) = (RemovedOnDrop { path }, target.to_owned());
        let mut pending = PendingFile { file, temporary, target, lost: Vec::new() };
        if let Some(old) = old {
            pending.lost = attributes::pass_all_on(old, &pending.file);
        }
        Ok(pending)
    }

    /// Warnings about attributes of the old file that this one does not have.
    pub(super) fn warnings(&mut self) -> Vec<StoreError> {
        let path = &self.target;
        let lost = std::mem::take(&mut self.lost).into_iter();
        lost.map(|Lost { name, source }| StoreError::LostAttribute { path: path.clone(), name, source })
            .collect()
    }

    /// Puts the file in place, whatever is there.
    pub(super) fn replace(self) -> Result<(), StoreError> {
        let target = self.target.clone();
        self.rename().map_err(StoreError::write("replace", &target))
    }

    /// The same, for callers that have errors of their own.
    pub(super) fn rename(self) -> io::Result<()> {
        drop(self.file);
        platform::rename(&self.temporary.path, &self.target)?;
        self.temporary.leave();
        Ok(())
    }

    /// The path under which the file is complete.
    pub(super) fn path(&self) -> &Path {
        &self.temporary.path
    }

    /// The metadata of the complete file.
    pub(super) fn metadata(&self) -> io::Result<Metadata> {
        self.file.metadata()
    }

    /// Leaves to the caller what is under the temporary name. While the complete file is open, no other gets its inode.
    pub(super) fn leave(self) -> File {
        self.temporary.leave();
        self.file
    }

    /// Puts the file in place unless something is there: then returns `false`. A link, unlike a rename,
    /// never replaces a file that another program has just created.
    pub(super) fn create(self) -> Result<bool, StoreError> {
        drop(self.file);
        match fs::hard_link(&self.temporary.path, &self.target) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(_) if fs::symlink_metadata(&self.target).is_ok() => Ok(false),
            // The file system has no links.
            Err(_) => fs::rename(&self.temporary.path, &self.target)
                .map(|()| true)
                .map_err(StoreError::write("write", &self.target)),
        }
    }
}

/// Removes what is at the path when it is dropped.
pub(super) struct RemovedOnDrop {
    pub(super) path: PathBuf,
}

impl RemovedOnDrop {
    /// Leaves what is there.
    fn leave(mut self) {
        self.path = PathBuf::new();
    }
}

impl Drop for RemovedOnDrop {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Copies a file from where it stands. The standard library gives up at an interruption.
pub(super) fn copy_rest(mut from: &File, mut to: &File) -> io::Result<()> {
    loop {
        match io::copy(&mut from, &mut to) {
            // Both files stand behind what was copied.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            copied => return copied.map(|_| ()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn a_file_that_is_there_stays_unless_it_is_to_be_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memories.db");
        assert!(write_file(&path, b"one\0", Existing::Keep).unwrap());
        assert!(!write_file(&path, b"two", Existing::Keep).unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"one\0");
        assert!(write_file(&path, b"two", Existing::Replace).unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(names(folder.path()), 1);
    }

    #[test]
    fn what_came_meanwhile_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memories.db");
        let pending = PendingFile::write(temporary_path(&path, 1, "new"), &path, None, b"new").unwrap();
        fs::write(&path, "came meanwhile").unwrap();
        assert!(!pending.create().unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"came meanwhile");
        assert_eq!(names(folder.path()), 1);
    }

    #[test]
    fn where_nothing_can_be_written_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memories.1");
        fs::create_dir(&path).unwrap();
        assert!(write_file(&path, b"new", Existing::Replace).is_err());
        assert_eq!(names(folder.path()), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_followed_and_a_folder_is_refused() {
        use crate::path::resolve;
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("real.db"), folder.path().join("link.db"));
        std::os::unix::fs::symlink("real.db", &link).unwrap();
        assert!(!write_file(&link, b"one", Existing::Keep).unwrap());
        assert!(write_file(&resolve(&link).unwrap(), b"one", Existing::Keep).unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"one");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(resolve(folder.path()).is_err());
        assert!(write_file(folder.path(), b"one", Existing::Replace).is_err());
        assert!(write_file(&folder.path().join("no/x.db"), b"one", Existing::Replace).is_err());
    }
}
