//! Each command and each error text, as a user sees it: the files `fixtures/cli/COMMAND/CASE.txtar`.
//!
//! `fixtures/cli/README.md` says what a case holds. `MEMORIES_GOLDEN=rewrite cargo test --test
//! it golden` writes what the program does now over what was expected; read the difference before
//! you commit it.

mod case;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::program::NOW;
use crate::schemas::{commands, short};
use assert_cmd::Command;
use similar::TextDiff;

pub(crate) use case::Files;
use case::{Case, Seen};

/// Commands that leave every file as it is, and make none; `check --fix` and `check --format` write.
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

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/cli");

const WORLDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/worlds");

const THREADS: usize = 4;

#[test]
fn every_case_is_as_expected() {
    let rewrite = std::env::var("MEMORIES_GOLDEN").is_ok_and(|value| value == "rewrite");
    let cases = cases();
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some((path, case)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(problem) = check_case(path, case, rewrite) {
                        failures.lock().unwrap().insert(path, problem);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    let mut report = String::new();
    for (path, problem) in &failures {
        let _ = writeln!(report, "\n=== {}\n{problem}", path.display());
    }
    assert!(
        failures.is_empty(),
        "{report}\n{} of {} cases differ; MEMORIES_GOLDEN=rewrite takes what the program does now",
        failures.len(),
        cases.len()
    );
}

#[test]
fn every_world_has_a_case() {
    let used: BTreeSet<String> = all_cases().into_iter().flat_map(|(_, case)| case.worlds).collect();
    assert_eq!(names_in(Path::new(WORLDS)), used);
}

#[test]
fn every_command_has_cases_and_every_folder_is_a_command() {
    let mut commands: BTreeSet<String> = commands().iter().map(|name| short(name)).collect();
    assert!(commands.len() >= 10, "{commands:?}");
    commands.insert("memories".to_owned());
    // The last one is a former name of `check --format`.
    commands.extend(["settings", "fmt"].map(str::to_owned));
    let mut folders = names_in(Path::new(CASES));
    folders.remove("README.md");
    assert_eq!(folders, commands);
    for command in commands.iter().filter(|command| *command != "settings") {
        let help = Path::new(CASES).join(command).join("help.txtar");
        assert!(help.is_file(), "no case shows the help of `{command}`");
    }
}

#[test]
fn command_lines_are_split_as_a_shell_splits_them() {
    assert_eq!(
        split(r#"add 23  --text 'a "b" \n' "c 'd' \" \\ e"  f\ g '' x"y"z"#),
        ["add", "23", "--text", r#"a "b" \n"#, r#"c 'd' " \ e"#, "f g", "", "xyz"]
    );
}

/// The cases that this build can run, with their paths.
pub(crate) fn cases() -> Vec<(PathBuf, Case)> {
    let mut cases = all_cases();
    cases.retain(|(_, case)| case.feature.iter().flat_map(|names| names.split(' ')).all(has_feature));
    cases
}

/// True if this build has a feature.
fn has_feature(name: &str) -> bool {
    match name {
        "agents" => cfg!(feature = "agents"),
        "formats" => cfg!(feature = "formats"),
        "mcp" => cfg!(feature = "mcp"),
        "page" => cfg!(feature = "page"),
        "proxy" => cfg!(feature = "proxy"),
        "sqlite" => cfg!(feature = "sqlite"),
        "sync" => cfg!(feature = "sync"),
        "full" => {
            ["agents", "formats", "mcp", "page", "proxy", "sqlite", "sync"].into_iter().all(has_feature)
        }
        other => panic!("no feature is called `{other}`"),
    }
}

fn all_cases() -> Vec<(PathBuf, Case)> {
    let texts = read_files(Path::new(CASES)).into_iter().filter(|(name, _)| name != "README.md");
    let parse = |text: Vec<u8>| Case::parse(&String::from_utf8(text).map_err(|error| error.to_string())?);
    let case = |(name, text)| {
        let case = parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        (Path::new(CASES).join(name), case)
    };
    texts.map(case).collect()
}

fn names_in(folder: &Path) -> BTreeSet<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    names.map(|name| name.into_string().unwrap()).collect()
}

/// Runs a case and compares the results, or replaces the expectations by them.
fn check_case(path: &Path, case: &Case, rewrite: bool) -> Result<(), String> {
    let text = fs::read_to_string(path).unwrap();
    let command = path.parent().unwrap().file_name().unwrap().to_str().unwrap();
    let seen = run(case, READERS.contains(&command))?;
    if rewrite {
        let rewritten = Case { seen, ..case.clone() }.to_text();
        if rewritten != text {
            fs::write(path, rewritten).unwrap();
        }
        return Ok(());
    }
    // The next rewrite would change a case that is right but is written in another form or order.
    let problem = differences(&case.seen, &seen)
        + &difference("form of the case", text.as_bytes(), case.to_text().as_bytes());
    if problem.is_empty() { Ok(()) } else { Err(problem) }
}

/// The files among which the commands of a case start.
fn files_before(case: &Case) -> Result<Files, String> {
    let mut files = case.before.clone();
    for world in &case.worlds {
        let shared = read_files(&Path::new(WORLDS).join(world));
        if shared.is_empty() || shared.keys().any(|name| files.contains_key(name)) {
            return Err(format!("the world `{world}` has no files, or one that the case has, too"));
        }
        files.extend(shared);
    }
    Ok(files)
}

/// Runs the command lines of a case in a folder of their own. `after` holds the files that changed.
fn run(case: &Case, reads_only: bool) -> Result<Seen, String> {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().canonicalize().unwrap().join("play");
    fs::create_dir(&folder).unwrap();
    let before = files_before(case)?;
    write_files(&folder, &before);
    let mut seen = Seen::default();
    for line in &case.commands {
        let words = split(&line.replace("[DIR]", folder.to_str().unwrap()));
        let mut command = command(case, &folder, scratch.path());
        // JSON has no colours, although they are asked for; warnings beside it have.
        let is_coloured = has(&words, "--json") && !has(&words, "--color");
        if is_coloured {
            command.args(["--color", "always"]);
        }
        let output = command.args(words).output().map_err(|error| error.to_string())?;
        for (all, new) in [(&mut seen.stdout, output.stdout), (&mut seen.stderr, output.stderr)] {
            let mut new = String::from_utf8(new).map_err(|_| "the output is not UTF-8".to_owned())?;
            if is_coloured && !new.contains("{\"version\"") {
                new = anstream::adapter::strip_str(&new).to_string();
            }
            if case.commands.len() > 1 && !new.is_empty() {
                let _ = writeln!(all, "$ memories {line}");
            }
            all.push_str(&without_volatile(&new, &folder));
        }
        seen.exit.push(output.status.code().map_or("signal".to_owned(), |code| code.to_string()));
    }
    if seen.exit.iter().all(|code| code == "0") {
        seen.exit.clear();
    }
    seen.after = changes(case, &before, read_files(&folder));
    let writes = |line: &String| {
        line.starts_with("check ") && ["--fix", "--format"].iter().any(|flag| line.contains(flag))
    };
    let mends = case.commands.iter().any(writes);
    match seen.after.iter().find(|(_, bytes)| bytes.is_some()) {
        Some((name, _)) if reads_only && !mends => Err(format!("a command that only reads wrote `{name}`")),
        _ => Ok(seen),
    }
}

fn has(words: &[String], flag: &str) -> bool {
    words.iter().any(|word| word == flag)
}

/// The program in the circumstances of a case, still without its arguments.
fn command(case: &Case, folder: &Path, home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memories"));
    command.current_dir(folder).env_clear().timeout(Duration::from_secs(60));
    command.env("HOME", home).env("MEMORIES_NOW", NOW).env("COLUMNS", "100");
    // The compiler's coverage and sanitizers need these to write their files.
    command.envs(std::env::vars().filter(|(name, _)| name.starts_with("LLVM_")));
    command.envs(case.env.iter().filter_map(|line| line.split_once('=')));
    command.write_stdin(case.stdin.clone());
    command
}

/// Files that differ from before, and those that the case names besides.
fn changes(case: &Case, before: &Files, files: Files) -> BTreeMap<String, Option<Vec<u8>>> {
    let asked = &case.seen.after;
    let is_beside = |name: &str| name.split('/').any(|part| part == ".memories");
    let is_there = |name: &str| {
        let below = format!("{name}/");
        files.keys().any(|file| file == name || file.starts_with(&below))
    };
    let denied =
        asked.iter().filter(|(name, bytes)| bytes.is_none() && !is_there(name)).map(|(name, _)| name);
    let removed = before.keys().filter(|name| !files.contains_key(*name));
    let mut changes: BTreeMap<_, _> = denied.chain(removed).map(|name| (name.clone(), None)).collect();
    changes.extend(files.into_iter().filter_map(|(name, bytes)| {
        let changed = before.get(&name) != Some(&bytes) && !is_beside(&name);
        (changed || asked.get(&name).is_some_and(Option::is_some)).then_some((name, Some(bytes)))
    }));
    changes
}

pub(crate) fn read_files(folder: &Path) -> Files {
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

pub(crate) fn write_files(folder: &Path, files: &Files) {
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

fn differences(expected: &Seen, seen: &Seen) -> String {
    let mut out = difference("exit", expected.exit.join("\n").as_bytes(), seen.exit.join("\n").as_bytes());
    out += &difference("stdout", expected.stdout.as_bytes(), seen.stdout.as_bytes());
    out += &difference("stderr", expected.stderr.as_bytes(), seen.stderr.as_bytes());
    let names: BTreeSet<&String> = expected.after.keys().chain(seen.after.keys()).collect();
    for name in names {
        match (expected.after.get(name), seen.after.get(name)) {
            (Some(Some(expected)), Some(Some(seen))) => {
                out += &difference(&format!("after/{name}"), expected, seen)
            }
            (Some(None), Some(None)) => {}
            (Some(_), _) => {
                let _ = writeln!(out, "--- after/{name}: it is not so");
            }
            (None, seen) => {
                let _ = writeln!(out, "--- after/{name}: nothing of the kind is expected");
                out += &difference(name, b"", seen.cloned().flatten().as_deref().unwrap_or_default());
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
