//! Completions and pages of the manual, against the real parser and the programs that read them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
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
fn commands() -> BTreeMap<String, BTreeSet<String>> {
    let overview = memories(&["--help"]);
    let (overview, _) = overview.split_once("\nOptions:").unwrap();
    let names: Vec<&str> = overview
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next())
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_lowercase()))
        .collect();
    assert!(names.len() >= 18 && names.contains(&"stats") && names.contains(&"man"), "{names:?}");
    names.into_iter().map(|name| (name.to_owned(), long_flags(&memories(&[name, "--help"])))).collect()
}

/// The flags at the beginning of help's lines: `--json` of `  -x, --json  Answer in JSON`.
fn long_flags(help: &str) -> BTreeSet<String> {
    let flag = |line: &str| {
        let line = line.trim_start();
        let line = line.split_once(", ").filter(|(short, _)| short.len() == 2).map_or(line, |(_, long)| long);
        let name = line.strip_prefix("--")?;
        let end = name.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(name.len());
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

#[test]
fn completions_know_every_command_and_flag() {
    let commands = commands();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = memories(&["completions", shell]);
        for (name, flags) in &commands {
            assert!(script.contains(name), "{shell} does not know `{name}`");
            for flag in flags {
                let written = if shell == "fish" { format!("-l {flag}") } else { format!("--{flag}") };
                assert!(script.contains(&written), "{shell} does not know `{name} --{flag}`");
            }
        }
    }
}

#[test]
fn shells_accept_their_completions() {
    for (shell, arguments) in [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")] {
        if let Some(output) = read_by(shell, &[arguments], &memories(&["completions", shell])) {
            assert!(output.status.success(), "{shell}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
}

/// The scripts are not only accepted: called as a shell calls them, they offer what the parser has.
#[test]
fn bash_completes_from_the_script() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("memories.bash");
    fs::write(&script, memories(&["completions", "bash"])).unwrap();
    let complete = |words: &str, at: usize| {
        let program = format!(
            "source {}; COMP_WORDS=({words}); COMP_CWORD={at}; COMPREPLY=(); \
             _memories memories \"${{COMP_WORDS[{at}]}}\" \"${{COMP_WORDS[{}]}}\"; echo \"${{COMPREPLY[@]}}\"",
            script.display(),
            at - 1
        );
        let output = Command::new("bash").args(["--norc", "-c", &program]).output().ok()?;
        Some(String::from_utf8(output.stdout).unwrap())
    };
    if let Some(commands) = complete("memories st", 1) {
        assert_eq!(commands.trim(), "stats");
        assert_eq!(complete("memories log --out", 2).unwrap().trim(), "--outcome");
        assert_eq!(complete("memories episode st", 2).unwrap().trim(), "start");
    }
}

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
        let page = page_of(&format!("memories-{name}.1"));
        assert!(main.contains(&format!("memories\\-{name}(1)")), "the main page does not name `{name}`");
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
