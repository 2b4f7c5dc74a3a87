//! The figures of `stats` against what `record` decided, and how long a long journal takes.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::program::{Killed, memories, succeed};
use serde_json::Value;

/// Actions of the turns that only look, wait or measure: they change nothing and are not listed.
const IDLE: [&str; 9] = ["look", "l", "examine", "x", "read", "inventory", "i", "wait", "score"];

/// Records the first turns of an episode; the number of those that are idle.
fn record(folder: &Path, episode: u32, most: usize) -> u64 {
    let turns = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fixtures/turns/zork1_ep{episode}.jsonl"));
    let turns = fs::read_to_string(turns).unwrap();
    let some: Vec<&str> = turns.lines().take(most).collect();
    fs::write(folder.join("turns.jsonl"), some.join("\n")).unwrap();
    succeed(folder, &["record", "--provider", "offline", "--turns", "turns.jsonl"]);
    let turns = some.iter().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let verbs =
        turns.filter_map(|turn| Some(turn["action"].as_str()?.split_whitespace().next()?.to_lowercase()));
    verbs.filter(|verb| IDLE.contains(&verb.as_str())).count() as u64
}

fn journal(folder: &Path) -> std::path::PathBuf {
    folder.join(".memories/Memories.md/journal.jsonl")
}

/// `stats` reads turns on its own, for speed; it must find what `record` found.
#[test]
fn what_changed_nothing_is_what_record_noted_as_tried() {
    let folder = tempfile::tempdir().unwrap();
    let idle = record(folder.path(), 1, 80) + record(folder.path(), 2, 60);
    let stats: Value = serde_json::from_str(&succeed(folder.path(), &["stats", "--json"])).unwrap();
    let list: Value = serde_json::from_str(&succeed(folder.path(), &["list", "--json"])).unwrap();
    let mut tries = 0;
    for section in list["sections"].as_array().unwrap() {
        let scope = section["scope"].as_str().unwrap();
        let shown: Value = serde_json::from_str(&succeed(folder.path(), &["show", scope, "--json"])).unwrap();
        for tried in shown["tried"].as_array().unwrap() {
            tries += tried["count"].as_u64().unwrap();
        }
    }
    // Tries leave the file when the action later does something; what is still there was counted.
    let no_effect = stats["play"]["no_effect"].as_u64().unwrap();
    assert!(tries > 40 && no_effect >= tries && no_effect <= tries + idle + 5, "{no_effect} and {tries}");
    assert_eq!(stats["play"]["recorded"], 140);
    assert_eq!(stats["by_episode"][0]["turn_count"], 80);
}

#[test]
fn following_shows_new_entries_as_they_come() {
    let folder = tempfile::tempdir().unwrap();
    let turn = |action: &str| {
        succeed(folder.path(), &["record", "--location", "5", "--action", action, "--response", "No."]);
    };
    turn("one");
    let child = memories(folder.path(), &["log", "--follow"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut child = Killed(child);
    let mut lines = BufReader::new(child.0.stdout.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap();
    assert!(next().contains("  one → "));
    turn("two");
    assert!(next().contains("  two → "));
    turn("three");
    assert!(next().contains("  three → "));
    // Without a reader, the next entry ends the process without an error.
    drop(lines);
    turn("four");
    let asked = Instant::now();
    let status = loop {
        if let Some(status) = child.0.try_wait().unwrap() {
            break status;
        }
        assert!(asked.elapsed() < Duration::from_secs(60), "it goes on though nobody reads");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(status.code(), Some(0));
}

/// `cargo test --release --test processes stats:: -- --ignored --nocapture` prints the time of a whole process.
#[test]
#[ignore = "takes a minute, and says something only with --release"]
fn a_journal_of_100_000_turns() {
    let folder = tempfile::tempdir().unwrap();
    for episode in 1..=5 {
        record(folder.path(), episode, usize::MAX);
    }
    let recorded = fs::read_to_string(journal(folder.path())).unwrap();
    let mut long = String::new();
    let mut written = 0;
    'all: for round in 0.. {
        for (at, line) in recorded.lines().enumerate() {
            if written == 100_000 {
                break 'all;
            }
            // Other episodes and ids, as further play would have.
            let mut line: Value = serde_json::from_str(line).unwrap();
            let episode = line["turn"]["episode"].as_u64().unwrap();
            line["turn"]["episode"] = Value::from(episode + 5 * round);
            line["id"] = Value::from(format!("{round:x}-{at:x}"));
            writeln!(long, "{line}").unwrap();
            written += 1;
        }
    }
    fs::write(journal(folder.path()), &long).unwrap();
    for arguments in [&["stats"][..], &["log"], &["log", "--outcome", "nothing", "--quiet"]] {
        succeed(folder.path(), arguments);
        let mut times: Vec<Duration> = (0..9)
            .map(|_| {
                let started = Instant::now();
                succeed(folder.path(), arguments);
                started.elapsed()
            })
            .collect();
        times.sort_unstable();
        let megabytes = long.len() / 1_000_000;
        println!("{arguments:?}: median {:?}, slowest {:?} ({megabytes} MB)", times[4], times[8]);
        if arguments == ["stats"] && !cfg!(debug_assertions) {
            assert!(times[4] < Duration::from_millis(300), "{times:?}");
        }
    }
}
