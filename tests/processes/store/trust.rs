//! Side files that others put there: links, other users' files, pipes, files that git tracks. None of them leads
//! to a file elsewhere, and none withholds a memory.

use std::os::unix::fs::{chown, symlink};
use std::process::{Command, Output};

use super::*;
use crate::program::{finished, former_states, former_text, memories};

const SECRET: &str = "a file of the person\n";

const FILE: &str = "## Location 5: Hall\n\n### Memories\n\n**[NOTE] Lamp**\nThe lamp is lit.\n\n---\n";

/// A folder `home` with a memory file, and beside it a file and a folder that nobody may touch.
struct Place {
    root: TempDir,
}

impl Place {
    fn new() -> Place {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("home")).unwrap();
        fs::write(root.path().join("home/Memories.md"), FILE).unwrap();
        fs::write(root.path().join("victim"), SECRET).unwrap();
        fs::create_dir(root.path().join("victims")).unwrap();
        for number in 1..=20 {
            fs::write(root.path().join(format!("victims/{number}.md")), SECRET).unwrap();
        }
        Place { root }
    }

    fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// A file beside the memory file; its folder is there.
    fn side(&self, name: &str) -> PathBuf {
        let folder = self.home().join(".memories/Memories.md");
        fs::create_dir_all(&folder).unwrap();
        folder.join(name)
    }

    /// Runs a command, which must end soon.
    fn run(&self, arguments: &[&str]) -> (i32, String) {
        finished(memories(&self.home(), arguments))
    }

    fn add(&self, title: &str) -> (i32, String) {
        self.run(&[
            "add",
            "5",
            "--title",
            title,
            "--text",
            &format!("{title} is an open door, said {title}."),
        ])
    }

    /// The victims are as they were, and nobody made another file beside them.
    #[track_caller]
    fn assert_untouched(&self, case: &str) {
        assert_eq!(fs::read_to_string(self.root.path().join("victim")).unwrap(), SECRET, "{case}");
        assert_eq!(names(&self.root.path().join("victims")).len(), 20, "{case}");
        assert_eq!(names(self.root.path()), ["home", "victim", "victims"], "{case}");
    }

    fn file(&self) -> String {
        fs::read_to_string(self.home().join("Memories.md")).unwrap()
    }

    /// A reader shows the memory, and says once what it goes without.
    #[track_caller]
    fn assert_recalled(&self, path: &str, case: &str) {
        let Output { status, stdout, stderr } = memories(&self.home(), &["recall", "5"]).output().unwrap();
        let (text, said) = (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap());
        assert!(status.success() && text.contains("The lamp is lit."), "{case}: {text}{said}");
        assert_eq!(said.matches("warning: ").count(), 1, "{case}: {said}");
        assert!(said.contains(path), "{case}: {said}");
    }
}

/// Writers refuse and change nothing.
#[track_caller]
fn assert_refused((code, said): (i32, String), problem: &str, case: &str) {
    assert_eq!(code, 4, "{case}: {said}");
    assert!(said.contains("error: ") && said.contains(problem) && said.contains("hint: "), "{case}: {said}");
}

#[test]
fn links_in_place_of_side_files_lead_nowhere() {
    for target in ["../../../victim", "../../../missing"] {
        for name in ["lock", "journal.jsonl", "written", "session.md", "untracked"] {
            let place = Place::new();
            symlink(target, place.side(name)).unwrap();
            let case = format!("{name} -> {target}");
            let added = place.run(&["record", "--location", "5", "--action", "jump", "--response", "No."]);
            match name {
                // `add` and `record` do not read it.
                "untracked" => assert_eq!(added.0, 0, "{case}: {}", added.1),
                "written" => {
                    assert!(added.0 == 0 || added.1.contains("symbolic link"), "{case}: {}", added.1)
                }
                _ => {
                    assert_refused(added, "symbolic link", &case);
                    assert_refused(place.add("New"), "symbolic link", &case);
                    assert_eq!(place.file(), FILE, "{case}");
                }
            }
            place.assert_untouched(&case);
        }
        // These are never opened by their own names: they are removed, and new ones renamed over.
        for name in ["recorded.new", "session.md.new", "state.json.new", "index.new"] {
            let place = Place::new();
            symlink(target, place.side(name)).unwrap();
            assert_eq!(place.add("New").0, 0, "{name}");
            assert_eq!(place.run(&["episode", "start"]).0, 0, "{name}");
            place.assert_untouched(name);
        }
    }
}

#[test]
fn a_link_in_place_of_a_folder_leads_nowhere() {
    for (link, target) in [
        (".memories", "../victims"),
        (".memories/Memories.md", "../../victims"),
        (".memories/Memories.md/backups", "../../../victims"),
        (".memories/.gitignore", "../../victim"),
    ] {
        let place = Place::new();
        let link = place.home().join(link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(target, &link).unwrap();
        for title in ["One", "Two", "Three"] {
            assert_refused(place.add(title), "symbolic link", target);
        }
        assert_eq!(place.file(), FILE);
        place.assert_untouched(&link.display().to_string());
        if !link.ends_with("backups") && !link.ends_with(".gitignore") {
            place.assert_recalled(link.to_str().unwrap(), target);
        }
    }
}

/// Otherwise a link to another file's folder would have its numbered files removed one by one.
#[test]
fn only_files_that_were_made_as_backups_are_removed() {
    let place = Place::new();
    fs::create_dir(place.side("backups")).unwrap();
    for number in 1..=11 {
        symlink("../../../../victim", place.side("backups").join(format!("{number}.md"))).unwrap();
    }
    fs::create_dir(place.side("backups/12.md")).unwrap();
    for number in 0..5 {
        assert_eq!(place.add(&format!("Title {number}")).0, 0);
    }
    let kept = names(&place.side("backups"));
    assert!(kept.len() > 12 && (1..=12).all(|number| kept.contains(&format!("{number}.md"))), "{kept:?}");
    let restored = place.run(&["restore", "3"]);
    assert!(restored.0 == 4 && !place.file().contains(SECRET), "{}", restored.1);
    place.assert_untouched("backups");
}

#[test]
fn a_file_with_a_second_name_is_not_written() {
    for name in ["lock", "journal.jsonl"] {
        let place = Place::new();
        fs::hard_link(place.root.path().join("victim"), place.side(name)).unwrap();
        assert_refused(place.add("New"), "2 names", name);
        assert_eq!(place.file(), FILE);
        place.assert_untouched(name);
    }
}

#[test]
fn nothing_waits_for_a_pipe_and_nothing_reads_a_device() {
    for name in ["lock", "journal.jsonl", "session.md", "state.json", "written", "index", "backups"] {
        let place = Place::new();
        assert!(Command::new("mkfifo").arg(place.side(name)).status().unwrap().success());
        let (code, said) = place.add("New");
        assert!(
            code == 0
                || code == 4
                    && (said.contains("a pipe, not a file")
                        || name == "backups" && said.contains("move it out of the way")),
            "{name}: {code} {said}"
        );
        assert_eq!(code == 0, place.file().contains("New"), "{name}: {said}");
        assert_eq!(place.run(&["recall", "5"]).0, 0, "{name}");
        for reader in [&["log"][..], &["stats"], &["query", "lamp"], &["restore", "--list"], &["export"]] {
            place.run(reader);
        }
    }
    for name in ["session.md", "state.json"] {
        let place = Place::new();
        symlink("/dev/zero", place.side(name)).unwrap();
        place.assert_recalled(name, name);
        // A file of so many bytes takes no room on the disk, and would take all memory.
        fs::remove_file(place.side(name)).unwrap();
        fs::File::create(place.side(name)).unwrap().set_len(1 << 40).unwrap();
        place.assert_recalled(name, name);
    }
}

#[test]
fn the_modes_are_the_owners_alone() {
    let place = Place::new();
    let mode = |path: &Path| fs::symlink_metadata(path).unwrap().mode() & 0o7777;
    let private = |case: &str| {
        for folder in [".memories", ".memories/Memories.md", ".memories/Memories.md/backups"] {
            assert_eq!(mode(&place.home().join(folder)), 0o700, "{case}: {folder}");
        }
        for name in names(&place.side("")).into_iter().filter(|name| name != "backups") {
            assert_eq!(mode(&place.side(&name)), 0o600, "{case}: {name}");
        }
    };
    fs::set_permissions(place.home().join("Memories.md"), fs::Permissions::from_mode(0o600)).unwrap();
    fs::create_dir_all(place.home().join(".memories/Memories.md/backups")).unwrap();
    for name in ["journal.jsonl", "session.md", "lock"] {
        fs::write(place.side(name), "").unwrap();
    }
    for folder in [".memories", ".memories/Memories.md", ".memories/Memories.md/backups"] {
        fs::set_permissions(place.home().join(folder), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let written = place.run(&["episode", "start"]);
    assert_eq!(written.0, 0, "{}", written.1);
    assert_eq!(place.run(&["record", "--location", "5", "--action", "jump", "--response", "No."]).0, 0);
    assert_eq!(place.add("New").0, 0);
    private("tightened");
    fs::remove_dir_all(place.home().join(".memories")).unwrap();
    assert_eq!(place.add("Newer").0, 0);
    assert_eq!(place.run(&["add", "5", "--title", "Brief", "--text", "A smell.", "--ephemeral"]).0, 0);
    private("new");
    for state in former_states(&place.home()) {
        assert_eq!(mode(&state), 0o600);
    }
}

/// The program, run by `nobody`; `None` where that is not possible.
fn as_nobody(folder: &Path, arguments: &[&str]) -> Option<Output> {
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    command.arg(env!("CARGO_BIN_EXE_memories")).args(arguments).current_dir(folder);
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", folder);
    command.output().ok()
}

#[test]
fn a_folder_of_another_user_is_not_used() {
    let place = Place::new();
    let open = |path: &Path, mode: u32| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    open(place.root.path(), 0o755);
    open(&place.home(), 0o1777);
    if !as_nobody(&place.home(), &["--version"]).is_some_and(|output| output.status.success()) {
        return skipped("only root becomes somebody else, and the program must be open to all");
    }
    // Made by nobody, used by root.
    place.side("");
    for folder in [".memories", ".memories/Memories.md"] {
        chown(place.home().join(folder), Some(65534), Some(65534)).unwrap();
    }
    assert_refused(place.add("New"), "belongs to user 65534, and you are user 0", "root");
    assert_refused(
        place.run(&["record", "--location", "5", "--action", "jump", "--response", "No."]),
        "belongs to user 65534",
        "root",
    );
    place.assert_recalled(".memories", "root");
    // The file alone, in a folder of root's.
    let journal = place.side("journal.jsonl");
    for folder in [".memories", ".memories/Memories.md"] {
        chown(place.home().join(folder), Some(0), Some(0)).unwrap();
    }
    fs::write(&journal, "").unwrap();
    chown(&journal, Some(65534), Some(65534)).unwrap();
    assert_refused(place.add("New"), "journal.jsonl` belongs to user 65534", "journal");
    assert_eq!(place.file(), FILE);
    // Made by root, used by nobody: the memory is read, and the history is not.
    fs::remove_file(&journal).unwrap();
    assert_eq!(place.add("New").0, 0);
    let read = as_nobody(&place.home(), &["recall", "5"]).unwrap();
    let said = String::from_utf8_lossy(&read.stderr);
    assert!(String::from_utf8_lossy(&read.stdout).contains("The lamp is lit."), "{said}");
    assert!(said.contains("belongs to user 0, and you are user 65534"), "{said}");
    assert_eq!(said.matches("warning: ").count(), 1, "{said}");
}

pub(super) fn git(folder: &Path, arguments: &[&str]) -> bool {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"]);
    let output = command.args(arguments).current_dir(folder).env("HOME", folder).output();
    output.is_ok_and(|output| output.status.success())
}

#[test]
fn a_folder_that_git_tracks_is_not_used() {
    for (format, version, name) in
        [("sha1", "2", "Memories.md"), ("sha1", "4", "sub/dir/Memories.md"), ("sha256", "4", "Memories.md")]
    {
        let place = Place::new();
        let home = place.home();
        if !git(&home, &["init", "-q", &format!("--object-format={format}")]) {
            return skipped("there is no git");
        }
        let case = format!("{format}, version {version}, {name}");
        let path = home.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if name != "Memories.md" {
            fs::rename(home.join("Memories.md"), &path).unwrap();
        }
        let run = |arguments: &[&str]| finished(memories(&home, &[&["-f", name], arguments].concat()));
        let add = |title: &str| run(&["add", "5", "--title", title, "--text", &format!("{title} holds.")]);
        for other in [".memorials", "sub", ".git.md", "z"] {
            let _ = fs::create_dir(home.join(other));
            fs::write(home.join(other).join("x"), "").unwrap();
        }
        git(&home, &["add", "."]);
        git(&home, &["update-index", "--index-version", version]);
        assert_eq!(add("Before").0, 0, "{case}");
        // The mark of the index is kept, so the next command does not read it.
        assert_eq!(add("Marked").0, 0, "{case}");
        let sidecar = path.with_file_name(".memories").join("Memories.md");
        assert!(sidecar.join("untracked").exists(), "{case}");
        assert!(git(&home, &["add", "-f", sidecar.join("journal.jsonl").to_str().unwrap()]), "{case}");
        assert_refused(add("After"), "is tracked by git", &case);
        let recalled = memories(&home, &["-f", name, "recall", "5"]).output().unwrap();
        assert!(String::from_utf8_lossy(&recalled.stdout).contains("The lamp is lit."), "{case}");
        assert!(String::from_utf8_lossy(&recalled.stderr).contains("is tracked by git"), "{case}");
        // The hint is enough.
        let folder = path.parent().unwrap();
        assert!(git(folder, &["rm", "-rq", "--cached", ".memories"]), "{case}");
        assert_eq!(add("Again").0, 0, "{case}");
    }
}

#[test]
fn a_work_tree_and_a_submodule_have_an_index_too() {
    let place = Place::new();
    let (home, tree) = (place.home(), place.root.path().join("tree"));
    if !git(&home, &["init", "-q"]) {
        return skipped("there is no git");
    }
    fs::write(place.side("state.json"), "{\"episode\": 9}").unwrap();
    git(&home, &["add", "-f", "."]);
    assert!(git(&home, &["commit", "-qm", "one"]));
    assert!(git(&home, &["worktree", "add", "-q", tree.to_str().unwrap()]));
    let other = place.root.path().join("other");
    fs::create_dir(&other).unwrap();
    assert!(git(&other, &["init", "-q"]));
    assert!(git(&other, &["submodule", "--quiet", "add", home.to_str().unwrap(), "module"]));
    for clone in [home, tree, other.join("module")] {
        let added = finished(memories(&clone, &["add", "5", "--title", "New", "--text", "It is new."]));
        assert_refused(added, "is tracked by git", &clone.display().to_string());
        let episode = memories(&clone, &["recall", "5"]).output().unwrap();
        assert!(String::from_utf8_lossy(&episode.stderr).contains("git rm -r --cached .memories"));
    }
}

/// An editor that writes in place changes the file that it has open, under all of its names.
#[test]
fn who_edits_the_file_in_place_changes_no_kept_state() {
    let place = Place::new();
    assert_eq!(place.add("One").0, 0);
    assert_eq!(place.add("Two").0, 0);
    let before = former_text(&place.home());
    fs::OpenOptions::new()
        .write(true)
        .truncate(true)
        .open(place.home().join("Memories.md"))
        .and_then(|mut file| std::io::Write::write_all(&mut file, b"altered\n"))
        .unwrap();
    assert_eq!(place.run(&["restore"]).0, 0);
    assert_eq!(place.file(), before);
}

#[test]
fn an_export_replaces_no_file_of_our_own() {
    let place = Place::new();
    assert_eq!(place.add("One").0, 0);
    symlink(".memories/Memories.md/lock", place.home().join("lock.jsonl")).unwrap();
    let read = |name: &str| fs::read(place.home().join(name)).unwrap_or_default();
    for (target, file) in [
        ("Memories.md", "Memories.md"),
        (".memories/Memories.md/journal.jsonl", ".memories/Memories.md/journal.jsonl"),
        (".memories/Memories.md/backups/1.md", ".memories/Memories.md/backups/1.md"),
        ("./.memories/../.memories/new.jsonl", ".memories/new.jsonl"),
        ("lock.jsonl", ".memories/Memories.md/lock"),
    ] {
        let before = read(file);
        assert_refused(place.run(&["export", target, "--format", "jsonl", "--force"]), "memory file", target);
        assert_eq!(read(file), before, "{target}");
    }
}

#[test]
fn a_memory_file_that_was_found_is_no_link_to_a_file_elsewhere() {
    for (target, is_inside) in
        [("../victim", false), ("inside.md", true), (".git/config", false), ("../missing", false)]
    {
        let place = Place::new();
        fs::create_dir(place.home().join(".git")).unwrap();
        fs::write(place.home().join(".git/config"), "").unwrap();
        fs::rename(place.home().join("Memories.md"), place.home().join("inside.md")).unwrap();
        symlink(target, place.home().join("Memories.md")).unwrap();
        let (added, recalled) = (place.add("New"), place.run(&["recall", "5"]));
        if is_inside {
            assert_eq!((added.0, recalled.0), (0, 0), "{target}: {}", added.1);
            continue;
        }
        assert_refused(added, "leads out of its repository", target);
        assert_refused(recalled, "name the file with `-f`", target);
        place.assert_untouched(target);
        assert_eq!(fs::read(place.home().join(".git/config")).unwrap(), b"", "{target}");
        // A person may name it.
        assert_eq!(place.run(&["-f", "Memories.md", "add", "5", "--title", "New", "--text", "Named."]).0, 0);
    }
}
