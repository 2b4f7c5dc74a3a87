//! The map: paths are known, shortest and replay; what is listed as never tried was never tried.

mod episodes;
mod layout;
mod oracle;

use std::collections::BTreeSet;

use memories::document::{KnownSection, Section};
use memories::map::{Descriptions, Graph, MapReport};
use memories::types::direction::Direction;
use memories::types::{Attempt, Scope, TryResult, Way};
use proptest::prelude::*;
use serde_json::json;
use strum::VariantArray;

use crate::cases;
use oracle::Oracle;

/// Sections of places by their ids, and of the game.
type World = Vec<(Scope, Section)>;

/// The running episode; no generated line is of it.
const RUNNING: u64 = 9;

fn graph(world: &World) -> Graph<'_> {
    Graph::of(world.iter().map(|(scope, section)| KnownSection::of(scope, section)), Some(RUNNING))
}

fn way(action: &str, to: u64, last: (Option<u64>, Option<u64>)) -> Way {
    let (episode, turn) = last;
    let (action, name) = (action.to_owned(), String::new());
    Way { action, to, name, count: 1, episode, turn, after: Vec::new(), witnesses: Default::default() }
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
    let ways = (actions(), 0_u64..9, moments(), 1_u64..4)
        .prop_map(|(action, to, last, count)| Way { count, ..way(action, to, last) });
    let results = prop::sample::select(TryResult::VARIANTS);
    let tried = (actions(), moments(), results)
        .prop_map(|(action, last, result)| Attempt { result, ..attempt(action, last) });
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
    fn paths_are_known_ways_and_the_cheapest(world in worlds()) {
        let (graph, oracle) = (graph(&world), Oracle::of(&world));
        for from in 0..10 {
            let distances = oracle.distances(from);
            for to in 0..10 {
                let report = graph.path(from, to);
                let expected = distances.get(&to).copied();
                prop_assert_eq!(report.is_known, expected.is_some(), "{} {}", from, to);
                prop_assert_eq!(&report, &graph.path(from, to));
                let Some((cost, steps)) = expected else { continue };
                let actions = actions_of(&report);
                prop_assert_eq!(actions.len() as u64, steps);
                let (mut at, mut spent) = (from, 0);
                for (action, step) in actions.iter().zip(report.json["steps"].as_array().unwrap()) {
                    prop_assert_eq!(&step["from"]["id"], &json!(at));
                    let next = step["to"]["id"].as_u64().unwrap();
                    let Some(cost) = oracle.cost(at, action, next) else {
                        return Err(TestCaseError::fail(format!("{action} never led from {at} to {next}")));
                    };
                    (at, spent) = (next, spent + cost);
                }
                prop_assert_eq!((at, spent), (to, cost));
            }
            let near = graph.near(from, 2).json;
            let near = near["places"].as_array().unwrap().iter();
            let mut near: Vec<u64> = near.map(|place| place["steps"].as_u64().unwrap()).collect();
            near.sort_unstable();
            let mut expected: Vec<u64> = distances.values().map(|(_, steps)| *steps).collect();
            expected.retain(|steps| (1..=2).contains(steps));
            expected.sort_unstable();
            prop_assert_eq!(near, expected);
        }
    }

    #[test]
    fn what_was_never_tried_is_listed_and_nothing_else(world in worlds(), from in 0_u64..10) {
        let (graph, oracle) = (graph(&world), Oracle::of(&world));
        let frontier = graph.frontier(from, 100, &Descriptions::default()).json;
        let map = graph.to_json();
        let arrivals: Vec<(u64, Direction)> = map["ways"].as_array().unwrap().iter().filter_map(|way| {
            Some((way["to"]["id"].as_u64()?, Direction::of(way["action"].as_str()?)?))
        }).collect();
        // A known place probably lies there.
        let is_back = |id: u64, direction: Direction| arrivals.contains(&(id, direction.opposite()));
        let mut listed = frontier["places"].as_array().unwrap().clone();
        let distances = oracle.distances(from);
        let known = distances.keys().any(|id| oracle.places.contains(id));
        let mut last = Some((false, 0));
        for place in &listed {
            let id = place["id"].as_u64().unwrap();
            let expected = distances.get(&id).filter(|_| known);
            prop_assert_eq!(place["steps"].as_u64(), expected.map(|(_, steps)| *steps), "{}", place);
            let best = Direction::of(place["directions"][0].as_str().unwrap()).unwrap();
            let rank = expected.map(|(cost, _)| (is_back(id, best), *cost));
            prop_assert!(last.is_some() && rank >= last || rank.is_none());
            last = rank;
        }
        listed.sort_by_key(|place| place["id"].as_u64());
        let listed: Vec<_> = listed.iter().map(|place| (&place["id"], &place["directions"])).collect();
        let expected: Vec<_> = oracle.open().map(|(id, mut directions)| {
            directions.sort_by_key(|direction| is_back(id, *direction));
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
    // The path without a refused way is taken where two have the same length.
    world[0].1.tried = vec![attempt("east", at(9))];
    assert_eq!(actions_of(&graph(&world).path(1, 4)), ["west", "north"]);
    world[1].1.tried = vec![attempt("n", at(9))];
    world[0].1.tried = Vec::new();
    assert_eq!(actions_of(&graph(&world).path(1, 4)), ["east", "south"]);
    // And is taken where it is shorter.
    world[2].1.tried = vec![attempt("south", at(9)), attempt("jump", at(9))];
    world[1].1.ways[0].to = 5;
    let report = graph(&world).path(1, 4);
    assert_eq!(actions_of(&report), ["east", "south"]);
    assert!(report.text.contains("south → location:4 (refused at Ep1 T9: No.)"), "{}", report.text);
}

#[test]
fn a_way_leads_to_each_place_by_its_share() {
    let led = |to: u64, count: u64| Way { count, ..way("n", to, (Some(1), Some(to))) };
    let world = vec![
        place(1, vec![led(2, 5), led(3, 1), way("e", 4, (None, None))]),
        place(4, vec![way("n", 5, (None, None))]),
        place(5, vec![way("w", 3, (None, None))]),
    ];
    let graph = graph(&world);
    assert_eq!(
        graph.path(1, 2).text,
        "From location:1 to location:2, 1 step:\nn → location:2 (sometimes to location:3)\n"
    );
    assert_eq!(actions_of(&graph.path(1, 3)), ["e", "n", "w"], "one odd move in six is no road");
    let near = graph.near(1, 3).json;
    assert_eq!(near["places"].as_array().unwrap().len(), 4);
}

#[test]
fn a_way_that_killed_costs_more_and_never_vanishes() {
    let killed = Attempt { result: TryResult::Deadly, ..attempt("n", (Some(2), Some(1))) };
    let mut world = vec![
        place(1, vec![way("n", 2, (None, None)), way("e", 3, (None, None))]),
        place(3, vec![way("n", 2, (None, None))]),
    ];
    world[0].1.tried = vec![killed];
    assert_eq!(actions_of(&graph(&world).path(1, 2)), ["e", "n"]);
    world.pop();
    let report = graph(&world).path(1, 2);
    assert!(
        report.is_known && report.text.contains("n → location:2 (deadly at Ep2 T1: No.)"),
        "{}",
        report.text
    );
}
