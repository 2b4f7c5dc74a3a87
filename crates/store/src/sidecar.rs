//! The folder `.memories/<file name>/` beside a memory file, with the paths of its files.
//!
//! Reading takes no lock and never needs the folder to exist. Only `Store` writes, and holds the lock
//! meanwhile. A stored memory can be read without this folder.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use crate::aligned_bytes::AlignedBytes;
use crate::at::{self, Access};
use crate::error::{Foreign, StoreError};
use crate::file_version::FileVersion;
use crate::folder::{Folder, Hosts};
use crate::git::{Index, Mark};
use crate::path::folder_of;
use crate::platform;
use crate::state::{self, State};
use memories_document::types::hint::with_causes;
use memories_document::types::lock::lock;

/// The search index with vectors of the model inside the program.
pub const INDEX: &str = "index";

/// The search index with vectors of a server's model. It has a name of its own, so that its vectors are
/// kept while the server is away.
pub const SERVED_INDEX: &str = "index-served";

/// The file that holds the [`Mark`] of the last index of git that did not list this folder.
const UNTRACKED: &str = "untracked";

/// The numbers of all turns that were recorded.
pub(crate) const RECORDED: &str = "recorded";

/// The turns that wait, whose lines the journal has dropped.
pub(crate) const QUEUE: &str = "queue.jsonl";

/// The [`State`].
pub(super) const STATE: &str = "state.json";

/// The memories that end with the episode.
pub(super) const SESSION: &str = "session.md";

/// The folder beside a memory file.
#[derive(Debug, Clone)]
pub struct Sidecar {
    folder: PathBuf,
    /// The answer of git's index, looked up once.
    tracking: Arc<OnceLock<Tracking>>,
    /// True if a folder was made here, and not synced yet.
    is_made: Arc<AtomicBool>,
    opened: Arc<Mutex<Option<Opened>>>,
}

/// The folder as it was opened last.
#[derive(Debug, Clone)]
struct Opened {
    folder: Arc<Folder>,
    /// Device and inode.
    identity: (u64, u64),
    /// True if a writer opened it: it is private then, and git ignores it.
    is_complete: bool,
}

/// A file of the folder that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}; {consequence}", with_causes(error))]
pub struct SideDamage {
    /// `session` or `state`.
    pub name: &'static str,
    pub path: PathBuf,
    /// How commands go on without it, in words.
    consequence: &'static str,
    pub error: StoreError,
}

#[derive(Debug, PartialEq, Eq)]
enum Tracking {
    Tracked,
    /// Not tracked. The mark is to be kept where it is new.
    Untracked(Option<Mark>),
}

impl Sidecar {
    /// The running episode. Where there is no file, or it is damaged or cannot be read, the state is the default; damage
    /// also gives a warning.
    pub fn state(&self) -> (State, Option<StoreError>) {
        let read = || {
            let Some(folder) = self.open()? else { return Ok(State::default()) };
            let bytes = folder.read_bytes(STATE)?;
            bytes.map_or(Ok(State::default()), |bytes| state::parse(&bytes, self.folder.join(STATE)))
        };
        read().map_or_else(|warning| (State::default(), Some(warning)), |state| (state, None))
    }

    /// Damage of session and state. It withholds nothing that lasts.
    pub fn damage(&self) -> Vec<SideDamage> {
        let session = self.session().err().map(|error| SideDamage {
            name: "session",
            path: self.folder.join(SESSION),
            consequence: "ephemeral memories are left out",
            error,
        });
        let state = self.state().1.map(|error| SideDamage {
            name: "state",
            path: self.folder.join(STATE),
            consequence: "the running episode is taken from journal and memory file",
            error,
        });
        session.into_iter().chain(state).collect()
    }

    /// The text of `session.md`, the memories that end with the episode; `None` where there are none.
    pub fn session(&self) -> Result<Option<String>, StoreError> {
        self.open_session()?.read()
    }

    fn open_session(&self) -> Result<FileVersion, StoreError> {
        let file = self.open()?.map_or(Ok(None), |folder| folder.read(SESSION))?;
        FileVersion::of(self.folder.join(SESSION), file)
    }

    /// Opens the session file. A file that cannot be opened counts as missing.
    pub(super) fn session_if_readable(&self) -> FileVersion {
        self.open_session().unwrap_or_else(|_| FileVersion::missing(self.folder.join(SESSION)))
    }

    /// The bytes of a search index, [`INDEX`] or [`SERVED_INDEX`]. `None` where there is none or it cannot
    /// be read, since it can be made again.
    pub fn index(&self, name: &str) -> Option<AlignedBytes> {
        let mut file = self.open().ok()??.read(name).ok()??;
        let length = usize::try_from(file.metadata().ok()?.len()).ok()?;
        AlignedBytes::read(&mut file, length).ok()
    }

    /// Checks that the folder, where it exists, is the caller's own.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotOurs`] where nothing of it may be used.
    pub fn check(&self) -> Result<(), StoreError> {
        self.open().map(|_| ())
    }

    /// The path of the folder, which need not exist.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The sidecar of the file at that real path.
    pub fn of(real_path: &Path) -> Sidecar {
        let name = real_path.file_name().unwrap_or_default();
        let folder = real_path.with_file_name(".memories").join(name);
        Sidecar { folder, tracking: Arc::default(), is_made: Arc::default(), opened: Arc::default() }
    }

    /// Opens the folder, unless it is open and still has its name; `None` where there is none.
    pub(super) fn open(&self) -> Result<Option<Arc<Folder>>, StoreError> {
        if let Some(opened) = self.still_open() {
            return Ok(Some(opened.folder));
        }
        let (outer, name) = self.parts();
        // A command asks several times for a folder that is missing.
        if at::facts_of(outer).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            return Ok(None);
        }
        let Some(outer) = Folder::open(outer, self.hosts())? else { return Ok(None) };
        let Some(folder) = outer.folder(name)? else { return Ok(None) };
        self.refuse_tracked(Some(&folder))?;
        Ok(Some(self.keep(folder, false)))
    }

    /// Opens the folder for a writer, and makes it where it is missing. Its parent gets a `.gitignore` first, so
    /// that after a kill in between the next writer completes both.
    pub(super) fn create(&self) -> Result<Arc<Folder>, StoreError> {
        if let Some(opened) = self.still_open().filter(|opened| opened.is_complete) {
            return Ok(opened.folder);
        }
        let hosts = self.hosts();
        let (outer, name) = self.parts();
        let failed = |source| StoreError::Sidecar { path: self.folder.clone(), source };
        let outer = Folder::open(outer, hosts)?.map_or_else(|| Folder::make(outer, hosts), Ok)?;
        let folder = outer.folder(name)?;
        self.refuse_tracked(folder.as_ref())?;
        outer.make_private().map_err(failed)?;
        let folder = match folder {
            Some(folder) => folder,
            None => {
                ignore_in_git(&outer)?;
                self.is_made.store(true, Ordering::Relaxed);
                outer.make_folder(name)?
            }
        };
        folder.make_private().map_err(failed)?;
        Ok(self.keep(folder, true))
    }

    /// The open folder, if it is the one that has the name now.
    fn still_open(&self) -> Option<Opened> {
        let opened = lock(&self.opened).clone()?;
        let identity = at::facts_of(&self.folder).ok()?.identity;
        (identity == Some(opened.identity)).then_some(opened)
    }

    /// Keeps the folder open for the next caller.
    fn keep(&self, folder: Folder, is_complete: bool) -> Arc<Folder> {
        let folder = Arc::new(folder);
        let opened = |identity| Opened { folder: Arc::clone(&folder), identity, is_complete };
        *lock(&self.opened) = folder.identity().map(opened);
        folder
    }

    /// Makes the folder itself survive a power cut, with the folder around it, if they were made here.
    pub(super) fn sync_if_made(&self) -> Result<(), StoreError> {
        let (outer, _) = self.parts();
        if !self.is_made.swap(false, Ordering::Relaxed) {
            return Ok(());
        }
        let synced = platform::sync_folder(outer).and_then(|()| platform::sync_folder(folder_of(outer)));
        synced.map_err(|source| StoreError::NotConfirmed { path: self.folder.clone(), source })
    }

    /// The users for whom root works here.
    fn hosts(&self) -> Hosts {
        let (outer, name) = self.parts();
        let around = folder_of(outer);
        let other =
            |path: &Path| at::facts_of(path).ok()?.owner.filter(|owner| at::caller() != Some(owner.user));
        match at::caller() {
            Some(0) => Hosts { of_file: other(&around.join(name)), of_folder: other(around) },
            _ => Hosts::default(),
        }
    }

    /// The folder `.memories` and the name of the folder in it.
    fn parts(&self) -> (&Path, &OsStr) {
        (self.folder.parent().unwrap_or(Path::new(".")), self.folder.file_name().unwrap_or_default())
    }

    fn refuse_tracked(&self, folder: Option<&Folder>) -> Result<(), StoreError> {
        let (outer, _) = self.parts();
        match self.tracking.get_or_init(|| tracking(outer, folder)) {
            Tracking::Tracked => {
                Err(StoreError::NotOurs { path: outer.to_owned(), problem: Foreign::Tracked })
            }
            Tracking::Untracked(_) => Ok(()),
        }
    }

    /// Keeps the mark of git's index if it is new. The caller holds the lock.
    pub(super) fn keep_mark(&self, folder: &Folder) {
        if let Some(Tracking::Untracked(Some(mark))) = self.tracking.get() {
            // Without the mark, the next command looks again.
            let _ = stage(folder, UNTRACKED, mark.as_bytes(), false).and_then(Staged::publish);
        }
    }

    /// True if the session is damaged, and so would be lost if a new one were written.
    ///
    /// # Errors
    ///
    /// When it may be whole, but cannot be read.
    pub(super) fn session_is_damaged(&self) -> Result<bool, StoreError> {
        match self.session() {
            Err(error) if error.is_damage() => Ok(true),
            session => session.map(|_| false),
        }
    }

    /// Puts a damaged session under a free name, so that a new one can be written. Returns the warning.
    pub(super) fn set_session_aside(&self, folder: &Folder) -> Result<StoreError, StoreError> {
        let path = folder.path(SESSION);
        let aside = folder.free_name(|number| match number {
            1 => format!("{SESSION}.damaged"),
            number => format!("{SESSION}.damaged.{number}"),
        });
        folder.rename(SESSION, &aside).map_err(StoreError::write("set aside", &path))?;
        Ok(StoreError::SetAside { aside: folder.path(aside), path })
    }

    /// Puts state and session in place that a killed writer has staged and would have put there, in the same order.
    pub(super) fn publish_staged(&self, folder: &Folder) -> Result<(), StoreError> {
        for name in [STATE, SESSION] {
            let path = folder.path(name);
            let failed = StoreError::write("replace", &path);
            match folder.facts(temporary_name(name)) {
                Ok(Some(_)) if name != SESSION || !self.session_is_damaged()? => {
                    folder.rename(&temporary_name(name), name).map_err(failed)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Removes temporary files of a writer that was killed or failed.
    pub(super) fn sweep(&self, folder: &Folder) {
        for name in [STATE, SESSION, INDEX, SERVED_INDEX, UNTRACKED, RECORDED, QUEUE] {
            let _ = folder.remove(&temporary_name(name));
        }
    }
}

/// A file that is complete under its temporary name. Dropped before it is published, it is removed.
pub(super) struct Staged<'a> {
    folder: &'a Folder,
    name: &'static str,
}

impl Staged<'_> {
    /// Puts the file in place, whatever is there. It survives a power cut once the folder is synced.
    pub(super) fn publish(self) -> Result<(), StoreError> {
        let renamed = self.folder.rename(&temporary_name(self.name), self.name);
        renamed.map_err(StoreError::write("replace", &self.folder.path(self.name)))?;
        std::mem::forget(self);
        Ok(())
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        let _ = self.folder.remove(&temporary_name(self.name));
    }
}

/// Writes a file of the sidecar under its temporary name, where no reader sees it yet. Without a sync, it may be empty
/// or damaged after a power cut.
pub(super) fn stage<'a>(
    folder: &'a Folder,
    name: &'static str,
    bytes: &[u8],
    sync: bool,
) -> Result<Staged<'a>, StoreError> {
    let staged = Staged { folder, name };
    let written = folder.create(&temporary_name(name)).and_then(|mut file| {
        file.write_all(bytes)?;
        if sync { file.sync_all() } else { Ok(()) }
    });
    written.map_err(StoreError::write("write", &folder.path(name)))?;
    Ok(staged)
}

/// The name for new content is always the same: its only writer is the holder of the lock.
fn temporary_name(name: &str) -> String {
    format!("{name}.new")
}

/// The answer of git's index, which is read only where the mark says that it has changed.
fn tracking(outer: &Path, folder: Option<&Folder>) -> Tracking {
    let Some(index) = Index::around(outer) else { return Tracking::Untracked(None) };
    let Some(mark) = index.mark(folder.and_then(Folder::identity)) else {
        return if index.lists_it() { Tracking::Tracked } else { Tracking::Untracked(None) };
    };
    let kept = folder.and_then(|folder| folder.read_bytes(UNTRACKED).ok()?);
    match kept.is_some_and(|kept| kept == mark.as_bytes()) {
        true => Tracking::Untracked(None),
        false if index.lists_it() => Tracking::Tracked,
        false => Tracking::Untracked(Some(mark)),
    }
}

/// Keeps the folder's contents out of the user's repository, unless the user has decided otherwise. An
/// empty file is no decision: a writer was killed, or the disk was full, before it had its line.
fn ignore_in_git(folder: &Folder) -> Result<(), StoreError> {
    const NAME: &str = ".gitignore";
    match folder.facts(NAME) {
        Ok(Some(facts)) if facts.is_file && facts.size > 0 => Ok(()),
        _ => {
            let mut file = folder.write(NAME, Access::Append)?;
            file.write_all(b"*\n").map_err(StoreError::write("write", &folder.path(NAME)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::OPENED;

    #[test]
    fn a_missing_folder_is_never_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Memories.md");
        let sidecar = Sidecar::of(&path);
        let before = OPENED.get();
        for _ in 0..5 {
            assert!(sidecar.open().unwrap().is_none());
        }
        assert_eq!(OPENED.get(), before);
        // It may be made later, by another process.
        let other = Sidecar::of(&path);
        other.create().unwrap();
        let before = OPENED.get();
        for _ in 0..5 {
            assert!(sidecar.open().unwrap().is_some());
        }
        assert_eq!(OPENED.get() - before, 1);
    }
}
