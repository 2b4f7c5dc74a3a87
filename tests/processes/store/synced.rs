//! Changes beside the memory file are on disk before they are acknowledged: the order of system calls, by strace.

use std::process::{Command, Stdio};

use super::*;
use crate::program::{memories, succeed};

const SIDECAR: &str = ".memories/Memories.md";

/// A folder with its real path, as strace shows it.
fn real_folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    (folder, path)
}

/// The writes, syncs and renames of a command, in their order, with the paths of open files; `None` where strace
/// cannot be used. Programs that the command starts are left out.
fn calls(folder: &Path, arguments: &[&str]) -> Option<Vec<String>> {
    let trace = folder.with_extension("trace");
    let wanted = "trace=write,pwrite64,writev,fsync,fdatasync,?rename,?renameat,renameat2";
    let plain = memories(folder, arguments);
    let mut strace = Command::new("strace");
    strace.args(["-qq", "-y", "-s", "4096", "-e", "signal=none", "-e", wanted, "-o"]);
    strace.arg(&trace).arg(plain.get_program()).args(plain.get_args()).current_dir(folder).env_clear();
    strace.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    strace.env("PATH", std::env::var_os("PATH").unwrap()).stdin(Stdio::null());
    let output = strace.output().ok()?;
    let text = fs::read_to_string(&trace);
    let _ = fs::remove_file(trace);
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("strace: ") {
        return None;
    }
    assert!(output.status.success(), "{arguments:?}: {said}");
    let call = |line: &str| line.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start().to_owned();
    Some(text.unwrap().lines().map(call).collect())
}

/// The first call behind `after` that is a sync of a path.
fn sync_of(calls: &[String], after: usize, path: &Path) -> Option<usize> {
    let open = format!("<{}>)", path.display());
    let is_sync = |call: &String| call.starts_with("fsync(") || call.starts_with("fdatasync(");
    (after..calls.len()).find(|at| is_sync(&calls[*at]) && calls[*at].contains(&open))
}

fn last(calls: &[String], wanted: impl Fn(&str) -> bool) -> Option<usize> {
    calls.iter().rposition(|call| wanted(call))
}

/// Checks that the last write to a file of the sidecar folder was followed by a sync of the file and of the folder
/// before the answer was printed.
fn check_synced(calls: &[String], folder: &Path, name: &str, renamed: bool) {
    let all = calls.join("\n");
    let path = folder.join(SIDECAR).join(name);
    let written = path.with_file_name(if renamed { format!("{name}.new") } else { name.to_owned() });
    let write = format!("<{}>, ", written.display());
    let write = last(calls, |call| call.contains("write") && call.contains(&write));
    let write = write.unwrap_or_else(|| panic!("{name} was not written:\n{all}"));
    let sync = sync_of(calls, write, &written);
    let mut sync = sync.unwrap_or_else(|| panic!("{name} was not synced:\n{all}"));
    if renamed {
        let named = format!("\"{name}\")");
        let rename = last(calls, |call| call.starts_with("rename") && call.contains(&named)).unwrap();
        assert!(sync < rename, "{name} is synced before it is put in place:\n{all}");
        sync = rename;
    }
    let folder_sync = sync_of(calls, sync, &folder.join(SIDECAR));
    let folder_sync = folder_sync.unwrap_or_else(|| panic!("the folder of {name} was not synced:\n{all}"));
    let answer = calls.iter().position(|call| call.starts_with("write(1<"));
    assert!(answer.is_some_and(|answer| folder_sync < answer), "answered before the disk had {name}:\n{all}");
}

/// Checks that the journal's lines stood in the lock file, and that on disk, before the file was replaced and before the
/// answer was printed. Returns how many files beside the memory file were synced.
fn check_noted(calls: &[String], folder: &Path) -> usize {
    let all = calls.join("\n");
    let lock = folder.join(SIDECAR).join("lock");
    let is_note =
        |call: &str| call.contains(&format!("<{}>, ", lock.display())) && call.contains("journal.jsonl ");
    let note = last(calls, is_note).unwrap_or_else(|| panic!("the lines were not noted:\n{all}"));
    let sync = sync_of(calls, note, &lock).unwrap_or_else(|| panic!("the note was not synced:\n{all}"));
    for (exchange, _) in calls.iter().enumerate().filter(|(_, call)| call.contains("RENAME_EXCHANGE")) {
        let note =
            last(&calls[..exchange], is_note).unwrap_or_else(|| panic!("replaced without a note:\n{all}"));
        let sync = sync_of(calls, note, &lock);
        assert!(sync.is_some_and(|sync| sync < exchange), "replaced before the disk had the note:\n{all}");
    }
    let answer = calls.iter().position(|call| call.starts_with("write(1<"));
    assert!(answer.is_some_and(|answer| sync < answer), "answered before the disk had the note:\n{all}");
    let beside = format!("<{}", folder.join(".memories").display());
    let is_sync = |call: &&String| call.starts_with("fsync(") || call.starts_with("fdatasync(");
    calls.iter().filter(is_sync).filter(|call| call.contains(&beside)).count()
}

const TURN: [&str; 7] =
    ["record", "--location", "5:Hall", "--action", "look", "--response", "A hall of stone, with one door."];

/// A turn that is queued though its place is known.
const NEXT_TURN: [&str; 9] = [
    "record",
    "--later",
    "--location",
    "5",
    "--action",
    "pull chain",
    "--response",
    "The lamp falls.",
    "--died",
];

#[test]
fn a_queued_turn_is_on_disk_before_the_answer_and_so_is_its_end() {
    let (_scratch, folder) = real_folder();
    let later = [&TURN[..], &["--later"]].concat();
    let Some(first) = calls(&folder, &later) else { return skipped("strace cannot be used here") };
    check_noted(&first, &folder);
    // The folders that this command made.
    for made in [folder.join(".memories"), folder.clone()] {
        assert!(sync_of(&first, 0, &made).is_some(), "{} is not synced", made.display());
    }
    check_noted(&calls(&folder, &NEXT_TURN).unwrap(), &folder);
    let answer = json!({"should_remember": true, "category": "NOTE", "memory_title": "A hall with a door",
        "memory_text": "The hall of stone has one door."});
    fs::write(folder.join("answer.json"), answer.to_string()).unwrap();
    let settings = "[llm]\nprovider = \"command\"\ncommand = [\"cat\", \"answer.json\"]\n";
    fs::write(folder.join("memories.toml"), settings).unwrap();
    check_noted(&calls(&folder, &["retry"]).unwrap(), &folder);
    assert!(fs::read_to_string(folder.join(SIDECAR).join("journal.jsonl")).unwrap().contains("\"resolves\""));
}

#[test]
fn an_ephemeral_memory_and_the_episode_are_on_disk_before_the_answer() {
    let (_scratch, folder) = real_folder();
    let Some(started) = calls(&folder, &["episode", "start"]) else {
        return skipped("strace cannot be used here");
    };
    check_synced(&started, &folder, "state.json", true);
    let add = ["add", "5", "--title", "Fleeting", "--text", "The thief is near.", "--ephemeral"];
    check_synced(&calls(&folder, &add).unwrap(), &folder, "session.md", true);
    // The journal keeps the text of the session that ends.
    let next = calls(&folder, &["episode", "start"]).unwrap();
    check_synced(&next, &folder, "state.json", true);
    check_noted(&next, &folder);
}

#[test]
fn a_change_costs_one_flush_beside_those_of_the_file() {
    let (_scratch, folder) = real_folder();
    // Makes the logs, whose names are synced.
    succeed(&folder, &["add", "5", "--name", "Hall", "--title", "Lamp", "--text", "A lamp hangs here."]);
    let tried = ["record", "--location", "5", "--action", "wait", "--response", "Time passes."];
    for command in [&TURN[..], &tried, &["add", "5", "--title", "Door", "--text", "The door is of oak."]] {
        let Some(calls) = calls(&folder, command) else { return skipped("strace cannot be used here") };
        assert_eq!(check_noted(&calls, &folder), 1, "{command:?}");
    }
}
