//! The settings files that a person trusts: a file `trusted` in the user's own folder.
//!
//! Each line is a JSON object with the path of a settings file and a hash of this path and of the content that was
//! trusted. A changed file is not trusted any more. The hash is SHA-256, because whoever writes a repository chooses
//! the content: with a hash that is only fast, a harmless file and a hostile one could be made to have the same hash.

use std::io;
use std::path::{Path, PathBuf};

use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};

use crate::cli::failure::{Failure, unreadable};
use memories_store::{change_private, read_bounded};

/// Name of the list in the user's folder.
const NAME: &str = "trusted";

/// Largest list that is read, in bytes.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Entries that are kept; the oldest leave first.
const MAX_ENTRIES: usize = 500;

/// What stands for the content of a folder. No settings file begins with it.
const FOLDER: &[u8] = b"\0folder";

/// A file that is trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Trusted {
    /// Its absolute path, as far as it is UTF-8.
    pub path: String,
    /// Hash of path and content, in hexadecimal digits.
    sha256: String,
}

impl Trusted {
    /// The entry of a settings file with this content.
    pub(crate) fn of(path: &Path, content: &[u8]) -> Trusted {
        Trusted::at(absolute(path), content)
    }

    /// The entry of a folder in which the files of another user count.
    pub(crate) fn of_folder(path: &Path) -> io::Result<Trusted> {
        Ok(Trusted::at(path.canonicalize()?, FOLDER))
    }

    fn at(path: PathBuf, content: &[u8]) -> Trusted {
        let bytes = path.as_os_str().as_encoded_bytes();
        let sha256 = sha256(&[&(bytes.len() as u64).to_le_bytes(), bytes, content].concat());
        Trusted { path: path.to_string_lossy().into_owned(), sha256 }
    }
}

/// The SHA-256 of bytes, in hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    digest(&SHA256, bytes).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The list, oldest entry first.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TrustList(Vec<Trusted>);

impl TrustList {
    /// Reads the list of a user's folder; a missing one is empty. Damaged lines trust nothing.
    pub(crate) fn read(folder: &Path) -> Result<TrustList, Failure> {
        let path = folder.join(NAME);
        let bytes = match read_bounded(&path, MAX_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => {
                let hint = "delete it, and trust your settings files again with `memories trust`";
                return Err(unreadable(&path, error).hint(hint));
            }
        };
        Ok(TrustList::parse(&bytes))
    }

    /// True if this file was trusted as it is.
    pub(crate) fn holds(&self, entry: &Trusted) -> bool {
        self.0.contains(entry)
    }

    /// True if a folder or one above it, without links, is trusted.
    pub(crate) fn holds_folder_of(&self, path: &Path) -> bool {
        path.ancestors().any(|folder| self.holds(&Trusted::at(folder.to_owned(), FOLDER)))
    }

    /// The files that are trusted, the oldest first.
    pub(crate) fn entries(&self) -> &[Trusted] {
        &self.0
    }

    /// Trusts a file as it is, in the list of a user's folder; an older entry of its path is replaced.
    pub(crate) fn add(folder: &Path, entry: &Trusted) -> Result<(), Failure> {
        let with_entry = |bytes: Vec<u8>| {
            let TrustList(mut entries) = TrustList::parse(&bytes);
            entries.retain(|other| other.path != entry.path);
            entries.push(entry.clone());
            let surplus = entries.len().saturating_sub(MAX_ENTRIES);
            Some(TrustList(entries.split_off(surplus)).print())
        };
        Ok(change_private(&folder.join(NAME), MAX_BYTES, with_entry)?)
    }

    /// Trusts a file no more. Returns `false` if it was not in the list of the user's folder.
    pub(crate) fn remove(folder: &Path, path: &Path) -> Result<bool, Failure> {
        let as_folder = path.canonicalize().ok().filter(|path| path.is_dir());
        let path = as_folder.unwrap_or_else(|| absolute(path)).to_string_lossy().into_owned();
        let mut removed = false;
        let without = |bytes: Vec<u8>| {
            let TrustList(mut entries) = TrustList::parse(&bytes);
            let before = entries.len();
            entries.retain(|entry| entry.path != path);
            removed = entries.len() < before;
            removed.then(|| TrustList(entries).print())
        };
        change_private(&folder.join(NAME), MAX_BYTES, without)?;
        Ok(removed)
    }

    fn parse(bytes: &[u8]) -> TrustList {
        let lines = bytes.split(|byte| *byte == b'\n');
        TrustList(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
    }

    fn print(&self) -> Vec<u8> {
        let lines = self.0.iter().map(|entry| serde_json::json!(entry).to_string() + "\n");
        lines.collect::<String>().into_bytes()
    }
}

/// The absolute path of a settings file. Links of folders are resolved, a link in the place of the file is not: its
/// relative paths start where the link stands.
fn absolute(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let real = folder.canonicalize().or_else(|_| std::path::absolute(folder));
    real.unwrap_or_else(|_| folder.to_owned()).join(path.file_name().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_or_moved_file_is_not_trusted() {
        let folder = tempfile::tempdir().unwrap();
        let (here, there) = (folder.path().join("a/memories.toml"), folder.path().join("b/memories.toml"));
        TrustList::add(folder.path(), &Trusted::of(&here, b"x = 1")).unwrap();
        let list = TrustList::read(folder.path()).unwrap();
        assert!(list.holds(&Trusted::of(&here, b"x = 1")));
        assert!(!list.holds(&Trusted::of(&here, b"x = 2")));
        assert!(!list.holds(&Trusted::of(&there, b"x = 1")));
    }

    #[test]
    fn a_path_has_one_entry_and_the_oldest_entries_leave() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path();
        let old = |at: usize| Trusted { path: at.to_string(), sha256: String::new() };
        let full = TrustList((0..MAX_ENTRIES).map(old).collect()).print();
        change_private(&folder.join(NAME), MAX_BYTES, |_| Some(full)).unwrap();
        let path = folder.join("memories.toml");
        TrustList::add(folder, &Trusted::of(&path, b"1")).unwrap();
        TrustList::add(folder, &Trusted::of(&path, b"2")).unwrap();
        let list = TrustList::read(folder).unwrap();
        assert_eq!((list.entries().len(), list.entries()[0].path.as_str()), (MAX_ENTRIES, "1"));
        assert!(list.holds(&Trusted::of(&path, b"2")) && !list.holds(&Trusted::of(&path, b"1")));
        assert!(TrustList::remove(folder, &path).unwrap() && !TrustList::remove(folder, &path).unwrap());
        assert_eq!(TrustList::read(folder).unwrap().entries().len(), MAX_ENTRIES - 1);
    }

    #[test]
    fn damaged_lines_trust_nothing() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path();
        TrustList::add(folder, &Trusted::of(&folder.join("memories.toml"), b"")).unwrap();
        let before = TrustList::read(folder).unwrap();
        let damaged = |whole: Vec<u8>| Some([b"\x01\n{}\n", &whole[..]].concat());
        change_private(&folder.join(NAME), MAX_BYTES, damaged).unwrap();
        assert_eq!(TrustList::read(folder).unwrap(), before);
    }
}
