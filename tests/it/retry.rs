//! The queue: a turn whose model failed is kept and offered again, once, in order.

use std::fs;

use crate::program::memories;
use assert_cmd::Command;
use serde_json::{Value, json};

const ANSWER: &str = r#"{"should_remember": true, "category": "SUCCESS", "memory_title": "Lamp gives light",
    "memory_text": "Once taken, the lamp lights dark places.", "importance": 600, "reasoning": "It shines."}"#;

struct Game(tempfile::TempDir);

impl Game {
    /// A game whose model answers from a file of recordings.
    fn new(answers: &str) -> Game {
        let game = Game(tempfile::tempdir().unwrap());
        game.model(answers);
        fs::write(
            game.0.path().join("memories.toml"),
            "[llm]\nprovider = \"replay\"\nreplay = \"answers.jsonl\"\n",
        )
        .unwrap();
        game
    }

    fn model(&self, answers: &str) {
        fs::write(self.0.path().join("answers.jsonl"), answers).unwrap();
    }

    fn run(&self, args: &[&str], stdin: &str) -> (Option<i32>, Value, String) {
        let mut command = Command::from_std(memories(self.0.path(), &[]));
        let output = command.arg("--json").args(args).write_stdin(stdin).output().unwrap();
        let answer = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
        (output.status.code(), answer, String::from_utf8(output.stderr).unwrap())
    }

    fn play(&self, turn: u64, action: &str) -> Value {
        let turn = json!({
            "episode": 1, "turn": turn, "action": action, "response": "Taken.", "location": {"id": 5, "name": "Attic"},
            "score_before": 0, "score_after": 5, "remember": format!("I did {action}."),
        });
        let (code, answer, stderr) = self.run(&["record"], &turn.to_string());
        assert_eq!(code, Some(0), "{stderr}");
        answer
    }

    fn text(&self) -> String {
        fs::read_to_string(self.0.path().join("Memories.md")).unwrap()
    }
}

fn says(answer: &str) -> String {
    json!({"answer": answer}).to_string()
}

/// A text that only the prompt about this action holds: earlier turns are nested deeper in it.
fn asked_about(action: &str) -> String {
    format!("\n  \"action\": \"{action}\"")
}

#[test]
fn a_failed_turn_waits_and_is_done_once() {
    let game = Game::new(r#"{"error": "unreachable"}"#);
    assert_eq!(game.play(1, "take lamp")["outcome"], "stored"); // what the player wanted kept
    assert!(game.text().contains("**Visits:** 1"));
    let (code, answer, _) = game.run(&["retry"], "");
    assert_eq!((code, &answer["waiting_count"], &answer["failed_count"]), (Some(3), &json!(1), &json!(1)));
    game.model(&says(ANSWER));
    let (code, answer, stderr) = game.run(&["retry"], "");
    assert_eq!(
        (code, &answer["done_count"], &answer["waiting_count"]),
        (Some(0), &json!(1), &json!(0)),
        "{stderr}"
    );
    let text = game.text();
    assert!(text.contains("**[SUCCESS] Lamp gives light** *(Ep1, T1, +5, importance 600)*"), "{text}");
    assert!(text.contains("**Visits:** 1 |"), "a retry is no visit: {text}");
    assert_eq!(text.matches("I did take lamp.").count(), 2, "title and text, once each: {text}");
    let (code, answer, _) = game.run(&["retry"], "");
    assert_eq!((code, &answer["done_count"]), (Some(0), &json!(0)));
    assert_eq!(game.text(), text);
}

#[test]
fn turns_are_done_in_order_and_a_dead_server_stops_the_work() {
    let game = Game::new(r#"{"error": "unreachable"}"#);
    for (turn, action) in [(1, "take lamp"), (2, "take rope"), (3, "take knife")] {
        game.play(turn, action);
    }
    let (_, answer, stderr) = game.run(&["retry"], "");
    assert_eq!((&answer["failed_count"], &answer["waiting_count"]), (&json!(2), &json!(3)), "{stderr}");
    let (_, answer, _) = game.run(&["retry", "--dry-run"], "");
    let turns: Vec<&Value> =
        answer["outcomes"].as_array().unwrap().iter().map(|turn| &turn["turn"]).collect();
    assert_eq!(turns, ["Ep1 T1", "Ep1 T2", "Ep1 T3"]);
}

#[test]
fn babble_waits_and_the_next_turn_is_still_offered() {
    let game = Game::new(&says("I would rather talk about the weather."));
    game.play(1, "take lamp");
    game.play(2, "take rope");
    let answers = format!(
        "{}\n{}\n",
        json!({"when": asked_about("take rope"), "answer": ANSWER}),
        says("Lovely weather.")
    );
    game.model(&answers);
    let (code, answer, _) = game.run(&["retry"], "");
    assert_eq!((code, &answer["done_count"], &answer["failed_count"]), (Some(3), &json!(1), &json!(1)));
    assert!(game.text().contains("(Ep1, T2, +5"));
}

#[test]
fn a_model_takes_the_place_of_the_rules() {
    let game = Game::new(&says(ANSWER));
    fs::write(game.0.path().join("memories.toml"), "[llm]\nreplay = \"answers.jsonl\"\n").unwrap();
    game.play(1, "take lamp");
    let by_rules = game.text();
    assert!(by_rules.contains("#offline"), "{by_rules}");
    let (code, _, stderr) = game.run(&["retry", "--offline"], "");
    assert_eq!(code, Some(4), "there is no model: {stderr}");
    let (code, answer, stderr) = game.run(&["retry", "--offline", "--provider", "replay"], "");
    assert_eq!((code, &answer["done_count"]), (Some(0), &json!(1)), "{stderr}");
    let text = game.text();
    assert!(text.contains("**[SUCCESS] Lamp gives light** *(Ep1, T1, +5, importance 600)*"), "{text}");
    assert!(text.contains("[Superseded at Ep1 T1 by \"Lamp gives light\"]"), "{text}");
    let (_, answer, _) = game.run(&["retry", "--offline", "--provider", "replay"], "");
    assert_eq!(answer["done_count"], 0);
}

#[test]
fn two_retries_at_once_do_no_turn_twice() {
    let game = Game::new(r#"{"error": "unreachable"}"#);
    for turn in 1..=6 {
        game.play(turn, &format!("take thing {turn}"));
    }
    let answers: Vec<String> = (1..=6)
        .map(|turn| {
            let answer = json!({
                "should_remember": true, "memory_title": format!("Thing number {turn}"),
                "memory_text": format!("{} opens the thing.", "abcdef".chars().nth(turn - 1).unwrap().to_string().repeat(9 * turn)),
            });
            json!({"when": asked_about(&format!("take thing {turn}")), "answer": answer}).to_string()
        })
        .collect();
    game.model(&answers.join("\n"));
    let done: u64 = std::thread::scope(|scope| {
        let work = || game.run(&["retry"], "").1["done_count"].as_u64().unwrap();
        let workers: Vec<_> = (0..3).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    assert_eq!(done, 6);
    for turn in 1..=6 {
        assert_eq!(game.text().matches(&format!("] Thing number {turn}**")).count(), 1, "{}", game.text());
    }
}

#[test]
fn the_next_turn_is_one_more_than_the_last_one_played() {
    let game = Game::new(r#"{"error": "unreachable"}"#);
    game.play(1, "take lamp");
    game.play(7, "take rope");
    game.run(&["add", "5", "--text", "Something between the turns."], "");
    game.model(&says(ANSWER));
    game.run(&["retry"], "");
    let turn = json!({"action": "wait", "response": "Time passes.", "location": 5}).to_string();
    let (_, answer, stderr) = game.run(&["record"], &turn);
    assert_eq!(answer["turn"], 8, "{stderr}");
}

/// A game judged by the built-in rules, whose turns a model sees later.
fn judged_by_rules() -> Game {
    let game = Game::new(&says(ANSWER));
    fs::write(game.0.path().join("memories.toml"), "[llm]\nreplay = \"answers.jsonl\"\n").unwrap();
    game
}

#[test]
fn what_the_player_wanted_kept_is_not_the_rules_to_give_away() {
    let game = judged_by_rules();
    game.play(1, "take lamp");
    game.run(&["retry", "--offline", "--provider", "replay"], "");
    let text = game.text();
    assert!(text.contains("\nI did take lamp.\n"), "struck: {text}");
    assert_eq!(text.matches("SUPERSEDED").count(), 1, "{text}");
}

#[test]
fn what_later_turns_added_to_an_entry_is_not_struck_with_its_first_turn() {
    let game = judged_by_rules();
    let rob = |turn: u64, action: &str, item: &str| {
        let turn = json!({
            "episode": 1, "turn": turn, "action": action, "response": format!("The thief stole your {item}."),
            "location": {"id": 5, "name": "Attic"}, "inventory_before": [item], "inventory_after": [],
        });
        game.run(&["record"], &turn.to_string());
    };
    rob(1, "open chest", "lamp");
    rob(2, "open window", "sword");
    assert!(game.text().contains("\nThe thief stole your sword. Lost: sword.\n"), "{}", game.text());
    let answers = [
        json!({"when": asked_about("open chest"), "answer": ANSWER}).to_string(),
        says(r#"{"should_remember": false, "reasoning": "nothing new"}"#),
    ];
    game.model(&answers.join("\n"));
    game.run(&["retry", "--offline", "--provider", "replay"], "");
    let text = game.text();
    assert!(text.contains("\nThe thief stole your sword. Lost: sword.\n"), "struck: {text}");
    assert!(text.contains("Lamp gives light"), "{text}");
}

#[test]
fn of_several_entries_of_a_turn_the_first_is_given_away() {
    let game = judged_by_rules();
    let turn = json!({
        "episode": 1, "turn": 1, "action": "up", "score_before": 0, "score_after": 5,
        "response": "Attic\nA low room under the beams. A lamp hangs here.",
        "location_before": {"id": 4, "name": "Hall"}, "location_after": {"id": 5, "name": "Attic"},
    });
    game.run(&["record"], &turn.to_string());
    assert_eq!(game.text().matches("#offline").count(), 2, "{}", game.text());
    game.run(&["retry", "--offline", "--provider", "replay"], "");
    let text = game.text();
    assert!(text.contains("[SUCCESS - SUPERSEDED] Reaching Attic: +5 points"), "{text}");
    assert_eq!(text.matches("SUPERSEDED").count(), 1, "{text}");
}
