//! The files of a repository that entries are anchored to: their blobs, and the commits since.
//!
//! Paths and ids of blobs enter; blobs and words about changes leave. Git runs once for all files that have changed, with
//! a limit of time, and starts no program that the repository names: it shows the ids of blobs and compares no content,
//! fetches nothing, and checks no signature.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY, SHA256};

use crate::cli::git::git_alone;
use memories_document::types::Anchor;
use memories_notebook::{AnchoredFiles, FileState};
use memories_store::{Below, Index, read_below};

/// Largest file that is read, in bytes.
const MAX_SIZE: u64 = 16 << 20;

/// Digits of an id that is written.
const DIGITS: usize = 12;

/// Time for the history. A build for tests shares its machine with many others.
const TIME: Duration = Duration::from_millis(if cfg!(debug_assertions) { 5_000 } else { 500 });

/// What stands before each commit in the output of git.
const COMMIT: &[u8] = b"\x01";

/// The files of the repository around a memory file.
#[derive(Debug, Clone)]
pub(crate) struct Repository {
    root: PathBuf,
    /// The memory file, which the program itself changes.
    memory_file: PathBuf,
}

/// The id of a file that changed, and how.
enum Change {
    Changed,
    Gone,
}

impl Repository {
    /// The files below a root.
    pub(crate) fn new(root: &Path, memory_file: &Path) -> Repository {
        Repository { root: root.to_owned(), memory_file: memory_file.to_owned() }
    }

    fn index(&self) -> Option<Index> {
        Index::around(&self.root.join("x")).filter(|_| self.root.join(".git").exists())
    }

    /// The change of a file since it was anchored; `None` if there is none, or none is known.
    fn change(&self, anchor: &Anchor) -> Option<Change> {
        match read_below(&self.root, &anchor.path, MAX_SIZE) {
            Below::Bytes(bytes) => {
                (!ids(&bytes).iter().any(|id| anchor.is_at(id))).then_some(Change::Changed)
            }
            Below::Gone => Some(Change::Gone),
            Below::NotRead => None,
        }
    }

    /// The only file that git lists with the blob of a file that is gone.
    fn successor(&self, anchor: &Anchor) -> Option<String> {
        let mut paths = self.index()?.paths_of_blob(&anchor.blob);
        let only = paths.pop().filter(|_| paths.is_empty())?;
        String::from_utf8(only).ok()
    }
}

impl AnchoredFiles for Repository {
    fn state(&self, path: &str) -> FileState {
        if self.root.join(path) == self.memory_file {
            return FileState::NotRead;
        }
        match read_below(&self.root, path, MAX_SIZE) {
            Below::Bytes(bytes) => {
                let index = self.index();
                let is_new = index.as_ref().is_some_and(Index::uses_sha256);
                let [old, old_lf, new, new_lf] = ids(&bytes);
                let [raw, lf] = if is_new { [new, new_lf] } else { [old, old_lf] };
                // Git may keep other line ends than the file has.
                let is_listed =
                    || index.and_then(|index| index.blob_of(path.as_bytes())).as_ref() == Some(&lf);
                let mut id = if raw != lf && is_listed() { lf } else { raw };
                id.truncate(DIGITS);
                FileState::Blob(id)
            }
            Below::Gone => FileState::Gone,
            Below::NotRead => FileState::NotRead,
        }
    }

    fn changes(&self, anchors: &[Anchor]) -> Vec<Option<String>> {
        let changed: Vec<Option<Change>> = anchors.iter().map(|anchor| self.change(anchor)).collect();
        let trail = |(anchor, change): (&Anchor, &Option<Change>)| {
            let successor = match change.as_ref()? {
                Change::Changed => None,
                // Without a successor git could say no more.
                Change::Gone => Some(self.successor(anchor)?),
            };
            Some(Trail { anchor: anchor.clone(), successor, ..Trail::default() })
        };
        let mut trails: Vec<Option<Trail>> = anchors.iter().zip(&changed).map(trail).collect();
        follow(&self.root, &mut trails);
        let words = |((anchor, change), trail): ((&Anchor, Option<Change>), Option<Trail>)| {
            let path = &anchor.path;
            Some(match (change?, trail) {
                (Change::Gone, Some(Trail { successor: Some(to), is_renamed: true, .. })) => {
                    format!("{path} was renamed to {to}")
                }
                (Change::Gone, _) => format!("{path} is gone"),
                (Change::Changed, Some(Trail { since: Some(0), .. })) => {
                    format!("{path} changed, not committed yet")
                }
                (Change::Changed, Some(Trail { since: Some(1), .. })) => {
                    format!("{path} changed 1 commit ago")
                }
                (Change::Changed, Some(Trail { since: Some(commits), .. })) => {
                    format!("{path} changed {commits} commits ago")
                }
                (Change::Changed, _) => format!("{path} changed since"),
            })
        };
        anchors.iter().zip(changed).zip(trails).map(words).collect()
    }
}

/// The ids of the blob of a file in repositories of SHA-1 and of SHA-256, each as it is and with line ends of Unix.
fn ids(bytes: &[u8]) -> [String; 4] {
    let mut unix = Vec::with_capacity(bytes.len());
    for (at, byte) in bytes.iter().enumerate() {
        if *byte != b'\r' || bytes.get(at + 1) != Some(&b'\n') {
            unix.push(*byte);
        }
    }
    let id = |algorithm, bytes: &[u8]| {
        let mut context = Context::new(algorithm);
        context.update(format!("blob {}\0", bytes.len()).as_bytes());
        context.update(bytes);
        context.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect::<String>()
    };
    let both = |algorithm| {
        let raw = id(algorithm, bytes);
        let lf = if unix.len() == bytes.len() { raw.clone() } else { id(algorithm, &unix) };
        [raw, lf]
    };
    let ([old, old_lf], [new, new_lf]) = (both(&SHA1_FOR_LEGACY_USE_ONLY), both(&SHA256));
    [old, old_lf, new, new_lf]
}

/// The history of a file, the newest commit first, as far as it was read.
#[derive(Default)]
struct Trail {
    anchor: Anchor,
    /// The file that may have come from it.
    successor: Option<String>,
    /// Commits that touched the file.
    commits: u64,
    /// Those since the last one with the blob, once that was found.
    since: Option<u64>,
    /// The blob that the commit in hand removed, and the one that it gave to the successor.
    removed: Option<String>,
    added: Option<String>,
    is_renamed: bool,
    /// True once nothing more is to be learned.
    is_read: bool,
}

impl Trail {
    /// Takes a file of a commit: its blobs in the parents, and the one in the commit.
    fn take(&mut self, path: &[u8], parents: &[&str], blob: &str) {
        let is_none = |blob: &str| blob.bytes().all(|digit| digit == b'0');
        if self.successor.as_ref().is_some_and(|successor| path == successor.as_bytes()) {
            self.added = parents.iter().all(|parent| is_none(parent)).then(|| blob.to_owned());
        }
        if self.is_read || path != self.anchor.path.as_bytes() {
            return;
        }
        if self.successor.is_some() {
            self.removed = parents.first().filter(|_| is_none(blob)).map(|&parent| parent.to_owned());
            self.is_read = true;
            return;
        }
        if self.anchor.is_at(blob) {
            self.since = Some(self.commits);
        } else {
            self.commits += 1;
            let was_here = parents.iter().any(|parent| self.anchor.is_at(parent));
            self.since = was_here.then_some(self.commits);
        }
        self.is_read = self.since.is_some();
    }

    /// Ends a commit. A file that was removed where one with the same content was added has that name now.
    fn end_commit(&mut self) {
        self.is_renamed |= self.removed.is_some() && self.removed == self.added;
        (self.removed, self.added) = (None, None);
    }
}

/// Reads the history of the checked-out commit, as far as these files need it and time allows.
fn follow(root: &Path, trails: &mut [Option<Trail>]) {
    let mut trails: Vec<&mut Trail> = trails.iter_mut().flatten().collect();
    if trails.is_empty() || !root.join(".git").exists() {
        return;
    }
    let paths = trails.iter().flat_map(|trail| [Some(&trail.anchor.path), trail.successor.as_ref()]);
    let mut command = git_alone(root);
    command.args(["log", "--format=%x01", "-z", "--raw", "-c", "--no-abbrev", "--no-renames", "--no-color"]);
    command.args(["--no-show-signature", "--no-ext-diff", "--no-textconv", "HEAD", "--"]);
    command.args(paths.flatten());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return };
    let (send, parts) = mpsc::sync_channel::<Vec<u8>>(64);
    if let Some(output) = child.stdout.take() {
        std::thread::spawn(move || {
            let parts = BufReader::new(output).split(0).map_while(Result::ok);
            parts.map(|part| send.send(part)).take_while(Result::is_ok).for_each(drop);
        });
        let end = Instant::now() + TIME;
        read_parts(&mut trails, || parts.recv_timeout(end.saturating_duration_since(Instant::now())).ok());
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// Reads the parts of git's output: a mark for each commit, then blobs and path of each of its files by turns.
fn read_parts(trails: &mut [&mut Trail], mut next: impl FnMut() -> Option<Vec<u8>>) {
    while let Some(part) = next() {
        let part = part.trim_ascii_start();
        if part == COMMIT {
            trails.iter_mut().for_each(|trail| trail.end_commit());
            if trails.iter().all(|trail| trail.is_read) {
                return;
            }
            continue;
        }
        // `:100644 100644 OLD NEW M`; of a merge with a colon, a mode and a blob more for each further parent.
        let colons = part.iter().take_while(|byte| **byte == b':').count();
        let fields = String::from_utf8_lossy(&part[colons..]).into_owned();
        let fields: Vec<&str> = fields.split(' ').collect();
        if colons == 0 || fields.len() != 2 * colons + 3 {
            continue;
        }
        let Some(path) = next() else { break };
        let blobs = &fields[colons + 1..];
        trails.iter_mut().for_each(|trail| trail.take(&path, &blobs[..colons], blobs[colons]));
    }
    trails.iter_mut().for_each(|trail| trail.end_commit());
}
