//! The settings files that a person trusts: a file `trusted` in the user's own folder.
//!
//! Each line is a JSON object with the path of a settings file and a hash of this path and of the content that was
//! trusted. A changed file is not trusted any more. The hash is SHA-256, because whoever writes a repository chooses
//! the content: with a hash that is only fast, a harmless file and a hostile one could be made to have the same hash.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::cli::failure::{Failure, unreadable};
use crate::store::{read_bounded, write_private};

/// Name of the list in the user's folder.
const NAME: &str = "trusted";

/// Largest list that is read, in bytes.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Entries that are kept; the oldest leave first.
const MAX_ENTRIES: usize = 500;

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
        let path = absolute(path);
        let bytes = path.as_os_str().as_encoded_bytes();
        let mut hash = Sha256::new();
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
        hash.update(content);
        let sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Trusted { path: path.to_string_lossy().into_owned(), sha256 }
    }
}

/// The list, oldest entry first.
#[derive(Debug)]
pub(crate) struct TrustList {
    path: PathBuf,
    entries: Vec<Trusted>,
}

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
        let lines = bytes.split(|byte| *byte == b'\n');
        let entries = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
        Ok(TrustList { path, entries })
    }

    /// True if this file was trusted as it is.
    pub(crate) fn holds(&self, entry: &Trusted) -> bool {
        self.entries.contains(entry)
    }

    /// The files that are trusted, the oldest first.
    pub(crate) fn entries(&self) -> &[Trusted] {
        &self.entries
    }

    /// Trusts a file as it is; an older entry of its path is replaced.
    pub(crate) fn add(&mut self, entry: Trusted) -> Result<(), Failure> {
        self.entries.retain(|other| other.path != entry.path);
        self.entries.push(entry);
        let surplus = self.entries.len().saturating_sub(MAX_ENTRIES);
        self.entries.drain(..surplus);
        self.write()
    }

    /// Trusts a file no more. Returns `false` if it was not in the list.
    pub(crate) fn remove(&mut self, path: &Path) -> Result<bool, Failure> {
        let path = absolute(path).to_string_lossy().into_owned();
        let before = self.entries.len();
        self.entries.retain(|entry| entry.path != path);
        let removed = self.entries.len() < before;
        if removed {
            self.write()?;
        }
        Ok(removed)
    }

    fn write(&self) -> Result<(), Failure> {
        let lines = self.entries.iter().map(|entry| serde_json::to_string(entry).map(|line| line + "\n"));
        let text = lines.collect::<Result<String, _>>().map_err(io::Error::from)?;
        Ok(write_private(&self.path, text.as_bytes())?)
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
        let mut list = TrustList::read(folder.path()).unwrap();
        list.add(Trusted::of(&here, b"x = 1")).unwrap();
        let list = TrustList::read(folder.path()).unwrap();
        assert!(list.holds(&Trusted::of(&here, b"x = 1")));
        assert!(!list.holds(&Trusted::of(&here, b"x = 2")));
        assert!(!list.holds(&Trusted::of(&there, b"x = 1")));
    }

    #[test]
    fn a_path_has_one_entry_and_the_oldest_entries_leave() {
        let folder = tempfile::tempdir().unwrap();
        let mut list = TrustList { path: folder.path().join(NAME), entries: Vec::new() };
        list.entries =
            (0..MAX_ENTRIES).map(|at| Trusted { path: at.to_string(), sha256: String::new() }).collect();
        let path = folder.path().join("memories.toml");
        list.add(Trusted::of(&path, b"1")).unwrap();
        list.add(Trusted::of(&path, b"2")).unwrap();
        assert_eq!((list.entries.len(), list.entries[0].path.as_str()), (MAX_ENTRIES, "1"));
        assert!(list.holds(&Trusted::of(&path, b"2")) && !list.holds(&Trusted::of(&path, b"1")));
        assert!(list.remove(&path).unwrap() && !list.remove(&path).unwrap());
        assert_eq!(TrustList::read(folder.path()).unwrap().entries.len(), MAX_ENTRIES - 1);
    }

    #[test]
    fn damaged_lines_trust_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memories.toml");
        let mut list = TrustList::read(folder.path()).unwrap();
        list.add(Trusted::of(&path, b"")).unwrap();
        let whole = std::fs::read_to_string(folder.path().join(NAME)).unwrap();
        crate::store::write_private(&folder.path().join(NAME), format!("\u{1}\n{{}}\n{whole}").as_bytes())
            .unwrap();
        assert_eq!(TrustList::read(folder.path()).unwrap().entries(), list.entries());
    }
}
