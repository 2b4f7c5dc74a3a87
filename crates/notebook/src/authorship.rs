//! Authorship: the author of an entry, unless it was changed since.
//!
//! Each entry that is written here leaves a line in the log `written` beside the memory file: a hash of section, title
//! and text, and the author. The last line about an entry counts. Older versions wrote the hash alone for a program,
//! and `-` and the hash for a person who said the same. The author of an entry without a line is unknown.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use memchr::memmem;
use xxhash_rust::xxh3::xxh3_64;

use memories_document::types::{Author, Memory, Scope};
use memories_store::{LineLog, Sidecar, Upkeep};

/// Digits of a hash.
const HASH_DIGITS: usize = 16;

/// Marks an entry that is there already, whose author only says the same again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeated {
    /// It is new or has another text.
    No,
    /// It is there.
    Yes,
}

/// The authors of a memory file, and those of the entries of one change.
#[derive(Debug, Clone)]
pub struct Authorship {
    log: Option<LineLog>,
    author: Author,
    /// The lines of the log, read when they are first needed.
    logged: OnceCell<Option<String>>,
    /// The lines that this change adds.
    lines: Vec<String>,
}

impl Default for Authorship {
    /// No log, and a person as the author.
    fn default() -> Authorship {
        Authorship { log: None, author: Author::Person, logged: OnceCell::new(), lines: Vec::new() }
    }
}

impl Authorship {
    /// The authorship of the entries of the memory file with this sidecar.
    pub(crate) fn of(sidecar: &Sidecar) -> Authorship {
        Authorship { log: Some(log_of(sidecar)), ..Authorship::default() }
    }

    /// The author of the entries to come.
    pub fn set_author(&mut self, author: Author) {
        self.author = author;
    }

    /// The author of the entries to come.
    pub(crate) fn author(&self) -> Author {
        self.author
    }

    /// The author of an entry.
    pub fn author_of(&self, scope: &Scope, memory: &Memory) -> Author {
        self.written_by(&hash_of(scope, memory))
    }

    /// Notes that the author of this change writes an entry. Only a person makes one its own by saying the same again.
    pub fn note(&mut self, scope: &Scope, memory: &Memory, repeated: Repeated) {
        // A new entry is noted without a look at the log, which may be long.
        match (repeated, self.author) {
            (Repeated::No, author) => self.lines.push(line_of(&hash_of(scope, memory), author)),
            (Repeated::Yes, Author::Person) => self.note_author(scope, memory, Author::Person),
            (Repeated::Yes, _) => {}
        }
    }

    /// Notes who wrote an entry that is there, unless the log says so already.
    pub(crate) fn note_author(&mut self, scope: &Scope, memory: &Memory, author: Author) {
        let hash = hash_of(scope, memory);
        if self.written_by(&hash) != author {
            self.lines.push(line_of(&hash, author));
        }
    }

    /// The log, and the lines that this change adds to it.
    pub(crate) fn into_lines(self) -> Option<(LineLog, Vec<String>)> {
        self.log.filter(|_| !self.lines.is_empty()).map(|log| (log, self.lines))
    }

    /// The author that the last line about a hash names.
    fn written_by(&self, hash: &str) -> Author {
        let mut added = self.lines.iter().rev().filter_map(|line| parse_line(line));
        if let Some(line) = added.find(|line| line.hash == hash) {
            return line.author;
        }
        // In a log that cannot be read, everything counts as a person's: that is the safe side.
        let Some(logged) = self.logged() else { return Author::Person };
        let Some(at) = memmem::rfind(logged.as_bytes(), hash.as_bytes()) else { return Author::Unknown };
        let start = logged[..at].rfind('\n').map_or(0, |end| end + 1);
        logged[start..].lines().next().and_then(parse_line).map_or(Author::Unknown, |line| line.author)
    }

    /// All lines of the log; `None` where it cannot be read.
    fn logged(&self) -> Option<&str> {
        let read = || {
            let mut lines = String::new();
            let visited = self.log.as_ref().map_or(Ok(()), |log| {
                log.visit(|line| {
                    lines.push_str(line);
                    lines.push('\n');
                })
            });
            visited.is_ok().then_some(lines)
        };
        self.logged.get_or_init(read).as_deref()
    }
}

/// A line of the log.
pub(super) struct Line<'a> {
    pub(super) hash: &'a str,
    pub(super) author: Author,
}

fn line_of(hash: &str, author: Author) -> String {
    format!("{hash} {author}")
}

/// Reads a line; `None` for one that a kill has torn within the hash.
pub(super) fn parse_line(line: &str) -> Option<Line<'_>> {
    let (hash, author) = match line.strip_prefix('-') {
        Some(hash) => (hash, Author::Person),
        None => {
            let (hash, author) = line.split_once(' ').unwrap_or((line, ""));
            (hash, author.parse().unwrap_or(Author::Program))
        }
    };
    (hash.len() == HASH_DIGITS).then_some(Line { hash, author })
}

/// A rotation forgets the lines that it drops: the authors of the oldest among a million entries are unknown then.
pub(super) fn log_of(sidecar: &Sidecar) -> LineLog {
    LineLog::new(sidecar, "written", "", Upkeep::default())
}

/// The lines about entries of which the log has never named another author: they hold for every moment of the past.
pub(super) fn undisputed(sidecar: &Sidecar) -> Vec<String> {
    let mut authors: BTreeMap<String, Option<Author>> = BTreeMap::new();
    // If the log cannot be read, no author is known.
    let _ = log_of(sidecar).visit(|line| {
        let Some(Line { hash, author }) = parse_line(line) else { return };
        let named = authors.entry(hash.to_owned()).or_insert(Some(author));
        *named = named.filter(|named| *named == author);
    });
    authors.iter().filter_map(|(hash, author)| Some(line_of(hash, (*author)?))).collect()
}

pub(super) fn number_of(scope: &Scope, memory: &Memory) -> u64 {
    xxh3_64(format!("{scope}\0{}\0{}", memory.title, memory.text).as_bytes())
}

/// The hash of an entry in hexadecimal digits.
fn hash_of(scope: &Scope, memory: &Memory) -> String {
    format!("{:0HASH_DIGITS$x}", number_of(scope, memory))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use strum::VariantArray;

    use super::*;
    use crate::authors::Authors;
    use memories_document::types::Category;
    use memories_store::{Change, Store, StoreError};

    fn memory(text: &str) -> Memory {
        Memory::new(Category::note(), "Rope", text)
    }

    #[test]
    fn what_a_program_wrote_is_nobodys_once_it_differs_and_a_persons_who_says_the_same() {
        let (mut entries, scope) = (Authorship::default(), Scope::World);
        let author = |entries: &Authorship, text: &str| entries.author_of(&Scope::World, &memory(text));
        assert_eq!(author(&entries, "It holds."), Author::Unknown);
        entries.set_author(Author::Agent);
        entries.note(&scope, &memory("It holds."), Repeated::No);
        entries.set_author(Author::Model);
        entries.note(&scope, &memory("It is wet."), Repeated::Yes);
        entries.note(&scope, &memory("It holds."), Repeated::Yes);
        assert_eq!(author(&entries, "It holds."), Author::Agent);
        assert_eq!(entries.author_of(&Scope::Scene, &memory("It holds.")), Author::Unknown);
        assert_eq!(author(&entries, "It holds!"), Author::Unknown);
        assert_eq!(author(&entries, "It is wet."), Author::Unknown);
        entries.set_author(Author::Person);
        entries.note(&scope, &memory("It holds."), Repeated::Yes);
        assert_eq!(author(&entries, "It holds."), Author::Person);
    }

    #[test]
    fn the_last_line_of_the_log_decides_and_a_line_without_author_is_a_programs() {
        let texts = ["a", "b", "c", "d", "e"];
        let [old, taken, model, seed, odd] = texts.map(|text| hash_of(&Scope::World, &memory(text)));
        let lines =
            format!("{old}\n{model} rules\n-{taken}\ntorn0\n{taken} model\n-{taken}\n{model} model\n");
        let lines = format!("{lines}-{seed}\n{seed} seed\n{odd} wizard\n");
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("Memories.md"), Duration::ZERO).unwrap();
        let lines: Vec<String> = lines.lines().map(str::to_owned).collect();
        let sidecar = store.sidecar();
        let change = |_: Option<String>, _: &_| {
            Ok::<_, StoreError>(Change::unchanged(()).with_lines(&log_of(sidecar), lines.clone()))
        };
        let _ = store.update(change).unwrap();
        let (one, all) = (Authorship::of(sidecar), Authors::read(sidecar));
        use Author::{Model, Person, Program, Seed};
        for (text, author) in texts.into_iter().zip([Program, Person, Model, Seed, Program]) {
            assert_eq!(one.author_of(&Scope::World, &memory(text)), author, "{text}");
            assert_eq!(all.of(&Scope::World, &memory(text)), author, "{text}");
        }
    }

    #[test]
    fn each_author_is_read_as_it_is_written() {
        for author in Author::VARIANTS {
            assert_eq!(author.to_string().parse(), Ok(*author));
        }
    }
}
