//! Editors and git, which take no lock: they save by cutting the file, or by removing it, before they write it.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::process::{Child, Command};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use super::processes::{in_role, traced_by};
use super::trust::git;
use super::*;

/// Adds a line in another thread, which has begun when this returns.
fn add_line(store: &Store) -> thread::JoinHandle<()> {
    let (store, (sender, begun)) = (store.clone(), mpsc::channel());
    let writer = thread::spawn(move || {
        sender.send(()).unwrap();
        let update =
            store.update(|text, _| Ok::<_, StoreError>(Change::to(text.unwrap_or_default() + "ours\n", ())));
        assert!(update.unwrap().warnings.is_empty());
    });
    begun.recv().unwrap();
    writer
}

/// Makes a change look as if it had just been made, however slow the machine is.
fn make_recent(path: &Path) {
    File::open(path).unwrap().set_modified(SystemTime::now() + Duration::from_secs(60)).unwrap();
}

/// Time in which a writer that does not wait has written.
const PAUSE: Duration = Duration::from_millis(50);

#[test]
fn a_file_that_an_editor_has_cut_is_read_when_it_is_saved() {
    for first in ["", "half of "] {
        let (_folder, path) = empty_folder();
        let store = open(&path);
        write(&store, "a text that is not short\n");
        let mut editor = OpenOptions::new().write(true).truncate(true).open(&path).unwrap();
        editor.write_all(first.as_bytes()).unwrap();
        make_recent(&path);
        let writer = add_line(&store);
        thread::sleep(PAUSE);
        editor.write_all(b"what the editor saves\n").unwrap();
        writer.join().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{first}what the editor saves\nours\n"));
    }
}

/// Creates the file as git does, which fails if it is there.
fn check_out(path: &Path) {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path).unwrap();
    file.write_all(b"the branch's text\n").unwrap();
}

/// Forgets who held the lock, and the text that was written last.
fn forget_holder(store: &Store) {
    fs::write(store.folder().join("lock"), "").unwrap();
}

#[test]
fn a_file_that_was_removed_a_moment_ago_is_read_when_it_is_created() {
    for is_tracked in [false, true] {
        let (folder, path) = empty_folder();
        let store = open(&path);
        write(&store, "a text\n");
        if is_tracked {
            if !git(folder.path(), &["init", "-q"]) || !git(folder.path(), &["add", "Memories.md"]) {
                return skipped("there is no git");
            }
            forget_holder(&store);
        }
        fs::remove_file(&path).unwrap();
        make_recent(folder.path());
        let writer = add_line(&store);
        thread::sleep(PAUSE);
        check_out(&path);
        writer.join().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "the branch's text\nours\n", "{is_tracked}");
    }
}

#[test]
fn a_file_that_is_removed_while_a_first_writer_edits_it_is_read_when_it_is_created() {
    for has_sidecar in [false, true] {
        let (folder, path) = empty_folder();
        let store = open(&path);
        if has_sidecar {
            write(&store, "another text\n");
            forget_holder(&store);
        }
        fs::write(&path, "a text\n").unwrap();
        let (removed, is_removed) = mpsc::channel();
        let (writer, edited) = (store.clone(), path.clone());
        let writer = thread::spawn(move || {
            let edit = |text: Option<String>, _: &_| {
                if text.as_ref().is_some_and(|text| text == "a text\n") {
                    fs::remove_file(&edited).unwrap();
                    removed.send(()).unwrap();
                }
                Ok::<_, StoreError>(Change::to(text.unwrap_or_default() + "ours\n", ()))
            };
            assert!(writer.update(edit).unwrap().written);
        });
        is_removed.recv().unwrap();
        // The writer changes the folder too.
        for _ in 0..10 {
            make_recent(folder.path());
            thread::sleep(PAUSE / 10);
        }
        check_out(&path);
        writer.join().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "the branch's text\nours\n", "{has_sidecar}");
    }
}

#[test]
fn a_file_that_stays_short_or_away_is_taken_as_it_is() {
    for text in [Some("short\n"), Some(""), None] {
        let (_folder, path) = empty_folder();
        let store = open(&path);
        write(&store, "a text that is not short\n");
        match text {
            Some(text) => fs::write(&path, text).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
        add_line(&store).join().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{}ours\n", text.unwrap_or_default()));
    }
}

/// The files as a writer leaves them that was killed when it had swapped out `out` and put in `new`, which stands in
/// the path unless there is a `later` text.
fn killed_after_exchange(out: &str, later: Option<&str>) -> (TempDir, PathBuf, PathBuf) {
    const PROCESS: u32 = 4_194_304;
    let (folder, path) = empty_folder();
    let store = open(&path);
    write(&store, "first");
    write(&store, "new");
    let new = fs::metadata(&path).unwrap();
    let signature = format!("{PROCESS:<10}\n{:<20} {:<20}\n", new.ino(), new.len());
    fs::write(store.folder().join("lock"), signature).unwrap();
    let left = folder.path().join(format!(".Memories.md.{PROCESS}.new"));
    fs::write(&left, out).unwrap();
    if let Some(later) = later {
        fs::write(&path, later).unwrap();
    }
    (folder, path, left)
}

fn kept(store: &Store) -> Vec<String> {
    store.backups().unwrap().iter().map(|backup| fs::read_to_string(&backup.path).unwrap()).collect()
}

#[test]
fn a_file_that_a_killed_writer_swapped_out_gets_its_place_back() {
    let (folder, path, _) = killed_after_exchange("the branch's\n", None);
    let store = open(&path);
    add_line(&store).join().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "the branch's\nours\n");
    assert_eq!(kept(&store), ["the branch's\n", "first"]);
    assert_eq!(names(folder.path()), [".memories", "Memories.md"]);
}

#[test]
fn a_file_that_a_killed_writer_swapped_out_is_kept_where_a_later_one_stands() {
    let (folder, path, _) = killed_after_exchange("the branch's\n", Some("a later text\n"));
    let store = open(&path);
    add_line(&store).join().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "a later text\nours\n");
    assert_eq!(kept(&store), ["a later text\n", "the branch's\n", "first"]);
    assert_eq!(names(folder.path()), [".memories", "Memories.md"]);
}

#[test]
fn the_text_that_a_killed_writer_read_is_kept_once_and_what_was_saved_over_it_gets_its_place_back() {
    for saved in [None, Some("the editor's\n")] {
        let (folder, path, left) = killed_after_exchange("", None);
        let store = open(&path);
        // As in a real write, the file that was swapped out is the newest backup.
        fs::remove_file(&left).unwrap();
        fs::hard_link(&store.backups().unwrap()[0].path, &left).unwrap();
        if let Some(saved) = saved {
            fs::write(&left, saved).unwrap();
            make_recent(&left);
        }
        add_line(&store).join().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), saved.unwrap_or("new").to_owned() + "ours\n");
        assert_eq!(
            kept(&store),
            match saved {
                Some(saved) => vec![saved],
                None => vec!["new", "first"],
            }
        );
        assert_eq!(names(folder.path()), [".memories", "Memories.md"]);
    }
}

#[test]
fn the_new_text_of_a_writer_killed_before_the_exchange_is_removed() {
    let (folder, path, left) = killed_after_exchange("unfinished", None);
    let store = open(&path);
    let new = fs::metadata(&left).unwrap();
    for inode in [new.ino(), 0] {
        fs::write(&left, "unfinished").unwrap();
        fs::write(store.folder().join("lock"), format!("4194304   \n{inode:<20} {:<20}\n", new.len()))
            .unwrap();
        add_line(&store).join().unwrap();
        assert_eq!(names(folder.path()), [".memories", "Memories.md"]);
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "newours\nours\n");
}

/// Starts a writer that appends a line, and stops it behind the system call of that number. Returns it with the id
/// by which it goes on, and its trace.
#[cfg(target_os = "linux")]
fn stopped_behind(path: &Path, call: &str, number: usize) -> Option<(Child, String, PathBuf)> {
    let trace = path.with_file_name("trace");
    let (traced, stop) = (format!("trace={call}"), format!("inject={call}:signal=STOP:when={number}"));
    let strace = ["strace", "-f", "-o", trace.to_str()?, "-e", &traced, "-e", &stop];
    let mut writer = in_role("append", path, &strace).spawn().ok()?;
    let start = Instant::now();
    while start.elapsed() < LIMIT && writer.try_wait().unwrap().is_none() {
        let said = fs::read_to_string(&trace).unwrap_or_default();
        if let Some(stopped) = said.lines().find(|line| line.contains("--- stopped by SIGSTOP ---")) {
            let id = stopped.split_whitespace().next()?.to_owned();
            return Some((writer, id, trace));
        }
        thread::sleep(Duration::from_millis(5));
    }
    let _ = writer.kill();
    None
}

#[cfg(target_os = "linux")]
fn go_on((mut writer, id, trace): (Child, String, PathBuf)) {
    assert!(Command::new("kill").args(["-CONT", &id]).status().unwrap().success());
    let mut said = String::new();
    writer.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    writer.wait().unwrap();
    assert!(said.contains("\nwritten, 0 warnings\n"), "{said}");
    fs::remove_file(trace).unwrap();
}

/// The last look at the file before it is replaced: the number of that call in its thread.
#[cfg(target_os = "linux")]
fn last_look(path: &Path) -> Option<usize> {
    let calls = traced_by(path, &["-e", "trace=statx,?rename,?renameat,renameat2"])?.1;
    let replaced = calls.iter().rposition(|call| call.contains(".new\""))?;
    let thread = calls[replaced].split_whitespace().next()?;
    Some(calls[..replaced].iter().filter(|call| call.starts_with(thread) && call.contains("statx(")).count())
}

#[cfg(target_os = "linux")]
#[test]
fn git_that_checks_the_file_out_behind_our_last_look_loses_nothing() {
    let (folder, path) = empty_folder();
    write(&open(&path), "a text that is not short\n");
    write(&open(&path), "another text that is not short\n");
    let stopped = last_look(&path).and_then(|number| stopped_behind(&path, "statx", number));
    let Some(stopped) = stopped else { return skipped("strace cannot be used") };
    fs::remove_file(&path).unwrap();
    let mut git = OpenOptions::new().write(true).create_new(true).open(&path).unwrap();
    make_recent(&path);
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(PAUSE);
            git.write_all(b"the branch's\n").unwrap();
        });
        go_on(stopped);
    });
    assert_eq!(fs::read_to_string(&path).unwrap(), "the branch's\nours\n");
    assert_eq!(names(folder.path()), [".memories", "Memories.md"]);
}

#[cfg(target_os = "linux")]
#[test]
fn an_editor_that_had_opened_the_old_file_before_it_was_replaced_loses_nothing() {
    let (folder, path) = empty_folder();
    write(&open(&path), "old\n");
    let mut editor = OpenOptions::new().write(true).open(&path).unwrap();
    // Behind the sync of the folder, the new file is in place.
    let Some(stopped) = stopped_behind(&path, "fsync", 2) else { return skipped("strace cannot be used") };
    assert_eq!(fs::read_to_string(&path).unwrap(), "old\nours\n");
    editor.set_len(0).unwrap();
    editor.write_all(b"the editor's\n").unwrap();
    go_on(stopped);
    assert_eq!(fs::read_to_string(&path).unwrap(), "the editor's\nours\n");
    assert_eq!(names(folder.path()), [".memories", "Memories.md"]);
}
