//! The changes that the facts of a turn show: place, score, inventory, life.

use std::collections::HashMap;

use crate::turn::Turn;
use memories_document::types::fold_action;
use memories_notebook::authority::Proof;

/// Changes of the game's state in a turn. Unknown values count as unchanged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Changes {
    /// The score.
    pub score: bool,
    /// The score rose.
    pub rose: bool,
    /// The place.
    pub location: bool,
    /// Something is carried that was not.
    pub gained: bool,
    /// Something is no longer carried.
    pub lost: bool,
    /// The player died.
    pub death: bool,
    /// The game is won.
    pub won: bool,
}

impl Changes {
    /// Compares before and after. `moved`: the place is another.
    pub fn of(turn: &Turn, moved: bool) -> Changes {
        let (gained, lost) = inventory_change(turn);
        let points = score_change(turn).unwrap_or_default();
        Changes {
            score: points != 0,
            rose: points > 0,
            location: moved,
            gained: !gained.is_empty(),
            lost: !lost.is_empty(),
            death: turn.died,
            won: turn.won,
        }
    }

    /// The facts that give weight to a memory of the turn.
    pub(crate) fn proof(self) -> Proof {
        Proof { died: self.death, scored: self.score, rose: self.rose }
    }

    /// The inventory changed.
    pub(crate) fn inventory(self) -> bool {
        self.gained || self.lost
    }
}

impl Turn {
    /// True if score or inventory were sent both before and after the action.
    pub(crate) fn has_pairs(&self) -> bool {
        self.score_before.is_some() && self.score_after.is_some() || self.has_inventories()
    }

    /// True if it says what was carried before and after.
    pub(crate) fn has_inventories(&self) -> bool {
        self.inventory_before.is_some() && self.inventory_after.is_some()
    }
}

/// The change of the score, if both scores are known.
pub(crate) fn score_change(turn: &Turn) -> Option<i64> {
    turn.score_after?.checked_sub(turn.score_before?)
}

/// Items gained and items lost, as multisets; none where an inventory is unknown.
pub(super) fn inventory_change(turn: &Turn) -> (Vec<&str>, Vec<&str>) {
    let (Some(before), Some(after)) = (&turn.inventory_before, &turn.inventory_after) else {
        return (Vec::new(), Vec::new());
    };
    (missing(after, before), missing(before, after))
}

/// Items that `one` has more often than `other`, once for each.
fn missing<'a>(one: &'a [String], other: &[String]) -> Vec<&'a str> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for item in other {
        *counts.entry(fold_action(item)).or_default() += 1;
    }
    let mut missing: Vec<&str> = Vec::new();
    for item in one {
        match counts.get_mut(&fold_action(item)) {
            Some(count) if *count > 0 => *count -= 1,
            _ => missing.push(item),
        }
    }
    missing
}
