//! Every console block of README is run, in order, in one folder, and must print what stands there.
//!
//! `MEMORIES_GOLDEN=rewrite` writes what was printed into README. Only the first lines are shown
//! there of what is long: an expected line `…` stands for any number of lines.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Output longer than this is cut in README.
const MOST_LINES: usize = 24;

/// Runs one line as a person's shell would, with `memories` on the path.
fn run_line(line: &str, folder: &Path) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_memories"));
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", program.parent().unwrap().display());
    let output = Command::new("sh")
        .args(["-c", &format!("{line} 2>&1")])
        .current_dir(folder)
        .env_clear()
        .env("PATH", path)
        .env("HOME", folder)
        .env("MEMORIES_NOW", "2026-01-31T10:40:00Z")
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

fn matches(expected: &[&str], actual: &[&str]) -> bool {
    match expected.split_first() {
        None => actual.is_empty(),
        Some((&"…", rest)) => (0..=actual.len()).any(|skipped| matches(rest, &actual[skipped..])),
        Some((line, rest)) => actual.first() == Some(line) && matches(rest, &actual[1..]),
    }
}

/// A block's commands with what stands under each.
fn commands(block: &str) -> Vec<(String, Vec<&str>)> {
    let mut found: Vec<(String, Vec<&str>)> = Vec::new();
    for line in block.lines() {
        match line.strip_prefix("$ ") {
            Some(command) => found.push((command.to_owned(), Vec::new())),
            None => found.last_mut().expect("a block starts with a command").1.push(line),
        }
    }
    found
}

#[test]
fn what_readme_shows_is_what_the_program_prints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    for shared in ["fixtures", "examples"] {
        std::os::unix::fs::symlink(root.join(shared), folder.path().join(shared)).unwrap();
    }
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let rewrite = std::env::var("MEMORIES_GOLDEN").as_deref() == Ok("rewrite");
    let mut rewritten = String::new();
    let mut rest = readme.as_str();
    let mut count = 0;
    let mut wrong: Vec<String> = Vec::new();
    while let Some((before, after)) = rest.split_once("```console\n") {
        let (block, after) = after.split_once("```\n").expect("the block is closed");
        rewritten.push_str(&format!("{before}```console\n"));
        for (command, expected) in commands(block) {
            let actual = run_line(&command, folder.path());
            let lines: Vec<&str> = actual.lines().collect();
            if !matches(&expected, &lines) {
                wrong
                    .push(format!("$ {command}\nREADME shows:\n{}\nprinted:\n{actual}", expected.join("\n")));
            }
            rewritten.push_str(&format!("$ {command}\n"));
            for line in lines.iter().take(MOST_LINES) {
                rewritten.push_str(&format!("{line}\n"));
            }
            if lines.len() > MOST_LINES {
                rewritten.push_str("…\n");
            }
            count += 1;
        }
        rewritten.push_str("```\n");
        rest = after;
    }
    rewritten.push_str(rest);
    if rewrite {
        fs::write(root.join("README.md"), rewritten).unwrap();
    } else {
        assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    }
    assert!(count >= 8, "README shows {count} commands");
}
