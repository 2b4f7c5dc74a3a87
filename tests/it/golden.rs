//! Each command and each error text, as a user sees it: the folders `fixtures/cli/COMMAND/CASE/`.
//!
//! `fixtures/cli/README.md` says what a case holds. `MEMORIES_GOLDEN=rewrite cargo test --test
//! it golden` writes what the program does now over what was expected; read the difference before
//! you commit it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::program::NOW;
use assert_cmd::Command;
use similar::TextDiff;

/// Names that the folder of a case may hold.
const PARTS: [&str; 9] =
    ["command", "stdin", "env", "before", "after", "stdout", "stderr", "exit", "feature"];

/// Commands that leave every file as it is, and make none; `check --fix` writes.
const READERS: [&str; 20] = [
    "memories",
    "recall",
    "query",
    "inject",
    "top",
    "summarize",
    "tried",
    "path",
    "near",
    "frontier",
    "route",
    "goals",
    "map",
    "check",
    "list",
    "show",
    "diff",
    "stats",
    "log",
    "completions",
];

/// In `after/`, `NAME.absent` says that there must be no `NAME`.
const ABSENT: &str = ".absent";

const THREADS: usize = 4;

/// Files of a folder by their paths in it. Empty folders are left out.
type Files = BTreeMap<String, Vec<u8>>;

/// The output and files of a case: expected, or seen.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    stdout: String,
    stderr: String,
    exit: String,
    after: Files,
}

#[test]
fn every_case_is_as_expected() {
    let rewrite = std::env::var("MEMORIES_GOLDEN").is_ok_and(|value| value == "rewrite");
    let cases = cases();
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(problem) = check_case(case, rewrite) {
                        failures.lock().unwrap().insert(case.clone(), problem);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    let mut report = String::new();
    for (case, problem) in &failures {
        let _ = writeln!(report, "\n=== {}\n{problem}", case.strip_prefix(root()).unwrap().display());
    }
    assert!(
        failures.is_empty(),
        "{report}\n{} of {} cases differ; MEMORIES_GOLDEN=rewrite takes what the program does now",
        failures.len(),
        cases.len()
    );
}

#[test]
fn every_command_has_cases_and_every_folder_is_a_command() {
    let output = Command::new(env!("CARGO_BIN_EXE_memories")).env_clear().output().unwrap();
    let overview = String::from_utf8(output.stdout).unwrap();
    let (overview, _) = overview.split_once("\nOptions:").unwrap();
    let mut commands: BTreeSet<String> = overview
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next())
        .map(str::to_owned)
        .collect();
    assert!(commands.len() >= 10, "{overview}");
    commands.insert("memories".to_owned());
    commands.insert("settings".to_owned());
    assert_eq!(subfolders(&root()).iter().map(|path| name_of(path)).collect::<BTreeSet<_>>(), commands);
    for command in commands.iter().filter(|command| *command != "settings") {
        assert!(root().join(command).join("help").is_dir(), "no case shows the help of `{command}`");
    }
}

#[test]
fn command_lines_are_split_as_a_shell_splits_them() {
    assert_eq!(
        split(r#"add 23  --text 'a "b" \n' "c 'd' \" \\ e"  f\ g '' x"y"z"#),
        ["add", "23", "--text", r#"a "b" \n"#, r#"c 'd' " \ e"#, "f g", "", "xyz"]
    );
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cli")
}

pub(crate) fn cases() -> Vec<PathBuf> {
    let mut cases: Vec<PathBuf> =
        subfolders(&root()).iter().flat_map(|command| subfolders(command)).collect();
    cases.retain(|case| match fs::read_to_string(case.join("feature")).as_deref().map(str::trim) {
        Ok("view") => cfg!(feature = "view"),
        Ok(_) => cfg!(feature = "llm"),
        Err(_) => true,
    });
    cases
}

fn subfolders(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.is_dir());
    paths.sort();
    paths
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

/// Runs a case and compares the results, or replaces the expectations by them.
fn check_case(case: &Path, rewrite: bool) -> Result<(), String> {
    let unknown: Vec<String> = fs::read_dir(case)
        .unwrap()
        .map(|entry| name_of(&entry.unwrap().path()))
        .filter(|name| !PARTS.contains(&name.as_str()))
        .collect();
    if !unknown.is_empty() {
        return Err(format!("not part of a case: {}", unknown.join(", ")));
    }
    let expected = expected(case)?;
    let seen = run(case)?;
    if rewrite {
        write_expectations(case, &expected, &seen);
        return Ok(());
    }
    let problem = differences(&expected, &seen);
    if problem.is_empty() { Ok(()) } else { Err(problem) }
}

fn expected(case: &Path) -> Result<Seen, String> {
    let text = |name: &str| fs::read_to_string(case.join(name)).unwrap_or_default();
    for name in ["stdout", "stderr", "exit"] {
        if case.join(name).exists() && text(name).is_empty() {
            return Err(format!("an empty `{name}` says what a missing one says: remove it"));
        }
    }
    Ok(Seen {
        stdout: text("stdout"),
        stderr: text("stderr"),
        exit: text("exit"),
        after: read_files(&case.join("after")),
    })
}

/// Runs the command lines of a case in a folder of their own. `after` holds the files that changed.
fn run(case: &Path) -> Result<Seen, String> {
    let lines = fs::read_to_string(case.join("command")).map_err(|error| format!("`command`: {error}"))?;
    let lines: Vec<&str> = lines.lines().filter(|line| !line.trim().is_empty()).collect();
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().canonicalize().unwrap().join("play");
    fs::create_dir(&folder).unwrap();
    let before = read_files(&case.join("before"));
    write_files(&folder, &before);
    let (mut stdout, mut stderr, mut exit) = (String::new(), String::new(), Vec::new());
    for line in &lines {
        let words = split(&line.replace("[DIR]", folder.to_str().unwrap()));
        let mut command = command(case, &folder, scratch.path());
        // JSON has no colours, although they are asked for; warnings beside it have.
        let is_coloured = has(&words, "--json") && !has(&words, "--color");
        if is_coloured {
            command.args(["--color", "always"]);
        }
        let output = command.args(words).output().map_err(|error| error.to_string())?;
        for (all, new) in [(&mut stdout, output.stdout), (&mut stderr, output.stderr)] {
            let mut new = String::from_utf8(new).map_err(|_| "the output is not UTF-8".to_owned())?;
            if is_coloured && !new.contains("{\"version\"") {
                new = anstream::adapter::strip_str(&new).to_string();
            }
            if lines.len() > 1 && !new.is_empty() {
                let _ = writeln!(all, "$ memories {line}");
            }
            all.push_str(&without_volatile(&new, &folder));
        }
        exit.push(output.status.code().map_or("signal".to_owned(), |code| code.to_string()));
    }
    let exit = if exit.iter().all(|code| code == "0") { String::new() } else { exit.join("\n") + "\n" };
    let after = changes(case, &before, read_files(&folder))?;
    Ok(Seen { stdout, stderr, exit, after })
}

fn has(words: &[String], flag: &str) -> bool {
    words.iter().any(|word| word == flag)
}

/// The program in the circumstances of a case, still without its arguments.
fn command(case: &Path, folder: &Path, home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memories"));
    command.current_dir(folder).env_clear().timeout(Duration::from_secs(60));
    command.env("HOME", home).env("MEMORIES_NOW", NOW).env("COLUMNS", "100");
    // The compiler's coverage and sanitizers need these to write their files.
    command.envs(std::env::vars().filter(|(name, _)| name.starts_with("LLVM_")));
    let variables = fs::read_to_string(case.join("env")).unwrap_or_default();
    command.envs(variables.lines().filter_map(|line| line.split_once('=')));
    command.write_stdin(fs::read(case.join("stdin")).unwrap_or_default());
    command
}

/// Files that differ from before, and those that the case names besides.
fn changes(case: &Path, before: &Files, mut files: Files) -> Result<Files, String> {
    let asked = read_files(&case.join("after"));
    let mends = fs::read_to_string(case.join("command")).is_ok_and(|lines| lines.contains("--fix"));
    let reader = READERS.contains(&name_of(case.parent().unwrap()).as_str()) && !mends;
    let beside = |name: &str| name.split('/').any(|part| part == ".memories");
    let mut changes = Files::new();
    for name in before.keys().filter(|name| !files.contains_key(*name)) {
        changes.insert(format!("{name}{ABSENT}"), Vec::new());
    }
    for name in asked.keys().filter_map(|name| name.strip_suffix(ABSENT)) {
        let below = format!("{name}/");
        if !files.keys().any(|file| file == name || file.starts_with(&below)) {
            changes.insert(format!("{name}{ABSENT}"), Vec::new());
        }
    }
    files.retain(|name, bytes| {
        let changed = before.get(name) != Some(bytes);
        asked.contains_key(name) || (changed && !beside(name))
    });
    changes.extend(files);
    match changes.keys().find(|name| !name.ends_with(ABSENT)) {
        Some(name) if reader => Err(format!("a command that only reads wrote `{name}`")),
        _ => Ok(changes),
    }
}

fn read_files(folder: &Path) -> Files {
    let mut files = Files::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(inner) = folders.pop() {
        for entry in fs::read_dir(inner).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
            files.insert(name, fs::read(&path).unwrap());
        }
    }
    files
}

fn write_files(folder: &Path, files: &Files) {
    for (name, bytes) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

/// The output with `[DIR]` for the folder of the case, and `[TIME]` for the time of a file.
fn without_volatile(output: &str, folder: &Path) -> String {
    let output = output.replace(folder.to_str().unwrap(), "[DIR]");
    let mut times: BTreeSet<String> = BTreeSet::new();
    for (at, _) in output.match_indices("T") {
        let time = at.checked_sub(10).and_then(|start| output.get(start..at + 10)).unwrap_or_default();
        let shape: String = time.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
        if shape == "0000-00-00T00:00:00Z" && !time.starts_with("2026-01-") {
            times.insert(time.to_owned());
        }
    }
    times.iter().fold(output, |output, time| output.replace(time.as_str(), "[TIME]"))
}

fn write_expectations(case: &Path, expected: &Seen, seen: &Seen) {
    for (name, text) in [("stdout", &seen.stdout), ("stderr", &seen.stderr), ("exit", &seen.exit)] {
        if text.is_empty() {
            let _ = fs::remove_file(case.join(name));
        } else {
            fs::write(case.join(name), text).unwrap();
        }
    }
    if expected.after != seen.after {
        let _ = fs::remove_dir_all(case.join("after"));
        write_files(&case.join("after"), &seen.after);
    }
}

fn differences(expected: &Seen, seen: &Seen) -> String {
    let mut out = String::new();
    let streams = [
        ("stdout", &expected.stdout, &seen.stdout),
        ("stderr", &expected.stderr, &seen.stderr),
        ("exit", &expected.exit, &seen.exit),
    ];
    for (name, expected, seen) in streams {
        out.push_str(&difference(name, expected.as_bytes(), seen.as_bytes()));
    }
    let names: BTreeSet<&String> = expected.after.keys().chain(seen.after.keys()).collect();
    for name in names {
        match (expected.after.get(name), seen.after.get(name)) {
            (Some(expected), Some(seen)) => {
                out.push_str(&difference(&format!("after/{name}"), expected, seen));
            }
            (Some(_), None) => {
                let _ = writeln!(out, "--- after/{name}: it is not so");
            }
            (None, seen) => {
                let _ = writeln!(out, "--- after/{name}: nothing of the kind is expected");
                out.push_str(&difference(name, b"", seen.map(Vec::as_slice).unwrap_or_default()));
            }
        }
    }
    out
}

fn difference(name: &str, expected: &[u8], seen: &[u8]) -> String {
    if expected == seen {
        return String::new();
    }
    let (expected, seen) = (String::from_utf8_lossy(expected), String::from_utf8_lossy(seen));
    let diff = TextDiff::from_lines(expected.as_ref(), seen.as_ref());
    diff.unified_diff()
        .context_radius(2)
        .header(&format!("expected {name}"), &format!("seen {name}"))
        .to_string()
}

/// Splits a command line into words at blanks; quotes and backslashes keep words together.
pub(crate) fn split(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        match c {
            ' ' => words.extend(word.take()),
            '\'' => word.get_or_insert_default().extend(characters.by_ref().take_while(|&c| c != '\'')),
            '"' => {
                let word = word.get_or_insert_default();
                while let Some(c) = characters.next().filter(|&c| c != '"') {
                    word.extend(if c == '\\' { characters.next() } else { Some(c) });
                }
            }
            '\\' => word.get_or_insert_default().extend(characters.next()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}
