//! The lines that follow a change, noted in the lock file before it.
//!
//! For a change, only the memory file and the lock file are synced. The lock file holds the lines that the logs get, and
//! their places. A log may lose its end to a kill or a power cut: the next holder of the lock writes the lines again.
//! The note holds groups of lines, one behind the other, until the logs are synced. The last group may wait: it counts
//! only if its text is in place. The hash of a group shows whether a power cut has torn it.

use std::io::{self, Read, Seek, SeekFrom, Write};

use xxhash_rust::xxh3::xxh3_64;

use crate::at::Access;
use crate::error::StoreError;
use crate::folder::Folder;

/// Begins the last line of a group whose text may not be in place yet.
pub(super) const WAITS: &str = "wait";

/// Begins the last line of a group that counts whatever text is in place.
pub(super) const DONE: &str = "done";

/// Size in bytes of the last line of a group: state, inode and hash.
pub(super) const END_SIZE: u64 = 4 + 1 + 20 + 1 + 16 + 1;

/// Whole lines at a place in a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Addition {
    /// Name of the log's file.
    pub(super) name: String,
    /// The offset at which they begin: there the log ended.
    pub(super) offset: u64,
    pub(super) bytes: Vec<u8>,
}

/// The additions of one change.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) additions: Vec<Addition>,
    /// False if it counts only with its text.
    pub(super) is_done: bool,
    /// Inode of its text; 0 where there is none.
    pub(super) inode: u64,
    /// Size of the note up to its end.
    pub(super) end: u64,
}

/// The additions of a change as a group of a note. `inode` is that of the text for which it waits.
pub(super) fn render(additions: &[Addition], inode: Option<u64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for Addition { name, offset, bytes: lines } in additions {
        bytes.extend(format!("{name} {offset} {}\n", lines.len()).into_bytes());
        bytes.extend(lines);
    }
    let state = if inode.is_some() { WAITS } else { DONE };
    let end = format!("{state} {:>20} {:016x}\n", inode.unwrap_or_default(), xxh3_64(&bytes));
    bytes.extend(end.into_bytes());
    bytes
}

/// Reads the groups of a note, up to the first that is not whole.
pub(super) fn parse(bytes: &[u8]) -> Vec<Group> {
    let (mut groups, mut additions) = (Vec::new(), Vec::new());
    let (mut start, mut at) = (0, 0);
    while let Some(size) = memchr::memchr(b'\n', &bytes[at..]) {
        let (line, behind) = (&bytes[at..at + size], at + size + 1);
        if let Some((is_done, inode)) = parse_end(line, &bytes[start..at]) {
            let end = behind as u64;
            groups.push(Group { additions: std::mem::take(&mut additions), is_done, inode, end });
            (start, at) = (behind, behind);
        } else if let Some((name, offset, size)) = parse_head(line)
            && let Some(lines) = bytes.get(behind..behind.saturating_add(size))
        {
            additions.push(Addition { name, offset, bytes: lines.to_vec() });
            at = behind + size;
        } else {
            break;
        }
    }
    groups
}

/// State and inode of the last line of a group, if the hash is that of its additions.
fn parse_end(line: &[u8], group: &[u8]) -> Option<(bool, u64)> {
    let mut words = std::str::from_utf8(line).ok()?.split_ascii_whitespace();
    let (state, inode, hash) = (words.next()?, words.next()?.parse().ok()?, words.next()?);
    let is_end = (state == DONE || state == WAITS) && hash == format!("{:016x}", xxh3_64(group));
    is_end.then_some((state == DONE, inode))
}

/// Name, offset and size of an addition. No other file has a name of that form, and none is elsewhere.
fn parse_head(line: &[u8]) -> Option<(String, u64, usize)> {
    let mut words = std::str::from_utf8(line).ok()?.split_ascii_whitespace();
    let (name, offset, size) = (words.next()?, words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let is_log = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'.') && !name.starts_with('.');
    is_log.then(|| (name.to_owned(), offset, size))
}

impl Addition {
    /// Adds the lines. If they cannot be written whole (the disk is full), the log gets its former end back.
    pub(super) fn write(&self, folder: &Folder) -> Result<(), StoreError> {
        let mut file = folder.write(&self.name, Access::Append)?;
        let mut add = || {
            let size = file.seek(SeekFrom::End(0))?;
            file.write_all(&self.bytes).inspect_err(|_| {
                let _ = file.set_len(size);
            })
        };
        add().map_err(StoreError::write("write", &folder.path(&self.name)))
    }

    /// Writes the lines again where a kill or a power cut took a part of them: the log ends before their end, or has NUL
    /// bytes in their place. `false`: somebody has changed the log, and it stays.
    pub(super) fn complete(&self, folder: &Folder) -> Result<bool, StoreError> {
        if folder.read(&self.name)?.is_none() {
            return Ok(false);
        }
        let mut file = folder.write(&self.name, Access::ReadWrite)?;
        let mut complete = || {
            if file.seek(SeekFrom::End(0))? < self.offset {
                return Ok(false);
            }
            let mut present = Vec::new();
            file.seek(SeekFrom::Start(self.offset))?;
            (&mut file).take(self.bytes.len() as u64).read_to_end(&mut present)?;
            let is_cut =
                present.iter().zip(&self.bytes).all(|(present, byte)| present == byte || *present == 0);
            if present != self.bytes && is_cut {
                file.seek(SeekFrom::Start(self.offset))?;
                file.write_all(&self.bytes)?;
            }
            Ok::<_, io::Error>(is_cut)
        };
        complete().map_err(StoreError::write("write", &folder.path(&self.name)))
    }

    /// Makes the log survive a power cut.
    pub(super) fn sync(&self, folder: &Folder) -> Result<(), StoreError> {
        // A log that cannot be opened is reported by the next write.
        let Ok(Some(file)) = folder.read(&self.name) else { return Ok(()) };
        file.sync_data().map_err(StoreError::write("sync", &folder.path(&self.name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::Hosts;

    fn addition(offset: u64) -> Addition {
        let bytes = b"{\"id\":\"1\"}\n{\"id\":\"2\"}\nwait\n{\"id\":\"2\"} 3\n".to_vec();
        Addition { name: "journal.jsonl".to_owned(), offset, bytes }
    }

    #[test]
    fn a_note_is_read_as_far_as_it_is_whole() {
        let written = Addition { name: "written".to_owned(), offset: 7, bytes: b"0f model\n".to_vec() };
        let (one, other) = (vec![addition(0)], vec![addition(9), written]);
        let first = render(&one, None);
        let note = [&first[..], &render(&other, Some(7))].concat();
        let groups = [
            Group { additions: one, is_done: true, inode: 0, end: first.len() as u64 },
            Group { additions: other, is_done: false, inode: 7, end: note.len() as u64 },
        ];
        for cut in 0..note.len() {
            assert_eq!(parse(&note[..cut]), groups[..usize::from(cut >= first.len())], "{cut}");
        }
        assert_eq!(parse(&note), groups);
        for at in 0..first.len() - END_SIZE as usize {
            let mut torn = first.clone();
            torn[at] = 0;
            assert_eq!(parse(&torn), [], "{at}");
        }
        for elsewhere in ["../journal.jsonl", "/etc/passwd", ".gitignore", "Memories.md"] {
            let other = Addition { name: elsewhere.to_owned(), ..addition(0) };
            assert_eq!(parse(&render(&[other], None)), [], "{elsewhere}");
        }
    }

    #[test]
    fn what_a_kill_or_a_power_cut_took_is_completed() {
        let folder = tempfile::tempdir().unwrap();
        let sidecar = Folder::make(&folder.path().join("sidecar"), Hosts::default()).unwrap();
        for before in ["", "{\"id\":\"0\"}\n"] {
            let addition = addition(before.len() as u64);
            let whole = [before.as_bytes(), &addition.bytes].concat();
            for (cut, nuls) in (0..=addition.bytes.len()).flat_map(|cut| [(cut, 0), (cut, 3), (cut, 100)]) {
                let mut left = whole[..before.len() + cut].to_vec();
                left.resize((left.len() + nuls).min(whole.len()), 0);
                sidecar.create("journal.jsonl").unwrap().write_all(&left).unwrap();
                assert!(addition.complete(&sidecar).unwrap() && addition.complete(&sidecar).unwrap());
                assert_eq!(sidecar.read_bytes("journal.jsonl").unwrap().unwrap(), whole, "{cut} {nuls}");
            }
        }
        for changed in ["", "{\"id\":\"0\"}\n{\"id\":\"7\"}\n"] {
            sidecar.create("journal.jsonl").unwrap().write_all(changed.as_bytes()).unwrap();
            assert!(!addition(11).complete(&sidecar).unwrap());
            assert_eq!(sidecar.read_bytes("journal.jsonl").unwrap().unwrap(), changed.as_bytes());
        }
    }
}
