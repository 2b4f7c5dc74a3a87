//! The files on disk: each one is written whole, by one writer at a time, with backups.
//!
//! The path of a memory file enters, and a function from its text to a new one. The new file leaves, its backups, and
//! beside it a folder with lock, journal and state ([`Sidecar`]). The store handles bytes, lines and paths; it does not
//! interpret the text. Only this crate writes files. It always holds that
//!
//! * at each moment, also after a kill or a power cut, the file is the whole old or the whole new text;
//! * no writer's change is lost to another writer, and no change of an editor, which takes no lock, is lost to a
//!   writer;
//! * readers take no lock, write nothing and need no right to write;
//! * the journal reports a change after the file has it and before the next change, also after a kill in between;
//! * state, session and lines survive a power cut, once an update has returned.
//!
//! The contract names the two cases in which a text of an editor is in the backup alone, or lost.
//!
//! # Where to begin
//!
//! * [`Store`] is one memory file with its sidecar. [`Store::update`] is the one way to change it: lock, read, edit,
//!   back up, replace.
//! * [`Change`] is what an edit returns: the new text, and the lines for the journal.
//! * [`journal`] has the type of each line of the journal, and its readers.
//! * [`write_file`] and [`OtherFile`] write files that are no memory files.
//!
//! # Example
//!
//! ```
//! use std::time::Duration;
//! use memories_store::{Change, Store, StoreError};
//!
//! let folder = tempfile::tempdir()?;
//! let store = Store::open(folder.path().join("Memories.md"), Duration::from_secs(10))?;
//! let update = store.update(|text, _| {
//!     let text = text.unwrap_or_default() + "## World\n";
//!     Ok::<_, StoreError>(Change::to(text, ()))
//! })?;
//! assert!(update.written);
//! assert_eq!(store.read()?.as_deref(), Some("## World\n"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![allow(clippy::disallowed_methods, reason = "this is the room that writes files for all others")]

mod aligned_bytes;
mod at;
mod atomic_write;
mod attributes;
mod backups;
mod below;
mod change;
mod command_log;
mod error;
mod file_version;
mod folder;
mod follow;
mod git;
pub mod journal;
mod lock;
mod log;
mod note;
mod occasion;
mod other_file;
mod path;
mod platform;
mod private_file;
mod remotes;
mod replace;
mod scratch;
mod settled;
mod sidecar;
mod state;
mod swap;
mod working_copy;

use memories_document::types::Viewer;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub use aligned_bytes::AlignedBytes;
pub use atomic_write::{Existing, create_folder, write_file, write_script};
pub use backups::Backup;
pub use below::{Below, read_below, slashed};
use change::NewLines;
pub use change::{Change, Update};
pub use command_log::CommandLog;
pub use error::{Foreign, StoreError};
pub use file_version::{OpenFiles, text_of};
pub use follow::Follower;
pub use git::Index;
pub use log::{LineLog, LogLine, Upkeep};
pub use occasion::Occasion;
pub use other_file::{OtherFile, make_folders, real_path, remove_empty_folder};
pub use path::{foreign_owner, is_markdown, refuse_link_out, without_dots};
pub use platform::changed_at;
pub use private_file::{change_private, read_bounded};
pub use remotes::{Remotes, Shelf};
pub use scratch::ScratchFile;
pub use sidecar::{INDEX, SERVED_INDEX, Sidecar};
pub use state::{Agreement, MachineNote, RemoteVersion, State};
pub use working_copy::WorkingCopy;

use backups::Outweighing;
use file_version::FileVersion;
use folder::Folder;
use lock::{Lock, Signature};
use note::Addition;
use replace::Replaced;
use sidecar::{SESSION, STATE, Staged, stage};

/// Times that an edit is tried when an editor changes the file meanwhile.
const MAX_TRIES: u32 = 10;

/// Size in bytes of the note in the lock file from which on the logs are synced.
const MAX_NOTE: u64 = 256 * 1024;

/// The file in the sidecar that writers lock.
const LOCK: &str = "lock";

/// A memory file, which need not exist yet, and what is kept beside it.
#[derive(Debug, Clone)]
pub struct Store {
    path: PathBuf,
    real_path: PathBuf,
    sidecar: Sidecar,
    lock_timeout: Duration,
    viewer: Viewer,
}

impl Store {
    /// Finds the file behind a path, through symbolic links, even if it does not exist yet. Creates
    /// nothing; refuses a folder or a device. A writer waits for others up to `lock_timeout`.
    pub fn open(path: impl AsRef<Path>, lock_timeout: Duration) -> Result<Store, StoreError> {
        let path = path.as_ref().to_owned();
        let real_path = path::resolve(&path)?;
        let sidecar = Sidecar::of(&real_path);
        Ok(Store { path, real_path, sidecar, lock_timeout, viewer: Viewer::Person })
    }

    /// The same, as a viewer reads it: whoever reads memories through it is given only what the viewer may see.
    pub fn for_viewer(self, viewer: Viewer) -> Store {
        Store { viewer, ..self }
    }

    /// The viewer for whom it is read.
    pub fn viewer(&self) -> &Viewer {
        &self.viewer
    }

    /// The store with another path in its messages.
    pub fn shown_as(self, path: PathBuf) -> Store {
        Store { path, ..self }
    }

    /// The same, for writers that would rather write nothing than wait for the lock.
    pub fn without_waiting(&self) -> Store {
        Store { lock_timeout: Duration::ZERO, ..self.clone() }
    }

    /// The right to work off the queue of the journal; `None` while another process has it. It keeps nobody from
    /// writing.
    pub fn try_lock_queue(&self) -> Result<Option<QueueLock>, StoreError> {
        match Lock::acquire(&self.sidecar, "queue-lock", Duration::ZERO) {
            Ok((lock, _)) => Ok(Some(QueueLock { _lock: lock })),
            Err(StoreError::Locked { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The folder with which this file is synced.
    pub fn remotes(&self) -> Shelf<'_> {
        Shelf::remotes(&self.sidecar)
    }

    /// The states of machines whose remote copy this file is.
    pub fn machines(&self) -> Shelf<'_> {
        Shelf::machines(&self.sidecar)
    }

    /// The path as it was given, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of the file itself: absolute, without symbolic links.
    pub fn real_path(&self) -> &Path {
        &self.real_path
    }

    /// The folder for lock, journal and state. It need not exist.
    pub fn folder(&self) -> &Path {
        self.sidecar.folder()
    }

    /// True if a path is the memory file, or anything beside it that the program keeps.
    pub fn owns(&self, real_path: &Path) -> bool {
        let sidecars = self.folder().parent().unwrap_or(self.folder());
        real_path == self.real_path || real_path.starts_with(sidecars)
    }

    /// Journal, state and session, to be read without the lock.
    pub fn sidecar(&self) -> &Sidecar {
        &self.sidecar
    }

    /// The size of the file in bytes; 0 where there is none.
    pub fn size(&self) -> u64 {
        std::fs::metadata(&self.real_path).map_or(0, |metadata| metadata.len())
    }

    /// The whole text; `None` where there is no file.
    pub fn read(&self) -> Result<Option<String>, StoreError> {
        file_version::read(&self.real_path)
    }

    /// The memory file and its session, for a reader that wants parts of them or wants to notice when
    /// they change. A session that cannot be read is as good as none.
    pub fn open_files(&self) -> Result<OpenFiles, StoreError> {
        let memories = FileVersion::open(&self.real_path)?;
        Ok(OpenFiles { memories, session: self.sidecar.session_if_readable() })
    }

    /// The former states that are kept, newest first: the first is the state before the last write.
    pub fn backups(&self) -> Result<Vec<Backup>, StoreError> {
        self.sidecar.open()?.map_or(Ok(Vec::new()), |folder| backups::list(&folder))
    }

    /// A warning where a former state outweighs the file, which vanished or was saved in part.
    pub fn outweighed(&self) -> Option<StoreError> {
        let folder = self.sidecar.open().ok()??;
        self.outweighed_at(&folder, self.size())
    }

    /// The same for a file of that size in bytes.
    fn outweighed_at(&self, folder: &Folder, file_size: u64) -> Option<StoreError> {
        backups::largest_outweighing(folder, file_size).ok()?.map(|state| self.outweighed_by(state))
    }

    fn outweighed_by(&self, state: Outweighing) -> StoreError {
        let Outweighing { number, size, path: state } = state;
        StoreError::Outweighed { path: self.path.clone(), number, size, state }
    }

    /// The text of a former state, by its number. To restore it, let [`Store::update`] write it:
    /// so the restoring can be undone like any other change.
    pub fn read_backup(&self, number: u64) -> Result<String, StoreError> {
        let missing = || StoreError::NoBackup { path: backups::path_in(self.folder(), number) };
        let folder = self.sidecar.open()?.ok_or_else(missing)?;
        backups::read(&folder, number)?.ok_or_else(missing)
    }

    /// Writes a text to a file beside the memory file, for a person to edit.
    ///
    /// # Errors
    ///
    /// When the sidecar folder cannot be made or written.
    pub fn working_copy(&self, text: &str) -> Result<WorkingCopy, StoreError> {
        WorkingCopy::new(self.sidecar.create()?, text)
    }

    /// Removes copies of earlier edits whose words the memory file has, and the oldest of many. Returns those that are
    /// left, the one that was changed last first.
    ///
    /// # Errors
    ///
    /// When the sidecar folder is not the caller's own.
    pub fn tidy_working_copies(&self, memories: &str) -> Result<Vec<PathBuf>, StoreError> {
        let folder = self.sidecar.open()?;
        Ok(folder.map_or_else(Vec::new, |folder| working_copy::tidy(&folder, memories)))
    }

    /// Changes the file under the lock. The edit gets the present text (`None` where there is no
    /// file) and returns a [`Change`]. When an editor changed the file meanwhile, the edit is called
    /// again with the fresh text, so it must not keep anything from an earlier call. If it fails, nothing
    /// is written.
    ///
    /// The edit must not ask a model, because all other writers wait, and must not update this file
    /// itself, because it would wait for its own lock. Where there is no folder for the lock yet, the edit
    /// is first called without one: so an edit that fails leaves nothing behind.
    ///
    /// # Errors
    ///
    /// Errors of the edit, and of reading and writing. The file is unchanged then, except after
    /// [`StoreError::NotConfirmed`] and where only the session could not be put in place.
    pub fn update<T, E: From<StoreError>>(
        &self,
        mut edit: impl FnMut(Option<String>, &Sidecar) -> Result<Change<T>, E>,
    ) -> Result<Update<T>, E> {
        let mut try_edit = |last_size| {
            let (text, version) = settled::take(&self.real_path, last_size)?;
            Ok::<_, E>((version, edit(text, &self.sidecar)?))
        };
        let mut first = if self.sidecar.open()?.is_some() { None } else { Some(try_edit(0)?) };
        let mut last_size = first.as_ref().map_or(0, |(version, _)| version.size());
        let (mut lock, folder, last) = self.lock()?;
        // If no process has ever held the lock, only an editor can have changed the file meanwhile.
        first = first.filter(|_| last.holder.is_none());
        last_size = last.written.map_or(last_size, |written| written.size);
        for _ in 0..MAX_TRIES {
            let (version, change) = first.take().map_or_else(|| try_edit(last_size), Ok)?;
            // If it vanishes now, another program is about to save it.
            last_size = last_size.max(version.size());
            let committed = self.commit(&mut lock, &folder, &version, change);
            let written = lock.signature().written.map_or(0, |written| written.inode);
            if committed.is_err() && !self.has_inode(written) {
                // If the text is in place, the group stays: the next writer adds its lines.
                let _ = lock.drop_group();
            }
            if let Some(update) = committed? {
                return Ok(update);
            }
            lock.sign(last.not_yet_written()).map_err(failed_lock(&folder))?;
        }
        Err(StoreError::KeepsChanging { path: self.path.clone(), tries: MAX_TRIES }.into())
    }

    /// Keeps the bytes of a search index, [`INDEX`] or [`SERVED_INDEX`], beside the file. Returns `false`
    /// where that is not possible, because another process is writing or nothing may be written here;
    /// then the index has to be made again.
    pub fn keep_index(&self, name: &'static str, bytes: &[u8]) -> bool {
        let Ok((_lock, folder, _)) = self.without_waiting().lock() else { return false };
        // A power cut may damage it; a damaged index is recognised and made again.
        stage(&folder, name, bytes, false).and_then(Staged::publish).is_ok()
    }

    /// Takes the lock, and completes or removes what its last holder left behind, if that was killed or failed. Also
    /// returns the open sidecar folder and the signature of that process.
    fn lock(&self) -> Result<(Lock, Arc<Folder>, Signature), StoreError> {
        let (mut lock, folder) = Lock::acquire(&self.sidecar, LOCK, self.lock_timeout)?;
        let last = lock.signature();
        // This must come first: it may restore another program's file and remove a text of ours.
        replace::sweep(&self.real_path, &folder, last);
        self.complete(&mut lock, &folder).map_err(failed_lock(&folder))?;
        self.sidecar.sweep(&folder);
        lock.sign(last.not_yet_written()).map_err(failed_lock(&folder))?;
        self.sidecar.keep_mark(&folder);
        Ok((lock, folder, last))
    }

    /// Gives the logs the lines that their ends lack, if a kill or a power cut took them.
    fn complete(&self, lock: &mut Lock, folder: &Folder) -> io::Result<()> {
        let note = lock.note()?;
        let (mut size, mut additions) = (0, Vec::new());
        let mut groups = note::parse(&note).into_iter().peekable();
        while let Some(group) = groups.next() {
            // A group behind it was noted when it was done.
            if !group.is_done && groups.peek().is_none() {
                if !self.has_inode(group.inode) {
                    break;
                }
                // Best effort: what cannot be written now must not keep writers out.
                let _ = self.sidecar.publish_staged(folder);
            }
            additions.extend(group.additions);
            size = group.end;
        }
        note::complete(folder, &additions);
        lock.keep_note(size)?;
        if size > 0 { lock.end_group() } else { Ok(()) }
    }

    /// True if the file has that inode.
    fn has_inode(&self, inode: u64) -> bool {
        let present = std::fs::symlink_metadata(&self.real_path);
        inode != 0 && present.is_ok_and(|present| platform::inode(&present) == inode)
    }

    /// Completes what a kill or a power cut has taken of the logs, so that whoever reads the journal finds it there.
    /// Writers do so in any case.
    ///
    /// # Errors
    ///
    /// When the lock cannot be taken.
    pub fn complete_last_change(&self) -> Result<(), StoreError> {
        let lock = self.sidecar.open()?.map(|folder| folder.facts(LOCK));
        match lock {
            Some(Ok(Some(facts))) if lock::has_note(facts.size) => self.lock().map(drop),
            _ => Ok(()),
        }
    }

    /// True while a new file may be in place whose lines are not in the journal yet. After a kill it stays so until the
    /// next change.
    pub fn is_completing(&self) -> bool {
        let lock = self.sidecar.open().ok().flatten().and_then(|folder| folder.read(LOCK).ok().flatten());
        lock.is_some_and(|mut lock| lock::has_waiting_group(&mut lock))
    }

    /// Writes the file, then state, session and logs. `None` where an editor was faster: then nothing is written.
    fn commit<T>(
        &self,
        lock: &mut Lock,
        folder: &Folder,
        old: &FileVersion,
        change: Change<T>,
    ) -> Result<Option<Update<T>>, StoreError> {
        let mut update = Update { value: change.value, written: false, warnings: Vec::new() };
        let stage = |name, text: String| stage(folder, name, text.as_bytes(), true);
        let state = change.state.map(|state| stage(STATE, state::render(&state))).transpose()?;
        let session = change.session.map(|text| stage(SESSION, text)).transpose()?;
        let is_damaged = session.is_some() && self.sidecar.session_is_damaged()?;
        let is_synced = state.is_some() || session.is_some();
        let additions = self.additions(lock, folder, &change.lines, &mut update.warnings)?;
        let mut outweighed = None;
        if let Some(text) = change.text
            && !old.holds(&text)?
        {
            let occasion = change.occasion;
            let replaced = replace::replace(&self.real_path, folder, lock, old, &text, &additions, occasion)?;
            let Some(Replaced { warnings, outweighing }) = replaced else { return Ok(None) };
            update.warnings.extend(warnings);
            outweighed = Some(outweighing);
            update.written = true;
        }
        // The state before the session: a kill in between keeps memories of an ended episode, instead of
        // losing those of a running one.
        let mut done = update.written;
        match state.map(Staged::publish) {
            Some(Err(failed)) if done => update.warnings.push(failed),
            published => done |= published.transpose()?.is_some(),
        }
        if let Some(session) = session {
            if is_damaged {
                update.warnings.push(self.sidecar.set_session_aside(folder)?);
            }
            session.publish()?;
            done = true;
        }
        match add(lock, folder, &additions, update.written) {
            // Once one of the files has the change, the command has not failed.
            Err(failed) if done => update.warnings.push(failed),
            added => added?,
        }
        if is_synced {
            folder.sync()?;
            self.sidecar.sync_if_made()?;
        }
        update.warnings.extend(match outweighed {
            Some(outweighing) => outweighing.map(|state| self.outweighed_by(state)),
            None => self.outweighed_at(folder, old.size()),
        });
        Ok(Some(update))
    }

    /// The lines as they are to be added to their logs. These are synced and kept small now and then, and where one is
    /// new; then the note is empty.
    fn additions(
        &self,
        lock: &mut Lock,
        folder: &Folder,
        lines: &[NewLines],
        warnings: &mut Vec<StoreError>,
    ) -> Result<Vec<Addition>, StoreError> {
        let size = lock.note_size();
        let is_due = |new: &NewLines| new.log.is_new_or_full(folder);
        if !lines.is_empty() && (size == 0 || size > MAX_NOTE || lines.iter().any(is_due)) {
            let note = lock.note().map_err(failed_lock(folder))?;
            note::sync(folder, &note::parse(&note))?;
            for new in lines {
                match new.log.maintain(folder) {
                    Err(refused) if refused.is_refusal() => return Err(refused),
                    // It shows when the lines are written.
                    _ => {}
                }
            }
            folder.sync()?;
            self.sidecar.sync_if_made()?;
            lock.keep_note(0).map_err(failed_lock(folder))?;
        }
        lines.iter().map(|new| new.log.addition(folder, &new.lines, warnings)).collect()
    }
}

/// Adds lines to their logs. Where they belong to no new text, they are noted and synced here.
fn add(lock: &mut Lock, folder: &Folder, additions: &[Addition], is_noted: bool) -> Result<(), StoreError> {
    if additions.is_empty() {
        return Ok(());
    }
    if !is_noted {
        let noted = lock.leave_note(&note::render(additions, None)).and_then(|()| lock.sync());
        noted.map_err(failed_lock(folder))?;
    }
    additions.iter().try_for_each(|addition| addition.write(folder))?;
    lock.end_group().map_err(failed_lock(folder))
}

/// For `map_err`: the lock file cannot be written.
fn failed_lock(folder: &Folder) -> impl FnOnce(io::Error) -> StoreError {
    let path = folder.path(LOCK);
    move |source| StoreError::Write { action: "write", path, source }
}

/// The right to work off the queue, until it is dropped.
#[derive(Debug)]
pub struct QueueLock {
    _lock: Lock,
}
