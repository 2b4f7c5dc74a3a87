//! The shape of the source: who may use whom, and what only some rooms may do.
//!
//! The table is the fifth section of the contract. The text of the source is read, not its meaning:
//! so paths are written in the one way that is looked for here, and the tests see to that too.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Each room with the rooms that it may use, exactly: what is not used is not listed.
const ROOMS: [(&str, &[&str]); 19] = [
    ("types", &[]),
    ("redact", &[]),
    ("llm", &["types"]),
    ("document", &["types"]),
    ("store", &["types", "document"]),
    ("notebook", &["types", "document", "store"]),
    ("recall", &["types", "document", "store"]),
    ("search", &["types", "document", "store", "notebook", "llm"]),
    ("stats", &["types", "document", "store", "recall"]),
    ("record", BELOW_RECORD),
    ("ask", BELOW_ASK),
    ("chat", BELOW_CHAT),
    ("seed", BELOW_RECORD),
    ("transfer", BELOW_TRANSFER),
    ("mcp", EVERYTHING),
    ("cli", EVERYTHING),
    ("lib", &[]),
    ("main", &["cli"]),
    ("journal", &["types", "store"]),
];

const BELOW_RECORD: &[&str] = &["types", "redact", "document", "store", "notebook", "llm", "search"];
const BELOW_ASK: &[&str] = &["types", "redact", "document", "store", "notebook", "llm", "search", "record"];
const BELOW_TRANSFER: &[&str] =
    &["types", "redact", "document", "store", "notebook", "llm", "search", "record", "ask"];
/// Memories in a request have a budget of tokens, too.
const BELOW_CHAT: &[&str] =
    &["types", "redact", "document", "store", "notebook", "recall", "llm", "search", "record", "ask"];
/// The server of `mcp` is started by a command.
const EVERYTHING: &[&str] = &[
    "types", "redact", "document", "store", "journal", "notebook", "recall", "search", "stats", "llm",
    "record", "ask", "chat", "seed", "transfer", "mcp",
];

/// Limits of time are measured here, and nowhere else: file and what it holds.
const CLOCKS: [(&str, &str); 3] =
    [("llm/model.rs", "Instant::now"), ("llm/http.rs", "Instant::now"), ("llm/command.rs", "Instant::now")];

const MOST_LINES: usize = 500;

/// A file of the source.
struct Source {
    /// Its path below `src`.
    name: String,
    text: String,
}

impl Source {
    /// The first part of the path: `document` of `document/scan.rs`.
    fn room(&self) -> &str {
        self.name.split('/').next().unwrap().trim_end_matches(".rs")
    }

    /// Lines with their numbers, without comments and without the tests at the end.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let numbered = self.text.lines().enumerate().map(|(at, line)| (at + 1, line));
        let own = numbered.take_while(|(_, line)| *line != "mod tests {");
        own.filter(|(_, line)| !line.trim_start().starts_with("//"))
    }

    /// Where the code holds one of these.
    fn find(&self, marks: &[&str]) -> Vec<String> {
        let held = |line: &str| marks.iter().any(|mark| line.contains(mark));
        let found = self.code().filter(|(_, line)| held(line));
        found.map(|(number, line)| format!("src/{}:{number}: {}", self.name, line.trim())).collect()
    }
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![root.clone()];
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
                sources.push(Source { name, text: fs::read_to_string(&path).unwrap() });
            }
        }
    }
    assert!(sources.len() > 30, "the source is not where it was");
    sources.sort_by(|a, b| a.name.cmp(&b.name));
    sources
}

/// What is found in files for which `concerned` holds.
fn found(concerned: impl Fn(&Source) -> bool, marks: &[&str]) -> Vec<String> {
    sources().iter().filter(|source| concerned(source)).flat_map(|source| source.find(marks)).collect()
}

#[track_caller]
fn assert_none(found: &[String], rule: &str) {
    assert!(found.is_empty(), "{rule}:\n{}", found.join("\n"));
}

/// The rooms that a line names: `document` of `use crate::document::Document;`.
fn rooms_named(line: &str) -> impl Iterator<Item = &str> {
    let named = ["crate::", "memories::"].into_iter().flat_map(move |root| line.split(root).skip(1));
    named.map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default())
}

#[test]
fn every_room_uses_only_those_that_stand_left_of_it() {
    let mut wrong = Vec::new();
    for source in sources() {
        let Some((room, allowed)) = ROOMS.iter().find(|(room, _)| *room == source.room()) else {
            wrong.push(format!("src/{}: the contract knows no room of that name", source.name));
            continue;
        };
        for (number, line) in source.code() {
            for other in rooms_named(line).filter(|other| other != room && !allowed.contains(other)) {
                wrong.push(format!("src/{}:{number}: `{room}` uses `{other}`: {}", source.name, line.trim()));
            }
        }
    }
    assert_none(&wrong, "left is used by right, never the other way");
}

/// Otherwise the test above would not see them.
#[test]
fn other_rooms_are_named_in_full() {
    let grouped = found(|_| true, &["crate::{", "crate::*", "memories::{", "use crate;", "super::super"]);
    assert_none(&grouped, "write `use crate::room::…`, one line a room");
    // In these files `super` is the whole crate.
    let top = |source: &Source| {
        !source.name.contains('/')
            || source.name.matches('/').count() == 1 && source.name.ends_with("/mod.rs")
    };
    assert_none(&found(top, &["super::"]), "write `crate::` where another room is meant");
}

#[test]
fn only_the_command_line_reads_the_environment() {
    let marks = ["std::env", "env::var", "current_dir("];
    let elsewhere = found(|source| !matches!(source.room(), "cli" | "mcp" | "main"), &marks);
    assert_none(&elsewhere, "values of the environment are arguments");
}

#[test]
fn only_the_command_line_prints() {
    let marks = ["println!", "print!(", "io::stdout", "io::stderr", "stdout()", "stderr()", "dbg!("];
    // `mcp` speaks on stdout; in `cli` all goes through one file.
    let elsewhere = found(|source| source.room() != "mcp" && source.name != "cli/ui.rs", &marks);
    assert_none(&elsewhere, "what is told goes through `cli/ui.rs`");
}

#[test]
fn only_the_command_line_reads_a_clock() {
    let marks = ["SystemTime::now", "Timestamp::now", "Zoned::now", "Instant::now", ".elapsed()"];
    let below = |source: &Source| !matches!(source.room(), "cli" | "mcp");
    let mut used: BTreeSet<&(&str, &str)> = BTreeSet::new();
    let mut wrong = found(below, &marks);
    wrong.retain(|place| {
        let excepted = CLOCKS
            .iter()
            .find(|(file, mark)| place.starts_with(&format!("src/{file}:")) && place.contains(mark));
        used.extend(excepted);
        excepted.is_none()
    });
    assert_none(&wrong, "the time is an argument");
    assert_eq!(used.len(), CLOCKS.len(), "an exception that nobody needs: {used:?}");
}

#[test]
fn only_the_store_writes_files() {
    let marks = [
        "fs::write",
        "fs::rename",
        "fs::copy",
        "fs::remove",
        "fs::create_dir",
        "fs::hard_link",
        "fs::set_permissions",
        "File::create",
        "File::options",
        "OpenOptions",
        "allow(clippy::disallowed_methods",
    ];
    let elsewhere = found(|source| source.room() != "store", &marks);
    assert_none(&elsewhere, "a write elsewhere would miss the lock, the backup or the sync");
}

#[test]
fn only_one_file_locks() {
    let elsewhere = found(|source| source.name != "store/lock.rs", &["fs2"]);
    assert_none(&elsewhere, "`fs2` belongs to store/lock.rs");
    let unqualified =
        found(|source| source.name == "store/lock.rs", &[".lock(", ".try_lock(", ".unlock(", "use fs2"]);
    assert_none(&unqualified, "the standard library's methods of the same names would win: name the trait");
}

#[test]
fn every_file_says_what_it_is_for_and_is_not_too_long() {
    for Source { name, text } in sources() {
        assert!(text.starts_with("//! "), "src/{name} does not begin with `//!`");
        let lines = text.lines().count();
        assert!(lines <= MOST_LINES, "src/{name} has {lines} lines: split it");
    }
}

#[test]
fn main_is_small() {
    let sources = sources();
    let main = sources.iter().find(|source| source.name == "main.rs").unwrap();
    assert!(main.text.lines().count() <= 30, "arguments in, exit code out");
}
