//! Evidence of play: tried actions, ways, and what was carried when.

use serde::{Deserialize, Serialize};

use crate::types::direction::Direction;
use crate::types::text;

/// An action and its last reply: in `### Tried` one after which score, place, inventory and life were the same,
/// in `### Worked` one that did change something, without reply.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Attempt {
    /// The action in its first wording.
    pub action: String,
    /// Number of tries.
    pub count: u64,
    /// Episode of the last try.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub episode: Option<u64>,
    /// Turn of the last try.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// The beginning of the last reply, on one line.
    pub reply: String,
    /// The caller gave no facts by which to tell whether the action changed something.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub effect_unknown: bool,
    /// The action is a direction, and who went there died.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deadly: bool,
}

/// A way that was walked: a line of `### Ways`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Way {
    /// The action in its first wording.
    pub action: String,
    /// Id of the place to which it led.
    pub to: u64,
    /// Name of that place; may be empty.
    #[serde(default)]
    pub name: String,
    /// How often it led there.
    #[serde(default = "once")]
    pub count: u64,
    /// Episode of the last time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub episode: Option<u64>,
    /// Turn of the last time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// Items that were carried, and had been lacking when the action was refused here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused_without: Vec<String>,
}

/// The items that came and went in one episode: a line of `### Carried`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carried {
    /// The episode.
    pub episode: u64,
    /// In the order in which they were recorded.
    pub changes: Vec<CarriedChange>,
}

/// The items that came and went in one turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CarriedChange {
    /// The turn that made the change.
    pub turn: u64,
    /// Items that came, each as often as it came.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gained: Vec<String>,
    /// Items that went.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<String>,
}

/// The count of a way that states none.
fn once() -> u64 {
    1
}

impl Carried {
    /// The items that are carried after the last recorded turn.
    pub fn now(&self) -> Vec<String> {
        self.at(u64::MAX)
    }

    /// The items that were carried when a turn began.
    pub fn at(&self, turn: u64) -> Vec<String> {
        let mut items: Vec<String> = Vec::new();
        for change in self.changes.iter().filter(|change| change.turn < turn) {
            for lost in &change.lost {
                if let Some(at) = items.iter().position(|item| is_same_item(item, lost)) {
                    items.remove(at);
                }
            }
            items.extend(change.gained.iter().cloned());
        }
        items
    }
}

/// The items that were carried when a turn of an episode began, by the lines of all episodes. Nothing was carried in an
/// episode without a line. `None` where nobody knows: no number comes before that of turn 0.
pub(crate) fn carried_at(lines: &[Carried], episode: u64, turn: u64) -> Option<Vec<String>> {
    match lines.iter().find(|line| line.episode == episode) {
        Some(_) if turn == 0 => None,
        line => Some(line.map(|line| line.at(turn)).unwrap_or_default()),
    }
}

/// The items of `now` that `then` does not have, each as often as it lacks.
pub fn gained_since(now: &[String], then: &[String]) -> Vec<String> {
    let mut gained = now.to_vec();
    for item in then {
        if let Some(at) = gained.iter().position(|other| is_same_item(item, other)) {
            gained.remove(at);
        }
    }
    gained
}

/// True if two names are those of the same item: case and surplus space do not count.
fn is_same_item(one: &str, other: &str) -> bool {
    let folded = |name: &str| text::fold_spaces(name).to_lowercase();
    folded(one) == folded(other)
}

/// The form in which actions are compared: lower case, single spaces, and one name for each direction.
pub fn fold_action(action: &str) -> String {
    if let Some(direction) = Direction::of(action) {
        return direction.name().to_owned();
    }
    let has_single_spaces = action.trim() == action && !action.contains("  ");
    if has_single_spaces && action.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') {
        return action.to_ascii_lowercase();
    }
    let folded = text::fold_spaces(action).to_lowercase();
    Direction::of(&folded).map_or(folded, |direction| direction.name().to_owned())
}
