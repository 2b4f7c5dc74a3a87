//! Folders and files without write permission, odd modes, links, and set-gid folders.

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};

use super::*;

/// User and group `nobody`, as on most systems; any id without an account does.
const NOBODY: &str = "65534";

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

/// The program, run by a user without rights.
fn as_nobody(folder: &Path, arguments: &[&str]) -> Output {
    let user = format!("--reuid={NOBODY}");
    let group = format!("--regid={NOBODY}");
    by_way_of(&["setpriv", &user, &group, "--clear-groups"], folder, arguments).output().unwrap()
}

fn give_away(folder: &Path) {
    let owner = Some(NOBODY.parse().unwrap());
    chown(folder, owner, owner).unwrap();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            give_away(&entry.path());
        } else {
            chown(entry.path(), owner, owner).unwrap();
        }
    }
}

fn nobody_can_run() -> bool {
    let folder = tempfile::tempdir().unwrap();
    chmod(folder.path(), 0o777);
    is_root() && as_nobody(folder.path(), &["--version"]).status.success()
}

fn refused(folder: &Path, why: &str) -> Result<(), String> {
    let before = Kept::of(folder);
    let output = as_nobody(folder, &add("New", "It may not be written."));
    let said = String::from_utf8_lossy(&output.stderr);
    hold!(output.status.code() == Some(4), "{why}: {:?}: {said}", output.status);
    hold!(said.contains("ermission denied") && said.contains("hint: "), "{why}: {said}");
    hold!(Kept::of(folder) == before, "{why}: something was written");
    let left = leftovers(folder);
    hold!(left.is_empty(), "{why}: left over: {left:?}");
    let recall = as_nobody(folder, &["recall", "23"]);
    let text = String::from_utf8_lossy(&recall.stdout);
    hold!(text.contains("sword"), "{why}: recall: {text}{}", String::from_utf8_lossy(&recall.stderr));
    Ok(())
}

#[test]
#[ignore = "soak"]
fn what_may_not_be_written_is_not() {
    let name = "read-only folders and files";
    if !nobody_can_run() {
        return skip(name, "only root becomes somebody else, and the program must be open to all");
    }
    let tally = Tally::new(name);
    type Case<'a> = (&'a str, &'a dyn Fn(&Path));
    let cases: [Case<'_>; 4] = [
        ("the folder", &|folder| chmod(folder, 0o555)),
        ("the file", &|folder| chmod(&folder.join(FILE), 0o444)),
        ("the lock", &|folder| chmod(&folder.join(".memories").join(FILE).join("lock"), 0o444)),
        ("another's file", &|folder| {
            chown(folder.join(FILE), Some(0), Some(0)).unwrap();
        }),
    ];
    for (case, forbid) in cases {
        let folder = prepared();
        give_away(folder.path());
        forbid(folder.path());
        tally.note(case, refused(folder.path(), case));
        chmod(folder.path(), 0o755);
    }
    // Without a former state nothing is replaced.
    let folder = prepared();
    give_away(folder.path());
    chmod(&folder.path().join(".memories").join(FILE).join("backups"), 0o555);
    let before = Kept::of(folder.path());
    let output = as_nobody(folder.path(), &add("New", "Written."));
    let kept = Kept::of(folder.path());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let check = || {
        hold!(output.status.code() == Some(4) && said.contains("cannot keep a backup"), "{said}");
        hold!(kept == before, "refused, but written");
        Ok(())
    };
    tally.note("the folder of backups", check());
    tally.close();
}

#[test]
#[ignore = "soak"]
fn odd_modes_and_owners_are_kept() {
    let tally = Tally::new("modes and owners");
    for wanted in [0o600, 0o640, 0o660, 0o644, 0o664, 0o666, 0o755, 0o444, 0o400, 0o4644, 0o2664] {
        let folder = prepared();
        let file = folder.path().join(FILE);
        chmod(&file, wanted);
        let output = run(folder.path(), &add("New", "A new one."));
        let check = || {
            let said = String::from_utf8_lossy(&output.stderr);
            let writable = is_root() || wanted & 0o200 != 0;
            hold!(output.status.success() == writable, "{said}");
            hold!(mode(&file) == wanted, "now {:o}", mode(&file));
            let former = folder.path().join(".memories").join(FILE).join("backups/3.md");
            hold!(!writable || mode(&former) == wanted, "the former state has {:o}", mode(&former));
            Ok(())
        };
        tally.note(&format!("{wanted:o}"), check());
    }
    if !is_root() {
        skip("set-gid folders", "only root makes them for other groups");
        return tally.close();
    }
    // In a set-gid folder, a new file gets the folder's group, and an old one keeps its own.
    let folder = tempfile::tempdir().unwrap();
    chown(folder.path(), None, Some(23456)).unwrap();
    chmod(folder.path(), 0o2775);
    succeed(
        folder.path(),
        &["add", "23", "--name", "Place", "--title", "One", "--text", "The first of them."],
    );
    let group = |path: PathBuf| fs::metadata(path).unwrap().gid();
    let of_folder = || {
        for name in [FILE, ".memories", ".memories/Memories.md", ".memories/Memories.md/lock"] {
            hold!(group(folder.path().join(name)) == 23456, "{name} has another group");
        }
        Ok(())
    };
    tally.note("a new file in a set-gid folder", of_folder());
    chown(folder.path().join(FILE), Some(12345), Some(34567)).unwrap();
    succeed(folder.path(), &add("Two", "The second sort of thing."));
    let of_file = || {
        hold!(group(folder.path().join(FILE)) == 34567, "the group has changed");
        hold!(fs::metadata(folder.path().join(FILE)).unwrap().uid() == 12345, "the owner has changed");
        Ok(())
    };
    tally.note("an old file in a set-gid folder", of_file());
    tally.close();
}

#[test]
#[ignore = "soak"]
fn one_file_by_many_names() {
    let tally = Tally::new("two sidecar folders");
    // By symbolic links, near and far, all names share one lock, one journal, one history.
    let home = prepared();
    let away = tempfile::tempdir().unwrap();
    symlink(home.path().join(FILE), away.path().join(FILE)).unwrap();
    succeed(home.path(), &add("Here", "Added at home."));
    succeed(away.path(), &add("Away", "Added from afar."));
    let by_link = || {
        let kept = Kept::of(home.path());
        hold!(kept.knows("Here") && kept.knows("Away"), "an entry is missing");
        hold!(fs::symlink_metadata(away.path().join(FILE)).unwrap().is_symlink(), "the link is gone");
        hold!(fs::read_dir(away.path()).unwrap().count() == 1, "something lies beside the link");
        hold!(leftovers(home.path()).is_empty(), "left over");
        Ok(())
    };
    tally.note("a symbolic link from another folder", by_link());
    // A hard link in another folder has a sidecar of its own: the first write parts the two names.
    // Each goes on whole; what the one had stays readable by the other.
    let other = tempfile::tempdir().unwrap();
    fs::hard_link(home.path().join(FILE), other.path().join(FILE)).unwrap();
    let before = Kept::of(home.path());
    succeed(other.path(), &add("Parted", "Added by the other name."));
    let parted = || {
        let (home, other) = (Kept::of(home.path()), Kept::of(other.path()));
        hold!(home == before, "the first name has changed");
        hold!(
            other.knows("Parted") && other.knows("Away") && other.backup() == before.file.as_ref(),
            "the other lacks something"
        );
        Ok(())
    };
    tally.note("a hard link in another folder", parted());
    succeed(home.path(), &add("Still", "Added by the first name."));
    let both = || {
        let (home, other) = (Kept::of(home.path()), Kept::of(other.path()));
        hold!(home.knows("Still") && home.knows("Away") && !home.knows("Parted"), "the first name");
        hold!(other.knows("Parted") && !other.knows("Still"), "the other name");
        hold!(home.backup() == before.file.as_ref(), "the first name's backup");
        Ok(())
    };
    tally.note("both names go on", both());
    // Two names at once, many writers: nothing that one name acknowledged is lost by that name.
    let first = prepared();
    let second = tempfile::tempdir().unwrap();
    fs::hard_link(first.path().join(FILE), second.path().join(FILE)).unwrap();
    let numbers: Vec<usize> = (0..40).collect();
    for_each(&numbers, |number| {
        let folder = if number % 2 == 0 { first.path() } else { second.path() };
        succeed(folder, &add(&format!("Entry {number}"), &unlike(*number)));
    });
    let all = || {
        for number in numbers {
            let folder = if number % 2 == 0 { first.path() } else { second.path() };
            hold!(Kept::of(folder).knows(&format!("Entry {number}")), "entry {number} is lost");
        }
        Ok(())
    };
    tally.note("40 writers by two hard links", all());
    tally.close();
}
