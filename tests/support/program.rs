//! The program under test, and helpers that its tests share.
#![allow(dead_code, reason = "each test program uses a part")]

use std::fs;
use std::path::Path;
use std::process::Command;

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
