//! `--as-of`: each answer about a moment of the past is the one that was given then, or none is given.

mod sources;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Output;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use memories::Store;
use memories::notebook::past::{Found, Timeline, When};
use memories::types::instant::Instant;
use serde_json::Value;
use tempfile::TempDir;

use crate::dice::Dice;
use crate::episodes;
use crate::program::{memories, with_input};

/// Steps of the play.
const STEPS: usize = 50;

/// Steps after which all commands are asked; after the others some are.
const ALL_EVERY: usize = 12;

/// What is asked. Places are those of the episodes.
const QUESTIONS: [&[&str]; 18] = [
    &["recall", "75", "64", "world", "--max-tokens", "500"],
    &["show", "--all"],
    &["list"],
    &["recall", "75", "--all", "--json"],
    &["query", "where is the lamp, and what happened yesterday", "--json"],
    &["top", "-n", "20", "--json"],
    &["map"],
    &["map", "--json"],
    &["map", "path", "64", "75", "--json"],
    &["map", "near"],
    &["map", "frontier"],
    &["frontier", "64", "-n", "50", "--json"],
    &["goals", "--json"],
    &["route", "--json"],
    &["route", "--from", "."],
    &["show", "75", "--json"],
    &["list", "--json"],
    &["report", "-o", "-"],
];

fn is_long_run() -> bool {
    std::env::var_os("PROPTEST_CASES").is_some()
}

/// The questions that are asked after a step.
fn asked(step: usize) -> Vec<&'static [&'static str]> {
    let is_wanted = |number: &usize| {
        is_long_run() || step % ALL_EVERY == ALL_EVERY - 1 || number % 9 == step % 9 && *number < 17
    };
    (0..QUESTIONS.len()).filter(is_wanted).map(|number| QUESTIONS[number]).collect()
}

/// The time of a step.
fn time(step: usize) -> String {
    let start = Instant::of("2026-03-01T22:00:00Z").unwrap().as_second();
    Instant::of_second(start + 97 * step as i64).unwrap().to_string()
}

/// The exit code and stdout; JSON without the moment that it is about.
fn answer(folder: &Path, question: &[&str], now: &str) -> (Option<i32>, String) {
    let output = memories(folder, question).env("MEMORIES_NOW", now).output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let said = match serde_json::from_str::<Value>(&stdout) {
        Ok(mut json) => {
            json.as_object_mut().unwrap().shift_remove("as_of");
            json.to_string()
        }
        Err(_) => stdout,
    };
    (output.status.code(), said)
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

/// A moment, as it was.
struct Then {
    step: usize,
    /// The names of the moment.
    names: Vec<String>,
    text: String,
    answers: BTreeMap<Vec<&'static str>, (Option<i32>, String)>,
}

/// A game of five episodes, with corrections and hand edits between the turns.
struct Game {
    folder: TempDir,
    dice: Dice,
    turns: Vec<String>,
    /// The next turn.
    next: usize,
    moments: Vec<Then>,
    /// Times between a command and the next one, before which the file was changed by hand.
    uncertain: Vec<(String, String)>,
    edited: Option<String>,
}

impl Game {
    fn new() -> Game {
        let texts = episodes::turns().map(|path| fs::read_to_string(path).unwrap());
        let of_each = if is_long_run() { usize::MAX } else { 25 };
        let turns = texts.iter().flat_map(|text| text.lines().take(of_each).map(str::to_owned)).collect();
        Game {
            folder: tempfile::tempdir().unwrap(),
            dice: Dice::of(7),
            turns,
            next: 0,
            moments: Vec::new(),
            uncertain: Vec::new(),
            edited: None,
        }
    }

    fn text(&self) -> String {
        fs::read_to_string(self.folder.path().join("Memories.md")).unwrap_or_default()
    }

    fn run(&self, arguments: &[&str], stdin: &str, step: usize) {
        let mut command = memories(self.folder.path(), arguments);
        let output = with_input(command.env("MEMORIES_NOW", time(step)), stdin);
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
    }

    /// Scope and title of a memory.
    fn memory(&mut self) -> (String, String) {
        let (_, top) = answer(self.folder.path(), &["top", "-n", "20", "--json"], &time(0));
        let top: Value = serde_json::from_str(&top).unwrap();
        let memories = top["memories"].as_array().unwrap();
        let memory = &memories[self.dice.below(memories.len())];
        let text = |name: &str| memory[name].as_str().unwrap().to_owned();
        (text("scope"), text("title"))
    }

    /// Records turns, as many as lead to the end of the last episode within all steps. The names of the moment.
    fn record(&mut self, step: usize) -> Vec<String> {
        let count = (self.turns.len() - self.next) / (STEPS - step).div_ceil(2).max(1);
        let turns = self.turns[self.next..][..count.max(1)].to_vec();
        self.next += turns.len();
        self.run(&["record", "--turns", "-", "--provider", "offline"], &(turns.join("\n") + "\n"), step);
        let last: Value = serde_json::from_str(turns.last().unwrap()).unwrap();
        vec![format!("{}.{}", last["episode"], last["turn"])]
    }

    /// The names of the moment behind the step.
    fn play(&mut self, step: usize) -> Vec<String> {
        match self.dice.below(9) {
            _ if step == 0 || step + 1 == STEPS => self.record(step),
            4 => {
                // Changes nothing; what was changed by hand is found by it.
                self.run(&["add", "75", "--title", "Again", "--text", "It glows, and it hums."], "", step);
                Vec::new()
            }
            0 => {
                let title = format!("Thing {step}");
                self.run(&["add", "75", "--title", &title, "--text", "It glows, and it hums."], "", step);
                Vec::new()
            }
            1 => {
                let (scope, title) = self.memory();
                let (new, text) = (format!("Better {step}"), format!("Seen anew at step {step}."));
                self.run(&["supersede", &scope, &title, "--title", &new, "--text", &text], "", step);
                Vec::new()
            }
            2 => {
                let (scope, title) = self.memory();
                self.run(&["forget", &scope, &title], "", step);
                Vec::new()
            }
            3 => {
                self.run(&["mark", "75", &self.added(step), "--importance", "900"], "", step);
                Vec::new()
            }
            _ => self.record(step),
        }
    }

    /// The title of a memory that is added for a step.
    fn added(&self, step: usize) -> String {
        let title = format!("Marked {step}");
        self.run(&["add", "75", "--title", &title, "--text", &format!("Text {step}.")], "", step);
        title
    }

    fn step(&mut self, step: usize) {
        let before = self.moments.last().map(|moment| time(moment.step));
        let mut names = self.play(step);
        names.push(time(step));
        if let (Some(text), Some(before)) = (self.edited.take(), before) {
            let middle = Instant::of(&before).unwrap().as_second() + 40;
            self.uncertain.push((Instant::of_second(middle).unwrap().to_string(), text));
        }
        let answers = asked(step)
            .into_iter()
            .map(|question| (question.to_vec(), answer(self.folder.path(), question, &time(step))));
        let answers = answers.collect();
        self.moments.push(Then { step, names, text: self.text(), answers });
        if self.dice.below(6) == 0 {
            let text = self.text()
                + &format!("\n## Location 9{step}: By hand\n\n**[NOTE] Bell {step}**\nIt rings.\n");
            fs::write(self.folder.path().join("Memories.md"), &text).unwrap();
            self.edited = Some(text);
        }
    }
}

fn assert_as_then(folder: &Path, moment: &Then) {
    let store = Store::open(folder.join("Memories.md"), Duration::ZERO).unwrap();
    let timeline = Timeline::read(&store).unwrap();
    for name in &moment.names {
        for (question, then) in &moment.answers {
            let question: Vec<&str> = question.iter().copied().chain(["--as-of", name]).collect();
            let now = answer(folder, &question, "2026-06-01T00:00:00Z");
            assert_eq!(now, *then, "step {}: {question:?}", moment.step);
        }
        let found = timeline.at(When::of(name).unwrap(), None);
        let Ok(Found::Past(past)) = found else { panic!("{name}: {found:?}") };
        assert_eq!(past.text, moment.text, "step {}: {name}", moment.step);
    }
}

#[test]
#[ignore = "takes long; the gate runs it"]
fn each_answer_is_the_one_that_was_given_then() {
    let mut game = Game::new();
    (0..STEPS).for_each(|step| game.step(step));
    assert!(game.uncertain.len() > 3 && game.next == game.turns.len());
    let (folder, next) = (game.folder.path(), AtomicUsize::new(0));
    let failed = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(moment) = game.moments.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let checked = std::panic::catch_unwind(|| assert_as_then(folder, moment));
                    if checked.is_err() {
                        *failed.lock().unwrap() = Some(moment.step);
                    }
                }
            });
        }
    });
    assert_eq!(failed.into_inner().unwrap(), None);
    for (time, _) in &game.uncertain {
        // Whatever the clock says now.
        let output = memories(folder, &["list", "--as-of", time]).output().unwrap();
        assert_eq!(output.status.code(), Some(4), "{time}: {}", said(&output));
        assert!(said(&output).contains("something else than a command changed the file"));
    }
}
