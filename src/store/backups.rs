//! The last ten states of a file, for `restore`.
//!
//! They are numbered files in a folder, `1.md` and so on; a higher number is newer. Before a file is
//! replaced, it gets a further name there (a hard link) where the file system has links, else it is
//! copied. Files with other names in that folder are left alone.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::error::{StoreError, unless_missing};
use super::platform;

/// Number of states kept.
const KEPT: usize = 10;

/// One former state of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Backup {
    /// A higher number is newer.
    pub number: u64,
    /// Where it is.
    pub path: PathBuf,
    /// When that state was written.
    pub modified: SystemTime,
    /// Its size in bytes.
    pub size: u64,
}

/// All backups, newest first; empty where there is no folder.
pub(super) fn list(folder: &Path) -> Result<Vec<Backup>, StoreError> {
    let mut backups = Vec::new();
    for (number, path) in numbered(folder)? {
        // A backup that was removed since the folder was listed is left out.
        if let Ok(metadata) = fs::metadata(&path) {
            let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            backups.push(Backup { number, path, modified, size: metadata.len() });
        }
    }
    Ok(backups)
}

/// The path of the backup of that number.
pub(super) fn path_of(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number}.md"))
}

/// Keeps the file as the newest backup and removes the oldest ones beyond the tenth.
pub(super) fn keep(folder: &Path, file: &Path, metadata: &Metadata) -> Result<(), StoreError> {
    let error = |source| StoreError::Write { action: "keep a backup in", path: folder.to_owned(), source };
    fs::create_dir_all(folder).map_err(error)?;
    let mut present = numbered(folder)?;
    if !is_kept(&present, metadata) {
        let number = present.first().map_or(1, |(number, _)| number.saturating_add(1));
        let path = path_of(folder, number);
        if fs::hard_link(file, &path).is_err()
            && let Err(source) = fs::copy(file, &path)
        {
            let _ = fs::remove_file(&path);
            return Err(error(source));
        }
        present.insert(0, (number, path));
    }
    for (_, oldest) in present.iter().skip(KEPT) {
        fs::remove_file(oldest).map_err(error)?;
    }
    Ok(())
}

/// True if the newest backup is this very file: a writer was killed, or an editor was faster, between
/// that backup and the replacement of the file.
fn is_kept(present: &[(u64, PathBuf)], file: &Metadata) -> bool {
    let newest = present.first().and_then(|(_, path)| fs::metadata(path).ok());
    newest.is_some_and(|newest| platform::is_same_file(&newest, file))
}

/// Numbers and paths in the folder, newest first.
fn numbered(folder: &Path) -> Result<Vec<(u64, PathBuf)>, StoreError> {
    let entries = unless_missing(fs::read_dir(folder)).map_err(StoreError::read(folder))?;
    let mut numbered = Vec::new();
    for entry in entries.into_iter().flatten() {
        let path = entry.map_err(StoreError::read(folder))?.path();
        let number = path.file_stem().and_then(|stem| stem.to_str()?.parse().ok());
        if let Some(number) = number
            && path == path_of(folder, number)
        {
            numbered.push((number, path));
        }
    }
    numbered.sort_unstable_by(|one, other| other.cmp(one));
    Ok(numbered)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_kill_after_a_backup_and_before_the_removal_of_the_oldest_leaves_ten_the_next_time() {
        let folder = tempfile::tempdir().unwrap();
        let (file, backups) = (folder.path().join("Memories.md"), folder.path().join("backups"));
        fs::write(&file, "as it is").unwrap();
        fs::create_dir(&backups).unwrap();
        for number in 1..=KEPT as u64 {
            fs::write(path_of(&backups, number), "former").unwrap();
        }
        fs::hard_link(&file, path_of(&backups, 11)).unwrap();
        keep(&backups, &file, &fs::metadata(&file).unwrap()).unwrap();
        let kept: Vec<u64> = list(&backups).unwrap().iter().map(|backup| backup.number).collect();
        assert_eq!(kept, (2..=11).rev().collect::<Vec<u64>>());
    }
}
