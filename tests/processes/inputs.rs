//! Inputs without end: devices, pipes that nobody writes to, a stdin that never ends, views that grow for ever.

use std::fs::File;
use std::process::{Command, Stdio};

use crate::program::{finished, memories};

#[test]
fn what_is_no_file_is_no_input() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for (input, what) in [("pipe", "it is a pipe, not a file"), ("/dev/zero", "it is a device, not a file")] {
        let inputs: [&[&str]; 9] = [
            &["import", "--format", "json", input],
            &["import", "--format", "jsonl", input],
            &["import", "--format", "markdown", input],
            &["import", "--format", "sqlite", input],
            &["seed", "--format", "toml", input],
            &["record", "--turns", input],
            &["record", "--map", input, "--location", "5", "--action", "a", "--response", "b"],
            &["consolidate", "world", "--plan", input],
            &["extract", "--conversation", input],
        ];
        for arguments in inputs {
            let mut command = memories(folder.path(), arguments);
            command.stdin(Stdio::null()).env("MEMORIES_PROVIDER", "offline");
            let (code, said) = finished(command);
            assert_eq!(code, 4, "{arguments:?}: {said}");
            assert!(said.contains(what) && said.contains("hint: "), "{arguments:?}: {said}");
        }
    }
}

#[test]
fn a_stdin_without_end_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = memories(folder.path(), &["import", "-"]);
    command.stdin(File::open("/dev/zero").unwrap());
    let (code, said) = finished(command);
    assert_eq!(code, 4, "{said}");
    assert!(said.contains("stdin has more than 256 MiB"), "{said}");
}

/// Each row has a megabyte. Sorted, they would fill the disk.
#[cfg(feature = "sqlite")]
#[test]
fn a_database_without_end_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("endless.db");
    let connection = rusqlite::Connection::open(&path).unwrap();
    let endless = "CREATE VIEW memories AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) \
                   SELECT id, printf('%.1000000c', 'x') AS content FROM n";
    connection.execute_batch(endless).unwrap();
    drop(connection);
    for arguments in [&["import", "endless.db"][..], &["import", "--format", "sqlite", "-"]] {
        let mut command = memories(folder.path(), arguments);
        command.stdin(File::open(&path).unwrap());
        let (code, said) = finished(command);
        assert_eq!(code, 4, "{arguments:?}: {said}");
        assert!(said.contains("more than 256 MiB of memory"), "{arguments:?}: {said}");
        assert!(!folder.path().join("Memories.md").exists());
    }
}
