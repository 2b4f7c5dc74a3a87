//! The lines between the boxes of places.
//!
//! A line goes straight where its way points in its direction and no box is in between. Others run through the gutters
//! between rows and columns, where no box stands; lines that share a gutter run beside each other.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::FixedState;

use memories_document::types::direction::Direction;

/// Half of a box's width, in cells. Boxes stand in the middle of their cells.
pub const HALF_WIDTH: f64 = 0.36;

/// Half of a box's height, in cells.
pub const HALF_HEIGHT: f64 = 0.3;

/// Free space that lines keep from boxes, in cells.
const CLEAR: f64 = 0.03;

/// Distance of lines that run beside each other, in cells, while there is room.
const LANE: f64 = 0.06;

/// Cells that a straight slanting line may pass.
const SLANT: i32 = 4;

/// How many others of its gutter a line may pass for fewer crossings.
const MAX_SWAPS: usize = 64;

type Cell = (i32, i32);
type Point = [f64; 2];

/// A line to be drawn: both places, and the directions in which it leaves them, where ways say so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wanted {
    pub from: usize,
    pub to: usize,
    pub out: Option<Direction>,
    pub back: Option<Direction>,
}

/// A coordinate: as it is, or somewhere in a gutter, which is behind the row or column of that number.
#[derive(Debug, Clone, Copy, PartialEq)]
enum At {
    Free(f64),
    Gutter(i32),
}

impl At {
    fn middle(self) -> f64 {
        match self {
            At::Free(at) => at,
            At::Gutter(gutter) => f64::from(gutter) + 0.5,
        }
    }
}

/// A corner of a line, x and y.
type Corner = [At; 2];

/// A place, and a side or corner of its box.
type End = (usize, (i32, i32));

/// How many lines leave a box at a port.
type Used = HashMap<End, usize, FixedState>;

/// The side of a box, or its corner, where a line begins: the direction, and the offset along the side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Port {
    pub step: (i32, i32),
    offset: f64,
}

impl Port {
    /// The port of a direction.
    pub(crate) fn of(direction: Direction) -> Port {
        let (step, offset) = match direction {
            Direction::Up => ((0, -1), 0.22),
            Direction::Down => ((0, 1), -0.22),
            Direction::In => ((1, 0), 0.16),
            Direction::Out => ((-1, 0), -0.16),
            point => (point.vector().unwrap_or_default(), 0.0),
        };
        Port { step, offset }
    }

    /// The point on the edge of the box of a cell.
    pub(crate) fn point(self, cell: Cell) -> Point {
        let along = self.along();
        [
            f64::from(cell.0) + f64::from(self.step.0) * HALF_WIDTH + along[0],
            f64::from(cell.1) + f64::from(self.step.1) * HALF_HEIGHT + along[1],
        ]
    }

    /// The offset along a side; corners have none.
    fn along(self) -> [f64; 2] {
        match self.step {
            (0, _) => [self.offset, 0.0],
            (_, 0) => [0.0, self.offset],
            _ => [0.0, 0.0],
        }
    }
}

/// The points of each line, from the edge of one box to the edge of the other.
pub(super) fn route(cells: &[Cell], wanted: &[Wanted]) -> Vec<Vec<Point>> {
    let taken: HashMap<Cell, usize, FixedState> =
        cells.iter().enumerate().map(|(at, cell)| (*cell, at)).collect();
    let mut used: Used = HashMap::default();
    let mut points: Vec<Option<Vec<Point>>> = Vec::with_capacity(wanted.len());
    for line in wanted {
        let straight = straight(cells, &taken, line);
        if let Some((_, step)) = &straight {
            *used.entry((line.from, *step)).or_default() += 1;
            *used.entry((line.to, (-step.0, -step.1))).or_default() += 1;
        }
        points.push(straight.map(|(points, _)| points));
    }
    let bent: Vec<usize> = (0..wanted.len()).filter(|at| points[*at].is_none()).collect();
    let mut corners: Vec<Vec<Corner>> = Vec::with_capacity(bent.len());
    for at in &bent {
        let line = &wanted[*at];
        if line.from == line.to {
            points[*at] = Some(turn(cells[line.from], &mut used, line.from));
            corners.push(Vec::new());
        } else {
            corners.push(detour(cells, line, &mut used));
        }
    }
    let drawn = spread(&corners);
    for (at, drawn) in bent.into_iter().zip(drawn) {
        points[at].get_or_insert(drawn);
    }
    points
        .into_iter()
        .flatten()
        .map(|points| points.into_iter().map(|point| point.map(rounded)).collect())
        .collect()
}

fn rounded(at: f64) -> f64 {
    (at * 1000.0).round() / 1000.0 + 0.0
}

/// The line without bends, and the direction in which it leaves the first box.
fn straight(
    cells: &[Cell],
    taken: &HashMap<Cell, usize, FixedState>,
    line: &Wanted,
) -> Option<(Vec<Point>, Cell)> {
    let (from, to) = (cells[line.from], cells[line.to]);
    let (columns, rows) = (to.0 - from.0, to.1 - from.1);
    let step = (columns.signum(), rows.signum());
    let fits = |direction: Option<Direction>, step| {
        direction.and_then(Direction::vector).is_none_or(|own| own == step)
    };
    let is_slanting = columns != 0 && rows != 0;
    let is_near = columns.abs().max(rows.abs()) <= SLANT;
    if step == (0, 0)
        || !fits(line.out, step)
        || !fits(line.back, (-step.0, -step.1))
        || is_slanting && !is_near
    {
        return None;
    }
    // Lines that go up or down within a level, or that nothing gives a direction, leave the straight ports to others.
    line.out.and_then(Direction::vector).or(line.back.and_then(Direction::vector))?;
    let start = Port { step, offset: 0.0 }.point(from);
    let end = Port { step: (-step.0, -step.1), offset: 0.0 }.point(to);
    let is_free =
        |cell: Cell| cell == from || cell == to || !taken.contains_key(&cell) || !meets(start, end, cell);
    let is_clear = if is_slanting {
        (0..=columns.abs())
            .all(|x| (0..=rows.abs()).all(|y| is_free((from.0 + x * step.0, from.1 + y * step.1))))
    } else {
        (1..columns.abs().max(rows.abs())).all(|at| is_free((from.0 + at * step.0, from.1 + at * step.1)))
    };
    is_clear.then(|| (vec![start, end], step))
}

/// True if a straight line meets the box of a cell.
fn meets(start: Point, end: Point, cell: Cell) -> bool {
    let middle = [f64::from(cell.0), f64::from(cell.1)];
    let half = [HALF_WIDTH + CLEAR, HALF_HEIGHT + CLEAR];
    // The part of the line, from 0 to 1, that is within the box on both axes.
    let (mut first, mut last) = (0.0_f64, 1.0_f64);
    for axis in [0, 1] {
        let length = end[axis] - start[axis];
        let (low, high) = (middle[axis] - half[axis] - start[axis], middle[axis] + half[axis] - start[axis]);
        if length == 0.0 {
            if low > 0.0 || high < 0.0 {
                return false;
            }
            continue;
        }
        let (one, other) = (low / length, high / length);
        first = first.max(one.min(other));
        last = last.min(one.max(other));
    }
    first <= last
}

/// The ports where a line may leave a box.
fn ports(direction: Option<Direction>) -> Vec<Port> {
    match direction {
        Some(direction) => vec![Port::of(direction)],
        None => [(0, -1), (1, 0), (0, 1), (-1, 0)].map(|step| Port { step, offset: 0.0 }).to_vec(),
    }
}

/// The shortest line through the gutters that leaves both boxes where it should.
fn detour(cells: &[Cell], line: &Wanted, used: &mut Used) -> Vec<Corner> {
    let mut best: Option<(f64, Vec<Corner>, [End; 2])> = None;
    for out in ports(line.out) {
        for back in ports(line.back) {
            let ends = [(line.from, out.step), (line.to, back.step)];
            let slot = |end: End, port: Port| {
                let before = used.get(&end).copied().unwrap_or(0);
                Port { offset: port.offset + slot(before), ..port }
            };
            let (out, back) = (slot(ends[0], out), slot(ends[1], back));
            let between = between(exit(cells[line.from], out), exit(cells[line.to], back));
            let mut corners = vec![out.point(cells[line.from]).map(At::Free)];
            corners.extend(between);
            corners.push(back.point(cells[line.to]).map(At::Free));
            let cost = length(&corners) + 0.2 * corners.len() as f64;
            if best.as_ref().is_none_or(|best| cost < best.0 - 1e-9) {
                best = Some((cost, corners, ends));
            }
        }
    }
    let Some((_, mut corners, ends)) = best else { return Vec::new() };
    ends.into_iter().for_each(|end| *used.entry(end).or_default() += 1);
    corners.dedup();
    corners
}

/// The offset of the next line that leaves a box at one port.
fn slot(before: usize) -> f64 {
    const SLOTS: [f64; 5] = [0.0, 0.08, -0.08, 0.15, -0.15];
    SLOTS[before % SLOTS.len()]
}

/// The point in the gutter before a port.
fn exit(cell: Cell, port: Port) -> Corner {
    let along = port.along();
    let at = |cell: i32, step: i32, along: f64| match step {
        0 => At::Free(f64::from(cell) + along),
        1 => At::Gutter(cell),
        _ => At::Gutter(cell - 1),
    };
    [at(cell.0, port.step.0, along[0]), at(cell.1, port.step.1, along[1])]
}

/// The corners of the shortest line through gutters from one point in a gutter to another, both included.
fn between(start: Corner, end: Corner) -> Vec<Corner> {
    let mut found: Vec<Vec<Corner>> = Vec::new();
    let is_gutter = |at: At| matches!(at, At::Gutter(_));
    for axis in [0, 1] {
        let across = 1 - axis;
        // Along this axis runs what stands in a gutter across it.
        if is_gutter(start[across]) && start[across] == end[across] {
            found.push(vec![start, end]);
        }
        if is_gutter(start[across]) && is_gutter(end[axis]) {
            let mut bend = end;
            bend[across] = start[across];
            found.push(vec![start, bend, end]);
        }
        if is_gutter(start[across]) && is_gutter(end[across]) && start[across] != end[across] {
            let near = [start[axis].middle(), end[axis].middle()].map(|at| (at - 0.5).floor() as i32);
            for gutter in near.into_iter().flat_map(|near| [near, near + 1]) {
                let (mut first, mut second) = (start, end);
                (first[axis], second[axis]) = (At::Gutter(gutter), At::Gutter(gutter));
                found.push(vec![start, first, second, end]);
            }
        }
    }
    let cost = |corners: &Vec<Corner>| length(corners) + 0.2 * corners.len() as f64;
    found.into_iter().min_by(|one, other| cost(one).total_cmp(&cost(other))).unwrap_or_default()
}

fn length(corners: &[Corner]) -> f64 {
    let distance =
        |pair: &[Corner]| [0, 1].map(|axis| (pair[1][axis].middle() - pair[0][axis].middle()).abs());
    corners.windows(2).map(distance).map(|[x, y]| x + y).sum()
}

/// A run of a line along a gutter.
#[derive(Debug, Clone, Copy)]
struct Run {
    line: usize,
    first: usize,
    low: f64,
    high: f64,
    /// Where it begins and ends, and to which side the line goes on there: -1 or 1, or 0 for neither.
    ends: [(f64, i32); 2],
}

/// Lines as points: those that share a gutter get a lane each.
fn spread(lines: &[Vec<Corner>]) -> Vec<Vec<Point>> {
    let mut runs: HashMap<(usize, i32), Vec<Run>, FixedState> = HashMap::default();
    for (line, corners) in lines.iter().enumerate() {
        for (first, pair) in corners.windows(2).enumerate() {
            for axis in [0, 1] {
                let along = 1 - axis;
                let (At::Gutter(gutter), true) = (pair[0][axis], pair[0][axis] == pair[1][axis]) else {
                    continue;
                };
                let (one, other) = (pair[0][along].middle(), pair[1][along].middle());
                let here = pair[0][axis].middle();
                let side = |corner: Option<&Corner>| match corner
                    .map_or(0.0, |corner| corner[axis].middle() - here)
                {
                    0.0 => 0,
                    distance => distance.signum() as i32,
                };
                let before = first.checked_sub(1).and_then(|before| corners.get(before));
                let ends = [(one, side(before)), (other, side(corners.get(first + 2)))];
                let (low, high) = (one.min(other), one.max(other));
                runs.entry((axis, gutter)).or_default().push(Run { line, first, low, high, ends });
            }
        }
    }
    let mut points: Vec<Vec<Point>> =
        lines.iter().map(|corners| corners.iter().map(|corner| corner.map(At::middle)).collect()).collect();
    for ((axis, _), mut runs) in runs {
        let lanes = lanes(&mut runs);
        let count = lanes.iter().max().map_or(1, |most| most + 1);
        let room = 1.0 - 2.0 * ([HALF_WIDTH, HALF_HEIGHT][axis] + CLEAR);
        let distance = LANE.min(room / count as f64);
        for (run, lane) in runs.iter().zip(lanes) {
            let offset = (lane as f64 - (count - 1) as f64 / 2.0) * distance;
            points[run.line][run.first][axis] += offset;
            points[run.line][run.first + 1][axis] += offset;
        }
    }
    points
}

/// A lane for each run of a gutter, in an order with few crossings. Runs beside each other have different lanes.
fn lanes(runs: &mut [Run]) -> Vec<usize> {
    runs.sort_by(|one, other| one.low.total_cmp(&other.low).then(one.line.cmp(&other.line)));
    for last in 1..runs.len() {
        for at in (last.saturating_sub(MAX_SWAPS)..last).rev() {
            if runs[at].crossings(&runs[at + 1]) <= runs[at + 1].crossings(&runs[at]) {
                break;
            }
            runs.swap(at, at + 1);
        }
    }
    let mut ends: Vec<f64> = runs.iter().flat_map(|run| [run.low, run.high]).collect();
    ends.sort_by(f64::total_cmp);
    ends.dedup();
    let number = |at: f64| ends.partition_point(|end| *end < at);
    // The first lane behind those that are taken, from each end on up to the next one that is noted.
    let mut free: BTreeMap<usize, usize> = BTreeMap::from([(0, 0)]);
    let mut lanes: Vec<usize> = Vec::with_capacity(runs.len());
    for run in runs.iter() {
        let (low, behind) = (number(run.low), number(run.high) + 1);
        let free_at = |end: usize| free.range(..=end).next_back().map_or(0, |(_, lane)| *lane);
        let (before, after) = (free_at(low), free_at(behind));
        let within: Vec<(usize, usize)> = free.range(low..behind).map(|(end, lane)| (*end, *lane)).collect();
        let lane = within.iter().map(|(_, lane)| *lane).max().unwrap_or(0).max(before);
        for (end, _) in within {
            free.remove(&end);
        }
        free.insert(low, lane + 1);
        free.insert(behind, after);
        lanes.push(lane);
    }
    lanes
}

impl Run {
    /// How often the lines cross if this run has a lane before the other's.
    fn crossings(&self, other: &Run) -> usize {
        let within = |at: f64, run: &Run| at >= run.low && at <= run.high;
        let own = self.ends.iter().filter(|(at, side)| *side > 0 && within(*at, other)).count();
        own + other.ends.iter().filter(|(at, side)| *side < 0 && within(*at, self)).count()
    }
}

/// A small loop at the upper right of a box, for a way that leads back to where it began.
fn turn(cell: Cell, used: &mut Used, place: usize) -> Vec<Point> {
    const LOOPS: (i32, i32) = (2, 2);
    let before = used.entry((place, LOOPS)).or_default();
    let low = 0.1 + 0.08 * f64::from((*before % 3) as u8);
    *before += 1;
    let (x, y) = (f64::from(cell.0), f64::from(cell.1) - HALF_HEIGHT);
    let (left, right, top) = (x + low, x + low + 0.06, y - 0.1);
    vec![[left, y], [left, top], [right, top], [right, y]]
}
