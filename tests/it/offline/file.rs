//! Whole games, judged by the titles that a reader of the file finds.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use memories::document::Document;
use memories::notebook::{Clock, Notebook};
use memories::record::turn::Turn;
use memories::record::{Judge, RecordSettings, Recorder};
use memories::store::Store;
use memories::types::Memory;

use crate::episodes;

use super::{DANGLING, check_title};

/// The memory file after the turns of a file.
fn play(file: &str) -> String {
    // In memory where the system has such a place: each turn is synced to disk.
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder");
    let store = Store::open(folder.path().join("Memories.md"), Duration::from_secs(10)).expect("a path");
    let settings = RecordSettings::default();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/turns").join(file);
    for line in fs::read_to_string(path).expect("the fixture is there").lines() {
        let notebook = Notebook::new(store.clone(), Clock::fixed("2026-01-31T12:00:00Z"));
        let recorder = Recorder { notebook: &notebook, judge: Judge::Rules, settings: &settings };
        let turn = Turn::from_value(&serde_json::from_str(line).expect("JSON")).expect("a turn");
        recorder.record(turn).expect("recorded");
    }
    store.read().expect("readable").expect("a file")
}

/// The live memories of each place.
fn memories_of(text: String) -> Vec<Vec<Memory>> {
    let document = Document::parse(text);
    let scopes: Vec<_> = document.headings().map(|heading| heading.scope.clone()).collect();
    let places = scopes.iter().filter(|scope| scope.to_string().starts_with("location:"));
    let live = |scope| document.section(scope).unwrap_or_default().live().cloned().collect();
    places.map(live).collect()
}

/// Checks all titles, and that places have memories; the answer is the titles.
fn check_file(text: String) -> Vec<String> {
    let places = memories_of(text);
    let memories: Vec<&Memory> = places.iter().flatten().collect();
    let titles: Vec<String> = memories.iter().map(|memory| memory.title.clone()).collect();
    let distinct: BTreeSet<String> = titles.iter().map(|title| title.to_lowercase()).collect();
    let covered = places.iter().filter(|memories| !memories.is_empty()).count();
    println!(
        "{} entries, {} distinct titles, {covered} of {} places covered",
        titles.len(),
        distinct.len(),
        places.len()
    );
    assert!(distinct.len() * 100 >= titles.len() * 95, "{titles:#?}");
    assert!(covered * 100 >= places.len() * 80, "{covered} of {}", places.len());
    for memory in memories {
        check_title(&memory.title);
        let last = memory.title.rsplit(' ').next().unwrap_or_default();
        assert!(!DANGLING.contains(&last), "{}", memory.title);
        assert!(!memory.text.starts_with('…') && !memory.text.ends_with('…'), "{}", memory.text);
        assert!(!memory.text.contains(&format!("{}.", memory.title)), "{}", memory.text);
        assert!(memory.provenance.tags.iter().any(|tag| tag == "offline"), "{}", memory.title);
    }
    titles
}

#[test]
fn five_episodes_give_one_entry_a_fact() {
    let titles = check_file(episodes::one_by_one().five().to_owned());
    for title in [
        "With great effort, you open the window far enough to allow entry",
        "Nasty-looking troll blocks all passages out of the room",
        "Fatal: troll neatly removes your head",
        "Killed in the dark",
        "Robbed by the thief",
        "Reaching Cellar: +25 points",
        "Take painting: +4 points",
        "Move rug reveals the dusty cover of a closed trap door",
    ] {
        assert!(titles.iter().any(|known| known == title), "{title}\n{titles:#?}");
    }
}

#[test]
fn another_game_and_odd_input_give_facts_too() {
    let titles = check_file(play("saltlight.jsonl"));
    assert!(
        titles.contains(&"Fatal: you swing one leg over the rail, and the wind does the rest".to_owned())
    );
    let titles = check_file(play("zork1_edge.jsonl"));
    let deaths = titles.iter().filter(|title| title.starts_with("Fatal")).count();
    assert_eq!(deaths, 1, "the same death twice is one memory: {titles:#?}");
}
