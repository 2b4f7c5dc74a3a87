//! Differences between operating systems: identity, mode and owner of files, and error numbers.
//!
//! Metadata, open files and `io::Error`s enter; plain values leave. Code elsewhere in the store has no
//! `cfg(unix)`. Where a system lacks one of these notions, the function returns a safe default.

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

/// True if both are one file on disk. Never true where files have no identity.
pub(super) fn is_same_file(one: &File, other: &File) -> bool {
    let [one, other] = [one, other].map(|file| file.metadata().ok().as_ref().and_then(identity));
    one.is_some() && one == other
}

/// Device and inode.
#[cfg(unix)]
pub(super) fn identity(metadata: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

/// Device and inode.
#[cfg(not(unix))]
pub(super) fn identity(_: &Metadata) -> Option<(u64, u64)> {
    None
}

/// Inode; 0 where files have none.
pub(super) fn inode(metadata: &Metadata) -> u64 {
    identity(metadata).map_or(0, |(_, inode)| inode)
}

/// The time of the last change of a file or of its name, owner or mode, in milliseconds since 1970. No program sets it.
#[cfg(unix)]
pub fn changed_at(metadata: &Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let milliseconds =
        metadata.ctime().saturating_mul(1000).saturating_add(metadata.ctime_nsec() / 1_000_000);
    u64::try_from(milliseconds).unwrap_or(0)
}

/// The time of the last change of a file, in milliseconds since 1970.
#[cfg(not(unix))]
pub fn changed_at(metadata: &Metadata) -> u64 {
    let since = metadata.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    since.and_then(|since| u64::try_from(since.as_millis()).ok()).unwrap_or(0)
}

/// False where the system does not replace a file that is open.
pub(super) const REPLACES_OPEN_FILES: bool = cfg!(unix);

/// Renames a file, also in the place of another.
#[cfg(unix)]
pub(super) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::rename(from, to)
}

/// Renames a file, also in the place of another. That one is not replaced while another program has it open, so readers
/// get a while to end.
#[cfg(not(unix))]
pub(super) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    use std::time::Duration;
    /// Two seconds together.
    const TRIES: u32 = 400;
    const PAUSE: Duration = Duration::from_millis(5);
    // Access denied, a violation of sharing, a violation of a lock.
    const IN_USE: [i32; 3] = [5, 32, 33];
    let is_in_use = |error: &io::Error| error.raw_os_error().is_some_and(|code| IN_USE.contains(&code));
    for _ in 1..TRIES {
        match std::fs::rename(from, to) {
            Err(error) if is_in_use(&error) => std::thread::sleep(PAUSE),
            renamed => return renamed,
        }
    }
    std::fs::rename(from, to)
}

/// Lets two paths in one folder exchange their files in one step. Returns `false` where that is not possible: then
/// nothing has happened.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
pub(super) fn exchange(one: &Path, other: &Path) -> io::Result<bool> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::retry_on_intr;
    match retry_on_intr(|| renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE))
        .map_err(io::Error::from)
    {
        // A sandbox that does not know the call refuses it.
        Err(error) if is_unsupported(&error) || error.kind() == io::ErrorKind::PermissionDenied => Ok(false),
        exchanged => exchanged.map(|()| true),
    }
}

/// No such call here.
#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
pub(super) fn exchange(_: &Path, _: &Path) -> io::Result<bool> {
    Ok(false)
}

/// Names the kind of a path that is no file.
pub(super) fn describe_special(metadata: &Metadata) -> &'static str {
    let file_type = metadata.file_type();
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if file_type.is_fifo() {
            return "a pipe";
        }
        if file_type.is_socket() {
            return "a socket";
        }
    }
    if file_type.is_dir() { "a folder" } else { "a device" }
}

/// Creates a file that must not exist yet. A `private` one can be read by its owner only, until it gets
/// the mode of the file that it replaces; any other has the default mode.
pub(super) fn create_exclusively(path: &Path, private: bool) -> io::Result<File> {
    let mut options = if private { private_files() } else { OpenOptions::new() };
    options.write(true).create_new(true).open(path)
}

/// Opens a file for reading and writing, and makes it where it is missing, for its owner alone.
pub(super) fn open_private(path: &Path) -> io::Result<File> {
    private_files().read(true).create(true).truncate(false).open(path)
}

/// Opens files for writing; one that is made can be read by its owner only.
fn private_files() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options
}

/// Makes folders that only their owner can enter.
pub(super) fn private_folders() -> DirBuilder {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "folders have no mode there"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder
}

/// Lets everybody run a file who may read it. Where files have no such mode, all can be run.
pub(super) fn make_executable(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let present = std::fs::metadata(path)?.permissions().mode();
        let wanted = present | (present & 0o444) >> 2;
        if wanted != present {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(wanted))?;
        }
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// Gives the file the user of another.
pub(super) fn copy_user(file: &File, model: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        if file.metadata()?.uid() != model.uid() {
            fchown(file, Some(model.uid()), None)?;
        }
    }
    #[cfg(not(unix))]
    let _ = (file, model);
    Ok(())
}

/// Gives the file the group of another.
pub(super) fn copy_group(file: &File, model: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        if file.metadata()?.gid() != model.gid() {
            fchown(file, None, Some(model.gid()))?;
        }
    }
    #[cfg(not(unix))]
    let _ = (file, model);
    Ok(())
}

/// The rights of a mode that a file gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rights {
    All,
    /// The group is another one: it may do no more than all users may.
    GroupAsOthers,
    /// Nobody but the owner gets any.
    OwnerOnly,
}

/// Gives the file the mode of another, or a part of it, unless it has that already.
pub(super) fn copy_mode(file: &File, model: &Metadata, rights: Rights) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = model.permissions().mode() & 0o7777;
        let wanted = match rights {
            Rights::All => mode,
            Rights::GroupAsOthers => mode & 0o707 | mode & 0o070 & (mode & 0o007) << 3,
            Rights::OwnerOnly => mode & 0o700,
        };
        if file.metadata()?.permissions().mode() & 0o7777 != wanted {
            file.set_permissions(std::fs::Permissions::from_mode(wanted))?;
        }
        Ok(())
    }
    #[cfg(not(unix))]
    {
        let _ = rights;
        file.set_permissions(model.permissions())
    }
}

/// Makes the names in a folder survive a power cut. File systems that cannot sync a folder return
/// EINVAL, which counts as success.
#[cfg(unix)]
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    sync_open_folder(&File::open(folder)?)
}

/// Syncs a folder that is open.
#[cfg(unix)]
pub(super) fn sync_open_folder(folder: &File) -> io::Result<()> {
    match folder.sync_all() {
        Err(error) if is_unsupported(&error) => Ok(()),
        result => result,
    }
}

/// True if the file system lacks an operation, for which some return EINVAL.
#[cfg(unix)]
fn is_unsupported(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput)
}

/// Folders cannot be synced here.
#[cfg(not(unix))]
pub(super) fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// True if there may be a process of that id. Where nobody can say so, there may be.
#[cfg(unix)]
pub(super) fn is_running(process: u32) -> bool {
    use rustix::io::Errno;
    use rustix::process::{Pid, test_kill_process};
    let process = i32::try_from(process).ok().and_then(Pid::from_raw);
    process.is_some_and(|process| test_kill_process(process) != Err(Errno::SRCH))
}

/// Nobody can say so here.
#[cfg(not(unix))]
pub(super) fn is_running(_: u32) -> bool {
    true
}

/// True if the file system has no locks, as some network file systems.
pub(super) fn is_lock_unsupported(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Unsupported || error.raw_os_error() == Some(ENOLCK)
}

/// True if following the path's symbolic links never ends.
pub(super) fn is_symlink_loop(error: &io::Error) -> bool {
    error.raw_os_error() == Some(ELOOP)
}

#[cfg(any(target_os = "linux", target_os = "android"))]
const ENOLCK: i32 = 37;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const ENOLCK: i32 = 77;

#[cfg(any(target_os = "linux", target_os = "android"))]
const ELOOP: i32 = 40;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const ELOOP: i32 = 62;
