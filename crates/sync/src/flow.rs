//! The flow of a sync: fetch, merge, put, and take over.

use std::time::Duration;

use crate::agreement::{Agreements, Pending, push_id};
use crate::error::SyncError;
use crate::options::Options;
use crate::remote::{Copy, Fetched, MAX_PUSHES, Put, Remote, Version};
use crate::report::SyncReport;
use crate::texts::{local_text, merged, text_of};
use memories_llm::backoff;
use memories_notebook::Notebook;

/// Times that a text is merged and put when other writers are faster.
const MAX_TRIES: u32 = 20;

/// The pause after the first lost race is at most this long; it doubles with each, up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(50);

/// The longest pause between two tries.
const LONGEST_PAUSE: Duration = Duration::from_secs(3);

/// Reads a remote copy.
///
/// # Errors
///
/// When there is none, and as [`Remote::fetch`].
pub fn read(remote: &dyn Remote) -> Result<String, SyncError> {
    match remote.fetch(None)? {
        Fetched::Copy(copy) => text_of(remote, copy.bytes),
        Fetched::Missing | Fetched::Unchanged => Err(SyncError::Nothing { url: remote.to_string() }),
    }
}

/// Merges a memory file with its remote copy, and gives both the result.
///
/// # Errors
///
/// See [`SyncError`]. Both sides are as they were.
pub fn sync(notebook: &Notebook, remote: &dyn Remote, options: Options) -> Result<SyncReport, SyncError> {
    let mut agreements = Agreements::open(notebook, remote.to_string(), options)?;
    let mut report = SyncReport::default();
    for number in 0..MAX_TRIES {
        if number > 0 {
            std::thread::sleep(backoff(FIRST_PAUSE, number, options.seed).min(LONGEST_PAUSE));
        }
        if try_once(notebook, remote, &mut agreements, options, &mut report)? {
            return Ok(report);
        }
        report.lost_races += 1;
    }
    Err(SyncError::KeepsChanging { url: remote.to_string(), tries: MAX_TRIES })
}

/// Fetches, merges and puts; `false` where another writer was faster.
fn try_once(
    notebook: &Notebook,
    remote: &dyn Remote,
    agreements: &mut Agreements<'_>,
    options: Options,
    report: &mut SyncReport,
) -> Result<bool, SyncError> {
    let agreed = agreements.last()?;
    report.requests += 1;
    let fetched = match remote.fetch(agreed.as_ref().map(|agreed| &agreed.version))? {
        Fetched::Unchanged => None,
        Fetched::Copy(copy) => Some(copy),
        Fetched::Missing if agreed.is_some() && !options.create => {
            return Err(SyncError::Vanished { url: remote.to_string() });
        }
        Fetched::Missing => return put_first(notebook, remote, agreements, options, report),
    };
    let (copy, base) = match (fetched, agreed) {
        (Some(copy), _) => {
            report.received_bytes += copy.bytes.len() as u64;
            let base = agreements.base_for(&copy)?;
            (copy, base)
        }
        (None, Some(agreed)) => {
            let bytes = agreed.text.clone().into_bytes();
            let base = agreed.text;
            (Copy { bytes, version: agreed.version, pushes: agreed.pushes }, base)
        }
        (None, None) => {
            return Err(failed(remote, "it says that nothing changed, without a question for that"));
        }
    };
    let Copy { bytes, version, mut pushes } = copy;
    let theirs = text_of(remote, bytes)?;
    // A copy that came there by other means gets an id, too.
    let parent = pushes.last().cloned().unwrap_or_else(|| push_id(&theirs));
    let ours = local_text(notebook)?;
    let merged = merged(notebook, remote, [&base, &ours, &theirs], options)?;
    report.compare(&ours, &theirs, &merged);
    if options.dry_run {
        return Ok(true);
    }
    if merged == theirs {
        agreements.complete(Pending { id: Some(parent), ours, merged, parent: None }, &version, &pushes)?;
        return Ok(true);
    }
    if pushes.is_empty() {
        pushes.push(parent.clone());
    }
    let pending = Pending { id: None, ours, merged, parent: Some(parent) };
    put(remote, agreements, pending, Some((&version, &theirs)), pushes, report)
}

/// Puts the first copy.
fn put_first(
    notebook: &Notebook,
    remote: &dyn Remote,
    agreements: &mut Agreements<'_>,
    options: Options,
    report: &mut SyncReport,
) -> Result<bool, SyncError> {
    let ours = local_text(notebook)?;
    report.compare(&ours, "", &ours);
    if options.dry_run {
        return Ok(true);
    }
    put(
        remote,
        agreements,
        Pending { id: None, merged: ours.clone(), ours, parent: None },
        None,
        Vec::new(),
        report,
    )
}

/// Puts a text on the condition that the copy still has that version, and completes the sync when it arrived.
fn put(
    remote: &dyn Remote,
    agreements: &mut Agreements<'_>,
    pending: Pending,
    old: Option<(&Version, &str)>,
    mut pushes: Vec<String>,
    report: &mut SyncReport,
) -> Result<bool, SyncError> {
    if !agreements.is_proven() {
        report.requests += remote.prove(&agreements.fresh_id())?;
        agreements.note_proof()?;
    }
    let pending = agreements.begin(pending, old.map_or("", |(_, theirs)| theirs))?;
    let id = pending.id.clone().expect("a push that begins has an id");
    pushes.push(id);
    let surplus = pushes.len().saturating_sub(MAX_PUSHES);
    pushes.drain(..surplus);
    report.requests += 1;
    report.sent_bytes += pending.merged.len() as u64;
    match remote.put(&pending.merged, old.map(|(version, _)| version), &pushes)? {
        Put::Lost => Ok(false),
        Put::Done(version) => {
            agreements.complete(pending, &version, &pushes)?;
            Ok(true)
        }
    }
}

fn failed(remote: &dyn Remote, problem: &str) -> SyncError {
    SyncError::Failed { url: remote.to_string(), problem: problem.to_owned() }
}

#[cfg(test)]
mod tests {
    //! Workers with files of their own and a copy in memory that can fail at each step.

    #![allow(clippy::disallowed_methods, reason = "people and other programs write files, too")]

    use std::cell::{Cell, RefCell};
    use std::fmt;
    use std::path::PathBuf;
    use std::rc::Rc;

    use tempfile::TempDir;

    use super::*;
    use memories_notebook::Clock;
    use memories_store::Store;

    /// A bucket with one object.
    #[derive(Default)]
    struct Bucket {
        copy: RefCell<Option<Copy>>,
        versions: Cell<u64>,
        /// The next write arrives, but its answer does not.
        loses_answer: Cell<bool>,
        /// The next write is made by another worker first.
        rival: RefCell<Option<Copy>>,
        is_proven: Cell<bool>,
    }

    #[derive(Clone, Default)]
    struct InMemory(Rc<Bucket>);

    impl InMemory {
        fn text(&self) -> String {
            let copy = self.0.copy.borrow();
            copy.as_ref().map_or_else(String::new, |copy| String::from_utf8(copy.bytes.clone()).unwrap())
        }

        fn set(&self, bytes: &[u8], pushes: &[String]) -> Version {
            self.0.versions.set(self.0.versions.get() + 1);
            let version = Version { e_tag: Some(self.0.versions.get().to_string()), version: None };
            *self.0.copy.borrow_mut() =
                Some(Copy { bytes: bytes.to_vec(), version: version.clone(), pushes: pushes.to_vec() });
            version
        }
    }

    impl fmt::Display for InMemory {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("mem://copy")
        }
    }

    impl Remote for InMemory {
        fn fetch(&self, known: Option<&Version>) -> Result<Fetched, SyncError> {
            Ok(match self.0.copy.borrow().clone() {
                None => Fetched::Missing,
                Some(copy) if Some(&copy.version) == known => Fetched::Unchanged,
                Some(copy) => Fetched::Copy(copy),
            })
        }

        fn put(&self, text: &str, old: Option<&Version>, pushes: &[String]) -> Result<Put, SyncError> {
            assert!(self.0.is_proven.get(), "conditions are proven before the first write");
            if let Some(rival) = self.0.rival.take() {
                self.set(&rival.bytes, &rival.pushes);
            }
            if self.0.copy.borrow().as_ref().map(|copy| &copy.version) != old {
                return Ok(Put::Lost);
            }
            let version = self.set(text.as_bytes(), pushes);
            if self.0.loses_answer.replace(false) {
                Err(SyncError::Unreachable { url: self.to_string(), problem: "cut off".to_owned() })
            } else {
                Ok(Put::Done(version))
            }
        }

        fn prove(&self, _: &str) -> Result<u64, SyncError> {
            self.0.is_proven.set(true);
            Ok(5)
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
            let fresh =
                move || format!("{number}-{}", ids.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
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
            sync(&self.notebook, remote, Options::default())
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
        assert_eq!((report.received.memories, report.sent.memories, report.requests), (1, 1, 7));
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
            remote.0.loses_answer.set(true);
            assert!(matches!(a.sync(&remote), Err(SyncError::Unreachable { .. })));
            if others_push {
                b.write(&place(3, &[("a", "one"), ("c", "three")]));
                b.sync(&remote).unwrap();
            }
            // Recorded after the push that was cut off.
            a.write(
                &a.text()
                    .replace("**Visits:** 5", "**Visits:** 6")
                    .replace("two", "two\n\n**[NOTE] d**\nfour"),
            );
            a.sync(&remote).unwrap();
            let visits = if others_push { 7 } else { 6 };
            assert!(a.text().contains(&format!("**Visits:** {visits}\n")), "{}", a.text());
            assert_eq!((a.text().matches("two").count(), a.text().matches("four").count()), (1, 1));
            assert_eq!(remote.text(), a.text());
        }
    }

    #[test]
    fn a_sync_that_was_killed_at_its_end_counts_once() {
        let (remote, a, b) = (InMemory::default(), Worker::new(1), Worker::new(2));
        a.write(&place(2, &[("a", "one")]));
        a.sync(&remote).unwrap();
        b.sync(&remote).unwrap();
        b.write(&place(4, &[("a", "one"), ("c", "three")]));
        b.sync(&remote).unwrap();
        let ours = place(3, &[("a", "one"), ("b", "two")]);
        a.write(&ours);
        a.sync(&remote).unwrap();
        assert!(a.text().contains("**Visits:** 5\n"), "{}", a.text());
        // A kill before the last step leaves the files of the push.
        let remotes = a.notebook.store().remotes(Duration::ZERO).unwrap();
        let pushed = remote.0.copy.borrow().as_ref().unwrap().pushes.last().unwrap().clone();
        let names = remotes.names().unwrap();
        let agreed = names.iter().find(|name| name.ends_with(&format!("{pushed}.md"))).unwrap();
        remotes.keep(&agreed.replace(".md", ".sent"), &a.text()).unwrap();
        remotes.keep(&agreed.replace(".md", ".from"), &ours).unwrap();
        drop(remotes);
        b.sync(&remote).unwrap();
        b.write(&b.text().replace("**Visits:** 5", "**Visits:** 6"));
        b.sync(&remote).unwrap();
        a.write(&a.text().replace("**Visits:** 5", "**Visits:** 7"));
        a.sync(&remote).unwrap();
        assert!(a.text().contains("**Visits:** 8\n"), "{}", a.text());
        assert_eq!(remote.text(), a.text());
    }

    #[test]
    fn a_race_that_is_lost_is_run_again() {
        let (remote, a, b) = (InMemory::default(), Worker::new(1), Worker::new(2));
        a.write(&place(2, &[("a", "one")]));
        a.sync(&remote).unwrap();
        b.sync(&remote).unwrap();
        let mut pushes = remote.0.copy.borrow().as_ref().unwrap().pushes.clone();
        pushes.push("rival".to_owned());
        let bytes = place(4, &[("a", "one"), ("r", "rival")]).into_bytes();
        *remote.0.rival.borrow_mut() = Some(Copy { bytes, version: Version::default(), pushes });
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
        let before = remote.0.copy.borrow().clone();
        a.write(&place(3, &[("a", "one"), ("b", "two")]));
        a.sync(&remote).unwrap();
        *remote.0.copy.borrow_mut() = before;
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
        let many: Vec<(&str, &str)> =
            many.iter().map(|(title, text)| (title.as_str(), text.as_str())).collect();
        let whole = place(2, &many);
        for (damage, is_expected) in [
            (
                &b"\xff\xfe"[..],
                (|error| matches!(error, SyncError::NotUtf8 { byte: 1, .. })) as fn(&SyncError) -> bool,
            ),
            (b"## World\n<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n", |error| {
                matches!(error, SyncError::Conflict { line: 2, .. })
            }),
            (b"", |error| matches!(error, SyncError::Shrinks { .. })),
        ] {
            let (remote, a) = (InMemory::default(), Worker::new(1));
            a.write(&whole);
            a.sync(&remote).unwrap();
            remote.set(damage, &[]);
            let error = a.sync(&remote).unwrap_err();
            assert!(is_expected(&error), "{error:?}");
            assert_eq!(
                (a.text(), remote.0.copy.borrow().as_ref().unwrap().bytes.as_slice()),
                (whole.clone(), damage)
            );
        }
        let (remote, a) = (InMemory::default(), Worker::new(1));
        a.write(&whole);
        a.sync(&remote).unwrap();
        *remote.0.copy.borrow_mut() = None;
        assert!(matches!(a.sync(&remote), Err(SyncError::Vanished { .. })));
        assert_eq!((a.text(), remote.text()), (whole.clone(), String::new()));
        sync(&a.notebook, &remote, Options { create: true, ..Options::default() }).unwrap();
        assert_eq!(remote.text(), whole);
        a.write("");
        assert!(matches!(a.sync(&remote), Err(SyncError::Shrinks { .. })));
        sync(&a.notebook, &remote, Options { allow_removals: true, ..Options::default() }).unwrap();
        assert_eq!(remote.text(), "");
    }

    #[test]
    fn a_dry_run_writes_nothing() {
        let (remote, a) = (InMemory::default(), Worker::new(1));
        a.write(&place(2, &[("a", "one")]));
        let report = sync(&a.notebook, &remote, Options { dry_run: true, ..Options::default() }).unwrap();
        assert_eq!((report.sent.memories, remote.text().as_str()), (1, ""));
        assert!(!a.file.with_file_name(".memories").exists());
    }
}
