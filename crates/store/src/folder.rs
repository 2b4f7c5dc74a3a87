//! A folder that belongs to the caller, with the files in it that do.
//!
//! A path enters; an open [`Folder`] leaves, or the reason why it is refused: a link, or another user's. Its files
//! are opened by name and refused if they are links, another user's, have a second name or are no files. So nothing
//! that somebody put here leads to a file elsewhere. What is made here can be read by its owner alone.
//!
//! Root works in the folder of the user whose memory file it is. What root makes there belongs to that user.

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::at::{self, Access, Facts, Handle, Owner};
use crate::error::{Foreign, StoreError, unless_missing};
use crate::platform;

/// Largest file in bytes that is read whole: 1 GiB.
pub(super) const MAX_SIZE: u64 = 1 << 30;

/// An open folder of the caller's own, or of the user for whom root works.
#[derive(Debug)]
pub(super) struct Folder {
    handle: Handle,
    /// The other user to whom it belongs. What root makes in it is theirs.
    host: Option<Owner>,
    /// The other user to whom the memory file belongs.
    of_file: Option<Owner>,
}

/// The users whose folder root may use.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Hosts {
    /// The owner of the memory file.
    pub(super) of_file: Option<Owner>,
    /// The owner of the folder around.
    pub(super) of_folder: Option<Owner>,
}

#[cfg(test)]
thread_local! {
    /// Folders that this thread opened by their paths, for tests.
    pub(super) static OPENED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

impl Folder {
    /// Opens the folder at a path; `None` where there is none.
    pub(super) fn open(path: &Path, hosts: Hosts) -> Result<Option<Folder>, StoreError> {
        #[cfg(test)]
        OPENED.with(|opened| opened.set(opened.get() + 1));
        let opened = Handle::open(path);
        checked(opened, path, hosts, || at::facts_of(path))
    }

    /// Makes the folder at a path, unless another process was faster, and opens it.
    pub(super) fn make(path: &Path, hosts: Hosts) -> Result<Folder, StoreError> {
        let host = hosts.of_file.or(hosts.of_folder);
        made(at::make_folder(path), path, host, || Folder::open(path, hosts))
    }

    /// Opens a folder in this one; `None` where there is none.
    pub(super) fn folder(&self, name: impl AsRef<Path>) -> Result<Option<Folder>, StoreError> {
        let name = name.as_ref();
        checked(self.handle.folder(name), &self.path(name), self.hosts(), || self.handle.facts(name))
    }

    /// Makes a folder in this one, unless another process was faster, and opens it.
    pub(super) fn make_folder(&self, name: impl AsRef<Path>) -> Result<Folder, StoreError> {
        let name = name.as_ref();
        made(self.handle.make_folder(name), &self.path(name), self.of_file, || self.folder(name))
    }

    /// Opens a folder in this one, and makes it where it is missing.
    pub(super) fn folder_or_new(&self, name: &str) -> Result<Folder, StoreError> {
        self.folder(name)?.map_or_else(|| self.make_folder(name), Ok)
    }

    /// The first of these names that nothing in this folder has.
    pub(super) fn free_name(&self, named: impl Fn(u64) -> String) -> String {
        let free = (1..).map(named).find(|name| matches!(self.facts(name), Ok(None)));
        free.expect("a folder has fewer files than there are numbers")
    }

    /// The users to whom what stands in it may belong.
    fn hosts(&self) -> Hosts {
        Hosts { of_file: self.of_file, of_folder: None }
    }

    /// The path of a file in this folder, for messages.
    pub(super) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.handle.path.join(name)
    }

    /// Opens a file for reading; `None` where there is none.
    pub(super) fn read(&self, name: &str) -> Result<Option<File>, StoreError> {
        match self.open_file(name, Access::Read) {
            Ok((file, metadata)) => {
                self.refuse_foreign(name, &metadata)?;
                Ok(Some(file))
            }
            Err(StoreError::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Opens a file for reading, whoever made it and whatever other names it has: a backup may be the memory file.
    pub(super) fn read_backup(&self, name: &str) -> Result<File, StoreError> {
        self.open_file(name, Access::Read).map(|(file, _)| file)
    }

    /// The bytes of a whole file; `None` where there is none.
    pub(super) fn read_bytes(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(mut file) = self.read(name)? else { return Ok(None) };
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(StoreError::read(&self.path(name)))?;
        Ok(Some(bytes))
    }

    /// The bytes of a file of at most that size; `None` where there is none, or it cannot be read.
    pub(super) fn read_bounded(&self, name: &str, size: u64) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read(name).ok()??.take(size + 1).read_to_end(&mut bytes).ok()?;
        (bytes.len() as u64 <= size).then_some(bytes)
    }

    /// Opens a file for writing, and makes it where it is missing. What others could read, they no longer can.
    pub(super) fn write(&self, name: &str, access: Access) -> Result<File, StoreError> {
        let (file, metadata) = self.open_file(name, access)?;
        self.refuse_foreign(name, &metadata)?;
        at::make_private(&file, &metadata).map_err(StoreError::write("write", &self.path(name)))?;
        Ok(file)
    }

    /// Makes a new file in the place of what has that name.
    pub(super) fn create(&self, name: &str) -> io::Result<File> {
        match self.create_new(name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                unless_missing(self.remove(name))?;
                self.create_new(name)
            }
            created => created,
        }
    }

    /// Makes a file where nothing has that name. Nothing but what was made here is given to another user.
    fn create_new(&self, name: &str) -> io::Result<File> {
        let file = self.handle.file(Path::new(name), Access::Create)?;
        self.host.map_or(Ok(()), |host| at::give(&file, host))?;
        Ok(file)
    }

    /// The facts about a name; `None` where it is not there.
    pub(super) fn facts(&self, name: impl AsRef<Path>) -> io::Result<Option<Facts>> {
        unless_missing(self.handle.facts(name.as_ref()))
    }

    /// Gives a file in this folder another name.
    pub(super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.handle.rename(Path::new(from), Path::new(to))
    }

    /// Removes a file or link.
    pub(super) fn remove(&self, name: &str) -> io::Result<()> {
        self.handle.remove(Path::new(name))
    }

    /// Gives a file elsewhere a further name in this folder.
    pub(super) fn link(&self, file: &Path, name: &str) -> io::Result<()> {
        self.handle.link(file, Path::new(name))
    }

    /// Gives a file in this folder a further name elsewhere.
    pub(super) fn link_out(&self, name: &str, path: &Path) -> io::Result<()> {
        self.handle.link_out(Path::new(name), path)
    }

    /// All names in this folder.
    pub(super) fn names(&self) -> io::Result<Vec<OsString>> {
        self.handle.names()
    }

    /// Makes the names in this folder survive a power cut.
    pub(super) fn sync(&self) -> Result<(), StoreError> {
        let unconfirmed = |source| StoreError::NotConfirmed { path: self.handle.path.clone(), source };
        self.handle.sync().map_err(unconfirmed)
    }

    /// Device and inode of the folder; `None` where folders have none.
    pub(super) fn identity(&self) -> Option<(u64, u64)> {
        self.handle.metadata().ok().flatten().and_then(|metadata| platform::identity(&metadata))
    }

    /// Takes the rights of others away, in a folder that an earlier version made also from its files.
    pub(super) fn make_private(&self) -> io::Result<()> {
        if !self.handle.make_private()? {
            return Ok(());
        }
        for name in self.names()? {
            let is_own = |facts: &Facts| facts.is_file && foreign_owner(facts.owner, self.hosts()).is_none();
            let own = self.facts(&name)?.filter(is_own);
            let Some((_, name)) = own.zip(name.to_str()) else { continue };
            if let Ok((file, metadata)) = self.open_file(name, Access::Read)
                && at::number_of_names(&metadata) == 1
            {
                at::make_private(&file, &metadata)?;
            }
        }
        Ok(())
    }

    /// Opens what has that name if it is a file of bearable size.
    fn open_file(&self, name: &str, access: Access) -> Result<(File, Metadata), StoreError> {
        let path = self.path(name);
        let failed = |source| match access {
            Access::Read => StoreError::Read { path: path.clone(), source },
            _ => StoreError::Write { action: "write", path: path.clone(), source },
        };
        if access != Access::Read && self.host.is_some() {
            match self.create_new(name) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
                _ => {}
            }
        }
        let file = self.handle.file(Path::new(name), access).map_err(|error| {
            let is_there = error.kind() != io::ErrorKind::NotFound;
            if is_there && self.handle.facts(Path::new(name)).is_ok_and(|facts| facts.is_link) {
                return StoreError::NotOurs { path: path.clone(), problem: Foreign::Link };
            }
            failed(error)
        })?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        if !metadata.is_file() {
            let problem = Foreign::Kind(platform::describe_special(&metadata));
            return Err(StoreError::NotOurs { path, problem });
        }
        if metadata.len() > MAX_SIZE {
            return Err(failed(io::ErrorKind::FileTooLarge.into()));
        }
        Ok((file, metadata))
    }

    fn refuse_foreign(&self, name: &str, metadata: &Metadata) -> Result<(), StoreError> {
        let hosts = Hosts { of_folder: self.host, ..self.hosts() };
        let names = at::number_of_names(metadata);
        let problem = match foreign_owner(at::owner_of(metadata), hosts) {
            // A file that was just replaced has none.
            None if names > 1 => Some(Foreign::Names(names)),
            problem => problem,
        };
        problem.map_or(Ok(()), |problem| Err(StoreError::NotOurs { path: self.path(name), problem }))
    }
}

/// A folder that was opened, if it is the caller's own. A folder that could not be opened may be a link, or closed
/// to all but its owner; the facts about its name say so.
fn checked(
    opened: io::Result<Handle>,
    path: &Path,
    hosts: Hosts,
    facts: impl FnOnce() -> io::Result<Facts>,
) -> Result<Option<Folder>, StoreError> {
    let failed = |source| StoreError::Sidecar { path: path.to_owned(), source };
    let mut host = None;
    let (problem, opened) = match opened {
        Ok(handle) => {
            let owner = handle.metadata().map_err(failed)?.as_ref().and_then(at::owner_of);
            host = owner.filter(|owner| at::caller() != Some(owner.user));
            (foreign_owner(owner, hosts), Ok(handle))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => match facts() {
            Ok(facts) if facts.is_link => (Some(Foreign::Link), Err(error)),
            Ok(facts) => (foreign_owner(facts.owner, hosts), Err(error)),
            Err(_) => (None, Err(error)),
        },
    };
    match problem {
        Some(problem) => Err(StoreError::NotOurs { path: path.to_owned(), problem }),
        None => opened.map(|handle| Some(Folder { handle, host, of_file: hosts.of_file })).map_err(failed),
    }
}

fn made(
    result: io::Result<()>,
    path: &Path,
    host: Option<Owner>,
    open: impl FnOnce() -> Result<Option<Folder>, StoreError>,
) -> Result<Folder, StoreError> {
    let failed = |source| StoreError::Sidecar { path: path.to_owned(), source };
    let is_made = match result {
        Ok(()) => true,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
        Err(error) => return Err(failed(error)),
    };
    let mut folder = open()?.ok_or_else(|| failed(io::ErrorKind::NotFound.into()))?;
    let is_given = is_made && folder.host.is_none() && folder.names().map_err(failed)?.is_empty();
    if let Some(host) = host.filter(|_| is_given) {
        folder.handle.give(host).map_err(failed)?;
        folder.host = Some(host);
    }
    Ok(folder)
}

/// The reason why the caller may not use what belongs to this owner.
fn foreign_owner(owner: Option<Owner>, hosts: Hosts) -> Option<Foreign> {
    let (owner, caller) = owner.map(|owner| owner.user).zip(at::caller())?;
    let is_host = |host: Option<Owner>| host.is_some_and(|host| host.user == owner);
    let is_for_root = caller == 0 && (is_host(hosts.of_file) || is_host(hosts.of_folder));
    (owner != caller && !is_for_root).then_some(Foreign::Owner { owner, caller })
}
