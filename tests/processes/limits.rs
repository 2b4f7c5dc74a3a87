//! Limits of the process: few open files, and files that may not grow.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::program::{finished, memories};

/// The program under a limit that the shell sets.
fn limited(folder: &Path, limit: &str, arguments: &[&str]) -> Command {
    let command = memories(folder, arguments);
    let script = format!("ulimit {limit} && exec \"$0\" \"$@\"");
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", &script]).arg(command.get_program()).args(arguments).current_dir(folder).env_clear();
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell
}

#[test]
fn few_open_files_are_told_as_such() {
    let (mut refused, mut stored) = (0, 0);
    for number in 5..20 {
        let folder = tempfile::tempdir().unwrap();
        let add = ["--lock-timeout", "1s", "add", "1", "--title", "Lamp", "--text", "It is lit."];
        let (code, said) = finished(limited(folder.path(), &format!("-n {number}"), &add));
        if code == 0 {
            stored += 1;
            continue;
        }
        refused += 1;
        assert!(code == 4 && said.contains("Too many open files"), "{number}: {code}: {said}");
        assert!(said.contains("ulimit -n") && !said.contains("is held by"), "{number}: {said}");
    }
    assert!(refused > 0 && stored > 0, "{refused} {stored}");
}

#[cfg(feature = "page")]
#[test]
fn a_server_with_few_open_files_ends_with_a_clear_text() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("Memories.md"), "## Location 1: Hall\n").unwrap();
    for number in 4..10 {
        let serve = ["serve", "--listen", "127.0.0.1:0"];
        let (code, said) = finished(limited(folder.path(), &format!("-n {number}"), &serve));
        assert!(code == 4 && said.contains("Too many open files"), "{number}: {code}: {said}");
        assert!(said.contains("ulimit -n") && !said.contains("panicked"), "{number}: {said}");
    }
}

#[test]
fn a_file_that_may_not_grow_is_an_error_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("Memories.md");
    let long = format!("## Location 1: Hall\n\n{}", "A line by hand.\n".repeat(1_000));
    fs::write(&path, &long).unwrap();
    // In blocks of 512 or of 1,024 bytes.
    let add = ["add", "1", "--title", "Lamp", "--text", "It is lit."];
    let (code, said) = finished(limited(folder.path(), "-f 8", &add));
    assert!(code == 4 && said.contains("cannot write") && said.contains("too large"), "{code}: {said}");
    assert!(said.contains("ulimit -f"), "{said}");
    assert_eq!(fs::read_to_string(&path).unwrap(), long);
    let (code, said) = finished(memories(folder.path(), &add));
    assert_eq!((code, said.as_str()), (0, ""));
}
