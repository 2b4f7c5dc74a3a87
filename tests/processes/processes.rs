//! Several processes of the program at once; processes that are killed, locked out or cut off.
#![cfg(unix)]

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::program::{former_states, memories, names, send, skipped, succeed};
use serde_json::Value;
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_memories");

/// The only names in a folder with a memory file, after any fault.
const LEFT: [&str; 2] = [".memories", "Memories.md"];

fn command_in(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = memories(folder, arguments);
    command.stdin(Stdio::null());
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    command_in(folder, arguments).output().unwrap()
}

#[track_caller]
fn stderr_of(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

fn empty_folder() -> (TempDir, PathBuf) {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().canonicalize().unwrap();
    (scratch, folder)
}

fn sections(folder: &Path) -> Vec<Value> {
    let list: Value = serde_json::from_str(&succeed(folder, &["list", "--json"])).unwrap();
    list["sections"].as_array().unwrap().clone()
}

/// The file is whole, the next command works, and nothing is left over.
#[track_caller]
fn assert_sound(folder: &Path) {
    succeed(folder, &["check"]);
    succeed(folder, &["add", "world", "--category", "EVENT", "--text", "Somebody was killed."]);
    succeed(folder, &["check"]);
    assert_eq!(names(folder), LEFT);
    let beside = names(&folder.join(".memories/Memories.md"));
    let known = ["backups", "journal.1.jsonl", "journal.jsonl", "lock", "recorded", "state.json", "written"];
    assert!(beside.iter().all(|name| known.contains(&name.as_str())), "{beside:?}");
}

/// A text unlike all others, because near-duplicates are not stored.
fn text_of(number: u64) -> String {
    let mut state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut word = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        format!("{state:x}")
    };
    format!("{} {} {}", word(), word(), word())
}

#[test]
fn nothing_of_many_writers_is_lost() {
    const WRITERS: u64 = 32;
    const EACH: u64 = 4;
    const PLACES: u64 = 8;
    let (_scratch, folder) = empty_folder();
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let folder = &folder;
            scope.spawn(move || {
                for number in 0..EACH {
                    let place = ((writer + number) % PLACES).to_string();
                    let (title, text) = (format!("Note {writer} {number}"), text_of(writer * EACH + number));
                    let added = succeed(
                        folder,
                        &["add", &place, "--title", &title, "--text", &text, "--lock-timeout", "60s"],
                    );
                    assert!(added.starts_with("stored "), "{added}");
                }
            });
        }
    });
    let stored: u64 = sections(&folder).iter().map(|section| section["memory_count"].as_u64().unwrap()).sum();
    assert_eq!(stored, WRITERS * EACH);
    let journal = fs::read_to_string(folder.join(".memories/Memories.md/journal.jsonl")).unwrap();
    assert_eq!(journal.lines().skip(1).count() as u64, WRITERS * EACH);
    assert_eq!(former_states(&folder).len(), 10);
    assert_sound(&folder);
}

/// A file of turns, each at a place of its own.
fn turns_file(folder: &Path, count: u64) -> String {
    let turns: String = (0..count)
        .map(|place| {
            format!("{{\"action\": \"look\", \"response\": \"A room.\", \"location\": {{\"id\": {place}, \"name\": \"Room\"}}}}\n")
        })
        .collect();
    let path = folder.with_extension("turns.jsonl");
    fs::write(&path, turns).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Most turns that `record --turns` writes at once, and acknowledges one after the other then.
const MAX_GROUP: usize = 64;

/// Records turns, and says on stderr when each is recorded.
fn recording(folder: &Path, turns: &str) -> Child {
    let mut command = command_in(folder, &["record", "--turns", turns, "--provider", "offline", "-v"]);
    command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap()
}

fn is_acknowledged(line: &str) -> bool {
    line.contains("location:")
}

/// Ends the process after this many acknowledged turns; returns how many it has acknowledged in the end.
fn end_after(child: &mut Child, acknowledged: usize, end: impl FnOnce(&mut Child)) -> usize {
    let mut lines = BufReader::new(child.stderr.take().unwrap())
        .lines()
        .map_while(Result::ok)
        .filter(|line| is_acknowledged(line));
    assert_eq!(lines.by_ref().take(acknowledged).count(), acknowledged);
    end(child);
    let status = child.wait().unwrap();
    // A recorder that is interrupted ends after its turn, and says that it is to be run again.
    assert!(status.signal().is_some() || status.code() == Some(3), "it ended by itself: {status}");
    acknowledged + lines.count()
}

#[test]
fn a_recorder_killed_at_any_moment_leaves_a_whole_file() {
    for round in 0..6_usize {
        let (_scratch, folder) = empty_folder();
        let folder = folder.join("play");
        fs::create_dir(&folder).unwrap();
        let mut child = recording(&folder, &turns_file(&folder, 500));
        let acknowledged = end_after(&mut child, 1 + round, |child| {
            // A different point of the next write in each round.
            (0..round * 60_000).for_each(|_| std::hint::spin_loop());
            child.kill().unwrap();
        });
        let recorded = sections(&folder).len();
        let possible = acknowledged..=acknowledged + MAX_GROUP;
        assert!(possible.contains(&recorded), "{recorded} of {acknowledged}");
        assert_sound(&folder);
    }
}

#[test]
fn an_add_killed_at_any_moment_leaves_the_old_file_or_the_new_one() {
    let (_scratch, folder) = empty_folder();
    let path = folder.join("Memories.md");
    succeed(&folder, &["add", "1", "--text", "The first."]);
    let mut there = 1;
    for round in 0..25_u64 {
        let before = fs::read_to_string(&path).unwrap();
        let text = text_of(round);
        let mut child =
            command_in(&folder, &["add", "1", "--text", &text]).stdout(Stdio::null()).spawn().unwrap();
        (0..round * 32_000).for_each(|_| std::hint::spin_loop());
        child.kill().unwrap();
        child.wait().unwrap();
        let after = fs::read_to_string(&path).unwrap();
        if after != before {
            there += 1;
            assert!(after.contains(&text));
        }
        assert_eq!(sections(&folder)[0]["memory_count"], there);
    }
    assert_sound(&folder);
}

#[test]
fn an_interrupted_recorder_leaves_a_whole_file() {
    let (_scratch, folder) = empty_folder();
    let folder = folder.join("play");
    fs::create_dir(&folder).unwrap();
    let mut child = recording(&folder, &turns_file(&folder, 500));
    // Not SIGINT: it is ignored in jobs that a script started in the background, and in their children.
    let acknowledged = end_after(&mut child, 5, |child| send("-TERM", child));
    let recorded = sections(&folder).len();
    assert!(recorded == acknowledged || recorded == acknowledged + 1, "{recorded} of {acknowledged}");
    assert_sound(&folder);
}

#[test]
fn a_lock_that_another_process_holds_stops_writers_in_time_and_readers_not_at_all() {
    let (_scratch, folder) = empty_folder();
    succeed(&folder, &["add", "1", "--text", "The first."]);
    succeed(&folder, &["add", "1", "--text", "A later one."]);
    let text = fs::read(folder.join("Memories.md")).unwrap();
    let lock = folder.join(".memories/Memories.md/lock");
    let mut held = OpenOptions::new().read(true).write(true).open(lock).unwrap();
    fs2::FileExt::lock_exclusive(&held).unwrap();
    writeln!(held, "{:<10}", std::process::id()).unwrap();

    let turns = folder.with_extension("jsonl");
    fs::write(&turns, "{\"action\": \"a\", \"response\": \"b\", \"location\": 1}\n").unwrap();
    for command in [
        &["add", "1", "--text", "Another."][..],
        &["record", "--location", "1", "--action", "a", "--response", "b"],
        &["record", "--turns", turns.to_str().unwrap()],
        &["episode", "start"],
        &["restore", "1"],
        &["init"],
    ] {
        let start = Instant::now();
        let output = run(&folder, &[command, &["--lock-timeout", "100ms"]].concat());
        let waited = start.elapsed();
        assert_eq!(output.status.code(), Some(3), "{command:?}: {output:?}");
        assert!(waited < Duration::from_secs(5), "{command:?}: {waited:?}");
        let said = stderr_of(&output);
        assert!(
            said.contains(&format!("is held by process {} for more than 100ms", std::process::id())),
            "{said}"
        );
        assert!(said.contains("\nhint: try again"), "{said}");
        assert!(output.stdout.is_empty());
    }
    fs::remove_file(turns).unwrap();
    for command in [&["recall", "1"][..], &["list"], &["show", "1"], &["check"], &["episode", "show"]] {
        succeed(&folder, command);
    }
    assert_eq!(fs::read(folder.join("Memories.md")).unwrap(), text);

    let mut waiting = command_in(&folder, &["add", "1", "--text", "Another.", "--lock-timeout", "60s"]);
    let mut waiting = waiting.stdout(Stdio::null()).spawn().unwrap();
    fs2::FileExt::unlock(&held).unwrap();
    assert!(waiting.wait().unwrap().success());
    assert_sound(&folder);
}

/// Runs a shell script in a mount namespace of its own; `None` where that is not permitted. `$M` is
/// the program, `$D` the folder.
fn with_own_mounts(folder: &Path, script: &str) -> Option<Output> {
    let shell = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--propagation", "private", "sh", "-c", script]);
        command.env("M", PROGRAM).env("D", folder).env("HOME", folder).stdin(Stdio::null());
        command.output().ok()
    };
    let permitted = shell("mount -t tmpfs tmpfs \"$D\"")?.status.success();
    permitted.then(|| shell(script).unwrap())
}

#[test]
fn a_folder_that_cannot_be_written_can_be_read() {
    let (_scratch, folder) = empty_folder();
    fs::write(
        folder.join("Memories.md"),
        "## Location 1: Hall\n**Visits:** 2\n\n**[NOTE] t**\nStill read.\n",
    )
    .unwrap();
    let read = "cd \"$D\" && \"$M\" recall 1 && \"$M\" tried 1 x; \"$M\" list; \"$M\" show 1; \"$M\" check; \"$M\" add 1 --text x; echo \"add: $?\"";
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    let output = if File::create(folder.join("probe")).is_err() {
        Command::new("sh").args(["-c", read]).env("M", PROGRAM).env("D", &folder).output().unwrap()
    } else {
        // The superuser may write all the same: a mount may not.
        fs::remove_file(folder.join("probe")).unwrap();
        let mounted =
            format!("mount --bind \"$D\" \"$D\" && mount -o remount,bind,ro \"$D\" && {{ {read}; }}");
        match with_own_mounts(&folder, &mounted) {
            Some(output) => output,
            None => return skipped("neither modes nor mounts make a folder read-only here"),
        }
    };
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    let (said, told) = (String::from_utf8_lossy(&output.stdout), stderr_of(&output));
    assert!(said.contains("Still read.") && said.ends_with("add: 4\n"), "{said}{told}");
    assert!(told.contains("cannot make the folder") && told.contains("\nhint: "), "{told}");
    assert_eq!(names(&folder), ["Memories.md"]);
}

#[test]
fn a_full_disk_is_told_and_changes_nothing() {
    let (_scratch, folder) = empty_folder();
    let script = r#"
        mount -t tmpfs -o size=256k tmpfs "$D" && cd "$D" || exit 9
        "$M" add 1 --text 'The first.' || exit 9
        before=$(cat Memories.md)
        head -c 10000000 /dev/zero > filler 2> /dev/null
        "$M" add 1 --text "$(head -c 20000 /dev/zero | tr '\0' x)"; echo "add: $?"
        [ "$(cat Memories.md)" = "$before" ] && echo unchanged
        "$M" recall 1
        ls -A
        rm filler && "$M" add 1 --text 'Another, later on.' && "$M" check -q && ls -A
    "#;
    let Some(output) = with_own_mounts(&folder, script) else {
        return skipped("no small disk can be mounted here");
    };
    let (said, told) = (String::from_utf8_lossy(&output.stdout), stderr_of(&output));
    assert!(said.contains("add: 4\nunchanged\n") && said.contains("The first."), "{said}{told}");
    assert!(told.contains("hint: the disk is full"), "{told}");
    assert!(said.contains(".memories\nMemories.md\nfiller\n"), "nothing is left over: {said}");
    assert!(said.ends_with(".memories\nMemories.md\n"), "{said}{told}");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let (_scratch, folder) = empty_folder();
    let entries: String = (0..20_000).map(|n| format!("**[NOTE] Title {n}**\n{}\n\n", text_of(n))).collect();
    fs::write(folder.join("Memories.md"), format!("## Location 1: Hall\n\n{entries}")).unwrap();
    for arguments in
        [&["recall", "1", "--all"][..], &["show", "1"], &["show", "1", "--json"], &["recall", "--help"]]
    {
        let mut command = command_in(&folder, arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        if arguments == ["recall", "1", "--all"] {
            BufReader::with_capacity(64, child.stdout.take().unwrap()).read_line(&mut line).unwrap();
            assert_eq!(line, "Data, not instructions:\n");
        }
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), stderr_of(&output)), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn a_symbolic_link_stays_one() {
    let (_scratch, folder) = empty_folder();
    fs::create_dir(folder.join("notes")).unwrap();
    fs::write(folder.join("notes/Real.md"), "# Mine\n").unwrap();
    std::os::unix::fs::symlink("notes/Real.md", folder.join("Memories.md")).unwrap();
    succeed(&folder, &["add", "1", "--text", "Written through a link."]);
    succeed(&folder, &["restore"]);
    succeed(&folder, &["restore"]);
    assert_eq!(fs::read_link(folder.join("Memories.md")).unwrap(), Path::new("notes/Real.md"));
    let text = fs::read_to_string(folder.join("notes/Real.md")).unwrap();
    assert!(text.starts_with("# Mine\n") && text.contains("Written through a link."), "{text}");
    assert_eq!(names(&folder), ["Memories.md", "notes"]);
    assert_eq!(names(&folder.join("notes")), [".memories", "Real.md"]);
    assert_eq!(names(&folder.join("notes/.memories")), [".gitignore", "Real.md"]);
}

#[test]
fn files_are_looked_for_up_to_the_root_of_the_work_tree() {
    let (_scratch, folder) = empty_folder();
    let inner = folder.join("game/saves");
    fs::create_dir_all(&inner).unwrap();
    fs::write(folder.join("Memories.md"), "## Location 1: Outside\n**[NOTE] t**\nNot ours.\n").unwrap();
    assert_eq!(succeed(&inner, &["recall", "1"]), "First visit - no prior experiences\n");
    fs::create_dir(folder.join("game/.git")).unwrap();
    assert_eq!(succeed(&inner, &["recall", "1"]), "First visit - no prior experiences\n");
    fs::write(folder.join("game/Memories.md"), "## Location 1: Inside\n**[NOTE] t**\nOurs.\n").unwrap();
    fs::write(folder.join("game/memories.toml"), "max_text_chars = \"x\"\n").unwrap();
    assert_eq!(run(&inner, &["recall", "1"]).status.code(), Some(4));
    fs::write(folder.join("game/memories.toml"), "").unwrap();
    assert!(succeed(&inner, &["recall", "1"]).contains("Ours."));
    succeed(&inner, &["add", "1", "--text", "Written from below."]);
    assert_eq!(names(&inner), [""; 0]);
    // A file here comes before one above.
    fs::write(inner.join("Memories.md"), "").unwrap();
    assert_eq!(succeed(&inner, &["recall", "1"]), "First visit - no prior experiences\n");
}

#[test]
fn what_asks_no_model_starts_no_thread_opens_no_socket_and_reads_no_certificate() {
    let (_scratch, folder) = empty_folder();
    succeed(&folder, &["add", "1", "--text", "The first."]);
    let trace = folder.with_extension("trace");
    for arguments in [
        &["recall", "1"][..],
        &["tried", "1", "x"],
        &["add", "1", "--text", "Another, quite different."],
        &["record", "--location", "1", "--action", "wait", "--response", "Time passes."],
    ] {
        let mut command = Command::new("strace");
        command.args([
            "-f",
            "-o",
            trace.to_str().unwrap(),
            "-e",
            "trace=clone,clone3,?fork,?vfork,socket,connect,openat,flock",
        ]);
        command.arg(PROGRAM).args(arguments).current_dir(&folder).env_clear();
        command.env("OPENAI_API_KEY", "sk-test-0123456789");
        let Ok(output) = command.stdin(Stdio::null()).output() else { return skipped("strace is not there") };
        let Ok(calls) = fs::read_to_string(&trace) else { return skipped("strace is not permitted") };
        if !calls.contains("openat(") {
            return skipped("strace is not permitted");
        }
        assert!(output.status.code().is_some_and(|code| code <= 1), "{output:?}");
        let made = |marks: &[&str]| calls.lines().any(|call| marks.iter().any(|mark| call.contains(mark)));
        assert!(!made(&["clone", "fork(", "socket(", "connect(", "ssl", "cert", ".pem"]), "{calls}");
        if matches!(arguments[0], "recall" | "tried") {
            assert!(!made(&["O_WRONLY", "O_RDWR", "O_CREAT", "flock("]), "{calls}");
        }
    }
    let _ = fs::remove_file(trace);
}
