//! The frontier reads what describes a place: what it names comes first, what it rules out comes last.

use memories::map::{Descriptions, Graph};
use memories::notebook::Snapshot;
use serde_json::{Value, json};

use crate::best_run::{Game, step};

fn frontier(game: &Game, from: u64) -> Value {
    let snapshot = Snapshot::read(&game.store).unwrap();
    let descriptions = Descriptions::read(&game.store, &snapshot);
    Graph::read(&snapshot).frontier(from, 10, &descriptions).json["places"].clone()
}

const KITCHEN: &str = "Kitchen\nA path leads northwest. Rubble blocks the way east.";

#[test]
fn a_direction_that_the_description_names_comes_first() {
    let game = Game::new();
    game.play(&[step(1, 1, "north", KITCHEN, (1, 2), (0, 0))]);
    let places = frontier(&game, 1);
    let kitchen = &places[0];
    assert_eq!(
        (&kitchen["id"], &kitchen["steps"]),
        (&json!(2), &json!(1)),
        "before the hall, though it is nearer"
    );
    assert_eq!(kitchen["named"], json!(["northwest"]));
    let directions = kitchen["directions"].as_array().unwrap();
    assert_eq!((&directions[0], directions.last().unwrap()), (&json!("northwest"), &json!("east")));
    assert_eq!(directions[directions.len() - 2], "south", "it probably leads back to the hall");
    assert_eq!(places[1]["named"], json!([]));
}

#[test]
fn a_look_counts_and_a_shorter_name_of_the_place_does_not() {
    let game = Game::new();
    game.play(&[
        step(1, 1, "north", KITCHEN, (1, 2), (0, 0)),
        step(1, 2, "south", "Hall", (2, 1), (0, 0)),
        step(1, 3, "north", "Kitchen", (1, 2), (0, 0)),
    ]);
    assert_eq!(frontier(&game, 2)[0]["named"], json!(["northwest"]));
    game.play(&[step(1, 4, "look", "Kitchen. A door leads west.", (2, 2), (0, 0))]);
    assert_eq!(frontier(&game, 2)[0]["named"], json!(["west"]));
}

#[test]
fn without_the_journal_the_memories_describe_a_place() {
    let game = Game::new();
    game.play(&[step(1, 1, "north", KITCHEN, (1, 2), (0, 0))]);
    std::fs::remove_dir_all(game.store.folder()).unwrap();
    let text = std::fs::read_to_string(game.store.path()).unwrap();
    assert!(text.contains("northwest"), "{text}");
    assert_eq!(frontier(&game, 1)[0]["named"], json!(["northwest"]));
}

#[test]
fn what_the_journal_says_was_typed_was_tried() {
    let game = Game::new();
    game.play(&[step(1, 1, "north", KITCHEN, (1, 2), (0, 0))]);
    game.play(&[step(1, 2, "northwest", "You cannot go that way.", (2, 2), (0, 0))]);
    let text = std::fs::read_to_string(game.store.path()).unwrap();
    let without: String =
        text.lines().filter(|line| !line.contains("`northwest`")).map(|line| format!("{line}\n")).collect();
    assert_ne!(text, without);
    std::fs::write(game.store.path(), without).unwrap();
    let places = frontier(&game, 2);
    let kitchen = places.as_array().unwrap().iter().find(|place| place["id"] == 2).unwrap();
    assert!(!kitchen["directions"].as_array().unwrap().contains(&json!("northwest")), "{kitchen}");
}
