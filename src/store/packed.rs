//! Packed states: files `N.delta` among the backups.
//!
//! A state and the text that replaced it enter; a file with their difference leaves, and later the state again. The
//! file says which files both texts stood in, so that the next write sees whether the whole state can be removed.

use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::difference::Difference;
use super::folder::Folder;
use super::platform;

/// The version of the format.
const VERSION: u32 = 1;

/// Longest first line in bytes. Each part takes some twenty, and a write changes few places.
const MAX_HEADER: u64 = 16 << 20;

/// The name of a file that is not complete yet.
pub(super) const NEW: &str = "new";

/// The first line of a packed state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Packed {
    version: u32,
    /// The file that held the state.
    pub(super) file: Stamp,
    /// The file that held the text that replaced it.
    pub(super) next: Stamp,
    pub(super) difference: Difference,
}

/// One version of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    pub(super) inode: u64,
    size: u64,
    /// Time since 1970; `None` where that is not known.
    modified: Option<Duration>,
}

impl Stamp {
    pub(super) fn of(metadata: &Metadata) -> Stamp {
        let modified = metadata.modified().ok();
        let modified = modified.and_then(|modified| modified.duration_since(UNIX_EPOCH).ok());
        Stamp { inode: platform::inode(metadata), size: metadata.len(), modified }
    }

    pub(super) fn modified(&self) -> SystemTime {
        UNIX_EPOCH + self.modified.unwrap_or_default()
    }
}

/// Writes a packed state, on disk when this returns. Returns `false` where it has little in common with the text that
/// replaced it, or its file was written meanwhile.
pub(super) fn write(
    folder: &Folder,
    name: &str,
    (old, metadata): (&File, &Metadata),
    (new, new_file): (&str, Stamp),
) -> io::Result<bool> {
    let mut reader = old;
    reader.seek(SeekFrom::Start(0))?;
    let Some(difference) = Difference::find(reader, metadata.len(), new.as_bytes())? else {
        return Ok(false);
    };
    let file = Stamp::of(metadata);
    if Stamp::of(&old.metadata()?) != file {
        return Ok(false);
    }
    let packed = Packed { version: VERSION, file, next: new_file, difference };
    write_file(folder, name, &packed).map(|()| true)
}

/// Puts a packed state in place, on disk when this returns but for its name.
fn write_file(folder: &Folder, name: &str, packed: &Packed) -> io::Result<()> {
    let written = || {
        let mut file = folder.create(NEW)?;
        let mut bytes = serde_json::to_vec(packed)?;
        bytes.push(b'\n');
        bytes.extend_from_slice(&packed.difference.own);
        file.write_all(&bytes)?;
        file.sync_all()?;
        folder.rename(NEW, name)
    };
    written().inspect_err(|_| {
        let _ = folder.remove(NEW);
    })
}

/// Makes the first of two packed states one that is rebuilt from the text after the second, on disk when this returns.
/// Returns `false` where it cannot do without the second: one of them is damaged, or the second is not packed.
pub(super) fn merge(folder: &Folder, (older, newer): (&str, &str)) -> io::Result<bool> {
    let Some((one, other)) = read(folder, older).zip(read(folder, newer)) else { return Ok(false) };
    // A writer was killed when it had merged them.
    if one.next != other.file {
        return Ok(true);
    }
    let Some(difference) = one.difference.beyond(&other.difference) else { return Ok(false) };
    let merged = Packed { next: other.next, difference, ..one };
    write_file(folder, older, &merged).map(|()| true)
}

/// Reads a packed state without its own bytes; `None` where there is none, or it is damaged.
pub(super) fn read_header(folder: &Folder, name: &str) -> Option<Packed> {
    Some(open(folder, name)?.0)
}

/// The same with its own bytes.
pub(super) fn read(folder: &Folder, name: &str) -> Option<Packed> {
    let (mut packed, mut rest) = open(folder, name)?;
    rest.read_to_end(&mut packed.difference.own).ok()?;
    Some(packed)
}

fn open(folder: &Folder, name: &str) -> Option<(Packed, impl Read)> {
    let mut reader = BufReader::new(folder.read(name).ok()??);
    let mut line = Vec::new();
    reader.by_ref().take(MAX_HEADER).read_until(b'\n', &mut line).ok()?;
    let packed: Packed = serde_json::from_slice(&line).ok()?;
    (packed.version == VERSION).then_some((packed, reader))
}
