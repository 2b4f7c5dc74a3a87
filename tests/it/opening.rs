//! A way keeps what opened it: `path` and recall say it, use corrects it.

use memories::map::{Graph, MapReport};
use memories::notebook::Snapshot;
use memories::recall::{Format, Limits, recall, render};
use memories::types::{Scope, ScopeName, Way};
use serde_json::Value;

use crate::best_run::{Game, step};

/// Deeds in the hall (place 1), then north to the kitchen (place 2). The numbers of the turns count on from `first`.
fn visit(episode: u64, first: u64, deeds: &[(&str, &str)]) -> Vec<Value> {
    let mut turns: Vec<Value> =
        (first..).zip(deeds).map(|(turn, (action, reply))| deed(episode, turn, action, reply)).collect();
    turns.push(step(episode, first + deeds.len() as u64, "north", "Kitchen", (1, 2), (0, 0)));
    turns
}

/// A deed in the hall. What opens or moves changes the world, as the engine says.
fn deed(episode: u64, turn: u64, action: &str, reply: &str) -> Value {
    let mut deed = step(episode, turn, action, reply, (1, 1), (0, 0));
    deed["world_changed"] = Value::from([MOVE, OPEN, LIFT].iter().any(|(_, change)| *change == reply));
    deed
}

fn back(episode: u64, turn: u64) -> Vec<Value> {
    vec![step(episode, turn, "south", "Hall", (2, 1), (0, 0))]
}

const MOVE: (&str, &str) = ("move cupboard", "Behind the cupboard is a door.");
const OPEN: (&str, &str) = ("open door", "The door swings open.");
const LIFT: (&str, &str) = ("lift lid", "The lid opens.");
const SHUT: (&str, &str) = ("north", "The door is closed.");

fn way(game: &Game) -> Way {
    let snapshot = Snapshot::read(&game.store).unwrap();
    let ways = &snapshot.section(&Scope::Location(1)).ways;
    ways.iter().find(|way| way.action == "north").expect("a way north").clone()
}

#[test]
fn a_way_keeps_what_was_done_before_it_was_first_walked() {
    let game = Game::new();
    game.play(&visit(1, 1, &[("dance", "You are tired."), MOVE, OPEN]));
    assert_eq!(way(&game).after, ["move cupboard", "open door"]);
    let file = std::fs::read_to_string(game.store.path()).unwrap();
    assert!(file.contains("*(after move cupboard; open door)*"), "{file}");
}

#[test]
fn what_was_only_taken_or_dropped_opened_nothing() {
    let mut take = step(1, 1, "take lamp", "Taken.", (1, 1), (0, 0));
    take["inventory_after"] = serde_json::json!(["lamp"]);
    let game = Game::new();
    game.play(&[take]);
    game.play(&visit(1, 2, &[]));
    assert!(way(&game).after.is_empty());
}

#[test]
fn a_visit_before_does_not_count() {
    let game = Game::new();
    let away = [step(1, 2, "east", "Cellar", (1, 3), (0, 0)), step(1, 3, "west", "Hall", (3, 1), (0, 0))];
    game.play(&[deed(1, 1, LIFT.0, LIFT.1)]);
    game.play(&away);
    game.play(&visit(1, 4, &[OPEN]));
    assert_eq!(way(&game).after, ["open door"]);
}

#[test]
fn what_came_after_a_refusal_opened_it() {
    let game = Game::new();
    game.play(&visit(1, 1, &[LIFT, SHUT, OPEN]));
    assert_eq!(way(&game).after, ["open door"]);
    let quiet = Game::new();
    quiet.play(&visit(1, 1, &[SHUT, ("say friend", "The door listens.")]));
    assert_eq!(way(&quiet).after, ["say friend"], "nobody saw it change");
    let known = Game::new();
    known.play(&visit(1, 1, &[]));
    assert!(way(&known).after.is_empty());
    known.play(&visit(2, 1, &[LIFT, SHUT, OPEN]));
    assert_eq!(way(&known).after, ["open door"], "it was open in the first episode only");
}

#[test]
fn use_takes_away_what_was_not_needed_and_nothing_else() {
    let game = Game::new();
    game.play(&visit(1, 1, &[LIFT, MOVE, OPEN]));
    game.play(&visit(2, 1, &[MOVE, OPEN]));
    assert_eq!(way(&game).after, ["move cupboard", "open door"]);
    let other_words = ("push cupboard", MOVE.1);
    game.play(&visit(3, 1, &[other_words, OPEN]));
    game.play(&back(3, 4));
    game.play(&visit(3, 5, &[]));
    assert_eq!(way(&game).after, ["move cupboard", "open door"], "it may be the same in other words");
    game.play(&[step(4, 1, "down", "Kitchen", (3, 2), (0, 0))]);
    game.play(&back(4, 2));
    game.play(&visit(4, 3, &[]));
    assert_eq!(way(&game).after, ["move cupboard", "open door"], "it may be opened from the other side");
    game.play(&visit(5, 1, &[]));
    assert!(way(&game).after.is_empty());
}

/// The path from the hall to the kitchen, and the ways that a recall of the hall shows.
fn told(game: &Game) -> (MapReport, String) {
    let snapshot = Snapshot::read(&game.store).unwrap();
    let path = Graph::read(&snapshot).path(1, 2);
    let names = [ScopeName::Scope(Scope::Location(1))];
    let views = recall(&snapshot, &names, &Limits::default(), Format::Text).unwrap();
    let ways = render(&views);
    let ways = ways.lines().find_map(|line| line.strip_prefix("Ways: ")).unwrap_or_default().to_owned();
    (path, ways)
}

#[test]
fn what_was_opened_and_shut_again_in_this_episode_is_to_be_opened_again() {
    let in_kitchen = |turn: u64, action: &str| {
        let mut deed = step(2, turn, action, "Done.", (2, 2), (0, 0));
        deed["world_changed"] = Value::from(true);
        deed
    };
    let opened = || {
        let game = Game::new();
        game.play(&visit(1, 1, &[MOVE, OPEN]));
        game.play(&visit(2, 1, &[MOVE, OPEN]));
        assert_eq!(told(&game).1, "north → Kitchen");
        game
    };
    let both = |game: &Game| {
        let (path, ways) = told(game);
        (path.json["actions"].as_array().unwrap().len() - 1, ways)
    };
    let shut = (1, "north → Kitchen (after open door)".to_owned());
    let game = opened();
    game.play(&[in_kitchen(4, "shut the door")]);
    assert_eq!(both(&game), shut, "from the other side");
    game.play(&back(2, 5));
    game.play(&[deed(2, 6, OPEN.0, OPEN.1)]);
    assert_eq!(both(&game), (0, "north → Kitchen".to_owned()), "and opened again");
    game.play(&[deed(2, 7, "close door", MOVE.1)]);
    assert_eq!(both(&game), shut);
    let game = opened();
    game.play(&[in_kitchen(4, "close window"), in_kitchen(5, "lock door")]);
    assert_eq!(both(&game).0, 0, "another thing, and no opposite");
    game.play(&back(2, 6));
    game.play(&[step(2, 7, SHUT.0, SHUT.1, (1, 1), (0, 0))]);
    let all = "north → Kitchen (after move cupboard, open door)".to_owned();
    assert_eq!(both(&game), (2, all), "something shut it");
}

#[test]
fn a_damaged_state_changes_nothing_of_what_is_done_in_this_episode() {
    let game = Game::new();
    game.play(&visit(1, 1, &[MOVE, OPEN]));
    game.play(&[deed(2, 1, MOVE.0, MOVE.1)]);
    let before = told(&game);
    assert_eq!(before.1, "north → Kitchen (after open door)");
    std::fs::write(game.store.folder().join("state.json"), "{").unwrap();
    assert_eq!(told(&game), before);
}

#[test]
fn path_and_recall_say_it_until_it_is_done_in_this_episode() {
    let game = Game::new();
    game.play(&visit(1, 1, &[MOVE, OPEN]));
    let told = || told(&game);
    let (path, ways) = told();
    assert_eq!(path.json["actions"], serde_json::json!(["north"]), "all of it is done");
    assert_eq!(ways, "north → Kitchen");
    game.play(&[step(2, 1, "dance", "You are tired.", (1, 1), (0, 0))]);
    let (path, ways) = told();
    assert_eq!(path.json["actions"], serde_json::json!(["move cupboard", "open door", "north"]));
    assert_eq!(path.json["steps"][0]["after"], serde_json::json!(["move cupboard", "open door"]));
    let line = "north → Kitchen (after move cupboard, open door)";
    assert!(path.text.ends_with(&format!("{line}\n")), "{}", path.text);
    assert_eq!(ways, line);
    game.play(&[deed(2, 2, MOVE.0, MOVE.1)]);
    let (path, ways) = told();
    assert_eq!(path.json["actions"], serde_json::json!(["open door", "north"]));
    assert_eq!(ways, "north → Kitchen (after open door)");
}

#[test]
fn a_goal_off_the_best_run_is_reached_by_the_shortest_known_way() {
    let game = Game::new();
    let mut take = deed(1, 6, "take lamp", "Taken.");
    for place in ["location_before", "location_after"] {
        take[place] = serde_json::json!({"id": 2, "name": "Kitchen"});
    }
    take["inventory_after"] = serde_json::json!(["lamp"]);
    game.play(&[
        step(1, 1, "open chest", "A gem!", (3, 3), (0, 10)),
        step(1, 2, "up", "Hall", (3, 1), (10, 10)),
    ]);
    game.play(&visit(1, 3, &[MOVE, OPEN]));
    game.play(&[take, step(2, 1, "dance", "You are tired.", (1, 1), (0, 0))]);
    let folder = game.store.path().parent().unwrap();
    let route = |goal: &str| {
        let output = crate::program::memories(folder, &["route", goal]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(route("+10"), "open chest  (+10 at Cellar)\n");
    assert_eq!(route("Kitchen"), "open chest\nup\nmove cupboard\nopen door\nnorth\n");
    assert_eq!(route("lamp"), "open chest\nup\nmove cupboard\nopen door\nnorth\ntake lamp\n");
    assert_eq!(route("sword"), "Neither the best run nor a known way leads there.\n");
}
