//! Editors that take no lock, disks that are full or read-only, and folders in place of files.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::process::Command;

use memories::notebook::{Clock, Notebook, Snapshot};

use super::*;

fn append(path: &Path, text: &str) {
    OpenOptions::new().append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

/// An update that adds a line, while an editor does something during its first call.
fn add_line_during(store: &Store, editor: impl Fn()) -> (u32, Update<()>) {
    let mut calls = 0;
    let update = store.update(|text, _| {
        calls += 1;
        if calls == 1 {
            editor();
        }
        let change = Change::to(text.unwrap_or_default() + "ours\n", ());
        Ok::<_, StoreError>(with_line(store, change, json!({"call": calls})).with_session(calls.to_string()))
    });
    (calls, update.unwrap())
}

#[test]
fn an_editor_that_saves_meanwhile_loses_nothing() {
    let (folder, path) = empty_folder();
    fs::write(&path, "old\n").unwrap();
    let store = open(&path);
    let (calls, update) = add_line_during(&store, || append(&path, "editor's\n"));
    assert_eq!((calls, update.written), (2, true));
    assert_eq!(fs::read_to_string(&path).unwrap(), "old\neditor's\nours\n");
    assert_eq!(fs::read_to_string(newest(&store)).unwrap(), "old\neditor's\n");
    assert_eq!(names(folder.path()), [".memories", "Memories.md"]);
    assert_eq!(journal_lines(&store), [json!({"call": 2})], "only what was written is told");
    assert_eq!(store.sidecar().session().unwrap().as_deref(), Some("2"));
}

#[test]
fn an_editor_that_renames_is_noticed_though_size_and_time_agree() {
    let (folder, path) = empty_folder();
    fs::write(&path, "old\n").unwrap();
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    let (calls, _) = add_line_during(&open(&path), || {
        let new = folder.path().join("new");
        fs::write(&new, "new\n").unwrap();
        File::options().write(true).open(&new).unwrap().set_modified(modified).unwrap();
        fs::rename(&new, &path).unwrap();
    });
    assert_eq!(calls, 2);
    assert_eq!(fs::read_to_string(&path).unwrap(), "new\nours\n");
}

#[test]
fn an_editor_that_writes_in_place_is_noticed_though_the_size_agrees() {
    let (_folder, path) = empty_folder();
    fs::write(&path, "old\n").unwrap();
    let (calls, _) = add_line_during(&open(&path), || {
        let mut file = OpenOptions::new().write(true).open(&path).unwrap();
        file.write_all(b"new\n").unwrap();
        let modified = file.metadata().unwrap().modified().unwrap();
        file.set_modified(modified + Duration::from_nanos(1)).unwrap();
    });
    assert_eq!(calls, 2);
    assert_eq!(fs::read_to_string(&path).unwrap(), "new\nours\n");
}

#[test]
fn a_file_that_comes_or_goes_meanwhile_is_noticed() {
    let (_folder, path) = empty_folder();
    let (calls, _) = add_line_during(&open(&path), || fs::write(&path, "editor's\n").unwrap());
    assert_eq!(calls, 2);
    assert_eq!(fs::read_to_string(&path).unwrap(), "editor's\nours\n");
    let (calls, _) = add_line_during(&open(&path), || fs::remove_file(&path).unwrap());
    assert_eq!(calls, 2);
    assert_eq!(fs::read_to_string(&path).unwrap(), "ours\n");
}

#[test]
fn an_editor_that_never_rests_is_given_way_to() {
    let (folder, path) = empty_folder();
    fs::write(&path, "").unwrap();
    let store = open(&path);
    let mut calls = 0;
    let error = store_error(store.update(|text, _| {
        calls += 1;
        append(&path, "x");
        Ok::<_, StoreError>(with_line(&store, Change::to(text.unwrap() + "ours", ()), json!({})))
    }));
    assert!(matches!(error, StoreError::KeepsChanging { tries: 10, .. }), "{error:?}");
    assert_eq!(error.advice().remedy, Remedy::Retry);
    assert_eq!(fs::read_to_string(&path).unwrap(), "x".repeat(10));
    assert_eq!(calls, 10);
    assert_eq!(names(folder.path()), [".memories", "Memories.md"]);
    assert_eq!(names(store.folder()), ["journal.jsonl", "lock"]);
}

#[test]
fn what_cannot_be_kept_beside_a_written_file_is_a_warning() {
    let (_folder, path) = empty_folder();
    let store = open(&path);
    write(&store, "one");
    for name in ["journal.jsonl", "state.json"] {
        fs::create_dir(store.folder().join(name)).unwrap();
    }
    let with_all = |change: Change<()>| with_line(&store, change, json!({})).with_state(State::default());
    let update =
        store.update(|_, _| Ok::<_, StoreError>(with_all(Change::to("two".to_owned(), ())))).unwrap();
    assert!(update.written);
    assert_eq!(update.warnings.len(), 2, "{:?}", update.warnings);
    assert!(update.warnings.iter().all(|warning| !warning.hint().is_empty()));
    assert_eq!(fs::read_to_string(&path).unwrap(), "two");
    assert_eq!(fs::read_to_string(newest(&store)).unwrap(), "one");
    // Where these are all there is to write, they are what failed.
    store_error(store.update(|_, _| Ok::<_, StoreError>(with_all(Change::unchanged(())))));
}

#[test]
fn without_a_backup_nothing_is_replaced() {
    let (folder, path) = empty_folder();
    let store = open(&path);
    write(&store, "one");
    fs::write(store.folder().join("backups"), "").unwrap();
    let error = store_error(try_write(&store, "two"));
    assert!(error.to_string().contains("Memories.md/backups`"), "{error}");
    assert_eq!(error.advice().remedy, Remedy::Fix);
    assert_eq!(fs::read_to_string(&path).unwrap(), "one");
    assert_eq!(names(folder.path()), [".memories", "Memories.md"]);
}

#[test]
fn a_file_in_place_of_the_sidecar_is_a_clear_error() {
    let (folder, path) = empty_folder();
    fs::write(folder.path().join(".memories"), "").unwrap();
    let store = open(&path);
    let error = store_error(try_write(&store, "one"));
    assert!(matches!(error, StoreError::Sidecar { .. }), "{error:?}");
    assert!(error.hint().contains("move it out of the way"), "{}", error.hint());
    assert_eq!(names(folder.path()), [".memories"]);
    assert_eq!(store.read().unwrap(), None);
}

#[test]
fn leftovers_of_a_killed_writer_are_swept() {
    let (folder, path) = empty_folder();
    let store = open(&path);
    write(&store, "one");
    fs::write(store.folder().join("lock"), "4194304   \n").unwrap();
    for name in [".Memories.md.4194304.new", ".Memories.md.4194303.new"] {
        fs::write(folder.path().join(name), "half a te").unwrap();
    }
    fs::write(store.folder().join("state.json.new"), "{").unwrap();
    let update = store.update(|_, _| Ok::<_, StoreError>(Change::unchanged(()).with_state(State::default())));
    assert!(update.unwrap().warnings.is_empty());
    assert_eq!(
        names(folder.path()),
        [".Memories.md.4194303.new", ".memories", "Memories.md"],
        "no stranger's file"
    );
    assert_eq!(names(store.folder()), ["lock", "state.json"]);
    let lock = fs::read_to_string(store.folder().join("lock")).unwrap();
    assert_eq!(lock.trim(), std::process::id().to_string());
}

/// The lock file was deleted, or another program wrote into it.
#[test]
fn leftovers_are_swept_though_the_lock_names_nobody() {
    for lock in [None, Some("no number\n")] {
        let (folder, path) = empty_folder();
        let store = open(&path);
        write(&store, "one");
        match lock {
            Some(text) => fs::write(store.folder().join("lock"), text).unwrap(),
            None => fs::remove_dir_all(folder.path().join(".memories")).unwrap(),
        }
        let theirs = [".Memories.md.7.new.md", ".Memories.md.swp", ".Memories.md.x.new", ".Other.md.7.new"];
        for name in [".Memories.md.4194303.new", ".Memories.md.7.new"].iter().chain(&theirs) {
            fs::write(folder.path().join(name), "half a te").unwrap();
        }
        write(&store, "two");
        let beside = [".memories", "Memories.md"];
        assert_eq!(names(folder.path()), [&theirs[..], &beside[..]].concat());
    }
}

#[test]
fn what_a_killed_writer_staged_is_swept() {
    let (_folder, path) = empty_folder();
    let store = open(&path);
    write(&store, "one");
    fs::write(store.folder().join("lock"), "4194304   \n").unwrap();
    for name in ["session.md.new", "state.json.new", "journal.jsonl", "recorded.new", "queue.jsonl.new"] {
        fs::write(store.folder().join(name), "{\n").unwrap();
    }
    let change = || with_line(&store, Change::to("two".to_owned(), ()), json!({}));
    assert!(store.update(|_, _| Ok::<_, StoreError>(change())).unwrap().warnings.is_empty());
    assert_eq!(names(store.folder()), ["backups", "journal.jsonl", "lock"]);
}

/// Otherwise an episode that failed to end would have lost its memories.
#[test]
fn a_session_stays_where_the_state_cannot_be_replaced() {
    let (_folder, path) = empty_folder();
    let store = open(&path);
    let session = Change::unchanged(()).with_session("fleeting".to_owned());
    let _ = store.update(|_, _| Ok::<_, StoreError>(session.clone())).unwrap();
    fs::create_dir(store.folder().join("state.json")).unwrap();
    assert!(matches!(store.sidecar().state().1, Some(StoreError::Read { .. })));
    let end = Change::unchanged(()).with_session(String::new()).with_state(State::default());
    store_error(store.update(|_, _| Ok::<_, StoreError>(end.clone())));
    assert_eq!(store.sidecar().session().unwrap().as_deref(), Some("fleeting"));
    assert_eq!(names(store.folder()), ["lock", "session.md", "state.json"]);
}

/// A session that a person or a disk damaged can still be mended by hand.
#[test]
fn a_damaged_session_is_set_aside_and_none_that_was_before() {
    let (_folder, path) = empty_folder();
    let store = open(&path);
    write(&store, "one");
    let session = store.folder().join("session.md");
    let update = |text: &str| {
        let change = Change::unchanged(()).with_session(text.to_owned());
        store.update(|_, _| Ok::<_, StoreError>(change.clone())).unwrap().warnings
    };
    fs::write(&session, b"## World\xff").unwrap();
    let warnings = update("first");
    assert!(matches!(warnings[..], [StoreError::SetAside { .. }]), "{warnings:?}");
    assert!(!warnings[0].hint().is_empty());
    fs::remove_file(&session).unwrap();
    fs::create_dir(&session).unwrap();
    fs::write(session.join("inside"), "kept").unwrap();
    assert_eq!(update("second").len(), 1);
    assert_eq!(store.sidecar().session().unwrap().as_deref(), Some("second"));
    assert_eq!(fs::read(store.folder().join("session.md.damaged")).unwrap(), b"## World\xff");
    assert_eq!(fs::read(store.folder().join("session.md.damaged.2/inside")).unwrap(), b"kept");
    assert!(update("third").is_empty());
}

/// A later version, or a person, may have made something else of them.
#[test]
fn damaged_side_files_withhold_no_memory_and_no_episode_is_used_twice() {
    let (_folder, path) = empty_folder();
    fs::write(&path, "## Location 1: A\n\n**[NOTE] a** *(Ep6, T1)*\nx\n").unwrap();
    let store = open(&path);
    for name in ["session.md", "state.json", "journal.jsonl"] {
        fs::create_dir_all(store.folder().join(name)).unwrap();
    }
    let snapshot = Snapshot::read(&store).unwrap();
    assert_eq!(snapshot.headings().count(), 1);
    let notebook = Notebook::new(store, Clock::fixed("2026-01-31T10:40:00Z"));
    assert_eq!(notebook.state().episode, 6);
    assert_eq!(notebook.read().unwrap().lasting.headings().count(), 1);
}

/// The memory is stored, so an error would be wrong.
#[test]
fn a_journal_that_fails_behind_a_session_is_a_warning() {
    let (_folder, path) = empty_folder();
    let store = open(&path);
    write(&store, "one");
    fs::create_dir(store.folder().join("journal.jsonl")).unwrap();
    let change = with_line(&store, Change::unchanged(()).with_session("fleeting".to_owned()), json!({}));
    let update = store.update(|_, _| Ok::<_, StoreError>(change.clone())).unwrap();
    assert_eq!((update.written, update.warnings.len()), (false, 1));
    assert_eq!(store.sidecar().session().unwrap().as_deref(), Some("fleeting"));
}

#[test]
fn a_gitignore_that_did_not_get_its_line_gets_it() {
    let (folder, path) = empty_folder();
    let ignore = folder.path().join(".memories/.gitignore");
    fs::create_dir(folder.path().join(".memories")).unwrap();
    fs::write(&ignore, "").unwrap();
    write(&open(&path), "one");
    assert_eq!(fs::read_to_string(&ignore).unwrap(), "*\n");
    fs::write(&ignore, "!session.md\n").unwrap();
    write(&open(&folder.path().join("Other.md")), "one");
    assert_eq!(fs::read_to_string(&ignore).unwrap(), "!session.md\n", "a person's own rules stay");
}

#[test]
fn a_leftover_with_our_own_process_id_is_no_obstacle() {
    let (folder, path) = empty_folder();
    fs::write(&path, "one").unwrap();
    let name = format!(".Memories.md.{}.new", std::process::id());
    fs::write(folder.path().join(name), "half").unwrap();
    write(&open(&path), "two");
    assert_eq!(names(folder.path()), [".memories", "Memories.md"]);
}

/// A file system in memory, unmounted when dropped. `None` where mounting is not permitted.
struct Mount {
    folder: TempDir,
}

impl Mount {
    fn of_size(size: &str) -> Option<Mount> {
        let mount = Mount { folder: tempfile::tempdir().unwrap() };
        let option = format!("size={size}");
        mount.call(&["mount", "-t", "tmpfs", "-o", &option, "tmpfs"]).then_some(mount)
    }

    fn call(&self, words: &[&str]) -> bool {
        let output = Command::new(words[0]).args(&words[1..]).arg(self.folder.path()).output();
        output.is_ok_and(|output| output.status.success())
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        self.call(&["umount"]);
    }
}

#[test]
fn a_full_disk_leaves_the_old_file_and_no_rubbish() {
    let Some(mount) = Mount::of_size("256k") else {
        return skipped("we may not mount a small disk");
    };
    let path = mount.folder.path().join("Memories.md");
    let store = open(&path);
    let mut last = String::new();
    let error = (1..).find_map(|number: usize| {
        let text = format!("{number} ").repeat(8000);
        match try_write(&store, &text) {
            Ok(_) => last = text,
            Err(error) => return Some(error),
        }
        None
    });
    let error = error.unwrap();
    assert!(error.hint().contains("free some space"), "{error:?}");
    assert_eq!(error.advice().remedy, Remedy::Fix);
    assert_eq!(fs::read_to_string(&path).unwrap(), last);
    assert_eq!(names(mount.folder.path()), [".memories", "Memories.md"]);
    // A change that needs no space still works, and so does the next one that finds some.
    fs::remove_dir_all(store.folder().join("backups")).unwrap();
    write(&store, "small again");
}

#[test]
fn a_journal_on_a_full_disk_is_taken_back_whole() {
    let Some(mount) = Mount::of_size("64k") else {
        return skipped("we may not mount a small disk");
    };
    let store = open(&mount.folder.path().join("Memories.md"));
    let line = || json!({"text": "x".repeat(5000)});
    let add = || store.update(|_, _| Ok::<_, StoreError>(with_line(&store, Change::unchanged(()), line())));
    let added = (0..100).take_while(|_| add().is_ok()).count();
    let journal = fs::read(store.folder().join("journal.jsonl")).unwrap();
    assert!(added > 3 && journal.ends_with(b"}\n"));
    assert_eq!(journal_lines(&store).len(), added);
}

#[test]
fn a_read_only_disk_can_be_read() {
    let Some(mount) = Mount::of_size("64k") else {
        return skipped("we may not mount a small disk");
    };
    let path = mount.folder.path().join("Memories.md");
    fs::write(&path, "text").unwrap();
    assert!(mount.call(&["mount", "-o", "remount,ro"]));
    let store = open(&path);
    assert_eq!(store.read().unwrap().as_deref(), Some("text"));
    assert!(store.open_files().unwrap().file().is_some());
    let error = store_error(try_write(&store, "new"));
    assert!(matches!(error, StoreError::Sidecar { .. }), "{error:?}");
    assert!(error.hint().contains("read-only"));
}

#[test]
fn rights_that_a_person_took_away_are_respected() {
    let (folder, path) = empty_folder();
    let store = open(&path);
    write(&store, "one");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    if OpenOptions::new().append(true).open(&path).is_ok() {
        return skipped("root may write everything");
    }
    let error = store_error(try_write(&store, "two"));
    assert!(error.hint().contains("who may read and write"), "{error:?}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "one");
    assert_eq!(names(folder.path()), [".memories", "Memories.md"]);

    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    fs::remove_dir_all(folder.path().join(".memories")).unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).unwrap();
    let error = store_error(try_write(&store, "two"));
    assert!(matches!(error, StoreError::Sidecar { .. }), "{error:?}");
    assert_eq!(store.read().unwrap().as_deref(), Some("one"));
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
}
