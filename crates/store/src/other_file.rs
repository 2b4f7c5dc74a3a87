//! Configuration files of other programs, which may save them at any time.
//!
//! A path enters and the text as it was read; a new text goes in its place only if nobody saved the file meanwhile.
//! At each moment the path leads to a whole file. Mode, owner and attributes are kept.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::atomic_write::{PendingFile, create_folder, sync_folder_of, temporary_path};
use crate::error::{StoreError, unless_missing};
use crate::file_version::FileVersion;
use crate::path::folder_of;
use crate::platform;
use crate::private_file;

/// Largest file in bytes: 64 MiB.
const MAX_SIZE: u64 = 64 << 20;

/// Ending of the copy of the state before.
const BACKUP: &str = ".memories-backup";

/// A file as it was read.
pub struct OtherFile {
    path: PathBuf,
    version: FileVersion,
    text: Option<String>,
}

impl OtherFile {
    /// Reads the file at a path without links.
    ///
    /// # Errors
    ///
    /// When it is no regular file, too large, not UTF-8, or cannot be read.
    pub fn open(path: &Path) -> Result<OtherFile, StoreError> {
        if let Some(metadata) = unless_missing(fs::symlink_metadata(path)).map_err(StoreError::read(path))? {
            if !metadata.is_file() {
                let what = platform::describe_special(&metadata);
                return Err(StoreError::NotAFile { path: path.to_owned(), what });
            }
            if metadata.len() > MAX_SIZE {
                let source = io::Error::new(io::ErrorKind::FileTooLarge, "it is larger than 64 MiB");
                return Err(StoreError::Read { path: path.to_owned(), source });
            }
        }
        let (text, version) = FileVersion::take(path)?;
        Ok(OtherFile { path: path.to_owned(), version: version.replaceable(), text })
    }

    /// The text; none where there is no file.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts a new text in place. False if another program saved or removed the file since it was read: then nothing
    /// is changed.
    ///
    /// # Errors
    ///
    /// When the file cannot be written. Then the old one is still there.
    pub fn replace(&self, text: &str) -> Result<bool, StoreError> {
        let temporary = temporary_path(&self.path, std::process::id(), "new");
        let new = PendingFile::write(temporary, &self.path, self.version.model(), text.as_bytes())?;
        if self.version.metadata().is_none() {
            let is_new = new.create()?;
            return sync_folder_of(&self.path).map(|()| is_new);
        }
        if !self.version.is_current()? {
            return Ok(false);
        }
        let failed = StoreError::write("replace", &self.path);
        match platform::exchange(new.path(), &self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(failed(error)),
            Ok(false) => new.replace()?,
            Ok(true) => {
                // The file that came out is removed with the temporary name, unless another program saved it just now.
                if !fs::symlink_metadata(new.path()).is_ok_and(|out| self.version.is(&out)) {
                    platform::exchange(new.path(), &self.path).map_err(failed)?;
                    return Ok(false);
                }
            }
        }
        sync_folder_of(&self.path).map(|()| true)
    }

    /// Removes the file. False if another program saved it since it was read: then it stays.
    ///
    /// # Errors
    ///
    /// When it cannot be removed.
    pub fn remove(&self) -> Result<bool, StoreError> {
        if !self.version.is_current()? {
            return Ok(false);
        }
        fs::remove_file(&self.path).map_err(StoreError::write("remove", &self.path))?;
        sync_folder_of(&self.path).map(|()| true)
    }

    /// Copies the text to a file beside it that only its owner can read.
    ///
    /// # Errors
    ///
    /// When the copy cannot be written.
    pub fn back_up(&self) -> Result<(), StoreError> {
        let text = self.text.as_deref().unwrap_or_default();
        private_file::write(&backup_of(&self.path), text.as_bytes())
    }

    /// Removes the copy beside a file, if there is one.
    ///
    /// # Errors
    ///
    /// When it cannot be removed.
    pub fn remove_backup(path: &Path) -> Result<(), StoreError> {
        let backup = backup_of(path);
        let removed =
            unless_missing(fs::remove_file(&backup)).map_err(StoreError::write("remove", &backup))?;
        removed.map_or(Ok(()), |()| sync_folder_of(path))
    }
}

fn backup_of(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(BACKUP);
    path.with_file_name(name)
}

/// The path behind all links, also where its last parts are not there yet.
///
/// # Errors
///
/// When a link leads nowhere, or a folder cannot be entered.
pub fn real_path(path: &Path) -> Result<PathBuf, StoreError> {
    let path = &std::path::absolute(path).map_err(StoreError::read(path))?;
    let is_there = |path: &&Path| fs::symlink_metadata(path).is_ok();
    let existing = path.ancestors().find(is_there).unwrap_or(Path::new("/"));
    let real = fs::canonicalize(existing).map_err(StoreError::read(existing))?;
    let rest = path.strip_prefix(existing).unwrap_or(Path::new(""));
    Ok(if rest.as_os_str().is_empty() { real } else { real.join(rest) })
}

/// Makes the folder of a file, with those above it.
///
/// # Errors
///
/// When it cannot be made.
pub fn make_folders(path: &Path) -> Result<(), StoreError> {
    create_folder(folder_of(path))
}

/// Removes a folder if nothing is in it.
pub fn remove_empty_folder(path: &Path) {
    // A folder with files is no error: it stays.
    let _ = fs::remove_dir(path);
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_that_was_saved_meanwhile_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        let missing = OtherFile::open(&path).unwrap();
        fs::write(&path, "theirs").unwrap();
        assert!(!missing.replace("ours").unwrap());
        let read = OtherFile::open(&path).unwrap();
        fs::write(&path, "theirs, later").unwrap();
        assert!(!read.replace("ours").unwrap());
        assert!(!read.remove().unwrap());
        let read = OtherFile::open(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(!read.replace("ours").unwrap());
        assert!(!path.exists());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left over");
    }

    #[test]
    fn the_path_of_what_is_not_there_yet_is_below_the_working_folder() {
        let here = fs::canonicalize(".").unwrap();
        assert_eq!(real_path(Path::new("missing/folder/file")).unwrap(), here.join("missing/folder/file"));
    }

    #[test]
    fn a_replaced_file_keeps_its_mode_and_a_copy_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let file = OtherFile::open(&path).unwrap();
        file.back_up().unwrap();
        assert!(file.replace("new").unwrap());
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), mode(&path)), ("new", 0o640));
        let copy = backup_of(&path);
        assert_eq!((fs::read_to_string(&copy).unwrap().as_str(), mode(&copy)), ("old", 0o600));
        OtherFile::remove_backup(&path).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
