//! Finds the files that git tracks and the commit that is checked out, from git's own files and without running git.
//!
//! A path enters. Git's configuration can name programs to run, so git itself is not asked. The index is read
//! only when it has changed: the caller keeps the [`Mark`] of the last one and compares.

use std::fs::{self, File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::folder::MAX_SIZE;
use crate::path::foreign_owner;
use crate::platform;

/// Longest file `.git` in bytes, as work trees and submodules have one.
const MAX_POINTER: u64 = 4096;

/// Bytes of a hash: 20, or 32 where the repository uses SHA-256.
const HASHES: [usize; 2] = [20, 32];

/// The index of the work tree that a path belongs to.
#[derive(Debug)]
pub struct Index {
    path: PathBuf,
    /// The path in the work tree, with `/` between its parts and behind it.
    prefix: Vec<u8>,
}

/// One version of an index and one folder. Forging it takes the choice of inodes and times.
pub(super) type Mark = String;

impl Index {
    /// The index around a path; `None` outside of git. A repository of another user is none.
    pub fn around(path: &Path) -> Option<Index> {
        let (root, git) = path.ancestors().skip(1).find_map(|root| {
            let git = root.join(".git");
            let metadata = fs::metadata(&git).ok().filter(|_| foreign_owner(&git).is_none())?;
            Some((root, (git, metadata.is_dir())))
        })?;
        let index = match git {
            (git, true) => git.join("index"),
            (git, false) => root.join(pointed_at(&git)?).join("index"),
        };
        let parts = path.strip_prefix(root).ok()?.iter();
        let prefix = parts.flat_map(|part| part.as_encoded_bytes().iter().copied().chain([b'/'])).collect();
        Some(Index { path: index, prefix })
    }

    /// The mark of this index for a folder with this identity; `None` where there is no index.
    pub(super) fn mark(&self, folder: Option<(u64, u64)>) -> Option<Mark> {
        let metadata = fs::metadata(&self.path).ok()?;
        let modified = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_nanos();
        let (device, inode) = folder?;
        let (_, index) = platform::identity(&metadata)?;
        Some(format!("{device} {inode} {index} {} {modified}\n", metadata.len()))
    }

    /// True if the index lists the path or a file in it. An index of an unknown format lists nothing.
    pub(super) fn lists_it(&self) -> bool {
        bytes_of(&self.path, MAX_SIZE).is_some_and(|bytes| lists(&bytes, &self.prefix))
    }

    /// All paths that the index lists, from the root of the work tree, each with the id of its blob. An index of an
    /// unknown format, or one that is split in two files, lists nothing.
    fn entries(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        let bytes = bytes_of(&self.path, MAX_SIZE).unwrap_or_default();
        let entries = |hash: usize| {
            let mut entries = Vec::new();
            any_path(&bytes, hash, |path, entry| {
                entries.push((path.to_owned(), entry.get(40..40 + hash).unwrap_or_default().to_owned()));
                false
            })?;
            Some(entries)
        };
        HASHES.into_iter().find_map(entries).unwrap_or_default()
    }

    /// All paths that the index lists, from the root of the work tree.
    pub fn paths(&self) -> Vec<Vec<u8>> {
        self.entries().into_iter().map(|(path, _)| path).collect()
    }

    /// The paths that the index lists with a blob, whose id may be abbreviated.
    pub fn paths_of_blob(&self, id: &str) -> Vec<Vec<u8>> {
        let mut entries = self.entries();
        entries.retain(|(_, blob)| hex(blob).starts_with(id));
        entries.into_iter().map(|(path, _)| path).collect()
    }

    /// The id of the blob that the index lists at a path.
    pub fn blob_of(&self, path: &[u8]) -> Option<String> {
        self.entries().iter().rfind(|(listed, _)| listed == path).map(|(_, blob)| hex(blob))
    }

    /// True if the repository names its objects by SHA-256.
    pub fn uses_sha256(&self) -> bool {
        let config = self.path.parent().and_then(|git| bytes_of(&shared(git).join("config"), MAX_SIZE));
        let config = String::from_utf8_lossy(&config.unwrap_or_default()).to_lowercase();
        config.lines().any(|line| {
            let pair = line.split_once('=');
            pair.is_some_and(|(key, value)| key.trim() == "objectformat" && value.trim() == "sha256")
        })
    }

    /// The name of the commit that is checked out; `None` where there is none yet.
    pub fn commit(&self) -> Option<String> {
        let folder = self.path.parent()?;
        let head = small_text(&folder.join("HEAD"))?;
        let Some(name) = head.strip_prefix("ref: ") else { return Some(head).filter(|name| is_commit(name)) };
        if name.split('/').any(|part| part == ".." || part.is_empty()) {
            return None;
        }
        let shared = shared(folder);
        let commit =
            small_text(&folder.join(name)).or_else(|| small_text(&shared.join(name))).or_else(|| {
                let packed = bytes_of(&shared.join("packed-refs"), MAX_SIZE)?;
                let packed = String::from_utf8_lossy(&packed);
                let mut lines = packed.lines().filter_map(|line| line.split_once(' '));
                lines.find(|(_, packed)| *packed == name).map(|(commit, _)| commit.to_owned())
            });
        commit.filter(|name| is_commit(name))
    }

    /// True if git put a file in its place: its index has the size and time of the file, and the next move of `HEAD`
    /// was no commit but a pull, a merge, a checkout or the like.
    pub fn has_written(file: &Path) -> bool {
        let written = || Index::around(file)?.lists_as_it_is(&fs::metadata(file).ok()?);
        written().unwrap_or(false)
    }

    fn lists_as_it_is(&self, file: &Metadata) -> Option<bool> {
        let modified = file.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        let path = &self.prefix[..self.prefix.len().saturating_sub(1)];
        let number = |entry: &[u8], at: usize| Some(u32::from_be_bytes(*entry.get(at..)?.first_chunk()?));
        // Git keeps the lowest 32 bits of seconds and size. Some versions keep no nanoseconds.
        let is_as_listed = |entry: &[u8]| {
            number(entry, 8) == Some(modified.as_secs() as u32)
                && matches!(number(entry, 12), Some(nanos) if nanos == 0 || nanos == modified.subsec_nanos())
                && number(entry, 36) == Some(file.len() as u32)
        };
        let index = bytes_of(&self.path, MAX_SIZE)?;
        let listed =
            |hash: usize| any_path(&index, hash, |listed, entry| listed == path && is_as_listed(entry));
        Some(HASHES.into_iter().find_map(listed)? && !self.is_committed_after(modified.as_secs()))
    }

    /// True if the first move of `HEAD` after a second is a commit, or nothing says so; of several in one second the last.
    fn is_committed_after(&self, second: u64) -> bool {
        let log = self.path.parent().and_then(|folder| bytes_of(&folder.join("logs").join("HEAD"), MAX_SIZE));
        let log = log.unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        // `OLD NEW Name <address> SECONDS ZONE`, a tab, and what moved it.
        let moves = log.lines().filter_map(|line| {
            let (who, what) = line.split_once('\t')?;
            let at: u64 = who.rsplit(' ').nth(1)?.parse().ok()?;
            (at >= second).then_some((at, what))
        });
        let first = moves.reduce(|first, next| if next.0 == first.0 { next } else { first });
        first.is_none_or(|(_, what)| what.starts_with("commit") && !what.starts_with("commit (merge)"))
    }

    /// The metadata of the index; `None` where there is none.
    pub fn metadata(&self) -> Option<Metadata> {
        fs::metadata(&self.path).ok()
    }
}

fn hex(id: &[u8]) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The folder of a repository. A further work tree has a folder with its own `HEAD` and index; branches and settings are
/// those of the repository.
fn shared(folder: &Path) -> PathBuf {
    small_text(&folder.join("commondir")).map_or(folder.to_owned(), |path| folder.join(path))
}

/// The first bytes of a regular file. What a repository may have in its place, such as a pipe, could keep a reader
/// waiting, so it is not opened.
fn bytes_of(path: &Path, limit: u64) -> Option<Vec<u8>> {
    fs::metadata(path).ok().filter(Metadata::is_file)?;
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(limit).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// True for the name of a commit. Anything else in its place, such as the first line of a file to which `HEAD` is a
/// link, must not be shown.
fn is_commit(name: &str) -> bool {
    HASHES.contains(&(name.len() / 2)) && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The first line of a small file.
fn small_text(path: &Path) -> Option<String> {
    let text = String::from_utf8(bytes_of(path, MAX_POINTER)?).ok()?;
    text.lines().next().map(|line| line.trim().to_owned())
}

/// The folder that a file `.git` names: `gitdir: ../.git/modules/x`.
fn pointed_at(git: &Path) -> Option<PathBuf> {
    let text = String::from_utf8(bytes_of(git, MAX_POINTER)?).ok()?;
    Some(PathBuf::from(text.strip_prefix("gitdir:")?.trim()))
}

/// True if an index lists a path that begins so, in whatever case: some file systems do not tell cases apart.
fn lists(index: &[u8], prefix: &[u8]) -> bool {
    let folder = &prefix[..prefix.len().saturating_sub(1)];
    let is_within = |path: &[u8], _: &[u8]| {
        path.eq_ignore_ascii_case(folder)
            || path.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    };
    HASHES.into_iter().find_map(|hash| any_path(index, hash, is_within)).unwrap_or(false)
}

/// True if any path of an index is wanted, which is asked with the bytes from its entry on; `None` where the bytes are
/// no index with hashes of that length.
fn any_path(index: &[u8], hash: usize, mut is_wanted: impl FnMut(&[u8], &[u8]) -> bool) -> Option<bool> {
    const EXTENDED: u16 = 0x4000;
    const LENGTH: u16 = 0x0fff;
    let number = |at: usize| Some(u32::from_be_bytes(*index.get(at..)?.first_chunk()?));
    let version = number(4).filter(|version| index.starts_with(b"DIRC") && (2..=4).contains(version))?;
    let mut at = 12;
    let mut path: Vec<u8> = Vec::new();
    for _ in 0..number(8)? {
        let start = at;
        at += 40 + hash;
        let flags = u16::from_be_bytes(*index.get(at..)?.first_chunk()?);
        at += if version > 2 && flags & EXTENDED != 0 { 4 } else { 2 };
        let mut dropped = path.len();
        if version == 4 {
            dropped = read_number(index, &mut at)?;
        }
        let length = memchr::memchr(0, index.get(at..)?)?;
        path.truncate(path.len().checked_sub(dropped)?);
        path.extend_from_slice(&index[at..at + length]);
        if usize::from(flags & LENGTH) != path.len().min(usize::from(LENGTH)) {
            return None;
        }
        at += length + 1;
        if version < 4 {
            // Entries are padded to a multiple of eight bytes.
            at = start + (at - start).next_multiple_of(8);
        }
        if is_wanted(&path, &index[start..]) {
            return Some(true);
        }
    }
    // The rest of a split index stands in another file.
    let is_split = index.get(at..).is_some_and(|rest| rest.starts_with(b"link"));
    (!is_split).then_some(false)
}

/// A number of the fourth version of the index: seven bits a byte, the highest first, with one added at each step.
fn read_number(bytes: &[u8], at: &mut usize) -> Option<usize> {
    let mut number = 0_usize;
    loop {
        let byte = *bytes.get(*at)?;
        *at += 1;
        number = number.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
        number = number.checked_add(1)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_with_a_number_beyond_all_bounds_lists_nothing() {
        let mut index = b"DIRC\0\0\0\x04\0\0\0\x01".to_vec();
        index.extend([0; 60]);
        index.extend([0, 5, 0x80]);
        index.extend([0xfe; 8]);
        index.extend([0xff, 0]);
        assert!(!lists(&index, b".memories/"));
    }

    #[test]
    fn a_split_index_lists_nothing() {
        let whole = [b"DIRC\0\0\0\x02\0\0\0\x01".as_slice(), &[0; 60], b"\0\x01a", &[0]].concat();
        let paths = |index: &[u8]| {
            let folder = tempfile::tempdir().unwrap();
            fs::create_dir(folder.path().join(".git")).unwrap();
            super::super::write_file(&folder.path().join(".git/index"), index, super::super::Existing::Keep)
                .unwrap();
            Index::around(&folder.path().join("x")).unwrap().paths()
        };
        assert_eq!(paths(&whole), [b"a"]);
        assert_eq!(paths(&[&whole[..], b"link\0\0\0\0"].concat()), Vec::<Vec<u8>>::new());
    }

    /// A repository that was unpacked from an archive may have anything in the place of git's files.
    #[test]
    #[cfg(unix)]
    fn pipes_and_links_in_the_place_of_gits_files_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let git = folder.path().join(".git");
        fs::create_dir(&git).unwrap();
        let index = || Index::around(&folder.path().join("x")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", git.join("HEAD")).unwrap();
        assert_eq!(index().commit(), None);
        fs::remove_file(git.join("HEAD")).unwrap();
        for name in ["HEAD", "index"] {
            let made = std::process::Command::new("mkfifo").arg(git.join(name)).status().unwrap();
            assert!(made.success());
        }
        assert_eq!((index().commit(), index().paths().len()), (None, 0));
        fs::remove_file(git.join("HEAD")).unwrap();
        super::super::write_file(&git.join("HEAD"), b"ref: refs/heads/main\n", super::super::Existing::Keep)
            .unwrap();
        let commit = "a".repeat(40);
        let packed = format!("# pack-refs\n{commit} refs/heads/main\n");
        super::super::write_file(&git.join("packed-refs"), packed.as_bytes(), super::super::Existing::Keep)
            .unwrap();
        assert_eq!(index().commit(), Some(commit));
    }
}
