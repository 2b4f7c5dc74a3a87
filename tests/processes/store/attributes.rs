//! Access lists and extended attributes of the memory file.

use rustix::fs::{XattrFlags, getxattr, setxattr};
use rustix::io::Errno;

use super::processes::traced_by;
use super::*;

const ACCESS: &str = "system.posix_acl_access";
const DEFAULT: &str = "system.posix_acl_default";
const NOTE: &str = "user.memories.test";

/// Tags of the entries of an access list, as Linux encodes them.
const OWNER: u16 = 1;
const USER: u16 = 2;
const GROUP: u16 = 4;
const MASK: u16 = 16;
const OTHER: u16 = 32;

/// An access list: the owner reads and writes; one other user and the mask may do what the arguments say, with 4 for
/// reading and 2 for writing; nobody else may do anything.
fn access_list(user: u16, mask: u16) -> Vec<u8> {
    let none = u32::MAX;
    let entries =
        [(OWNER, 6, none), (USER, user, 12345), (GROUP, 0, none), (MASK, mask, none), (OTHER, 0, none)];
    let entry = |(tag, rights, id): (u16, u16, u32)| {
        [&tag.to_le_bytes()[..], &rights.to_le_bytes(), &id.to_le_bytes()].concat()
    };
    [2_u32.to_le_bytes().to_vec(), entries.map(entry).concat()].concat()
}

/// Sets an attribute; `false` where the file system has none.
fn set(path: &Path, name: &str, value: &[u8]) -> bool {
    match setxattr(path, name, value, XattrFlags::empty()) {
        Err(Errno::OPNOTSUPP) => {
            skipped(&format!("this file system has no `{name}`"));
            false
        }
        set => set.map(|()| true).unwrap(),
    }
}

fn get(path: &Path, name: &str) -> Option<Vec<u8>> {
    let mut value = vec![0; 1024];
    let length = getxattr(path, name, &mut value).ok()?;
    value.truncate(length);
    Some(value)
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

#[test]
fn attributes_stay_with_the_file_and_its_backups() {
    let (_folder, path) = empty_folder();
    let store = open(&path);
    write(&store, "one");
    let long = "l".repeat(200);
    let names = [NOTE.to_owned(), format!("user.{long}"), format!("user.2{long}")];
    if !names.iter().all(|name| set(&path, name, name.as_bytes())) {
        return;
    }
    write(&store, "two");
    write(&store, "three");
    for path in [path, newest(&store)] {
        for name in &names {
            assert_eq!(get(&path, name).as_deref(), Some(name.as_bytes()), "{}", path.display());
        }
    }
}

#[test]
fn the_access_list_stays_with_the_file_and_its_backups() {
    let (_folder, path) = empty_folder();
    let store = open(&path);
    write(&store, "one");
    let list = access_list(4, 4);
    if !set(&path, ACCESS, &list) {
        return;
    }
    write(&store, "two");
    write(&store, "three");
    for path in [path, newest(&store)] {
        assert_eq!(get(&path, ACCESS).as_ref(), Some(&list), "{}", path.display());
        assert_eq!(mode(&path), 0o640);
    }
}

#[test]
fn the_access_list_of_new_files_in_a_folder_widens_no_file_that_is_there() {
    let (folder, path) = empty_folder();
    let store = open(&path);
    write(&store, "one");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    if !set(folder.path(), DEFAULT, &access_list(6, 6)) {
        return;
    }
    write(&store, "two");
    for path in [path, newest(&store)] {
        assert_eq!(get(&path, ACCESS), None, "{}", path.display());
        assert_eq!(mode(&path), 0o640);
    }
}

#[test]
fn where_the_access_list_is_lost_the_file_is_its_owners_alone() {
    let (_folder, path) = empty_folder();
    fs::write(&path, "old").unwrap();
    if !set(&path, ACCESS, &access_list(4, 6)) {
        return;
    }
    assert_eq!(mode(&path), 0o660, "the mask stands for the group");
    let inject = ["-e", "trace=fsetxattr", "-e", "inject=fsetxattr:error=EPERM"];
    let Some((said, _)) = traced_by(&path, &inject) else {
        return skipped("strace cannot be used");
    };
    assert_eq!(said, "written, 1 warnings");
    assert_eq!((fs::read_to_string(&path).unwrap().as_str(), mode(&path)), ("new", 0o600));
}

#[test]
fn a_lost_attribute_is_a_warning_and_nothing_else_is_lost() {
    let (_folder, path) = empty_folder();
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o664)).unwrap();
    if !set(&path, NOTE, b"one") {
        return;
    }
    let inject = ["-e", "trace=fsetxattr", "-e", "inject=fsetxattr:error=ENOSPC"];
    let Some((said, _)) = traced_by(&path, &inject) else {
        return skipped("strace cannot be used");
    };
    assert_eq!(said, "written, 1 warnings");
    assert_eq!((fs::read_to_string(&path).unwrap().as_str(), mode(&path)), ("new", 0o664));
    assert_eq!(get(&path, NOTE), None);
}
