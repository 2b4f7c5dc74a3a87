//! Where the player stands: where the last turn of this episode ended, and before its first turn where the game begins.

use std::fs;

use crate::best_run::{Game, step};
use crate::program::memories;

/// The answer of a command, or its error.
fn says(game: &Game, arguments: &[&str]) -> String {
    let output = memories(game.store.path().parent().unwrap(), arguments).output().unwrap();
    let text = if output.stdout.is_empty() { output.stderr } else { output.stdout };
    String::from_utf8(text).unwrap()
}

const UNKNOWN: &str = "no turn of this episode was recorded, so it is not known where you are";

/// An episode that begins in the hall and ends in the cellar, with points or without.
fn play(game: &Game, episode: u64, points: i64) {
    game.play(&[
        step(episode, 1, "north", "Kitchen", (1, 2), (0, 0)),
        step(episode, 2, "down", "Cellar", (2, 3), (0, points)),
    ]);
}

#[test]
fn a_new_episode_begins_where_the_game_does() {
    for points in [0, 10] {
        let game = Game::new();
        play(&game, 1, points);
        assert!(says(&game, &["path", "Kitchen"]).starts_with("No way is known from Cellar"), "{points}");
        says(&game, &["episode", "start"]);
        assert_eq!(says(&game, &["path", "Kitchen"]), "From Hall to Kitchen, 1 step:\nnorth → Kitchen\n");
        assert!(says(&game, &["frontier"]).starts_with("Directions never tried, from Hall:"), "{points}");
        assert!(says(&game, &["near"]).starts_with("From Hall:"), "{points}");
        let route = if points > 0 { "north\ndown  (+10 at Cellar)\n" } else { "north\ndown\n" };
        assert_eq!(says(&game, &["route", "Cellar", "--from", "."]), route);
        game.play(&[step(2, 1, "east", "Kitchen", (1, 2), (0, 0))]);
        assert_eq!(says(&game, &["path", "Kitchen"]), "Kitchen is where you are.\n");
    }
}

#[test]
fn where_a_game_begins_is_not_guessed() {
    let game = Game::new();
    assert!(says(&game, &["path", "1"]).contains(UNKNOWN));
    play(&game, 1, 10);
    game.play(&[step(2, 1, "up", "Kitchen", (3, 2), (0, 0))]);
    says(&game, &["episode", "start"]);
    for command in [&["path", "Kitchen"][..], &["frontier"], &["near"]] {
        assert!(says(&game, command).contains(UNKNOWN), "the episodes began at two places: {command:?}");
    }
    assert_eq!(
        says(&game, &["route", "--from", "."]),
        "north\ndown  (+10 at Cellar)\n",
        "the best run has its own"
    );
}

#[test]
fn a_file_without_its_journal_knows_where_the_best_run_began() {
    let game = Game::new();
    play(&game, 1, 10);
    fs::remove_dir_all(game.store.folder()).unwrap();
    says(&game, &["episode", "start"]);
    assert!(says(&game, &["path", "Cellar"]).starts_with("From Hall to Cellar, 2 steps:"));
}
