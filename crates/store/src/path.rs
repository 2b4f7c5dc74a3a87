//! Finds the real file behind the path that a user gives.
//!
//! A path enters, an absolute path without symbolic links leaves, so that all names of a file share
//! one lock and one history. Nothing is created. Folders, pipes, sockets and devices are refused.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::at;
use crate::error::StoreError;
use crate::platform;

/// Symbolic links followed in a row, the same number as Linux follows.
const MAX_LINKS: usize = 40;

/// The real path of a file that exists or may be created.
pub(super) fn resolve(given: &Path) -> Result<PathBuf, StoreError> {
    match fs::metadata(given) {
        Ok(metadata) if metadata.is_file() => fs::canonicalize(given).map_err(StoreError::read(given)),
        Ok(metadata) => {
            let what = platform::describe_special(&metadata);
            Err(StoreError::NotAFile { path: given.to_owned(), what })
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => resolve_missing(given),
        Err(error) if platform::is_symlink_loop(&error) => {
            Err(StoreError::SymlinkLoop { path: given.to_owned() })
        }
        Err(source) => Err(StoreError::Read { path: given.to_owned(), source }),
    }
}

/// The user id of the owner of a file, folder or link, if that is neither the caller nor root. For root there is none, nor
/// where files have no owner.
pub fn foreign_owner(path: &Path) -> Option<u32> {
    let owner = at::owner_of(&fs::symlink_metadata(path).ok()?)?.user;
    let is_own = |caller: u32| caller == 0 || owner == 0 || owner == caller;
    (!at::caller().is_some_and(is_own)).then_some(owner)
}

/// A path without `.` and `..`, as it is written: no link is followed.
pub fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
    }
    plain
}

/// True if a file is named as Markdown.
pub fn is_markdown(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default();
    ["md", "markdown"].iter().any(|markdown| extension.eq_ignore_ascii_case(markdown))
}

/// Refuses a memory file that was found, not named, if it is a link out of the git repository of its folder, or out of
/// the folder where there is none, or to a file that is not Markdown. A repository can ship such a link to any file of
/// its user.
///
/// # Errors
///
/// [`StoreError::LeadsOutside`], and those of resolving the link.
pub fn refuse_link_out(found: &Path) -> Result<(), StoreError> {
    if !fs::symlink_metadata(found).is_ok_and(|metadata| metadata.is_symlink()) {
        return Ok(());
    }
    let (target, folder) = (resolve(found)?, real_folder(found)?);
    let root = folder.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(&folder);
    match target.strip_prefix(root) {
        Ok(inside)
            if is_markdown(&target) && inside.iter().all(|part| !part.eq_ignore_ascii_case(".git")) =>
        {
            Ok(())
        }
        _ => Err(StoreError::LeadsOutside { path: found.to_owned(), target }),
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
