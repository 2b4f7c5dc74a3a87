//! Workers with files of their own and a store in memory that can fail at each step.

#![allow(clippy::disallowed_methods, reason = "people and other programs write files, too")]

mod bucket;
mod fleet;
mod hostile;

use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use tempfile::TempDir;

use crate::error::SyncError;
use crate::flow::sync;
use crate::options::Options;
use crate::report::SyncReport;
use bucket::{COPY, Fault, InMemory};
use memories_document::Document;
use memories_document::types::Scope;
use memories_notebook::{Clock, Notebook, NotebookError};
use memories_store::Store;

const HALL: Scope = Scope::Location(1);

/// Numbers that look random, from a seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }
}

struct Worker {
    _folder: TempDir,
    file: PathBuf,
    notebook: Notebook,
}

impl Worker {
    fn new(number: u32) -> Worker {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("Memories.md");
        let store = Store::open(&file, Duration::from_secs(5)).unwrap();
        let ids = std::sync::atomic::AtomicU64::new(0);
        let fresh = move || format!("{number}-{}", ids.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
        let clock = Clock::new(|| "2026-01-01T00:00:00Z".to_owned(), fresh);
        Worker { _folder: folder, file, notebook: Notebook::new(store, clock) }
    }

    fn text(&self) -> String {
        std::fs::read_to_string(&self.file).unwrap_or_default()
    }

    fn write(&self, text: &str) {
        std::fs::write(&self.file, text).unwrap();
    }

    pub fn sync(&self, remote: &InMemory) -> Result<SyncReport, SyncError> {
        sync(&self.notebook, remote, &Options::default())
    }
}

/// A place with these entries, which was visited and where `push` was tried.
fn place(visits: u64, entries: &[(&str, &str)]) -> String {
    let entries: String =
        entries.iter().map(|(title, text)| format!("**[NOTE] {title}** *(Ep1)*\n{text}\n\n")).collect();
    format!(
        "# Location Memories\n\n## Location 1: Hall\n**Visits:** {visits}\n\n### Memories\n\n{entries}### Tried\n\n\
         - `push` ×{visits} *(Ep1, T{visits})*: No.\n\n---\n"
    )
}

#[test]
fn what_workers_learned_is_everywhere_and_counts_add_up() {
    let (remote, a, b) = (InMemory::default(), Worker::new(1), Worker::new(2));
    a.write(&place(2, &[("a", "one")]));
    assert_eq!(a.sync(&remote).unwrap().sent.memories, 1);
    assert_eq!(b.sync(&remote).unwrap().received.memories, 1);
    assert_eq!((remote.text(), b.text()), (a.text(), a.text()));
    a.write(&place(3, &[("a", "one"), ("b", "two")]));
    b.write(&place(5, &[("a", "one"), ("c", "three")]));
    a.sync(&remote).unwrap();
    let report = b.sync(&remote).unwrap();
    assert_eq!((report.received.memories, report.sent.memories, report.requests), (1, 1, 5));
    a.sync(&remote).unwrap();
    let all = place(6, &[("a", "one"), ("c", "three"), ("b", "two")]).replace("T6", "T5");
    assert_eq!([remote.text(), a.text(), b.text()], [all.clone(), all.clone(), all]);
    let again = a.sync(&remote).unwrap();
    assert_eq!(again, SyncReport { requests: 1, ..SyncReport::default() });
}

#[test]
fn what_was_removed_goes_and_two_wordings_stay() {
    let (remote, a, b) = (InMemory::default(), Worker::new(1), Worker::new(2));
    a.write(&place(2, &[("a", "one"), ("b", "two"), ("c", "three")]));
    a.sync(&remote).unwrap();
    b.sync(&remote).unwrap();
    a.write(&place(2, &[("a", "uno"), ("c", "three")]));
    b.write(&place(2, &[("a", "un"), ("b", "two"), ("c", "three")]));
    a.sync(&remote).unwrap();
    b.sync(&remote).unwrap();
    a.sync(&remote).unwrap();
    assert_eq!(a.text(), b.text());
    for (text, count) in
        [("uno", 1), ("un\n", 1), ("two", 0), ("three", 1), ("a (2)** *(Ep1, #same-title)*", 1)]
    {
        assert_eq!(a.text().matches(text).count(), count, "{text}: {}", a.text());
    }
}

#[test]
fn a_push_whose_answer_is_lost_counts_once() {
    for others_push in [false, true] {
        let (remote, a, b) = (InMemory::default(), Worker::new(1), Worker::new(2));
        a.write(&place(2, &[("a", "one")]));
        a.sync(&remote).unwrap();
        b.sync(&remote).unwrap();
        a.write(&place(5, &[("a", "one"), ("b", "two")]));
        remote.0.fault.set(Some((1, Fault::Unanswered)));
        assert!(matches!(a.sync(&remote), Err(SyncError::Unreachable { .. })));
        if others_push {
            b.write(&place(3, &[("a", "one"), ("c", "three")]));
            b.sync(&remote).unwrap();
        }
        // Recorded after the push that was cut off.
        a.write(
            &a.text().replace("**Visits:** 5", "**Visits:** 6").replace("two", "two\n\n**[NOTE] d**\nfour"),
        );
        a.sync(&remote).unwrap();
        let visits = if others_push { 7 } else { 6 };
        assert!(a.text().contains(&format!("**Visits:** {visits}\n")), "{}", a.text());
        assert_eq!((a.text().matches("two").count(), a.text().matches("four").count()), (1, 1));
        assert_eq!(remote.text(), a.text());
    }
}

#[test]
fn a_race_that_is_lost_is_run_again() {
    let (remote, a, b) = (InMemory::default(), Rc::new(Worker::new(1)), Worker::new(2));
    a.write(&place(2, &[("a", "one")]));
    a.sync(&remote).unwrap();
    b.sync(&remote).unwrap();
    a.write(&place(4, &[("a", "one"), ("r", "rival")]));
    let (rival, to) = (Rc::clone(&a), remote.clone());
    *remote.0.rival.borrow_mut() = Some(Box::new(move || drop(rival.sync(&to).unwrap())));
    b.write(&place(3, &[("a", "one"), ("b", "two")]));
    assert_eq!(b.sync(&remote).unwrap().lost_races, 1);
    assert!(b.text().contains("**Visits:** 5\n") && b.text().contains("rival"), "{}", b.text());
    assert_eq!(remote.text(), b.text());
}

#[test]
fn a_store_that_loses_a_write_loses_no_memory() {
    let (remote, a, b) = (InMemory::default(), Worker::new(1), Worker::new(2));
    a.write(&place(2, &[("a", "one")]));
    a.sync(&remote).unwrap();
    b.sync(&remote).unwrap();
    let before = remote.0.objects.borrow().clone();
    a.write(&place(3, &[("a", "one"), ("b", "two")]));
    a.sync(&remote).unwrap();
    *remote.0.objects.borrow_mut() = before;
    b.write(&place(5, &[("a", "one"), ("c", "three")]));
    b.sync(&remote).unwrap();
    a.sync(&remote).unwrap();
    assert_eq!(remote.text(), a.text());
    assert!(
        ["one", "two", "three", "**Visits:** 6\n"].iter().all(|part| a.text().contains(part)),
        "{}",
        a.text()
    );
}

#[test]
fn who_lost_the_memory_file_gets_it_back() {
    let (remote, a) = (InMemory::default(), Worker::new(1));
    a.write(&place(2, &[("a", "one")]));
    a.sync(&remote).unwrap();
    let text = a.text();
    std::fs::remove_file(&a.file).unwrap();
    a.sync(&remote).unwrap();
    assert_eq!((a.text(), remote.text()), (text.clone(), text));
}

#[test]
fn what_cannot_be_merged_leaves_both_sides_alone() {
    let many: Vec<(String, String)> = (0..60).map(|n| (format!("t{n}"), format!("text {n}"))).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(title, text)| (title.as_str(), text.as_str())).collect();
    let whole = place(2, &many);
    for (damage, is_expected) in [
        (
            &b"\xff\xfe"[..],
            (|error| matches!(error, SyncError::NotUtf8 { byte: 1, .. })) as fn(&SyncError) -> bool,
        ),
        (b"## World\n<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n", |error| {
            matches!(error, SyncError::Conflict { line: 2, .. })
        }),
        (b"", |error| matches!(error, SyncError::Strange { .. })),
    ] {
        let (remote, a) = (InMemory::default(), Worker::new(1));
        a.write(&whole);
        a.sync(&remote).unwrap();
        remote.set(COPY, damage);
        let error = a.sync(&remote).unwrap_err();
        assert!(is_expected(&error), "{error:?}");
        assert_eq!((a.text(), remote.bytes()), (whole.clone(), damage.to_vec()));
    }
    let (remote, a) = (InMemory::default(), Worker::new(1));
    a.write(&whole);
    a.sync(&remote).unwrap();
    remote.0.objects.borrow_mut().clear();
    assert!(matches!(a.sync(&remote), Err(SyncError::Vanished { .. })));
    assert_eq!((a.text(), remote.text()), (whole.clone(), String::new()));
    sync(&a.notebook, &remote, &Options { create: true, ..Options::default() }).unwrap();
    assert_eq!(remote.text(), whole);
    a.write("");
    assert!(matches!(a.sync(&remote), Err(SyncError::Shrinks { .. })));
    sync(&a.notebook, &remote, &Options { allow_removals: true, ..Options::default() }).unwrap();
    assert_eq!(remote.text(), "");
}

#[test]
fn a_dry_run_writes_nothing() {
    let (remote, a) = (InMemory::default(), Worker::new(1));
    a.write(&place(2, &[("a", "one")]));
    let report = sync(&a.notebook, &remote, &Options { dry_run: true, ..Options::default() }).unwrap();
    assert_eq!((report.sent.memories, remote.text().as_str()), (1, ""));
    assert!(!a.file.with_file_name(".memories").exists());
}

#[test]
fn a_file_that_was_copied_counts_once_and_files_that_never_met_add_up() {
    let (remote, a, b, c) = (InMemory::default(), Worker::new(1), Worker::new(2), Worker::new(3));
    let count = |document: &mut Document| document.visit(&HALL, "Hall", 1, Some(1)).unwrap();
    let record = |worker: &Worker| {
        drop(
            worker
                .notebook
                .edit::<_, NotebookError>("record", |draft| {
                    count(&mut draft.files.lasting);
                    Ok(())
                })
                .unwrap(),
        );
    };
    let visits = |text: &str| Document::parse(text.to_owned()).section(&HALL).unwrap().visits;
    (0..3).for_each(|_| record(&a));
    b.write(&a.text());
    record(&a);
    record(&b);
    b.sync(&remote).unwrap();
    assert_eq!(visits(&b.text()), 4);
    a.sync(&remote).unwrap();
    assert_eq!(visits(&a.text()), 5, "the file of b began as a text of a");
    c.write(&place(2, &[("a", "one")]));
    c.sync(&remote).unwrap();
    b.sync(&remote).unwrap();
    assert_eq!((visits(&c.text()), visits(&b.text())), (7, 7));
}

#[test]
fn a_machine_whose_folder_was_copied_or_set_back_goes_on_under_a_new_name() {
    let (remote, a) = (InMemory::default(), Worker::new(1));
    let write = |worker: &Worker, visits: u64| {
        worker.write(&format!("## Location 1: Hall\n**Visits:** {visits}\n\n---\n"))
    };
    write(&a, 2);
    a.sync(&remote).unwrap();
    let twin = Worker::new(2);
    let copied = std::process::Command::new("cp")
        .arg("-r")
        .args([a.file.with_file_name(".memories"), a.file.clone(), twin.file.with_file_name("")])
        .status();
    assert!(copied.unwrap().success());
    write(&a, 5);
    a.sync(&remote).unwrap();
    write(&twin, 3);
    twin.sync(&remote).unwrap();
    assert!(twin.text().contains("**Visits:** 6\n"), "{}", twin.text());
    a.sync(&remote).unwrap();
    assert_eq!((a.text(), remote.text()), (twin.text(), twin.text()));
}
