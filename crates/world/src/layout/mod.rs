//! The layout of the map: a cell of a grid for each place, and a line for each pair of places that a way joins.
//!
//! A graph enters, and nothing else: the same graph has the same layout. North is up. Places that compass ways join
//! form a level, a grid of its own; all levels stand on one picture. No two places share a cell, and no line crosses
//! the box of a place that it does not belong to.

mod axis;
mod grid;
mod pack;
mod route;
mod wishes;

use std::collections::{HashMap, VecDeque};

use foldhash::fast::FixedState;
use serde::Serialize;

use crate::graph::{Edge, Graph};
use crate::layout::pack::{Link, Part};
use crate::layout::route::Wanted;
use crate::layout::wishes::Wish;
use crate::lines::{Pair, pairs};
use memories_document::types::direction::Direction;

pub(crate) use route::Port;
pub use route::{HALF_HEIGHT, HALF_WIDTH};

/// Where the places of a map stand. The unit is a cell; x grows to the east, y to the south.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Layout {
    /// All places, in the order of the graph.
    pub places: Vec<LaidPlace>,
    /// A line for each two places that a way joins, or a place that a way joins to itself.
    pub ways: Vec<LaidWay>,
    /// Parts of the map that no compass way joins, the largest first.
    pub levels: Vec<LaidLevel>,
}

/// The cell of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct LaidPlace {
    /// Its id.
    pub id: u64,
    /// Column.
    pub x: i32,
    /// Row.
    pub y: i32,
    /// Number of its level.
    pub level: usize,
}

/// The line between two places, for all ways between them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LaidWay {
    /// Id of the place where the first of the ways begins.
    pub from: u64,
    /// Id of the other place.
    pub to: u64,
    /// The corners of the line, x and y, from the edge of one box to the edge of the other.
    pub points: Vec<[f64; 2]>,
}

/// A level, as a rectangle of cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct LaidLevel {
    /// Its number, counted from 0.
    pub level: usize,
    /// The first column.
    pub x: i32,
    /// The first row.
    pub y: i32,
    /// Number of columns.
    pub width: i32,
    /// Number of rows.
    pub height: i32,
}

/// How levels stand on one picture.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Packing {
    /// Upper ones above lower ones.
    ByHeight,
    /// So that the picture has about so many columns for a row.
    Within(f64),
}

/// The levels of a map, each place in a cell of its level.
struct Leveled<'g> {
    pairs: Vec<Pair<'g>>,
    groups: Vec<Vec<usize>>,
    level_of: Vec<usize>,
    cells: Vec<(i32, i32)>,
}

impl Graph<'_> {
    /// Where the places of the map stand, and the lines between them. Upper levels stand above lower ones.
    pub fn layout(&self) -> Layout {
        self.layouts(&[Packing::ByHeight]).remove(0)
    }

    /// The same for pictures of these shapes, each as columns for a row: levels stand where they leave most room for
    /// cells.
    pub fn layouts_within(&self, shapes: &[f64]) -> Vec<Layout> {
        self.layouts(&shapes.iter().map(|shape| Packing::Within(*shape)).collect::<Vec<_>>())
    }

    fn layouts(&self, packings: &[Packing]) -> Vec<Layout> {
        let pairs = pairs(self);
        let wishes: Vec<Wish> = pairs.iter().flat_map(|pair| wishes_of(pair)).collect();
        let groups = groups(self.places.len(), &wishes);
        let mut cells = vec![(0, 0); self.places.len()];
        // The level of each place, and its number there.
        let mut level_of = vec![0; self.places.len()];
        let mut number = vec![0; self.places.len()];
        for (level, group) in groups.iter().enumerate() {
            for (at, place) in group.iter().enumerate() {
                (level_of[*place], number[*place]) = (level, at);
            }
        }
        let mut own: Vec<Vec<Wish>> = vec![Vec::new(); groups.len()];
        for wish in wishes {
            let (from, to) = (number[wish.from], number[wish.to]);
            own[level_of[wish.from]].push(Wish { from, to, ..wish });
        }
        for (group, wishes) in groups.iter().zip(&own) {
            let (agreed, kept) = wishes::agree(group.len(), wishes);
            let found = grid::cells(agreed, wishes, &kept);
            group.iter().zip(found).for_each(|(place, cell)| cells[*place] = cell);
        }
        let leveled = Leveled { pairs, groups, level_of, cells };
        packings.iter().map(|packing| self.packed(&leveled, *packing)).collect()
    }

    /// The layout whose levels are packed so.
    fn packed(&self, leveled: &Leveled<'_>, packing: Packing) -> Layout {
        let Leveled { pairs, level_of, .. } = leveled;
        let (levels, cells) = leveled.place(packing);
        let wanted: Vec<Wanted> = pairs.iter().map(|pair| wanted(pair, &cells)).collect();
        let lines = route::route(&cells, &wanted);
        let places = self.places.iter().zip(&cells).zip(level_of);
        let id = |at: usize| self.places[at].id;
        Layout {
            places: places
                .map(|((place, (x, y)), level)| LaidPlace { id: place.id, x: *x, y: *y, level: *level })
                .collect(),
            ways: pairs
                .iter()
                .zip(lines)
                .map(|(pair, points)| LaidWay { from: id(pair.from), to: id(pair.to), points })
                .collect(),
            levels,
        }
    }
}

impl Leveled<'_> {
    /// Where each level stands on the picture, and then each place.
    fn place(&self, packing: Packing) -> (Vec<LaidLevel>, Vec<(i32, i32)>) {
        let Leveled { pairs, groups, level_of, cells } = self;
        let heights = heights(groups.len(), pairs, level_of);
        let size = |group: &Vec<usize>| {
            let most =
                |of: fn(&(i32, i32)) -> i32| group.iter().map(|at| of(&cells[*at])).max().unwrap_or(0) + 1;
            (most(|cell| cell.0), most(|cell| cell.1))
        };
        let parts: Vec<Part> = groups
            .iter()
            .map(size)
            .zip(&heights)
            .map(|((width, height), up)| Part { width, height, up: *up })
            .collect();
        let between = pairs.iter().filter(|pair| level_of[pair.from] != level_of[pair.to]);
        let links: Vec<Link> = between
            .map(|pair| Link {
                from: level_of[pair.from],
                to: level_of[pair.to],
                columns: (cells[pair.from].0, cells[pair.to].0),
            })
            .collect();
        let corners = match packing {
            Packing::ByHeight => pack::pack(&parts, &links),
            Packing::Within(shape) => pack::pack_within(&parts, &links, shape),
        };
        let moved =
            |(cell, level): (&(i32, i32), &usize)| (cell.0 + corners[*level].0, cell.1 + corners[*level].1);
        let moved = cells.iter().zip(level_of).map(moved).collect();
        let levels = parts.iter().zip(&corners).enumerate();
        let levels = levels.map(|(level, (Part { width, height, .. }, (x, y)))| LaidLevel {
            level,
            x: *x,
            y: *y,
            width: *width,
            height: *height,
        });
        (levels.collect(), moved)
    }
}

/// The directions that ways between two places ask for, most ways first.
fn wishes_of(pair: &Pair<'_>) -> Vec<Wish> {
    let mut wishes: Vec<Wish> = Vec::new();
    if pair.from == pair.to {
        return wishes;
    }
    let there = pair.there.iter().filter_map(|edge| step(edge));
    let back = pair.back.iter().filter_map(|edge| step(edge)).map(|(x, y)| (-x, -y));
    for step in there.chain(back) {
        match wishes.iter_mut().find(|wish| wish.step == step) {
            Some(wish) => wish.ways += 1,
            None => wishes.push(Wish { from: pair.from, to: pair.to, step, ways: 1 }),
        }
    }
    wishes
}

/// The vector of a way that is a compass point and leads there now.
fn step(edge: &Edge) -> Option<(i32, i32)> {
    edge.direction.filter(|_| edge.is_current).and_then(Direction::vector)
}

/// Places that compass ways join, the largest group first, each in the order of the graph.
fn groups(places: usize, wishes: &[Wish]) -> Vec<Vec<usize>> {
    let mut near = vec![Vec::new(); places];
    for wish in wishes {
        near[wish.from].push(wish.to);
        near[wish.to].push(wish.from);
    }
    let mut is_in = vec![false; places];
    let mut groups = Vec::new();
    for first in 0..places {
        if std::mem::replace(&mut is_in[first], true) {
            continue;
        }
        let mut group = vec![first];
        let mut at = 0;
        while let Some(place) = group.get(at).copied() {
            for other in &near[place] {
                if !std::mem::replace(&mut is_in[*other], true) {
                    group.push(*other);
                }
            }
            at += 1;
        }
        group.sort_unstable();
        groups.push(group);
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    groups
}

/// How far each level is above the first, by the ways up and down between them.
fn heights(levels: usize, pairs: &[Pair<'_>], level_of: &[usize]) -> Vec<i32> {
    let mut near: Vec<Vec<(usize, i32)>> = vec![Vec::new(); levels];
    for pair in pairs {
        let (from, to) = (level_of[pair.from], level_of[pair.to]);
        let up = |edge: &&Edge| match edge.direction.filter(|_| edge.is_current) {
            Some(Direction::Up) => 1,
            Some(Direction::Down) => -1,
            _ => 0,
        };
        let up: i32 = pair.there.iter().map(up).sum::<i32>() - pair.back.iter().map(up).sum::<i32>();
        if from != to {
            near[from].push((to, up.signum()));
            near[to].push((from, -up.signum()));
        }
    }
    let mut heights: HashMap<usize, i32, FixedState> = HashMap::default();
    let mut lowest = None;
    for first in 0..levels {
        if heights.contains_key(&first) {
            continue;
        }
        // Parts that nothing joins to the first begin below it and all that it is joined to.
        let below = || heights.values().copied().min().map_or(0, |lowest: i32| lowest - 1);
        let start = if first == 0 { 0 } else { *lowest.get_or_insert_with(below) };
        heights.insert(first, start);
        let mut open = VecDeque::from([first]);
        while let Some(level) = open.pop_front() {
            let height = heights[&level];
            for (other, up) in &near[level] {
                if !heights.contains_key(other) {
                    heights.insert(*other, height + up);
                    open.push_back(*other);
                }
            }
        }
    }
    (0..levels).map(|level| heights[&level]).collect()
}

/// The line of two places: it leaves each in the direction of a way, if possible of one that points to the other.
fn wanted(pair: &Pair<'_>, cells: &[(i32, i32)]) -> Wanted {
    let (from, to) = (cells[pair.from], cells[pair.to]);
    let towards = ((to.0 - from.0).signum(), (to.1 - from.1).signum());
    let choose = |edges: &[&Edge], towards: (i32, i32)| {
        let known = || edges.iter().filter_map(|edge| Some((edge.direction?, edge.is_current)));
        let straight =
            known().find(|(direction, is_current)| *is_current && direction.vector() == Some(towards));
        let best = straight.or_else(|| {
            known().max_by_key(|(direction, is_current)| (*is_current, direction.vector().is_some()))
        });
        best.map(|(direction, _)| direction)
    };
    let out = choose(&pair.there, towards);
    let back = choose(&pair.back, (-towards.0, -towards.1));
    // A way back that is not known yet is drawn as the opposite, where that is where the place stands.
    let back = back.or_else(|| out.filter(|out| out.vector() == Some(towards)).map(Direction::opposite));
    Wanted { from: pair.from, to: pair.to, out, back }
}
