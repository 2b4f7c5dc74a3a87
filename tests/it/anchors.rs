//! Entries that are anchored to files of a repository: what is said when these change, and what is never done for it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use proptest::prelude::*;
use serde_json::Value;

use crate::cases;
use crate::program::memories;

/// A repository of git with a memory file.
struct Repository {
    folder: tempfile::TempDir,
}

impl Repository {
    fn new(format: &str) -> Repository {
        let repository = Repository { folder: tempfile::tempdir().unwrap() };
        repository.git(&["init", "-q", "--object-format", format]);
        repository.write("Memories.md", "# Location Memories\n");
        repository
    }

    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    #[track_caller]
    fn git(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]);
        command.args(["-c", "core.autocrlf=false"]).env("GIT_CONFIG_NOSYSTEM", "1");
        let output =
            command.args(arguments).current_dir(self.root()).env("HOME", self.root()).output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn commit(&self, path: &str, text: &str) {
        self.write(path, text);
        self.git(&["add", "-A"]);
        self.git(&["commit", "-qm", text]);
    }

    fn run(&self, arguments: &[&str]) -> String {
        run(&self.root(), arguments)
    }

    /// The words of recall about files; empty if it has none.
    #[track_caller]
    fn stale(&self) -> String {
        let shown = self.run(&["recall", "dir:/", "--json"]);
        let answer: Value = serde_json::from_str(&shown).unwrap_or_else(|_| panic!("{shown}"));
        let memories = answer["scopes"][0]["memories"].as_array().unwrap();
        let stale: Vec<String> = memories
            .iter()
            .flat_map(|memory| memory["stale"].as_array().cloned().unwrap_or_default())
            .map(|said| said.as_str().unwrap().to_owned())
            .collect();
        let text = answer["text"].as_str().unwrap();
        for said in &stale {
            assert!(text.contains(said.as_str()) && text.contains("may be stale: "), "{text}");
        }
        assert_eq!(text.contains("may be stale"), !stale.is_empty(), "{text}");
        stale.join("; ")
    }
}

fn run(folder: &Path, arguments: &[&str]) -> String {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let output = memories(folder, arguments).env("PATH", path).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    text(output.stdout) + &text(output.stderr)
}

#[test]
fn an_entry_says_which_of_its_files_changed_and_since_when() {
    for format in ["sha1", "sha256"] {
        let repository = Repository::new(format);
        repository.commit("src/x.rs", "one");
        let added = run(&repository.root().join("src"), &["add", "dir:/", "Mind x.", "--about", "x.rs"]);
        assert_eq!(added, "stored \"Mind x.\" in dir:/\n");
        let id = repository.git(&["rev-parse", "HEAD:src/x.rs"]);
        let tag = format!("#file:src/x.rs@{}", &id[..12]);
        assert!(fs::read_to_string(repository.root().join("Memories.md")).unwrap().contains(&tag), "{tag}");
        assert_eq!(repository.stale(), "");
        repository.write("src/x.rs", "two");
        assert_eq!(repository.stale(), "src/x.rs changed, not committed yet");
        repository.commit("src/x.rs", "two");
        assert_eq!(repository.stale(), "src/x.rs changed 1 commit ago");
        repository.commit("src/y.rs", "other");
        repository.commit("src/x.rs", "three");
        repository.write("src/x.rs", "four");
        assert_eq!(repository.stale(), "src/x.rs changed 2 commits ago");
        assert!(
            repository.run(&["recall", "dir:/", "--brief"]).contains("(may be stale: src/x.rs changed 2")
        );
        repository.write("src/x.rs", "one");
        assert_eq!(repository.stale(), "", "{format}");
        repository.git(&["checkout", "-q", "src/x.rs"]);
        repository.git(&["mv", "src/x.rs", "src/z.rs"]);
        assert_eq!(repository.stale(), "src/x.rs is gone");
        repository.git(&["commit", "-qam", "move"]);
        assert_eq!(repository.stale(), "src/x.rs is gone", "its content was another one");
    }
}

#[test]
fn a_file_has_another_name_only_where_one_commit_gave_it() {
    let repository = Repository::new("sha1");
    repository.commit("a", "the same words");
    repository.run(&["add", "dir:/", "Mind it.", "--about", "a"]);
    repository.git(&["mv", "a", "b"]);
    repository.git(&["commit", "-qam", "move"]);
    assert_eq!(repository.stale(), "a was renamed to b");
    // A copy that stood beside it before is no new name of it.
    let repository = Repository::new("sha1");
    repository.commit("a", "the same words");
    repository.commit("b", "the same words");
    repository.run(&["add", "dir:/", "Mind it.", "--about", "a"]);
    repository.git(&["rm", "-q", "a"]);
    repository.git(&["commit", "-qm", "remove"]);
    assert_eq!(repository.stale(), "a is gone");
}

#[test]
fn without_history_what_is_known_is_said() {
    let repository = Repository::new("sha1");
    repository.commit("a", "one");
    repository.run(&["add", "dir:/", "Mind it.", "--about", "a"]);
    repository.commit("a", "two");
    repository.commit("a", "three");
    assert_eq!(repository.stale(), "a changed 2 commits ago");
    let clone = Repository { folder: tempfile::tempdir().unwrap() };
    let url = format!("file://{}", repository.root().display());
    clone.git(&["clone", "-q", "--depth", "1", &url, "."]);
    assert_eq!(clone.stale(), "a changed since");
    fs::rename(repository.root().join(".git"), repository.root().join("git")).unwrap();
    assert_eq!(repository.stale(), "a changed since");
    repository.write("a", "one");
    assert_eq!(repository.stale(), "");
    fs::remove_file(repository.root().join("a")).unwrap();
    assert_eq!(repository.stale(), "a is gone");
}

#[test]
fn commits_of_both_sides_of_a_merge_count_and_its_own_content_is_found() {
    let repository = Repository::new("sha1");
    repository.commit("a", "one");
    repository.git(&["checkout", "-qb", "side"]);
    repository.commit("a", "side");
    repository.git(&["checkout", "-q", "-"]);
    repository.commit("a", "main");
    let merged = Command::new("git").args(["merge", "-q", "side"]).current_dir(repository.root()).output();
    assert!(!merged.unwrap().status.success());
    repository.commit("a", "both");
    repository.run(&["add", "dir:/", "Mind it.", "--about", "a"]);
    repository.commit("a", "later");
    assert_eq!(repository.stale(), "a changed 1 commit ago");
    repository.run(&["mark", "dir:/", "Mind it.", "--status", "active"]);
    assert_eq!(repository.stale(), "");
    let one = repository.git(&["rev-parse", "HEAD~2:a"]);
    let text = fs::read_to_string(repository.root().join("Memories.md")).unwrap();
    let at = text.find("#file:a@").unwrap();
    let old = &text[at..at + 20];
    repository.write("Memories.md", &text.replace(old, &format!("#file:a@{one}")));
    assert_eq!(repository.stale(), "a changed 2 commits ago");
}

#[test]
fn a_confirmation_renews_and_any_other_change_keeps() {
    let repository = Repository::new("sha1");
    repository.commit("a", "one");
    repository.commit("b", "one");
    repository.run(&["add", "dir:/", "Mind it.", "--about", "a", "--about", "b"]);
    let change = |arguments: &[&str]| {
        repository.commit("a", &format!("{arguments:?}"));
        let done = repository.run(arguments);
        assert!(!done.contains("error"), "{done}");
        repository.stale()
    };
    assert_eq!(change(&["mark", "dir:/", "Mind it.", "--importance", "700"]), "a changed 1 commit ago");
    assert_eq!(change(&["mark", "dir:/", "Mind it.", "--status", "active"]), "");
    assert_eq!(change(&["add", "dir:/", "Mind it."]), "");
    assert_eq!(
        change(&["supersede", "dir:/", "Mind it.", "--title", "New", "--text", "Do mind it well."]),
        ""
    );
    let text = || fs::read_to_string(repository.root().join("Memories.md")).unwrap();
    assert_eq!(text().matches("#file:a@").count(), 2, "the successor has it, too: {}", text());
    fs::remove_file(repository.root().join("b")).unwrap();
    assert_eq!(repository.stale(), "b is gone");
    let said = repository.run(&["check"]);
    assert!(
        said.contains("hint: line 7: `b`, of which \"New\" speaks, is gone")
            || said.contains("`b`, of which \"New\" speaks, is gone"),
        "{said}"
    );
    assert_eq!(change(&["mark", "dir:/", "New", "--status", "active"]), "");
    assert!(!repository.run(&["check"]).contains("is gone"));
}

#[test]
fn what_the_words_cost_is_in_the_budget() {
    let repository = Repository::new("sha1");
    repository.commit("src/a.rs", "one");
    for number in 0..12 {
        repository.run(&[
            "add",
            "dir:/",
            &format!("Mind the file number {number} well."),
            "--about",
            "src/a.rs",
        ]);
    }
    repository.write("src/a.rs", "two");
    for tokens in [60, 150, 300] {
        let answer = repository.run(&["recall", "dir:/", "--json", "--max-tokens", &tokens.to_string()]);
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert!(answer["tokens"].as_u64().unwrap() <= tokens, "{answer}");
        let shown = answer["scopes"][0]["memories"].as_array().unwrap();
        assert!(shown.iter().all(|memory| memory["stale"][0] == "src/a.rs changed, not committed yet"));
    }
}

/// A repository that was cloned may name programs in its settings and attributes.
#[test]
#[cfg(unix)]
fn no_program_of_the_repository_runs() {
    use std::os::unix::fs::PermissionsExt;

    let repository = Repository::new("sha1");
    repository.commit("a.x", "one");
    repository.run(&["add", "dir:/", "Mind it.", "--about", "a.x"]);
    let spy = repository.root().join("spy");
    fs::write(&spy, format!("#!/bin/sh\necho ran >>'{}'\n", repository.root().join("ran").display()))
        .unwrap();
    fs::set_permissions(&spy, fs::Permissions::from_mode(0o755)).unwrap();
    repository.write(".gitattributes", "*.x diff=spy filter=spy\n");
    repository.commit("a.x", "two");
    let spy = spy.to_str().unwrap();
    for key in [
        "core.fsmonitor",
        "core.pager",
        "pager.log",
        "core.sshCommand",
        "diff.external",
        "diff.spy.textconv",
        "diff.spy.command",
        "filter.spy.clean",
        "filter.spy.process",
        "gpg.program",
        "alias.log",
        "remote.origin.uploadpack",
        "core.alternateRefsCommand",
    ] {
        repository.git(&["config", key, spy]);
    }
    for (key, value) in [
        ("log.showSignature", "true"),
        ("log.diffMerges", "dense-combined"),
        ("color.ui", "always"),
        ("diff.renames", "copies"),
        ("remote.origin.url", repository.root().to_str().unwrap()),
        ("remote.origin.promisor", "true"),
        ("extensions.partialClone", "origin"),
    ] {
        repository.git(&["config", key, value]);
    }
    let hooks = repository.root().join("hooks");
    fs::create_dir(&hooks).unwrap();
    fs::copy(spy, hooks.join("post-index-change")).unwrap();
    repository.git(&["config", "core.hooksPath", hooks.to_str().unwrap()]);
    let _ = fs::remove_file(repository.root().join("ran"));
    assert_eq!(repository.stale(), "a.x changed 1 commit ago");
    // An object that is missing here is not fetched.
    let tree = repository.git(&["rev-parse", "HEAD~1^{tree}"]);
    let _ = fs::remove_file(repository.root().join("ran"));
    fs::remove_file(repository.root().join(format!(".git/objects/{}/{}", &tree[..2], &tree[2..]))).unwrap();
    assert_eq!(repository.stale(), "a.x changed since");
    assert!(!repository.root().join("ran").exists(), "a program of the repository ran");
}

#[test]
#[cfg(unix)]
fn links_and_special_files_are_not_read() {
    use std::os::unix::fs::symlink;

    let repository = Repository::new("sha1");
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("x"), "secret").unwrap();
    let made = Command::new("mkfifo").arg(repository.root().join("pipe")).status().unwrap();
    assert!(made.success());
    symlink(outside.path(), repository.root().join("up")).unwrap();
    symlink("Memories.md", repository.root().join("link")).unwrap();
    for (file, said) in [
        ("pipe", "cannot be watched"),
        ("link", "cannot be watched"),
        ("up/x", "cannot be watched"),
        ("Memories.md", "cannot be watched"),
        ("../x", "is not a file within the repository"),
        ("/etc/passwd", "is not a file within the repository"),
        (".git/HEAD", "is not a file within the repository"),
        ("none", "there is no file"),
    ] {
        let refused = repository.run(&["add", "dir:/", "Mind it.", "--about", file]);
        assert!(refused.starts_with("error: ") && refused.contains(said), "{file}: {refused}");
    }
    let refused = repository.run(&["add", "topic:x", "Mind it.", "--about", "Memories.md"]);
    assert!(refused.starts_with("error: `--about` is only for a folder"), "{refused}");
    let tags: String = ["pipe", "link", "up/x", "../x", "dev/../../x", "/dev/zero"]
        .iter()
        .map(|path| format!(", #file:{path}@1f3a"))
        .collect();
    let entry = format!("# Location Memories\n\n## Folder /\n\n**[NOTE] Mind it** *(Ep1{tags})*\nx\n\n---\n");
    repository.write("Memories.md", &entry);
    assert_eq!(repository.stale(), "");
}

proptest! {
    #![proptest_config(cases(24))]

    /// An entry is stale exactly if its file differs in more than its line ends.
    #[test]
    fn an_entry_is_stale_exactly_if_its_file_has_changed(
        old in prop::collection::vec(prop::sample::select(vec!["a", "b", "\n", "\r\n", "\r", "\0", "é"]), 0..6),
        new in prop::collection::vec(prop::sample::select(vec!["a", "b", "\n", "\r\n", "\r", "\0", "é"]), 0..6),
    ) {
        let repository = Repository { folder: tempfile::tempdir().unwrap() };
        repository.write("Memories.md", "# Location Memories\n");
        let (old, new) = (old.concat(), new.concat());
        repository.write("a", &old);
        repository.run(&["add", "dir:/", "Mind it.", "--about", "a"]);
        prop_assert_eq!(repository.stale(), "");
        repository.write("a", &new);
        // The id is that of the bytes as they were, so a file with other line ends is the same in one direction alone.
        let is_same = new == old || new.replace("\r\n", "\n") == old;
        prop_assert_eq!(repository.stale().is_empty(), is_same, "{:?} {:?}", old, new);
    }
}
