//! A disk that is full, at every size.

use super::*;

/// A file system in memory with this capacity in bytes, unmounted when dropped.
struct Small {
    folder: TempDir,
}

impl Small {
    fn mount(bytes: usize) -> Option<Small> {
        let folder = tempfile::tempdir().unwrap();
        let options = format!("size={bytes},mode=755");
        let mount = ["-t", "tmpfs", "-o", &options, "tmpfs", folder.path().to_str().unwrap()];
        let mounted = Command::new("mount").args(mount).stderr(Stdio::null()).status();
        mounted.is_ok_and(|status| status.success()).then_some(Small { folder })
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.folder.path()).status();
    }
}

/// Writes until nothing more fits, then makes room: at each step all that was acknowledged is there.
#[test]
#[ignore = "soak"]
fn a_full_disk_of_many_sizes() {
    let name = "full disk";
    if !is_root() || Small::mount(1 << 20).is_none() {
        return skip(name, "only root mounts a small disk");
    }
    let tally = Tally::new(name);
    let sizes: Vec<usize> = (3..43).map(|pages| pages * 4096).collect();
    for_each(&sizes, |&size| {
        let disk = Small::mount(size).expect("mounted before");
        tally.note(&format!("{size} bytes"), fill(disk.folder.path(), &tally));
    });
    tally.close();
}

fn fill(folder: &Path, tally: &Tally) -> Result<(), String> {
    let ballast = folder.join("memories.toml");
    let _ = fs::write(&ballast, "# ballast\n".repeat(500));
    let mut stored: Vec<String> = Vec::new();
    let mut refused = 0;
    for number in 0..60 {
        let title = format!("Entry {number}");
        let text = if number % 3 == 0 {
            (0..8).map(|part| unlike(number * 100 + part)).collect::<Vec<_>>().join(" ")
        } else {
            unlike(number)
        };
        let mut arguments = add(&title, &text);
        if number % 5 == 4 {
            arguments.push("--ephemeral");
        }
        let before = Kept::of(folder);
        let output = run(folder, &arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        let kept = Kept::of(folder);
        match output.status.code() {
            Some(0) => {
                hold!(String::from_utf8_lossy(&output.stdout).starts_with("stored"), "not stored");
                if !said.is_empty() {
                    tally.count("writes with a warning");
                }
                stored.push(title);
                tally.count("writes");
            }
            Some(4) => {
                tally.count("refusals");
                refused += 1;
                hold!(said.contains("the disk is full: free some space"), "no word of the disk: {said}");
                hold!(kept.file == before.file && kept.session == before.session, "refused, but written");
            }
            code => return Err(format!("ended with {code:?}: {said}")),
        }
        for title in &stored {
            hold!(kept.knows(title), "{title} is lost at entry {number}: {said}");
        }
        if let (Some(backup), Some(file)) = (kept.backup(), &before.file) {
            hold!(backup == file || Some(backup) == before.backup(), "the backup is torn");
        }
        // Half a line that was on the disk when it was full is put aside.
        let is_known = |name: &String| name == "memories.toml" || name.ends_with(".torn");
        let left: Vec<String> = leftovers(folder).into_iter().filter(|name| !is_known(name)).collect();
        hold!(left.is_empty(), "left over when full: {left:?}");
        if refused > 6 {
            break;
        }
    }
    let read = run(folder, &["recall", "23"]);
    hold!(read.status.success(), "no recall on a full disk: {}", String::from_utf8_lossy(&read.stderr));
    fs::remove_file(&ballast).map_err(|error| error.to_string())?;
    for backup in
        fs::read_dir(folder.join(".memories").join(FILE).join("backups")).into_iter().flatten().flatten()
    {
        fs::remove_file(backup.path()).map_err(|error| error.to_string())?;
    }
    let output = run(folder, &["add", "24", "--title", "After", "--text", "There is room again."]);
    let kept = Kept::of(folder);
    // The smallest disks never hold two states of the file; those that do go on without help.
    if output.status.success() {
        tally.count("went on when there was room");
        hold!(kept.knows("After"), "stored without being there");
    } else {
        tally.count("stayed full");
    }
    for title in &stored {
        hold!(kept.knows(title), "{title} is lost in the end");
    }
    Ok(())
}

/// Output that cannot be printed is an error, and the write before it is not undone.
#[test]
#[ignore = "soak"]
fn an_output_that_is_full() {
    let name = "full output";
    let Ok(full) = fs::OpenOptions::new().write(true).open("/dev/full") else {
        return skip(name, "there is no /dev/full");
    };
    let tally = Tally::new(name);
    let folder = prepared();
    for arguments in
        [add("New", "A new one."), vec!["recall", "23"], vec!["list"], vec!["show", "23"], vec!["--help"]]
    {
        let output = memories(folder.path(), &arguments).stdout(full.try_clone().unwrap()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let check = || {
            hold!(output.status.code() == Some(4), "{:?}: {said}", output.status);
            hold!(said.contains("cannot write the answer") && said.contains("hint: "), "{said}");
            hold!(!arguments.contains(&"add") || Kept::of(folder.path()).knows("New"), "the write is undone");
            Ok(())
        };
        tally.note(arguments[0], check());
    }
    tally.close();
}
