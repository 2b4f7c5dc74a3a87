//! Small files of bounded size: settings that are read, and files of the user's own folder that are written.
//!
//! A path enters; bytes leave, or go in. Reading never waits and never grows without end, whatever a path leads to.
//! A private file is whole or the old one, and its owner alone can read it.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;

use crate::atomic_write::{RemovedOnDrop, sync_folder_of, temporary_path};
use crate::error::{StoreError, unless_missing};
use crate::lock::Lock;
use crate::path::folder_of;
use crate::platform;

/// Name of the lock of a folder of private files.
const LOCK: &str = "lock";

/// Longest time that another process is waited for. A change takes milliseconds.
const MAX_WAIT: Duration = Duration::from_secs(5);

/// Reads a regular file of at most `limit` bytes. A pipe or a device is an error at once.
///
/// # Errors
///
/// When there is no such file, when it is something else than a file, when it is longer, or cannot be read.
pub fn read_bounded(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    // Opening a pipe would wait for its writer, so the kind is checked before.
    refuse_special(&fs::metadata(path)?)?;
    let file = File::open(path)?;
    refuse_special(&file.metadata()?)?;
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        let problem = format!("it is larger than {} KiB", limit / 1024);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, problem));
    }
    Ok(bytes)
}

fn refuse_special(metadata: &fs::Metadata) -> io::Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    if metadata.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
    }
    let problem = format!("it is {}, not a file", platform::describe_special(metadata));
    Err(io::Error::new(io::ErrorKind::InvalidInput, problem))
}

/// Changes a file that only its owner can read, and makes it and its folder where they are missing. `change` gets the
/// bytes of the file, none if it is missing, and returns new ones, or `None` if nothing changes. No other process
/// changes a file of that folder meanwhile.
///
/// # Errors
///
/// When the file is longer than `limit`, cannot be read or written, or when another process keeps it locked. Then the
/// old file is still there.
pub fn change_private(
    path: &Path,
    limit: u64,
    change: impl FnOnce(Vec<u8>) -> Option<Vec<u8>>,
) -> Result<(), StoreError> {
    let folder = folder_of(path);
    let created = platform::private_folders().recursive(true).create(folder);
    created.map_err(StoreError::write("create", folder))?;
    let _lock = Lock::acquire_at(&folder.join(LOCK), MAX_WAIT)?;
    let bytes = unless_missing(read_bounded(path, limit)).map_err(StoreError::read(path))?;
    change(bytes.unwrap_or_default()).map_or(Ok(()), |bytes| write(path, &bytes))
}

/// Writes a file that only its owner can read, in the place of an older one.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let temporary = RemovedOnDrop { path: temporary_path(path, std::process::id(), "new") };
    // No other process uses this name: a file of that name was left by a killed process of the same id.
    let _ = fs::remove_file(&temporary.path);
    let write = || {
        let mut file = platform::create_exclusively(&temporary.path, true)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        drop(file);
        platform::rename(&temporary.path, path)
    };
    write().map_err(StoreError::write("write", path))?;
    sync_folder_of(path)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_bounded_file_is_read_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        fs::write(&path, "12345").unwrap();
        assert_eq!(read_bounded(&path, 5).unwrap(), b"12345");
        assert_eq!(read_bounded(&path, 4).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(read_bounded(folder.path(), 9).unwrap_err().to_string(), "it is a folder");
        let missing = read_bounded(&folder.path().join("y"), 9).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn devices_and_pipes_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let (link, pipe) = (folder.path().join("link"), folder.path().join("pipe"));
        symlink("/dev/zero", &link).unwrap();
        assert_eq!(read_bounded(&link, 9).unwrap_err().to_string(), "it is a device, not a file");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert_eq!(read_bounded(&pipe, 9).unwrap_err().to_string(), "it is a pipe, not a file");
    }

    #[test]
    fn a_private_file_is_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/trusted");
        for text in ["one", "two"] {
            change_private(&path, 9, |_| Some(text.into())).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        change_private(&path, 9, |_| None).unwrap();
        assert!(change_private(&path, 2, |_| Some(Vec::new())).is_err(), "what is too long is not replaced");
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        let mut names: Vec<_> =
            fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, [LOCK, "trusted"]);
    }

    #[test]
    fn changes_at_the_same_time_are_all_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hosts");
        std::thread::scope(|scope| {
            for writer in 0..8 {
                let path = &path;
                scope.spawn(move || {
                    for _ in 0..20 {
                        let added = |mut bytes: Vec<u8>| {
                            bytes.push(b'0' + writer);
                            Some(bytes)
                        };
                        change_private(path, 1000, added).unwrap();
                    }
                });
            }
        });
        assert_eq!(fs::read(&path).unwrap().len(), 160);
    }
}
