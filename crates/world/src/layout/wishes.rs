//! Which directions a drawing can keep at once.
//!
//! A game's ways may contradict each other: north from here, and west to come back. The directions are taken one after
//! the other, those that most ways ask for first, each where it agrees with all that were taken before. Then those that
//! were refused are tried in another order, while more can be kept that way.

use std::collections::HashSet;

use foldhash::fast::FixedState;

use crate::layout::axis::Axis;

/// Limit of the search for a better order, for one part of the map. Taking all wishes in one order costs the number
/// of wishes times the number of places.
const EFFORT: usize = 10_000_000;

/// A wish of ways: where a place should stand, seen from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wish {
    pub from: usize,
    pub to: usize,
    /// Signs of the difference in x and y.
    pub step: (i32, i32),
    /// Number of ways that ask for it.
    pub ways: usize,
}

/// Constraints of both axes that agree, and leave each place a cell of its own.
#[derive(Debug, Clone)]
pub(super) struct Agreed {
    pub x: Axis,
    pub y: Axis,
    /// Pairs of classes: two places that share both would share a cell.
    taken: HashSet<(usize, usize), FixedState>,
}

/// The wishes that can be kept: the constraints, and which wishes hold in them exactly.
pub(super) fn agree(places: usize, wishes: &[Wish]) -> (Agreed, Vec<bool>) {
    let mut order: Vec<usize> = (0..wishes.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(wishes[*at].ways));
    let mut best = Trial::of(places, wishes, order);
    let (mut effort, cost) = (EFFORT, wishes.len() * places);
    let mut tried = HashSet::new();
    while effort >= cost {
        let next = best.refused().find(|at| !tried.contains(at));
        let Some(refused) = next else { break };
        effort -= cost;
        tried.insert(refused);
        let kept = best.order.iter().copied().filter(|at| best.kept[*at]);
        let left = best.refused().filter(|at| *at != refused);
        let order = std::iter::once(refused).chain(kept).chain(left).collect();
        let other = Trial::of(places, wishes, order);
        if other.ways > best.ways {
            best = other;
            tried.clear();
        }
    }
    let Trial { mut agreed, kept, order, .. } = best;
    for at in order.into_iter().filter(|at| !kept[*at]) {
        agreed.add_part(&wishes[at]);
    }
    (agreed, kept)
}

/// The wishes taken in one order.
struct Trial {
    order: Vec<usize>,
    agreed: Agreed,
    kept: Vec<bool>,
    ways: usize,
}

impl Trial {
    fn of(places: usize, wishes: &[Wish], order: Vec<usize>) -> Trial {
        let mut agreed = Agreed {
            x: Axis::new(places),
            y: Axis::new(places),
            taken: (0..places).map(|place| (place, place)).collect(),
        };
        let mut kept = vec![false; wishes.len()];
        for at in &order {
            kept[*at] = agreed.add(&wishes[*at]);
        }
        let ways = wishes.iter().zip(&kept).filter(|(_, kept)| **kept).map(|(wish, _)| wish.ways).sum();
        Trial { order, agreed, kept, ways }
    }

    fn refused(&self) -> impl Iterator<Item = usize> {
        self.order.iter().copied().filter(|at| !self.kept[*at])
    }
}

impl Agreed {
    /// Adds a wish, if it agrees with all that was added before.
    fn add(&mut self, wish: &Wish) -> bool {
        let &Wish { from, to, step, .. } = wish;
        if !self.x.allows(from, to, step.0) || !self.y.allows(from, to, step.1) {
            return false;
        }
        if step.0 == 0 && !self.merge(from, to, true) || step.1 == 0 && !self.merge(from, to, false) {
            return false;
        }
        for (axis, order) in [(&mut self.x, step.0), (&mut self.y, step.1)] {
            if order != 0 {
                axis.add(from, to, order);
            }
        }
        true
    }

    /// Gives two places the same coordinate, unless two places of their classes would then share a cell.
    fn merge(&mut self, from: usize, to: usize, is_x: bool) -> bool {
        let (axis, across) = if is_x { (&mut self.x, &self.y) } else { (&mut self.y, &self.x) };
        let (mut kept, mut gone) = (axis.class(from), axis.class(to));
        if kept == gone {
            return true;
        }
        if axis.members(kept).len() < axis.members(gone).len() {
            std::mem::swap(&mut kept, &mut gone);
        }
        let pair = |class: usize, place: usize| {
            let other = across.class(place);
            if is_x { (class, other) } else { (other, class) }
        };
        if axis.members(gone).iter().any(|place| self.taken.contains(&pair(kept, *place))) {
            return false;
        }
        for place in axis.members(gone) {
            self.taken.remove(&pair(gone, *place));
            self.taken.insert(pair(kept, *place));
        }
        axis.merge(kept, gone);
        true
    }

    /// Adds what agrees of a wish that cannot be kept exactly: north is above, though not straight above.
    fn add_part(&mut self, wish: &Wish) {
        let &Wish { from, to, step, .. } = wish;
        for (axis, order) in [(&mut self.x, step.0), (&mut self.y, step.1)] {
            if order != 0 && axis.allows(from, to, order) {
                axis.add(from, to, order);
            }
        }
    }
}
