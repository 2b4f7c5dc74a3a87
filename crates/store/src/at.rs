//! An open folder, whose files are named relative to it and never reached through a symbolic link.
//!
//! A path enters, an open [`Handle`] leaves; from then on, nobody can put another folder or a link in its place.
//! Where a system has no such calls, names are joined to the path, and a link is refused before it is opened.

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

#[cfg(not(unix))]
pub(super) use elsewhere::{caller, facts_of, give, make_folder, make_private, number_of_names, owner_of};
#[cfg(unix)]
pub(super) use unix::{caller, facts_of, give, make_folder, make_private, number_of_names, owner_of};

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// It must be there.
    Read,
    /// For reading and writing; made where it is missing.
    ReadWrite,
    /// For reading, and for writing at its end; made where it is missing.
    Append,
    /// For writing; it must not be there.
    Create,
}

/// The user and the group to whom a file or folder belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) user: u32,
    pub(super) group: u32,
}

/// The facts about a name that need no open file. A link is described itself, not its target.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facts {
    pub(super) is_file: bool,
    pub(super) is_link: bool,
    /// Device and inode.
    pub(super) identity: Option<(u64, u64)>,
    /// `None` where files have no owner.
    pub(super) owner: Option<Owner>,
    /// Size in bytes.
    pub(super) size: u64,
}

/// An open folder.
#[derive(Debug)]
pub(super) struct Handle {
    #[cfg(unix)]
    file: File,
    pub(super) path: PathBuf,
}

#[cfg(unix)]
mod unix {
    use std::os::unix::ffi::OsStringExt;
    use std::os::unix::fs::MetadataExt;
    use std::sync::OnceLock;

    use rustix::fd::AsFd;
    use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};
    use rustix::io::{Errno, retry_on_intr};

    use crate::at::*;
    use crate::platform;

    impl Handle {
        /// Opens the folder at a path whose last part must be no link.
        pub fn open(path: &Path) -> io::Result<Handle> {
            let file = open(CWD, path, OFlags::RDONLY | OFlags::DIRECTORY)?;
            Ok(Handle { file, path: path.to_owned() })
        }

        /// Opens a folder within this one.
        pub fn folder(&self, name: &Path) -> io::Result<Handle> {
            let file = open(&self.file, name, OFlags::RDONLY | OFlags::DIRECTORY)?;
            Ok(Handle { file, path: self.path.join(name) })
        }

        /// Opens a file. A pipe is opened without waiting for its other end.
        pub fn file(&self, name: &Path, access: Access) -> io::Result<File> {
            let flags = match access {
                Access::Read => OFlags::RDONLY,
                Access::ReadWrite => OFlags::RDWR | OFlags::CREATE,
                Access::Append => OFlags::RDWR | OFlags::APPEND | OFlags::CREATE,
                Access::Create => OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL,
            };
            open(&self.file, name, flags | OFlags::NONBLOCK | OFlags::NOCTTY)
        }

        /// Makes a folder that its owner alone may enter.
        pub fn make_folder(&self, name: &Path) -> io::Result<()> {
            Ok(retry_on_intr(|| rustix::fs::mkdirat(&self.file, name, Mode::RWXU))?)
        }

        pub fn facts(&self, name: &Path) -> io::Result<Facts> {
            facts(&self.file, name)
        }

        pub fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
            Ok(retry_on_intr(|| rustix::fs::renameat(&self.file, from, &self.file, to))?)
        }

        pub fn remove(&self, name: &Path) -> io::Result<()> {
            Ok(retry_on_intr(|| rustix::fs::unlinkat(&self.file, name, AtFlags::empty()))?)
        }

        /// Gives a file elsewhere a further name in this folder.
        pub fn link(&self, file: &Path, name: &Path) -> io::Result<()> {
            Ok(retry_on_intr(|| rustix::fs::linkat(CWD, file, &self.file, name, AtFlags::empty()))?)
        }

        /// Gives a file in this folder a further name elsewhere.
        pub fn link_out(&self, name: &Path, path: &Path) -> io::Result<()> {
            Ok(retry_on_intr(|| rustix::fs::linkat(&self.file, name, CWD, path, AtFlags::empty()))?)
        }

        pub fn names(&self) -> io::Result<Vec<OsString>> {
            let mut names = Vec::new();
            for entry in retry_on_intr(|| Dir::read_from(&self.file))? {
                let name = entry?.file_name().to_bytes().to_vec();
                if name != b"." && name != b".." {
                    names.push(OsString::from_vec(name));
                }
            }
            Ok(names)
        }

        /// Makes the names in the folder survive a power cut.
        pub fn sync(&self) -> io::Result<()> {
            platform::sync_open_folder(&self.file)
        }

        /// Metadata of the folder itself; `None` where only its path is known.
        pub fn metadata(&self) -> io::Result<Option<Metadata>> {
            self.file.metadata().map(Some)
        }

        /// Gives the folder to another user.
        pub fn give(&self, to: Owner) -> io::Result<()> {
            give(&self.file, to)
        }

        /// Takes the rights of group and others away from the folder. Returns `true` if there were any.
        pub fn make_private(&self) -> io::Result<bool> {
            make_private(&self.file, &self.file.metadata()?)
        }
    }

    fn open(folder: impl AsFd, name: &Path, flags: OFlags) -> io::Result<File> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(retry_on_intr(|| {
            rustix::fs::openat(folder.as_fd(), name, flags, Mode::RUSR | Mode::WUSR)
        })?))
    }

    /// The facts about a path.
    pub fn facts_of(path: &Path) -> io::Result<Facts> {
        facts(CWD, path)
    }

    /// Makes a folder that its owner alone may enter.
    pub fn make_folder(path: &Path) -> io::Result<()> {
        Ok(retry_on_intr(|| rustix::fs::mkdirat(CWD, path, Mode::RWXU))?)
    }

    #[allow(clippy::unnecessary_cast, reason = "the types differ from system to system")]
    fn facts(folder: impl AsFd, name: &Path) -> io::Result<Facts> {
        let stat = retry_on_intr(|| rustix::fs::statat(folder.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW))?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        Ok(Facts {
            is_file: kind == FileType::RegularFile,
            is_link: kind == FileType::Symlink,
            identity: Some((stat.st_dev as u64, stat.st_ino as u64)),
            owner: Some(Owner { user: stat.st_uid, group: stat.st_gid }),
            size: stat.st_size as u64,
        })
    }

    /// The user as whom this process acts.
    pub fn caller() -> Option<u32> {
        static CALLER: OnceLock<u32> = OnceLock::new();
        Some(*CALLER.get_or_init(|| rustix::process::geteuid().as_raw()))
    }

    /// To whom a file or folder belongs.
    pub fn owner_of(metadata: &Metadata) -> Option<Owner> {
        Some(Owner { user: metadata.uid(), group: metadata.gid() })
    }

    /// Gives a file to another user.
    pub fn give(file: &File, to: Owner) -> io::Result<()> {
        std::os::unix::fs::fchown(file, Some(to.user), Some(to.group))
    }

    pub fn number_of_names(metadata: &Metadata) -> u64 {
        metadata.nlink()
    }

    /// Takes the rights of group and others away from a file. Returns `true` if there were any.
    pub fn make_private(file: &File, metadata: &Metadata) -> io::Result<bool> {
        let is_shared = metadata.mode() & 0o077 != 0;
        if is_shared {
            let mode = Mode::from_bits_truncate((metadata.mode() & 0o7700) as _);
            match retry_on_intr(|| rustix::fs::fchmod(file, mode)) {
                // File systems without rights of their own, such as FAT, refuse it.
                Err(Errno::PERM | Errno::ACCESS | Errno::INVAL | Errno::OPNOTSUPP | Errno::NOSYS) => {
                    return Ok(false);
                }
                changed => changed?,
            }
        }
        Ok(is_shared)
    }
}

#[cfg(not(unix))]
mod elsewhere {
    use std::fs::{self, OpenOptions};

    use crate::at::*;
    use crate::platform;

    impl Handle {
        pub fn open(path: &Path) -> io::Result<Handle> {
            match fs::symlink_metadata(path)?.is_dir() {
                true => Ok(Handle { path: path.to_owned() }),
                false => Err(io::ErrorKind::NotADirectory.into()),
            }
        }

        pub fn folder(&self, name: &Path) -> io::Result<Handle> {
            Handle::open(&self.path.join(name))
        }

        pub fn file(&self, name: &Path, access: Access) -> io::Result<File> {
            let path = self.path.join(name);
            if fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_symlink()) {
                return Err(io::ErrorKind::PermissionDenied.into());
            }
            let mut options = OpenOptions::new();
            match access {
                Access::Read => options.read(true),
                Access::ReadWrite => options.read(true).write(true).create(true).truncate(false),
                Access::Append => options.read(true).append(true).create(true),
                Access::Create => options.write(true).create_new(true),
            };
            options.open(path)
        }

        pub fn make_folder(&self, name: &Path) -> io::Result<()> {
            fs::create_dir(self.path.join(name))
        }

        pub fn facts(&self, name: &Path) -> io::Result<Facts> {
            facts_of(&self.path.join(name))
        }

        pub fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
            platform::rename(&self.path.join(from), &self.path.join(to))
        }

        pub fn remove(&self, name: &Path) -> io::Result<()> {
            fs::remove_file(self.path.join(name))
        }

        pub fn link(&self, file: &Path, name: &Path) -> io::Result<()> {
            fs::hard_link(file, self.path.join(name))
        }

        pub fn link_out(&self, name: &Path, path: &Path) -> io::Result<()> {
            fs::hard_link(self.path.join(name), path)
        }

        pub fn names(&self) -> io::Result<Vec<OsString>> {
            fs::read_dir(&self.path)?.map(|entry| Ok(entry?.file_name())).collect()
        }

        pub fn sync(&self) -> io::Result<()> {
            Ok(())
        }

        pub fn metadata(&self) -> io::Result<Option<Metadata>> {
            Ok(None)
        }

        pub fn give(&self, _: Owner) -> io::Result<()> {
            Ok(())
        }

        pub fn make_private(&self) -> io::Result<bool> {
            Ok(false)
        }
    }

    pub fn facts_of(path: &Path) -> io::Result<Facts> {
        let metadata = fs::symlink_metadata(path)?;
        let (is_file, is_link) = (metadata.is_file(), metadata.is_symlink());
        Ok(Facts { is_file, is_link, identity: None, owner: None, size: metadata.len() })
    }

    pub fn make_folder(path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    pub fn caller() -> Option<u32> {
        None
    }

    pub fn owner_of(_: &Metadata) -> Option<Owner> {
        None
    }

    pub fn give(_: &File, _: Owner) -> io::Result<()> {
        Ok(())
    }

    pub fn number_of_names(_: &Metadata) -> u64 {
        1
    }

    pub fn make_private(_: &File, _: &Metadata) -> io::Result<bool> {
        Ok(false)
    }
}
