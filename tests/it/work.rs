//! Scopes of work in a repository: paths from the working directory, and what becomes of them elsewhere.

use std::fs;
use std::path::{Path, PathBuf};

use crate::program::memories;

/// A repository with a memory file at its root and a folder in it.
struct Repository {
    folder: tempfile::TempDir,
}

impl Repository {
    fn new() -> Repository {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join(".git")).unwrap();
        fs::create_dir_all(folder.path().join("src/a b#")).unwrap();
        fs::write(folder.path().join("Memories.md"), "# Location Memories\n").unwrap();
        Repository { folder }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(below)
    }
}

/// What a command in a folder prints on both streams.
fn run(folder: &Path, arguments: &[&str]) -> String {
    let output = memories(folder, arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    text(output.stdout) + &text(output.stderr)
}

#[test]
fn a_path_means_the_same_folder_wherever_it_is_typed() {
    let repository = Repository::new();
    let (root, odd) = (repository.path(""), repository.path("src/a b#"));
    let absolute = format!("dir:{}", odd.display());
    let add = |folder: &Path, scope: &str, text: &str| run(folder, &["add", scope, text]);
    assert_eq!(add(&odd, "dir:.", "One."), "stored \"One.\" in dir:src/a b%23\n");
    assert_eq!(add(&odd, "dir:..", "Two."), "stored \"Two.\" in dir:src\n");
    assert_eq!(add(&odd, "dir:../..", "Three."), "stored \"Three.\" in dir:/\n");
    assert_eq!(add(&odd, "dir:./c", "Four."), "stored \"Four.\" in dir:src/a b%23/c\n");
    assert_eq!(add(&root, "dir:src/a b#", "One."), "duplicate of \"One.\" in dir:src/a b%23\n");
    assert_eq!(add(&root, &absolute, "One."), "duplicate of \"One.\" in dir:src/a b%23\n");
    let here = run(&odd, &["recall", "dir:."]);
    assert_eq!(run(&root, &["recall", "dir:./src/a b%23"]), here);
    assert_eq!(here.matches("Work Memory for").count(), 3, "{here}");
    let lines: Vec<&str> = here.lines().filter(|line| line.starts_with("[NOTE]")).collect();
    let written = |text: &str| format!("[NOTE] {text} (2026-01-31, today)");
    assert_eq!(lines, ["One.", "Two.", "Three."].map(written));
    assert!(
        run(&odd, &["recall", "dir:../../.."]).starts_with("error: `../../..` leads out of the repository")
    );

    // Nothing looks at the folder itself.
    fs::remove_dir_all(repository.path("src")).unwrap();
    assert_eq!(run(&root, &["recall", &absolute]), here);
}

#[test]
fn corrections_take_paths_from_the_working_directory() {
    let repository = Repository::new();
    let source = repository.path("src");
    run(&source, &["add", "dir:.", "--title", "Build", "Build first."]);
    assert_eq!(
        run(&source, &["mark", "dir:./", "Build", "--importance", "900"]),
        "marked \"Build\" in dir:src\n"
    );
    let wish = source.join("wish.json");
    fs::write(&wish, r#"{"scope": "dir:../src", "title": "Build", "status": "tentative"}"#).unwrap();
    let mut command = memories(&source, &["mark"]);
    let output = command.stdin(fs::File::open(&wish).unwrap()).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "marked \"Build\" in dir:src\n");
    let renamed = run(&source, &["rename", "dir:.", "Source"]);
    assert_eq!(renamed, "renamed to \"Source\" in dir:src\n");
    assert!(run(&source, &["show", "dir:."]).starts_with("## Folder src: Source\n"));
}

#[test]
fn completions_offer_folders_and_topics() {
    let repository = Repository::new();
    let root = repository.path("");
    run(&root, &["add", "dir:src/search", "--title", "Bench the score", "Run it."]);
    run(&root, &["add", "topic:release", "--title", "Tags", "Tag it."]);
    let candidates = |words: &[&str]| {
        let mut command = memories(&root, &[&["--", "memories"], words].concat());
        let output = command.env("MEMORIES_COMPLETE", "fish").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(candidates(&["recall", "dir:"]), ["dir:src/search"]);
    assert_eq!(candidates(&["recall", "topic:r"]), ["topic:release"]);
    assert_eq!(candidates(&["mark", "dir:./src/search", "B"]), ["Bench the score"]);
}

#[test]
fn commands_about_ways_and_visits_refuse_folders() {
    let repository = Repository::new();
    let root = repository.path("");
    run(&root, &["add", "dir:src", "Build first."]);
    for (arguments, said) in [
        (&["path", "dir:src", "dir:src"][..], "`dir:src` is not a place"),
        (&["tried", "dir:src", "cargo", "build"][..], "no"),
    ] {
        let printed = run(&root, arguments);
        assert!(printed.contains(said), "{arguments:?}: {printed}");
    }
    let text = fs::read_to_string(root.join("Memories.md")).unwrap();
    assert_eq!(text.matches("\n## ").count(), 1, "{text}");
}
