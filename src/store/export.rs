//! Files that a person asked for: what `export` writes.
//!
//! Bytes enter; the file at the path holds them, all or none. A file that is there stays, unless it is
//! to be replaced; then it keeps its mode and owner.

use std::fs;
use std::io;
use std::path::Path;

use super::error::StoreError;
use super::path::resolve;
use super::replace;

/// Writes such a file; `false` where one is there and is not to be replaced.
///
/// # Errors
///
/// When it cannot be written; what was there is there still.
pub fn write_export(path: &Path, bytes: &[u8], replace: bool) -> Result<bool, StoreError> {
    let path = resolve(path)?;
    let old = match fs::metadata(&path) {
        Ok(_) if !replace => return Ok(false),
        Ok(old) => Some(old),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(source) => return Err(StoreError::Read { path, source }),
    };
    replace::put(&path, bytes, old.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_there_stays_unless_it_is_to_be_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memories.db");
        assert!(write_export(&path, b"one\0", false).unwrap());
        assert!(!write_export(&path, b"two", false).unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"one\0");
        assert!(write_export(&path, b"two", true).unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_came_meanwhile_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memories.db");
        fs::write(&path, "came meanwhile").unwrap();
        assert!(!replace::put(&path, b"new", None).unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"came meanwhile");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_followed_and_a_folder_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("real.db"), folder.path().join("link.db"));
        std::os::unix::fs::symlink("real.db", &link).unwrap();
        assert!(write_export(&link, b"one", false).unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"one");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(write_export(folder.path(), b"one", true).is_err());
        assert!(write_export(&folder.path().join("no/x.db"), b"one", true).is_err());
    }
}
