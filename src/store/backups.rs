//! Former states of a file, for `restore`: the last ten, and the last one of each of the last ten episodes.
//!
//! They are numbered files in a folder, `1.md` and so on; a higher number is newer. Before a file is
//! replaced, it gets a further name there (a hard link) where the file system has links, else it is
//! copied. Only regular files with such names are removed; all else in that folder is left alone.
//!
//! Where the states are large, each is packed when its file is replaced: `1.delta` says how it differs from the text
//! that replaced it. The whole file stays until the next write has kept that text; so the newest state is whole.
//!
//! A state that has more than twice the bytes of the file and of each newer state *outweighs* them: the file vanished,
//! or was saved in part. It stays beyond the tenth, until the file has grown to half of it. The sizes of such states
//! double from one to the next, so they take less than twice the space of the largest. What a writer itself makes so
//! much smaller is meant.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::fs::{File, Metadata};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::atomic_write::copy_rest;
use super::error::StoreError;
use super::file_version::FileVersion;
use super::folder::Folder;
use super::occasion::{Occasion, Occasions};
use super::packed::{self, Packed, Stamp};
use super::platform;

/// The folder of the numbered files.
const FOLDER: &str = "backups";

/// Number of the newest states that are kept.
const KEPT: usize = 10;

/// Number of episodes whose last state is kept beside them.
const KEPT_EPISODES: usize = 10;

/// Bytes that the states have together before they are packed.
const MAX_WHOLE: u64 = 10 << 20;

/// The file with the number of the newest state that is meant to be larger than what followed it.
const MEANT: &str = "meant";

/// One former state of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Backup {
    /// A higher number is newer.
    pub number: u64,
    /// Where it is: a whole file, or one that says how it differs from the next newer.
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

/// Result of keeping a state.
pub(super) struct Kept {
    /// The state is the file itself, and so is on disk where the file is. Else it is a copy.
    pub(super) is_linked: bool,
    /// The states are so large that they are to be packed.
    pub(super) is_large: bool,
    /// The largest state that outweighs the new text.
    pub(super) outweighing: Option<Outweighing>,
}

/// A state that outweighs a file.
pub(super) struct Outweighing {
    pub(super) number: u64,
    /// Size in bytes.
    pub(super) size: u64,
    pub(super) path: PathBuf,
}

/// A numbered state, by the names in the folder. Each may be that of something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct State {
    number: u64,
    /// There is a file with its text.
    is_whole: bool,
    /// There is a file with its difference from the next.
    is_packed: bool,
}

impl State {
    /// The file that counts.
    fn name(&self) -> String {
        if self.is_whole { name_of(self.number) } else { packed_name_of(self.number) }
    }
}

/// All backups, newest first; empty where there is no folder.
pub(super) fn list(sidecar: &Folder) -> Result<Vec<Backup>, StoreError> {
    let Some(folder) = sidecar.folder(FOLDER)? else { return Ok(Vec::new()) };
    let mut backups = Vec::new();
    let occasions = Occasions::read(&folder);
    for state in numbered(&folder)? {
        // A backup that was removed since the folder was listed is left out.
        let opened = folder.read_backup(&state.name()).ok();
        let Some(metadata) = opened.and_then(|file| file.metadata().ok()) else { continue };
        let (number, path) = (state.number, folder.path(state.name()));
        let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        let (modified, size) = match state.is_whole {
            true => (modified, metadata.len()),
            false => match packed::read_header(&folder, &state.name()) {
                Some(Packed { file, difference, .. }) => (file.modified(), difference.size),
                None => (modified, 0),
            },
        };
        let known = occasions.of(number);
        let (before, ends) = (known.map(|known| known.before.clone()), known.and_then(|known| known.ends));
        backups.push(Backup { number, path, modified, size, before, ends });
    }
    Ok(backups)
}

/// The text of a backup; `None` where there is none of that number. The newest may be rebuilt from the memory file.
pub(super) fn read(sidecar: &Folder, number: u64, memory_file: &Path) -> Result<Option<String>, StoreError> {
    let Some(folder) = sidecar.folder(FOLDER)? else { return Ok(None) };
    let states = numbered(&folder)?;
    match states.iter().position(|state| state.number == number) {
        Some(at) if is_backup(&folder, &states[at]) => text_of(&folder, &states, at, memory_file).map(Some),
        _ => Ok(None),
    }
}

/// The text of the state at that place in the list.
fn text_of(folder: &Folder, states: &[State], at: usize, memory_file: &Path) -> Result<String, StoreError> {
    let state = states[at];
    let packed = state.is_packed.then(|| packed::read(folder, &packed_name_of(state.number))).flatten();
    if state.is_whole {
        let file = folder.read_backup(&state.name())?;
        let text = FileVersion::of(folder.path(state.name()), Some(file))?.read()?.unwrap_or_default();
        if packed.as_ref().is_none_or(|packed| packed.difference.is_of(text.as_bytes())) {
            return Ok(text);
        }
    }
    let path = || folder.path(state.name());
    let packed = packed.ok_or_else(|| StoreError::DamagedBackup { path: path() })?;
    let next = match next_of(folder, &states[..at], packed.next) {
        Some(newer) => text_of(folder, states, newer, memory_file)?,
        None => FileVersion::take(memory_file)?.0.unwrap_or_default(),
    };
    let text = packed.difference.apply(next.as_bytes()).and_then(|text| String::from_utf8(text).ok());
    text.ok_or_else(|| StoreError::DamagedBackup { path: path() })
}

/// The place of the state that a packed one differs from: the text that replaced it, by its file. Where that was changed
/// it is the last of those that are newer.
fn next_of(folder: &Folder, newer: &[State], next: Stamp) -> Option<usize> {
    let stamp = |state: &State| match state.is_packed {
        true => packed::read_header(folder, &packed_name_of(state.number)).map(|packed| packed.file),
        false => folder.read_backup(&state.name()).ok()?.metadata().ok().map(|metadata| Stamp::of(&metadata)),
    };
    newer.iter().rposition(|state| stamp(state) == Some(next)).or(newer.len().checked_sub(1))
}

/// The path of the backup of that number where it is whole.
pub(super) fn path_in(sidecar: &Path, number: u64) -> PathBuf {
    sidecar.join(FOLDER).join(name_of(number))
}

/// The largest state that outweighs a file of that size in bytes.
pub(super) fn largest_outweighing(sidecar: &Folder, size: u64) -> Result<Option<Outweighing>, StoreError> {
    let Some(folder) = sidecar.folder(FOLDER)? else { return Ok(None) };
    let states = sizes(&folder, &numbered(&folder)?);
    Ok(largest(&folder, &outweighing(&states, size, meant(&folder))))
}

/// Keeps the file as the newest backup before it gets a new size, for an occasion, and removes older ones. A failure
/// means that the file is not kept.
pub(super) fn keep(
    sidecar: &Folder,
    (file, metadata): (&Path, &Metadata),
    new_size: u64,
    occasion: Option<Occasion>,
) -> Result<Kept, StoreError> {
    let error = |source| StoreError::Write { action: "keep a backup in", path: sidecar.path(FOLDER), source };
    let folder = sidecar.folder(FOLDER)?.map_or_else(|| sidecar.make_folder(FOLDER), Ok)?;
    folder.make_private().map_err(error)?;
    let mut present = numbered(&folder)?;
    let mut is_linked = true;
    if !is_kept(&folder, &present, metadata) {
        let number = present.first().map_or(1, |state| state.number.saturating_add(1));
        is_linked = folder.link(file, &name_of(number)).is_ok();
        if !is_linked {
            copy(&folder, file, &name_of(number)).map_err(error)?;
        }
        present.insert(0, State { number, is_whole: true, is_packed: false });
    }
    let mut occasions = Occasions::read(&folder);
    if let Some(occasion) = occasion {
        let is_present = |number| present.iter().any(|state| state.number == number);
        occasions.add(&folder, present[0].number, occasion, is_present);
    }
    let states = sizes(&folder, &present);
    let meant = meant(&folder);
    let newer = states.get(1..).unwrap_or_default();
    let meant =
        match outweighs(metadata.len(), new_size) && outweighing(newer, metadata.len(), meant).is_empty() {
            true => note_meant(&folder, present[0].number).map(|()| present[0].number).map_err(error)?,
            false => meant,
        };
    let outweighing = outweighing(&states, new_size, meant);
    let mut spared = occasions.ends_of_episodes(present.iter().map(|state| state.number), KEPT_EPISODES);
    spared.extend(outweighing.iter().map(|(state, _)| state.number));
    remove_oldest(&folder, &states, &spared)?;
    let is_large = states.iter().take(KEPT).map(|(_, size)| size).sum::<u64>() > MAX_WHOLE;
    Ok(Kept { is_linked, is_large, outweighing: largest(&folder, &outweighing) })
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

/// Removes the states beyond the tenth, but those that are spared, and those from which one of these is rebuilt.
fn remove_oldest(folder: &Folder, states: &[(State, u64)], spared: &HashSet<u64>) -> Result<(), StoreError> {
    let error = |source| StoreError::Write { action: "keep a backup in", path: folder.path(""), source };
    // The packed state before, which needs the next one to be rebuilt.
    let mut packed: Option<State> = None;
    for (state, _) in states.iter().skip(KEPT).rev() {
        let names = packed.map(|older| (packed_name_of(older.number), packed_name_of(state.number)));
        let stays = match names {
            _ if spared.contains(&state.number) => true,
            Some((older, newer)) => !packed::merge(folder, (&older, &newer)).map_err(error)?,
            None => false,
        };
        if stays {
            packed = (!state.is_whole).then_some(*state);
            continue;
        }
        if packed.is_some() {
            folder.sync()?;
        }
        if state.is_whole {
            folder.remove(&name_of(state.number)).map_err(error)?;
        }
        if state.is_packed {
            folder.remove(&packed_name_of(state.number)).map_err(error)?;
        }
    }
    Ok(())
}

/// Packs the newest state, that of a file which `new` has replaced, and removes whole states that were packed before.
pub(super) fn pack(
    sidecar: &Folder,
    old: &FileVersion,
    (new, new_file): (&str, Stamp),
) -> Result<(), StoreError> {
    let error = |source| StoreError::Write { action: "pack a backup in", path: sidecar.path(FOLDER), source };
    let (Some(folder), Some((file, metadata))) = (sidecar.folder(FOLDER)?, old.file().zip(old.metadata()))
    else {
        return Ok(());
    };
    let states = numbered(&folder)?;
    let Some(newest) = states.first().filter(|_| is_kept(&folder, &states, metadata)) else {
        return Ok(());
    };
    let name = packed_name_of(newest.number);
    if !packed::write(&folder, &name, (file, metadata), (new, new_file)).map_err(error)? {
        return Ok(());
    }
    folder.sync()?;
    // From the oldest on: whether one may go is seen from the next.
    for pair in states.windows(2).rev() {
        if is_superfluous(&folder, &pair[1], &pair[0]) {
            folder.remove(&name_of(pair[1].number)).map_err(error)?;
        }
    }
    Ok(())
}

/// True if a whole state can be rebuilt: it is packed, nobody wrote into it since, and the next newer state is the text
/// that it differs from.
fn is_superfluous(folder: &Folder, state: &State, newer: &State) -> bool {
    if !(state.is_whole && state.is_packed && newer.is_whole) {
        return false;
    }
    let stamp = |state: &State| {
        let metadata = folder.read_backup(&name_of(state.number)).ok()?.metadata().ok()?;
        Some(Stamp::of(&metadata))
    };
    let packed = packed::read_header(folder, &packed_name_of(state.number));
    packed.is_some_and(|packed| stamp(state) == Some(packed.file) && stamp(newer) == Some(packed.next))
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
    newest.is_some_and(|newest| folder.link_out(&newest.name(), path).is_ok())
}

/// The states that are files, with their sizes in bytes.
fn sizes(folder: &Folder, present: &[State]) -> Vec<(State, u64)> {
    let size = |state: &State| {
        let facts = folder.facts(state.name()).ok()?.filter(|facts| facts.is_file)?;
        Some(match state.is_whole {
            true => facts.size,
            false => packed::read_header(folder, &state.name()).map_or(0, |packed| packed.difference.size),
        })
    };
    present.iter().filter_map(|state| Some((*state, size(state)?))).collect()
}

/// Each is larger than the newer ones.
fn largest(folder: &Folder, outweighing: &[(State, u64)]) -> Option<Outweighing> {
    let (state, size) = outweighing.last()?;
    Some(Outweighing { number: state.number, size: *size, path: folder.path(state.name()) })
}

/// The states, newest first, that outweigh a file of that size in bytes and each newer state. Those up to the number
/// `meant` do not.
fn outweighing(states: &[(State, u64)], size: u64, meant: u64) -> Vec<(State, u64)> {
    let mut largest = size;
    let mut found = Vec::new();
    for &(state, bytes) in states {
        if state.number > meant && outweighs(bytes, largest) {
            found.push((state, bytes));
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
fn is_kept(folder: &Folder, present: &[State], file: &Metadata) -> bool {
    let newest = present.first().filter(|newest| newest.is_whole);
    let newest = newest.and_then(|newest| folder.facts(newest.name()).ok()?);
    newest.is_some_and(|newest| newest.identity.is_some() && newest.identity == platform::identity(file))
}

fn is_backup(folder: &Folder, state: &State) -> bool {
    folder.facts(state.name()).is_ok_and(|facts| facts.is_some_and(|facts| facts.is_file))
}

fn name_of(number: u64) -> String {
    format!("{number}.md")
}

fn packed_name_of(number: u64) -> String {
    format!("{number}.delta")
}

/// The states in the folder by their names, newest first.
fn numbered(folder: &Folder) -> Result<Vec<State>, StoreError> {
    let names = folder.names().map_err(StoreError::read(&folder.path("")))?;
    let mut states: Vec<State> = Vec::new();
    for name in names.iter().filter_map(|name| name.to_str()) {
        let Some(number) = name.split_once('.').and_then(|(number, _)| number.parse().ok()) else { continue };
        let (is_whole, is_packed) = (name == name_of(number), name == packed_name_of(number));
        if is_whole || is_packed {
            states.push(State { number, is_whole, is_packed });
        }
    }
    states.sort_unstable_by_key(|state| Reverse(state.number));
    states.dedup_by(|one, other| {
        let is_same = one.number == other.number;
        if is_same {
            other.is_whole |= one.is_whole;
            other.is_packed |= one.is_packed;
        }
        is_same
    });
    Ok(states)
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_kill_after_a_backup_and_before_the_removal_of_the_oldest_leaves_ten_the_next_time() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("Memories.md");
        let sidecar = Folder::make(&folder.path().join("sidecar")).unwrap();
        fs::write(&file, "as it is").unwrap();
        fs::create_dir(sidecar.path(FOLDER)).unwrap();
        for number in 1..=KEPT as u64 {
            fs::write(path_in(&sidecar.path(""), number), "former").unwrap();
        }
        fs::hard_link(&file, path_in(&sidecar.path(""), 11)).unwrap();
        keep(&sidecar, (&file, &fs::metadata(&file).unwrap()), 9, None).unwrap();
        let kept: Vec<u64> = list(&sidecar).unwrap().iter().map(|backup| backup.number).collect();
        assert_eq!(kept, (2..=11).rev().collect::<Vec<u64>>());
    }

    #[test]
    fn a_state_outweighs_what_is_less_than_half_of_it() {
        let states = [(9, 40), (8, 90), (7, 300), (6, 100), (5, 601), (4, 1000), (3, 5000)];
        let states = states.map(|(number, size)| (State { number, is_whole: true, is_packed: false }, size));
        let of = |size: u64, meant: u64| {
            outweighing(&states, size, meant).iter().map(|(state, _)| state.number).collect::<Vec<_>>()
        };
        assert_eq!(of(0, 0), [9, 8, 7, 5, 3]);
        assert_eq!(of(30, 0), [8, 7, 5, 3]);
        assert_eq!(of(150, 0), [5, 3]);
        assert_eq!(of(2500, 0), [] as [u64; 0]);
        assert_eq!(of(0, 5), [9, 8, 7]);
    }
}
