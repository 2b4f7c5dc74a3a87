//! The map of the five recorded episodes against the turns themselves.

use std::collections::BTreeMap;
use std::fs;

use memories::Snapshot;
use memories::map::Graph;
use memories::types::fold_action;
use serde_json::Value;

use crate::episodes;

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

/// The memory file of the five episodes.
pub(super) fn five_episodes() -> Snapshot {
    Snapshot::read(&episodes::open(&episodes::by_command())).unwrap()
}

/// `cargo test --test it episodes -- --nocapture` prints the figures.
#[test]
fn the_map_of_five_episodes_is_what_was_walked() {
    let lines: String = episodes::turns().map(|path| fs::read_to_string(path).unwrap()).concat();
    let moves = moves_of(&lines);
    let snapshot = five_episodes();
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
