//! A memory file that another user put above the working folder, as the programs of two users meet it.
//!
//! Only root can be two users; for all others the unit tests of the settings hold the same rules.
#![cfg(all(unix, feature = "agents"))]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;

use crate::program::skipped;

/// The two users.
const OTHER: u32 = 65_534;
const OWN: u32 = 1;

/// A folder into which both users may write, with a repository of the other one, and a folder of the own one in it.
struct Shared {
    scratch: tempfile::TempDir,
}

impl Shared {
    /// `None` for all but root.
    fn new() -> Option<Shared> {
        let scratch = tempfile::tempdir().unwrap();
        if fs::metadata(scratch.path()).unwrap().uid() != 0 {
            skipped("only root can be two users");
            return None;
        }
        fs::set_permissions(scratch.path(), fs::Permissions::from_mode(0o777)).unwrap();
        fs::copy(env!("CARGO_BIN_EXE_memories"), scratch.path().join("program")).unwrap();
        for folder in [".git", "own/project", "home", "home-of-other"] {
            fs::create_dir_all(scratch.path().join(folder)).unwrap();
        }
        let text = "## World\n\n**[DANGER - CORE] Rule**\nplanted\n\n---\n\n## Folder /\n\n**[DANGER] Here**\n`make` planted.\n";
        fs::write(scratch.path().join("Memories.md"), text).unwrap();
        fs::write(scratch.path().join("memories.toml"), "max_tokens = 77\n").unwrap();
        let shared = Shared { scratch };
        shared.give(&[".git", "Memories.md", "memories.toml"], OTHER);
        shared.give(&["own", "own/project", "home"], OWN);
        shared.give(&["home-of-other"], OTHER);
        Some(shared)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().canonicalize().unwrap().join(name)
    }

    fn give(&self, names: &[&str], user: u32) {
        names.iter().for_each(|name| chown(self.path(name), Some(user), Some(user)).unwrap());
    }

    /// Exit code and whole output of a command of the own user.
    fn run(&self, folder: &str, arguments: &[&str], input: &str) -> (i32, String) {
        self.run_as(OWN, folder, arguments, input)
    }

    fn run_as(&self, user: u32, folder: &str, arguments: &[&str], input: &str) -> (i32, String) {
        let home = if user == OTHER { "home-of-other" } else { "home" };
        let mut command = Command::new(self.path("program"));
        command.args(arguments).current_dir(self.path(folder)).uid(user).gid(user);
        command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", self.path(home));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = loop {
            match command.spawn() {
                // Another test forked while the program was copied: its child holds the copy open until it runs another.
                Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                    std::thread::yield_now()
                }
                spawned => break spawned.unwrap(),
            }
        };
        let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes());
        let output = child.wait_with_output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.code().unwrap_or(-1), String::from_utf8(said).unwrap())
    }

    /// The names of all below a folder that belongs to another user than this one.
    fn not_of(&self, user: u32, folder: &Path) -> Vec<PathBuf> {
        let all = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let not_of = |path: PathBuf| {
            let metadata = fs::symlink_metadata(&path).unwrap();
            let below = if metadata.is_dir() { self.not_of(user, &path) } else { Vec::new() };
            below.into_iter().chain((metadata.uid() != user || metadata.gid() != user).then_some(path))
        };
        all.flat_map(not_of).collect()
    }

    fn event(&self, name: &str) -> String {
        let folder: &Path = &self.path("own/project");
        let input = json!({"command": "make"});
        json!({"hook_event_name": name, "session_id": "s", "cwd": folder, "tool_name": "Bash", "tool_use_id": "t", "tool_input": input})
            .to_string()
    }
}

#[test]
fn nothing_of_a_planted_file_is_printed_and_trust_lets_it_count() {
    let Some(shared) = Shared::new() else { return };
    for arguments in [
        &["recall", "world"][..],
        &["query", "planted rule"],
        &["top"],
        &["check"],
        &["export", "--to", "json", "-o", "-"],
    ] {
        let (_, said) = shared.run("own/project", arguments, "");
        assert!(!said.contains("Rule") && said.matches("another user").count() <= 1, "{arguments:?}: {said}");
    }
    let (_, said) = shared.run("own/project", &["recall", "world"], "");
    let command = format!("memories trust {}", shared.path("").display().to_string().trim_end_matches('/'));
    assert!(said.contains(&command), "{said}");
    for event in ["SessionStart", "PreToolUse"] {
        let said = shared.run("own/project", &["hook", "claude-code"], &shared.event(event));
        assert_eq!(said, (0, String::new()), "{event}");
    }
    let (code, said) = shared.run("own/project", &["trust", "../.."], "");
    assert_eq!(code, 0, "{said}");
    let (_, said) = shared.run("own/project", &["recall", "world"], "");
    assert!(said.contains("planted"), "{said}");
    let (_, said) = shared.run("own/project", &["hook", "claude-code"], &shared.event("SessionStart"));
    assert!(said.contains("planted"), "{said}");
}

#[test]
fn where_a_new_file_would_stand_another_users_is_refused_and_a_named_one_is_read() {
    let Some(shared) = Shared::new() else { return };
    let (code, said) = shared.run("", &["recall", "world"], "");
    assert!(code == 4 && !said.contains("planted") && said.contains("another user"), "{code}: {said}");
    let (code, said) = shared.run("", &["-f", "Memories.md", "recall", "world"], "");
    assert!(code == 0 && said.contains("planted"), "{code}: {said}");
}

#[test]
fn files_of_root_and_own_files_in_a_folder_of_others_count() {
    let Some(shared) = Shared::new() else { return };
    for user in [0, OWN] {
        shared.give(&[".git", "Memories.md", "memories.toml"], user);
        let (code, said) = shared.run("own/project", &["recall", "world"], "");
        assert!(code == 0 && said.contains("planted") && !said.contains("another user"), "{user}: {said}");
    }
}

#[test]
fn what_root_makes_beside_a_file_belongs_to_the_owner_of_the_file() {
    let Some(shared) = Shared::new() else { return };
    let (folder, home) = ("own/project", shared.path("own/project"));
    // The files in the folder above belong to root.
    shared.give(&[".git", "Memories.md", "memories.toml"], 0);
    let add = |user: u32, title: &str| {
        let file = ["-f", "Memories.md", "add", "world", "--title", title, "--", "a text of its own"];
        let (code, said) = shared.run_as(user, folder, &file, "");
        assert!(code == 0 && !said.contains("warning"), "{user}: {said}");
    };
    let none: [PathBuf; 0] = [];
    add(OWN, "First");
    fs::remove_dir_all(home.join(".memories")).unwrap();
    for title in ["Second of root", "Third of root"] {
        add(0, title);
        assert_eq!(shared.not_of(OWN, &home), none);
    }
    add(OWN, "Fourth");
    add(0, "Fifth of root");
    let (_, said) = shared.run_as(0, folder, &["-f", "Memories.md", "restore", "--list"], "");
    assert!(!said.contains("belongs to"), "{said}");
    assert_eq!(shared.not_of(OWN, &home), none);
    // A file that root makes is root's, as of `cp` and git, and so is what stands beside it. The folder of all is not.
    fs::remove_dir_all(home.join(".memories")).unwrap();
    let new = ["-f", "new.md", "add", "world", "--title", "New", "--", "a text"];
    for _ in 0..2 {
        assert_eq!(shared.run_as(0, folder, &new, "").0, 0);
    }
    let of_root = shared.not_of(OWN, &home);
    assert!(
        of_root.contains(&home.join("new.md")) && of_root.contains(&home.join(".memories/new.md")),
        "{of_root:?}"
    );
    assert!(
        !of_root.contains(&home.join(".memories")) && !of_root.contains(&home.join(".memories/.gitignore")),
        "{of_root:?}"
    );
    add(OWN, "Sixth");
}

#[test]
fn nothing_of_root_is_given_away_that_root_did_not_make() {
    let Some(shared) = Shared::new() else { return };
    let (folder, home) = ("own/project", shared.path("own/project"));
    // The files in the folder above belong to root.
    shared.give(&[".git", "Memories.md", "memories.toml"], 0);
    let add = ["-f", "Memories.md", "add", "world", "--title", "A", "--", "a text"];
    assert_eq!(shared.run(folder, &add, "").0, 0);
    let (lock, secret) = (home.join(".memories/Memories.md/lock"), shared.path("secret"));
    for is_link in [true, false] {
        fs::write(&secret, "of root").unwrap();
        fs::remove_file(&lock).unwrap();
        if is_link {
            std::os::unix::fs::symlink(&secret, &lock).unwrap();
        } else {
            fs::hard_link(&secret, &lock).unwrap();
        }
        let (code, said) =
            shared.run_as(0, folder, &["-f", "Memories.md", "add", "world", "--title", "B", "--", "b"], "");
        assert!(code != 0 && said.contains("lock"), "{code}: {said}");
        assert_eq!(
            (fs::read_to_string(&secret).unwrap(), fs::metadata(&secret).unwrap().uid()),
            ("of root".into(), 0)
        );
    }
}

#[test]
fn a_repository_of_another_user_names_no_folder_unless_it_is_trusted() {
    let Some(shared) = Shared::new() else { return };
    let (folder, file) = ("own/project", ["-f", "Memories.md"]);
    let add = |title: &str| {
        let (code, said) =
            shared.run(folder, &[&file[..], &["add", "dir:.", "--title", title, "--", title]].concat(), "");
        assert_eq!(code, 0, "{said}");
        said
    };
    assert!(add("Unseen").contains("dir:/"), "the memory file stands at the root");
    assert_eq!(shared.run(folder, &["trust", "../.."], "").0, 0);
    assert!(add("Trusted").contains("dir:own/project"));
}

/// A job in a container checks a repository out as one user and runs as another: root needs nothing, others are told the
/// one command that lets all of it count.
#[test]
fn a_checkout_of_another_user_works_for_root_and_names_the_command_for_others() {
    let Some(shared) = Shared::new() else { return };
    fs::create_dir_all(shared.path("checkout/.git")).unwrap();
    fs::create_dir_all(shared.path("checkout/src")).unwrap();
    fs::write(shared.path("checkout/Memories.md"), "## World\n\n**[NOTE] Rule**\nchecked out\n").unwrap();
    let all = ["checkout", "checkout/.git", "checkout/src", "checkout/Memories.md"];
    shared.give(&all, OTHER);
    for (arguments, expected) in
        [(&["recall", "world"][..], "checked out"), (&["add", "world", "a second rule"], "stored")]
    {
        let (code, said) = shared.run_as(0, "checkout/src", arguments, "");
        assert!(code == 0 && said.contains(expected) && !said.contains("another user"), "{code}: {said}");
    }
    assert_eq!(shared.not_of(OTHER, &shared.path("checkout")), Vec::<PathBuf>::new());
    let (_, said) = shared.run("checkout/src", &["recall", "world"], "");
    assert!(!said.contains("checked out"), "{said}");
    let command = format!("memories trust {}", shared.path("checkout").display());
    assert!(said.contains(&command), "{said}");
    let (code, said) = shared.run("checkout/src", &["trust", ".."], "");
    assert_eq!(code, 0, "{said}");
    let (code, said) = shared.run("checkout/src", &["recall", "world"], "");
    assert!(code == 0 && said.contains("checked out"), "{code}: {said}");
}

/// Two members of a group keep a file in a folder whose new files get its group. Each reads it after one word of trust.
/// Beside the file the program keeps what is private, so only the member who wrote first goes on writing; the other one
/// is told so, and the file stays as it is.
#[test]
fn members_of_a_group_share_a_file_in_a_folder_that_sets_the_group() {
    let Some(shared) = Shared::new() else { return };
    let folder = shared.path("group");
    fs::create_dir(&folder).unwrap();
    chown(&folder, Some(OTHER), Some(OWN)).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o2775)).unwrap();
    let file = folder.join("Memories.md");
    fs::write(&file, "## World\n\n**[NOTE] Rule**\nof the group\n").unwrap();
    chown(&file, Some(OTHER), Some(OWN)).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o664)).unwrap();
    let (_, said) = shared.run("group", &["recall", "world"], "");
    assert!(said.contains("memories trust"), "{said}");
    let (code, said) = shared.run("group", &["trust", "."], "");
    assert_eq!(code, 0, "{said}");
    let (code, said) = shared.run("group", &["recall", "world"], "");
    assert!(code == 0 && said.contains("of the group"), "{code}: {said}");
    let (code, said) = shared.run("group", &["add", "world", "from the second member"], "");
    assert!(code == 0 && said.contains("stored"), "{code}: {said}");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("of the group") && text.contains("from the second member"), "{text}");
    let metadata = fs::metadata(&file).unwrap();
    assert_eq!((metadata.gid(), metadata.mode() & 0o777), (OWN, 0o664), "the group keeps its rights");
    let (code, said) = shared.run_as(OTHER, "group", &["trust", "."], "");
    assert_eq!(code, 0, "{said}");
    let (code, said) = shared.run_as(OTHER, "group", &["recall", "world"], "");
    assert!(code == 0 && said.contains("of the group") && said.contains("from the second member"), "{said}");
    let (code, said) = shared.run_as(OTHER, "group", &["add", "world", "from the first member"], "");
    assert!(code == 4 && said.contains("belongs to user 1") && said.contains("hint: "), "{code}: {said}");
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}
