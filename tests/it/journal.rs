//! A journal that an earlier version wrote is read as that version read it, whatever stands beside its lines;
//! and a change that is refused leaves no journal, nor anything else.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::{Value, json};

use crate::program::{memories, names};

const FIXTURE: &str = "fixtures/journal";

/// The game of the fixture.
struct Game(tempfile::TempDir);

impl Game {
    fn new() -> Game {
        let game = Game(tempfile::tempdir().unwrap());
        fs::create_dir_all(game.folder()).unwrap();
        fs::copy(Path::new(FIXTURE).join("Memories.md"), game.0.path().join("Memories.md")).unwrap();
        for name in ["journal.jsonl", "state.json"] {
            fs::copy(Path::new(FIXTURE).join(name), game.folder().join(name)).unwrap();
        }
        game
    }

    fn folder(&self) -> PathBuf {
        self.0.path().join(".memories/Memories.md")
    }

    fn run(&self, arguments: &[&str], stdin: &str) -> String {
        let output =
            Command::from_std(memories(self.0.path(), arguments)).write_stdin(stdin).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn add_to_journal(&self, text: &str) {
        let mut file = OpenOptions::new().append(true).open(self.folder().join("journal.jsonl")).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    /// Holds the readers to what the earlier version printed, which did not count lines that cannot be read, nor the
    /// models' calls of an episode, and took what changed nothing from the facts of each turn.
    fn check(&self, unreadable: u64) {
        let expected = |name: &str| fs::read_to_string(Path::new(FIXTURE).join(name)).unwrap();
        assert_eq!(self.run(&["log", "--lines", "100"], ""), expected("log.txt"));
        let figures = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let mut with_journal = figures(&expected("stats.json"));
        with_journal["journal"] = json!({"unreadable": unreadable, "mended": 0, "lost_turns": 0});
        // Two of the three calls were about turns, both of episode 7.
        let by_episode = with_journal["by_episode"].as_array_mut().unwrap();
        for (episode, (calls, no_effect)) in by_episode.iter_mut().zip([(0, 6), (2, 3)]) {
            (episode["model_calls"], episode["cost"]) = (json!(calls), json!(0.0));
            // Lines without an effect had none where the action was noted as tried.
            episode["no_effect"] = json!(no_effect);
        }
        with_journal["play"]["no_effect"] = json!(9);
        assert_eq!(figures(&self.run(&["stats", "--json"], "")), with_journal);
        assert_eq!(self.run(&["retry", "--dry-run"], ""), expected("retry.txt"));
    }
}

#[test]
fn log_stats_and_retry_read_it() {
    Game::new().check(0);
}

#[test]
fn torn_lines_unknown_keys_and_unknown_kinds_change_nothing() {
    let game = Game::new();
    let journal = fs::read_to_string(game.folder().join("journal.jsonl")).unwrap();
    let strange = |line: &str| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        line["mood"] = json!({"deep": [null, 7]});
        line.to_string()
    };
    let lines: Vec<String> = journal.lines().map(strange).collect();
    fs::write(game.folder().join("journal.jsonl"), lines.join("\n") + "\n").unwrap();
    game.add_to_journal("[1]\n7\n\n{\"id\": \"x\", \"outcome\": \"stored\", \"tu");
    game.check(3);
}

#[test]
fn kinds_that_are_not_known_are_shown_by_their_outcome() {
    let game = Game::new();
    let line = json!({"version": 2, "id": "x", "time": "2026-02-01T00:00:00Z", "outcome": "dreamt", "command": "dream"});
    game.add_to_journal(&format!("{line}\n"));
    assert_eq!(game.run(&["log", "--lines", "1"], ""), "2026-02-01T00:00:00Z  dream → dreamt\n");
}

#[test]
fn the_next_turn_follows_the_last_one_and_its_prompt_shows_those_before() {
    let game = Game::new();
    let answer = r#"cat >prompt.txt; echo '{"should_remember": false, "reasoning": "Nothing."}'"#;
    let settings = format!("[llm]\nprovider = \"command\"\ncommand = [\"sh\", \"-c\", {answer:?}]\n");
    fs::write(game.0.path().join("memories.toml"), settings).unwrap();
    let turn = json!({"action": "open sack", "response": "A lunch and garlic.", "location": 79, "world_changed": true});
    let said: Value = serde_json::from_str(&game.run(&["record", "--json"], &turn.to_string())).unwrap();
    assert_eq!((&said["episode"], &said["turn"]), (&json!(7), &json!(19)));
    let prompt = fs::read_to_string(game.0.path().join("prompt.txt")).unwrap();
    let before = prompt.split_once("\"turns_before\"").unwrap().1;
    let at = |text: &str| before.find(text).unwrap_or_else(|| panic!("{text} is not in {before}"));
    assert!(at("take sack") < at("push window") && at("push window") < at("eat garlic"));
    assert!(before.contains("Somebody has nailed the window shut"));
}

#[test]
fn a_waiting_turn_is_done_once() {
    let game = Game::new();
    let answer = r#"cat >/dev/null; echo '{"should_remember": true, "category": "DISCOVERY", "memory_title": "Kitchen behind the window", "memory_text": "The window leads to the kitchen.", "reasoning": "New place."}'"#;
    let settings = format!("[llm]\nprovider = \"command\"\ncommand = [\"sh\", \"-c\", {answer:?}]\n");
    fs::write(game.0.path().join("memories.toml"), settings).unwrap();
    assert_eq!(game.run(&["retry"], ""), "Ep7 T14: stored\n1 turn done, 0 turns wait\n");
    assert_eq!(game.run(&["retry"], ""), "0 turns done, 0 turns wait\n");
    let journal = fs::read_to_string(game.folder().join("journal.jsonl")).unwrap();
    let line: Value = serde_json::from_str(journal.lines().last().unwrap()).unwrap();
    assert_eq!((&line["command"], &line["outcome"]), (&json!("retry"), &json!("stored")));
    assert!(journal.contains(&format!("\"id\":{}", line["resolves"])));
}

#[test]
fn a_refused_change_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("Memories.md");
    let refused: [(&[&str], i32); 6] = [
        (&["supersede", "23", "nope", "--title", "New", "--text", "Text."], 4),
        (&["invalidate", "23", "nope", "--reason", "It is wrong."], 4),
        (&["mark", "23", "nope", "--importance", "700"], 4),
        (&["forget", "23", "nope"], 4),
        (&["rename", "23", "Cellar"], 4),
        (&["record", "--location", "Nowhere", "--action", "look", "--response", "Dark."], 4),
    ];
    for (arguments, code) in refused {
        let output = memories(folder.path(), arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {output:?}");
        assert_eq!(names(folder.path()), [""; 0], "{arguments:?}");
    }
    // A change that the file makes impossible leaves the file as it is and creates nothing beside it.
    fs::write(&file, b"\xff").unwrap();
    let output = memories(folder.path(), &["add", "23", "--text", "Dark."]).output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    assert_eq!(names(folder.path()), ["Memories.md"]);
    // The first change that is not refused is written, once.
    fs::remove_file(&file).unwrap();
    let output = memories(folder.path(), &["add", "23", "--text", "Dark."]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(fs::read_to_string(&file).unwrap().matches("Dark.").count(), 2, "title and text");
    let journal = fs::read_to_string(folder.path().join(".memories/Memories.md/journal.jsonl")).unwrap();
    assert_eq!(journal.lines().skip(1).count(), 1);
}
