//! Authorship: which entries a program wrote, and nobody changed since.
//!
//! Programs leave a hash of section, title and text of each entry that they write, a line each in the log
//! `written` beside the memory file. An entry without one is a person's: `add` wrote it, or somebody edited it,
//! or the log is not there. A later line that begins with `-` takes a hash back, because a person said the same.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use crate::store::{LineLog, Rotation};
use crate::types::{Memory, Scope};

/// Who writes an entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Author {
    /// A person, who gives a command.
    #[default]
    Person,
    /// A model, the built-in rules, or an agent.
    Program,
}

/// Whether an entry is there already, and its author only says the same again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeated {
    /// It is new or has another text.
    No,
    /// It is there.
    Yes,
}

/// The hashes of a memory file, and those of the entries of one change.
#[derive(Debug, Clone, Default)]
pub(crate) struct Authorship {
    log: Option<LineLog>,
    author: Author,
    written: OnceCell<HashSet<u64>>,
    lines: Vec<String>,
}

impl Authorship {
    /// The authorship of the entries of the memory file with this sidecar folder.
    pub(crate) fn of(sidecar: &Path) -> Authorship {
        Authorship { log: Some(LineLog::new(sidecar, ("written", ""), ROTATION)), ..Authorship::default() }
    }

    /// The author of the entries to come.
    pub(crate) fn set_author(&mut self, author: Author) {
        self.author = author;
    }

    /// True if an entry is a person's.
    pub(crate) fn is_by_hand(&self, scope: &Scope, memory: &Memory) -> bool {
        !self.written().contains(&hash_of(scope, memory))
    }

    /// Notes that the author of this change writes an entry.
    pub(crate) fn note(&mut self, scope: &Scope, memory: &Memory, repeated: Repeated) {
        let hash = hash_of(scope, memory);
        let known = self.written().contains(&hash);
        // The set was just made.
        let written = self.written.get_mut().expect("the hashes are read");
        match self.author {
            Author::Program if !known && repeated == Repeated::No => {
                written.insert(hash);
                self.lines.push(format!("{hash:016x}"));
            }
            Author::Person if known => {
                written.remove(&hash);
                self.lines.push(format!("-{hash:016x}"));
            }
            _ => {}
        }
    }

    /// The log, and the lines that this change adds to it.
    pub(crate) fn into_lines(self) -> Option<(LineLog, Vec<String>)> {
        self.log.filter(|_| !self.lines.is_empty()).map(|log| (log, self.lines))
    }

    fn written(&self) -> &HashSet<u64> {
        self.written.get_or_init(|| {
            let mut hashes = HashSet::new();
            let Some(log) = &self.log else { return hashes };
            let read = log.visit(|line| match line.strip_prefix('-') {
                Some(hash) => drop(u64::from_str_radix(hash, 16).map(|hash| hashes.remove(&hash))),
                None => drop(u64::from_str_radix(line, 16).map(|hash| hashes.insert(hash))),
            });
            // What cannot be read counts as a person's, which is the safe side.
            read.map(|()| hashes).unwrap_or_default()
        })
    }
}

/// Nothing is carried over a rotation: the oldest of a million entries count as a person's.
const ROTATION: Rotation = Rotation { carry: |_| Ok(Vec::new()), is_copy: |_| false };

fn hash_of(scope: &Scope, memory: &Memory) -> u64 {
    xxh3_64(format!("{scope}\0{}\0{}", memory.title, memory.text).as_bytes())
}
