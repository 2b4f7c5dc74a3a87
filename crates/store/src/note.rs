//! The lines that follow a change, noted in the lock file before it.
//!
//! For a change, only the memory file and the lock file are synced. The lock file holds the lines that the logs get, and
//! their places. A log may lose its end to a kill or a power cut: the next holder of the lock writes the lines again.
//! The note holds groups of lines, one behind the other, until the logs are synced. The last group may wait: it counts
//! only if its text is in place. The hash of a group shows whether a power cut has torn it.

use std::collections::{BTreeMap, BTreeSet};
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
    /// The offset behind the lines.
    fn end(&self) -> u64 {
        self.offset.saturating_add(self.bytes.len() as u64)
    }

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
}

/// Makes the logs that groups add to survive a power cut, each by one sync.
pub(super) fn sync(folder: &Folder, groups: &[Group]) -> Result<(), StoreError> {
    let additions = groups.iter().flat_map(|group| &group.additions);
    let names: BTreeSet<&str> = additions.map(|addition| addition.name.as_str()).collect();
    for name in names {
        // A log that cannot be opened is reported by the next write. Windows syncs only what is open for writing.
        let Ok(file) = folder.write(name, Access::Append) else { continue };
        file.sync_data().map_err(StoreError::write("sync", &folder.path(name)))?;
    }
    Ok(())
}

/// Writes lines again where a kill or a power cut took a part of them: a log ends before their end, or has NUL bytes in
/// their place. Where somebody has changed a log, it stays from there on. Each log is opened once, whatever the number of
/// additions.
pub(super) fn complete(folder: &Folder, additions: &[Addition]) {
    let mut logs: BTreeMap<&str, Vec<&Addition>> = BTreeMap::new();
    for addition in additions {
        logs.entry(&addition.name).or_default().push(addition);
    }
    for (name, additions) in logs {
        // Best effort: what cannot be written now must not keep writers out.
        let _ = complete_log(folder, name, &additions);
    }
}

/// The same for one log. `false`: somebody has changed it.
fn complete_log(folder: &Folder, name: &str, additions: &[&Addition]) -> Result<bool, StoreError> {
    if !folder.facts(name).is_ok_and(|facts| facts.is_some()) {
        return Ok(false);
    }
    let start = additions.iter().map(|addition| addition.offset).min().unwrap_or_default();
    let end = additions.iter().map(|addition| addition.end()).max().unwrap_or_default();
    let mut file = folder.write(name, Access::ReadWrite)?;
    let mut complete = || {
        let size = file.seek(SeekFrom::End(0))?;
        if size < start {
            return Ok(false);
        }
        let mut present = Vec::with_capacity(usize::try_from(end.min(size) - start).unwrap_or_default());
        file.seek(SeekFrom::Start(start))?;
        (&mut file).take(end - start).read_to_end(&mut present)?;
        for addition in additions {
            let at = usize::try_from(addition.offset - start).unwrap_or(usize::MAX);
            let Some(behind) = present.get(at..) else { return Ok(false) };
            let there = &behind[..behind.len().min(addition.bytes.len())];
            let is_cut =
                there.iter().zip(&addition.bytes).all(|(present, byte)| present == byte || *present == 0);
            if !is_cut {
                return Ok(false);
            }
            if *there != addition.bytes {
                file.seek(SeekFrom::Start(addition.offset))?;
                file.write_all(&addition.bytes)?;
                present.resize(present.len().max(at + addition.bytes.len()), 0);
                present[at..at + addition.bytes.len()].copy_from_slice(&addition.bytes);
            }
        }
        Ok::<_, io::Error>(true)
    };
    complete().map_err(StoreError::write("write", &folder.path(name)))
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
                for _ in 0..2 {
                    assert!(complete_log(&sidecar, "journal.jsonl", &[&addition]).unwrap());
                }
                assert_eq!(sidecar.read_bytes("journal.jsonl").unwrap().unwrap(), whole, "{cut} {nuls}");
            }
        }
        for changed in ["", "{\"id\":\"0\"}\n{\"id\":\"7\"}\n"] {
            sidecar.create("journal.jsonl").unwrap().write_all(changed.as_bytes()).unwrap();
            assert!(!complete_log(&sidecar, "journal.jsonl", &[&addition(11)]).unwrap());
            assert_eq!(sidecar.read_bytes("journal.jsonl").unwrap().unwrap(), changed.as_bytes());
        }
    }

    #[test]
    fn several_additions_are_completed_up_to_the_first_that_somebody_changed() {
        let folder = tempfile::tempdir().unwrap();
        let sidecar = Folder::make(&folder.path().join("sidecar"), Hosts::default()).unwrap();
        let lines = ["one\n", "two\n", "three\n"];
        let additions = lines.iter().scan(4, |offset, line| {
            let addition =
                Addition { name: "log".to_owned(), offset: *offset, bytes: line.as_bytes().to_vec() };
            *offset += line.len() as u64;
            Some(addition)
        });
        let additions: Vec<Addition> = additions.collect();
        for (present, expected) in [
            ("old\n", "old\none\ntwo\nthree\n"),
            ("old\none\nt", "old\none\ntwo\nthree\n"),
            ("old\n\0\0\0\0two\nthree\n", "old\none\ntwo\nthree\n"),
            ("old\n\0\0\0\0TWO\n", "old\none\nTWO\n"),
            ("old\none\ntwo\nthree\nfour\n", "old\none\ntwo\nthree\nfour\n"),
            ("ol", "ol"),
            ("", ""),
        ] {
            sidecar.create("log").unwrap().write_all(present.as_bytes()).unwrap();
            complete(&sidecar, &additions);
            let text = String::from_utf8(sidecar.read_bytes("log").unwrap().unwrap()).unwrap();
            assert_eq!(text, expected, "{present:?}");
        }
        sidecar.remove("log").unwrap();
        complete(&sidecar, &additions);
        assert!(sidecar.facts("log").unwrap().is_none(), "a log that somebody removed stays so");
    }
}
