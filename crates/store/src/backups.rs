//! Former states of a file, for `restore`: the last ten, and the last one of each of the last ten episodes.
//!
//! They are numbered files in a folder, `1.md` and so on; a higher number is newer. Before a file is
//! replaced, it gets a further name there (a hard link) where the file system has links, else it is
//! copied. Only regular files with such names are removed; all else in that folder is left alone.
//!
//! Of large files fewer states stay: those that have at most 100 MB together, and always the last two.
//!
//! A state that has more than twice the bytes of the file and of each newer state *outweighs* them: the file vanished,
//! or was saved in part. It stays beyond the tenth, until the file has grown to half of it. The sizes of such states
//! double from one to the next, so they take less than twice the space of the largest. What a writer itself makes so
//! much smaller is meant.

use std::cmp::Reverse;
use std::fs::{File, Metadata};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::atomic_write::copy_rest;
use crate::error::StoreError;
use crate::file_version::FileVersion;
use crate::folder::Folder;
use crate::occasion::{Occasion, Occasions};
use crate::platform;

/// The folder of the numbered files.
const FOLDER: &str = "backups";

/// Number of the newest states that are kept.
const KEPT: usize = 10;

/// Number of episodes whose last state is kept beside them.
const KEPT_EPISODES: usize = 10;

/// Number of the newest states that are kept however large they are.
const ALWAYS_KEPT: usize = 2;

/// Bytes that the states have together, but for the last two and those that outweigh what came after them.
const MAX_SIZE: u64 = 100 << 20;

/// The file with the number of the newest state that is meant to be larger than what followed it.
const MEANT: &str = "meant";

/// One former state of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Backup {
    /// A higher number is newer.
    pub number: u64,
    /// The file that holds it.
    pub path: PathBuf,
    /// When that state was written.
    pub modified: SystemTime,
    /// Its size in bytes; 0 where that cannot be read.
    pub size: u64,
    /// The write that replaced it, where that is known.
    pub before: Option<Occasion>,
    /// The episode of which it is the last state.
    pub ends: Option<u64>,
}

/// A state that outweighs a file.
pub(super) struct Outweighing {
    pub number: u64,
    /// Size in bytes.
    pub size: u64,
    pub path: PathBuf,
}

/// All backups, newest first; empty where there is no folder.
pub(super) fn list(sidecar: &Folder) -> Result<Vec<Backup>, StoreError> {
    let Some(folder) = sidecar.folder(FOLDER)? else { return Ok(Vec::new()) };
    let mut backups = Vec::new();
    let occasions = Occasions::read(&folder);
    for number in numbered(&folder)? {
        // A backup that was removed since the folder was listed is left out.
        let opened = folder.read_backup(&name_of(number)).ok();
        let Some(metadata) = opened.and_then(|file| file.metadata().ok()) else { continue };
        let (path, size) = (folder.path(name_of(number)), metadata.len());
        let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        let known = occasions.of(number);
        let (before, ends) = (known.map(|known| known.before.clone()), known.and_then(|known| known.ends));
        backups.push(Backup { number, path, modified, size, before, ends });
    }
    Ok(backups)
}

/// The text of a backup; `None` where there is none of that number.
pub(super) fn read(sidecar: &Folder, number: u64) -> Result<Option<String>, StoreError> {
    let Some(folder) = sidecar.folder(FOLDER)? else { return Ok(None) };
    let name = name_of(number);
    if !folder.facts(&name).is_ok_and(|facts| facts.is_some_and(|facts| facts.is_file)) {
        return Ok(None);
    }
    let file = folder.read_backup(&name)?;
    FileVersion::of(folder.path(&name), Some(file))?.read()
}

/// The path of the backup of that number.
pub(super) fn path_in(sidecar: &Path, number: u64) -> PathBuf {
    sidecar.join(FOLDER).join(name_of(number))
}

/// The largest state that outweighs a file of that size in bytes.
pub(super) fn largest_outweighing(sidecar: &Folder, size: u64) -> Result<Option<Outweighing>, StoreError> {
    let Some(folder) = sidecar.folder(FOLDER)? else { return Ok(None) };
    let states = sizes(&folder, &numbered(&folder)?);
    Ok(largest(&folder, &outweighing(&states, size, meant(&folder))))
}

/// Keeps the file as the newest backup before it gets a new size, for an occasion, and removes older ones. Returns
/// the largest state that outweighs the new text. A failure means that the file is not kept.
pub(super) fn keep(
    sidecar: &Folder,
    file: &Path,
    metadata: &Metadata,
    new_size: u64,
    occasion: Option<Occasion>,
) -> Result<Option<Outweighing>, StoreError> {
    let error = |source| StoreError::Write { action: "keep a backup in", path: sidecar.path(FOLDER), source };
    let folder = sidecar.folder_or_new(FOLDER)?;
    folder.make_private().map_err(error)?;
    let mut present = numbered(&folder)?;
    if !is_kept(&folder, &present, metadata) {
        let number = present.first().map_or(1, |newest| newest.saturating_add(1));
        if folder.link(file, &name_of(number)).is_err() {
            copy(&folder, file, &name_of(number)).map_err(error)?;
        }
        present.insert(0, number);
    }
    let mut occasions = Occasions::read(&folder);
    if let Some(occasion) = occasion {
        occasions.add(&folder, present[0], occasion, |number| present.contains(&number));
    }
    let states = sizes(&folder, &present);
    let meant = meant(&folder);
    let newer = states.get(1..).unwrap_or_default();
    let meant = if outweighs(metadata.len(), new_size) && outweighing(newer, metadata.len(), meant).is_empty()
    {
        note_meant(&folder, present[0]).map(|()| present[0]).map_err(error)?
    } else {
        meant
    };
    let outweighing = outweighing(&states, new_size, meant);
    let ends = occasions.ends_of_episodes(present.iter().copied(), KEPT_EPISODES);
    let mut together = 0;
    for (place, (number, size)) in states.iter().enumerate() {
        together += size;
        let stays = (place < KEPT || ends.contains(number)) && (together <= MAX_SIZE || place < ALWAYS_KEPT);
        if !stays && outweighing.iter().all(|(spared, _)| spared != number) {
            folder.remove(&name_of(*number)).map_err(error)?;
        }
    }
    Ok(largest(&folder, &outweighing))
}

/// Notes why a file is created, which has no former state: so its first one can end an episode, too.
pub(super) fn note_first(sidecar: &Folder, occasion: Option<Occasion>) {
    let Some(occasion) = occasion else { return };
    let folder = sidecar.folder(FOLDER).ok().flatten().or_else(|| sidecar.make_folder(FOLDER).ok());
    let Some(folder) = folder else { return };
    if numbered(&folder).is_ok_and(|present| present.is_empty()) {
        Occasions::read(&folder).add(&folder, 0, occasion, |_| false);
    }
}

/// True if the newest backup is this very file.
pub(super) fn is_newest(sidecar: &Folder, file: &Metadata) -> bool {
    let Ok(Some(folder)) = sidecar.folder(FOLDER) else { return false };
    numbered(&folder).is_ok_and(|present| is_kept(&folder, &present, file))
}

/// Gives the newest backup a further name elsewhere, if it is the file that was read. Returns `true` if it has it.
pub(super) fn link_newest(sidecar: &Folder, file: &FileVersion, path: &Path) -> bool {
    let Ok(Some(folder)) = sidecar.folder(FOLDER) else { return false };
    let (Some(metadata), Ok(present)) = (file.metadata(), numbered(&folder)) else { return false };
    let newest = present.first().filter(|_| is_kept(&folder, &present, metadata));
    newest.is_some_and(|newest| folder.link_out(&name_of(*newest), path).is_ok())
}

/// The numbers of the states that are files, with their sizes in bytes.
fn sizes(folder: &Folder, present: &[u64]) -> Vec<(u64, u64)> {
    let size =
        |number| folder.facts(name_of(number)).ok()?.filter(|facts| facts.is_file).map(|facts| facts.size);
    present.iter().filter_map(|&number| Some((number, size(number)?))).collect()
}

/// Each is larger than the newer ones.
fn largest(folder: &Folder, outweighing: &[(u64, u64)]) -> Option<Outweighing> {
    let &(number, size) = outweighing.last()?;
    Some(Outweighing { number, size, path: folder.path(name_of(number)) })
}

/// The states, newest first, that outweigh a file of that size in bytes and each newer state. Those up to the number
/// `meant` do not.
fn outweighing(states: &[(u64, u64)], size: u64, meant: u64) -> Vec<(u64, u64)> {
    let mut largest = size;
    let mut found = Vec::new();
    for &(number, bytes) in states {
        if number > meant && outweighs(bytes, largest) {
            found.push((number, bytes));
        }
        largest = largest.max(bytes);
    }
    found
}

fn outweighs(one: u64, other: u64) -> bool {
    one > other.saturating_mul(2)
}

/// The number of the newest state that is meant to be larger than what followed it; 0 where none is.
fn meant(folder: &Folder) -> u64 {
    let read = || {
        let mut text = String::new();
        folder.read(MEANT).ok()??.take(32).read_to_string(&mut text).ok()?;
        text.trim().parse().ok()
    };
    read().unwrap_or(0)
}

fn note_meant(folder: &Folder, number: u64) -> io::Result<()> {
    folder.create(MEANT)?.write_all(format!("{number}\n").as_bytes())
}

/// Where the file system has no links.
fn copy(folder: &Folder, file: &Path, name: &str) -> io::Result<()> {
    if folder.facts(name)?.is_some() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let copied = folder.create(name).and_then(|copy| {
        copy_rest(&File::open(file)?, &copy)?;
        copy.sync_all()
    });
    copied.inspect_err(|_| {
        let _ = folder.remove(name);
    })
}

/// True if the newest backup is this very file: a writer was killed, or an editor was faster, between
/// that backup and the replacement of the file.
fn is_kept(folder: &Folder, present: &[u64], file: &Metadata) -> bool {
    let newest = present.first().and_then(|newest| folder.facts(name_of(*newest)).ok()?);
    newest.is_some_and(|newest| newest.identity.is_some() && newest.identity == platform::identity(file))
}

fn name_of(number: u64) -> String {
    format!("{number}.md")
}

/// The numbers of the states in the folder by their names, newest first. Each name may be that of something else.
fn numbered(folder: &Folder) -> Result<Vec<u64>, StoreError> {
    let names = folder.names().map_err(StoreError::read(&folder.path("")))?;
    let number =
        |name: &str| name.strip_suffix(".md")?.parse().ok().filter(|number| name == name_of(*number));
    let mut numbers: Vec<u64> = names.iter().filter_map(|name| number(name.to_str()?)).collect();
    numbers.sort_unstable_by_key(|number| Reverse(*number));
    Ok(numbers)
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use super::*;
    use crate::folder::Hosts;

    #[test]
    fn a_kill_after_a_backup_and_before_the_removal_of_the_oldest_leaves_ten_the_next_time() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("Memories.md");
        let sidecar = Folder::make(&folder.path().join("sidecar"), Hosts::default()).unwrap();
        fs::write(&file, "as it is").unwrap();
        fs::create_dir(sidecar.path(FOLDER)).unwrap();
        for number in 1..=KEPT as u64 {
            fs::write(path_in(&sidecar.path(""), number), "former").unwrap();
        }
        fs::hard_link(&file, path_in(&sidecar.path(""), 11)).unwrap();
        keep(&sidecar, &file, &fs::metadata(&file).unwrap(), 9, None).unwrap();
        let kept: Vec<u64> = list(&sidecar).unwrap().iter().map(|backup| backup.number).collect();
        assert_eq!(kept, (2..=11).rev().collect::<Vec<u64>>());
    }

    #[test]
    fn of_large_files_the_states_of_100_mb_stay_and_always_the_last_two() {
        for (size, expected) in [(10, 10), (11, 9), (30, 3), (60, 2), (300, 2)] {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("Memories.md");
            let sidecar = Folder::make(&folder.path().join("sidecar"), Hosts::default()).unwrap();
            fs::create_dir(sidecar.path(FOLDER)).unwrap();
            let former = (1..=11).map(|number| path_in(&sidecar.path(""), number));
            for path in former.chain([file.clone()]) {
                File::create(path).unwrap().set_len(size << 20).unwrap();
            }
            let outweighing = keep(&sidecar, &file, &fs::metadata(&file).unwrap(), size << 20, None).unwrap();
            assert!(outweighing.is_none());
            let kept: Vec<u64> = list(&sidecar).unwrap().iter().map(|backup| backup.number).collect();
            assert_eq!(kept, (13 - expected..=12).rev().collect::<Vec<u64>>(), "{size} MB each");
        }
    }

    #[test]
    fn a_state_outweighs_what_is_less_than_half_of_it() {
        let states = [(9, 40), (8, 90), (7, 300), (6, 100), (5, 601), (4, 1000), (3, 5000)];
        let of = |size: u64, meant: u64| {
            outweighing(&states, size, meant).iter().map(|(number, _)| *number).collect::<Vec<_>>()
        };
        assert_eq!(of(0, 0), [9, 8, 7, 5, 3]);
        assert_eq!(of(30, 0), [8, 7, 5, 3]);
        assert_eq!(of(150, 0), [5, 3]);
        assert_eq!(of(2500, 0), [] as [u64; 0]);
        assert_eq!(of(0, 5), [9, 8, 7]);
    }
}
