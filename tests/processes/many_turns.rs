//! Many turns: recorded as they come, once whatever ends the recorder, and by several recorders at a time.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use memories::journal::Journal;
use memories::notebook::history::History;
use memories::{Clock, Judge, Notebook, RecordSettings, Recorder, Store, Turn};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{memories, names, send};

/// The only names in a folder with a memory file, after any orderly end.
const LEFT: [&str; 2] = [".memories", "Memories.md"];

/// Several groups of turns.
const TURNS: usize = 240;

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

    /// A game whose recorder a signal ended. A recorder that is done before its signal comes shows nothing, so another
    /// one takes its place.
    fn interrupted(numbered: bool, round: usize) -> Play {
        for _ in 0..20 {
            let play = Play::new(numbered);
            let mut child = play.record(&[]);
            let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
            lines.by_ref().filter(|line| line.contains("location:")).nth(round).unwrap();
            (0..round * 40_000).for_each(|_| std::hint::spin_loop());
            send(["-KILL", "-TERM", "-KILL", "-INT"][round % 4], &child);
            lines.for_each(drop);
            let status = child.wait().unwrap();
            if status.code() == Some(3) || status.signal() == Some(9) {
                return play;
            }
            assert!(status.success(), "{status}");
        }
        panic!("twenty recorders were done before the signal of round {round}");
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

    fn store(&self) -> Store {
        Store::open(self.folder.join("Memories.md"), Duration::from_secs(5)).unwrap()
    }

    /// The steps of the file's history, which has no gap, and how many of them no command made.
    fn past(&self) -> (usize, usize) {
        let (History { parts }, follower) = History::read(&self.store()).unwrap();
        let [part] = &parts[..] else { panic!("{} parts", parts.len()) };
        assert_eq!(part.text_at(part.steps.len()), follower.text());
        (part.steps.len(), part.steps.iter().filter(|step| step.line.is_none()).count())
    }
}

/// The lines of the journal with a turn.
fn recorded(folder: &Path) -> usize {
    let journal = fs::read_to_string(folder.join(".memories/Memories.md/journal.jsonl")).unwrap_or_default();
    journal.lines().filter(|line| line.contains("\"turn\":{")).count()
}

/// A hang-up is ignored in the children of `nohup`.
fn signals() -> &'static [&'static str] {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or("1").trim();
    if u64::from_str_radix(ignored, 16).is_ok_and(|mask| mask & 1 == 0) {
        &["-TERM", "-INT", "-HUP"]
    } else {
        &["-TERM", "-INT"]
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
#[ignore = "takes long; the gate runs it"]
fn whatever_ends_a_recorder_the_next_run_records_each_turn_once() {
    for numbered in [false, true] {
        let whole = Play::new(numbered);
        whole.finish(&[]);
        assert_eq!(whole.recorded(), TURNS, "repeats are recorded");
        for round in 0..10 {
            let play = Play::interrupted(numbered, round);
            let said = play.finish(&[]);
            assert!(said.contains(" recorded before\n"), "{said}");
            assert_eq!(play.text(), whole.text(), "numbered {numbered}, round {round}: {said}");
            assert_eq!(play.recorded(), TURNS);
            assert_eq!(play.past(), (TURNS, 0), "numbered {numbered}, round {round}");
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
    let (before, _) = journal.trim_end().rsplit_once('\n').unwrap();
    let file = fs::metadata(play.folder.join("Memories.md")).unwrap();
    let lock = fs::read_to_string(beside.join("lock")).unwrap();
    let (noted, hash) = lock.trim_end().rsplit_once(' ').unwrap();
    let (noted, _) = noted.rsplit_once("done").unwrap();
    let note = |inode: u64| format!("{noted}wait {inode:>20} {hash}\n");
    fs::write(beside.join("journal.jsonl"), format!("{before}\n")).unwrap();
    fs::write(beside.join("lock"), note(file.ino())).unwrap();
    fs::write(beside.join("state.json.new"), r#"{"version":1,"episode":7}"#).unwrap();
    fs::write(beside.join("session.md.new"), "# Fleeting\n").unwrap();
    let said = play.finish(&[]);
    assert!(said.starts_with(&format!("{TURNS} turns were recorded before\n")), "{said}");
    assert_eq!(
        (play.text(), fs::read_to_string(beside.join("journal.jsonl")).unwrap()),
        (whole, journal.clone())
    );
    assert!(fs::read_to_string(beside.join("state.json")).unwrap().contains("\"episode\":7"));
    assert_eq!(fs::read_to_string(beside.join("session.md")).unwrap(), "# Fleeting\n");
    let ended = fs::read_to_string(beside.join("lock")).unwrap();
    assert!(ended.lines().last().unwrap().starts_with("done "), "{ended}");
    // Lines that the journal has are not added twice, and a note about another file adds none.
    for inode in [file.ino(), file.ino() + 1] {
        fs::write(beside.join("lock"), note(inode)).unwrap();
        assert!(play.finish(&[]).contains("were recorded before"));
        assert_eq!(fs::read_to_string(beside.join("journal.jsonl")).unwrap(), journal);
    }
    fs::write(beside.join("journal.jsonl"), format!("{before}\n")).unwrap();
    fs::write(beside.join("lock"), note(file.ino() + 1)).unwrap();
    let said = play.finish(&[]);
    assert!(said.starts_with(&format!("{} turns were recorded before\n", TURNS - 1)), "{said}");
}

#[test]
fn a_line_of_a_pipe_is_recorded_while_the_pipe_is_open() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().canonicalize().unwrap();
    let mut command = memories(&folder, &["record", "--turns", "-", "--provider", "offline", "-v"]);
    command.env_remove("MEMORIES_NOW");
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let turn = json!({"action": "push wall", "response": "It stays.", "location": 5, "world_changed": false});
    let mut record = |number: usize| {
        pipe.write_all(format!("{turn}\n").as_bytes()).unwrap();
        lines.find(|line| line.contains("location:5")).expect("it is recorded");
        assert_eq!(recorded(&folder), number, "the same line of a pipe is a turn of its own");
        times_of(&folder).pop().unwrap()
    };
    // A line has the time at which it was written, not that at which the command began.
    let (first, began, mut sent) = (record(1), Instant::now(), 1);
    loop {
        sent += 1;
        if record(sent) != first && sent > 2 {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "{sent} lines have one time");
    }
    // A signal ends it, though no line comes.
    send("-TERM", &child);
    let said: Vec<String> = lines.collect();
    let stopped = format!("warning: stopped after line {sent}; go on with --from {}", sent + 1);
    assert!(said.contains(&stopped), "{said:?}");
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

/// Sends lines one by one, each when the one before is recorded.
fn send_one_by_one(folder: &Path, lines: &[String]) {
    let mut command = memories(folder, &["record", "--turns", "-", "--provider", "offline", "-v"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut pipe, stderr) = (child.stdin.take().unwrap(), child.stderr.take().unwrap());
    let mut said = BufReader::new(stderr).lines().map_while(Result::ok);
    for line in lines {
        pipe.write_all(line.as_bytes()).unwrap();
        said.find(|said| said.contains("location:")).expect("it is recorded");
    }
    drop(pipe);
    said.for_each(drop);
    assert!(child.wait().unwrap().success());
}

/// The times of the lines of the journal.
fn times_of(folder: &Path) -> Vec<String> {
    let journal = fs::read_to_string(folder.join(".memories/Memories.md/journal.jsonl")).unwrap();
    let times = journal.lines().filter_map(|line| {
        let entry: Value = serde_json::from_str(line).unwrap();
        Some(entry["time"].as_str()?.to_owned())
    });
    times.collect()
}

/// The turns in the journal, as they were recorded, with what was decided.
fn journal_of(folder: &Path) -> Vec<Value> {
    let journal = fs::read_to_string(folder.join(".memories/Memories.md/journal.jsonl")).unwrap();
    let entry = |line: &str| {
        let mut entry: Value = serde_json::from_str(line).unwrap();
        let removed = ["id", "time", "source_line"].map(|field| entry.as_object_mut().unwrap().remove(field));
        assert!(removed[0].is_some() && removed[1].is_some());
        // A group has one hash before all of its turns, and one behind them.
        let edits = entry["change"]["edits"].take();
        let is_changed = edits.as_array().is_some_and(|edits| !edits.is_empty());
        entry["change"] = if is_changed { edits } else { Value::Null };
        entry
    };
    journal.lines().skip(1).map(entry).collect()
}

fn states(folder: &Path) -> u64 {
    let output = memories(folder, &["restore", "--list", "--json"]).output().unwrap();
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    said["backups"][0]["number"].as_u64().unwrap()
}

#[test]
#[ignore = "takes long; the gate runs it"]
fn turns_in_groups_leave_what_turns_one_by_one_leave() {
    let fixture = |number: u64| {
        let path = format!("{}/fixtures/turns/zork1_ep{number}.jsonl", env!("CARGO_MANIFEST_DIR"));
        fs::read_to_string(path).unwrap()
    };
    // Two episodes, of which the second ends the first.
    let lines: Vec<String> =
        [fixture(1), fixture(2)].concat().lines().map(|line| format!("{line}\n")).collect();
    let lines = [&lines[..70], &lines[220..300]].concat();
    for before in [
        "",
        "\u{FEFF}# Mine\r\n\r\n## Location 99: There\r\n**[NOTE] a**\r\nx",
        "## Location 1:\n\n<!-- open",
    ] {
        let scratch = tempfile::tempdir().unwrap();
        let [one_by_one, at_once] = ["one", "all"].map(|name| scratch.path().join(name));
        for folder in [&one_by_one, &at_once] {
            fs::create_dir(folder).unwrap();
            if !before.is_empty() {
                fs::write(folder.join("Memories.md"), before).unwrap();
            }
        }
        send_one_by_one(&one_by_one, &lines);
        let turns = scratch.path().join("turns.jsonl");
        fs::write(&turns, lines.concat()).unwrap();
        let turns = ["record", "--turns", turns.to_str().unwrap(), "--provider", "offline"];
        assert!(memories(&at_once, &turns).output().unwrap().status.success());
        let text = |folder: &Path| fs::read_to_string(folder.join("Memories.md")).unwrap();
        assert_eq!(text(&at_once), text(&one_by_one));
        assert_eq!(journal_of(&at_once), journal_of(&one_by_one));
        let written =
            |folder: &Path| fs::read_to_string(folder.join(".memories/Memories.md/written")).unwrap();
        assert_eq!(written(&at_once), written(&one_by_one));
        let (groups, turns) = (states(&at_once), states(&one_by_one));
        // A group ends early where the machine is slow.
        assert!(groups < turns, "{groups} writes, {turns} one by one");
    }
}

#[test]
fn a_turn_that_is_refused_leaves_the_others_of_its_group_alone() {
    let folder = tempfile::tempdir().unwrap();
    let turn = |number: u64, more: Value| {
        let mut turn = json!({"turn": number, "action": format!("push {number}"), "response": "It stays.",
            "world_changed": false});
        turn.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        turn.to_string()
    };
    let lines = [
        turn(1, json!({"location": 5})),
        turn(2, json!({"location": {"id": 7, "name": "Maze"}, "id": "seven"})),
        "no turn".to_owned(),
        // It names place 5, and then two places have the name that it leads to.
        turn(
            4,
            json!({"location_before": {"id": 5, "name": "Maze"}, "location_after": {"name": "Maze"}, "id": "four"}),
        ),
        turn(5, json!({"location": {"name": "Nowhere"}})),
        turn(6, json!({"location": 7, "id": "four"})),
        turn(7, json!({"location": 7, "id": "seven"})),
        turn(8, json!({"location": 5})),
    ];
    let turns = folder.path().join("turns.jsonl");
    fs::write(&turns, lines.join("\n")).unwrap();
    let record = ["record", "--turns", turns.to_str().unwrap(), "--provider", "offline", "--json"];
    let output = memories(folder.path(), &record).output().unwrap();
    assert_eq!(output.status.code(), Some(4));
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    let refused: Vec<u64> =
        said["failed"].as_array().unwrap().iter().map(|line| line["line"].as_u64().unwrap()).collect();
    assert_eq!(refused, [3, 4, 5], "{said}");
    assert_eq!((&said["turn_count"], &said["outcomes"]["recorded_before"]), (&json!(8), &json!(1)), "{said}");
    let numbers: Vec<u64> =
        journal_of(folder.path()).iter().map(|entry| entry["turn"]["turn"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [1, 2, 6, 8]);
    let text = fs::read_to_string(folder.path().join("Memories.md")).unwrap();
    assert!(text.contains("## Location 5\n") || text.contains("## Location 5:"), "{text}");
    assert_eq!(text.matches("Maze").count(), 1, "nothing of the refused turn is left: {text}");
}

/// Recorders, writers and an editor on one file: every turn is recorded once, and nothing of the others is lost.
#[test]
#[ignore = "takes long; the gate runs it"]
fn writers_between_the_groups_lose_nothing_and_are_not_kept_out() {
    const WRITERS: usize = 8;
    const EACH: usize = 6;
    let play = Play::new(false);
    let line = |number: usize| {
        let turn = json!({"action": format!("push {number}"), "response": "It stays.", "location": number % 7,
            "world_changed": false});
        turn.to_string() + "\n"
    };
    fs::write(&play.turns, (0..1500).map(line).collect::<String>()).unwrap();
    let mut recorder = play.record(&[]);
    let mut lines = BufReader::new(recorder.stderr.take().unwrap()).lines().map_while(Result::ok);
    lines.find(|line| line.contains("location:")).unwrap();
    let is_done = AtomicBool::new(false);
    let longest = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let folder = &play.folder;
                scope.spawn(move || {
                    let add = |number: usize| {
                        let title = format!("Memory {writer} {number}");
                        let text = format!(
                            "{:x} lies {writer} steps from {number}",
                            (writer * 97 + number) * 2_654_435_761
                        );
                        let start = std::time::Instant::now();
                        let add = ["add", "50", "--title", &title, "--text", &text, "-q"];
                        let output = memories(folder, &add).output().unwrap();
                        assert!(output.status.success(), "{output:?}");
                        start.elapsed()
                    };
                    (0..EACH).map(add).max().unwrap()
                })
            })
            .collect();
        let reader = scope.spawn(|| {
            let mut follower = History::read(&play.store()).unwrap().1;
            while !is_done.load(Ordering::Relaxed) {
                let (_, outside) = play.past();
                let steps = follower.poll().unwrap().expect("a reader misses no step");
                let strange = steps.iter().filter(|step| step.line.is_none()).count();
                assert_eq!((outside, strange), (0, 0), "each step is that of a command");
            }
        });
        lines.for_each(drop);
        let longest = writers.into_iter().map(|writer| writer.join().unwrap()).max().unwrap();
        is_done.store(true, Ordering::Relaxed);
        reader.join().unwrap();
        longest
    });
    assert!(recorder.wait().unwrap().success());
    assert!(longest < Duration::from_secs(9), "a writer waited {longest:?}");
    assert_eq!(play.recorded(), 1500);
    let text = play.text();
    for (writer, number) in (0..WRITERS).flat_map(|writer| (0..EACH).map(move |number| (writer, number))) {
        assert!(text.contains(&format!("] Memory {writer} {number}**")), "{writer} {number}");
    }
    assert_eq!(play.past(), (1500 + WRITERS * EACH, 0));
    assert!(play.finish(&[]).starts_with("1500 turns were recorded before\n"));
}

/// After 300 turns of 12 episodes, recorded one episode after the other or all at once.
#[test]
fn the_end_of_any_of_the_last_ten_episodes_comes_back() {
    let scratch = tempfile::tempdir().unwrap();
    let turn = |episode: usize, number: usize| {
        let turn = json!({"episode": episode, "turn": number, "action": format!("turn dial to {number}"),
            "response": "It clicks.", "location": {"id": number % 4, "name": "Room"}, "world_changed": false});
        turn.to_string() + "\n"
    };
    let record = |folder: &Path, turns: &str| {
        let path = scratch.path().join("turns.jsonl");
        fs::write(&path, turns).unwrap();
        let path = path.to_str().unwrap();
        let output =
            memories(folder, &["record", "--turns", path, "--provider", "offline"]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        fs::read_to_string(folder.join("Memories.md")).unwrap()
    };
    let episodes: Vec<String> =
        (1..=12).map(|episode| (1..=25).map(|number| turn(episode, number)).collect()).collect();
    let [one_by_one, at_once] = ["one_by_one", "at_once"].map(|name| scratch.path().join(name));
    [&one_by_one, &at_once].into_iter().for_each(|folder| fs::create_dir(folder).unwrap());
    let ends: Vec<String> = episodes.iter().map(|turns| record(&one_by_one, turns)).collect();
    assert_eq!(record(&at_once, &episodes.concat()), ends[11]);
    for folder in [&one_by_one, &at_once] {
        for episode in 2..=11 {
            let output = memories(folder, &["restore", "--episode", &episode.to_string()]).output().unwrap();
            assert!(output.status.success(), "{episode}: {output:?}");
            let text = fs::read_to_string(folder.join("Memories.md")).unwrap();
            assert!(text == ends[episode - 1], "episode {episode}");
        }
    }
}
