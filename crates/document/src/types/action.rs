//! Actions as they are compared: the words that every parser treats alike are one.

use crate::types::direction::Direction;
use crate::types::text;

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
