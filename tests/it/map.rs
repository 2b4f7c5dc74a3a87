//! The map: paths are known, shortest and replay; what is listed as never tried was never tried.

mod episodes;
mod layout;
mod oracle;

use std::collections::BTreeSet;

use memories::document::{KnownSection, Section};
use memories::map::{Graph, MapReport};
use memories::types::direction::Direction;
use memories::types::{Attempt, Scope, Way};
use proptest::prelude::*;
use serde_json::json;

use crate::cases;
use oracle::Oracle;

/// Sections of places by their ids, and of the game.
type World = Vec<(Scope, Section)>;

fn graph(world: &World) -> Graph<'_> {
    Graph::of(world.iter().map(|(scope, section)| KnownSection::of(scope, section)))
}

fn way(action: &str, to: u64, last: (Option<u64>, Option<u64>)) -> Way {
    let (episode, turn) = last;
    let (action, name) = (action.to_owned(), String::new());
    Way { action, to, name, count: 1, episode, turn, refused_without: Vec::new() }
}

fn attempt(action: &str, last: (Option<u64>, Option<u64>)) -> Attempt {
    let (episode, turn) = last;
    let (action, reply) = (action.to_owned(), "No.".to_owned());
    Attempt { action, count: 1, episode, turn, reply, ..Attempt::default() }
}

fn place(id: u64, ways: Vec<Way>) -> (Scope, Section) {
    (Scope::Location(id), Section { ways, ..Section::default() })
}

/// Actions, of which several mean the same.
const ACTIONS: [&str; 9] = ["n", "north", "Go North", "s", "east", "up", "pray", "Pray ", "enter hole"];

fn moments() -> impl Strategy<Value = (Option<u64>, Option<u64>)> {
    (prop::option::of(1_u64..3), prop::option::of(1_u64..4))
}

fn actions() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&ACTIONS[..])
}

fn sections() -> impl Strategy<Value = Section> {
    let ways = (actions(), 0_u64..9, moments(), 1_u64..4, any::<bool>()).prop_map(
        |(action, to, last, count, refused)| {
            let refused_without = if refused { vec!["lamp".to_owned()] } else { Vec::new() };
            Way { count, refused_without, ..way(action, to, last) }
        },
    );
    let tried =
        (actions(), moments(), any::<(bool, bool)>()).prop_map(|(action, last, (effect_unknown, deadly))| {
            Attempt { effect_unknown, deadly, ..attempt(action, last) }
        });
    let worked = (actions(), moments()).prop_map(|(action, last)| attempt(action, last));
    let (ways, tried) = (prop::collection::vec(ways, 0..6), prop::collection::vec(tried, 0..3));
    (ways, tried, prop::collection::vec(worked, 0..2)).prop_map(|(ways, tried, worked)| Section {
        ways,
        tried,
        worked,
        ..Section::default()
    })
}

fn worlds() -> impl Strategy<Value = World> {
    let places = prop::collection::vec(sections(), 1..8);
    (places, prop::option::of(sections())).prop_map(|(places, game)| {
        let places = (0..).zip(places).map(|(id, section)| (Scope::Location(id), section));
        places.chain(game.map(|game| (Scope::Game, game))).collect()
    })
}

fn actions_of(report: &MapReport) -> Vec<&str> {
    report.json["actions"].as_array().unwrap().iter().map(|action| action.as_str().unwrap()).collect()
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn paths_are_known_ways_and_the_shortest(world in worlds()) {
        let (graph, oracle) = (graph(&world), Oracle::of(&world));
        for from in 0..10 {
            let distances = oracle.distances(from);
            for to in 0..10 {
                let report = graph.path(from, to);
                let expected = distances.get(&to).copied();
                prop_assert_eq!(report.is_known, expected.is_some(), "{} {}", from, to);
                prop_assert_eq!(&report, &graph.path(from, to));
                let Some((steps, doubts)) = expected else { continue };
                let actions = actions_of(&report);
                prop_assert_eq!(actions.len(), steps);
                let (mut at, mut met) = (from, 0);
                for (action, step) in actions.iter().zip(report.json["steps"].as_array().unwrap()) {
                    let Some((next, doubtful)) = oracle.take(at, action) else {
                        return Err(TestCaseError::fail(format!("nobody walked {action} at {at}")));
                    };
                    prop_assert_eq!((&step["from"]["id"], &step["to"]["id"]), (&json!(at), &json!(next)));
                    (at, met) = (next, met + usize::from(doubtful));
                }
                prop_assert_eq!((at, met), (to, doubts));
            }
            let near = graph.near(from, 2).json;
            let near = near["places"].as_array().unwrap().iter();
            let near: Vec<u64> = near.map(|place| place["steps"].as_u64().unwrap()).collect();
            let mut expected: Vec<u64> = distances.values().map(|(steps, _)| *steps as u64).collect();
            expected.retain(|steps| (1..=2).contains(steps));
            expected.sort_unstable();
            prop_assert_eq!(near, expected);
        }
    }

    #[test]
    fn what_was_never_tried_is_listed_and_nothing_else(world in worlds(), from in 0_u64..10) {
        let (graph, oracle) = (graph(&world), Oracle::of(&world));
        let frontier = graph.frontier(from, 100).json;
        let mut listed = frontier["places"].as_array().unwrap().clone();
        let distances = oracle.distances(from);
        let known = distances.keys().any(|id| oracle.places.contains(id));
        let mut last = Some(0);
        for place in &listed {
            let steps = place["steps"].as_u64();
            let expected = distances.get(&place["id"].as_u64().unwrap()).map(|(steps, _)| *steps as u64);
            prop_assert_eq!(steps, expected.filter(|_| known), "{}", place);
            prop_assert!(last.is_some() && steps.is_none_or(|steps| Some(steps) >= last) || steps.is_none());
            last = steps;
        }
        listed.sort_by_key(|place| place["id"].as_u64());
        let listed: Vec<_> = listed.iter().map(|place| (&place["id"], &place["directions"])).collect();
        let expected: Vec<_> = oracle.open().map(|(id, directions)| {
            (json!(id), directions.into_iter().map(Direction::name).collect::<serde_json::Value>())
        }).collect();
        prop_assert_eq!(listed, expected.iter().map(|(id, directions)| (id, directions)).collect::<Vec<_>>());
    }

    #[test]
    fn every_way_is_drawn_once(world in worlds()) {
        let graph = graph(&world);
        let ways = graph.to_json()["ways"].as_array().unwrap().len();
        let dot = graph.draw("dot".parse().unwrap());
        let (lines, both) = (dot.matches(" -> ").count(), dot.matches("dir=none").count());
        prop_assert_eq!(lines + both, ways);
        let ends = |way: &serde_json::Value| [&way["from"]["id"], &way["to"]["id"]].map(|id| id.as_u64().unwrap());
        let pairs: BTreeSet<[u64; 2]> = graph.to_json()["ways"].as_array().unwrap().iter().map(|way| {
            let [from, to] = ends(way);
            [from.min(to), from.max(to)]
        }).collect();
        let svg = graph.draw("svg".parse().unwrap());
        prop_assert_eq!(svg.matches("<g class=\"way").count(), pairs.len());
        let trizbort = graph.draw("trizbort".parse().unwrap());
        prop_assert_eq!(trizbort.matches("<line ").count(), lines);
        prop_assert_eq!(graph.draw("mermaid".parse().unwrap()).matches("|\"").count(), lines);
    }
}

#[test]
fn of_equal_paths_the_most_walked_is_taken_then_the_first() {
    let at = |turn: u64| (Some(1), Some(turn));
    let walked = |count: u64, way: Way| Way { count, ..way };
    let mut world = vec![
        place(1, vec![way("west", 2, at(1)), walked(3, way("east", 3, at(2))), way("up", 2, at(3))]),
        place(2, vec![way("north", 4, at(4))]),
        place(3, vec![way("south", 4, at(5)), way("jump", 4, at(6))]),
    ];
    assert_eq!(actions_of(&graph(&world).path(1, 4)), ["east", "south"]);
    assert_eq!(actions_of(&graph(&world).path(1, 2)), ["west"]);
    // The path without a marked way is taken where two have the same length.
    world[0].1.ways[1].refused_without = vec!["lamp".to_owned()];
    assert_eq!(actions_of(&graph(&world).path(1, 4)), ["west", "north"]);
    world[1].1.tried = vec![attempt("n", at(9))];
    world[0].1.ways[1].refused_without = Vec::new();
    assert_eq!(actions_of(&graph(&world).path(1, 4)), ["east", "south"]);
    // And is taken where it is shorter.
    world[2].1.tried = vec![attempt("south", at(9)), attempt("jump", at(9))];
    world[1].1.ways[0].to = 5;
    let report = graph(&world).path(1, 4);
    assert_eq!(actions_of(&report), ["east", "south"]);
    assert!(report.text.contains("south → location:4 (refused at Ep1 T9: No.)"), "{}", report.text);
}

#[test]
fn the_latest_line_of_an_action_counts() {
    let world = vec![place(
        1,
        vec![
            way("n", 2, (Some(1), Some(9))),
            way("north", 3, (Some(2), Some(1))),
            way("Go  North", 2, (Some(1), None)),
        ],
    )];
    let graph = graph(&world);
    assert!(!graph.path(1, 2).is_known);
    assert_eq!(
        graph.path(1, 3).text,
        "From location:1 to location:3, 1 step:\nnorth → location:3 (sometimes to location:2)\n"
    );
}

#[test]
fn of_two_lines_for_one_way_without_a_time_the_last_counts() {
    let locked = Way { refused_without: vec!["lamp".to_owned()], ..way("n", 2, (None, None)) };
    let open = way("north", 2, (None, None));
    let text = |ways| {
        let world = vec![place(1, ways)];
        graph(&world).path(1, 2).text
    };
    assert!(!text(vec![locked.clone(), open.clone()]).contains("lamp"));
    assert!(text(vec![open, locked]).contains("lamp"));
}
