//! The cells of the places of one level.
//!
//! Each place is put beside its neighbour; then the constraints push apart what is in the wrong order or shares a cell,
//! rows and columns move towards their neighbours, and what is empty is removed. All constraints hold after each step.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use foldhash::fast::FixedState;

use crate::layout::axis::Axis;
use crate::layout::wishes::{Agreed, Wish};

/// Times that all rows and columns move towards their neighbours.
const SWEEPS: usize = 6;

/// Rounds of pushing places out of shared cells; then whole rows and columns are inserted.
const ROUNDS: usize = 60;

type Cells = HashMap<(i32, i32), usize, FixedState>;

/// One axis with a coordinate for each class.
struct Line {
    axis: Axis,
    at: Vec<i32>,
}

/// A level in the making.
struct Grid<'w> {
    /// Columns and rows.
    lines: [Line; 2],
    /// The neighbours of each place, and the signs of the vector to them.
    near: Vec<Vec<(usize, [i32; 2])>>,
    wishes: &'w [Wish],
    kept: &'w [bool],
}

/// The cells of places between which these constraints were agreed on. All places are joined by wishes.
pub(super) fn cells(agreed: Agreed, wishes: &[Wish], kept: &[bool]) -> Vec<(i32, i32)> {
    let Agreed { x, y, .. } = agreed;
    let places = x.classes().map(|class| x.members(class).len()).sum();
    let mut near = vec![Vec::new(); places];
    for wish in wishes {
        near[wish.from].push((wish.to, [wish.step.0, wish.step.1]));
        near[wish.to].push((wish.from, [-wish.step.0, -wish.step.1]));
    }
    let lines = [x, y].map(|axis| Line { at: vec![0; places], axis });
    let mut grid = Grid { lines, near, wishes, kept };
    grid.begin();
    grid.settle(false);
    grid.separate();
    grid.settle(true);
    grid.fold();
    grid.clear_lines();
    grid.separate();
    grid.lines.iter_mut().for_each(Line::close);
    (0..places).map(|place| grid.cell(place)).collect()
}

impl Line {
    fn of(&self, place: usize) -> i32 {
        self.at[self.axis.class(place)]
    }

    /// The coordinates that change when a class moves, and all that it pushes before it.
    fn push(&self, class: usize, to: i32) -> BTreeMap<usize, i32> {
        let sign = (to - self.at[class]).signum();
        let mut moved = BTreeMap::from([(class, to)]);
        let mut open = vec![class];
        while let Some(class) = open.pop() {
            let least = moved[&class] + sign;
            let mut push = |next: usize| {
                let at = moved.get(&next).copied().unwrap_or(self.at[next]);
                if (least - at) * sign > 0 {
                    moved.insert(next, least);
                    open.push(next);
                }
            };
            if sign > 0 {
                self.axis.after(class).for_each(&mut push)
            } else {
                self.axis.before(class).for_each(&mut push)
            }
        }
        moved
    }

    fn apply(&mut self, moved: &BTreeMap<usize, i32>) {
        moved.iter().for_each(|(class, to)| self.at[*class] = *to);
    }

    /// Moves everything behind a coordinate, and a class that stands there, to the next one.
    fn insert(&mut self, class: usize) {
        let here = self.at[class];
        self.at.iter_mut().filter(|at| **at > here).for_each(|at| *at += 1);
        self.at[class] += 1;
    }

    /// Removes rows or columns without places; the first gets 0.
    fn close(&mut self) {
        let mut used: Vec<i32> = self.axis.classes().map(|class| self.at[class]).collect();
        used.sort_unstable();
        used.dedup();
        for class in self.axis.classes().collect::<Vec<_>>() {
            self.at[class] = used.binary_search(&self.at[class]).unwrap_or_default() as i32;
        }
    }
}

impl Grid<'_> {
    fn cell(&self, place: usize) -> (i32, i32) {
        (self.lines[0].of(place), self.lines[1].of(place))
    }

    /// The cell of a place if its coordinate on one axis were another.
    fn moved_cell(&self, place: usize, axis: usize, to: i32) -> (i32, i32) {
        let cell = self.cell(place);
        if axis == 0 { (to, cell.1) } else { (cell.0, to) }
    }

    fn kept_wishes(&self) -> impl Iterator<Item = &Wish> {
        self.wishes.iter().zip(self.kept).filter(|(_, kept)| **kept).map(|(wish, _)| wish)
    }

    fn taken(&self) -> Cells {
        (0..self.near.len()).map(|place| (self.cell(place), place)).collect()
    }

    /// Puts each place beside the neighbour from which it is reached first, and then all into the agreed order.
    fn begin(&mut self) {
        let first =
            (0..self.near.len()).rev().max_by_key(|place| self.near[*place].len()).unwrap_or_default();
        let joined: HashSet<(usize, usize)> = self.kept_wishes().map(|wish| (wish.from, wish.to)).collect();
        let is_kept =
            |one: usize, other: usize| joined.contains(&(one, other)) || joined.contains(&(other, one));
        let mut is_placed = [vec![false; self.near.len()], vec![false; self.near.len()]];
        let mut is_reached = vec![false; self.near.len()];
        is_reached[first] = true;
        let mut open = VecDeque::from([first]);
        for (line, placed) in self.lines.iter().zip(&mut is_placed) {
            placed[line.axis.class(first)] = true;
        }
        while let Some(place) = open.pop_front() {
            for (other, step) in &self.near[place] {
                if is_reached[*other] || !is_kept(place, *other) {
                    continue;
                }
                is_reached[*other] = true;
                open.push_back(*other);
                for ((line, placed), step) in self.lines.iter_mut().zip(&mut is_placed).zip(step) {
                    let class = line.axis.class(*other);
                    if !std::mem::replace(&mut placed[class], true) {
                        line.at[class] = line.of(place) + step;
                    }
                }
            }
        }
        for line in &mut self.lines {
            for class in line.axis.in_order() {
                let least = line.axis.before(class).map(|before| line.at[before] + 1).max();
                line.at[class] = line.at[class].max(least.unwrap_or(i32::MIN));
            }
        }
    }

    /// Moves rows and columns to where most of their neighbours want them, within the agreed order.
    fn settle(&mut self, is_apart: bool) {
        for sweep in 0..SWEEPS {
            let mut taken = self.taken();
            for axis in [0, 1] {
                let mut order = self.lines[axis].axis.in_order();
                if sweep % 2 == 0 {
                    order.reverse();
                }
                for class in order {
                    let Some(to) = self.wanted(axis, class) else { continue };
                    if is_apart && !self.is_free(&taken, axis, class, to) {
                        continue;
                    }
                    for place in self.lines[axis].axis.members(class) {
                        taken.remove(&self.cell(*place));
                    }
                    self.lines[axis].at[class] = to;
                    for place in self.lines[axis].axis.members(class) {
                        taken.insert(self.cell(*place), *place);
                    }
                }
            }
        }
    }

    /// The coordinate in the middle of those that a class's neighbours want for it; `None` where it stands there.
    fn wanted(&self, axis: usize, class: usize) -> Option<i32> {
        let line = &self.lines[axis];
        let least = line.axis.before(class).map(|before| line.at[before] + 1).max();
        let most = line.axis.after(class).map(|after| line.at[after] - 1).min();
        let mut wanted: Vec<i32> = Vec::new();
        for place in line.axis.members(class) {
            let others = self.near[*place].iter().filter(|(other, _)| line.axis.class(*other) != class);
            wanted.extend(others.map(|(other, step)| line.of(*other) - step[axis]));
        }
        wanted.sort_unstable();
        let (low, high) = (wanted.get((wanted.len().max(1) - 1) / 2)?, wanted.get(wanted.len() / 2)?);
        let at = line.at[class].clamp(*low, *high);
        let to = at.min(most.unwrap_or(i32::MAX)).max(least.unwrap_or(i32::MIN));
        (to != line.at[class]).then_some(to)
    }

    /// True if the cells are free to which a class would move.
    fn is_free(&self, taken: &Cells, axis: usize, class: usize, to: i32) -> bool {
        self.lines[axis].axis.members(class).iter().all(|place| {
            let other = taken.get(&self.moved_cell(*place, axis, to));
            other.is_none_or(|other| self.lines[axis].axis.class(*other) == class)
        })
    }

    /// Pushes places out of cells that they share.
    fn separate(&mut self) {
        for round in 0.. {
            let mut taken = Cells::default();
            let mut shared = Vec::new();
            for place in 0..self.near.len() {
                if let Some(other) = taken.insert(self.cell(place), place) {
                    shared.push((other, place));
                }
            }
            if shared.is_empty() {
                return;
            }
            for (one, other) in shared {
                if self.cell(one) != self.cell(other) {
                    continue;
                }
                if round < ROUNDS {
                    self.part(&taken, one, other, &[0, 1]);
                } else {
                    let line = &mut self.lines
                        [usize::from(self.lines[0].axis.class(one) == self.lines[0].axis.class(other))];
                    line.axis.add(one, other, 1);
                    line.insert(line.axis.class(other));
                }
            }
        }
    }

    /// Brings two places of one row or column into different ones for good, moving as few places as possible. Both
    /// orders are allowed: where one is known, the places have different coordinates. `taken` need not be current.
    fn part(&mut self, taken: &Cells, one: usize, other: usize, axes: &[usize]) {
        let mut best: Option<(usize, usize, i32, BTreeMap<usize, i32>)> = None;
        for &axis in axes {
            let line = &self.lines[axis];
            let classes = (line.axis.class(one), line.axis.class(other));
            if classes.0 == classes.1 {
                continue;
            }
            let bounds = line.axis.classes().fold((i32::MAX, i32::MIN), |(least, most), class| {
                (least.min(line.at[class]), most.max(line.at[class]))
            });
            for (class, sign, order) in
                [(classes.1, 1, 1), (classes.1, -1, -1), (classes.0, 1, -1), (classes.0, -1, 1)]
            {
                let still = if class == classes.1 { classes.0 } else { classes.1 };
                let moved = line.push(class, line.at[still] + sign);
                let cost = self.cost(taken, axis, bounds, &moved);
                if best.as_ref().is_none_or(|best| cost < best.0) {
                    best = Some((cost, axis, order, moved));
                }
            }
        }
        if let Some((_, axis, order, moved)) = best {
            self.lines[axis].axis.add(one, other, order);
            self.lines[axis].apply(&moved);
        }
    }

    /// The number of places that move, and more where they meet others, lines grow or the level does.
    fn cost(&self, taken: &Cells, axis: usize, bounds: (i32, i32), moved: &BTreeMap<usize, i32>) -> usize {
        let line = &self.lines[axis];
        let mut cost = 0;
        for (class, to) in moved {
            for place in line.axis.members(*class) {
                let stays = |other: usize| !moved.contains_key(&line.axis.class(other));
                let meets = taken.get(&self.moved_cell(*place, axis, *to)).is_some_and(|other| stays(*other));
                cost += 1 + 2 * usize::from(meets);
                let others = self.near[*place].iter().filter(|(other, _)| stays(*other));
                for (other, _) in others {
                    let length = |at: i32| (line.of(*other) - at).unsigned_abs() as usize;
                    cost += length(*to).saturating_sub(length(line.at[*class]));
                }
            }
            if *to < bounds.0 || *to > bounds.1 {
                cost += 2;
            }
        }
        cost
    }

    /// Joins neighbouring rows or columns where no place of one stands beside a place of the other.
    fn fold(&mut self) {
        for axis in [0, 1] {
            self.lines[axis].close();
            let last = self.lines[axis].at.iter().copied().max().unwrap_or_default();
            let mut classes_at: Vec<Vec<usize>> = vec![Vec::new(); last as usize + 1];
            for class in self.lines[axis].axis.classes() {
                classes_at[self.lines[axis].at[class] as usize].push(class);
            }
            let mut kept = 0;
            // The places that are taken in the row or column that is kept.
            let mut taken: HashSet<i32, FixedState> = HashSet::default();
            for (next, classes) in classes_at.iter().enumerate() {
                if next > 0 && !self.can_join(axis, kept, classes, &taken) {
                    kept += 1;
                    taken.clear();
                }
                let [line, across] = &mut self.lines;
                let (line, across) = if axis == 0 { (line, across) } else { (across, line) };
                for class in classes {
                    line.at[*class] = kept;
                    taken.extend(line.axis.members(*class).iter().map(|place| across.of(*place)));
                }
            }
        }
    }

    /// True if classes can join the row or column that is kept, where these places are taken.
    fn can_join(&self, axis: usize, kept: i32, classes: &[usize], taken: &HashSet<i32, FixedState>) -> bool {
        let (line, across) = (&self.lines[axis], &self.lines[1 - axis]);
        classes.iter().all(|class| {
            line.axis.before(*class).all(|before| line.at[before] != kept)
                && line.axis.members(*class).iter().all(|place| !taken.contains(&across.of(*place)))
        })
    }

    /// Pushes places away that stand on a straight line between two others, while there are not too many.
    fn clear_lines(&mut self) {
        let mut left = self.near.len() / 4 + 8;
        while left > 0 {
            let taken = self.taken();
            let blocked = self.blocked(&taken);
            if blocked.is_empty() {
                return;
            }
            for (axis, end, between) in blocked {
                // It may have been pushed away together with another.
                if left > 0 && self.lines[axis].of(end) == self.lines[axis].of(between) {
                    self.part(&taken, end, between, &[axis]);
                    left -= 1;
                }
            }
            self.separate();
        }
    }

    /// For each straight line the first place on it that need not share its row or column: axis, end of the line,
    /// place.
    fn blocked(&self, taken: &Cells) -> Vec<(usize, usize, usize)> {
        let mut blocked = Vec::new();
        for wish in self.kept_wishes() {
            let axis = match wish.step {
                (0, _) => 0,
                (_, 0) => 1,
                _ => continue,
            };
            let (from, to) = (self.cell(wish.from), self.cell(wish.to));
            let mut cell = from;
            loop {
                cell = (cell.0 + wish.step.0, cell.1 + wish.step.1);
                if cell == to {
                    break;
                }
                let line = &self.lines[axis].axis;
                let between =
                    taken.get(&cell).filter(|between| line.class(**between) != line.class(wish.from));
                if let Some(between) = between {
                    blocked.push((axis, wish.from, *between));
                    break;
                }
            }
        }
        blocked
    }
}
