//! The soak: how the program behaves when system calls fail, one by one.
//!
//! These tests run the program itself, mostly under strace, and take ten minutes; so they are ignored unless asked
//! for. `MEMORIES_EACH_CALL=20` tries each twentieth of the system calls:
//!
//! ```sh
//! cargo test --profile soak --test soak -- --ignored --nocapture --test-threads=2
//! ```
//!
//! Each prints a line `soak: …: N passed, N failed`, or why it tests nothing on this machine.

#![cfg(target_os = "linux")]
#![allow(
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests play the editor, the person and the broken disk, may panic, and print figures"
)]

mod calls;
mod chaos;
mod disk;
mod others;
mod power;
mod refusals;
mod rights;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use tempfile::TempDir;

/// The program, with nothing in its environment, in a folder.
fn memories(folder: &Path, arguments: &[&str]) -> Command {
    by_way_of(&[], folder, arguments)
}

/// The program, started by another one.
fn by_way_of(starter: &[&str], folder: &Path, arguments: &[&str]) -> Command {
    let program = std::env::var(PROGRAM).unwrap_or_else(|_| env!("CARGO_BIN_EXE_memories").to_owned());
    let mut words = starter.iter().copied().chain([program.as_str()]).chain(arguments.iter().copied());
    let mut command = Command::new(words.next().unwrap());
    command.args(words).current_dir(folder).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    command.env("MEMORIES_PROVIDER", "offline").env("HOME", folder).env("MEMORIES_FILE", folder.join(FILE));
    command.stdin(Stdio::null());
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    memories(folder, arguments).output().unwrap()
}

/// Runs a command that must succeed without a word on stderr.
fn succeed(folder: &Path, arguments: &[&str]) {
    let output = run(folder, arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{arguments:?}: {said}");
}

/// The environment variable that names another program to test, such as an installed one.
const PROGRAM: &str = "MEMORIES_SOAK_PROGRAM";

const FILE: &str = "Memories.md";

fn add<'a>(title: &'a str, text: &'a str) -> Vec<&'a str> {
    vec!["add", "23", "--title", title, "--text", text]
}

/// A text that is not taken for a near-duplicate of one of another number.
fn unlike(number: usize) -> String {
    let word = |at: usize| format!("{:x}", (number * 31 + at + 1) * 2_654_435_761 % 1_000_003);
    (0..12).map(word).collect::<Vec<_>>().join(" ")
}

/// All files that the program keeps, as texts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Kept {
    file: Option<String>,
    session: Option<String>,
    episode: Option<u64>,
    /// Former states, newest first.
    backups: Vec<String>,
}

impl Kept {
    fn of(folder: &Path) -> Kept {
        let read = |path: PathBuf| fs::read_to_string(path).ok();
        let sidecar = folder.join(".memories").join(FILE);
        let state = read(sidecar.join("state.json"));
        let state =
            state.map(|state| serde_json::from_str::<serde_json::Value>(&state).expect("a whole state"));
        let mut numbered: BTreeMap<u64, String> = BTreeMap::new();
        for entry in fs::read_dir(sidecar.join("backups")).into_iter().flatten().flatten() {
            if entry.file_name() == "states.jsonl" {
                continue;
            }
            let number = entry.path().file_stem().and_then(|stem| stem.to_str()?.parse().ok());
            numbered.insert(number.expect("a number"), fs::read_to_string(entry.path()).unwrap());
        }
        Kept {
            file: read(folder.join(FILE)),
            session: read(sidecar.join("session.md")),
            episode: state.and_then(|state| state["episode"].as_u64()),
            backups: numbered.into_values().rev().collect(),
        }
    }

    /// The state before the last write.
    fn backup(&self) -> Option<&String> {
        self.backups.first()
    }

    /// True if a title of an entry that still counts is in the file or in the session.
    fn knows(&self, title: &str) -> bool {
        let entry = format!("] {title}**");
        [&self.file, &self.session].into_iter().flatten().any(|text| text.contains(&entry))
    }
}

/// Files that no command leaves behind.
fn leftovers(folder: &Path) -> Vec<String> {
    let names = |folder: &Path| -> Vec<String> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().into_string().unwrap()).collect()
    };
    let beside = [".memories", FILE, "memories.toml"];
    let inside = [
        "lock",
        "state.json",
        "journal.jsonl",
        "journal.1.jsonl",
        "recorded",
        "queue.jsonl",
        "session.md",
        "written",
        "untracked",
        "backups",
        "remotes",
        "sync-lock",
    ];
    let strange = |folder: &Path, known: &[&str]| -> Vec<String> {
        names(folder).into_iter().filter(|name| !known.contains(&name.as_str())).collect()
    };
    let sidecars = folder.join(".memories");
    [
        strange(folder, &beside),
        strange(&sidecars, &[FILE, ".gitignore"]),
        strange(&sidecars.join(FILE), &inside),
    ]
    .concat()
}

/// Copies files and folders with their modes.
fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).unwrap();
        }
    }
}

/// A folder with a history: two writes, an ephemeral memory, a running episode, a journal.
fn prepared() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    succeed(path, &["episode", "start", "3", "-q"]);
    succeed(
        path,
        &["add", "23", "--name", "Living Room", "--title", "Old", "--text", "The rug hides a door."],
    );
    succeed(path, &add("Other", "A sword hangs above the case."));
    let turn = ["--turn", "8", "--location", "25:Attic", "--action", "wait", "--response", "Time passes."];
    succeed(path, &[&["record", "-q", "--world-changed=false"][..], &turn].concat());
    succeed(path, &["add", "23", "--title", "Fleeting", "--text", "The thief is near.", "--ephemeral"]);
    folder
}

/// Counts what passed and prints what failed.
struct Tally {
    name: String,
    passed: AtomicUsize,
    failed: AtomicUsize,
    said: Mutex<BTreeMap<String, usize>>,
}

impl Tally {
    fn new(name: impl Into<String>) -> Tally {
        let said = Mutex::default();
        Tally { name: name.into(), passed: AtomicUsize::new(0), failed: AtomicUsize::new(0), said }
    }

    fn note(&self, case: &str, result: Result<(), String>) {
        match result {
            Ok(()) => self.passed.fetch_add(1, Ordering::Relaxed),
            Err(problem) => {
                println!("soak: {}: {case}: {problem}", self.name);
                self.failed.fetch_add(1, Ordering::Relaxed)
            }
        };
    }

    /// Counts how often a result occurred, for the last line.
    fn count(&self, outcome: &str) {
        *self.said.lock().unwrap().entry(outcome.to_owned()).or_default() += 1;
    }

    /// Prints the counts and fails the test where anything failed.
    fn close(self) {
        let (passed, failed) = (self.passed.into_inner(), self.failed.into_inner());
        let said = self.said.into_inner().unwrap();
        let said: Vec<String> = said.iter().map(|(outcome, count)| format!("{count} {outcome}")).collect();
        let said = if said.is_empty() { String::new() } else { format!(" ({})", said.join(", ")) };
        println!("soak: {}: {passed} passed, {failed} failed{said}", self.name);
        assert!(failed == 0 && passed > 0, "{}: {failed} of {} failed", self.name, passed + failed);
    }
}

/// `Err` with a reason unless something holds.
macro_rules! hold {
    ($condition:expr, $($reason:tt)+) => {
        if !$condition {
            return Err(format!($($reason)+));
        }
    };
}
use hold;

/// Works on the items, two at a time.
fn for_each<T: Sync>(items: &[T], work: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    work(item);
                }
            });
        }
    });
}

/// Says why a test is skipped on this machine.
fn skip(name: &str, reason: &str) {
    println!("soak: {name}: skipped: {reason}");
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|id| id.stdout.trim_ascii() == b"0")
}
