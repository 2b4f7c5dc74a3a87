//! Large states are packed: each is still there, whatever others do to the files from which it is rebuilt.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::sync::LazyLock;

use memories::store::Backup;

use super::*;

/// Bytes of a text of which four are packed.
const SIZE: usize = 3 << 20;

/// The parts that all texts have.
static PARTS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let line =
        |number: usize| format!("{:x} is line {number} of a long file\n", (number + 7) * 2_654_435_761);
    let lines: Vec<String> = (0..SIZE / 35).map(line).collect();
    lines.chunks(lines.len() / 4).map(<[String]>::concat).collect()
});

/// Texts that follow each other: each has a line more in several places.
fn text(number: usize) -> String {
    PARTS.iter().flat_map(|part| [part.clone(), "This line came later.\n".repeat(number)]).collect()
}

/// A store with so many former states.
fn with_states(count: usize) -> (TempDir, PathBuf, Store) {
    let (folder, path) = empty_folder();
    let store = open(&path);
    (0..=count).for_each(|number| write(&store, &text(number)));
    (folder, path, store)
}

/// Checks each former state: its text, and its size in the list.
fn check_states(store: &Store, expected: &[String]) {
    let states = store.backups().unwrap();
    assert_eq!(states.len(), expected.len());
    for (state, expected) in states.iter().zip(expected) {
        assert!(store.read_backup(state.number).unwrap() == *expected, "{state:?}");
        assert_eq!(state.size, expected.len() as u64);
    }
}

/// The texts before that one, newest first.
fn before(number: usize, count: usize) -> Vec<String> {
    (number - count..number).rev().map(text).collect()
}

fn is_packed(state: &Backup) -> bool {
    state.path.extension().unwrap() == "delta"
}

/// Bytes on disk beside the memory file; a file with two names counts once.
fn bytes_beside(folder: &Path, path: &Path) -> u64 {
    let mut files = vec![folder.to_owned()];
    let mut sizes = std::collections::BTreeMap::new();
    while let Some(at) = files.pop() {
        let metadata = fs::symlink_metadata(&at).unwrap();
        if metadata.is_dir() {
            files.extend(fs::read_dir(&at).unwrap().map(|entry| entry.unwrap().path()));
        } else if at != path {
            sizes.insert(metadata.ino(), metadata.blocks() * 512);
        }
    }
    sizes.values().sum()
}

#[test]
fn ten_large_states_take_little_more_space_than_one() {
    let (folder, path, store) = with_states(3);
    assert!(!store.backups().unwrap().iter().any(is_packed), "three are less than ten megabytes");
    for number in 4..=15 {
        write(&store, &text(number));
        check_states(&store, &before(number, number.min(10)));
        assert!(fs::read_to_string(newest(&store)).unwrap() == text(number - 1), "it is a plain file");
    }
    let packed = store.backups().unwrap().iter().filter(|state| is_packed(state)).count();
    assert_eq!(packed, 9);
    let (beside, file) = (bytes_beside(folder.path(), &path), fs::metadata(&path).unwrap().len());
    assert!(beside * 2 < file * 3, "{beside} bytes beside {file}");
    assert_eq!(names(folder.path()), [".memories", "Memories.md"]);
    assert_eq!(names(&store.folder().join("backups")).iter().filter(|name| name.ends_with(".md")).count(), 1);
}

#[test]
fn an_editor_between_two_writes_costs_no_state() {
    let (_folder, path, store) = with_states(6);
    let edited = text(6) + "A person wrote this.\n";
    fs::write(&path, &edited).unwrap();
    check_states(&store, &before(6, 6));
    write(&store, &text(7));
    let expected: Vec<String> = [edited.clone()].into_iter().chain(before(6, 6)).collect();
    check_states(&store, &expected);
    // In place, too, and by another program's copy.
    OpenOptions::new().append(true).open(&path).unwrap().write_all(b"again\n").unwrap();
    write(&store, &text(8));
    let expected: Vec<String> = [text(7) + "again\n"].into_iter().chain(expected).collect();
    check_states(&store, &expected);
    write(&store, "a small file\n");
    write(&store, "another\n");
    let last = ["a small file\n".to_owned(), text(8)];
    check_states(&store, &last.into_iter().chain(expected).take(10).collect::<Vec<_>>());
}

#[test]
fn a_backup_that_is_edited_in_place_changes_no_state() {
    let (_folder, path, store) = with_states(6);
    OpenOptions::new().append(true).open(newest(&store)).unwrap().write_all(b"edited\n").unwrap();
    let states = store.backups().unwrap();
    for (state, expected) in states.iter().zip(before(6, 6)) {
        assert!(store.read_backup(state.number).unwrap() == expected);
    }
    write(&store, &text(7));
    let states = store.backups().unwrap();
    for (state, expected) in states.iter().zip(before(7, 7)) {
        assert!(store.read_backup(state.number).unwrap() == expected);
    }
    // With both of its sources changed, a state is an error, and no wrong text.
    let last = &states[0];
    OpenOptions::new().append(true).open(newest(&store)).unwrap().write_all(b"edited\n").unwrap();
    fs::write(&path, "something else\n").unwrap();
    let error = store.read_backup(last.number).unwrap_err();
    assert!(error.to_string().contains(&format!("{}.md", last.number)), "{error}");
    assert!(matches!(error, StoreError::DamagedBackup { .. }));
}

#[test]
fn files_that_vanish_cost_no_state() {
    let (_folder, path, store) = with_states(6);
    fs::remove_file(&path).unwrap();
    check_states(&store, &before(6, 6));
    let warned = try_write(&store, "begun anew\n").unwrap();
    assert!(matches!(warned.warnings[..], [StoreError::Outweighed { .. }]), "{:?}", warned.warnings);
    for number in 0..12 {
        let _ = try_write(&store, &format!("and on {number}\n")).unwrap();
    }
    let states = store.backups().unwrap();
    assert_eq!(states.len(), 11);
    assert!(store.read_backup(states[10].number).unwrap() == text(5), "what outweighs the file stays");
}

#[test]
fn a_damaged_packed_state_is_an_error_and_the_newer_ones_stay() {
    let (_folder, _path, store) = with_states(8);
    let states = store.backups().unwrap();
    let bytes = fs::read(&states[3].path).unwrap();
    let own = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let cuts = [0, 1, own / 2, own - 1, bytes.len() - 1];
    let cut = cuts.iter().map(|cut| bytes[..*cut].to_vec());
    let flipped = (0..own).step_by(own / 12 + 1).chain((own..bytes.len()).step_by(97)).map(|at| {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        damaged
    });
    for damaged in cut.chain(flipped) {
        fs::write(&states[3].path, &damaged).unwrap();
        assert_eq!(store.backups().unwrap().len(), 8);
        match store.read_backup(states[3].number) {
            Ok(rebuilt) => assert!(rebuilt == text(4), "what was damaged does not matter"),
            Err(error) => {
                assert!(matches!(error, StoreError::DamagedBackup { .. }), "{error}");
                assert!(error.to_string().contains(states[3].path.to_str().unwrap()), "{error}");
            }
        }
        for (state, expected) in states.iter().zip(before(8, 3)) {
            assert!(store.read_backup(state.number).unwrap() == expected, "a newer one");
        }
    }
    write(&store, &text(9));
    let newest = store.backups().unwrap()[0].number;
    assert!(store.read_backup(newest).unwrap() == text(8));
}

/// As after a kill: before the state is packed, while it is, before the one before it is gone.
#[test]
fn a_writer_that_is_killed_while_it_packs_costs_no_state() {
    for kill in 0..3 {
        let (_folder, _path, store) = with_states(5);
        let backups = store.folder().join("backups");
        match kill {
            0 => fs::remove_file(backups.join("5.delta")).unwrap(),
            1 => fs::write(backups.join("new"), "half a st").unwrap(),
            _ => {}
        }
        fs::write(backups.join("4.md"), text(3)).unwrap();
        check_states(&store, &before(5, 5));
        for number in 6..=8 {
            write(&store, &text(number));
            check_states(&store, &before(number, number));
            assert!(fs::read_to_string(newest(&store)).unwrap() == text(number - 1));
        }
        assert!(names(&backups).iter().all(|name| name.contains('.')), "{:?}", names(&backups));
    }
}

#[test]
fn restoring_a_packed_state_and_back_again_is_exact() {
    let (_folder, path, store) = with_states(7);
    let oldest = store.backups().unwrap()[6].number;
    write(&store, &store.read_backup(oldest).unwrap());
    assert!(fs::read_to_string(&path).unwrap() == text(0));
    let newest = store.backups().unwrap()[0].number;
    write(&store, &store.read_backup(newest).unwrap());
    assert!(fs::read_to_string(&path).unwrap() == text(7));
    let expected: Vec<String> = [text(0), text(7)].into_iter().chain(before(7, 7)).collect();
    check_states(&store, &expected);
}
