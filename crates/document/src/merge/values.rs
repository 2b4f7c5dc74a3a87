//! Merges single values and sets three ways.

use std::collections::HashSet;
use std::hash::Hash;

/// A value in the base and on both sides.
#[derive(Debug)]
pub(super) struct Three<'a, T: ?Sized> {
    pub(super) base: &'a T,
    pub(super) ours: &'a T,
    pub(super) theirs: &'a T,
}

impl<'a, T: ?Sized> Three<'a, T> {
    /// A part of each.
    pub(super) fn of<P: ?Sized>(&self, part: impl Fn(&'a T) -> &'a P) -> Three<'a, P> {
        Three { base: part(self.base), ours: part(self.ours), theirs: part(self.theirs) }
    }

    /// A set that each has.
    pub(super) fn set<P: Clone + Eq + Hash + 'a>(&self, part: impl Fn(&'a T) -> &'a Vec<P>) -> Vec<P> {
        set(part(self.base), part(self.ours), part(self.theirs))
    }
}

impl<T: Clone + PartialEq> Three<'_, T> {
    /// The value of the side that changed it; where both did, a choice of the two.
    pub(super) fn or(&self, choose: impl Fn(&T, &T) -> T) -> T {
        self.agreed().unwrap_or_else(|| choose(self.ours, self.theirs))
    }

    /// The value of the side that changed it; `None` where both did, and differently.
    pub(super) fn agreed(&self) -> Option<T> {
        if self.ours == self.theirs || self.theirs == self.base {
            Some(self.ours.clone())
        } else {
            (self.ours == self.base).then(|| self.theirs.clone())
        }
    }
}

impl<T: Clone + Ord> Three<'_, T> {
    /// The value of the side that changed it; where both did, the greater one.
    pub(super) fn greatest(&self) -> T {
        self.or(|one, other| one.max(other).clone())
    }
}

/// The values that both sides have, or that one has and the base does not: first ours, then theirs.
pub(super) fn set<T: Clone + Eq + Hash>(base: &[T], ours: &[T], theirs: &[T]) -> Vec<T> {
    let (of_base, of_ours): (HashSet<&T>, HashSet<&T>) = (base.iter().collect(), ours.iter().collect());
    let of_theirs: HashSet<&T> = theirs.iter().collect();
    let kept = ours.iter().filter(|value| of_theirs.contains(value) || !of_base.contains(value));
    let added = theirs.iter().filter(|value| !of_ours.contains(value) && !of_base.contains(value));
    kept.chain(added).cloned().collect()
}

/// A count to which each side added.
pub(super) fn sum(base: u64, ours: u64, theirs: u64) -> u64 {
    ours.saturating_add(theirs).saturating_sub(base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_what_one_side_added_and_lacks_what_one_removed() {
        assert_eq!(set(&[1, 2, 3], &[1, 3, 4], &[5, 1, 2]), [1, 4, 5]);
        assert_eq!(set(&[], &[1], &[1, 2]), [1, 2]);
    }

    #[test]
    fn a_value_is_that_of_the_side_that_changed_it() {
        let three = |base: &'static i32, ours, theirs| Three { base, ours, theirs };
        assert_eq!([three(&1, &1, &2).agreed(), three(&1, &2, &1).agreed()], [Some(2), Some(2)]);
        assert_eq!((three(&1, &2, &3).agreed(), three(&1, &3, &2).greatest()), (None, 3));
        assert_eq!(sum(3, 5, 4), 6);
    }
}
