//! The map as a file of Trizbort, the map editor for interactive fiction: the XML of its versions 1.5 to 1.7.

use std::collections::{HashSet, VecDeque};

use crate::map::graph::Graph;
use crate::map::lines::{Line, lines};
use crate::types::direction::Direction;
use crate::types::text::escape_xml_line;

/// Distance of neighbouring rooms in both directions, in Trizbort's units; a room is 96 by 64.
const GRID: (i32, i32) = (160, 128);

/// A cell of the grid: columns to the right, rows down.
type Cell = (i32, i32);

/// Draws the map. Rooms are numbered from 1, because Trizbort's ids are 32 bits wide; lines follow.
pub(super) fn draw(graph: &Graph<'_>) -> String {
    let lines = lines(graph);
    let cells = lay_out(graph, &lines);
    let mut out =
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<trizbort version=\"1.5.8.7\">\n  <info />\n  <map>\n"
            .to_owned();
    for (at, (column, row)) in cells.iter().enumerate() {
        let (name, x, y) = (escape_xml_line(&graph.label(at)), column * GRID.0, row * GRID.1);
        out.push_str(&format!(
            "    <room id=\"{}\" name=\"{name}\" subtitle=\"\" x=\"{x}\" y=\"{y}\" w=\"96\" h=\"64\" \
             region=\"NoRegion\" description=\"\" />\n",
            at + 1
        ));
    }
    for (number, line) in lines.iter().enumerate() {
        out.push_str(&draw_line(graph, line, cells.len() + number + 1, &cells));
    }
    out.push_str("  </map>\n  <settings />\n</trizbort>\n");
    out
}

fn draw_line(graph: &Graph<'_>, line: &Line<'_>, id: usize, cells: &[Cell]) -> String {
    let mut attributes = String::new();
    if !line.there.is_current {
        attributes.push_str(" style=\"dashed\"");
    }
    if line.back.is_none() {
        attributes.push_str(" flow=\"oneWay\"");
    }
    let is_compass = line.there.direction.is_some_and(|direction| direction.vector().is_some());
    let action = |action: &str| if is_compass { String::new() } else { escape_xml_line(action) };
    let texts = [
        ("startText", action(&line.there.way.action)),
        ("midText", escape_xml_line(&line.notes(graph))),
        ("endText", line.back.map(|back| action(&back.way.action)).unwrap_or_default()),
    ];
    for (name, text) in texts.iter().filter(|(_, text)| !text.is_empty()) {
        attributes.push_str(&format!(" {name}=\"{text}\""));
    }
    let (from, to) = (line.from, line.there.to);
    let start = line.there.direction.unwrap_or_else(|| direction_of(cells[from], cells[to]));
    let end = start.opposite();
    format!(
        "    <line id=\"{id}\"{attributes}>\n      <dock index=\"0\" id=\"{}\" port=\"{}\" />\n      \
         <dock index=\"1\" id=\"{}\" port=\"{}\" />\n    </line>\n",
        from + 1,
        port(start),
        to + 1,
        port(end),
    )
}

/// The side of a room where a line begins.
fn port(direction: Direction) -> &'static str {
    match direction {
        Direction::Up => "nne",
        Direction::Down => "ssw",
        Direction::In => "ese",
        Direction::Out => "wnw",
        compass => compass.short(),
    }
}

/// The step on the grid for a line, which also leads up, down, in, out or somewhere by another action.
fn step(line: &Line<'_>) -> Cell {
    match line.there.direction {
        Some(Direction::Up) => (1, -2),
        Some(Direction::Down) => (-1, 2),
        Some(Direction::Out) => (-2, -1),
        Some(compass) => compass.vector().unwrap_or((2, 1)),
        None => (2, 1),
    }
}

/// The compass point that leads roughly from one cell to another.
fn direction_of(from: Cell, to: Cell) -> Direction {
    let towards = ((to.0 - from.0).signum(), (to.1 - from.1).signum());
    let points = Direction::ALL.into_iter().find(|direction| direction.vector() == Some(towards));
    points.unwrap_or(Direction::North)
}

/// A cell of its own for each place: where its neighbour's way leads, or the next free one behind it.
fn lay_out(graph: &Graph<'_>, lines: &[Line<'_>]) -> Vec<Cell> {
    let mut neighbours: Vec<Vec<(usize, Cell)>> = vec![Vec::new(); graph.places.len()];
    for line in lines {
        let (column, row) = step(line);
        neighbours[line.from].push((line.there.to, (column, row)));
        neighbours[line.there.to].push((line.from, (-column, -row)));
    }
    let mut cells: Vec<Option<Cell>> = vec![None; graph.places.len()];
    let mut taken: HashSet<Cell> = HashSet::new();
    let mut bottom = 0;
    for first in 0..cells.len() {
        if cells[first].is_some() {
            continue;
        }
        // A place that no line joins to the others begins a new group below them.
        let start = (0, bottom);
        cells[first] = Some(start);
        taken.insert(start);
        let mut open = VecDeque::from([first]);
        while let Some(at) = open.pop_front() {
            let Some(cell) = cells[at] else { continue };
            bottom = bottom.max(cell.1 + 2);
            for (other, step) in &neighbours[at] {
                if cells[*other].is_none() {
                    let free = next_free(&taken, cell, *step);
                    cells[*other] = Some(free);
                    taken.insert(free);
                    open.push_back(*other);
                }
            }
        }
    }
    cells.into_iter().flatten().collect()
}

/// The first free cell in a direction.
fn next_free(taken: &HashSet<Cell>, from: Cell, (columns, rows): Cell) -> Cell {
    let mut cell = (from.0 + columns, from.1 + rows);
    while taken.contains(&cell) {
        cell = (cell.0 + columns, cell.1 + rows);
    }
    cell
}
