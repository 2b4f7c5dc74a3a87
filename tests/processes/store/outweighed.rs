//! A memory file that vanished or was saved in part is not begun anew in silence, and what it held stays.

use std::process::Output;

use super::*;
use crate::program::memories;

/// A text that is not taken for a near-duplicate of one of another number.
fn unlike(number: usize) -> String {
    let word = |at: usize| format!("{:x}", (number * 31 + at + 1) * 2_654_435_761 % 1_000_003);
    (0..12).map(word).collect::<Vec<_>>().join(" ")
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    memories(folder, arguments).env("MEMORIES_PROVIDER", "offline").output().unwrap()
}

fn said(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn add(folder: &Path, number: usize) -> String {
    let (title, text) = (format!("Memory {number}"), (0..12).map(|part| unlike(100 * part + number)));
    let text = text.collect::<Vec<_>>().join(". ");
    said(&run(folder, &["add", "23", "--title", &title, "--text", &text]))
}

fn record(folder: &Path, number: usize) -> Output {
    let reply = unlike(number);
    let remember = format!("Remember {reply}");
    let turn =
        ["record", "--location", "24", "--action", "look", "--response", &reply, "--remember", &remember];
    run(folder, &turn)
}

/// A folder whose file has twenty memories, and the text of the newest state that is kept.
fn with_memories() -> (TempDir, PathBuf, String) {
    let (folder, path) = empty_folder();
    for number in 0..20 {
        assert_eq!(add(folder.path(), number), "");
    }
    let newest = fs::read_to_string(newest(&open(&path))).unwrap();
    (folder, path, newest)
}

/// Plays on for thirteen turns, each of which must warn, and then brings the lost state back.
fn play_on_and_restore(folder: &Path, path: &Path, lost: &str) {
    let number = open(path).backups().unwrap()[0].number;
    let restore = format!("`memories restore {number}`");
    for turn in 0..13 {
        let output = record(folder, 100 + turn);
        assert!(said(&output).contains(&restore), "turn {turn}: {}", said(&output));
    }
    let json = run(
        folder,
        &["record", "--location", "24", "--action", "wait", "--response", "Time passes.", "--json"],
    );
    let report: Value = serde_json::from_slice(&json.stdout).unwrap();
    let warnings = report["warnings"].as_array().unwrap();
    assert_eq!(warnings.iter().filter(|warning| warning.as_str().unwrap().contains(&restore)).count(), 1);
    assert_eq!(open(path).backups().unwrap().len(), 11, "the last ten, and the lost one");
    let check = run(folder, &["check"]);
    assert_eq!(check.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&check.stdout).contains(&restore));
    assert_eq!(said(&run(folder, &["restore", &number.to_string()])), "");
    assert_eq!(fs::read_to_string(path).unwrap(), lost);
    assert_eq!(said(&run(folder, &["check", "-q"])), "");
    assert_eq!(add(folder, 50), "", "nothing outweighs the file any more");
}

#[test]
fn a_file_that_vanished_is_missed_and_comes_back() {
    let (folder, path, newest) = with_memories();
    fs::remove_file(&path).unwrap();
    play_on_and_restore(folder.path(), &path, &newest);
}

#[test]
fn a_file_that_was_cut_is_missed_and_comes_back() {
    let (folder, path, _) = with_memories();
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, &text[..300]).unwrap();
    // The write of this turn keeps what was cut as a state, and not the whole file: that was never replaced.
    let newest = fs::read_to_string(newest(&open(&path))).unwrap();
    play_on_and_restore(folder.path(), &path, &newest);
}

#[test]
fn readers_miss_the_file_too() {
    let (folder, path, _) = with_memories();
    fs::remove_file(&path).unwrap();
    let number = open(&path).backups().unwrap()[0].number;
    let recall = String::from_utf8_lossy(&run(folder.path(), &["recall", "23"]).stderr).into_owned();
    assert!(recall.contains(&format!("`memories restore {number}`")), "{recall}");
    let check = run(folder.path(), &["check"]);
    let said = String::from_utf8_lossy(&check.stderr);
    assert!(said.contains("there is no") && said.contains("memories restore"), "{said}");
    let elsewhere = memories(Path::new("/"), &["-f", path.to_str().unwrap(), "check"]).output().unwrap();
    let said = String::from_utf8_lossy(&elsewhere.stderr);
    assert!(said.contains(&format!("`memories -f {} restore {number}`", path.display())), "{said}");
}

#[test]
fn a_file_that_has_grown_again_lets_the_state_go() {
    let (_folder, path) = empty_folder();
    let store = open(&path);
    write(&store, &"x".repeat(1000));
    write(&store, &"y".repeat(1001));
    fs::write(&path, "cut").unwrap();
    for size in (0..20).map(|step| 100 + 20 * step) {
        assert_eq!(try_write(&store, &"z".repeat(size)).unwrap().warnings.len(), 1, "{size}");
        assert!(store.backups().unwrap().iter().any(|backup| backup.size == 1000), "{size}");
    }
    write(&store, &"z".repeat(500));
    assert!(store.backups().unwrap().iter().all(|backup| backup.size != 1000));
    assert_eq!(store.backups().unwrap().len(), 10);
}

#[test]
fn what_a_command_makes_smaller_is_meant() {
    let (folder, path) = empty_folder();
    let text = (0..400).map(unlike).collect::<Vec<_>>().join(". ");
    assert_eq!(add(folder.path(), 0), "");
    assert_eq!(said(&run(folder.path(), &["add", "23", "--title", "Long", "--text", &text])), "");
    assert_eq!(said(&run(folder.path(), &["restore", "-q"])), "");
    for number in 1..12 {
        assert_eq!(add(folder.path(), number), "");
    }
    let largest = open(&path).backups().unwrap().iter().map(|backup| backup.size).max().unwrap();
    assert!(open(&path).backups().unwrap().len() == 10 && largest < text.len() as u64);
}

#[test]
fn a_file_that_is_lost_again_and_again_takes_little_room() {
    let (_folder, path) = empty_folder();
    let store = open(&path);
    let mut size = 1_000_000;
    while size > 10 {
        fs::write(&path, "x".repeat(size)).unwrap();
        for step in 0..12 {
            let _ = try_write(&store, &"y".repeat(size + step)).unwrap();
        }
        size /= 3;
    }
    let backups = store.backups().unwrap();
    let sizes: Vec<u64> = backups.iter().map(|backup| backup.size).collect();
    assert!(sizes.contains(&1_000_010), "{sizes:?}");
    assert!(sizes.len() <= 10 + 11 && sizes.iter().sum::<u64>() < 2_000_000, "{sizes:?}");
}
