//! `merge --install` with the real git: conflicts, drivers that cannot run, hostile repositories, and what is written.

mod authors;
mod flow;
mod resolve;
mod shown;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::program::NOW;

/// A folder that is home to git, the program and some repositories.
struct World {
    home: TempDir,
}

impl World {
    /// The program in a folder on the path, and an identity for git.
    fn new() -> World {
        let world = World { home: tempfile::tempdir().unwrap() };
        fs::create_dir(world.at("bin")).unwrap();
        let (own, program) = (Path::new(env!("CARGO_BIN_EXE_memories")), world.at("bin/memories"));
        if fs::hard_link(own, &program).is_err() {
            fs::copy(own, &program).unwrap();
        }
        for (key, value) in [
            ("user.name", "A B"),
            ("user.email", "a@b.invalid"),
            ("init.defaultBranch", "main"),
            ("pull.rebase", "false"),
            ("advice.diverging", "false"),
        ] {
            world.git(".", &["config", "--global", key, value]);
        }
        world
    }

    fn at(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn command(&self, program: &str, folder: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", self.at("bin").display());
        command.args(arguments).current_dir(self.at(folder)).env_clear().env("PATH", path);
        command.env("HOME", self.home.path()).env("GIT_CONFIG_GLOBAL", self.at("gitconfig"));
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_EDITOR", "true").env("MEMORIES_NOW", NOW);
        command.env("GIT_CEILING_DIRECTORIES", self.home.path());
        command
    }

    fn run(&self, program: &str, folder: &str, arguments: &[&str]) -> (i32, String, String) {
        let output = self.command(program, folder, arguments).output().unwrap();
        let Output { status, stdout, stderr } = output;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        (status.code().unwrap_or(-1), text(stdout), text(stderr))
    }

    /// Runs git, which must succeed.
    #[track_caller]
    fn git(&self, folder: &str, arguments: &[&str]) -> String {
        let (code, stdout, stderr) = self.run("git", folder, arguments);
        assert_eq!(code, 0, "git {arguments:?}: {stdout}{stderr}");
        stdout
    }

    /// Runs the program, which must succeed.
    #[track_caller]
    fn memories(&self, folder: &str, arguments: &[&str]) -> String {
        let (code, stdout, stderr) = self.run(self.at("bin/memories").to_str().unwrap(), folder, arguments);
        assert_eq!(code, 0, "memories {arguments:?}: {stdout}{stderr}");
        stdout + &stderr
    }

    /// Records an episode and commits it.
    fn play(&self, folder: &str, episode: usize) {
        let turns = format!("{}/fixtures/turns/zork1_ep{episode}.jsonl", env!("CARGO_MANIFEST_DIR"));
        self.memories(folder, &["record", "-q", "--turns", &turns]);
        self.git(folder, &["add", "-A"]);
        self.git(folder, &["commit", "-qm", &format!("episode {episode}")]);
    }

    /// A bare repository `origin` in which the first episode was played, with the attributes of the memory file, and a
    /// clone of it for each name.
    fn clones(&self, names: &[&str]) {
        self.git(".", &["init", "-q", "--bare", "origin"]);
        self.git(".", &["clone", "-q", "origin", "first"]);
        self.memories("first", &["merge", "--install"]);
        self.play("first", 1);
        self.git("first", &["push", "-q", "origin", "main"]);
        for name in names {
            self.git(".", &["clone", "-q", "origin", name]);
            self.memories(name, &["merge", "--install"]);
        }
    }

    fn text(&self, folder: &str) -> String {
        fs::read_to_string(self.at(folder).join("Memories.md")).unwrap()
    }

    /// The memory file at a revision.
    fn text_at(&self, folder: &str, revision: &str) -> String {
        self.git(folder, &["show", "--no-textconv", &format!("{revision}:Memories.md")])
    }
}

/// A repository with one entry, whose text two branches word differently.
fn two_wordings(world: &World, folder: &str) {
    world.git(".", &["init", "-q", folder]);
    world.memories(
        folder,
        &["add", "world", "--category", "NOTE", "--title", "Rug", "--text", "It is heavy.", "-q"],
    );
    world.memories(
        folder,
        &["add", "world", "--category", "NOTE", "--title", "Lamp", "--text", "It shines.", "-q"],
    );
    world.memories(folder, &["merge", "--install"]);
    world.git(folder, &["add", "-A"]);
    world.git(folder, &["commit", "-qm", "base"]);
    let text = world.text(folder);
    for (branch, words) in [("theirs", "It is made of wool."), ("ours", "It hides a trap door.")] {
        world.git(folder, &["checkout", "-q", "-b", branch, "main"]);
        fs::write(world.at(folder).join("Memories.md"), text.replace("It is heavy.", words)).unwrap();
        world.git(folder, &["commit", "-qam", branch]);
    }
}

#[test]
fn a_text_that_both_sides_worded_is_a_conflict_of_that_entry_alone() {
    let world = World::new();
    two_wordings(&world, "r");
    let (code, out, err) = world.run("git", "r", &["merge", "theirs"]);
    assert_eq!(code, 1, "{out}{err}");
    assert!(out.contains("CONFLICT (content): Merge conflict in Memories.md"), "{out}");
    assert!(err.contains("warning: Memories.md:") && err.contains("hint: keep what is true"), "{err}");
    let text = world.text("r");
    let marked: Vec<&str> =
        text.lines().filter(|line| line.starts_with("<<<<<<<") || line.starts_with(">>>>>>>")).collect();
    assert_eq!(marked, ["<<<<<<< HEAD", ">>>>>>> theirs"], "{text}");
    let (before, rest) = text.split_once("<<<<<<<").unwrap();
    let (marked, behind) = rest.split_once(">>>>>>>").unwrap();
    assert!(marked.contains("trap door") && marked.contains("wool"), "{text}");
    assert!(!marked.contains("Lamp") && (before.to_owned() + behind).contains("**[NOTE] Lamp**"), "{text}");

    let recalled = world.memories("r", &["recall", "world"]);
    assert!(recalled.contains("It shines.") && !recalled.contains("wool"), "{recalled}");
    assert!(recalled.contains("warning: "), "{recalled}");
    let program = world.at("bin/memories");
    let (code, _, err) = world.run(
        program.to_str().unwrap(),
        "r",
        &["add", "world", "--category", "NOTE", "--title", "x", "--text", "y"],
    );
    assert_eq!(code, 4, "{err}");
    assert!(err.contains("an unresolved git merge conflict"), "{err}");
}

#[test]
fn a_driver_that_cannot_run_fails_the_merge_and_changes_nothing() {
    let world = World::new();
    two_wordings(&world, "r");
    let before = world.text("r");
    let merge_fails = |why: &str| {
        let (code, out, err) = world.run("git", "r", &["merge", "theirs"]);
        assert_eq!(code, 2, "{why}: {out}{err}");
        assert!(err.contains("failed to execute internal merge"), "{why}: {err}");
        assert_eq!(world.text("r"), before, "{why}");
        assert_eq!(world.git("r", &["status", "--porcelain"]), "", "{why}");
    };
    // The program is missing.
    fs::rename(world.at("bin/memories"), world.at("memories")).unwrap();
    merge_fails("no program");
    let diff = world.git("r", &["diff", "main", "theirs"]);
    assert!(diff.contains("+It is made of wool."), "without the program git still shows a diff: {diff}");
    fs::rename(world.at("memories"), world.at("bin/memories")).unwrap();
    // A side is no text.
    world.git("r", &["checkout", "-q", "theirs"]);
    fs::write(world.at("r/Memories.md"), b"## World\n\xff\n").unwrap();
    world.git("r", &["commit", "-qam", "no text"]);
    world.git("r", &["checkout", "-q", "ours"]);
    merge_fails("no UTF-8");
    let (_, _, err) = world.run("git", "r", &["merge", "theirs"]);
    assert!(err.contains("`Memories.md (theirs)` is not UTF-8: line 2, column 1"), "{err}");
}

#[test]
fn a_name_of_a_branch_or_commit_is_only_a_label() {
    let world = World::new();
    two_wordings(&world, "r");
    let hostile = "x'; touch pwned; echo '$(touch pwned) `touch pwned` %A \"";
    world.git("r", &["commit", "-q", "--amend", "-m", hostile]);
    let (code, out, err) = world.run("git", "r", &["rebase", "theirs"]);
    assert_eq!(code, 1, "{out}{err}");
    let text = world.text("r");
    let closing = text.lines().find(|line| line.starts_with(">>>>>>> ")).unwrap();
    assert!(closing.contains(hostile), "{closing}");
    world.git("r", &["rebase", "--abort"]);
    // The path of the file is one, too.
    let folder = "$(touch pwned) 'x' %O \"";
    for branch in ["main", "theirs", "ours"] {
        world.git("r", &["checkout", "-q", branch]);
        fs::create_dir(world.at("r").join(folder)).unwrap();
        world.git("r", &["mv", "Memories.md", &format!("{folder}/Memories.md")]);
        world.git("r", &["commit", "-qm", "moved"]);
    }
    let (code, out, err) = world.run("git", "r", &["merge", "theirs"]);
    assert_eq!(code, 1, "{out}{err}");
    assert!(err.contains(&format!("warning: {folder}/Memories.md:")), "{err}");
    assert!(!world.at("r/pwned").exists());
}

/// A clone may bring a file with any name.
#[test]
fn a_name_that_looks_like_an_option_is_a_file() {
    let world = World::new();
    world.clones(&["a"]);
    let names = ["-x.md", "--help.md", "--", "-"];
    fs::write(world.at("a/.gitattributes"), "* merge=memories diff=memories\n").unwrap();
    for text in ["one", "two"] {
        for name in names {
            fs::write(world.at("a").join(name), format!("{text}\n")).unwrap();
        }
        world.git("a", &["add", "-A"]);
        world.git("a", &["commit", "-qm", text]);
    }
    names.iter().for_each(|name| fs::write(world.at("a").join(name), "three\n").unwrap());
    for (arguments, old, new) in [(&["diff"][..], "two", "three"), (&["log", "-p", "-1"], "one", "two")] {
        let patch = world.git("a", arguments);
        assert_eq!(patch.matches(&format!("\n-{old}\n+{new}\n")).count(), names.len(), "{patch}");
    }
}

#[test]
fn a_base_with_a_conflict_does_not_stop_a_merge() {
    let world = World::new();
    two_wordings(&world, "r");
    let resolved = |branch: &str, other: &str, words: &str| {
        world.git("r", &["checkout", "-q", branch]);
        assert_eq!(world.run("git", "r", &["merge", other]).0, 1);
        let text = world.text_at("r", "main").replace("It is heavy.", words);
        fs::write(world.at("r/Memories.md"), text).unwrap();
        world.git("r", &["commit", "-qam", "resolved"]);
    };
    world.git("r", &["branch", "old", "ours"]);
    resolved("ours", "theirs", "It is made of wool and hides a trap door.");
    resolved("theirs", "old", "It is made of wool and hides a trap door.");
    for branch in ["ours", "theirs"] {
        world.git("r", &["checkout", "-q", branch]);
        world.memories(
            "r",
            &["add", "world", "--category", "NOTE", "--title", branch, "--text", branch, "-q"],
        );
        world.git("r", &["commit", "-qam", "more"]);
    }
    // The two bases of this merge are in conflict with each other.
    assert_eq!(world.git("r", &["merge-base", "--all", "ours", "theirs"]).lines().count(), 2);
    world.git("r", &["merge", "-q", "--no-edit", "ours"]);
    let text = world.text("r");
    for words in ["**[NOTE] ours**", "**[NOTE] theirs**", "wool and hides a trap door", "**[NOTE] Lamp**"] {
        assert_eq!(text.matches(words).count(), 1, "{words}: {text}");
    }
}

#[test]
fn a_merge_loses_no_memory_that_others_write_meanwhile() {
    let world = World::new();
    let add = |title: &str| {
        world.memories(".", &["add", "world", "--category", "NOTE", "--title", title, "--text", title, "-q"]);
    };
    add("base");
    let base = fs::read_to_string(world.at("Memories.md")).unwrap();
    fs::write(world.at("base.md"), &base).unwrap();
    for round in 0..4 {
        fs::write(world.at("theirs.md"), format!("{base}\n## NPC n{round}: N\n\n**[NOTE] theirs**\nx\n"))
            .unwrap();
        std::thread::scope(|scope| {
            for writer in 0..4 {
                scope.spawn(move || add(&format!("note {round} {writer}")));
            }
            scope.spawn(|| world.memories(".", &["merge", "base.md", "Memories.md", "theirs.md"]));
        });
    }
    let text = world.text(".");
    for round in 0..4 {
        assert_eq!(text.matches(&format!("## NPC n{round}: N")).count(), 1, "{text}");
        for writer in 0..4 {
            assert_eq!(text.matches(&format!("**[NOTE] note {round} {writer}**")).count(), 1, "{text}");
        }
    }
}

#[test]
fn the_target_keeps_its_mode_and_its_link() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let world = World::new();
    let write = |name: &str, text: &str| fs::write(world.at(name), text).unwrap();
    write("base.md", "## World\n\nA\n\n## Scene\n\nB\n");
    write("real.md", "## World\n\nA ours\n\n## Scene\n\nB\n");
    write("theirs.md", "## World\n\nA\n\n## Scene\n\nB theirs\n");
    symlink("real.md", world.at("ours.md")).unwrap();
    fs::set_permissions(world.at("real.md"), fs::Permissions::from_mode(0o640)).unwrap();
    world.memories(".", &["merge", "base.md", "ours.md", "theirs.md"]);
    assert_eq!(
        fs::read_to_string(world.at("real.md")).unwrap(),
        "## World\n\nA ours\n\n## Scene\n\nB theirs\n"
    );
    assert!(fs::symlink_metadata(world.at("ours.md")).unwrap().is_symlink());
    assert_eq!(fs::metadata(world.at("real.md")).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn install_writes_once_and_keeps_what_is_there() {
    let world = World::new();
    let name = "it's a \"repo\" 100%O";
    world.git(".", &["init", "-q", name]);
    fs::write(world.at(name).join(".gitattributes"), "*.png binary\r\n# mine").unwrap();
    let dry = world.memories(name, &["merge", "--install", "--dry-run"]);
    assert!(dry.contains("would write") && !dry.contains("wrote"), "{dry}");
    assert_eq!(fs::read_to_string(world.at(name).join(".gitattributes")).unwrap(), "*.png binary\r\n# mine");
    assert!(!world.at("bin/git-merge-memories").exists());
    let (config, attributes) = (world.at(name).join(".git/config"), world.at(name).join(".gitattributes"));
    let told = world.memories(name, &["merge", "--install"]);
    assert!(told.contains("git config --local: merge.memories.driver = memories merge "), "{told}");
    let expected = "*.png binary\r\n# mine\r\nMemories.md merge=memories diff=memories\r\n";
    assert_eq!(fs::read_to_string(&attributes).unwrap(), expected);
    let script = fs::read_to_string(world.at("bin/git-merge-memories")).unwrap();
    assert_eq!(script, "#!/bin/sh\nexec memories merge --octopus \"$*\"\n");
    assert_eq!(world.git(name, &["config", "pull.octopus"]), "memories octopus\n");
    let before = fs::read_to_string(&config).unwrap();
    let json = world.memories(name, &["merge", "--install", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((json["version"].as_u64(), json["dry_run"].as_bool()), (Some(1), Some(false)));
    assert_eq!((json["written"].as_array().unwrap().len(), json["kept"].as_array().unwrap().len()), (0, 7));
    assert_eq!(
        json["kept"][6],
        serde_json::json!({"where": "git config", "line": "pull.octopus = memories octopus"})
    );
    let again = world.memories(name, &["merge", "--install"]);
    assert!(again.lines().all(|line| line.starts_with("kept ")), "{again}");
    assert_eq!(fs::read_to_string(&config).unwrap(), before);
    assert_eq!(fs::read_to_string(&attributes).unwrap(), expected);
    // A line behind ours that says something else is answered by another one of ours.
    fs::write(&attributes, format!("{expected}Memories.md -merge\r\n")).unwrap();
    world.memories(name, &["merge", "--install"]);
    assert_eq!(
        fs::read_to_string(&attributes).unwrap(),
        format!("{expected}Memories.md -merge\r\nMemories.md merge=memories diff=memories\r\n")
    );
    // Nearer lines win, and a notice says so.
    fs::write(world.at(name).join(".git/info/attributes"), "*.md -merge\n").unwrap();
    let told = world.memories(name, &["merge", "--install"]);
    assert!(told.contains("another line still decides about `Memories.md`"), "{told}");
}

#[test]
fn a_program_off_the_path_is_named_by_a_quoted_path() {
    let world = World::new();
    let folder = world.at("my 'own' 50%A");
    fs::create_dir(&folder).unwrap();
    fs::rename(world.at("bin/memories"), folder.join("memories")).unwrap();
    let program = folder.join("memories");
    let program = program.to_str().unwrap();
    world.git(".", &["init", "-q", "r d"]);
    // A repository could bring a program of the name, where the path leads into it first.
    let path = format!("bin::{}:/usr/local/bin:/usr/bin:/bin", folder.display());
    let mut relative = world.command(program, "r d", &["merge", "--install", "--dry-run"]);
    let told = String::from_utf8(relative.env("PATH", path).output().unwrap().stdout).unwrap();
    assert!(told.contains("driver = \"") || told.contains("driver = '"), "{told}");
    let told = world.run(program, "r d", &["merge", "--install"]);
    assert_eq!(told.0, 0, "{told:?}");
    assert!(told.2.contains("is not on your PATH") && told.2.contains("git-merge-memories"), "{told:?}");
    assert_eq!(world.run("git", "r d", &["config", "pull.octopus"]).0, 1);
    let (text, file) = ("## World\n\nA\n\n## Scene\n\nB\n", world.at("r d/Memories.md"));
    fs::write(&file, text).unwrap();
    world.git("r d", &["add", "-A"]);
    world.git("r d", &["commit", "-qm", "base"]);
    for (branch, old) in [("one", "A"), ("two", "B")] {
        world.git("r d", &["checkout", "-q", "-b", branch, "main"]);
        fs::write(&file, text.replace(&format!("{old}\n"), &format!("{old} {branch}\n"))).unwrap();
        world.git("r d", &["commit", "-qam", branch]);
    }
    world.git("r d", &["merge", "-q", "--no-edit", "one"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "## World\n\nA one\n\n## Scene\n\nB two\n");
    let diff = world.git("r d", &["diff", "main", "one"]);
    assert!(diff.contains("@@ ## World\n"), "{diff}");
}

#[test]
fn global_attributes_are_the_users_own() {
    let world = World::new();
    world.git(".", &["init", "-q", "r"]);
    // A repository must not choose the file that is written.
    world.git("r", &["config", "core.attributesFile", world.at("stolen").to_str().unwrap()]);
    let told = world.memories("r", &["merge", "--install", "--global"]);
    assert!(told.contains("git config --global"), "{told}");
    let own = world.at(".config/git/attributes");
    assert_eq!(fs::read_to_string(&own).unwrap(), "Memories.md merge=memories diff=memories\n");
    assert!(!world.at("stolen").exists() && !world.at("r/.gitattributes").exists());
    fs::write(world.at("mine"), "").unwrap();
    world.git(".", &["config", "--global", "core.attributesFile", "~/mine"]);
    world.memories(".", &["merge", "--install", "--global"]);
    assert_eq!(fs::read_to_string(world.at("mine")).unwrap(), "Memories.md merge=memories diff=memories\n");
}

#[test]
fn a_repository_cannot_lead_the_install_elsewhere() {
    let world = World::new();
    world.git(".", &["init", "-q", "r"]);
    fs::write(world.at("profile"), "export X=1\n").unwrap();
    std::os::unix::fs::symlink("../profile", world.at("r/.gitattributes")).unwrap();
    let program = world.at("bin/memories");
    let run = |folder: &str, arguments: &[&str]| world.run(program.to_str().unwrap(), folder, arguments);
    let (code, _, err) = run("r", &["merge", "--install"]);
    assert_eq!(code, 4, "{err}");
    assert!(err.contains("is a link, which git does not read"), "{err}");
    assert_eq!(fs::read_to_string(world.at("profile")).unwrap(), "export X=1\n");
    assert_eq!(world.run("git", "r", &["config", "merge.memories.driver"]).0, 1, "nothing was written");
    // The name of the memory file is a pattern, and no part of a command line.
    world.git(".", &["init", "-q", "s"]);
    fs::write(world.at("s/memories.toml"), "memory_file = \"$(touch pwned) *.md\"\n").unwrap();
    let told = world.memories("s", &["merge", "--install"]);
    assert!(
        told.contains(r#""$(touch\040pwned)"#) || told.contains(r#""$(touch pwned) \\*.md" merge="#),
        "{told}"
    );
    assert!(!world.git("s", &["config", "--get-regexp", "memories"]).contains("touch"));
    fs::write(world.at("s/x.md"), "").unwrap();
    let of = |name: &str| world.git("s", &["check-attr", "merge", "--", name]);
    assert!(of("x.md").contains("unspecified") && of("$(touch pwned) *.md").contains("merge: memories"));
    // Outside of a repository.
    fs::create_dir(world.at("t")).unwrap();
    let (code, _, err) = run("t", &["merge", "--install"]);
    assert_eq!(code, 4, "{err}");
    assert!(err.contains("is not in the work tree of a git repository") && err.contains("hint: "), "{err}");
    // Without git.
    let mut without = world.command(program.to_str().unwrap(), "r", &["merge", "--install"]);
    let output = without.env("PATH", "/nonexistent").output().unwrap();
    assert_eq!(output.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot run `git`"));
}

#[test]
fn init_offers_the_driver_once() {
    let world = World::new();
    world.git(".", &["init", "-q", "r"]);
    let offer = "`memories merge --install` lets git merge this file by what it means";
    assert!(world.memories("r", &["init"]).contains(offer));
    world.memories("r", &["merge", "--install"]);
    assert!(!world.memories("r", &["init"]).contains(offer));
    fs::create_dir(world.at("s")).unwrap();
    assert!(!world.memories("s", &["init"]).contains(offer));
}
