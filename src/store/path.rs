//! Finds the real file behind the path that a user gives.
//!
//! A path enters, an absolute path without symbolic links leaves, so that all names of a file share
//! one lock and one history. Nothing is created. Folders, pipes, sockets and devices are refused.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::StoreError;
use super::platform;

/// Symbolic links followed in a row, the same number as Linux follows.
const MAX_LINKS: usize = 40;

/// The real path of a file that exists or may be created.
pub(super) fn resolve(given: &Path) -> Result<PathBuf, StoreError> {
    match fs::metadata(given) {
        Ok(metadata) if metadata.is_file() => fs::canonicalize(given).map_err(StoreError::read(given)),
        Ok(metadata) => {
            let what = if metadata.is_dir() { "a folder" } else { platform::describe_special(&metadata) };
            Err(StoreError::NotAFile { path: given.to_owned(), what })
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => resolve_missing(given),
        Err(error) if platform::is_symlink_loop(&error) => {
            Err(StoreError::SymlinkLoop { path: given.to_owned() })
        }
        Err(source) => Err(StoreError::Read { path: given.to_owned(), source }),
    }
}

/// The path at which a missing file would be created: behind the links of a dangling path.
fn resolve_missing(given: &Path) -> Result<PathBuf, StoreError> {
    let mut path = given.to_owned();
    for _ in 0..MAX_LINKS {
        let Some(name) = path.file_name() else {
            return Err(StoreError::NotAFile { path: given.to_owned(), what: "a folder" });
        };
        let real = real_folder(&path)?.join(name);
        match fs::read_link(&real) {
            Ok(target) => path = real.with_file_name(target),
            Err(_) => return Ok(real),
        }
    }
    Err(StoreError::SymlinkLoop { path: given.to_owned() })
}

/// The folder of a file: `.` for a bare name.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn real_folder(path: &Path) -> Result<PathBuf, StoreError> {
    let folder = folder_of(path);
    fs::canonicalize(folder).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => StoreError::NoFolder { path: folder.to_owned() },
        _ => StoreError::Read { path: folder.to_owned(), source },
    })
}
