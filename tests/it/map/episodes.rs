//! The map of the five recorded episodes against the turns themselves.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use memories::map::Graph;
use memories::types::fold_action;
use memories::{Snapshot, Store};
use serde_json::Value;

use crate::program::memories;

type Move = (u64, String, u64);

/// The moves of recorded turns, each with how often it was made.
fn moves_of(lines: &str) -> BTreeMap<Move, u64> {
    let mut moves = BTreeMap::new();
    for line in lines.lines() {
        let turn: Value = serde_json::from_str(line).unwrap();
        let place = |field: &str| turn[field]["id"].as_u64().unwrap();
        let (from, to) = (place("location_before"), place("location_after"));
        if from != to && turn["died"] != true {
            *moves.entry((from, fold_action(turn["action"].as_str().unwrap()), to)).or_default() += 1;
        }
    }
    moves
}

fn id(value: &Value) -> u64 {
    value["id"].as_u64().unwrap()
}

fn move_of(way: &Value) -> Move {
    (id(&way["from"]), fold_action(way["action"].as_str().unwrap()), id(&way["to"]))
}

/// The memory file of the five episodes, and the folder that holds it.
pub(super) fn five_episodes() -> (tempfile::TempDir, Snapshot) {
    let folder = tempfile::tempdir().unwrap();
    for episode in 1..=5 {
        memories(folder.path(), &["record", "-q", "--turns", &turns(episode)]).output().unwrap();
    }
    let store = Store::open(folder.path().join("Memories.md"), Duration::from_secs(10)).unwrap();
    let snapshot = Snapshot::read(&store).unwrap();
    (folder, snapshot)
}

fn turns(episode: u64) -> String {
    format!("{}/fixtures/turns/zork1_ep{episode}.jsonl", env!("CARGO_MANIFEST_DIR"))
}

/// `cargo test --test it episodes -- --nocapture` prints the figures.
#[test]
fn the_map_of_five_episodes_is_what_was_walked() {
    let lines: String = (1..=5).map(|episode| fs::read_to_string(turns(episode)).unwrap()).collect();
    let moves = moves_of(&lines);
    let (_folder, snapshot) = five_episodes();
    let graph = Graph::read(&snapshot);
    let map = graph.to_json();
    let ways: BTreeMap<Move, u64> = map["ways"]
        .as_array()
        .unwrap()
        .iter()
        .map(|way| (move_of(way), way["count"].as_u64().unwrap()))
        .collect();
    let invented = ways.keys().filter(|way| !moves.contains_key(way)).count();
    let places: Vec<u64> = map["places"].as_array().unwrap().iter().map(id).collect();
    let (mut paths, mut steps) = (0, 0);
    for from in &places {
        for to in &places {
            let path = graph.path(*from, *to);
            let mut at = *from;
            for step in path.json["steps"].as_array().unwrap() {
                assert!(moves.contains_key(&move_of(step)), "{step} was never walked");
                assert_eq!(id(&step["from"]), at);
                at = id(&step["to"]);
                steps += 1;
            }
            if path.is_known {
                assert_eq!(at, *to);
                paths += 1;
            }
        }
    }
    println!(
        "map of five episodes: {} places, {} distinct moves, {} ways, {invented} invented, {paths} paths of {steps} \
         steps replay",
        places.len(),
        moves.len(),
        ways.len()
    );
    assert_eq!(ways, moves);
    assert_eq!((places.len(), moves.len(), invented), (67, 146, 0));
    assert!(paths > places.len(), "paths between places are known");
}
