//! An invented game as recorded turns, of which no rule of the program knows anything.
//!
//! A seed enters; turns leave, one JSON object a line, with other places, things and replies than the recorded game
//! has. Places lie on a grid with walls. Some doors need a key, some things need a tool, one place kills who comes
//! without a lamp; each action that does something here is refused with one of few replies elsewhere.

use serde_json::{Value, json};

use super::dice::Dice;
use super::world::DIRECTIONS;

const SIDE: usize = 6;
const THINGS: [&str; 12] = [
    "copper key",
    "lantern",
    "crowbar",
    "map",
    "flask",
    "rope",
    "bell",
    "mirror",
    "chalk",
    "gloves",
    "seed",
    "whistle",
];
const FIXTURES: [&str; 9] =
    ["hatch", "statue", "crate", "fountain", "lever", "portrait", "stove", "gate wheel", "altar"];
const VERBS: [&str; 7] = ["push", "climb", "eat", "burn", "turn", "open", "talk to"];

/// A turn that somebody played: place, action, reply.
struct Play<'a> {
    lines: &'a mut Vec<String>,
    at: usize,
    carried: Vec<&'static str>,
}

impl Play<'_> {
    /// Writes a turn; `points` and `gained` are what it brought.
    fn turn(&mut self, action: &str, reply: &str, to: usize, gained: Option<&'static str>, how: How) {
        let before = self.carried.clone();
        let mut after = before.clone();
        after.extend(gained);
        let points = if gained.is_some() { 5 } else { 0 };
        let (changed, outcome) = match how {
            How::Works => (true, "ok"),
            How::Kills => (true, "died"),
            How::Refused => (false, "refused"),
        };
        let turn = json!({
            "action": action, "response": reply, "location_before": place(self.at), "location_after": place(to),
            "score_before": 0, "score_after": points, "inventory_before": before, "inventory_after": after,
            "died": matches!(how, How::Kills), "valid": changed, "outcome": outcome,
        });
        self.lines.push(turn.to_string());
    }
}

#[derive(Clone, Copy)]
enum How {
    Works,
    Kills,
    Refused,
}

fn place(at: usize) -> Value {
    json!({"id": 500 + 7 * at, "name": format!("{} Court", ["Amber", "Birch", "Cedar", "Dusk"][at % 4])})
}

/// The turns of a game.
pub fn turns(seed: u64) -> String {
    let mut dice = Dice::of(seed);
    let mut lines = Vec::new();
    let dark = SIDE * SIDE - 2;
    for at in 0..SIDE * SIDE {
        let mut play = Play { lines: &mut lines, at, carried: Vec::new() };
        walk(&mut play, &mut dice, dark);
        for number in 0..2 {
            let fixture = FIXTURES[(at * 2 + number + dice.below(2)) % FIXTURES.len()];
            handle(&mut play, &mut dice, fixture);
        }
        for _ in 0..1 + dice.below(2) {
            let thing = THINGS[dice.below(THINGS.len())];
            play.turn(&format!("take {thing}"), "It is yours now.", at, Some(thing), How::Works);
        }
        for word in ["frobnicate", "xyzzy"] {
            play.turn(word, &format!("\"{word}\" is not a verb I know."), at, None, How::Refused);
        }
    }
    lines.join("\n")
}

fn walk(play: &mut Play<'_>, dice: &mut Dice, dark: usize) {
    let (column, row) = (play.at % SIDE, play.at / SIDE);
    let to = [
        (row > 0).then(|| play.at - SIDE),
        (row + 1 < SIDE).then(|| play.at + SIDE),
        (column + 1 < SIDE).then(|| play.at + 1),
        (column > 0).then(|| play.at - 1),
    ];
    for (direction, to) in DIRECTIONS.iter().zip(to.into_iter().chain([None; 8])) {
        let kind = dice.below(10);
        match to {
            Some(to) if to == dark => {
                play.turn(direction, "The floor is gone. You have died.", play.at, None, How::Kills);
                play.carried = vec!["lantern"];
                play.turn(direction, "The lantern shows a ledge.", to, None, How::Works);
                play.carried.clear();
            }
            // South and east are open, so nobody is shut in.
            Some(to) if kind < 3 && to < play.at => {
                play.turn(direction, "The iron door is locked.", play.at, None, How::Refused);
                play.carried = vec!["copper key"];
                play.turn(direction, "The key fits. You walk on.", to, None, How::Works);
                play.carried.clear();
            }
            Some(to) => play.turn(direction, "You walk on.", to, None, How::Works),
            None if kind < 8 => {
                play.turn(direction, "A wall of brick is there.", play.at, None, How::Refused)
            }
            None => {
                play.turn(direction, "Thorns grow there, too thick to pass.", play.at, None, How::Refused)
            }
        }
    }
}

fn handle(play: &mut Play<'_>, dice: &mut Dice, fixture: &str) {
    let replies = [
        format!("The {fixture} stays as it is."),
        "Nothing comes of it.".to_owned(),
        "That would be rude.".to_owned(),
    ];
    let at = play.at;
    for verb in VERBS {
        let action = format!("{verb} {fixture}");
        match dice.below(12) {
            0 => play.turn(&action, &format!("The {fixture} moves with a groan."), at, None, How::Works),
            1 => {
                play.turn(&action, &format!("The {fixture} will not move by hand."), at, None, How::Refused);
                play.carried = vec!["crowbar"];
                play.turn(&action, "With the crowbar it gives way.", at, None, How::Works);
                play.carried.clear();
            }
            kind => play.turn(&action, &replies[kind % replies.len()], at, None, How::Refused),
        }
    }
}
