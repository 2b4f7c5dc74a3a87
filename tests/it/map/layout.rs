//! The layout of the map: nothing overlaps, and ways point where they lead.

use std::collections::{HashMap, HashSet};

use memories::map::{Graph, HALF_HEIGHT, HALF_WIDTH, LaidLevel, Layout};
use memories::types::Way;
use memories::types::direction::Direction;
use proptest::prelude::*;

use super::episodes::five_episodes;
use super::{World, graph, place, way, worlds};
use crate::cases;
use crate::dice::Dice;

/// Compass ways of a map that lead there now: in all, exactly in their direction, at most 45° off.
fn pointing(graph: &Graph<'_>, layout: &Layout) -> [usize; 3] {
    let cells: HashMap<u64, (i32, i32)> =
        layout.places.iter().map(|place| (place.id, (place.x, place.y))).collect();
    let map = graph.to_json();
    let (mut all, mut exact, mut near) = (0, 0, 0);
    for way in map["ways"].as_array().unwrap() {
        let id = |end: &str| way[end]["id"].as_u64().unwrap();
        let vector = Direction::of(way["action"].as_str().unwrap()).and_then(Direction::vector);
        let Some(vector) = vector.filter(|_| way.get("led_elsewhere_since").is_none()) else { continue };
        if id("from") == id("to") {
            continue;
        }
        let (from, to) = (cells[&id("from")], cells[&id("to")]);
        let (x, y) = (to.0 - from.0, to.1 - from.1);
        all += 1;
        exact += usize::from((x.signum(), y.signum()) == vector);
        // Twice the scalar product's square is at least the product of the squares up to 45°.
        let product = x * vector.0 + y * vector.1;
        let squares = (x * x + y * y) * (vector.0 * vector.0 + vector.1 * vector.1);
        near += usize::from(product > 0 && 2 * product * product >= squares);
    }
    [all, exact, near]
}

/// True if a line from one point to another meets the box of a cell.
fn meets(one: [f64; 2], other: [f64; 2], cell: (i32, i32)) -> bool {
    let middle = [f64::from(cell.0), f64::from(cell.1)];
    let (mut first, mut last) = (0.0_f64, 1.0_f64);
    for (axis, half) in [(0, HALF_WIDTH), (1, HALF_HEIGHT)] {
        // A line may begin on the edge.
        let (low, high) = (middle[axis] - half + 1e-3 - one[axis], middle[axis] + half - 1e-3 - one[axis]);
        let length = other[axis] - one[axis];
        if length.abs() < 1e-9 {
            if low > 0.0 || high < 0.0 {
                return false;
            }
            continue;
        }
        first = first.max((low / length).min(high / length));
        last = last.min((low / length).max(high / length));
    }
    first <= last
}

/// Holds a layout to its laws; returns the number of cells.
#[track_caller]
fn assert_sound(graph: &Graph<'_>, layout: &Layout) -> i64 {
    let map = graph.to_json();
    let places: Vec<u64> = layout.places.iter().map(|place| place.id).collect();
    let known: Vec<u64> =
        map["places"].as_array().unwrap().iter().map(|place| place["id"].as_u64().unwrap()).collect();
    assert_eq!(places, known);
    let mut cells: HashMap<(i32, i32), u64> = HashMap::new();
    for place in &layout.places {
        assert_eq!(cells.insert((place.x, place.y), place.id), None, "two places at {} {}", place.x, place.y);
        let level = &layout.levels[place.level];
        let within = |at: i32, from: i32, size: i32| at >= from && at < from + size;
        assert!(
            within(place.x, level.x, level.width) && within(place.y, level.y, level.height),
            "{place:?} {level:?}"
        );
    }
    for (at, one) in layout.levels.iter().enumerate() {
        assert_eq!(one.level, at);
        let apart = |other: &&LaidLevel| {
            one.x + one.width < other.x
                || other.x + other.width < one.x
                || one.y + one.height < other.y
                || other.y + other.height < one.y
        };
        assert_eq!(layout.levels[at + 1..].iter().find(|other| !apart(other)), None, "over {one:?}");
    }
    let mut joined: HashSet<(u64, u64)> = HashSet::new();
    for way in &layout.ways {
        assert!(joined.insert((way.from.min(way.to), way.from.max(way.to))), "{} {} twice", way.from, way.to);
        for pair in way.points.windows(2) {
            let bounds = |axis: usize| (pair[0][axis].min(pair[1][axis]), pair[0][axis].max(pair[1][axis]));
            let cells_of = |(low, high): (f64, f64)| low.floor() as i32..=high.ceil() as i32;
            for (x, y) in cells_of(bounds(0)).flat_map(|x| cells_of(bounds(1)).map(move |y| (x, y))) {
                if let Some(id) = cells.get(&(x, y)) {
                    assert!(
                        !meets(pair[0], pair[1], (x, y)),
                        "{} to {} crosses {id}: {:?}",
                        way.from,
                        way.to,
                        way.points
                    );
                }
            }
        }
    }
    for way in map["ways"].as_array().unwrap() {
        let [from, to] = ["from", "to"].map(|end| way[end]["id"].as_u64().unwrap());
        assert!(joined.contains(&(from.min(to), from.max(to))), "{way} is not drawn");
    }
    let last = |of: fn(&LaidLevel) -> i32| layout.levels.iter().map(of).max().unwrap_or(0);
    i64::from(last(|level| level.x + level.width)) * i64::from(last(|level| level.y + level.height))
}

/// `cargo test --test it layout -- --nocapture` prints the figures.
#[test]
fn ways_of_five_episodes_point_where_they_lead() {
    let snapshot = five_episodes();
    let graph = Graph::read(&snapshot);
    let layout = graph.layout();
    let cells = assert_sound(&graph, &layout);
    let [all, exact, near] = pointing(&graph, &layout);
    println!(
        "layout of five episodes: {} places on {cells} cells; of {all} compass ways {exact} point exactly in their \
         direction, {near} ({:.1} %) at most 45° off",
        layout.places.len(),
        near as f64 * 100.0 / all as f64,
    );
    assert!(near * 100 >= all * 90, "{near} of {all}");
    assert_eq!(layout, Graph::read(&snapshot).layout());
    let [wide, narrow] = [1.3, 0.45].map(|shape| {
        let layout = graph.layouts_within(&[shape]).remove(0);
        assert_sound(&graph, &layout);
        let last = |end: fn(&LaidLevel) -> i32| layout.levels.iter().map(end).max().unwrap();
        f64::from(last(|level| level.x + level.width)) / f64::from(last(|level| level.y + level.height))
    });
    assert!(wide > 1.0 && narrow < 0.6, "{wide} and {narrow} columns for a row");
}

/// A world of a size with ways between neighbours on a square grid, of which some are missing.
fn grid(side: u64, seed: u64) -> World {
    let mut dice = Dice::of(seed);
    let cells = (0..side * side).map(|id| (id, ((id % side) as i64, (id / side) as i64)));
    let mut world = Vec::new();
    for (id, (x, y)) in cells {
        let mut ways = Vec::new();
        for direction in &Direction::ALL[..8] {
            let (columns, rows) = direction.vector().unwrap();
            // Most ways are one cell long.
            let steps = if dice.below(8) == 0 { 2 } else { 1 };
            let (x, y) = (x + i64::from(columns) * steps, y + i64::from(rows) * steps);
            let is_inside = (0..side as i64).contains(&x) && (0..side as i64).contains(&y);
            if is_inside && dice.below(3) == 0 {
                ways.push(way(direction.name(), x as u64 + y as u64 * side, (Some(1), Some(1))));
            }
        }
        world.push(place(id, ways));
    }
    world
}

/// A world whose ways lead anywhere.
fn maze(places: u64, ways: u64, seed: u64) -> World {
    let mut dice = Dice::of(seed);
    let actions =
        ["n", "ne", "e", "se", "s", "sw", "w", "nw", "n", "e", "s", "w", "u", "d", "in", "enter hole"];
    let mut world = Vec::new();
    for id in 0..places {
        let mut own: Vec<Way> = Vec::new();
        for _ in 0..dice.below(2 * ways as usize + 1) {
            let action = actions[dice.below(actions.len())];
            own.push(way(action, dice.below(places as usize) as u64, (Some(1), Some(dice.below(9) as u64))));
        }
        world.push(place(id, own));
    }
    world
}

#[test]
fn all_ways_of_a_world_on_a_grid_point_exactly_where_they_lead() {
    for (seed, side) in [(1, 3), (2, 5), (3, 8), (4, 12), (5, 12)] {
        let world = grid(side, seed);
        let graph = graph(&world);
        let layout = graph.layout();
        let cells = assert_sound(&graph, &layout);
        let [all, exact, _] = pointing(&graph, &layout);
        println!("grid of {side} by {side}: {all} ways, {cells} cells");
        assert_eq!(exact, all);
    }
}

#[test]
fn mazes_are_drawn_in_bounds() {
    for (seed, places, ways) in [(1, 10, 1), (2, 10, 4), (3, 50, 2), (4, 50, 6), (5, 300, 2)] {
        let world = maze(places, ways, seed);
        let graph = graph(&world);
        let layout = graph.layout();
        let cells = assert_sound(&graph, &layout);
        let [all, exact, near] = pointing(&graph, &layout);
        println!("maze of {places} places: {all} ways, {exact} exact, {near} within 45°, {cells} cells");
        assert!(cells <= 20 * places as i64 + 20, "{cells} cells");
    }
}

/// `cargo test --release --test it layout:: -- --nocapture` prints how long a layout takes.
#[test]
fn large_worlds_are_laid_out() {
    for (name, world) in [("grid", grid(32, 7)), ("maze", maze(1_000, 3, 8))] {
        let graph = graph(&world);
        let begun = std::time::Instant::now();
        let layout = graph.layout();
        let took = begun.elapsed();
        let cells = assert_sound(&graph, &layout);
        let [all, exact, near] = pointing(&graph, &layout);
        println!(
            "{name} of {} places: {took:?}, {all} ways, {exact} exact, {near} within 45°, {cells} cells",
            world.len()
        );
    }
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn every_layout_is_sound(world in worlds()) {
        let graph = graph(&world);
        assert_sound(&graph, &graph.layout());
        for layout in graph.layouts_within(&[1.3, 0.45]) {
            assert_sound(&graph, &layout);
        }
    }
}
