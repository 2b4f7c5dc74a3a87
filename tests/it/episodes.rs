//! Five recorded episodes of a real game and a sensible opening after them, recorded once for all tests of this program.
//!
//! What was recorded is kept in memory, not in a folder: nothing drops a static, so a folder would stay. A test gets
//! a folder of its own with the files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use memories::store::Store;
use tempfile::TempDir;

use crate::golden::{Files, read_files, write_files};
use crate::program::memories;
use crate::replay::player::{Replay, temporary_folder};

/// The episodes.
const EPISODES: [&str; 5] = ["ep1", "ep2", "ep3", "ep4", "ep5"];

/// The files of turns of the episodes.
pub(crate) fn turns() -> [PathBuf; 5] {
    EPISODES.map(turns_of)
}

fn turns_of(part: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fixtures/turns/zork1_{part}.jsonl"))
}

/// The episodes and the opening, recorded turn by turn by the library, with a recall before each turn.
pub(crate) struct Played {
    pub replay: Replay,
    /// Memory file, journal and what else lies in the folder.
    files: Files,
}

impl Played {
    fn new() -> Self {
        let folder = temporary_folder().expect("a folder");
        let mut replay = Replay::new(open(&folder));
        for path in turns().into_iter().chain([turns_of("opening")]) {
            let lines = fs::read_to_string(path).expect("the fixture is there");
            replay.play(&lines).expect("recorded");
        }
        Self { replay, files: read_files(folder.path()) }
    }

    /// The memory file after so many turns.
    pub(crate) fn text_after(&self, turns: usize) -> &str {
        turns.checked_sub(1).map_or("", |at| &self.replay.states[at])
    }

    /// How many turns were recorded by the end of each episode.
    pub(crate) fn ends(&self) -> impl Iterator<Item = usize> {
        let lengths = self.replay.episodes.iter().take(EPISODES.len()).map(|episode| episode.turns);
        lengths.scan(0, |sum, turns| {
            *sum += turns;
            Some(*sum)
        })
    }

    /// The memory file after the five episodes.
    pub(crate) fn five(&self) -> &str {
        self.text_after(self.ends().last().expect("five episodes"))
    }

    pub(crate) fn folder(&self) -> TempDir {
        folder_of(&self.files)
    }
}

pub(crate) fn one_by_one() -> &'static Played {
    static PLAYED: OnceLock<Played> = OnceLock::new();
    PLAYED.get_or_init(Played::new)
}

/// A folder into which the command recorded the five episodes, each in one run.
pub(crate) fn by_command() -> TempDir {
    static FILES: OnceLock<Files> = OnceLock::new();
    folder_of(FILES.get_or_init(|| {
        let folder = temporary_folder().expect("a folder");
        for path in turns() {
            let output =
                memories(folder.path(), &["record", "--turns", path.to_str().unwrap()]).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        read_files(folder.path())
    }))
}

fn folder_of(files: &Files) -> TempDir {
    let folder = temporary_folder().expect("a folder");
    write_files(folder.path(), files);
    folder
}

/// The store of the memory file in a folder.
pub(crate) fn open(folder: &TempDir) -> Store {
    Store::open(folder.path().join("Memories.md"), Duration::from_secs(10)).expect("a path")
}
