//! Reads the JSON object in a model's answer, and judges its fields.
//!
//! A text enters; an object leaves, or the reason why there is none. Well-formed answers are parsed
//! directly. Others may be fenced, wrapped in an array or in a string, surrounded by prose, preceded by
//! reasoning (`<think>…</think>`), or slightly broken. Nothing is invented: a value that is cut off is
//! left out. No input panics, and the work is bounded.

use serde_json::{Map, Value};

use crate::lenient;
use memories_document::types::json::text_without_mark;
use memories_document::types::text::fold_spaces;

/// Brackets of one text that may lead to nothing; a text with more is not an answer.
const TRIES: usize = 500;

/// Brackets at which a broken object is tried; each try may read to the end of the text.
const LENIENT_TRIES: usize = 50;

/// The object that the model meant.
///
/// If there are several, the last one counts, because models correct themselves and quote before they answer; of a list
/// that is valid JSON the first.
///
/// # Errors
///
/// Why there is none.
pub fn parse_object(text: &str) -> Result<Map<String, Value>, String> {
    let Found { mut objects, is_list } = find(text)?;
    let object = if is_list { Some(objects.swap_remove(0)) } else { objects.pop() };
    object.ok_or_else(|| NO_OBJECT.to_owned())
}

/// The objects that the model meant: those of a list, else one. Objects with nothing but commas and white space between
/// them are a list.
///
/// # Errors
///
/// Why there is none.
pub fn parse_objects(text: &str) -> Result<Vec<Map<String, Value>>, String> {
    Ok(find(text)?.objects)
}

const NO_OBJECT: &str = "the answer holds no JSON object";

/// Objects that belong together, at least one.
struct Found {
    objects: Vec<Map<String, Value>>,
    /// They are the items of a well-formed list.
    is_list: bool,
}

fn find(text: &str) -> Result<Found, String> {
    let text = text_without_mark(text).trim();
    if text.is_empty() {
        return Err("the answer is empty".to_owned());
    }
    if let Some(found) = parse_whole(text) {
        return Ok(found);
    }
    if let Some((_, said)) = text.rsplit_once("</think>")
        && let Some(found) = parse_last(said)
    {
        return Ok(found);
    }
    parse_last(text).ok_or_else(|| NO_OBJECT.to_owned())
}

/// The objects in a text that is valid JSON: as they are, in an array, or written as a string.
fn parse_whole(text: &str) -> Option<Found> {
    match serde_json::from_str(text).ok()? {
        Value::String(inner) => objects_of(serde_json::from_str(&inner).ok()?),
        value => objects_of(value),
    }
}

fn objects_of(value: Value) -> Option<Found> {
    let (items, is_list) = match value {
        Value::Array(items) => (items, true),
        value => (vec![value], false),
    };
    let objects = items.into_iter().filter_map(|item| match item {
        Value::Object(object) => Some(object),
        _ => None,
    });
    let objects: Vec<Map<String, Value>> = objects.collect();
    (!objects.is_empty()).then_some(Found { objects, is_list })
}

/// The last objects anywhere in the text. An empty object does not replace one with content, and an object
/// that the end of the text cuts off does not replace a complete one.
fn parse_last(text: &str) -> Option<Found> {
    let mut best: Option<Found> = None;
    let (mut tries, mut position, mut end) = (0, 0, 0);
    while let Some(found) = text[position..].find(['{', '[']) {
        let start = position + found;
        let follows = text[end..start].chars().all(|c| c == ',' || c.is_whitespace());
        if let Some((found, length)) = parse_strict(&text[start..]) {
            position = start + length;
            end = position;
            keep_better(&mut best, found, follows);
            continue;
        }
        position = start + 1;
        tries += 1;
        if tries > TRIES {
            break;
        }
        if tries > LENIENT_TRIES || !text[start..].starts_with('{') {
            continue;
        }
        let Some(found) = lenient::parse_object(&text[start..]) else {
            continue;
        };
        let object = Found { objects: vec![found.object], is_list: false };
        if !found.complete {
            return best.filter(|best| best.objects.iter().any(|object| !object.is_empty())).or(Some(object));
        }
        position = start + found.length;
        end = position;
        keep_better(&mut best, object, follows);
    }
    best
}

/// Adds what was found to the best, which it follows directly, or replaces it.
fn keep_better(best: &mut Option<Found>, found: Found, follows: bool) {
    let is_empty = found.objects.iter().all(Map::is_empty);
    match best {
        Some(_) if is_empty => {}
        Some(best) if follows && !found.is_list && !best.is_list => best.objects.extend(found.objects),
        _ => *best = Some(found),
    }
}

/// The well-formed object, or the array around some, at the start of the text.
fn parse_strict(text: &str) -> Option<(Found, usize)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let found = objects_of(values.next()?.ok()?)?;
    Some((found, values.byte_offset()))
}

/// A text field of an answer, trimmed; empty if absent.
pub fn text_of(answer: &Map<String, Value>, name: &str) -> String {
    answer.get(name).and_then(Value::as_str).unwrap_or_default().trim().to_owned()
}

/// A boolean, also in the form of a word.
pub fn flag_of(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::String(text) => match text.trim().to_lowercase().as_str() {
            "true" | "yes" => Some(true),
            "false" | "no" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// Characters in common with the instructions that count as a repetition of them.
const REPEATED_CHARS: usize = 60;

/// Names of the schema that a model returns when it has nothing to say.
const SCHEMA_NAMES: [&str; 9] = [
    "memory title",
    "memory_title",
    "memory_text",
    "title",
    "string",
    "should_remember",
    "short title",
    "exact title",
    "turn",
];

/// Why a title is unusable although it fits the schema.
pub fn title_problem(title: &str) -> Option<&'static str> {
    let shouted = title.contains('_') && !title.chars().any(char::is_lowercase);
    if !title.chars().any(char::is_alphanumeric) {
        return Some("it has no title");
    }
    let named = SCHEMA_NAMES.contains(&title.to_lowercase().as_str());
    (shouted || named).then_some("its title is a name of the schema")
}

/// Why a text is unusable although it fits the schema. `instructions` are those that the model was given.
pub fn text_problem(text: &str, instructions: &str) -> Option<&'static str> {
    if text.chars().filter(|c| c.is_alphanumeric()).count() < 3 {
        return Some("it has no text");
    }
    if SCHEMA_NAMES.contains(&text.to_lowercase().as_str()) {
        return Some("its text is a name of the schema");
    }
    let (text, instructions) = (fold_spaces(text), fold_spaces(instructions));
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).step_by(20).collect();
    let repeats = starts.iter().any(|&start| {
        let end = text[start..].char_indices().nth(REPEATED_CHARS).map(|(length, _)| start + length);
        end.is_some_and(|end| instructions.contains(&text[start..end]))
    });
    repeats.then_some("its text repeats the instructions")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Value {
        match parse_object(text) {
            Ok(object) => Value::Object(object),
            Err(problem) => Value::String(problem),
        }
    }

    #[test]
    fn well_formed_answers() {
        let object = json!({"title": "Take lamp", "supersedes": ["a", "b"], "n": 3});
        let plain = object.to_string();
        for text in [
            plain.clone(),
            format!("\u{feff}\n {plain}\n"),
            format!("```json\n{plain}\n```"),
            format!("```\n{plain}\n```"),
            format!("[{plain}]"),
            format!("```json\n[{plain}]\n```\nDone."),
            Value::String(plain.clone()).to_string(),
            format!("<think>\nIs {{this}} worth it? {{\"title\": \"no\"}}\n</think>\n\n{plain}"),
            format!("The title is \"lamp\".\n</think>\n{plain}"),
            format!("<think>I would say\n{plain}"),
            format!("Sure! Here's what I'd keep: {plain} Hope {{that}} helps {{}}"),
            format!("First {{\"title\": \"draft\"}}, better: {plain}"),
            format!("{{ not this, but {plain}"),
        ] {
            assert_eq!(read(&text), object, "{text}");
        }
    }

    #[test]
    fn a_list_has_all_its_objects() {
        for (text, objects) in [
            (r#"[{"a": 1}, {"a": 2}]"#, 2),
            (
                r#"Here: ```json
[{"a": 1}, {"a": 2},]```"#,
                2,
            ),
            ("{\"a\": 1}\n{\"a\": 2}\n", 2),
            (r#"{"a": 1} and {"a": 2}"#, 1),
            (r#"[{"a": 1}, 7, {"a": 2}]"#, 2),
            (r#"[{"a": 1}, {"a": 2}, {"a": "cu"#, 2),
        ] {
            assert_eq!(parse_objects(text).map(|found| found.len()), Ok(objects), "{text}");
        }
    }

    #[test]
    fn closing_thoughts_inside_a_text_do_not_hide_the_answer() {
        let object = json!({"text": "</think> {\"forged\": 1}", "n": 1});
        assert_eq!(read(&object.to_string()), object);
        assert_eq!(read(&format!("Here: {object}")), object);
    }

    #[test]
    fn slightly_broken_answers() {
        let object = json!({"ok": true, "title": "Don't jump", "list": [1, 2]});
        for text in [
            r#"{"ok": true, "title": "Don't jump", "list": [1, 2,],}"#,
            r#"{"ok": True, "title": "Don't jump", "list": [1, 2]}"#,
            r#"{'ok': True, 'title': "Don't jump", 'list': [1, 2]}"#,
            r#"{'ok': True, 'title': 'Don't jump', 'list': [1, 2]}"#,
            r#"{'ok': True, 'title': 'Don\'t jump', 'list': [1, 2]}"#,
            r#"{ok: true, title: "Don't jump", list: [1, 2]}"#,
            r#"{"ok": true, "title": "Don't jump", "list": [1, 2]"#,
            r#"{"ok": true, "title": "Don't jump", "list": [1, 2,"#,
            r#"{"ok": true "title": "Don't jump" "list": [1 2]}"#,
            "{“ok”: true, “title”: “Don't jump”, “list”: [1, 2]}",
            "```json\n{\n  \"ok\": true,\n  // why\n  \"title\": \"Don't jump\",\n  \"list\": [1, 2],\n}\n```",
            "[{\"ok\": true, \"title\": \"Don't jump\", \"list\": [1, 2]}",
        ] {
            assert_eq!(read(text), object, "{text}");
        }
        assert_eq!(
            read("{\"text\": \"two\nlines\tand \"quotes\", here\", \"none\": None}"),
            json!({"text": "two\nlines\tand \"quotes\", here", "none": null})
        );
        assert_eq!(
            read(r#"{"place": before, "a": {"b": {"c": 1}}, "n": +5}"#),
            json!({"place": "before", "a": {"b": {"c": 1}}, "n": 5})
        );
        assert_eq!(read(r#"{"bad": "\q \u00e9 \ud83d\ude00 \ud83d",}"#), json!({"bad": "q é 😀 \u{fffd}"}));
    }

    #[test]
    fn what_is_cut_off_is_left_out() {
        assert_eq!(read(r#"{"title": "Take lamp", "text": "It is da"#), json!({"title": "Take lamp"}));
        assert_eq!(read(r#"{"title": "Take lamp", "te"#), json!({"title": "Take lamp"}));
        assert_eq!(read(r#"{"title": "Take lamp", "ok": tr"#), json!({"title": "Take lamp"}));
        assert_eq!(read(r#"{"title": "Take lamp", "n": 12"#), json!({"title": "Take lamp"}));
    }

    #[test]
    fn no_object_is_said() {
        for text in ["I would rather not.", "[1, 2]", "12", "null", "{ what }", "{{{{", "[[["] {
            assert_eq!(read(text), json!("the answer holds no JSON object"), "{text}");
        }
        assert_eq!(read(" \n"), json!("the answer is empty"));
        assert_eq!(read("{}"), json!({}));
    }

    #[test]
    fn hostile_texts_end_soon() {
        let many = 20_000;
        for text in ["{", "[", "{\"a\":", "{a:[", "{a:\"xx", "{'", "\"", "{\"a\":[1,", "{a:\" "] {
            let _ = parse_object(&text.repeat(many));
        }
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 20, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map(any::<String>(), inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn never_panics(text in "\\PC*", json in "[{}\\[\\]\"',:\\\\ntruefalsN0-9 \n/]{0,60}") {
            let _ = parse_object(&text);
            let _ = parse_object(&json);
            let _ = parse_object(&format!("{{\"a\": {json}"));
        }

        #[test]
        fn an_object_between_prose_is_found(
            before in "[^{\\[<]{0,60}",
            value in any_value(),
            after in "[^{\\[<]{0,60}",
        ) {
            let object = json!({"key": value});
            let pretty = serde_json::to_string_pretty(&object).unwrap();
            prop_assert_eq!(read(&format!("{before}{object}{after}")), object.clone());
            prop_assert_eq!(read(&format!("{before}```json\n{pretty}\n```{after}")), object);
        }

        #[test]
        fn a_cut_answer_has_only_what_was_said(value in any_value(), cut in any::<prop::sample::Index>()) {
            let object = json!({"first": 1, "key": value});
            let text = object.to_string();
            let end = text.char_indices().map(|(at, _)| at).nth(cut.index(text.chars().count())).unwrap();
            if let Ok(read) = parse_object(&text[..end]) {
                prop_assert!(read.keys().all(|key| key == "first" || key == "key"));
                prop_assert!(read.get("first").is_none_or(|first| first == 1));
            }
        }
    }
}
