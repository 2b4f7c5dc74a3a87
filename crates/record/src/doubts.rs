//! Warnings about a turn that is recorded as it was sent, and may be meant otherwise.
//!
//! A turn and the one before enter; sentences leave, each with the next step. They have no numbers of turns, so that a
//! command that records many turns says each of them once.

use crate::places::own_id;
use crate::turn::{Turn, TurnLocation};
use memories_document::grammar::is_same_name;
use memories_document::types::direction::Direction;
use memories_store::journal::EarlierTurn;

/// The warnings about a turn of an episode. `last` is the turn recorded before; `None` where numbers do not matter.
pub(super) fn doubts(turn: &Turn, episode: u64, last: Option<&EarlierTurn>) -> Vec<String> {
    let goes_back = last.filter(|last| last.episode == Some(episode) && goes_back(turn, last)).map(|_| {
        format!(
            "the turn numbers of episode {episode} go back: when the game starts anew, begin an episode: `memories \
             episode start`, `episode` in the turn, or `new_episode` by MCP"
        )
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

/// True if the number of a turn is lower than the last one, or is that of a first turn which said something else.
fn goes_back(turn: &Turn, last: &EarlierTurn) -> bool {
    let (Some(number), Some(before)) = (turn.turn, last.number) else { return false };
    let says_the_same = last.turn["action"] == turn.action && last.turn["response"] == turn.response;
    number < before || (number == before && number <= 1 && !says_the_same)
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

    fn warnings(turn: &Value, last: &Value) -> Vec<String> {
        let last = EarlierTurn {
            episode: last["episode"].as_u64(),
            number: last["turn"].as_u64(),
            turn: last.clone(),
            effect: String::new(),
        };
        doubts(&Turn::from_value(turn).unwrap(), 2, Some(&last))
    }

    #[test]
    fn numbers_that_go_back_in_their_episode_are_a_warning() {
        let turn = |number: u64, action: &str| json!({"turn": number, "action": action, "response": "Ok.", "location": 1});
        let last = |episode: u64, number: u64| json!({"episode": episode, "turn": number, "action": "wait", "response": "Ok."});
        for (turn, last, is_told) in [
            (turn(1, "wait"), last(2, 5), true),
            (turn(4, "look"), last(2, 5), true),
            (turn(1, "look"), last(2, 1), true),
            (turn(1, "wait"), last(2, 1), false),
            (turn(5, "look"), last(2, 5), false),
            (turn(6, "look"), last(2, 5), false),
            (turn(1, "look"), last(1, 5), false),
            (json!({"action": "look", "response": "Ok.", "location": 1}), last(2, 5), false),
        ] {
            assert_eq!(warnings(&turn, &last).len(), usize::from(is_told), "{turn} after {last}");
        }
    }

    #[test]
    fn a_way_between_rooms_of_one_name_is_a_warning_only_where_it_was_walked() {
        let turn = |action: &str, response: &str, before: Value, after: Value| json!({"action": action, "response": response, "location_before": before, "location_after": after});
        let forest = || json!({"name": "Forest"});
        let entered = "Forest\nThis is a dimly lit forest.";
        let told = warnings(&turn("east", entered, forest(), json!({"name": "forest"})), &Value::Null);
        assert!(told[0].ends_with("such as `location:forest-2`"), "{told:?}");
        for other in [
            turn("east", "You can't go that way.", forest(), forest()),
            turn("look", entered, forest(), forest()),
            turn("east", entered, forest(), Value::Null),
            turn("east", entered, json!({"name": "Clearing"}), forest()),
            turn("east", entered, json!({"id": 7, "name": "Forest"}), json!({"id": 8, "name": "Forest"})),
            turn("east", entered, json!("location:forest"), json!("location:forest")),
        ] {
            assert_eq!(warnings(&other, &Value::Null), Vec::<String>::new(), "{other}");
        }
    }
}
