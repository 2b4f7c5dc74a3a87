//! Facts about each former state besides its text: the write that replaced it, and the episode that it ends.
//!
//! Lines of JSON in a file among the backups. They help a person to choose, and say which states outlast the tenth. A
//! line that is missing or damaged costs its state this, and nothing else. So they are not synced, and what cannot be
//! written is passed over.

use std::collections::HashSet;
use std::io::Write;

use serde::{Deserialize, Serialize};

use crate::at::Access;
use crate::folder::Folder;

/// The file of the lines.
const FILE: &str = "states.jsonl";

/// The name of the file while it is written anew.
const NEW: &str = "new";

/// Lines with which the file is written anew, without those of states that are gone.
const MAX_LINES: usize = 200;

/// Bytes of the file that are read.
const MAX_SIZE: u64 = 1 << 20;

/// The write that replaced a state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occasion {
    /// The command that wrote.
    pub command: String,
    /// The running episode after it.
    pub episode: u64,
    /// The change in a few words; may be empty.
    pub text: String,
}

/// The facts about a state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Known {
    /// The number of the state.
    number: u64,
    /// The episode of which it is the last state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) ends: Option<u64>,
    pub(super) before: Occasion,
}

/// The lines of a folder of backups, in the order in which they were written. The last one of a number counts.
pub(super) struct Occasions {
    lines: Vec<Known>,
    /// The file can take a further line.
    is_whole: bool,
}

impl Occasions {
    /// Reads the lines. A file that cannot be read counts as empty.
    pub(super) fn read(folder: &Folder) -> Occasions {
        let bytes = folder.read_bounded(FILE, MAX_SIZE).unwrap_or_default();
        let lines: Vec<Known> =
            bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
        // A line that a power cut has torn has no end.
        let is_whole = bytes.is_empty() || bytes.ends_with(b"\n");
        Occasions { is_whole: is_whole && lines.len() < MAX_LINES, lines }
    }

    pub(super) fn of(&self, number: u64) -> Option<&Known> {
        self.lines.iter().rfind(|line| line.number == number)
    }

    /// Adds the line of the newest state. `is_present` says whether the state of a number is still there.
    pub(super) fn add(
        &mut self,
        folder: &Folder,
        number: u64,
        before: Occasion,
        is_present: impl Fn(u64) -> bool,
    ) {
        let former = self.lines.iter().rfind(|line| line.number < number);
        let ends = former.map(|line| line.before.episode).filter(|episode| *episode != before.episode);
        self.lines.push(Known { number, ends, before });
        let _ = if self.is_whole {
            folder
                .write(FILE, Access::Append)
                .map(|mut file| file.write_all(&self.bytes(self.lines.len() - 1)))
        } else {
            self.lines.retain(|line| is_present(line.number));
            let written = folder.create(NEW).and_then(|mut file| file.write_all(&self.bytes(0)));
            Ok(written.and_then(|()| folder.rename(NEW, FILE)))
        };
    }

    fn bytes(&self, from: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        for line in &self.lines[from..] {
            serde_json::to_writer(&mut bytes, line).expect("texts and numbers are JSON");
            bytes.push(b'\n');
        }
        bytes
    }

    /// The states that end the last `count` episodes, of those that are present (newest first). An episode that was
    /// left more than once ends with the newest of its states.
    pub(super) fn ends_of_episodes(&self, present: impl Iterator<Item = u64>, count: usize) -> HashSet<u64> {
        let mut episodes = HashSet::new();
        let ends = present.filter(|number| {
            let ends = self.of(*number).and_then(|known| known.ends);
            ends.is_some_and(|episode| episodes.insert(episode))
        });
        ends.take(count).collect()
    }
}
