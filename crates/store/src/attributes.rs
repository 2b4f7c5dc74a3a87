//! Access lists and extended attributes, which a file that is replaced passes on to the new one.
//!
//! Two open files enter; the names of attributes that could not be copied leave. No user gets more rights than before:
//! the caller removes the rights of group and others if the access list is lost. Linux only; elsewhere there is nothing
//! to pass on.

use std::fs::{File, Metadata};
use std::io;

/// A file that is replaced by a new one.
#[derive(Clone, Copy)]
pub(super) struct Model<'a> {
    pub(super) metadata: &'a Metadata,
    /// The open file; `None` where it cannot be read.
    pub(super) file: Option<&'a File>,
}

/// An attribute that the new file does not have.
#[derive(Debug)]
pub(super) struct Lost {
    pub(super) name: String,
    pub(super) source: io::Error,
}

impl Lost {
    /// True if it decides who may read and write the file.
    pub(super) fn is_access_list(&self) -> bool {
        self.name == ACCESS_LIST
    }
}

/// The attribute that holds the access list (POSIX ACL).
pub(super) const ACCESS_LIST: &str = "system.posix_acl_access";

/// Gives the new file the attributes of the old one, and no access list of its folder's. Where neither has any, this
/// takes two system calls. The new file must be closed to others until its mode is set.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn pass_on(old: Option<&File>, new: &File) -> Vec<Lost> {
    use rustix::fs::{XattrFlags, fremovexattr, fsetxattr};

    let mut lost = Vec::new();
    let mut note = |name: &str, source: io::Error| lost.push(Lost { name: name.to_owned(), source });
    let unreadable = || io::Error::from(io::ErrorKind::PermissionDenied);
    let names = old.ok_or_else(unreadable).and_then(linux::names);
    let names = names.unwrap_or_else(|error| {
        note(ACCESS_LIST, error);
        Vec::new()
    });
    for name in names.iter().filter(|name| linux::is_passed_on(name)) {
        let passed_on = old.map_or(Ok(()), |old| {
            let value = linux::value(old, name)?;
            // A label that the system gives each file is there already, and only root may set it.
            match linux::value(new, name) {
                Ok(present) if present == value => Ok(()),
                _ => fsetxattr(new, name.as_str(), &value, XattrFlags::empty()),
            }
        });
        passed_on.unwrap_or_else(|error| note(name, error.into()));
    }
    let is_inherited = !names.iter().any(|name| name == ACCESS_LIST)
        && linux::names(new).is_ok_and(|names| names.iter().any(|name| name == ACCESS_LIST));
    if is_inherited && let Err(error) = fremovexattr(new, ACCESS_LIST) {
        note(ACCESS_LIST, error.into());
    }
    lost
}

/// Nothing to pass on here.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) fn pass_on(_: Option<&File>, _: &File) -> Vec<Lost> {
    Vec::new()
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux {
    use rustix::fs::{fgetxattr, flistxattr};
    use rustix::io::Errno;

    use crate::attributes::*;

    /// Largest list of names, and largest value, in bytes.
    const MAX_SIZE: usize = 1 << 16;

    /// The names of all attributes; none where the file system has no attributes.
    pub(super) fn names(file: &File) -> io::Result<Vec<String>> {
        let mut list = [0; 256];
        let list = match flistxattr(file, &mut list) {
            Ok(length) => list[..length].to_vec(),
            Err(Errno::RANGE) => {
                let mut list = vec![0; MAX_SIZE];
                let length = flistxattr(file, &mut list)?;
                list.truncate(length);
                list
            }
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        let names = list.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        // A name that is not UTF-8 belongs to no attribute that is copied.
        Ok(names.filter_map(|name| String::from_utf8(name.to_vec()).ok()).collect())
    }

    pub(super) fn value(file: &File, name: &str) -> rustix::io::Result<Vec<u8>> {
        let mut value = vec![0; MAX_SIZE];
        let length = fgetxattr(file, name, &mut value)?;
        value.truncate(length);
        Ok(value)
    }

    /// Hashes of the contents are the system's.
    pub(super) fn is_passed_on(name: &str) -> bool {
        let is_hash = matches!(name, "security.ima" | "security.evm");
        let prefixes = ["user.", "security.", "trusted."];
        name == ACCESS_LIST || (!is_hash && prefixes.iter().any(|prefix| name.starts_with(prefix)))
    }
}
