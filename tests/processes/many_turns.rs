//! Many turns: recorded as they come, once whatever ends the recorder, and by several recorders at a time.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use memories::journal::Journal;
use memories::{Clock, Judge, Notebook, RecordSettings, Recorder, Store, Turn};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{memories, names};

/// The only names in a folder with a memory file, after any orderly end.
const LEFT: [&str; 3] = [".memories", "Memories.md", "Memories.md.backup"];

const TURNS: usize = 60;

struct Play {
    _scratch: TempDir,
    folder: PathBuf,
    turns: PathBuf,
}

impl Play {
    /// A game of turns that repeat themselves; `numbered` says whether they have numbers.
    fn new(numbered: bool) -> Play {
        let scratch = tempfile::tempdir().unwrap();
        let (folder, turns) = (scratch.path().join("play"), scratch.path().join("turns.jsonl"));
        fs::create_dir(&folder).unwrap();
        let line = |number: usize| {
            let place = json!({"id": number % 3, "name": "Room"});
            // Every fifth turn is sent twice with one number: the game repeats itself.
            let mut turn = json!({"action": "push wall", "response": "It stays.", "location": place, "world_changed": false});
            if numbered {
                turn["turn"] = json!(number - usize::from(number % 5 == 4));
                turn["location"] = json!({"id": 1, "name": "Room"});
            }
            turn.to_string() + "\n"
        };
        fs::write(&turns, (1..=TURNS).map(line).collect::<String>()).unwrap();
        Play { _scratch: scratch, folder, turns }
    }

    fn record(&self, more: &[&str]) -> Child {
        let turns = self.turns.to_str().unwrap();
        let mut command =
            memories(&self.folder, &["record", "--turns", turns, "--provider", "offline", "-v"]);
        command.args(more).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Records all turns, or those that are left.
    fn finish(&self, more: &[&str]) -> String {
        let output = self.record(more).wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn text(&self) -> String {
        fs::read_to_string(self.folder.join("Memories.md")).unwrap()
    }

    fn recorded(&self) -> usize {
        recorded(&self.folder)
    }
}

/// The lines of the journal with a turn.
fn recorded(folder: &Path) -> usize {
    let journal = fs::read_to_string(folder.join(".memories/Memories.md/journal.jsonl")).unwrap_or_default();
    journal.lines().filter(|line| line.contains("\"turn\":{")).count()
}

fn send(signal: &str, child: &Child) {
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
}

/// A hang-up is ignored in the children of `nohup`.
fn signals() -> &'static [&'static str] {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or("1").trim();
    match u64::from_str_radix(ignored, 16).is_ok_and(|mask| mask & 1 == 0) {
        true => &["-TERM", "-INT", "-HUP"],
        false => &["-TERM", "-INT"],
    }
}

/// The number of the line in a message on stderr.
fn number_in(said: &str, before: &str, after: &str) -> usize {
    let (_, rest) = said.split_once(before).unwrap_or_else(|| panic!("no `{before}`: {said}"));
    rest.split_once(after).unwrap().0.parse().unwrap()
}

#[test]
fn a_signal_ends_after_the_turn_in_hand_and_says_how_to_go_on() {
    let whole = Play::new(false);
    whole.finish(&[]);
    for signal in signals() {
        let play = Play::new(false);
        let mut child = play.record(&[]);
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        stderr.by_ref().lines().map_while(Result::ok).find(|line| line.contains("location:")).unwrap();
        send(signal, &child);
        let mut said = String::new();
        stderr.read_to_string(&mut said).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(3), "{signal}: {said}");
        let line = number_in(&said, "stopped after line ", "; go on with --from ");
        let from = number_in(&said, "; go on with --from ", "\n");
        assert_eq!((line + 1, play.recorded()), (from, line), "{signal}");
        assert_eq!(names(&play.folder), LEFT[..names(&play.folder).len()], "{signal}: nothing is left over");
        play.finish(&["--from", &from.to_string()]);
        assert_eq!((play.recorded(), play.text()), (TURNS, whole.text()), "{signal}");
    }
}

#[test]
fn whatever_ends_a_recorder_the_next_run_records_each_turn_once() {
    for numbered in [false, true] {
        let whole = Play::new(numbered);
        whole.finish(&[]);
        assert_eq!(whole.recorded(), TURNS, "repeats are recorded");
        for round in 0..10 {
            let play = Play::new(numbered);
            let mut child = play.record(&[]);
            let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
            lines.by_ref().filter(|line| line.contains("location:")).nth(round).unwrap();
            (0..round * 40_000).for_each(|_| std::hint::spin_loop());
            send(["-KILL", "-TERM", "-KILL", "-INT"][round % 4], &child);
            lines.for_each(drop);
            let status = child.wait().unwrap();
            assert!(status.code() == Some(3) || status.signal() == Some(9), "{status}");
            let said = play.finish(&[]);
            assert!(said.contains(" recorded before\n"), "{said}");
            assert_eq!(play.text(), whole.text(), "numbered {numbered}, round {round}: {said}");
            assert_eq!(play.recorded(), TURNS);
        }
        // The whole file once more changes nothing.
        assert!(whole.finish(&[]).starts_with(&format!("{TURNS} turns were recorded before\n")));
        assert_eq!(whole.recorded(), TURNS);
        whole.finish(&["--again"]);
        assert_eq!(whole.recorded(), 2 * TURNS);
    }
}

/// As after a kill behind the new memory file: the journal lacks its line, and the lock file notes it.
#[test]
fn a_line_that_a_kill_kept_from_the_journal_is_added() {
    use std::os::unix::fs::MetadataExt;

    let play = Play::new(false);
    let whole = {
        play.finish(&[]);
        play.text()
    };
    let beside = play.folder.join(".memories/Memories.md");
    let journal = fs::read_to_string(beside.join("journal.jsonl")).unwrap();
    let (before, last) = journal.trim_end().rsplit_once('\n').unwrap();
    let file = fs::metadata(play.folder.join("Memories.md")).unwrap();
    let signature = |inode: u64| format!("4194304   \n{inode:<20} {:<20}\n", file.len());
    let note = |inode: u64| signature(inode) + &format!("journal.jsonl {last}\nend\n");
    fs::write(beside.join("journal.jsonl"), format!("{before}\n")).unwrap();
    fs::write(beside.join("lock"), note(file.ino())).unwrap();
    fs::write(beside.join("state.json.new"), r#"{"version":1,"episode":7}"#).unwrap();
    let said = play.finish(&[]);
    assert!(said.starts_with(&format!("{TURNS} turns were recorded before\n")), "{said}");
    assert_eq!(
        (play.text(), fs::read_to_string(beside.join("journal.jsonl")).unwrap()),
        (whole, journal.clone())
    );
    assert!(fs::read_to_string(beside.join("state.json")).unwrap().contains("\"episode\":7"));
    assert_eq!(fs::read_to_string(beside.join("lock")).unwrap().lines().count(), 2, "the note is gone");
    // Lines that the journal has are not added twice, and a note about another file adds none.
    for inode in [file.ino(), file.ino() + 1] {
        fs::write(beside.join("lock"), note(inode)).unwrap();
        assert!(play.finish(&[]).contains("were recorded before"));
        assert_eq!(fs::read_to_string(beside.join("journal.jsonl")).unwrap(), journal);
    }
}

#[test]
fn a_line_of_a_pipe_is_recorded_while_the_pipe_is_open() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().canonicalize().unwrap();
    let mut command = memories(&folder, &["record", "--turns", "-", "--provider", "offline", "-v"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let turn = json!({"action": "push wall", "response": "It stays.", "location": 5, "world_changed": false});
    for number in 1..=3 {
        pipe.write_all(format!("{turn}\n").as_bytes()).unwrap();
        lines.find(|line| line.contains("location:5")).expect("it is recorded");
        assert_eq!(recorded(&folder), number, "the same line of a pipe is a turn of its own");
    }
    // A signal ends it, though no line comes.
    send("-TERM", &child);
    let said: Vec<String> = lines.collect();
    assert!(said.contains(&"warning: stopped after line 3; go on with --from 4".to_owned()), "{said:?}");
    assert_eq!(child.wait().unwrap().code(), Some(3));
    drop(pipe);
    assert_eq!(names(&folder), LEFT);
}

#[test]
fn turns_without_numbers_of_many_writers_get_different_ones() {
    const WRITERS: usize = 8;
    const EACH: usize = 20;
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().join("Memories.md"), Duration::from_secs(60)).unwrap();
    let settings = RecordSettings::default();
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (store, settings) = (store.clone(), &settings);
            scope.spawn(move || {
                let notebook = Notebook::new(store, Clock::fixed("2026-01-31T12:00:00Z"));
                let recorder = Recorder { notebook: &notebook, judge: Judge::Rules, settings };
                for number in 0..EACH {
                    let turn = json!({"action": format!("push button {writer} {number}"), "response": "Click.", "location": writer});
                    recorder.record(Turn::from_value(&turn).unwrap()).unwrap();
                }
            });
        }
    });
    let mut numbers = BTreeSet::new();
    let number = |line: &str| serde_json::from_str::<Value>(line).unwrap()["turn"]["turn"].as_u64().unwrap();
    Journal::of(&store).visit(|line| assert!(numbers.insert(number(line)), "twice: {line}")).unwrap();
    assert_eq!(numbers, (1..=(WRITERS * EACH) as u64).collect());
}
