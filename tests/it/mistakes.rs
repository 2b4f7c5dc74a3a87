//! Mistakes on the command line: the right exit code and stream, and a hint that says what to do next.
//!
//! `fixtures/mistakes/mistakes.txt` has a line for each: exit code, streams that got something, arguments (behind
//! `<<<` the text of stdin) and what stderr says. `MEMORIES_GOLDEN=rewrite cargo test --test it mistakes` writes what
//! the program does now; read the difference before you commit it.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::golden::split;
use crate::program::NOW;
use assert_cmd::Command;

/// Between the columns of a line.
const COLUMN: &str = " | ";

/// The mistakes of the table at least, so that none drops out unnoticed.
const MISTAKES: usize = 261;

const THREADS: usize = 4;

fn fixture() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/mistakes")
}

/// The result of a mistake.
struct Outcome {
    /// The line of the table.
    line: String,
    code: i32,
    stdout: String,
    hints: Vec<String>,
    /// Warnings, notices and the error.
    said: Vec<String>,
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(|entry| entry.unwrap()) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn run(arguments: &str) -> Outcome {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().canonicalize().unwrap().join("play");
    copy(&fixture().join("before"), &folder);
    let (line, stdin) = arguments.split_once(" <<< ").unwrap_or((arguments, ""));
    let mut command = Command::new(env!("CARGO_BIN_EXE_memories"));
    command.args(split(line)).current_dir(&folder).env_clear();
    command
        .env("HOME", scratch.path())
        .env("MEMORIES_NOW", NOW)
        .env("COLUMNS", "100")
        .env("PATH", "/usr/bin:/bin");
    let output = command.write_stdin(stdin).timeout(std::time::Duration::from_secs(60)).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap().replace(folder.to_str().unwrap(), "[DIR]");
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    let streams = match (stdout.is_empty(), stderr.is_empty()) {
        (true, true) => "-",
        (true, false) => "stderr",
        (false, true) => "stdout",
        (false, false) => "both",
    };
    let lines: Vec<String> = stderr.lines().map(str::to_owned).collect();
    let (hints, said): (Vec<String>, Vec<String>) =
        lines.into_iter().partition(|line| line.starts_with("hint: "));
    let code = output.status.code().unwrap_or(-1);
    let told: Vec<&str> = said.iter().chain(&hints).map(String::as_str).collect();
    let line = [&code.to_string(), streams, arguments, &told.join(" / ")].join(COLUMN);
    Outcome { line, code, stdout, hints, said }
}

/// The arguments of a line of the table; of a new line, all of it.
fn arguments(line: &str) -> &str {
    let columns: Vec<&str> = line.splitn(3, COLUMN).collect();
    match columns.as_slice() {
        [code, _, rest] if code.parse::<i32>().is_ok() => rest.split(COLUMN).next().unwrap(),
        _ => line,
    }
}

/// The outcomes of all lines, in their order.
fn outcomes(lines: &[&str]) -> Vec<Outcome> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(line) = lines.get(at) else { break };
                    let outcome = run(arguments(line));
                    found.lock().unwrap().push((at, outcome));
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap();
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, outcome)| outcome).collect()
}

#[test]
fn every_mistake_has_the_right_code_and_stream_and_a_hint() {
    let file = fixture().join("mistakes.txt");
    let table = fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines.len() >= MISTAKES, "{} mistakes", lines.len());
    let outcomes = outcomes(&lines);
    if std::env::var("MEMORIES_GOLDEN").is_ok_and(|value| value == "rewrite") {
        let rewritten: String = outcomes.iter().map(|outcome| format!("{}\n", outcome.line)).collect();
        fs::write(&file, rewritten).unwrap();
    }
    let mut wrong = Vec::new();
    for (line, Outcome { line: now, code, stdout, hints, said }) in lines.iter().zip(&outcomes) {
        if line != now && std::env::var("MEMORIES_GOLDEN").is_err() {
            wrong.push(format!("expected {line}\n  seen   {now}"));
        }
        if *code >= 2 && hints.is_empty() {
            wrong.push(format!("no hint: {now}"));
        }
        // A report of many items is an answer, whatever became of some of them.
        let reports = ["import ", "record --turns "].iter().any(|many| arguments(now).starts_with(many));
        if *code >= 2 && !stdout.is_empty() && !reports {
            wrong.push(format!("an answer with an error: {now}\n{stdout}"));
        }
        if *code < 2 && said.is_empty() && hints.is_empty() {
            wrong.push(format!("accepted without a word: {now}"));
        }
        if !(0..=4).contains(code) {
            wrong.push(format!("exit code {code}: {now}"));
        }
    }
    assert!(wrong.is_empty(), "{}\n{} of {} are wrong", wrong.join("\n"), wrong.len(), lines.len());
}
