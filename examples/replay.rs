//! Replays recorded turns with the built-in rules and prints the figures of each episode.
//!
//! ```sh
//! cargo run --release --example replay -- fixtures/turns/zork1_ep?.jsonl
//! ```
//!
//! All files are recorded into one temporary memory file, in their order.

#![allow(clippy::print_stdout, reason = "prints its figures")]

use std::time::Duration;

use anyhow::{Context, Result, bail};
use memories::store::Store;

#[path = "../tests/support/replay.rs"]
mod replay;

use replay::{Episode, Replay, percent, temporary_folder};

fn main() -> Result<()> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    if files.is_empty() {
        bail!("name one or more files of turns (JSONL)");
    }
    let folder = temporary_folder()?;
    let store = Store::open(folder.path().join("Memories.md"), Duration::from_secs(10))?;
    let mut replay = Replay::new(store);
    for file in &files {
        let lines = std::fs::read_to_string(file).with_context(|| format!("cannot read `{file}`"))?;
        replay.play(&lines).with_context(|| format!("cannot replay `{file}`"))?;
    }
    println!(
        "episode  turns  repeats  warned %  places  covered %  growth  tokens p50/max  recall ms  record ms"
    );
    replay.episodes.iter().for_each(print_episode);
    let sum = |part: fn(&Episode) -> usize| replay.episodes.iter().map(part).sum::<usize>();
    let (repeats, warned) = (sum(|episode| episode.repeats), sum(|episode| episode.warned));
    println!("all      {:5}  {repeats:7}  {:8.1}", sum(|episode| episode.turns), percent(warned, repeats));
    for (place, action) in replay.episodes.iter().flat_map(|episode| &episode.unwarned) {
        println!("not warned at {place}: {action}");
    }
    Ok(())
}

fn print_episode(episode: &Episode) {
    let number = episode.number.map_or_else(|| "-".to_owned(), |number| number.to_string());
    let most = episode.most_tokens();
    println!(
        "{number:7}  {:5}  {:7}  {:8.1}  {:6}  {:9.1}  {:6}  {:10}/{most:3}  {:9.2}  {:9.2}",
        episode.turns,
        episode.repeats,
        percent(episode.warned, episode.repeats),
        episode.places,
        episode.covered_percent(),
        episode.grown,
        median(episode.tokens.clone()).unwrap_or_default(),
        milliseconds(median(episode.recalls.clone())),
        milliseconds(median(episode.records.clone())),
    );
}

fn median<T: Ord + Copy>(mut values: Vec<T>) -> Option<T> {
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

fn milliseconds(duration: Option<Duration>) -> f64 {
    duration.unwrap_or_default().as_secs_f64() * 1000.0
}
