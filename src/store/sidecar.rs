//! The folder `.memories/<file name>/` beside a memory file, with the paths of its files.
//!
//! Reading takes no lock and never needs the folder to exist. Only `Store` writes, and holds the lock
//! meanwhile. A stored memory can be read without this folder.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::atomic_write::PendingFile;
use super::backups;
use super::error::StoreError;
use super::file_version;
use super::state::{self, State};

/// The search index with vectors of the model inside the program.
pub const INDEX: &str = "index";

/// The search index with vectors of a server's model. It has a name of its own, so that its vectors are
/// kept while the server is away.
pub const SERVED_INDEX: &str = "index-served";

/// The folder beside a memory file.
#[derive(Debug, Clone)]
pub struct Sidecar {
    folder: PathBuf,
}

impl Sidecar {
    /// The running episode, with a warning where the file is damaged or cannot be read.
    pub fn state(&self) -> (State, Option<StoreError>) {
        state::load(&self.state_path())
    }

    /// The text of `session.md`, the memories that end with the episode; `None` where there are none.
    pub fn session(&self) -> Result<Option<String>, StoreError> {
        file_version::read(&self.session_path())
    }

    /// The bytes of a search index, [`INDEX`] or [`SERVED_INDEX`]. `None` where there is none or it cannot
    /// be read, since it can be made again.
    pub(crate) fn index(&self, name: &str) -> Option<Vec<u8>> {
        fs::read(self.folder.join(name)).ok()
    }

    /// The path of the folder, which need not exist.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The sidecar of the file at that real path.
    pub(super) fn of(real_path: &Path) -> Sidecar {
        let name = real_path.file_name().unwrap_or_default();
        Sidecar { folder: real_path.with_file_name(".memories").join(name) }
    }

    /// Makes the folder, unless it exists. Its parent gets a `.gitignore` first, so that after a kill in
    /// between the next writer completes both.
    pub(super) fn create(&self) -> Result<(), StoreError> {
        if self.folder.is_dir() {
            return Ok(());
        }
        let parent = self.folder.parent().unwrap_or(Path::new("."));
        let made = fs::create_dir_all(parent)
            .and_then(|()| ignore_in_git(parent))
            .and_then(|()| fs::create_dir_all(&self.folder));
        made.map_err(|source| StoreError::Sidecar { path: self.folder.clone(), source })
    }

    pub(super) fn lock_path(&self) -> PathBuf {
        self.folder.join("lock")
    }

    pub(super) fn queue_lock_path(&self) -> PathBuf {
        self.folder.join("queue-lock")
    }

    pub(super) fn backups_path(&self) -> PathBuf {
        self.folder.join("backups")
    }

    pub(super) fn backup_path(&self, number: u64) -> PathBuf {
        backups::path_of(&self.backups_path(), number)
    }

    /// Writes the state where no reader sees it yet.
    pub(super) fn stage_state(&self, state: &State) -> Result<PendingFile, StoreError> {
        stage(&self.state_path(), &state::render(state))
    }

    /// Writes the text of `session.md` where no reader sees it yet.
    pub(super) fn stage_session(&self, text: &str) -> Result<PendingFile, StoreError> {
        stage(&self.session_path(), text)
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
    pub(super) fn set_session_aside(&self) -> Result<StoreError, StoreError> {
        let path = self.session_path();
        let named = |number: u64| match number {
            1 => path.with_added_extension("damaged"),
            number => path.with_added_extension(format!("damaged.{number}")),
        };
        let aside = (1..).map(named).find(|name| fs::symlink_metadata(name).is_err());
        let aside = aside.expect("a folder has fewer files than there are numbers");
        fs::rename(&path, &aside).map_err(StoreError::write("set aside", &path))?;
        Ok(StoreError::SetAside { path, aside })
    }

    /// Removes temporary files of a killed writer.
    pub(super) fn sweep(&self) {
        let indexes = [INDEX, SERVED_INDEX].map(|name| self.folder.join(name));
        for path in [self.state_path(), self.session_path()].into_iter().chain(indexes) {
            let _ = fs::remove_file(temporary_path(&path));
        }
    }

    /// Replaces an index. A power cut may damage it; a damaged index is recognised and made again.
    pub(super) fn write_index(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let path = self.folder.join(name);
        let pending = PendingFile::write_unsynced(temporary_path(&path), &path, bytes);
        pending.map_err(StoreError::write("write", &path))?.replace()
    }

    pub(super) fn session_path(&self) -> PathBuf {
        self.folder.join("session.md")
    }

    fn state_path(&self) -> PathBuf {
        self.folder.join("state.json")
    }
}

/// Writes and syncs a file of the sidecar under its temporary name.
fn stage(path: &Path, text: &str) -> Result<PendingFile, StoreError> {
    PendingFile::write(temporary_path(path), path, None, text.as_bytes())
}

/// The name for new content is always the same: its only writer is the holder of the lock.
fn temporary_path(path: &Path) -> PathBuf {
    path.with_added_extension("new")
}

/// Keeps the folder's contents out of the user's repository, unless the user has decided otherwise. An
/// empty file is no decision: a writer was killed, or the disk was full, before it had its line.
fn ignore_in_git(folder: &Path) -> io::Result<()> {
    let path = folder.join(".gitignore");
    match fs::metadata(&path) {
        Ok(metadata) if metadata.len() > 0 => Ok(()),
        _ => OpenOptions::new().append(true).create(true).open(path)?.write_all(b"*\n"),
    }
}
