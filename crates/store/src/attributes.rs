//! What a file that is replaced passes on to the new one: owner, group, mode, access list and extended attributes.
//!
//! Two open files enter; the names of what could not be passed on leave. A file system or the system may refuse each of
//! them, and no user gets more rights by that. Access lists and extended attributes are passed on by Linux alone.

use std::fs::{File, Metadata};
use std::io;

use crate::platform::{self, Rights};

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

/// The attribute that holds the access list (POSIX ACL).
pub(super) const ACCESS_LIST: &str = "system.posix_acl_access";

/// What is no extended attribute, whose names have a point.
pub(super) const OWNER: &str = "owner";
pub(super) const GROUP: &str = "group";
pub(super) const MODE: &str = "mode";

/// Gives the new file all that the old one has. It must be closed to others until then, and stays so where it is not
/// known who may read it. The owner comes first, because a change of it clears bits of the mode.
pub(super) fn pass_all_on(old: Model<'_>, new: &File) -> Vec<Lost> {
    let mut lost = Vec::new();
    let mut note = |name: &str, set: io::Result<()>| {
        set.map_err(|source| lost.push(Lost { name: name.to_owned(), source })).is_ok()
    };
    note(OWNER, platform::copy_user(new, old.metadata));
    let has_group = note(GROUP, platform::copy_group(new, old.metadata));
    let attributes = pass_on(old.file, new);
    let has_access_list = attributes.iter().all(|lost| lost.name != ACCESS_LIST);
    let rights = match (has_access_list, has_group) {
        (false, _) => Rights::OwnerOnly,
        (true, false) => Rights::GroupAsOthers,
        (true, true) => Rights::All,
    };
    note(MODE, platform::copy_mode(new, old.metadata, rights));
    lost.extend(attributes);
    lost
}

/// Gives the new file the attributes of the old one, and no access list of its folder's. Where neither has any, this
/// takes two system calls.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn pass_on(old: Option<&File>, new: &File) -> Vec<Lost> {
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
fn pass_on(_: Option<&File>, _: &File) -> Vec<Lost> {
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

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_new_group_may_do_no_more_than_all_users_and_without_access_list_nobody_but_the_owner() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (folder.path().join("old"), folder.path().join("new"));
        fs::write(&old, "").unwrap();
        let file = File::create(&new).unwrap();
        for (mode, as_others, owner_only) in
            [(0o664, 0o644, 0o600), (0o640, 0o600, 0o600), (0o606, 0o606, 0o600), (0o775, 0o755, 0o700)]
        {
            fs::set_permissions(&old, fs::Permissions::from_mode(mode)).unwrap();
            let model = fs::metadata(&old).unwrap();
            for (rights, expected) in
                [(Rights::All, mode), (Rights::GroupAsOthers, as_others), (Rights::OwnerOnly, owner_only)]
            {
                platform::copy_mode(&file, &model, rights).unwrap();
                let mode = file.metadata().unwrap().permissions().mode() & 0o7777;
                assert_eq!(mode, expected, "{mode:o} {rights:?}");
            }
        }
    }

    #[test]
    fn what_the_new_file_has_already_is_not_set() {
        let folder = tempfile::tempdir().unwrap();
        let file = File::create(folder.path().join("new")).unwrap();
        let metadata = file.metadata().unwrap();
        let before = platform::changed_at(&metadata);
        std::thread::sleep(std::time::Duration::from_millis(20));
        let lost = pass_all_on(Model { metadata: &metadata, file: Some(&file) }, &file);
        assert!(lost.is_empty(), "{lost:?}");
        assert_eq!(platform::changed_at(&file.metadata().unwrap()), before);
    }
}
