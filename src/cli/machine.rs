//! A name of this machine for a memory file, which the lines of its log of commands bear.
//!
//! It is made of random bytes in the file `machine` of the user's own folder, and of the path of the memory file. So
//! nobody else can know it, and a log that was copied elsewhere does not bear the right one.

use std::path::Path;

use crate::cli::settings::sha256;
use memories_store::{Store, change_private, read_bounded};

/// Name of the file in the user's folder.
const NAME: &str = "machine";

/// Random bytes in it.
const BYTES: usize = 32;

/// Hexadecimal digits of a name.
const NAME_DIGITS: usize = 16;

/// The name; empty where the user's folder cannot be written.
pub(crate) fn name(folder: Option<&Path>, store: &Store) -> String {
    let Some(secret) = folder.and_then(|folder| secret(&folder.join(NAME))) else { return String::new() };
    let path = store.real_path().as_os_str().as_encoded_bytes();
    sha256(&[&secret, path].concat())[..NAME_DIGITS].to_owned()
}

/// The random bytes, which are made where there are none.
fn secret(path: &Path) -> Option<Vec<u8>> {
    let read = || read_bounded(path, BYTES as u64).ok().filter(|bytes| bytes.len() == BYTES);
    read().or_else(|| {
        let mut fresh = [0; BYTES];
        getrandom::fill(&mut fresh).ok()?;
        let made = |old: Vec<u8>| (old.len() != BYTES).then(|| fresh.to_vec());
        change_private(path, BYTES as u64, made).ok()?;
        read()
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_name_is_of_one_person_and_one_file() {
        let scratch = tempfile::tempdir().unwrap();
        let store = |name: &str| Store::open(scratch.path().join(name), Duration::ZERO).unwrap();
        let (one, other) = (scratch.path().join("one"), scratch.path().join("other"));
        let first = name(Some(&one), &store("a.md"));
        assert_eq!(first.len(), NAME_DIGITS);
        assert_eq!(name(Some(&one), &store("a.md")), first);
        assert_ne!(name(Some(&one), &store("b.md")), first);
        assert_ne!(name(Some(&other), &store("a.md")), first);
        assert_eq!(name(None, &store("a.md")), "");
        assert_eq!(name(Some(&one.join(NAME)), &store("a.md")), "", "the folder is a file");
    }
}
