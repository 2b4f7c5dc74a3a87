//! The structure of the source: which room uses which, and tasks that belong to one room.
//!
//! The contract's fifth section says why the rooms stand as they do.

mod imports;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use imports::{circles, imports};

/// The rooms of the package `memories`, and of crates with several, each with the rooms of the same crate that it uses,
/// exactly. A room uses only rooms above it in this table. Which crate uses which is in their `Cargo.toml`.
const ROOMS: &[(&str, &[&str])] = &[
    ("document/types", &[]),
    ("document", &["document/types"]),
    ("store", &[]),
    ("store/journal", &["store"]),
    ("llm/redact", &[]),
    ("llm", &["llm/redact"]),
    ("record", &[]),
    ("record/stats", &["record"]),
    ("agents/memory_tool", &[]),
    ("agents/setup", &[]),
    ("agents/work", &[]),
    ("ask", &[]),
    ("seed", &[]),
    ("transfer", &[]),
    ("mcp", &["ask"]),
    ("cli", &["ask", "mcp", "seed", "transfer"]),
    ("lib", &[]),
    ("main", &["cli"]),
];

/// Limits of time are measured here, and nowhere else: file and what it holds.
const CLOCKS: [(&str, &str); 11] = [
    ("web/connections.rs", "Instant::now"),
    ("web/connections.rs", ".elapsed()"),
    ("llm/model.rs", "Instant::now"),
    ("llm/http.rs", "Instant::now"),
    ("llm/command.rs", "Instant::now"),
    ("search/breaker.rs", "Instant::now"),
    ("chat/proxy/pauses.rs", "Instant::now"),
    ("record/many.rs", "Instant::now"),
    ("record/many.rs", ".elapsed()"),
    ("store/settled.rs", "Instant::now"),
    ("store/settled.rs", ".elapsed()"),
];

const MOST_LINES: usize = 500;

/// A file of the source.
struct Source {
    /// Its path: `document/scan.rs` of `crates/document/src/scan.rs`, `cli/args.rs` of `src/cli/args.rs`.
    name: String,
    text: String,
}

/// The room of a file: `document` of `document/scan.rs`, `document/types` of `document/types/scope.rs`.
fn room(file: &str) -> &str {
    let part = |file: &'_ str| file.split('/').next().unwrap().trim_end_matches(".rs").len();
    let first = part(file);
    let longer = file.get(first + 1..).map(|rest| first + 1 + part(rest)).unwrap_or(first);
    let is_room =
        ROOMS.iter().any(|(room, _)| room.contains('/') && *room == &file[..longer.min(file.len())]);
    &file[..if is_room { longer } else { first }]
}

/// The crate of a room: `document` of `document/types`, and an empty text for the package `memories`.
fn crate_of(room: &str) -> &str {
    let first = room.split('/').next().unwrap();
    if Path::new(env!("CARGO_MANIFEST_DIR")).join("crates").join(first).is_dir() { first } else { "" }
}

impl Source {
    /// Lines with their numbers, without comments and without tests.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let numbered = self.text.lines().enumerate().map(|(at, line)| (at + 1, line));
        let is_test = self.name.ends_with("/tests.rs") || self.name.contains("/tests/");
        let own = numbered.take_while(move |(_, line)| *line != "mod tests {" && !is_test);
        own.filter(|(_, line)| !line.trim_start().starts_with("//"))
    }

    /// Where the code holds one of these.
    fn find(&self, marks: &[&str]) -> Vec<String> {
        let held = |line: &str| marks.iter().any(|mark| line.contains(mark));
        let found = self.code().filter(|(_, line)| held(line));
        found.map(|(number, line)| format!("{}:{number}: {}", self.name, line.trim())).collect()
    }
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = sources_in(&root.join("src"), "");
    for folder in fs::read_dir(root.join("crates")).unwrap() {
        let folder: PathBuf = folder.unwrap().path();
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        sources.extend(sources_in(&folder.join("src"), &format!("{name}/")));
    }
    assert!(sources.len() > 300, "the source is not where it was");
    sources.sort_by(|a, b| a.name.cmp(&b.name));
    sources
}

/// The files of one crate, whose names begin with `prefix`.
fn sources_in(root: &Path, prefix: &str) -> Vec<Source> {
    let mut folders = vec![root.to_owned()];
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
                sources.push(Source {
                    name: format!("{prefix}{name}"),
                    text: fs::read_to_string(&path).unwrap(),
                });
            }
        }
    }
    sources
}

/// Finds in the files for which `concerned` holds.
fn found(concerned: impl Fn(&Source) -> bool, marks: &[&str]) -> Vec<String> {
    sources().iter().filter(|source| concerned(source)).flat_map(|source| source.find(marks)).collect()
}

#[track_caller]
fn assert_none(found: &[String], rule: &str) {
    assert!(found.is_empty(), "{rule}:\n{}", found.join("\n"));
}

#[test]
fn every_room_uses_exactly_the_rooms_that_the_table_lists() {
    let sources = sources();
    let mut used: BTreeMap<&str, BTreeSet<&str>> =
        sources.iter().map(|source| (room(&source.name), BTreeSet::new())).collect();
    let mut imports = imports(&sources);
    imports.retain(|(from, to), _| crate_of(room(from)) == crate_of(room(to)));
    for (from, to) in imports.keys().filter(|(from, to)| room(from) != room(to)) {
        used.get_mut(room(from)).unwrap().insert(room(to));
    }
    let mut wrong = Vec::new();
    let has_rooms = |name: &str| {
        crate_of(name).is_empty()
            || ROOMS.iter().any(|(room, _)| room.contains('/') && crate_of(room) == crate_of(name))
    };
    for (room, used) in used.iter().filter(|(room, _)| has_rooms(room)) {
        let listed: BTreeSet<&str> = ROOMS
            .iter()
            .filter(|(name, _)| name == room)
            .flat_map(|(_, rooms)| rooms.iter().copied())
            .collect();
        if listed != *used {
            wrong.push(format!("(\"{room}\", &{used:?}),"));
            let places = imports.iter().filter(|((from, to), _)| {
                self::room(from) == *room && used.contains(self::room(to)) && !listed.contains(self::room(to))
            });
            wrong.extend(places.map(|((from, to), line)| format!("    {from}:{line} uses {to}")));
        }
    }
    assert_none(&wrong, "the table differs from the code, which has");
    for (at, (room, rooms)) in ROOMS.iter().enumerate() {
        assert!(used.contains_key(room), "no room is called `{room}`");
        let below = rooms.iter().find(|other| !ROOMS[..at].iter().any(|(name, _)| name == *other));
        assert_eq!(below, None, "`{room}` uses a room that is not above it in the table");
    }
}

#[test]
fn no_files_use_each_other() {
    let imports = imports(&sources());
    let mut wrong = Vec::new();
    for circle in circles(&imports) {
        wrong.push(format!("{circle:?}"));
        let within = imports
            .iter()
            .filter(|((from, to), _)| circle.contains(from.as_str()) && circle.contains(to.as_str()));
        wrong.extend(within.map(|((from, to), line)| format!("    {from}:{line} uses {to}")));
    }
    assert_none(&wrong, "move what both need to a file of its own");
}

#[test]
fn other_rooms_are_named_in_full() {
    let grouped = found(
        |source| crate_of(&source.name).is_empty(),
        &["crate::{", "crate::*", "memories::{", "use crate;", "super::super"],
    );
    assert_none(&grouped, "write `use crate::room::…`, one line a room");
    // In these files `super` is the whole crate.
    let top = |source: &Source| {
        let within = source.name.strip_prefix(crate_of(&source.name)).unwrap_or(&source.name);
        let within = within.trim_start_matches('/');
        !within.contains('/') || within.matches('/').count() == 1 && within.ends_with("/mod.rs")
    };
    assert_none(&found(top, &["super::"]), "write `crate::` where another room is meant");
}

/// A tuple that takes the place of two parameters hides how many there are, and which is which.
#[test]
fn parameters_are_no_tuples() {
    let mut tuples = Vec::new();
    for source in sources() {
        for (number, line) in source.code() {
            let parameter = line.trim_start().split_once("): (").map(|(names, _)| names);
            let names = parameter.and_then(|names| names.rsplit_once('('));
            let is_name = |name: &str| {
                name.trim().trim_start_matches("mut ").chars().all(|c| c.is_alphanumeric() || c == '_')
            };
            if let Some((before, names)) = names
                && names.contains(',')
                && names.split(',').all(is_name)
                && (before.is_empty() || before.ends_with(", ") || before.ends_with('('))
                && !before.contains("let ")
                && !before.contains('|')
            {
                tuples.push(format!("{}:{}: {}", source.name, number, line.trim()));
            }
        }
    }
    assert_none(&tuples, "two values are two parameters, or a struct with a name");
}

#[test]
fn only_the_command_line_reads_the_environment() {
    let marks = ["std::env", "env::var", "current_dir("];
    let elsewhere = found(|source| !matches!(room(&source.name), "cli" | "mcp" | "main"), &marks);
    assert_none(&elsewhere, "values of the environment are arguments");
}

#[test]
fn only_the_command_line_prints() {
    let marks = ["println!", "print!(", "io::stdout", "io::stderr", "stdout()", "stderr()", "dbg!("];
    // `mcp` speaks on stdout; in `cli` all goes through one file.
    let elsewhere = found(|source| room(&source.name) != "mcp" && source.name != "cli/ui.rs", &marks);
    assert_none(&elsewhere, "what is told goes through `cli/ui.rs`");
}

#[test]
fn only_the_command_line_reads_a_clock() {
    let marks = ["SystemTime::now", "Timestamp::now", "Zoned::now", "Instant::now", ".elapsed()"];
    let below = |source: &Source| !matches!(room(&source.name), "cli" | "mcp");
    let mut used: BTreeSet<&(&str, &str)> = BTreeSet::new();
    let mut wrong = found(below, &marks);
    wrong.retain(|place| {
        let excepted =
            CLOCKS.iter().find(|(file, mark)| place.starts_with(&format!("{file}:")) && place.contains(mark));
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
    let elsewhere = found(|source| room(&source.name) != "store", &marks);
    assert_none(&elsewhere, "a write elsewhere would miss the lock, the backup or the sync");
}

#[test]
fn only_one_file_speaks_to_the_model_of_a_client() {
    let marks = [
        "ContentBlock",
        "PromptMessage",
        "ResourceContents",
        "Resource::new",
        "LoggingMessageNotificationParam",
        "CallToolResult::",
        "ErrorData::invalid_params",
        "ErrorData::resource_not_found",
        "ErrorData::new",
    ];
    let elsewhere = found(|source| source.name != "mcp/said.rs", &marks);
    assert_none(&elsewhere, "the functions of mcp/said.rs take text that is fit for a model");
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
        assert!(text.starts_with("//! "), "{name} does not begin with `//!`");
        let lines = text.lines().count();
        assert!(lines <= MOST_LINES, "{name} has {lines} lines: split it");
    }
}

#[test]
fn main_is_small() {
    let sources = sources();
    let main = sources.iter().find(|source| source.name == "main.rs").unwrap();
    assert!(main.text.lines().count() <= 30, "arguments in, exit code out");
}
