//! Names of files: symbolic links, and paths that lead to no file.

use std::os::unix::fs::symlink;

use super::*;

#[test]
fn all_names_of_a_file_are_one_store() {
    let (folder, path) = empty_folder();
    fs::write(&path, "old").unwrap();
    let inner = folder.path().join("inner");
    fs::create_dir(&inner).unwrap();
    symlink("../Memories.md", inner.join("relative.md")).unwrap();
    symlink(inner.join("relative.md"), folder.path().join("chain.md")).unwrap();
    symlink("inner", folder.path().join("folder")).unwrap();
    let direct = open(&path);
    for name in ["inner/relative.md", "chain.md", "folder/relative.md", "inner/../Memories.md"] {
        let store = open(&folder.path().join(name));
        assert_eq!(store.real_path(), direct.real_path());
        assert_eq!(store.folder(), direct.folder());
        assert_eq!(store.path(), folder.path().join(name));
        write(&store, name);
        assert_eq!(direct.read().unwrap().as_deref(), Some(name));
    }
    assert!(fs::symlink_metadata(folder.path().join("chain.md")).unwrap().is_symlink());
    assert!(fs::symlink_metadata(inner.join("relative.md")).unwrap().is_symlink());
    assert_eq!(names(&inner), ["relative.md"]);
    assert_eq!(direct.backups().unwrap().len(), 4);
}

#[test]
fn a_link_that_dangles_says_where_the_file_will_be() {
    let (folder, path) = empty_folder();
    let inner = folder.path().join("inner");
    fs::create_dir(&inner).unwrap();
    symlink("../Memories.md", inner.join("second.md")).unwrap();
    symlink("inner/second.md", folder.path().join("first.md")).unwrap();
    let store = open(&folder.path().join("first.md"));
    assert_eq!(store.real_path(), open(&path).real_path());
    assert_eq!(store.read().unwrap(), None);
    write(&store, "made");
    assert!(fs::symlink_metadata(&path).unwrap().is_file());
    assert_eq!(fs::read_to_string(folder.path().join("first.md")).unwrap(), "made");
    assert_eq!(names(&inner), ["second.md"]);
}

#[test]
fn links_in_a_circle_are_an_error() {
    let (folder, _) = empty_folder();
    symlink("b.md", folder.path().join("a.md")).unwrap();
    symlink("a.md", folder.path().join("b.md")).unwrap();
    let error = Store::open(folder.path().join("a.md"), LIMIT).unwrap_err();
    assert!(matches!(error, StoreError::SymlinkLoop { .. }), "{error:?}");
    assert_eq!(names(folder.path()), ["a.md", "b.md"]);
}

#[test]
fn what_is_no_file_is_refused_by_name() {
    let (folder, _) = empty_folder();
    let fifo = folder.path().join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    symlink("/dev/null", folder.path().join("null.md")).unwrap();
    let null = folder.path().join("null.md");
    for (path, expected) in
        [(folder.path(), "a folder"), (&fifo, "a pipe"), (&null, "a device"), (Path::new(".."), "a folder")]
    {
        let error = Store::open(path, LIMIT).unwrap_err();
        assert_eq!(error.to_string(), format!("`{}` is {expected}, not a file", path.display()));
        assert_eq!(error.advice().remedy, Remedy::Fix);
    }
}

#[test]
fn a_missing_folder_is_not_made() {
    let (folder, _) = empty_folder();
    let error = Store::open(folder.path().join("missing/Memories.md"), LIMIT).unwrap_err();
    assert!(matches!(&error, StoreError::NoFolder { path } if path.ends_with("missing")), "{error:?}");
    assert!(names(folder.path()).is_empty());
}

#[test]
fn two_files_of_one_folder_do_not_share_anything() {
    let (folder, path) = empty_folder();
    let other = open(&folder.path().join("Other.md"));
    let store = Store::open(&path, Duration::ZERO).unwrap();
    let update = other.update(|_, _| {
        write(&store, "inside");
        Ok::<_, StoreError>(Change::to("outside".to_owned(), ()))
    });
    assert!(update.unwrap().written);
    assert_eq!(names(folder.path()), [".memories", "Memories.md", "Other.md"]);
}
