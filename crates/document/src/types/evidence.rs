//! Evidence of play: ways, and actions that worked, were tried, or only looked.

use serde::{Deserialize, Serialize};

use crate::types::direction::Direction;
use crate::types::{lenient, text};

/// An action and its last reply: in `### Tried` one after which nothing was seen to change, in `### Worked` one that did
/// change something, without reply, in `### Seen` one that only looked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize)]
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
    /// The result of the last try.
    #[serde(skip_serializing_if = "TryResult::is_vain")]
    pub result: TryResult,
}

/// The result of a tried action: the last field of its mark in the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[derive(Serialize, Deserialize, strum::IntoStaticStr, strum::EnumString, strum::VariantArray)]
#[serde(rename_all = "snake_case")]
pub enum TryResult {
    /// It was refused, or nothing happened. A line without a field says so.
    #[default]
    #[strum(serialize = "")]
    Vain,
    /// Something that may pass was in the way: a lock, the dark, a guard, or the thing was not there.
    #[strum(serialize = "blocked")]
    Blocked,
    /// It is a direction, and it killed.
    #[strum(serialize = "deadly")]
    Deadly,
    /// It is a direction, and the player died of something that it may have nothing to do with.
    #[strum(serialize = "died")]
    Died,
    /// Nobody knows whether it changed something.
    #[strum(serialize = "effect unknown")]
    Unknown,
    /// The facts of the turn show no change, and the reply is of no known class.
    #[strum(serialize = "no effect seen")]
    Unseen,
}

impl TryResult {
    /// The field in the file; empty for [`TryResult::Vain`].
    pub fn field(self) -> &'static str {
        self.into()
    }

    /// True if the action was refused, or nothing happened.
    pub fn is_vain(&self) -> bool {
        *self == TryResult::Vain
    }

    /// True if it is not known whether the action changed something.
    pub fn is_unknown(self) -> bool {
        matches!(self, TryResult::Unknown | TryResult::Unseen | TryResult::Died)
    }
}

/// A way that was walked: a line of `### Ways`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Way {
    /// The action in its first wording.
    pub action: String,
    /// Id of the place to which it led.
    #[serde(deserialize_with = "lenient::count_of")]
    pub to: u64,
    /// Name of that place; may be empty.
    #[serde(default)]
    pub name: String,
    /// How often it led there.
    #[serde(default = "once", deserialize_with = "lenient::count_of")]
    pub count: u64,
    /// Episode of the last time.
    #[serde(default, deserialize_with = "lenient::count_if_any", skip_serializing_if = "Option::is_none")]
    pub episode: Option<u64>,
    /// Turn of the last time.
    #[serde(default, deserialize_with = "lenient::count_if_any", skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// Actions at its place that opened it, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
}

impl Way {
    /// The folded action, and the id of the place to which it led. Two lines with one key are about the same way.
    pub fn key(&self) -> (String, u64) {
        (fold_action(&self.action), self.to)
    }
}

/// The count of a way that states none.
fn once() -> u64 {
    1
}

/// Verbs that every parser treats alike, each with the one that stands for it.
const VERBS: [(&str, &str); 10] = [
    ("get", "take"),
    ("x", "examine"),
    ("press", "push"),
    ("shut", "close"),
    ("hit", "attack"),
    ("kill", "attack"),
    ("l", "look"),
    ("i", "inventory"),
    ("inv", "inventory"),
    ("z", "wait"),
];

/// Words behind `get` with which it is another verb than `take`.
const GET_PARTICLES: [&str; 10] =
    ["up", "in", "on", "out", "off", "into", "onto", "down", "inside", "outside"];

/// Words that say nothing of what an action is about.
const ARTICLES: [&str; 4] = ["the", "a", "an", "some"];

/// The words of an action as a parser reads them: lower case, single spaces, no prompt, no "I", no articles and no end
/// mark. Spellings of a direction stay apart.
pub fn fold_words(action: &str) -> String {
    let lower = text::fold_case(&text::fold_spaces(action));
    let bare = lower.trim_start_matches(['>', ' ']).trim_end_matches(['.', '!', '?', ' ']);
    let mut words: Vec<&str> = bare.split(' ').collect();
    if words.len() > 1 && words[0] == "i" {
        words.remove(0);
    }
    if words.len() > 1 && words.iter().any(|word| ARTICLES.contains(word)) {
        let last = words.len() - 1;
        let mut at = 0;
        words.retain(|word| {
            at += 1;
            at == 1 || at > last || !ARTICLES.contains(word)
        });
    }
    let folded = words.join(" ");
    // An action of marks alone is itself.
    if folded.is_empty() { lower } else { folded }
}

/// The form in which actions are compared: that of [`fold_words`], with one name for each direction and for verbs that
/// every parser treats alike.
pub fn fold_action(action: &str) -> String {
    if let Some(direction) = Direction::of(action) {
        return direction.name().to_owned();
    }
    let folded = fold_words(action);
    if let Some(direction) = Direction::of(&folded) {
        return direction.name().to_owned();
    }
    one_verb(&folded).unwrap_or(folded)
}

/// True if two actions are one as they are compared.
pub fn is_same_action(one: &str, other: &str) -> bool {
    one == other || fold_action(one) == fold_action(other)
}

/// True if an action asks for what goes along with the player, and so shows the same at every place.
pub fn asks_for_status(action: &str) -> bool {
    matches!(fold_action(action).as_str(), "inventory" | "score" | "diagnose")
}

/// The action with the verb that stands for all of its kind; `None` where it has that verb.
fn one_verb(folded: &str) -> Option<String> {
    let (verb, rest) = folded.split_once(' ').unwrap_or((folded, ""));
    match verb {
        "get" if rest.is_empty() || GET_PARTICLES.contains(&rest.split(' ').next().unwrap_or_default()) => {
            None
        }
        "i" | "inv" | "z" if !rest.is_empty() => None,
        "look" | "l" if rest.starts_with("at ") => Some(format!("examine {}", &rest[3..])),
        "pick" => {
            let thing = rest.strip_prefix("up ").or_else(|| rest.strip_suffix(" up"))?;
            Some(format!("take {thing}"))
        }
        _ => {
            let (_, one) = VERBS.iter().find(|(other, _)| *other == verb)?;
            Some(format!("{one} {rest}").trim_end().to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_every_parser_treats_alike_are_one_action() {
        for (one, other) in [
            ("take rug", "> Take the rug."),
            ("get rug", "pick up a rug"),
            ("pick rug up", "I take the rug!"),
            ("x desk", "examine the desk"),
            ("look at desk", "EXAMINE DESK"),
            ("press button", "push button"),
            ("shut door", "close the door"),
            ("kill troll with sword", "hit the troll with the sword"),
            ("n", "go North."),
            ("l", "look"),
            ("I", "inventory"),
            ("z", "wait."),
        ] {
            assert_eq!(fold_action(one), fold_action(other), "{one:?} {other:?}");
        }
        for (one, other) in [
            ("get up", "take up"),
            ("get in boat", "take in boat"),
            ("take off hat", "take hat"),
            ("type a", "type"),
            ("the", ""),
            (">", "."),
            ("open door", "close door"),
            ("z 3", "wait 3"),
        ] {
            assert_ne!(fold_action(one), fold_action(other), "{one:?} {other:?}");
        }
    }

    #[test]
    fn spellings_of_a_direction_are_apart_as_words() {
        assert_ne!(fold_words("nw"), fold_words("Northwest"));
        assert_eq!(fold_words("> Northwest."), fold_words("northwest"));
    }
}
