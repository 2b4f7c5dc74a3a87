//! The program under test, and helpers that its tests share.
#![allow(dead_code, reason = "each test program uses a part")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// The time for the program.
pub const NOW: &str = "2026-01-31T10:40:00Z";

/// The program in a folder that is also its home. Its environment holds nothing but home, time and the settings
/// file of the folder, if there is one: a file that is named is trusted.
pub fn memories(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memories"));
    command.args(arguments).current_dir(folder).env_clear().env("HOME", folder).env("MEMORIES_NOW", NOW);
    if folder.join("memories.toml").exists() {
        command.env("MEMORIES_CONFIG", "memories.toml");
    }
    command
}

/// The exit code and stderr of a command that ends within half a minute. One that waits is killed.
pub fn finished(mut command: Command) -> (i32, String) {
    let started = Instant::now();
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > Duration::from_secs(30) {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("the command does not end");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let output = child.wait_with_output().unwrap();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The output of a command that gets this input. A command that reads nothing may have ended before.
pub fn with_input(command: &mut Command, input: impl AsRef<[u8]>) -> Output {
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(input.as_ref());
    child.wait_with_output().unwrap()
}

/// Runs a command, which has to succeed, and returns what it prints.
#[track_caller]
pub fn succeed(folder: &Path, arguments: &[&str]) -> String {
    let output = memories(folder, arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A process that is killed when it is dropped.
pub struct Killed(pub Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Sends a signal, such as `-TERM`.
pub fn send(signal: &str, child: &Child) {
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
}

/// The memory file in a folder.
pub fn text_of(folder: &Path) -> String {
    fs::read_to_string(folder.join("Memories.md")).unwrap()
}

/// The names in a folder, sorted.
pub fn names(folder: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<String> = fs::read_dir(folder).unwrap().map(name).collect();
    names.sort();
    names
}

/// The former states of the memory file in a folder that are whole files, oldest first.
pub fn former_states(folder: &Path) -> Vec<PathBuf> {
    let backups = folder.join(".memories/Memories.md/backups");
    let mut states: Vec<(u64, PathBuf)> = Vec::new();
    for entry in fs::read_dir(backups).into_iter().flatten() {
        let path = entry.unwrap().path();
        let number = path.file_stem().and_then(|stem| stem.to_str()?.parse().ok());
        states
            .extend(number.filter(|_| path.extension().is_some_and(|ending| ending == "md")).zip(Some(path)));
    }
    states.sort();
    states.into_iter().map(|(_, path)| path).collect()
}

/// The text before the last write.
pub fn former_text(folder: &Path) -> String {
    fs::read_to_string(former_states(folder).last().expect("a former state")).unwrap()
}

/// Says why a test is skipped on this machine.
pub fn skipped(why: &str) {
    println!("skipped: {why}");
}
