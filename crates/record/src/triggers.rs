//! Triggers: changes of the game's state in a turn. Without any of them the judge is not asked.

use serde::Serialize;
use strum::VariantArray;

use crate::changes::Changes;
use crate::effect::Effect;
use crate::turn::Turn;

/// A fact that makes a turn worth judging.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[derive(Serialize, strum::Display, strum::IntoStaticStr, strum::VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Trigger {
    /// The score changed.
    Score,
    /// The player is at another place.
    Location,
    /// The player carries other items.
    Inventory,
    /// The player died.
    Death,
    /// The place reached had no section before.
    FirstVisit,
    /// The reply is long.
    Response,
    /// The reply or the caller says that the world changed, and nothing else shows it.
    WorldChanged,
}

/// Which triggers may fire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Switches {
    /// Triggers that are off.
    pub off: Vec<Trigger>,
    /// Longest reply that is not a trigger, in characters.
    pub response_chars: usize,
}

impl Default for Switches {
    fn default() -> Switches {
        Switches { off: Vec::new(), response_chars: 100 }
    }
}

/// The triggers that fire.
pub(crate) fn fired(
    turn: &Turn,
    changes: Changes,
    effect: Effect,
    first_visit: bool,
    switches: &Switches,
) -> Vec<Trigger> {
    let fires = |trigger: &Trigger| match trigger {
        Trigger::Score => changes.score,
        Trigger::Location => changes.location,
        Trigger::Inventory => changes.inventory(),
        Trigger::Death => changes.death,
        Trigger::FirstVisit => first_visit,
        Trigger::Response => turn.response.trim().chars().count() > switches.response_chars,
        Trigger::WorldChanged => {
            let is_told = effect == Effect::Idle && turn.world_changed == Some(true);
            is_told || matches!(effect, Effect::Revealed | Effect::Changed)
        }
    };
    let all = Trigger::VARIANTS.iter().copied();
    all.filter(|trigger| !switches.off.contains(trigger) && fires(trigger)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::{Earlier, effect_of};
    use crate::replies::Replies;

    fn turn() -> Turn {
        Turn::new("wait", "Time passes.", None)
    }

    fn names(turn: &Turn, moved: bool, first: bool) -> Vec<&'static str> {
        let changes = Changes::of(turn, moved);
        let effect = effect_of(turn, changes, &Replies::default(), Earlier::default(), None);
        fired(turn, changes, effect, first, &Switches::default()).into_iter().map(Into::into).collect()
    }

    #[test]
    fn each_trigger_fires_on_its_own_fact() {
        assert_eq!(names(&turn(), false, false), [""; 0]);
        assert_eq!(names(&turn(), true, false), ["location"]);
        assert_eq!(names(&turn(), false, true), ["first_visit"]);
        assert_eq!(names(&Turn { died: true, ..turn() }, false, false), ["death"]);
        let scored = Turn { score_before: Some(5), score_after: Some(-5), ..turn() };
        assert_eq!(names(&scored, false, false), ["score"]);
        let changed = Turn { action: "pull lever".to_owned(), world_changed: Some(true), ..turn() };
        assert_eq!(names(&changed, false, false), ["world_changed"]);
        assert_eq!(names(&changed, true, false), ["location"]);
    }

    #[test]
    fn a_hundred_characters_are_not_more_than_a_hundred() {
        assert_eq!(names(&Turn { response: "é".repeat(100), ..turn() }, false, false), [""; 0]);
        assert_eq!(names(&Turn { response: "é".repeat(101), ..turn() }, false, false), ["response"]);
    }

    #[test]
    fn the_inventory_is_a_multiset() {
        let carrying = |before: &[&str], after: &[&str]| {
            let list = |items: &[&str]| Some(items.iter().map(|item| (*item).to_owned()).collect());
            let turn = Turn { inventory_before: list(before), inventory_after: list(after), ..turn() };
            Changes::of(&turn, false).inventory()
        };
        assert!(!carrying(&["a", "b"], &["b", "a"]));
        assert!(carrying(&["a"], &["a", "a"]));
    }

    #[test]
    fn a_switch_silences_its_trigger() {
        let switches = Switches { off: vec![Trigger::Death], response_chars: 3 };
        let turn = Turn { died: true, ..turn() };
        let changes = Changes::of(&turn, false);
        assert_eq!(fired(&turn, changes, Effect::Died, false, &switches), [Trigger::Response]);
    }
}
