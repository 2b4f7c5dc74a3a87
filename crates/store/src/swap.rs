//! Puts a new text in the place of the one that was read, and checks the file that stood there.
//!
//! A pending file and the version that it replaces enter. Both files change places in one step, so that a file which
//! another program saved in the last moment, or is still writing, is not lost but in our hands; it then gets its place
//! back, and nothing of ours is written. Where the system cannot exchange files, the new one is renamed over the old.
//! The caller holds the lock, and has named the new file in it: so the next writer knows one that was swapped out.

use std::fs::{self, Metadata};
use std::io;
use std::path::Path;
use std::time::SystemTime;

use crate::atomic_write::{PendingFile, sync_folder_of};
use crate::backups;
use crate::error::StoreError;
use crate::file_version::FileVersion;
use crate::folder::Folder;
use crate::lock::Written;
use crate::platform;

/// Times that a file is given back to its place while other programs put others there.
const MAX_TRIES: u32 = 10;

/// Result of putting a file in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Placed {
    /// The new file is in place.
    InPlace,
    /// Another program has changed the old one: that is, or stays, in place.
    Overtaken,
}

/// Puts the file in place.
pub(super) fn place(
    path: &Path,
    sidecar: &Folder,
    old: &FileVersion,
    new: PendingFile,
) -> Result<Placed, StoreError> {
    if old.metadata().is_none() {
        let placed = if new.create()? { Placed::InPlace } else { Placed::Overtaken };
        return sync_folder_of(path).map(|()| placed);
    }
    let failed = StoreError::write("replace", path);
    let ours = platform::identity(&new.metadata().map_err(StoreError::write("replace", path))?);
    let spare = new.path().to_owned();
    let _open = match platform::exchange(&spare, path) {
        // Another program removed it, and may be about to create it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Placed::Overtaken),
        Err(error) => return Err(failed(error)),
        Ok(false) => new.replace().map(|()| None)?,
        Ok(true) => {
            let open = new.leave();
            if !fs::symlink_metadata(&spare).is_ok_and(|out| old.is(&out)) {
                give_back(&spare, path, sidecar, ours)?;
                return Ok(Placed::Overtaken);
            }
            // The old file is among the backups. If this name stays, the next writer removes it.
            let _ = fs::remove_file(&spare);
            Some(open)
        }
    };
    sync_folder_of(path)?;
    // A program that had opened the old file before may have written into it only now.
    if !old.is_unchanged() && backups::link_newest(sidecar, old, &spare) {
        give_back(&spare, path, sidecar, ours)?;
        return Ok(Placed::Overtaken);
    }
    Ok(Placed::InPlace)
}

/// Removes or restores the file that a killed writer left under its temporary name. The writer's own new text is
/// removed. A file that the writer swapped out and another program had saved gets its place back, unless a still later
/// file stands there: then it is kept among the backups.
pub(super) fn mend(path: &Path, sidecar: &Folder, left: &Path, written: Option<Written>) {
    let Ok(found) = fs::symlink_metadata(left) else { return };
    let written = written.filter(|written| written.inode != 0 && written.inode != platform::inode(&found));
    let Some(written) = written else {
        let _ = fs::remove_file(left);
        return;
    };
    let is_ours =
        |present: &Metadata| platform::inode(present) == written.inode && present.len() == written.size;
    let ours = fs::symlink_metadata(path).ok().filter(is_ours);
    // The killed writer never said that its text was stored.
    let is_saved_later = ours.as_ref().is_some_and(|ours| modified(&found) > modified(ours));
    let mended = match ours {
        Some(ours) if is_saved_later || !backups::is_newest(sidecar, &found) => {
            give_back(left, path, sidecar, platform::identity(&ours))
        }
        _ => keep(left, sidecar, &found),
    };
    // Where this fails, the file is still there under that name.
    let _ = mended;
}

/// Puts a file that was swapped out back to its path. Where another program has saved there meanwhile, its file gets
/// the place, and the one that was put in before is kept among the backups.
fn give_back(out: &Path, path: &Path, sidecar: &Folder, ours: Option<(u64, u64)>) -> Result<(), StoreError> {
    let failed = || StoreError::write("give back", path);
    let at = |path: &Path| fs::symlink_metadata(path).map(|metadata| platform::identity(&metadata));
    let mut put_in = ours;
    for _ in 0..MAX_TRIES {
        let held = at(out).map_err(failed())?;
        match platform::exchange(out, path) {
            // Another program removed it, and may be about to create it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => break,
            Err(error) => return Err(failed()(error)),
            Ok(false) if at(path).is_ok_and(|present| present == ours) => {
                return fs::rename(out, path).map_err(failed());
            }
            Ok(false) => break,
            Ok(true) => {}
        }
        if at(out).map_err(failed())? == std::mem::replace(&mut put_in, held) {
            break;
        }
    }
    let left = fs::symlink_metadata(out).map_err(failed())?;
    if platform::identity(&left) == ours {
        fs::remove_file(out).map_err(failed())
    } else {
        keep(out, sidecar, &left)
    }
}

/// Moves a file to the backups.
fn keep(out: &Path, sidecar: &Folder, metadata: &Metadata) -> Result<(), StoreError> {
    backups::keep(sidecar, out, metadata, metadata.len(), None)?;
    fs::remove_file(out).map_err(StoreError::write("set aside", out))
}

fn modified(metadata: &Metadata) -> Option<SystemTime> {
    metadata.modified().ok()
}

#[cfg(test)]
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write;
    use std::path::PathBuf;

    use tempfile::TempDir;

    use super::super::atomic_write::temporary_path;
    use super::*;
    use crate::folder::Hosts;

    /// A memory file that was read, and a new text that is about to be put in its place.
    fn about_to_be_placed(old: Option<&str>) -> (TempDir, PathBuf, Folder, FileVersion, PendingFile) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Memories.md");
        if let Some(old) = old {
            fs::write(&path, old).unwrap();
        }
        let sidecar = Folder::make(&folder.path().join("sidecar"), Hosts::default()).unwrap();
        let (_, version) = FileVersion::take(&path).unwrap();
        let new = temporary_path(&path, 1, "new");
        let new = PendingFile::write(new, &path, version.model(), b"ours").unwrap();
        if let Some(metadata) = version.metadata() {
            backups::keep(&sidecar, &path, metadata, 4, None).unwrap();
        }
        (folder, path, sidecar, version, new)
    }

    fn names(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn a_file_that_was_removed_and_created_in_the_last_moment_keeps_its_place() {
        let (folder, path, sidecar, old, new) = about_to_be_placed(Some("old"));
        fs::remove_file(&path).unwrap();
        let mut branch = OpenOptions::new().write(true).create_new(true).open(&path).unwrap();
        assert_eq!(place(&path, &sidecar, &old, new).unwrap(), Placed::Overtaken);
        branch.write_all(b"the branch's").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "the branch's");
        assert_eq!(names(folder.path()), 2, "nothing is left over");
    }

    #[test]
    fn a_file_that_is_cut_and_written_in_the_last_moment_keeps_its_place() {
        let (folder, path, sidecar, old, new) = about_to_be_placed(Some("old"));
        let mut editor = OpenOptions::new().write(true).truncate(true).open(&path).unwrap();
        assert_eq!(place(&path, &sidecar, &old, new).unwrap(), Placed::Overtaken);
        editor.write_all(b"the editor's").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "the editor's");
        assert_eq!(names(folder.path()), 2, "nothing is left over");
    }

    #[test]
    fn a_file_that_is_about_to_be_created_finds_its_place_free() {
        let (folder, path, sidecar, old, new) = about_to_be_placed(Some("old"));
        fs::remove_file(&path).unwrap();
        assert_eq!(place(&path, &sidecar, &old, new).unwrap(), Placed::Overtaken);
        assert_eq!(names(folder.path()), 1);
    }

    #[test]
    fn a_file_that_was_created_in_the_last_moment_is_not_replaced() {
        let (folder, path, sidecar, old, new) = about_to_be_placed(None);
        fs::write(&path, "the branch's").unwrap();
        assert_eq!(place(&path, &sidecar, &old, new).unwrap(), Placed::Overtaken);
        assert_eq!(fs::read_to_string(&path).unwrap(), "the branch's");
        assert_eq!(names(folder.path()), 2);
    }

    #[test]
    fn of_two_files_saved_while_one_was_swapped_out_the_later_has_the_place_and_the_other_is_kept() {
        let (folder, path, sidecar, old, new) = about_to_be_placed(Some("old"));
        let out = folder.path().join("out");
        fs::rename(&path, &out).unwrap();
        fs::write(&out, "first").unwrap();
        let ours = platform::identity(&new.metadata().unwrap());
        for second in [Some("second"), None] {
            fs::write(&out, "first").unwrap();
            let _ = fs::remove_file(&path);
            if let Some(second) = second {
                fs::write(&path, second).unwrap();
            }
            give_back(&out, &path, &sidecar, ours).unwrap();
            assert_eq!(fs::read_to_string(&path).ok().as_deref(), second);
            let kept = backups::list(&sidecar).unwrap();
            assert_eq!(fs::read_to_string(&kept[0].path).unwrap(), "first");
            assert!(!out.exists());
        }
        drop((old, new));
    }
}
