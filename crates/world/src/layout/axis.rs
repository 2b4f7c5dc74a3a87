//! One axis of the grid: which places share a coordinate, and which come before which.
//!
//! Places that share a coordinate form a class. All that is asked of an axis can be kept at once: a wish that
//! contradicts the others is refused before it is added.

/// The constraints of one axis. Places are numbered from 0.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    /// The class of each place.
    class: Vec<usize>,
    /// The places of each class; empty where it was merged into another.
    members: Vec<Vec<usize>>,
    /// Places with a greater coordinate than each place.
    after: Vec<Vec<usize>>,
    /// Places with a smaller coordinate than each place.
    before: Vec<Vec<usize>>,
}

impl Axis {
    /// An axis without constraints.
    pub(super) fn new(places: usize) -> Axis {
        let members = (0..places).map(|place| vec![place]).collect();
        let none = vec![Vec::new(); places];
        Axis { class: (0..places).collect(), members, after: none.clone(), before: none }
    }

    pub(super) fn class(&self, place: usize) -> usize {
        self.class[place]
    }

    /// The places of a class.
    pub(super) fn members(&self, class: usize) -> &[usize] {
        &self.members[class]
    }

    /// The classes that have places.
    pub(super) fn classes(&self) -> impl Iterator<Item = usize> {
        (0..self.members.len()).filter(|class| !self.members[*class].is_empty())
    }

    /// Classes with a greater coordinate, some of them more than once.
    pub(super) fn after(&self, class: usize) -> impl Iterator<Item = usize> {
        self.members[class].iter().flat_map(|place| &self.after[*place]).map(|place| self.class[*place])
    }

    /// Classes with a smaller coordinate, some of them more than once.
    pub(super) fn before(&self, class: usize) -> impl Iterator<Item = usize> {
        self.members[class].iter().flat_map(|place| &self.before[*place]).map(|place| self.class[*place])
    }

    /// True if one class is known to come before another.
    pub(super) fn precedes(&self, one: usize, other: usize) -> bool {
        let mut seen = vec![false; self.members.len()];
        let mut open = vec![one];
        while let Some(class) = open.pop() {
            for next in self.after(class) {
                if next == other {
                    return true;
                }
                if !std::mem::replace(&mut seen[next], true) {
                    open.push(next);
                }
            }
        }
        false
    }

    /// True if two places can stand in this order: -1 the second before the first, 0 together, 1 behind it.
    pub(super) fn allows(&self, one: usize, other: usize, order: i32) -> bool {
        let (one, other) = (self.class[one], self.class[other]);
        match order {
            0 => one == other || !self.precedes(one, other) && !self.precedes(other, one),
            1 => one != other && !self.precedes(other, one),
            _ => one != other && !self.precedes(one, other),
        }
    }

    /// Adds an order that is allowed; 0 is for [`Axis::merge`].
    pub(super) fn add(&mut self, one: usize, other: usize, order: i32) {
        let (first, second) = if order > 0 { (one, other) } else { (other, one) };
        self.after[first].push(second);
        self.before[second].push(first);
    }

    /// Makes one class of two: the second becomes part of the first.
    pub(super) fn merge(&mut self, kept: usize, gone: usize) {
        let places = std::mem::take(&mut self.members[gone]);
        places.iter().for_each(|place| self.class[*place] = kept);
        self.members[kept].extend(places);
    }

    /// The classes, each behind all that come before it.
    pub(super) fn in_order(&self) -> Vec<usize> {
        let mut waiting: Vec<usize> = vec![0; self.members.len()];
        for class in self.classes() {
            self.after(class).for_each(|next| waiting[next] += 1);
        }
        let mut ordered: Vec<usize> = self.classes().filter(|class| waiting[*class] == 0).collect();
        let mut at = 0;
        while let Some(class) = ordered.get(at).copied() {
            for next in self.after(class) {
                waiting[next] -= 1;
                if waiting[next] == 0 {
                    ordered.push(next);
                }
            }
            at += 1;
        }
        ordered
    }
}
