//! A power cut right after the answer: a file system on a loop device stops without writing another byte.

use super::*;

/// Power cuts after each kind of command.
const CUTS: usize = 100;

/// Stops the file system of a file and leaves its log as it is: `FS_IOC_GOINGDOWN` with the flag for no log flush.
const STOP: &str = r#"open(my $file, "<", $ARGV[0]) or die; my $flag = pack("L", 2);
    ioctl($file, 0x8004587D, $flag) or die "$!""#;

/// A file system of its own on a loop device.
struct Disk {
    scratch: TempDir,
}

impl Disk {
    /// `None` where this kind cannot be made or mounted here.
    fn new(kind: &str) -> Option<Disk> {
        let disk = Disk { scratch: tempfile::tempdir().unwrap() };
        fs::create_dir(disk.path()).unwrap();
        fs::File::create(disk.image()).unwrap().set_len(512 << 20).unwrap();
        let made = Command::new(format!("mkfs.{kind}")).arg("-q").arg(disk.image()).output();
        (made.is_ok_and(|made| made.status.success()) && disk.mount()).then_some(disk)
    }

    fn image(&self) -> PathBuf {
        self.scratch.path().join("image")
    }

    fn path(&self) -> PathBuf {
        self.scratch.path().join("disk")
    }

    fn mount(&self) -> bool {
        let mut mount = Command::new("mount");
        mount.args(["-o", "loop"]).arg(self.image()).arg(self.path());
        mount.output().is_ok_and(|output| output.status.success())
    }

    fn unmount(&self) -> bool {
        Command::new("umount").arg(self.path()).output().is_ok_and(|output| output.status.success())
    }

    /// Cuts the power; `false` where this file system cannot be stopped. Then the disk comes back with what it has.
    fn cut(&self) -> bool {
        let stop = Command::new("perl").args(["-e", STOP]).arg(self.path().join("stop")).output();
        let stopped = stop.is_ok_and(|output| output.status.success());
        stopped && self.unmount() && self.mount()
    }

    fn sync(&self) {
        assert!(Command::new("sync").arg("-f").arg(self.path()).status().unwrap().success());
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        self.unmount();
    }
}

/// A turn in a file of turns.
const TURN: &str = r#"{"id": "a", "location": 9, "action": "wave", "response": "Nobody sees it."}"#;

/// A command, and a check whether what it acknowledged is there.
type Case = (&'static str, &'static [&'static str], fn(&Path) -> bool);

const CASES: [Case; 4] = [
    ("recorded turn", &["record", "--turns", "turn.jsonl"], |folder| {
        let again = run(folder, &["record", "--turns", "turn.jsonl"]);
        String::from_utf8_lossy(&again.stdout).starts_with("1 turn was recorded before")
            && run(folder, &["check"]).status.success()
    }),
    (
        "queued turn",
        &["record", "--later", "--location", "9:Cave", "--action", "look", "--response", "A cave."],
        |folder| {
            String::from_utf8_lossy(&run(folder, &["retry", "--dry-run"]).stdout).contains("1 turn waits")
        },
    ),
    (
        "ephemeral memory",
        &["add", "9", "--title", "Fleeting", "--text", "The thief is near.", "--ephemeral"],
        |folder| Kept::of(folder).knows("Fleeting"),
    ),
    ("episode", &["episode", "start", "7"], |folder| Kept::of(folder).episode == Some(7)),
];

#[test]
#[ignore = "soak"]
fn a_power_cut_right_after_the_answer() {
    for kind in ["ext4", "xfs", "btrfs"] {
        let name = format!("power cut on {kind}");
        match is_root().then(|| Disk::new(kind)).flatten() {
            Some(disk) => cut_after_each_answer(&disk, &name),
            None => skip(&name, "no such file system can be made and mounted here"),
        }
    }
}

fn cut_after_each_answer(disk: &Disk, name: &str) {
    fs::write(disk.path().join("stop"), "").unwrap();
    let folder = |case: usize, number: usize| disk.path().join(format!("{case}-{number}"));
    for (case, number) in (0..CASES.len()).flat_map(|case| (0..CUTS).map(move |number| (case, number))) {
        let folder = folder(case, number);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("turn.jsonl"), TURN).unwrap();
        // Half of them have a history.
        if number % 2 == 1 {
            succeed(&folder, &["episode", "start", "3", "-q"]);
            succeed(&folder, &add("Old", "The rug hides a door."));
        }
    }
    let tally = Tally::new(name);
    for (case, (kind, arguments, is_there)) in CASES.iter().enumerate() {
        for number in 0..CUTS {
            let folder = folder(case, number);
            disk.sync();
            let output = run(&folder, arguments);
            let control = folder.join("control");
            fs::write(&control, "not synced").unwrap();
            if !disk.cut() {
                return skip(name, "this file system cannot be stopped");
            }
            tally.count(if control.exists() { "controls kept" } else { "controls lost" });
            let check = || {
                let said = String::from_utf8_lossy(&output.stderr);
                hold!(output.status.success(), "not acknowledged: {said}");
                hold!(is_there(&folder), "acknowledged and lost");
                tally.count(&format!("{kind} kept"));
                Ok(())
            };
            tally.note(&format!("{kind} {number}"), check());
        }
    }
    let lost = tally.said.lock().unwrap().get("controls lost").copied().unwrap_or_default();
    assert!(lost > CUTS, "a file that was not synced survived: nothing was cut");
    tally.close();
}
