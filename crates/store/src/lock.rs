//! One writer at a time, in all processes and threads.
//!
//! A sidecar, the name of a lock file and a time limit enter, a held lock leaves. We never delete the lock file,
//! because a lock on a deleted file stops no other writer. It names its last holder, for messages and for
//! files that a killed holder left behind, and the text that was written last. This is the only file that
//! uses `fs2`. It calls its methods through the trait: the standard library's `File` has methods of the
//! same names, which would take precedence.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use crate::at::Access;
use crate::error::StoreError;
use crate::folder::Folder;
use crate::note::{DONE, END_SIZE, WAITS};
use crate::platform;
use crate::sidecar::Sidecar;

/// Attempts to lock when another program deletes the lock file while we wait for it.
const MAX_ATTEMPTS: usize = 10;

/// Size in bytes of the two lines of a [`Signature`], which are always written together.
const SIGNATURE_SIZE: u64 = 11 + 42;

/// The right to write, until it is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
    /// Size up to which the note behind the signature stays.
    kept: u64,
}

/// The first lines of a lock file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Signature {
    /// The process that holds the lock, or held it last; `None` where the file names none.
    pub(super) holder: Option<u32>,
    /// The text that a writer put in place last, or was about to; `None` where none is known.
    pub(super) written: Option<Written>,
}

impl Signature {
    /// The text as a holder signs it that has put no file in place yet.
    pub(super) fn not_yet_written(self) -> Option<Written> {
        self.written.map(|written| Written { inode: 0, ..written })
    }
}

/// A text of a memory file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Written {
    /// Inode of its file; 0 where the last holder has not got so far, or files have none.
    pub(super) inode: u64,
    /// Size in bytes.
    pub(super) size: u64,
}

impl Lock {
    /// Takes the lock. Waits for other holders up to the limit, in the order of arrival.
    pub(super) fn acquire(
        sidecar: &Sidecar,
        name: &str,
        limit: Duration,
    ) -> Result<(Lock, Arc<Folder>), StoreError> {
        for _ in 0..MAX_ATTEMPTS {
            let folder = sidecar.create()?;
            // NFS cannot lock a file that was opened for reading only.
            let file = folder.write(name, Access::ReadWrite)?;
            let holder = || folder.read(name).ok().flatten().and_then(|mut file| parse(&mut file).holder);
            let file = wait_for(file, folder.path(name), limit, holder)?;
            let lock = Lock::on(file);
            if lock.is_on(sidecar, name)? {
                return Ok((lock, folder));
            }
        }
        Err(StoreError::Locked { path: sidecar.folder().join(name), holder: None, waited: limit })
    }

    /// Takes the lock of a file outside the sidecar, and makes it where it is missing.
    pub(super) fn acquire_at(path: &Path, limit: Duration) -> Result<Lock, StoreError> {
        let file = platform::open_private(path).map_err(StoreError::write("open", path))?;
        Ok(Lock::on(wait_for(file, path.to_owned(), limit, || None)?))
    }

    fn on(file: File) -> Lock {
        Lock { file, kept: SIGNATURE_SIZE }
    }

    /// The signature of the process that held the lock before us.
    pub(super) fn signature(&mut self) -> Signature {
        parse(&mut self.file)
    }

    /// The note behind the signature.
    pub(super) fn note(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.file.seek(SeekFrom::Start(SIGNATURE_SIZE))?;
        self.file.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Keeps that many bytes of the note and removes the others.
    pub(super) fn keep_note(&mut self, size: u64) -> io::Result<()> {
        self.kept = SIGNATURE_SIZE + size;
        self.drop_group()
    }

    /// Size of the note in bytes, without a group that waits.
    pub(super) fn note_size(&self) -> u64 {
        self.kept - SIGNATURE_SIZE
    }

    /// Notes a group for the next holder, in case this one is cut off.
    pub(super) fn leave_note(&mut self, group: &[u8]) -> io::Result<()> {
        self.drop_group()?;
        self.file.seek(SeekFrom::Start(self.kept))?;
        self.file.write_all(group)
    }

    /// The lines of the last group are in their logs.
    pub(super) fn end_group(&mut self) -> io::Result<()> {
        let end = self.file.seek(SeekFrom::End(0))?;
        self.file.seek(SeekFrom::Start(end.saturating_sub(END_SIZE)))?;
        self.file.write_all(DONE.as_bytes())?;
        self.kept = end;
        Ok(())
    }

    /// Removes a group that waits.
    pub(super) fn drop_group(&mut self) -> io::Result<()> {
        if self.file.metadata()?.len() > self.kept { self.file.set_len(self.kept) } else { Ok(()) }
    }

    /// Makes note and signature survive a power cut.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// Names this process as the holder, in one write of fixed width, so that no reader sees half a number.
    /// A note behind it stays.
    pub(super) fn sign(&mut self, written: Option<Written>) -> io::Result<()> {
        let written = written.map(|written| [written.inode, written.size].map(|number| number.to_string()));
        let [inode, size] = written.unwrap_or_default();
        let signature = format!("{:<10}\n{inode:<20} {size:<20}\n", std::process::id());
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(signature.as_bytes())
    }

    /// True if the lock file has not been replaced or removed meanwhile, nor its folder.
    fn is_on(&self, sidecar: &Sidecar, name: &str) -> Result<bool, StoreError> {
        let Some(folder) = sidecar.open()? else { return Ok(false) };
        let path = folder.path(name);
        let held = self.file.metadata().map_err(StoreError::read(&path))?;
        let present = folder.facts(name).map_err(StoreError::read(&path))?;
        Ok(present.is_some_and(|present| platform::identity(&held) == present.identity))
    }
}

impl Drop for Lock {
    /// Unlocks explicitly, because a child process that is just being started may still hold a copy of
    /// the file descriptor.
    fn drop(&mut self) {
        let _ = fs2::FileExt::unlock(&self.file);
    }
}

fn wait_for(
    file: File,
    path: PathBuf,
    limit: Duration,
    holder: impl Fn() -> Option<u32>,
) -> Result<File, StoreError> {
    match uninterrupted(|| fs2::FileExt::try_lock_exclusive(&file)) {
        Ok(()) => return Ok(file),
        Err(error) if is_contended(&error) => {}
        Err(error) => return Err(refusal(error, path)),
    }
    let locked = || StoreError::Locked { path: path.clone(), holder: holder(), waited: limit };
    if limit.is_zero() {
        return Err(locked());
    }
    // The kernel's queue is fair, but waiting in it has no time limit, so a thread waits. If we have given
    // up by the time it gets the lock, the file is dropped with the channel and the lock with the file.
    let (sender, receiver) = mpsc::sync_channel(1);
    let waiter = thread::Builder::new().name("lock".to_owned()).spawn(move || {
        let result = uninterrupted(|| fs2::FileExt::lock_exclusive(&file));
        let _ = sender.send(result.map(|()| file));
    });
    waiter.map_err(StoreError::write("wait for", &path))?;
    match receiver.recv_timeout(limit) {
        Ok(Ok(file)) => Ok(file),
        Ok(Err(error)) => Err(refusal(error, path)),
        Err(_) => Err(locked()),
    }
}

fn uninterrupted(mut lock: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    loop {
        match lock() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

fn is_contended(error: &io::Error) -> bool {
    error.raw_os_error() == fs2::lock_contended_error().raw_os_error()
}

fn refusal(source: io::Error, path: PathBuf) -> StoreError {
    if platform::is_lock_unsupported(&source) {
        StoreError::NoLocks { path, source }
    } else {
        StoreError::Write { action: "lock", path, source }
    }
}

/// True if a lock file of this size has a note.
pub(super) fn has_note(size: u64) -> bool {
    size > SIGNATURE_SIZE
}

/// True if a lock file ends with a group that waits.
pub(super) fn has_waiting_group(file: &mut File) -> bool {
    let mut state = [0; WAITS.len()];
    let read = file.seek(SeekFrom::End(-(END_SIZE as i64))).and_then(|_| file.read_exact(&mut state));
    read.is_ok() && state == *WAITS.as_bytes()
}

fn parse(file: &mut File) -> Signature {
    let mut text = String::with_capacity(SIGNATURE_SIZE as usize);
    let read =
        file.seek(SeekFrom::Start(0)).and_then(|_| file.take(SIGNATURE_SIZE).read_to_string(&mut text));
    let mut lines = read.map_or("", |_| text.as_str()).lines();
    let holder = lines.next().and_then(|line| line.trim().parse().ok());
    let mut numbers = lines.next().unwrap_or_default().split_whitespace().map(|number| number.parse().ok());
    let numbers = numbers.next().flatten().zip(numbers.next().flatten());
    Signature { holder, written: numbers.map(|(inode, size)| Written { inode, size }) }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const NAME: &str = "lock";

    fn sidecar() -> (tempfile::TempDir, Sidecar) {
        let folder = tempfile::tempdir().unwrap();
        let sidecar = Sidecar::of(&folder.path().join("Memories.md"));
        (folder, sidecar)
    }

    fn acquire(sidecar: &Sidecar, limit: Duration) -> Result<Lock, StoreError> {
        Lock::acquire(sidecar, NAME, limit).map(|(lock, _)| lock)
    }

    #[test]
    fn a_lock_whose_file_was_deleted_keeps_nobody_out_and_is_not_taken_for_one() {
        let (_folder, sidecar) = sidecar();
        let held = acquire(&sidecar, Duration::ZERO).unwrap();
        assert!(held.is_on(&sidecar, NAME).unwrap());
        fs::remove_file(sidecar.folder().join(NAME)).unwrap();
        assert!(!held.is_on(&sidecar, NAME).unwrap());
        let other = acquire(&sidecar, Duration::ZERO).unwrap();
        assert!(other.is_on(&sidecar, NAME).unwrap() && !held.is_on(&sidecar, NAME).unwrap());
        fs::remove_dir_all(sidecar.folder()).unwrap();
        assert!(!other.is_on(&sidecar, NAME).unwrap());
        assert!(acquire(&sidecar, Duration::ZERO).unwrap().is_on(&sidecar, NAME).unwrap());
    }

    #[test]
    fn a_waiter_that_gave_up_does_not_keep_the_lock_later() {
        let (_folder, sidecar) = sidecar();
        let held = acquire(&sidecar, Duration::ZERO).unwrap();
        for _ in 0..5 {
            let given_up = acquire(&sidecar, Duration::from_millis(5));
            assert!(matches!(given_up, Err(StoreError::Locked { .. })));
        }
        drop(held);
        acquire(&sidecar, Duration::from_secs(10)).unwrap();
    }

    #[test]
    fn a_holder_is_read_from_the_first_line_alone() {
        let (_folder, sidecar) = sidecar();
        drop(acquire(&sidecar, Duration::ZERO).unwrap());
        for (text, holder) in
            [("", None), ("12  \n", Some(12)), ("../x\n", None), ("7\n8\n", Some(7)), ("-1", None)]
        {
            fs::write(sidecar.folder().join(NAME), text).unwrap();
            let signature = acquire(&sidecar, Duration::ZERO).unwrap().signature();
            assert_eq!(signature, Signature { holder, written: None }, "{text:?}");
        }
    }

    #[test]
    fn a_group_waits_until_it_is_ended_and_stays_until_it_is_dropped() {
        let (_folder, sidecar) = sidecar();
        let written = Some(Written { inode: 7, size: 1 << 40 });
        let mut lock = acquire(&sidecar, Duration::ZERO).unwrap();
        lock.sign(written).unwrap();
        let group = |text: &str, state: &str| format!("{text}\n{state}{:38}\n", "").into_bytes();
        for text in ["first", "other"] {
            lock.leave_note(&group("a long one that is dropped", WAITS)).unwrap();
            lock.leave_note(&group(text, WAITS)).unwrap();
            assert!(has_waiting_group(&mut lock.file));
            lock.end_group().unwrap();
            assert!(!has_waiting_group(&mut lock.file));
        }
        drop(lock);
        let mut next = acquire(&sidecar, Duration::ZERO).unwrap();
        let [first, other] = ["first", "other"].map(|text| group(text, DONE));
        assert_eq!(next.note().unwrap(), [&first[..], &other].concat());
        assert_eq!(next.signature(), Signature { holder: Some(std::process::id()), written });
        next.keep_note(first.len() as u64).unwrap();
        assert_eq!((next.note().unwrap(), next.note_size()), (first.clone(), first.len() as u64));
    }

    #[test]
    fn a_signature_is_read_as_it_was_written() {
        let (_folder, sidecar) = sidecar();
        let mut lock = acquire(&sidecar, Duration::ZERO).unwrap();
        for written in
            [None, Some(Written { inode: u64::MAX, size: u64::MAX }), Some(Written { inode: 0, size: 7 })]
        {
            lock.sign(written).unwrap();
            assert_eq!(lock.signature(), Signature { holder: Some(std::process::id()), written });
        }
    }
}
