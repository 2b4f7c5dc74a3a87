//! Nobody's words vanish: a person edits the file by hand while models, rules and agents write into it.
//!
//! `MEMORIES_SESSIONS=10000 cargo test --test it words` runs more sessions; a folder in memory (`TMPDIR`) makes
//! that quick.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use assert_cmd::Command;
use memories::document::Document;
use memories::notebook::{Clock, Notebook};
use memories::record::turn::{Turn, TurnLocation};
use memories::record::{Judge, RecordSettings, Recorder};
use memories::store::Store;
use memories::types::Scope;
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::memories;
use crate::puppet::Puppet;

const FILE: &str = "# Location Memories\n\n## Location 5: Bridge\n**Visits:** 1 | **Episodes:** 1\n\n### Memories\n\n\
    **[DANGER - CORE] Troll at the bridge** *(importance 950)*\nThe troll demands a toll, says hand0 the ferryman.\n\n---\n";

/// Titles that everybody uses again and again.
const TITLES: [&str; 5] = ["Troll at the bridge", "Here", "Points", "Deaths", "Rope on the bank"];

/// One step of a session.
#[derive(Debug, Clone)]
enum Step {
    /// A person appends a sentence to the text of an entry, counted from the first.
    Append(usize),
    /// A person gives an entry another title.
    Retitle(usize),
    /// A person writes an entry at the end of the section.
    Write { title: usize, category: &'static str },
    /// A model answers a turn.
    Answered { answer: Value, died: bool, score: i64 },
    /// The rules judge a turn.
    Ruled { direction: &'static str, died: bool, score: i64 },
}

fn step() -> impl Strategy<Value = Step> {
    let title = || 0..TITLES.len();
    let category = || prop::sample::select(vec!["NOTE", "DANGER", "SUCCESS", "DISCOVERY"]);
    let persistence = prop::sample::select(vec!["permanent", "core", "ephemeral"]);
    let status = prop::sample::select(vec!["active", "tentative"]);
    let titles = || prop::collection::vec(title(), 0..3);
    let score = || prop::sample::select(vec![0, 0, 0, 5, -10]);
    let answer = (any::<bool>(), title(), category(), persistence, status, 1..1000, titles(), titles(), 0..9);
    let answer = answer.prop_map(|(remember, title, category, persistence, status, importance, over, wrong, word)| {
        let named = |list: Vec<usize>| list.into_iter().map(|at| TITLES[at]).collect::<Vec<_>>();
        json!({
            "should_remember": remember, "memory_title": TITLES[title], "category": category, "status": status,
            "memory_text": format!("The troll {word} holds the rope on the bridge."), "persistence": persistence,
            "importance": importance, "supersedes": named(over), "invalidates": named(wrong),
        })
    });
    prop_oneof![
        2 => (0..9_usize).prop_map(Step::Append),
        1 => (0..9_usize).prop_map(Step::Retitle),
        1 => (title(), category()).prop_map(|(title, category)| Step::Write { title, category }),
        4 => (answer, any::<bool>(), score()).prop_map(|(answer, died, score)| Step::Answered { answer, died, score }),
        2 => (prop::sample::select(vec!["north", "south", "up", "jump", "pull rope", "ring bell"]), any::<bool>(), score())
            .prop_map(|(direction, died, score)| Step::Ruled { direction, died, score }),
    ]
}

/// A memory file, and the sentences that a person wrote into it.
struct Session {
    folder: TempDir,
    by_hand: Vec<String>,
    turns: u64,
}

impl Session {
    fn new() -> Session {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("Memories.md"), FILE).unwrap();
        Session { folder, by_hand: vec!["says hand0 the ferryman".to_owned()], turns: 0 }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("Memories.md")
    }

    /// Sentences of a person that stand in live entries.
    fn live(&self) -> Vec<String> {
        let document = Document::parse(self.text());
        let section = document.section(&Scope::Location(5)).unwrap();
        let texts: String =
            section.live().map(|memory| format!("{}\n{}\n", memory.title, memory.text)).collect();
        self.by_hand.iter().filter(|sentence| texts.contains(sentence.as_str())).cloned().collect()
    }

    fn text(&self) -> String {
        fs::read_to_string(self.path()).unwrap()
    }

    fn sentence(&mut self) -> String {
        let sentence = format!("hand{} of a person wrote this", self.by_hand.len());
        self.by_hand.push(sentence.clone());
        sentence
    }

    fn play(&mut self, step: &Step) {
        match step {
            Step::Append(at) => self.edit_entry(*at, |line, sentence| format!("{line}\n{sentence}.")),
            Step::Retitle(at) => self.edit_entry(*at, |line, sentence| match line.split_once("] ") {
                Some((bracket, _)) => format!("{bracket}] {sentence}**"),
                None => format!("{line}\n{sentence}."),
            }),
            Step::Write { title, category } => {
                let sentence = self.sentence();
                let text = self.text();
                let end = text.rfind("\n---").unwrap();
                let entry =
                    format!("\n**[{category}] {} by hand {}**\n{sentence}.\n", TITLES[*title], self.turns);
                fs::write(self.path(), format!("{}{entry}{}", &text[..end], &text[end..])).unwrap();
            }
            Step::Answered { answer, died, score } => {
                let puppet = Puppet::saying(answer.clone());
                self.record(Judge::Model(&puppet), "pull the rope", *died, *score);
            }
            Step::Ruled { direction, died, score } => self.record(Judge::Rules, direction, *died, *score),
        }
    }

    /// Edits the line of a live entry: title line for a title, else the first line of its text.
    fn edit_entry(&mut self, at: usize, edit: impl Fn(&str, &str) -> String) {
        let text = self.text();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let is_live = |line: &String| line.starts_with("**[") && !line.contains("SUPERSEDED");
        let live: Vec<usize> = (0..lines.len()).filter(|&number| is_live(&lines[number])).collect();
        let Some(&number) = live.get(at % live.len().max(1)) else { return };
        // A title that a person wrote stays, or its sentence would be the person's own loss.
        let is_titled = lines[number].contains("of a person wrote this");
        let sentence = self.sentence();
        lines[number] = if is_titled {
            format!("{}\n{sentence}.", lines[number])
        } else {
            edit(&lines[number], &sentence)
        };
        fs::write(self.path(), lines.join("\n") + "\n").unwrap();
    }

    fn record(&mut self, judge: Judge<'_>, action: &str, died: bool, score: i64) {
        self.turns += 1;
        let reply =
            "The troll holds the rope on the bridge, and looks at you for a long time without a word. "
                .repeat(2);
        let place = TurnLocation { id: Some(5), name: Some("Bridge".to_owned()), ..TurnLocation::default() };
        // Each way leads to a new place, so that the rules have something to add to their note.
        let moved = ["north", "south", "up"].contains(&action);
        let (id, name) =
            if moved { (100 + self.turns, format!("Bank {}", self.turns)) } else { (5, "Bridge".to_owned()) };
        let after = TurnLocation { id: Some(id), name: Some(name), ..TurnLocation::default() };
        let turn = Turn {
            score_before: Some(0),
            score_after: Some(score),
            died,
            location_after: Some(after),
            ..Turn::new(action, reply, Some(place))
        };
        let store = Store::open(self.path(), Duration::from_secs(5)).unwrap();
        let notebook = Notebook::new(store, Clock::fixed("2026-01-31T10:40:00Z"));
        let settings = RecordSettings::default();
        Recorder { notebook: &notebook, judge, settings: &settings }.record(turn).unwrap();
    }
}

/// Sessions to play: more where `MEMORIES_SESSIONS` says so.
fn sessions() -> ProptestConfig {
    let wanted = std::env::var("MEMORIES_SESSIONS").ok().and_then(|count| count.parse().ok());
    ProptestConfig { failure_persistence: None, cases: wanted.unwrap_or(60), ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(sessions())]

    #[test]
    fn every_sentence_of_a_person_stays_in_the_file(steps in prop::collection::vec(step(), 1..16)) {
        let mut session = Session::new();
        for step in &steps {
            let live = session.live();
            session.play(step);
            let proven = matches!(step, Step::Answered { died, score, .. } if *died || *score != 0);
            if !proven {
                let after = session.live();
                for sentence in &live {
                    prop_assert!(after.contains(sentence), "{sentence:?} is struck by {step:?}\n{}", session.text());
                }
            }
            let text = session.text();
            for sentence in &session.by_hand {
                prop_assert!(text.contains(sentence.as_str()), "{sentence:?} is gone after {step:?}\n{text}");
            }
        }
    }
}

/// The title that the model gives is only the nearest to that of the person's entry.
#[test]
fn a_guessed_title_strikes_no_entry_of_an_unknown_author() {
    let mut session = Session::new();
    session.play(&Step::Write { title: 4, category: "NOTE" });
    let answer = json!({"should_remember": true, "memory_title": "Here", "memory_text": "The rope is gone.",
        "supersedes": ["Rope on the bank"], "wrong": ["Rope on the bank"]});
    session.play(&Step::Answered { answer, died: false, score: 0 });
    assert_eq!(session.live().len(), 2, "{}", session.text());
    assert!(session.text().contains("Rope on the bank by hand 0"), "{}", session.text());
}

#[test]
fn texts_under_titles_of_their_own_are_refused_only_if_another_holds_them() {
    let folder = tempfile::tempdir().unwrap();
    let documents = fs::read_to_string("fixtures/search/documents.jsonl").unwrap();
    let texts: Vec<String> = documents
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).unwrap()["text"].as_str().map(str::to_owned))
        .collect();
    let lines = texts.iter().enumerate().map(|(number, text)| {
        json!({"scope": "world", "title": format!("Text {number}"), "text": text}).to_string()
    });
    let output = Command::from(memories(folder.path(), &["import", "-", "--format", "jsonl", "--json"]))
        .write_stdin(lines.collect::<Vec<_>>().join(
            "
",
        ))
        .output()
        .unwrap();
    let report = String::from_utf8(output.stdout).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    let folded = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    for duplicate in report["duplicates"].as_array().unwrap() {
        let number: usize =
            duplicate["title"].as_str().unwrap().strip_prefix("Text ").unwrap().parse().unwrap();
        let own = folded(&texts[number]);
        let is_held = texts.iter().enumerate().any(|(other, text)| {
            other != number && (folded(text).contains(&own) || own.contains(&folded(text)))
        });
        assert!(is_held, "{duplicate}");
    }
    println!(
        "{} texts, {} of them are held by others",
        texts.len(),
        report["duplicates"].as_array().unwrap().len()
    );
    assert_eq!(
        report["stored"].as_u64().unwrap() as usize + report["duplicates"].as_array().unwrap().len(),
        texts.len()
    );
}
