//! Files below a folder that may have come with a repository: no link in it is followed, and nothing waits.
//!
//! A folder and a path enter; the bytes of a regular file of bounded size leave.

use std::io::{self, Read};
use std::path::{Component, Path};

use crate::at::{Access, Handle};

/// What stands at a path below a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Below {
    /// A regular file.
    Bytes(Vec<u8>),
    /// Nothing.
    Gone,
    /// Something else than a regular file, one behind a link, one that is too large, or one that cannot be read.
    NotRead,
}

/// Reads a file of at most `limit` bytes below a folder, whose path must lead down alone.
pub fn read_below(folder: &Path, path: &str, limit: u64) -> Below {
    match read(folder, Path::new(path), limit) {
        Ok(Some(bytes)) => Below::Bytes(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Below::Gone,
        Ok(None) | Err(_) => Below::NotRead,
    }
}

fn read(folder: &Path, path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    if !path.components().all(|part| matches!(part, Component::Normal(_))) {
        return Ok(None);
    }
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(None) };
    // Without the folder itself nothing is known of what is below it.
    let folder = folder.canonicalize().ok().and_then(|folder| Handle::open(&folder).ok());
    let Some(mut folder) = folder else { return Ok(None) };
    for part in parent.components() {
        folder = folder.folder(part.as_os_str().as_ref())?;
    }
    let facts = folder.facts(name.as_ref())?;
    if !facts.is_file || facts.size > limit {
        return Ok(None);
    }
    let file = folder.file(name.as_ref(), Access::Read)?;
    if !file.metadata()?.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

/// A path that leads down alone, with `/` between its parts; `None` for another one, and where it is not UTF-8.
pub fn slashed(path: &Path) -> Option<String> {
    let parts = path.components().map(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    Some(parts.collect::<Option<Vec<&str>>>()?.join("/"))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn nothing_is_read_but_regular_files_below_the_folder() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path().join("root");
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(temporary.path().join("out"), "secret").unwrap();
        fs::write(root.join("a/b/c"), "12345").unwrap();
        symlink(temporary.path(), root.join("up")).unwrap();
        symlink("a/b/c", root.join("link")).unwrap();
        symlink("a", root.join("folder")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(root.join("pipe")).status().unwrap();
        assert!(made.success());
        assert_eq!(read_below(&root, "a/b/c", 5), Below::Bytes(b"12345".to_vec()));
        assert_eq!(read_below(&root, "a/b/c", 4), Below::NotRead);
        for gone in ["x", "a/x", "a/b/x", "x/y/z"] {
            assert_eq!(read_below(&root, gone, 5), Below::Gone, "{gone}");
        }
        for path in ["up/out", "../out", "link", "folder/b/c", "pipe", "a", "", "/etc/hostname", "a/b/c/d"] {
            assert_eq!(read_below(&root, path, 99), Below::NotRead, "{path}");
        }
        assert_eq!(read_below(&root.join("none"), "x", 5), Below::NotRead);
    }
}
