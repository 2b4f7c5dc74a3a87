//! A world that behaves as the turns of a recorded game did, to be explored without the game.
//!
//! Recorded turns enter. The world holds where the player is, what is carried, and what was changed for good; an
//! action leaves the next turn. The same actions always give the same turns. It is simpler than the game:
//!
//! * Of the turns recorded of an action at a place, the one counts that was taken with the most similar inventory,
//!   where what it takes from the player is carried and what it gives is not. So an action that was refused without
//!   the lamp and worked with it does so here.
//! * What changed the world without a trace in place or inventory happens once in a life; afterwards the action is
//!   refused with a recorded refusal. An item is found once, and again only after it was lost. Points count once.
//! * An action that was not recorded at a place is refused as it was refused elsewhere. A turn to a place that the
//!   recording never leaves is not used, so nobody gets stuck. Death begins the world anew.
//! * Nothing else moves: no thief walks in, no lamp burns down.

use std::collections::{BTreeMap, BTreeSet};

use memories::types::fold_action;
use serde_json::{Value, json};

/// Directions that an explorer tries anywhere.
pub const DIRECTIONS: [&str; 12] = [
    "north",
    "south",
    "east",
    "west",
    "northeast",
    "northwest",
    "southeast",
    "southwest",
    "up",
    "down",
    "in",
    "out",
];

/// A turn that was recorded.
struct Recorded {
    reply: String,
    to: Value,
    moved: bool,
    died: bool,
    refused: bool,
    changed: bool,
    points: i64,
    before: Vec<String>,
    gained: Vec<String>,
    lost: Vec<String>,
}

/// The result of a turn.
pub struct Outcome {
    /// The turn as an agent records it, without episode and number.
    pub turn: Value,
    /// The action changed nothing and was refused.
    pub failed: bool,
}

/// The world.
pub struct World {
    recorded: BTreeMap<(u64, String), Vec<Recorded>>,
    start: Value,
    place: Value,
    score: i64,
    /// Items that are carried.
    pub carried: Vec<String>,
    /// Places, actions and what of them is not possible again.
    done: BTreeSet<(u64, String)>,
    lost: BTreeSet<String>,
}

impl World {
    /// Builds a world from recorded turns, one JSON object a line.
    pub fn of(lines: &str) -> World {
        let turns: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let moves = turns.iter().filter(|turn| id(&turn["location_before"]) != id(&turn["location_after"]));
        let left: BTreeSet<u64> = moves.map(|turn| id(&turn["location_before"])).collect();
        let mut recorded: BTreeMap<(u64, String), Vec<Recorded>> = BTreeMap::new();
        for turn in turns.iter().filter(|turn| left.contains(&id(&turn["location_after"]))) {
            let action = fold_action(text(&turn["action"]));
            if !action.is_empty() {
                recorded.entry((id(&turn["location_before"]), action)).or_default().push(Recorded::of(turn));
            }
        }
        let start = turns[0]["location_before"].clone();
        let (done, lost) = (BTreeSet::new(), BTreeSet::new());
        World { recorded, place: start.clone(), start, score: 0, carried: Vec::new(), done, lost }
    }

    /// Begins anew.
    pub fn restart(&mut self) {
        (self.place, self.score) = (self.start.clone(), 0);
        self.carried.clear();
        self.done.clear();
        self.lost.clear();
    }

    /// The id of the place where the player is.
    pub fn place(&self) -> u64 {
        id(&self.place)
    }

    /// The actions that were recorded here, and the directions.
    pub fn actions_here(&self) -> Vec<String> {
        let here = self
            .recorded
            .keys()
            .filter(|(place, _)| *place == self.place())
            .map(|(_, action)| action.clone());
        here.chain(DIRECTIONS.map(str::to_owned)).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The actions that were recorded anywhere.
    pub fn actions_anywhere(&self) -> Vec<String> {
        self.recorded.keys().map(|(_, action)| action.clone()).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Does an action.
    pub fn act(&mut self, action: &str) -> Outcome {
        let key = (self.place(), action.to_owned());
        let (before, score, from) = (self.carried.clone(), self.score, self.place.clone());
        let possible =
            self.recorded.get(&key).into_iter().flatten().filter(|turn| self.is_possible(&key, turn));
        let nearest = possible.min_by_key(|turn| (turn.distance(&before), !turn.changed));
        let Some(turn) = nearest else {
            let reply = self.refusal(action).to_owned();
            return Outcome {
                turn: self.turn(action, &reply, (&from, &before, score), (false, false)),
                failed: true,
            };
        };
        let (reply, died, changed, failed) =
            (turn.reply.clone(), turn.died, turn.changed, turn.refused && !turn.changed);
        if turn.moved {
            self.place = turn.to.clone();
        }
        let is_trace = turn.moved || !turn.gained.is_empty() || !turn.lost.is_empty();
        let carried = self.carried.iter().filter(|item| !turn.lost.contains(item)).cloned();
        let carried: Vec<String> = carried.chain(turn.gained.iter().cloned()).collect();
        let (gained, lost, points) = (turn.gained.clone(), turn.lost.clone(), turn.points);
        self.carried = carried;
        self.lost.extend(lost);
        self.lost.retain(|item| !gained.contains(item));
        let is_new = !changed || self.done.insert((key.0, format!("points of {action}")));
        self.score += if is_new { points } else { 0 };
        if changed && !is_trace || !gained.is_empty() {
            self.done.insert(key);
        }
        let turn = self.turn(action, &reply, (&from, &before, score), (died, changed));
        if died {
            self.restart();
        }
        Outcome { turn, failed }
    }

    fn is_possible(&self, key: &(u64, String), turn: &Recorded) -> bool {
        let is_found =
            turn.gained.iter().all(|item| self.lost.contains(item) && !self.carried.contains(item));
        let again =
            turn.moved || turn.died || !self.done.contains(key) || !turn.gained.is_empty() && is_found;
        let has_not = |item: &String| !self.carried.contains(item);
        !turn.changed || again && turn.gained.iter().all(has_not) && !turn.lost.iter().any(has_not)
    }

    /// The reply to an action that does nothing here: the first refusal of that action here, else elsewhere, else
    /// of any direction, if it is one.
    fn refusal(&self, action: &str) -> &str {
        let first = |is_meant: &dyn Fn(u64, &str) -> bool| {
            let meant = self.recorded.iter().filter(|((place, other), _)| is_meant(*place, other));
            meant.flat_map(|(_, turns)| turns).find(|turn| turn.refused && !turn.changed)
        };
        let here = first(&|place, other| place == self.place() && other == action);
        let refused = here.or_else(|| first(&|_, other| other == action)).or_else(|| {
            let is_direction = |action: &str| DIRECTIONS.contains(&action);
            first(&|_, other| is_direction(action) && is_direction(other))
        });
        refused.map_or("You can't do that here.", |turn| &turn.reply)
    }

    fn turn(
        &self,
        action: &str,
        reply: &str,
        (from, before, score): (&Value, &[String], i64),
        (died, changed): (bool, bool),
    ) -> Value {
        json!({
            "action": action, "response": reply, "location_before": from, "location_after": self.place,
            "score_before": score, "score_after": self.score, "inventory_before": before,
            "inventory_after": self.carried, "died": died, "world_changed": changed,
        })
    }
}

impl Recorded {
    fn of(turn: &Value) -> Recorded {
        let (before, after) = (texts(&turn["inventory_before"]), texts(&turn["inventory_after"]));
        let without = |one: &[String], other: &[String]| {
            one.iter().filter(|item| !other.contains(item)).cloned().collect::<Vec<_>>()
        };
        let (gained, lost) = (without(&after, &before), without(&before, &after));
        let moved = id(&turn["location_before"]) != id(&turn["location_after"]);
        let died = turn["died"] == true;
        let points = turn["score_after"].as_i64().unwrap_or(0) - turn["score_before"].as_i64().unwrap_or(0);
        Recorded {
            reply: text(&turn["response"]).to_owned(),
            to: turn["location_after"].clone(),
            changed: moved || died || before != after || points != 0 || turn["valid"] == true,
            refused: matches!(text(&turn["outcome"]), "refused" | "parse_error"),
            moved,
            died,
            points,
            before,
            gained,
            lost,
        }
    }

    /// In how many items its inventory differed.
    fn distance(&self, carried: &[String]) -> usize {
        let without =
            |one: &[String], other: &[String]| one.iter().filter(|item| !other.contains(item)).count();
        without(&self.before, carried) + without(carried, &self.before)
    }
}

fn id(place: &Value) -> u64 {
    place["id"].as_u64().expect("a place has an id")
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(|item| text(item).to_owned()).collect()
}
