//! Warnings about a turn that is recorded as it was sent, and may be meant otherwise.
//!
//! A turn and the one before enter; sentences leave, each with the next step. A command that records many turns says
//! each kind of them once.

use crate::places::own_id;
use crate::turn::{Turn, TurnLocation};
use memories_document::grammar::is_same_name;
use memories_document::types::direction::Direction;
use memories_store::journal::EarlierTurn;

/// The part of a warning about numbers that go back which is the same for all turns of an episode.
const GO_BACK: &str = " go back";

/// The warnings about a turn of an episode. `last` is the writer's turn before in it, and `is_taken` says that a turn
/// has the number already; `None` where numbers do not matter.
pub(super) fn doubts(
    turn: &Turn,
    episode: u64,
    last: Option<&EarlierTurn>,
    is_taken: impl FnOnce(u64) -> bool,
) -> Vec<String> {
    let number =
        turn.turn.filter(|number| last.and_then(|last| last.number).is_some_and(|last| *number <= last));
    let goes_back = number.and_then(|number| {
        let anew = "when the game starts anew, begin an episode: `memories episode start`, `episode` in the turn, or \
                    `new_episode` by MCP";
        if is_taken(number) {
            let before = number.saturating_sub(1);
            return Some(format!(
                "the turn numbers of episode {episode}{GO_BACK}, turn {number} was recorded before: when the player \
                 has restored a save, set aside what followed with `memories episode rewind --turn {before}`, or \
                 record such turns with `record --rewind`; {anew}"
            ));
        }
        let is_lower = last.and_then(|last| last.number) > Some(number);
        is_lower.then(|| format!("the turn numbers of episode {episode}{GO_BACK}: {anew}"))
    });
    let same_name = leads_to_its_own_name(turn).map(|name| {
        format!(
            "a way leads from `{name}` to `{name}`, and without ids they are one place: if they are two rooms, give \
             one an id of your own, such as `{}-2`",
            own_id(name)
        )
    });
    goes_back.into_iter().chain(same_name).collect()
}

/// The part of a warning by which it is said once of many turns.
pub(super) fn kind_of(warning: &str) -> &str {
    warning.find(GO_BACK).map_or(warning, |at| &warning[..at])
}

/// The name of the places of a turn, if they have one name and no ids, and the player walked from one to the other:
/// after a direction, a game prints the name of a room on a line of its own only where the player entered it.
fn leads_to_its_own_name(turn: &Turn) -> Option<&str> {
    let name = name_without_id(turn.location_before.as_ref()?)?;
    let after = name_without_id(turn.location_after.as_ref()?)?;
    let first_line = turn.response.lines().map(str::trim).find(|line| !line.is_empty())?;
    let has_walked = Direction::of(&turn.action).is_some() && is_same_name(first_line, name);
    (has_walked && is_same_name(after, name)).then_some(name)
}

fn name_without_id(place: &TurnLocation) -> Option<&str> {
    place.name.as_deref().map(str::trim).filter(|_| place.id.is_none() && !place.is_own_id)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn warnings(turn: &Value, last: &Value, taken: &[u64]) -> Vec<String> {
        let last = EarlierTurn { number: last["turn"].as_u64(), ..EarlierTurn::default() };
        doubts(&Turn::from_value(turn).unwrap(), 2, Some(&last), |number| taken.contains(&number))
    }

    #[test]
    fn numbers_that_go_back_in_their_episode_are_a_warning() {
        let turn = |number: u64| json!({"turn": number, "action": "look", "response": "Ok.", "location": 1});
        for (turn, last, expected) in [
            (turn(1), 5, Some("`memories episode rewind --turn 0`")),
            (turn(5), 5, Some("turn 5 was recorded before")),
            (turn(4), 5, Some("`memories episode rewind --turn 3`")),
            (turn(3), 5, Some("go back: when the game starts anew")),
            (turn(6), 5, None),
            (json!({"action": "look", "response": "Ok.", "location": 1}), 5, None),
        ] {
            let warnings = warnings(&turn, &json!({"turn": last}), &[1, 4, 5]);
            let is_told = expected.map(|expected| warnings.iter().any(|warning| warning.contains(expected)));
            assert_eq!(
                (is_told, warnings.len()),
                (expected.map(|_| true), usize::from(expected.is_some())),
                "{turn}"
            );
            assert!(warnings.iter().all(|warning| kind_of(warning) == "the turn numbers of episode 2"));
        }
    }

    #[test]
    fn a_way_between_rooms_of_one_name_is_a_warning_only_where_it_was_walked() {
        let turn = |action: &str, response: &str, before: Value, after: Value| json!({"action": action, "response": response, "location_before": before, "location_after": after});
        let forest = || json!({"name": "Forest"});
        let entered = "Forest\nThis is a dimly lit forest.";
        let told = warnings(&turn("east", entered, forest(), json!({"name": "forest"})), &Value::Null, &[]);
        assert!(told[0].ends_with("such as `location:forest-2`"), "{told:?}");
        for other in [
            turn("east", "You can't go that way.", forest(), forest()),
            turn("look", entered, forest(), forest()),
            turn("east", entered, forest(), Value::Null),
            turn("east", entered, json!({"name": "Clearing"}), forest()),
            turn("east", entered, json!({"id": 7, "name": "Forest"}), json!({"id": 8, "name": "Forest"})),
            turn("east", entered, json!("location:forest"), json!("location:forest")),
        ] {
            assert_eq!(warnings(&other, &Value::Null, &[]), Vec::<String>::new(), "{other}");
        }
    }
}
