//! Character cards: V1 is flat, V2 and V3 have their fields below `data`.

use serde_json::Value;

use crate::found::{Found, Note, Subject};
use crate::json::{Object, date, leave_out_keys, text, texts};
use crate::world_info;

/// Texts of a card, with the titles of their memories.
const TEXTS: [(&str, &str); 7] = [
    ("description", "Description"),
    ("personality", "Personality"),
    ("scenario", "Scenario"),
    ("first_mes", "Greeting"),
    ("mes_example", "Example of dialogue"),
    ("creator_notes", "Notes of the creator"),
    ("nickname", "Nickname"),
];

/// Lists of further greetings.
const GREETINGS: [(&str, &str); 2] =
    [("alternate_greetings", "Greeting"), ("group_only_greetings", "Greeting of a group")];

/// Other keys that are read.
const KNOWN: &str = "\
    name tags creator character_version creation_date modification_date character_book source spec \
    spec_version data create_date";

/// What a model is told.
const INSTRUCTIONS: [&str; 2] = ["system_prompt", "post_history_instructions"];

/// True for a card: it says so, or it has the fields of V1.
pub(crate) fn is_one(card: &Object) -> bool {
    let says_so =
        text(card, "spec").starts_with("chara_card_v") && card.get("data").is_some_and(Value::is_object);
    says_so || card.contains_key("name") && card.contains_key("description") && card.contains_key("first_mes")
}

/// Reads a card.
pub(crate) fn read(found: &mut Found, value: &Value) {
    let Some(card) = value.as_object() else { return found.leave_out("cards", 1, "they are no objects") };
    // Beside `data` stand copies of its texts, for programs that know only V1.
    let data = card.get("data").and_then(Value::as_object).unwrap_or(card);
    let name = text(data, "name");
    let subject = if name.is_empty() { Subject::Unsaid } else { Subject::Person(name.clone()) };
    if !name.is_empty() {
        found.subjects.push(subject.clone());
    }
    let date = date(data, &["modification_date", "creation_date"])
        .or_else(|| crate::json::date(card, &["create_date"]));
    let tags: Vec<String> =
        texts(data, "tags").iter().filter_map(|tag| crate::kind::tag("tag", tag)).collect();
    let mut add = |title: &str, text: &str, context: Option<String>| {
        if !text.trim().is_empty() {
            let note =
                Note { date: date.clone(), tags: tags.clone(), context, ..Note::of(subject.clone(), text) };
            found.take(note.titled(title));
        }
    };
    let mut about = about(data);
    for (key, title) in TEXTS {
        let text = text(data, key);
        let context = if text.is_empty() { None } else { about.take() };
        add(title, &text, context);
    }
    for (key, title) in GREETINGS {
        let list = data.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        list.for_each(|text| add(title, text, None));
    }
    for key in INSTRUCTIONS.iter().filter(|key| !text(data, key).is_empty()) {
        found.leave_out(&format!("`{key}`"), 1, "instructions to a model are no memories");
    }
    let known: Vec<&str> =
        TEXTS.iter().chain(&GREETINGS).map(|(key, _)| *key).chain([KNOWN]).chain(INSTRUCTIONS).collect();
    leave_out_keys(found, data, &known.join(" "), "");
    if let Some(Value::Object(book)) = data.get("character_book") {
        world_info::read(found, book);
    }
}

/// Who made the card, which version it is, and where it is from.
fn about(data: &Object) -> Option<String> {
    let mut about = Vec::new();
    for (key, words) in [("creator", "card by"), ("character_version", "version")] {
        let text = text(data, key);
        if !text.is_empty() {
            about.push(format!("{words} {text}"));
        }
    }
    about.extend(texts(data, "source"));
    (!about.is_empty()).then(|| about.join(", "))
}
