//! The store's promises on real files.

#[cfg(target_os = "linux")]
mod attributes;
mod damage;
mod episodes;
mod faults;
mod links;
mod outweighed;
mod processes;
mod saves;
mod synced;
mod trust;

use std::fs;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::program::{names, skipped};
use memories::journal::Journal;
use memories::store::{Change, State, Store, StoreError, Update};
use memories::types::hint::{Hint, Remedy};
use serde_json::{Value, json};
use tempfile::TempDir;

const LIMIT: Duration = Duration::from_secs(30);

/// A folder that goes with the test, and the path of a memory file in it that does not exist yet.
fn empty_folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("Memories.md");
    (folder, path)
}

fn open(path: &Path) -> Store {
    Store::open(path, LIMIT).unwrap()
}

fn try_write(store: &Store, text: &str) -> Result<Update<()>, StoreError> {
    store.update(|_, _| Ok(Change::to(text.to_owned(), ())))
}

/// Writes a text without a warning.
fn write(store: &Store, text: &str) {
    let update = try_write(store, text).unwrap();
    assert!(update.warnings.is_empty(), "{:?}", update.warnings);
}

/// The file of the state before the last write.
fn newest(store: &Store) -> PathBuf {
    store.backups().unwrap()[0].path.clone()
}

fn store_error<T>(result: Result<Update<T>, StoreError>) -> StoreError {
    result.err().expect("an error of the store")
}

/// The change with a line for the journal.
fn with_line<T>(store: &Store, change: Change<T>, line: Value) -> Change<T> {
    change.with_lines(Journal::of(store).log(), vec![line.to_string()])
}

/// The lines of the journal.
fn journal_lines(store: &Store) -> Vec<Value> {
    let mut lines = Vec::new();
    Journal::of(store).visit(|line| lines.push(serde_json::from_str(line).unwrap())).unwrap();
    lines
}

#[test]
fn opening_and_reading_create_nothing() {
    let (folder, path) = empty_folder();
    let store = open(&path);
    assert_eq!(store.read().unwrap(), None);
    assert!(store.open_files().unwrap().file().is_none());
    assert!(store.backups().unwrap().is_empty());
    assert_eq!(store.sidecar().state().0, State::default());
    assert_eq!(store.sidecar().session().unwrap(), None);
    assert!(journal_lines(&store).is_empty());
    assert!(names(folder.path()).is_empty());
    assert_eq!(store.path(), path);
}

#[test]
fn the_first_write_makes_the_file_and_its_sidecar_but_no_backup() {
    let (folder, path) = empty_folder();
    let store = open(&path);
    let update = store
        .update(|text, _| {
            assert_eq!(text, None);
            Ok::<_, StoreError>(Change::to("one\n".to_owned(), 7))
        })
        .unwrap();
    assert_eq!((update.value, update.written, update.warnings.len()), (7, true, 0));
    assert_eq!(names(folder.path()), [".memories", "Memories.md"]);
    assert_eq!(fs::read_to_string(folder.path().join(".memories/.gitignore")).unwrap(), "*\n");
    assert_eq!(store.folder(), store.real_path().with_file_name(".memories").join("Memories.md"));
    assert_eq!(names(store.folder()), ["lock"]);
    let ordinary = folder.path().join("ordinary");
    fs::write(&ordinary, "").unwrap();
    assert_eq!(fs::metadata(&path).unwrap().mode(), fs::metadata(&ordinary).unwrap().mode());
}

#[test]
fn an_empty_file_is_not_a_missing_one() {
    let (_folder, path) = empty_folder();
    fs::write(&path, "").unwrap();
    assert_eq!(open(&path).read().unwrap().as_deref(), Some(""));
    write(&open(&path), "full");
    write(&open(&path), "");
    assert_eq!(fs::read(&path).unwrap(), b"");
    assert_eq!(fs::read(newest(&open(&path))).unwrap(), b"full");
}

#[test]
fn the_backup_is_always_the_state_before_and_ten_are_kept() {
    let (_folder, path) = empty_folder();
    let store = open(&path);
    for number in 0..25 {
        write(&store, &number.to_string());
        if number > 0 {
            assert_eq!(fs::read_to_string(newest(&store)).unwrap(), (number - 1).to_string());
        }
    }
    let backups = store.backups().unwrap();
    let texts: Vec<_> = backups.iter().map(|backup| store.read_backup(backup.number).unwrap()).collect();
    let expected: Vec<_> = (14..24).rev().map(|number: u32| number.to_string()).collect();
    assert_eq!(texts, expected);
    assert!(backups.iter().all(|backup| backup.size == 2 && backup.modified > SystemTime::UNIX_EPOCH));
    assert!(matches!(store.read_backup(1), Err(StoreError::NoBackup { .. })));
}

#[test]
fn restoring_is_a_write_like_any_other() {
    let (_folder, path) = empty_folder();
    let store = open(&path);
    for text in ["first", "second", "third"] {
        write(&store, text);
    }
    let newest = store.backups().unwrap().remove(0);
    let former = store.read_backup(newest.number).unwrap();
    assert_eq!(former, "second");
    write(&store, &former);
    let undo = store.backups().unwrap().remove(0);
    assert_eq!(store.read_backup(undo.number).unwrap(), "third");
}

#[test]
fn a_backup_left_by_a_killed_writer_is_replaced() {
    let (folder, path) = empty_folder();
    let store = open(&path);
    write(&store, "one");
    write(&store, "two");
    // Killed between backup and replacement: the newest number is a name of the same inode.
    fs::hard_link(&path, store.folder().join("backups/2.md")).unwrap();
    write(&store, "three");
    assert_eq!(fs::read_to_string(&path).unwrap(), "three");
    assert_eq!(fs::read_to_string(newest(&store)).unwrap(), "two");
    let numbers: Vec<_> = store.backups().unwrap().iter().map(|backup| backup.number).collect();
    assert_eq!(numbers, [2, 1]);
    assert_eq!(names(folder.path()), [".memories", "Memories.md"]);
}

#[test]
fn nothing_is_written_where_nothing_changes() {
    let (_folder, path) = empty_folder();
    let store = open(&path);
    write(&store, "one");
    write(&store, "two");
    let inode = fs::metadata(&path).unwrap().ino();
    assert!(!try_write(&store, "two").unwrap().written);
    assert!(!store.update(|_, _| Ok::<_, StoreError>(Change::unchanged(()))).unwrap().written);
    let failed = store.update(|_, _| Err::<Change<()>, Box<dyn std::error::Error>>("no".into()));
    assert_eq!(failed.unwrap_err().to_string(), "no");
    assert_eq!(fs::metadata(&path).unwrap().ino(), inode);
    assert_eq!(fs::read_to_string(newest(&store)).unwrap(), "one");
    assert_eq!(store.backups().unwrap().len(), 1);
}

#[test]
fn the_mode_is_kept() {
    let (_folder, path) = empty_folder();
    let store = open(&path);
    write(&store, "one");
    for mode in [0o600, 0o664, 0o640, 0o755, 0o666] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        write(&store, &format!("{mode:o}"));
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, mode);
        assert_eq!(fs::metadata(newest(&store)).unwrap().mode() & 0o7777, mode);
    }
}

#[test]
fn the_owner_is_kept_where_the_system_lets_us() {
    let (_folder, path) = empty_folder();
    fs::write(&path, "one").unwrap();
    if std::os::unix::fs::chown(&path, Some(12345), Some(23456)).is_err() {
        return skipped("only root gives files away");
    }
    write(&open(&path), "two");
    let metadata = fs::metadata(&path).unwrap();
    assert_eq!((metadata.uid(), metadata.gid()), (12345, 23456));
}

#[test]
fn what_is_not_utf8_is_refused_and_left_as_it_is() {
    let (folder, path) = empty_folder();
    let bytes = "# ä\nzwei ü\u{20ac}".bytes().chain([0xff, b'x']).collect::<Vec<_>>();
    fs::write(&path, &bytes).unwrap();
    let store = open(&path);
    for error in [store.read().unwrap_err(), store_error(try_write(&store, "new"))] {
        assert!(matches!(error, StoreError::NotUtf8 { line: 2, column: 8, offset: 15, .. }), "{error:?}");
        assert_eq!(error.advice().remedy, Remedy::Fix);
        assert!(error.to_string().ends_with("is not UTF-8: line 2, column 8"));
    }
    assert_eq!(fs::read(&path).unwrap(), bytes);
    assert_eq!(names(folder.path()), ["Memories.md"]);
    let mut read = Vec::new();
    store.open_files().unwrap().file().unwrap().read_to_end(&mut read).unwrap();
    assert_eq!(read, bytes);
}

#[test]
fn journal_state_and_session_go_with_the_change() {
    let (_folder, path) = empty_folder();
    let store = open(&path);
    let (mut state, _) = store.sidecar().state();
    state.episode = 4;
    state.other.insert("mood".to_owned(), json!("grim"));
    let update = store.update(|_, _| {
        assert!(journal_lines(&store).is_empty());
        let change =
            Change::to("text".to_owned(), ()).with_state(state.clone()).with_session("fleeting".to_owned());
        Ok::<_, StoreError>(with_line(
            &store,
            with_line(&store, change, json!({"turn": 1})),
            json!({"turn": 2, "id": "2", "outcome": "queued"}),
        ))
    });
    assert!(update.unwrap().warnings.is_empty());
    assert_eq!(store.sidecar().state().0, state);
    assert_eq!(store.sidecar().session().unwrap().as_deref(), Some("fleeting"));
    assert_eq!(journal_lines(&store).last(), Some(&json!({"turn": 2, "id": "2", "outcome": "queued"})));
    assert_eq!(Journal::of(&store).queued().unwrap().len(), 1);
    let change = || with_line(&store, Change::unchanged(()), json!({"turn": 3, "resolves": "2"}));
    assert!(!store.update(|_, _| Ok::<_, StoreError>(change())).unwrap().written);
    assert!(Journal::of(&store).queued().unwrap().is_empty());
    assert_eq!(journal_lines(&store).len(), 3);
    assert_eq!(names(store.folder()), ["journal.jsonl", "lock", "session.md", "state.json"]);
}
