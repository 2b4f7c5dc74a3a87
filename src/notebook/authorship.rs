//! Authorship: which entries a program wrote, and nobody changed since.
//!
//! Programs leave a hash of section, title and text of each entry that they write, a line each in the log
//! `written` beside the memory file. An entry without one is a person's: `add` wrote it, or somebody edited it,
//! or the log is not there. A later line that begins with `-` takes a hash back, because a person said the same.

use std::cell::OnceCell;

use memchr::memmem;
use xxhash_rust::xxh3::xxh3_64;

use crate::store::{LineLog, Rotation, Sidecar};
use crate::types::{Memory, Scope};

/// The author of an entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Author {
    /// A person, who gives a command.
    #[default]
    Person,
    /// A model, the built-in rules, or an agent.
    Program,
}

/// Marks an entry that is there already, whose author only says the same again.
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
    /// The lines of the log, read when they are first needed.
    logged: OnceCell<String>,
    /// The lines that this change adds.
    lines: Vec<String>,
}

impl Authorship {
    /// The authorship of the entries of the memory file with this sidecar.
    pub(crate) fn of(sidecar: &Sidecar) -> Authorship {
        Authorship { log: Some(LineLog::new(sidecar, ("written", ""), ROTATION)), ..Authorship::default() }
    }

    /// The author of the entries to come.
    pub(crate) fn set_author(&mut self, author: Author) {
        self.author = author;
    }

    /// True if an entry is a person's.
    pub(crate) fn is_by_hand(&self, scope: &Scope, memory: &Memory) -> bool {
        !self.is_written(&hash_of(scope, memory))
    }

    /// Notes that the author of this change writes an entry.
    pub(crate) fn note(&mut self, scope: &Scope, memory: &Memory, repeated: Repeated) {
        let hash = hash_of(scope, memory);
        match self.author {
            Author::Program if repeated == Repeated::No => self.lines.push(hash),
            Author::Person if self.is_written(&hash) => self.lines.push(format!("-{hash}")),
            _ => {}
        }
    }

    /// Notes that an entry no longer stands as a program wrote it: who writes it again is a person.
    pub(crate) fn take_back(&mut self, scope: &Scope, memory: &Memory) {
        let hash = hash_of(scope, memory);
        if self.is_written(&hash) {
            self.lines.push(format!("-{hash}"));
        }
    }

    /// The log, and the lines that this change adds to it.
    pub(crate) fn into_lines(self) -> Option<(LineLog, Vec<String>)> {
        self.log.filter(|_| !self.lines.is_empty()).map(|log| (log, self.lines))
    }

    /// True if the last line about a hash does not take it back.
    fn is_written(&self, hash: &str) -> bool {
        let added = self.lines.iter().rfind(|line| line.ends_with(hash));
        added.map_or_else(
            || {
                let logged = self.logged();
                let found = memmem::rfind(logged.as_bytes(), hash.as_bytes());
                found.is_some_and(|at| !logged[..at].ends_with('-'))
            },
            |line| !line.starts_with('-'),
        )
    }

    /// All lines of the log. What cannot be read counts as a person's, which is the safe side.
    fn logged(&self) -> &str {
        self.logged.get_or_init(|| {
            let mut lines = String::new();
            let visited = self.log.as_ref().map(|log| {
                log.visit(|line| {
                    lines.push_str(line);
                    lines.push('\n');
                })
            });
            if visited.is_some_and(|read| read.is_err()) { String::new() } else { lines }
        })
    }
}

/// Nothing is carried over a rotation: the oldest of a million entries count as a person's.
const ROTATION: Rotation = Rotation { carry: |_| Ok(Vec::new()), is_copy: |_| false };

/// The hash of an entry, in 16 hexadecimal digits.
fn hash_of(scope: &Scope, memory: &Memory) -> String {
    format!("{:016x}", xxh3_64(format!("{scope}\0{}\0{}", memory.title, memory.text).as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Category;

    fn memory(text: &str) -> Memory {
        Memory::new(Category::note(), "Rope", text)
    }

    #[test]
    fn what_a_program_wrote_is_a_persons_once_it_differs_or_a_person_says_the_same() {
        let (mut entries, scope) = (Authorship::default(), Scope::World);
        assert!(entries.is_by_hand(&scope, &memory("It holds.")));
        entries.set_author(Author::Program);
        entries.note(&scope, &memory("It holds."), Repeated::No);
        entries.note(&scope, &memory("It is wet."), Repeated::Yes);
        assert!(!entries.is_by_hand(&scope, &memory("It holds.")));
        assert!(entries.is_by_hand(&Scope::Scene, &memory("It holds.")));
        assert!(
            entries.is_by_hand(&scope, &memory("It holds!"))
                && entries.is_by_hand(&scope, &memory("It is wet."))
        );
        entries.set_author(Author::Person);
        entries.note(&scope, &memory("It holds."), Repeated::Yes);
        assert!(entries.is_by_hand(&scope, &memory("It holds.")));
    }

    #[test]
    fn the_last_line_of_the_log_decides() {
        let [yours, mine] = [hash_of(&Scope::World, &memory("a")), hash_of(&Scope::World, &memory("b"))];
        let logged = format!("{yours}\n-{mine}\ntorn0\n-{yours}\n{mine}\n");
        let entries = Authorship { logged: OnceCell::from(logged), ..Authorship::default() };
        assert_eq!((entries.is_written(&yours), entries.is_written(&mine)), (false, true));
    }
}
