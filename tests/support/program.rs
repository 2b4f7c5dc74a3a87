//! The program under test, and helpers that its tests share.
#![allow(dead_code, reason = "each test program uses a part")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
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

/// The names in a folder, sorted.
pub fn names(folder: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<String> = fs::read_dir(folder).unwrap().map(name).collect();
    names.sort();
    names
}

/// Says why a test is skipped on this machine.
pub fn skipped(why: &str) {
    println!("skipped: {why}");
}
