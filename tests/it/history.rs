//! The states of the past: each that the history gives is one that was on disk, and none is missing without a reason.
//!
//! Commands, hand edits and replaced files follow each other by chance; after each, the file is kept aside. The turns
//! of a group are recorded one by one in a copy of the folder, to know the states between them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use memories::Store;
use memories::notebook::history::{History, HistoryStep, KnownPart};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::dice::Dice;
use crate::episodes;
use crate::program::{memories, with_input};

/// Runs of each kind; the long run of the properties has more.
fn runs() -> u64 {
    if std::env::var_os("PROPTEST_CASES").is_some() { 6 } else { 2 }
}

/// Steps of a run.
const STEPS: usize = 40;

struct Past {
    folder: TempDir,
    dice: Dice,
    turns: usize,
    /// The states of the file, one after each command that wrote a line, and before it what was made by hand.
    states: Vec<String>,
    /// The text that was made by hand since.
    by_hand: Option<String>,
}

impl Past {
    fn new(seed: u64) -> Past {
        let folder = tempfile::tempdir().unwrap();
        Past { folder, dice: Dice::of(seed), turns: 0, states: vec![String::new()], by_hand: None }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn sidecar(&self, name: &str) -> PathBuf {
        self.path(".memories/Memories.md").join(name)
    }

    fn text(&self) -> String {
        text_in(self.folder.path())
    }

    fn journal(&self) -> Vec<u8> {
        fs::read(self.sidecar("journal.jsonl")).unwrap_or_default()
    }

    fn store(&self) -> Store {
        Store::open(self.path("Memories.md"), std::time::Duration::from_secs(5)).unwrap()
    }

    fn history(&self) -> History {
        History::read(&self.store()).unwrap().0
    }

    /// Runs a command, which may be refused, and keeps the state that it leaves.
    fn run(&mut self, arguments: &[&str], stdin: &str) {
        self.run_with_states(arguments, stdin, &[]);
    }

    fn run_with_states(&mut self, arguments: &[&str], stdin: &str, between: &[String]) {
        let before = self.journal();
        let output = run(self.folder.path(), arguments, stdin);
        let after = self.journal();
        if after != before {
            if before.is_empty() && self.by_hand.is_some() && self.states == [""] {
                // A file that is there before the first command is the first state.
                self.states.clear();
            }
            self.states.extend(self.by_hand.take());
            self.states.extend_from_slice(between);
            self.states.push(self.text());
        } else if self.by_hand.is_none() {
            assert_eq!(self.text(), *self.states.last().unwrap(), "{arguments:?} {output:?}");
        }
    }

    fn turn(&mut self) -> Value {
        self.turns += usize::from(self.dice.below(5) > 0);
        let place = self.dice.below(4);
        let replies = ["Nothing happens.", "It is locked.", "Täken.\nA troll!"];
        let actions = ["wait", "open door", "take lamp", "north"];
        let mut turn = json!({
            "turn": self.turns,
            "action": actions[self.dice.below(4)],
            "response": replies[self.dice.below(3)],
        });
        if self.dice.below(4) > 0 {
            turn["location"] = json!({"id": place, "name": format!("Room {place}")});
        }
        if self.dice.below(3) == 0 {
            turn["remember"] = json!({"text": format!("Seen at turn {}: \"é\".", self.turns)});
        }
        turn
    }

    /// Records turns in a group, and in a copy of the folder one by one.
    fn group(&mut self) {
        let count = self.dice.below(9) + 2;
        let turns: Vec<String> = (0..count).map(|_| self.turn().to_string() + "\n").collect();
        let copy = tempfile::tempdir().unwrap();
        copy_folder(self.folder.path(), copy.path());
        let mut between = Vec::new();
        for turn in &turns {
            run(copy.path(), &["record", "--turns", "-", "--again", "--provider", "offline"], turn);
            between.push(text_in(copy.path()));
        }
        let arguments = ["record", "--turns", "-", "--again", "--provider", "offline"];
        self.run_with_states(&arguments, &turns.concat(), &between[..count - 1]);
        assert_eq!(self.text(), *between.last().unwrap(), "a group leads where its turns lead");
    }

    /// Changes the file as an editor or git does.
    fn edit(&mut self) {
        let mut lines: Vec<String> = self.text().lines().map(|line| format!("{line}\n")).collect();
        let at = self.dice.below(lines.len() + 1);
        match self.dice.below(6) {
            0 => lines.insert(at, "A line by hand: ü.\n".to_owned()),
            1 => lines.truncate(at),
            2 => lines = vec![self.states[self.dice.below(self.states.len())].clone()],
            3 => lines = lines.iter().map(|line| line.replace('e', "E")).collect(),
            4 => lines.push(
                "\n## Location 9: By hand\n\n### Memories\n\n**[NOTE] Bell**\nIt rings.\n\n---".to_owned(),
            ),
            _ => {
                lines.drain(at.saturating_sub(2)..at);
            }
        }
        fs::write(self.path("Memories.md"), lines.concat()).unwrap();
        // Else the next command waits for the end of a save that makes the file shorter.
        let past = std::time::SystemTime::now() - std::time::Duration::from_secs(2);
        fs::File::options().write(true).open(self.path("Memories.md")).unwrap().set_modified(past).unwrap();
        self.by_hand = Some(self.text());
    }

    fn step(&mut self) {
        let number = self.dice.below(6).to_string();
        let title = format!("Title {}", self.dice.below(6));
        match self.dice.below(12) {
            0..=2 => {
                let turn = self.turn().to_string();
                self.run(&["record", "--provider", "offline"], &turn);
            }
            3..=4 => self.group(),
            5..=6 => self.run(&["add", &number, "--title", &title, "--text", "It is so, at é."], ""),
            7 => match self.dice.below(3) {
                0 => self
                    .run(&["supersede", &number, &title, "--title", "Title 7", "--text", "It is not."], ""),
                1 => self.run(&["invalidate", &number, &title, "--reason", "no"], ""),
                _ => self.run(&["forget", &number, &title], ""),
            },
            8 => {
                let command =
                    [&["fmt"][..], &["episode"], &["add", "1", "--text", "Soon gone.", "--ephemeral"]];
                let command = command[self.dice.below(3)];
                self.run(command, "");
            }
            9 => self.run(&["restore"], ""),
            _ => self.edit(),
        }
    }

    /// Damages journal, backups or sidecar.
    fn damage(&mut self) {
        let journal = String::from_utf8(self.journal()).unwrap();
        let lines: Vec<&str> = journal.lines().collect();
        match self.dice.below(7) {
            0 => drop(fs::remove_dir_all(self.path(".memories"))),
            1 => drop(fs::remove_dir_all(self.sidecar("backups"))),
            2 => drop(fs::remove_file(self.sidecar("journal.jsonl"))),
            3 => drop(fs::rename(self.sidecar("journal.jsonl"), self.sidecar("journal.1.jsonl"))),
            4 => {
                let end = journal.floor_char_boundary(journal.len().saturating_sub(60));
                drop(fs::write(self.sidecar("journal.jsonl"), &journal[..end]));
            }
            5 if !lines.is_empty() => {
                let gone = self.dice.below(lines.len());
                let kept: String = lines
                    .iter()
                    .enumerate()
                    .filter(|(at, _)| *at != gone)
                    .map(|(_, line)| format!("{line}\n"))
                    .collect();
                drop(fs::write(self.sidecar("journal.jsonl"), kept));
            }
            _ => {
                let changed = journal.replacen("\"edits\":[[", "\"edits\":[[1", 1);
                drop(fs::write(self.sidecar("journal.jsonl"), changed));
            }
        }
    }

    /// All states that were on disk.
    fn all_states(&self) -> Vec<String> {
        let mut states: Vec<String> = self.states.iter().chain(&self.by_hand).cloned().collect();
        states.dedup();
        states
    }
}

fn text_in(folder: &Path) -> String {
    fs::read_to_string(folder.join("Memories.md")).unwrap_or_default()
}

fn run(folder: &Path, arguments: &[&str], stdin: &str) -> Output {
    with_input(&mut memories(folder, arguments), stdin)
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let path = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &path);
        } else {
            fs::copy(entry.path(), path).unwrap();
        }
    }
}

/// All states of a part, one after the other.
fn states_of(part: &KnownPart) -> Vec<String> {
    let mut states: Vec<String> = (0..=part.steps.len()).map(|steps| part.text_at(steps)).collect();
    states.dedup();
    states
}

#[test]
fn every_state_is_known_whoever_made_it() {
    for seed in 0..runs() {
        let mut past = Past::new(seed);
        for step in 0..STEPS {
            past.step();
            if step % 8 == 7 || step + 1 == STEPS {
                let history = past.history();
                let [part] = &history.parts[..] else { panic!("seed {seed}: {} parts", history.parts.len()) };
                assert_eq!(states_of(part), past.all_states(), "seed {seed}, step {step}");
            }
        }
    }
}

#[test]
fn no_state_is_wrong_whatever_is_lost() {
    let mut found = 0;
    for seed in 0..runs() {
        let mut past = Past::new(100 + seed);
        for step in 0..STEPS {
            past.step();
            if past.dice.below(9) == 0 {
                past.damage();
            }
            let history = past.history();
            let all = past.all_states();
            let mut left = all.iter();
            for state in history.parts.iter().flat_map(states_of) {
                // A state may end one part and begin the next.
                let is_there = left.clone().any(|other| *other == state);
                assert!(is_there || all.contains(&state), "seed {seed}, step {step}:\n{state}");
                left.find(|other| **other == state);
                found += 1;
            }
            let present = history.parts.last().map(|part| part.text_at(part.steps.len()));
            assert_eq!(present.as_ref(), all.last(), "seed {seed}, step {step}");
        }
    }
    assert!(found > 300, "{found}");
}

#[test]
fn who_follows_is_told_of_each_step() {
    for seed in 0..runs() {
        let mut past = Past::new(200 + seed);
        let (_, mut follower) = History::read(&past.store()).unwrap();
        let mut texts = vec![String::new()];
        for _ in 0..STEPS {
            past.step();
            let before = follower.text().to_owned();
            match follower.poll().unwrap() {
                Some(steps) => texts.extend(states_of(&KnownPart { start: before, steps })),
                // By hand twice, and a command between that knows only the text before both.
                None => {
                    follower = History::read(&past.store()).unwrap().1;
                    texts.push(follower.text().to_owned());
                }
            }
            assert_eq!(follower.text(), past.text());
            assert_eq!(follower.poll().unwrap(), Some(Vec::new()));
        }
        texts.dedup();
        let all = past.all_states();
        assert!(all.iter().filter(|state| !texts.contains(state)).count() < 3, "seed {seed}");
    }
}

#[test]
fn who_follows_reads_anew_after_an_error() {
    let mut past = Past::new(3);
    past.run(&["add", "1", "--title", "A", "--text", "x"], "");
    let (_, mut follower) = History::read(&past.store()).unwrap();
    fs::write(past.path("Memories.md"), b"\xff").unwrap();
    assert!(follower.poll().is_err());
    fs::write(past.path("Memories.md"), &past.states[1]).unwrap();
    assert_eq!(follower.poll().unwrap(), None);
    assert_eq!(History::read(&past.store()).unwrap().1.poll().unwrap(), Some(Vec::new()));
}

#[test]
fn a_turn_that_changes_nothing_is_a_step() {
    let mut past = Past::new(7);
    past.run(&["add", "1", "--title", "A", "--text", "x"], "");
    let turn = r#"{"action": "wait", "response": "It is dark.", "location": {"id": 1, "name": "Cave"}}"#;
    past.run(&["record", "--provider", "offline"], turn);
    past.run(&["record", "--provider", "offline"], turn);
    past.run(&["episode"], "");
    past.edit();
    let history = past.history();
    let of =
        |step: &HistoryStep| (step.line.as_ref().map(|line| line.contains("wait")), step.edits.is_empty());
    let steps: Vec<_> = history.parts[0].steps.iter().map(of).collect();
    assert_eq!(steps, [(Some(false), false), (Some(true), false), (Some(true), true), (None, false)]);
}

#[test]
#[ignore = "takes long; the gate runs it"]
fn the_states_of_five_episodes_are_known_recorded_in_groups_or_one_by_one() {
    let played = episodes::one_by_one();
    let (single, grouped) = (played.folder(), episodes::by_command());
    let five = played.ends().last().unwrap();
    for (folder, turns) in [(single, played.replay.states.len()), (grouped, five)] {
        let history = History::read(&episodes::open(&folder)).unwrap().0;
        let [part] = &history.parts[..] else { panic!("{} parts", history.parts.len()) };
        let mut text = part.start.clone();
        assert_eq!(part.steps.len(), turns);
        for (step, state) in part.steps.iter().zip(&played.replay.states) {
            let before = KnownPart { start: text, steps: vec![step.clone()] };
            text = before.text_at(1);
            assert_eq!(text, *state);
        }
    }
}
