//! The kind of a subject by the word of another program.

use crate::found::Subject;
use crate::json::is_any;

/// Words for people and other characters.
const PEOPLE: &str = "\
    character npc person people human user friend creature monster animal companion colleague contact \
    customer employee family enemy deity individual player";

/// Words for places.
const PLACES: &str = "\
    location place room area region city town village building country dungeon house landmark settlement";

/// The subject of that name and kind; a kind that no list has is a topic.
pub(crate) fn subject(kind: &str, name: &str) -> Subject {
    let name = name.trim().to_owned();
    let word = word(kind);
    if is_any(&word, PEOPLE) {
        Subject::Person(name)
    } else if is_any(&word, PLACES) {
        Subject::Place(name)
    } else if word == "agent" || word == "assistant" {
        Subject::Agent(name)
    } else {
        Subject::Topic(name)
    }
}

/// A word in the singular and in lower case.
fn word(kind: &str) -> String {
    let kind = kind.trim().to_lowercase();
    let singular = |ending: &str, new: &str| kind.strip_suffix(ending).map(|stem| format!("{stem}{new}"));
    singular("ies", "y").or_else(|| singular("s", "")).unwrap_or(kind)
}

/// A word as a tag: `race:elf` of a kind `Elf`. None for a blank one.
pub(crate) fn tag(name: &str, value: &str) -> Option<String> {
    let words: Vec<&str> =
        value.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    (!words.is_empty()).then(|| format!("{name}:{}", words.join("-").to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_read_in_any_case_and_number() {
        let name = || "X".to_owned();
        for (kind, expected) in [
            ("Characters", Subject::Person(name())),
            ("npc", Subject::Person(name())),
            ("Cities", Subject::Place(name())),
            ("assistant", Subject::Agent(name())),
            ("race", Subject::Topic(name())),
            ("", Subject::Topic(name())),
        ] {
            assert_eq!(subject(kind, " X "), expected, "{kind}");
        }
        assert_eq!(tag("type", " A b! "), Some("type:a-b".to_owned()));
        assert_eq!(tag("type", "?"), None);
    }
}
