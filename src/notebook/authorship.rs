//! Authorship: who wrote an entry, where nobody changed it since.
//!
//! Programs leave a line in the log `written` beside the memory file for each entry that they write: a hash of
//! section, title and text, and the author. Older versions wrote the hash alone. An entry without a line is a
//! person's: `add` wrote it, or somebody edited it, or the log is not there. A later line that begins with `-`
//! takes a hash back, because a person said the same.

use std::cell::OnceCell;

use memchr::memmem;
use xxhash_rust::xxh3::xxh3_64;

use crate::store::{LineLog, Rotation, Sidecar};
use crate::types::{Author, Memory, Scope};

/// Digits of a hash.
const HASH_DIGITS: usize = 16;

/// Marks an entry that is there already, whose author only says the same again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeated {
    /// It is new or has another text.
    No,
    /// It is there.
    Yes,
}

/// The authors of a memory file, and those of the entries of one change.
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
        Authorship { log: Some(log_of(sidecar)), ..Authorship::default() }
    }

    /// The author of the entries to come.
    pub(crate) fn set_author(&mut self, author: Author) {
        self.author = author;
    }

    /// The author of the entries to come.
    pub(crate) fn author(&self) -> Author {
        self.author
    }

    /// The author of an entry.
    pub(crate) fn author_of(&self, scope: &Scope, memory: &Memory) -> Author {
        self.written_by(&hash_of(scope, memory)).unwrap_or_default()
    }

    /// Notes that the author of this change writes an entry.
    pub(crate) fn note(&mut self, scope: &Scope, memory: &Memory, repeated: Repeated) {
        match self.author {
            Author::Person => self.take_back(scope, memory),
            author if repeated == Repeated::No => {
                self.lines.push(format!("{} {author}", hash_of(scope, memory)));
            }
            _ => {}
        }
    }

    /// Notes that an entry no longer stands as a program wrote it: who writes it again is a person.
    pub(crate) fn take_back(&mut self, scope: &Scope, memory: &Memory) {
        let hash = hash_of(scope, memory);
        if self.written_by(&hash).is_some() {
            self.lines.push(format!("-{hash}"));
        }
    }

    /// The log, and the lines that this change adds to it.
    pub(crate) fn into_lines(self) -> Option<(LineLog, Vec<String>)> {
        self.log.filter(|_| !self.lines.is_empty()).map(|log| (log, self.lines))
    }

    /// The program or seed that the last line about a hash names; `None` if that line takes it back.
    fn written_by(&self, hash: &str) -> Option<Author> {
        let added =
            self.lines.iter().rev().find_map(|line| parse_line(line).filter(|line| line.hash == hash));
        added.map_or_else(
            || {
                let logged = self.logged();
                let at = memmem::rfind(logged.as_bytes(), hash.as_bytes())?;
                let start = logged[..at].rfind('\n').map_or(0, |end| end + 1);
                parse_line(logged[start..].lines().next()?)?.author
            },
            |line| line.author,
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

/// A line of the log.
pub(super) struct Line<'a> {
    pub(super) hash: &'a str,
    /// `None` where the line takes the hash back.
    pub(super) author: Option<Author>,
}

/// Reads a line; `None` for one that a kill has torn within the hash.
pub(super) fn parse_line(line: &str) -> Option<Line<'_>> {
    let (rest, taken_back) = line.strip_prefix('-').map_or((line, false), |rest| (rest, true));
    let (hash, author) = rest.split_once(' ').unwrap_or((rest, ""));
    let author = author.parse().unwrap_or(Author::Program);
    (hash.len() == HASH_DIGITS).then_some(Line { hash, author: (!taken_back).then_some(author) })
}

/// Nothing is carried over a rotation: the oldest of a million entries count as a person's.
const ROTATION: Rotation = Rotation { carry: |_| Ok(Vec::new()), is_copy: |_| false };

pub(super) fn log_of(sidecar: &Sidecar) -> LineLog {
    LineLog::new(sidecar, ("written", ""), ROTATION)
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
    use crate::notebook::authors::Authors;
    use crate::store::{Change, Store, StoreError, UpdateError};
    use crate::types::Category;

    fn memory(text: &str) -> Memory {
        Memory::new(Category::note(), "Rope", text)
    }

    #[test]
    fn what_a_program_wrote_is_a_persons_once_it_differs_or_a_person_says_the_same() {
        let (mut entries, scope) = (Authorship::default(), Scope::World);
        let author = |entries: &Authorship, text: &str| entries.author_of(&Scope::World, &memory(text));
        assert_eq!(author(&entries, "It holds."), Author::Person);
        entries.set_author(Author::Agent);
        entries.note(&scope, &memory("It holds."), Repeated::No);
        entries.set_author(Author::Model);
        entries.note(&scope, &memory("It is wet."), Repeated::Yes);
        entries.note(&scope, &memory("It holds."), Repeated::Yes);
        assert_eq!(author(&entries, "It holds."), Author::Agent);
        assert_eq!(entries.author_of(&Scope::Scene, &memory("It holds.")), Author::Person);
        assert_eq!(author(&entries, "It holds!"), Author::Person);
        assert_eq!(author(&entries, "It is wet."), Author::Person);
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
        let update: Result<_, UpdateError<StoreError>> = store.update(change);
        let _ = update.unwrap();
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
