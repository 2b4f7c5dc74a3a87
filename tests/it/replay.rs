//! The built-in rules, judged by the file that they produce in the real flow: recall, play, record.
//!
//! Five episodes of a real game in one file, a file of odd input, and a small invented game with another
//! style of output. Run with `--nocapture` for the figures.

use std::path::Path;
use std::time::Duration;

use memories::store::Store;

#[path = "../support/replay.rs"]
mod player;

use player::{Episode, Replay, count_tokens, percent, temporary_folder};

/// The most that an episode may add to the file.
const MAX_EPISODE_BYTES: i64 = 12_000;
/// The budget of a recall as it is by default.
const MAX_TOKENS: usize = 300;

/// Tokens of the longer texts; short ones count as none, because counting takes time and they cannot
/// exceed the budget.
fn count_long(text: &str) -> usize {
    if text.len() < 2 * MAX_TOKENS { 0 } else { count_tokens(text) }
}

/// Plays files one after the other into one memory file.
fn play(files: &[&str]) -> (Vec<Episode>, String) {
    let folder = temporary_folder().expect("a folder");
    let store = Store::open(folder.path().join("Memories.md"), Duration::from_secs(10)).expect("a path");
    let mut replay = Replay::new(store, count_long);
    for file in files {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/turns").join(file);
        let lines = std::fs::read_to_string(path).expect("the fixture is there");
        replay.play(&lines).unwrap_or_else(|error| panic!("{file}: {error:#}"));
    }
    let text = replay.text().expect("the file is readable");
    (replay.episodes, text)
}

/// Invariants for any game: bounded growth, bounded recall.
fn check_economy(episodes: &[Episode]) {
    for episode in episodes {
        let (estimated, counted) = episode.most_tokens();
        println!(
            "episode {:?}: {} turns, {} of {} repeats warned, {:.1} % of {} places, {} bytes, {estimated} tokens \
             ({counted} counted)",
            episode.number,
            episode.turns,
            episode.warned,
            episode.repeats,
            episode.covered_percent(),
            episode.places,
            episode.grown,
        );
        assert!(episode.grown <= MAX_EPISODE_BYTES, "{} bytes", episode.grown);
        assert!(estimated <= MAX_TOKENS && counted <= MAX_TOKENS, "{estimated}, {counted} tokens");
    }
}

fn check_warnings(episodes: &[Episode]) {
    let repeats: usize = episodes.iter().map(|episode| episode.repeats).sum();
    let warned: usize = episodes.iter().map(|episode| episode.warned).sum();
    let missing: Vec<_> = episodes.iter().flat_map(|episode| &episode.unwarned).collect();
    println!("warned {warned} of {repeats}, not of {missing:?}");
    assert!(percent(warned, repeats) >= 95.0, "{warned} of {repeats}");
}

#[test]
fn five_episodes_of_a_real_game() {
    let files = (1..=5).map(|episode| format!("zork1_ep{episode}.jsonl")).collect::<Vec<_>>();
    let (episodes, _) = play(&files.iter().map(String::as_str).collect::<Vec<_>>());
    check_economy(&episodes);
    check_warnings(&episodes);
    for episode in &episodes[2..] {
        assert!(episode.covered_percent() >= 80.0, "{:.1} %", episode.covered_percent());
    }
}

#[test]
fn odd_input() {
    let (episodes, text) = play(&["zork1_edge.jsonl"]);
    check_economy(&episodes);
    check_warnings(&episodes);
    assert_eq!(text.matches("[DANGER] Deaths").count(), 1, "the same death twice is one memory\n{text}");
}

#[test]
fn another_game() {
    let (episodes, text) = play(&["saltlight.jsonl"]);
    check_economy(&episodes);
    check_warnings(&episodes);
    for episode in &episodes {
        assert!(episode.covered_percent() >= 80.0, "{:.1} %", episode.covered_percent());
    }
    let entries: usize = text.lines().filter(|line| line.starts_with("**[")).count();
    assert!(entries <= 2 * episodes[1].places, "{entries} entries\n{text}");
}
