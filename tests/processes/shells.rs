//! Completions and pages of the manual, against the real parser and the programs that read them.

#[cfg(feature = "full")]
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
#[cfg(feature = "full")]
use std::path::Path;
use std::process::{Command, Output};

fn memories(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_memories"))
        .args(arguments)
        .env_clear()
        .env("COLUMNS", "200")
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Every command with its long flags, from the parser's own help.
#[cfg(feature = "full")]
fn commands() -> BTreeMap<String, BTreeSet<String>> {
    let list = memories(&["help", "all"]);
    let (list, _) = list.split_once("\nOptions:").unwrap();
    // A name takes the first column, of 12 characters.
    let names = list.lines().filter_map(|line| Some(line.strip_prefix("  ")?[..12].trim_end()));
    let is_plain = |name: &&str| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b' ');
    let names: Vec<&str> = names.filter(is_plain).collect();
    assert!(names.len() >= 18 && names.contains(&"map path") && names.contains(&"man"), "{names:?}");
    let flags = |name: &str| {
        let words: Vec<&str> = name.split(' ').chain(["--help"]).collect();
        long_flags(&memories(&words))
    };
    names.into_iter().map(|name| (name.to_owned(), flags(name))).collect()
}

/// The flags at the beginning of help's lines: `--json` of `  -x, --json  Answer in JSON`.
#[cfg(feature = "full")]
fn long_flags(help: &str) -> BTreeSet<String> {
    let flag = |line: &str| {
        let line = line.trim_start();
        let line = line.split_once(", ").filter(|(short, _)| short.len() == 2).map_or(line, |(_, long)| long);
        let name = line.strip_prefix("--")?;
        let in_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let end = name.find(|c| !in_name(c)).unwrap_or(name.len());
        Some(name[..end].to_owned())
    };
    help.lines().filter_map(flag).collect()
}

/// Lets a program of the system read a text from a file; `None` where there is no such program.
fn read_by(program: &str, arguments: &[&str], text: &str) -> Option<Output> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text");
    fs::write(&path, text).unwrap();
    let output = Command::new(program).args(arguments).arg(&path).env("LC_ALL", "C.UTF-8").output();
    if output.is_err() {
        eprintln!("`{program}` is not here: skipped");
    }
    output.ok()
}

/// The answer to fish, which needs no variable but one, for a line whose last word is completed.
fn candidates(words: &[&str]) -> Vec<String> {
    let line = [&["--", "memories"], words].concat();
    let output = Command::new(env!("CARGO_BIN_EXE_memories"))
        .args(line)
        .env_clear()
        .env("MEMORIES_COMPLETE", "fish")
        .output()
        .unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
}

#[cfg(feature = "full")]
#[test]
fn completions_know_every_command_and_flag() {
    let known = candidates(&[""]);
    for (name, flags) in commands() {
        let words: Vec<&str> = name.split(' ').collect();
        assert!(known.contains(&words[0].to_owned()), "`{name}`");
        let known = candidates(&[&words[..], &["--"]].concat());
        for flag in flags {
            assert!(known.contains(&format!("--{flag}")), "`{name} --{flag}`: {known:?}");
        }
    }
}

/// The values that help lists, by command and flag.
#[test]
fn completions_know_the_values_of_flags() {
    let exported =
        &["json", "jsonl", "sqlite", "markdown", "world-info", "obsidian", "agents-md", "codex"][..];
    for (words, expected) in [
        (&["recall", "23", "--format", ""][..], &["text", "markdown", "xml"][..]),
        (&["map", "--format", ""], &["mermaid", "dot", "json", "svg"]),
        (&["export", "--format", ""], exported),
        (&["seed", "--format", ""], &["toml", "yaml", "json"]),
        (&["import", "--on-conflict", ""], &["refuse", "skip", "revise"]),
        (&["list", "--by", ""], &["visit", "id", "name"]),
        (&["add", "--category", "DAN"], &["DANGER"]),
        (&["add", "--category", "dan"], &["DANGER"]),
        (&["query", "x", "--status", ""], &["active", "tentative", "superseded"]),
        (&["mark", "--persistence", ""], &["core", "permanent", "ephemeral"]),
        (&["--color", ""], &["auto", "always", "never"]),
        (&["completions", ""], &["bash", "elvish", "fish", "powershell", "zsh"]),
        (&["record", "--provider", "off"], &["offline"]),
        (&["log", "--outcome", "s"], &["stored", "superseded", "seeded", "synced"]),
        (&["episode", ""], &["start", "show", "best", "rewind"]),
    ] {
        let known = candidates(words);
        let values: Vec<&str> =
            known.iter().map(String::as_str).filter(|value| !value.starts_with('-')).collect();
        assert_eq!(values, expected, "{words:?}");
    }
}

#[test]
fn a_wrong_question_of_a_shell_is_an_error_and_a_missing_file_none() {
    let ask = |shell: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memories"));
        command.args(["--", "memories", "-f", "/nowhere/Memories.md", "show", ""]).env_clear();
        command.env("MEMORIES_COMPLETE", shell).output().unwrap()
    };
    let wrong = ask("tcsh");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("bash, elvish, fish"), "{wrong:?}");
    let nothing = ask("fish");
    assert!(nothing.status.success() && nothing.stderr.is_empty(), "{nothing:?}");
}

#[test]
fn shells_accept_their_completions() {
    for (shell, arguments) in [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")] {
        if let Some(output) = read_by(shell, &[arguments], &memories(&["completions", shell])) {
            assert!(output.status.success(), "{shell}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
}

/// The shells themselves, at a terminal: a line with a tab in it is typed, and the command runs with what was completed.
#[cfg(feature = "full")]
#[test]
fn the_manual_has_a_page_for_every_command_and_flag() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man/man1");
    let pages = pages.to_str().unwrap();
    let told = memories(&["man", pages]);
    let page_of = |name: &str| fs::read_to_string(Path::new(pages).join(name)).unwrap();
    let main = page_of("memories.1");
    assert_eq!(main, memories(&["man"]));
    for (name, flags) in commands() {
        let page = page_of(&format!("memories-{}.1", name.replace(' ', "-")));
        let first = name.split(' ').next().unwrap();
        assert!(main.contains(&format!("memories\\-{first}(1)")), "the main page does not name `{name}`");
        for flag in flags {
            let written = format!("\\-\\-{}", flag.replace('-', "\\-"));
            assert!(page.contains(&written), "the page of `{name}` does not know --{flag}");
        }
    }
    assert_eq!(told.lines().count(), fs::read_dir(pages).unwrap().count());
    assert!(told.contains("memories-episode-start.1"));
    assert!(memories(&["man", pages]).lines().all(|line| line.starts_with("kept ")));
    fs::write(Path::new(pages).join("memories.1"), "of an older version").unwrap();
    let replaced = memories(&["man", pages, "--force"]);
    assert_eq!(replaced.lines().filter(|line| line.starts_with("wrote ")).count(), 1);
    assert_eq!(page_of("memories.1"), main);
}

#[test]
fn the_manual_is_read_without_complaint() {
    let folder = tempfile::tempdir().unwrap();
    memories(&["man", folder.path().to_str().unwrap()]);
    for entry in fs::read_dir(folder.path()).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        let Some(output) = read_by("groff", &["-k", "-man", "-Tutf8", "-ww", "-b"], &text) else { return };
        let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
        let complaints: Vec<&str> =
            complaints.lines().filter(|line| line.contains("warning") || line.contains("error")).collect();
        assert!(output.status.success() && complaints.is_empty(), "{complaints:#?}");
    }
}
