//! Recognises what a game says of an action that it did not carry out, and actions that try nothing.
//!
//! Short lists of common English; nothing here is specific to a single game. They are needed where a caller does not
//! say whether the world changed.

use crate::document::text::stored_line;
use crate::record::rules::sentences::is_refusal;

/// Longest reply that a negation alone makes a refusal, in characters.
const MAX_NEGATION_CHARS: usize = 100;

/// Actions by their first word whose use is their answer, or the passing of time.
const IDLE_VERBS: &[&str] = &[
    "look",
    "l",
    "examine",
    "x",
    "inspect",
    "describe",
    "read",
    "inventory",
    "inv",
    "i",
    "score",
    "diagnose",
    "wait",
    "wait1",
    "z",
    "time",
    "listen",
    "smell",
    "measure",
    "weigh",
];

/// Parts of the first sentence by which a parser says that it did not understand.
const NOT_UNDERSTOOD: &[&str] = &[
    "know the word",
    "i don't understand",
    "i didn't understand",
    "i do not understand",
    "i did not understand",
    "not understood",
    "only understood",
    "not a verb",
    "n't a verb",
    "no verb",
    "i recogni",
    "i don't recogni",
    "i do not recogni",
    "is not recogni",
    "isn't recogni",
    "unknown command",
    "unknown verb",
    "no known action",
    "beg your pardon",
];

const NEGATIONS: &[&str] = &[
    "no",
    "not",
    "nobody",
    "nothing",
    "never",
    "none",
    "nowhere",
    "cannot",
    "without",
    "hardly",
    "too",
    "unable",
    "impossible",
    "fail",
    "fails",
    "failed",
    "refuse",
    "refuses",
    "useless",
    "pointless",
    "nor",
    "neither",
];

/// True if an action only looks, waits or measures.
pub(super) fn is_idle(action: &str) -> bool {
    let folded = action.to_lowercase();
    let mut words = folded.split_whitespace();
    let first = words.next().unwrap_or_default();
    IDLE_VERBS.contains(&first) || (first == "use" && words.any(|word| word.ends_with("meter")))
}

/// True if the game's parser did not understand the action.
pub(super) fn is_not_understood(reply: &str) -> bool {
    let sentence = first_sentence(reply);
    NOT_UNDERSTOOD.iter().any(|part| sentence.contains(part))
}

/// True if a reply refuses the action. One that says `already` speaks of an action that worked before.
pub(super) fn refuses(reply: &str) -> bool {
    let line = folded(reply);
    if line.contains("already") {
        return false;
    }
    let is_negation = |word: &str| NEGATIONS.contains(&word) || word.ends_with("n't");
    let mut words = line.split(|c: char| !(c.is_alphanumeric() || c == '\''));
    let denies = line.chars().count() <= MAX_NEGATION_CHARS && words.any(is_negation);
    denies || is_refusal(&first_sentence(reply))
}

fn folded(reply: &str) -> String {
    stored_line(reply).to_lowercase().replace('’', "'")
}

/// The first sentence, in lower case.
fn first_sentence(reply: &str) -> String {
    let line = folded(reply);
    let end = [". ", "! ", "? "].iter().filter_map(|end| line.find(end)).min();
    line[..end.map_or(line.len(), |end| end + 1)].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_told_from_answers() {
        for reply in [
            "You can't go that way.",
            "The door won’t budge.",
            "It is too dark to see.",
            "Nothing happens.",
            "Never!",
        ] {
            assert!(refuses(reply), "{reply}");
        }
        for reply in ["It is already open.", "With great effort, you open the window.", "Taken.", ""] {
            assert!(!refuses(reply), "{reply}");
        }
    }

    #[test]
    fn a_parser_that_does_not_understand() {
        assert!(is_not_understood("I don't know the word \"frotz\"."));
        assert!(is_not_understood("That's not a verb I recognise."));
        assert!(!is_not_understood("The guard nods. \"I don't understand you\", he says."));
        assert!(!is_not_understood("You can't see any rope here!"));
        // With a sword in hand it would not ask.
        assert!(!is_not_understood("What do you want to attack the troll with?"));
    }

    #[test]
    fn the_first_sentence_has_its_end() {
        assert_eq!(first_sentence("Ouch! That hurt. Go?"), "ouch!");
        assert_eq!(first_sentence("What? No."), "what?");
        assert_eq!(first_sentence("It is 3.5 m"), "it is 3.5 m");
    }

    #[test]
    fn looking_and_waiting_try_nothing() {
        for action in ["look", "X lamp", "wait", "z", "read leaflet", "use thermometer on beaker"] {
            assert!(is_idle(action), "{action}");
        }
        for action in ["search desk", "use key on door", "take lamp", "", "xyzzy"] {
            assert!(!is_idle(action), "{action}");
        }
    }
}
