//! One writer at a time, in all processes and threads.
//!
//! A sidecar, the name of a lock file and a time limit enter, a held lock leaves. We never delete the lock file,
//! because a lock on a deleted file keeps nobody out. It names its last holder, for messages and for
//! the removal of files that a killed holder left behind. This is the only file that uses `fs2`. It
//! calls its methods through the trait: the standard library's `File` has methods of the same names,
//! which would take precedence.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::at::Access;
use super::error::StoreError;
use super::folder::Folder;
use super::platform;
use super::sidecar::Sidecar;

/// Attempts to lock when another program deletes the lock file while we wait for it.
const MAX_ATTEMPTS: usize = 10;

/// The right to write, until it is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
}

impl Lock {
    /// Takes the lock. Waits for other holders up to the limit, in the order of arrival.
    pub(super) fn acquire(
        sidecar: &Sidecar,
        name: &str,
        limit: Duration,
    ) -> Result<(Lock, Folder), StoreError> {
        for _ in 0..MAX_ATTEMPTS {
            let folder = sidecar.create()?;
            // NFS cannot lock a file that was opened for reading only.
            let file = folder.write(name, Access::ReadWrite)?;
            let holder = || folder.read(name).ok().flatten().and_then(|mut file| parse_holder(&mut file));
            let lock = Lock { file: wait_for(file, folder.path(name), limit, holder)? };
            if lock.is_on(sidecar, name) {
                return Ok((lock, folder));
            }
        }
        Err(StoreError::Locked { path: sidecar.folder().join(name), holder: None, waited: limit })
    }

    /// Takes the lock of a file outside the sidecar, and makes it where it is missing.
    pub(super) fn acquire_at(path: &Path, limit: Duration) -> Result<Lock, StoreError> {
        let file = platform::open_private(path).map_err(StoreError::write("open", path))?;
        Ok(Lock { file: wait_for(file, path.to_owned(), limit, || None)? })
    }

    /// The process that held the lock before us, where the file names one.
    pub(super) fn last_holder(&mut self) -> Option<u32> {
        parse_holder(&mut self.file)
    }

    /// Names this process as the holder, in one write of fixed width, so that no reader sees half a number.
    pub(super) fn sign(&mut self) -> io::Result<()> {
        let signature = format!("{:<10}\n", std::process::id());
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(signature.as_bytes())
    }

    /// True if the lock file has not been replaced or removed meanwhile, nor its folder.
    fn is_on(&self, sidecar: &Sidecar, name: &str) -> bool {
        let Ok(Some(folder)) = sidecar.open() else { return false };
        match (self.file.metadata(), folder.facts(name)) {
            (Ok(held), Ok(Some(present))) => platform::identity(&held) == present.identity,
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

fn parse_holder(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.seek(SeekFrom::Start(0)).ok()?;
    file.take(64).read_to_string(&mut text).ok()?;
    text.lines().next()?.trim().parse().ok()
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
        assert!(held.is_on(&sidecar, NAME));
        fs::remove_file(sidecar.folder().join(NAME)).unwrap();
        assert!(!held.is_on(&sidecar, NAME));
        let other = acquire(&sidecar, Duration::ZERO).unwrap();
        assert!(other.is_on(&sidecar, NAME) && !held.is_on(&sidecar, NAME));
        fs::remove_dir_all(sidecar.folder()).unwrap();
        assert!(!other.is_on(&sidecar, NAME));
        assert!(acquire(&sidecar, Duration::ZERO).unwrap().is_on(&sidecar, NAME));
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
            assert_eq!(acquire(&sidecar, Duration::ZERO).unwrap().last_holder(), holder, "{text:?}");
        }
    }
}
