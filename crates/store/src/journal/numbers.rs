//! The file `recorded`: a line, and sorted numbers of the turns that were recorded.
//!
//! An open file enters; it is told how often it has a number, without being read whole.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use crate::StoreError;
use crate::folder::Folder;
use crate::sidecar::RECORDED;

/// The version of its format.
pub(super) const VERSION: u64 = 1;

/// Size in bytes of its first line.
const HEAD_SIZE: usize = 128;

/// Bytes of a number.
const SIZE: u64 = 8;

/// Bytes of the journal by whose hash the place is known up to which the numbers go.
const END_SIZE: u64 = 256;

/// The first line of the file of the numbers.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Head {
    /// The version.
    pub(super) recorded: u64,
    /// Offset in a file of the journal up to which its turns are counted, and hash of what stands before it.
    pub(super) to: u64,
    pub(super) end: u64,
    /// False if turns of dropped lines are missing.
    pub(super) complete: bool,
}

/// The numbers on disk.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) head: Head,
    file: File,
    path: PathBuf,
    count: u64,
}

impl Kept {
    /// Opens the file of the numbers; `None` where there is none, or it is damaged.
    pub(super) fn open(folder: &Folder) -> Result<Option<Kept>, StoreError> {
        let Some(mut file) = folder.read(RECORDED)? else { return Ok(None) };
        let path = folder.path(RECORDED);
        let size = file.metadata().map_err(StoreError::read(&path))?.len();
        let mut line = [0; HEAD_SIZE];
        let head = file.read_exact(&mut line).ok().and_then(|()| serde_json::from_slice::<Head>(&line).ok());
        match head {
            Some(head) if head.recorded > VERSION => {
                Err(StoreError::NewerFormat { path, line: 1, version: head.recorded, known: VERSION })
            }
            Some(head) if (size - HEAD_SIZE as u64).is_multiple_of(SIZE) => {
                Ok(Some(Kept { head, file, path, count: (size - HEAD_SIZE as u64) / SIZE }))
            }
            _ => Ok(None),
        }
    }

    /// True if the numbers go up to a place in that file of the journal.
    pub(super) fn ends_in(&self, journal: &File) -> bool {
        self.head.to > 0 && end_hash(journal, self.head.to).is_ok_and(|end| end == Some(self.head.end))
    }

    /// How often a number is there.
    pub(super) fn count(&self, number: u64) -> Result<u64, StoreError> {
        let first = self.first(|other| other >= number)?;
        Ok(self.first(|other| other > number)?.saturating_sub(first))
    }

    /// Place of the first number that `is_behind` accepts.
    fn first(&self, is_behind: impl Fn(u64) -> bool) -> Result<u64, StoreError> {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            if is_behind(self.number(middle).map_err(StoreError::read(&self.path))?) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Ok(low)
    }

    fn number(&self, at: u64) -> io::Result<u64> {
        let (mut file, mut bytes) = (&self.file, [0; SIZE as usize]);
        file.seek(SeekFrom::Start(HEAD_SIZE as u64 + at * SIZE))?;
        file.read_exact(&mut bytes)?;
        Ok(u64::from_be_bytes(bytes))
    }

    pub(super) fn all(&self) -> Result<Vec<u64>, StoreError> {
        let (mut file, mut bytes) = (&self.file, Vec::new());
        let read = file.seek(SeekFrom::Start(HEAD_SIZE as u64)).and_then(|_| file.read_to_end(&mut bytes));
        read.map_err(StoreError::read(&self.path))?;
        Ok(bytes
            .as_chunks::<{ SIZE as usize }>()
            .0
            .iter()
            .map(|number| u64::from_be_bytes(*number))
            .collect())
    }
}

/// Hash of the bytes of a file before an offset; `None` where the file is shorter.
pub(super) fn end_hash(mut file: &File, to: u64) -> io::Result<Option<u64>> {
    let start = to.saturating_sub(END_SIZE);
    let mut end = Vec::new();
    file.seek(SeekFrom::Start(start))?;
    file.take(to - start).read_to_end(&mut end)?;
    Ok((end.len() as u64 == to - start).then(|| xxh3_128(&end) as u64))
}

/// The bytes of a file with that first line and these numbers.
pub(super) fn render(head: Head, mut numbers: Vec<u64>) -> Vec<u8> {
    numbers.sort_unstable();
    let head = serde_json::to_string(&head).unwrap_or_default();
    let mut bytes = format!("{head:<width$}\n", width = HEAD_SIZE - 1).into_bytes();
    numbers.iter().for_each(|number| bytes.extend(number.to_be_bytes()));
    bytes
}
