//! One writer at a time, in all processes and threads.
//!
//! The path of a lock file and a time limit enter, a held lock leaves. We never delete the lock file,
//! because a lock on a deleted file keeps nobody out. It names its last holder, for messages and for
//! the removal of files that a killed holder left behind. This is the only file that uses `fs2`. It
//! calls its methods through the trait: the standard library's `File` has methods of the same names,
//! which would take precedence.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::error::StoreError;
use super::platform;

/// Attempts to lock when another program deletes the lock file while we wait for it.
const MAX_ATTEMPTS: usize = 10;

/// The right to write, until it is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
}

impl Lock {
    /// Takes the lock. Waits for other holders up to the limit, in the order of arrival.
    pub(super) fn acquire(path: &Path, limit: Duration) -> Result<Lock, StoreError> {
        for _ in 0..MAX_ATTEMPTS {
            let lock = Lock { file: wait_for(open(path)?, path, limit)? };
            if lock.is_on(path) {
                return Ok(lock);
            }
        }
        Err(StoreError::Locked { path: path.to_owned(), holder: None, waited: limit })
    }

    /// The process that held the lock before us, where the file names one.
    pub(super) fn last_holder(&mut self) -> Option<u32> {
        parse_holder(&mut self.file)
    }

    /// Names this process as the holder, in one write of fixed width, so that no reader sees half a number.
    pub(super) fn sign(&mut self, path: &Path) -> Result<(), StoreError> {
        let signature = format!("{:<10}\n", std::process::id());
        let written =
            self.file.seek(SeekFrom::Start(0)).and_then(|_| self.file.write_all(signature.as_bytes()));
        written.map_err(StoreError::write("write", path))
    }

    fn is_on(&self, path: &Path) -> bool {
        match (self.file.metadata(), fs::metadata(path)) {
            (Ok(held), Ok(present)) => {
                platform::identity(&held).is_none() || platform::is_same_file(&held, &present)
            }
            _ => false,
        }
    }
}

impl Drop for Lock {
    /// Unlocks explicitly, because a child process that is just being started may still hold a copy of
    /// the file descriptor.
    fn drop(&mut self) {
        let _ = fs2::FileExt::unlock(&self.file);
    }
}

/// Opens the lock file for reading and writing: NFS cannot lock a file that was opened for reading only.
fn open(path: &Path) -> Result<File, StoreError> {
    let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
    let file = opened.map_err(StoreError::write("open the lock", path))?;
    match file.metadata() {
        Ok(metadata) if metadata.is_file() => Ok(file),
        Ok(metadata) => {
            let what = platform::describe_special(&metadata);
            Err(StoreError::NotAFile { path: path.to_owned(), what })
        }
        Err(source) => Err(StoreError::Read { path: path.to_owned(), source }),
    }
}

fn wait_for(file: File, path: &Path, limit: Duration) -> Result<File, StoreError> {
    match uninterrupted(|| fs2::FileExt::try_lock_exclusive(&file)) {
        Ok(()) => return Ok(file),
        Err(error) if is_contended(&error) => {}
        Err(error) => return Err(refusal(error, path)),
    }
    let locked = || StoreError::Locked { path: path.to_owned(), holder: read_holder(path), waited: limit };
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
    waiter.map_err(StoreError::write("wait for", path))?;
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

fn refusal(source: io::Error, path: &Path) -> StoreError {
    let path = path.to_owned();
    if platform::is_lock_unsupported(&source) {
        StoreError::NoLocks { path, source }
    } else {
        StoreError::Write { action: "lock", path, source }
    }
}

fn read_holder(path: &Path) -> Option<u32> {
    parse_holder(&mut File::open(path).ok()?)
}

fn parse_holder(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.seek(SeekFrom::Start(0)).ok()?;
    file.take(64).read_to_string(&mut text).ok()?;
    text.lines().next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_whose_file_was_deleted_keeps_nobody_out_and_is_not_taken_for_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = Lock::acquire(&path, Duration::ZERO).unwrap();
        assert!(held.is_on(&path));
        fs::remove_file(&path).unwrap();
        assert!(!held.is_on(&path));
        let other = Lock::acquire(&path, Duration::ZERO).unwrap();
        assert!(other.is_on(&path) && !held.is_on(&path));
    }

    #[test]
    fn a_waiter_that_gave_up_does_not_keep_the_lock_later() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = Lock::acquire(&path, Duration::ZERO).unwrap();
        for _ in 0..5 {
            let given_up = Lock::acquire(&path, Duration::from_millis(5));
            assert!(matches!(given_up, Err(StoreError::Locked { .. })));
        }
        drop(held);
        Lock::acquire(&path, Duration::from_secs(10)).unwrap();
    }

    #[test]
    fn a_holder_is_read_from_the_first_line_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        for (text, holder) in
            [("", None), ("12  \n", Some(12)), ("../x\n", None), ("7\n8\n", Some(7)), ("-1", None)]
        {
            fs::write(&path, text).unwrap();
            assert_eq!(read_holder(&path), holder, "{text:?}");
        }
    }
}
