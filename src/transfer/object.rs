//! Memories and sections as JSON objects: the shape that all forms but Markdown share.
//!
//! Writing gives one shape; reading also takes the names that other programs use (`content`, `turn`,
//! `location`, `timestamp` …), fields beside the memory instead of under `fields`, and leaves out what
//! it does not know, by name.

use serde_json::{Map, Value, json};

use crate::document::Section;
use crate::document::fields::is_date;
use crate::record::turn::parse_episode;
use crate::transfer::{Item, Whereabouts};
use crate::types::{
    Attempt, Category, Cause, Memory, Moment, Persistence, Provenance, Reference, Scope, Span, Status,
    clamp_importance,
};

/// Keys of a memory itself.
const MEMORY_KEYS: [&str; 18] = [
    "scope",
    "location",
    "place",
    "location_id",
    "location_name",
    "name",
    "category",
    "title",
    "text",
    "content",
    "persistence",
    "status",
    "context",
    "see_also",
    "reference",
    "fields",
    "version",
    "type",
];

/// Keys of its fields, beside it or under `fields`.
const FIELD_KEYS: [&str; 16] = [
    "episode",
    "turns",
    "turn",
    "messages",
    "message",
    "score_change",
    "date",
    "timestamp",
    "importance",
    "score",
    "moves",
    "sources",
    "tags",
    "other",
    "goal",
    "turn_number",
];

/// Keys of what is known of a place besides its memories.
const SECTION_KEYS: [&str; 10] = [
    "scope",
    "location",
    "place",
    "location_id",
    "location_name",
    "name",
    "visits",
    "episodes",
    "tried",
    "memories",
];

/// A memory as an object; without its text where that stands elsewhere.
pub fn memory_object(scope: &Scope, memory: &Memory) -> Map<String, Value> {
    let Memory { category, persistence, status, title, text, context, see_also, provenance, reference } =
        memory;
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
    put("scope", json!(scope));
    put("category", json!(category));
    put("title", json!(title));
    put("text", json!(text));
    put("persistence", json!(persistence));
    put("status", json!(status));
    if let Some(context) = context {
        put("context", json!(context));
    }
    if let Some(see_also) = see_also {
        put("see_also", json!(see_also));
    }
    if let Some(reference) = reference {
        put("reference", json!(reference));
    }
    put("fields", json!(provenance));
    object
}

/// What is known of a place besides its memories, as an object.
pub fn section_object(scope: &Scope, section: &Section) -> Map<String, Value> {
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
    put("scope", json!(scope));
    put("name", json!(section.name));
    put("visits", json!(section.visits));
    put("episodes", json!(section.episodes));
    put("tried", json!(section.tried));
    object
}

/// The keys of an object that mean nothing here.
pub fn unknown_keys(object: &Map<String, Value>) -> impl Iterator<Item = &String> {
    let known =
        |key: &str| MEMORY_KEYS.contains(&key) || FIELD_KEYS.contains(&key) || SECTION_KEYS.contains(&key);
    let fields = object.get("fields").and_then(Value::as_object).into_iter().flat_map(Map::keys);
    let fields = fields.filter(|key| !FIELD_KEYS.contains(&key.as_str()));
    object.keys().filter(move |key| !known(key)).chain(fields)
}

/// Reads an object: a memory where it has a text or a title, else what is known of a place.
///
/// # Errors
///
/// What is wrong with it, in words.
pub fn read_item(value: &Value) -> Result<Item, String> {
    let Value::Object(object) = value else {
        return Err(format!("expected a JSON object, got {}", short(value)));
    };
    let has = |keys: &[&str]| keys.iter().any(|key| object.get(*key).is_some_and(|value| !value.is_null()));
    let reader = Reader { object };
    if has(&["text", "content", "title"]) {
        return reader.memory();
    }
    if has(&["visits", "episodes", "tried", "name"]) {
        return reader.section();
    }
    Err("neither a memory (`text`) nor a place (`visits`, `tried`)".to_owned())
}

/// What is known of a place besides its memories.
///
/// # Errors
///
/// What is wrong with it, in words.
pub fn read_section(object: &Map<String, Value>) -> Result<Item, String> {
    Reader { object }.section()
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Reads the fields of an object; errors name the field.
struct Reader<'a> {
    object: &'a Map<String, Value>,
}

impl<'a> Reader<'a> {
    /// The value of the first of these keys that is there, also under `fields`.
    fn get(&self, keys: &[&'static str]) -> Option<(&'static str, &'a Value)> {
        let fields = self.object.get("fields").and_then(Value::as_object);
        let nested =
            |key: &str| fields.filter(|_| FIELD_KEYS.contains(&key)).and_then(|fields| fields.get(key));
        let of = |key: &'static str| Some((key, self.object.get(key).or_else(|| nested(key))?));
        keys.iter().filter_map(|key| of(key)).find(|(_, value)| !value.is_null())
    }

    fn wrong<T>(key: &str, value: &Value, expected: &str) -> Result<T, String> {
        Err(format!("`{key}` is {}, expected {expected}", short(value)))
    }

    fn text(&self, keys: &[&'static str]) -> Result<Option<String>, String> {
        match self.get(keys) {
            None => Ok(None),
            Some((_, Value::String(text))) => Ok(Some(text.clone())),
            Some((key, other)) => Self::wrong(key, other, "a text"),
        }
    }

    fn texts(&self, key: &'static str) -> Result<Vec<String>, String> {
        let expected = "a list of texts";
        match self.get(&[key]) {
            None => Ok(Vec::new()),
            Some((_, Value::String(text))) => Ok(vec![text.clone()]),
            Some((_, value @ Value::Array(items))) => {
                let text = |item: &Value| item.as_str().map(str::to_owned);
                items
                    .iter()
                    .map(|item| text(item).map_or_else(|| Self::wrong(key, value, expected), Ok))
                    .collect()
            }
            Some((_, other)) => Self::wrong(key, other, expected),
        }
    }

    fn count(&self, key: &'static str) -> Result<Option<u64>, String> {
        let Some((_, value)) = self.get(&[key]) else { return Ok(None) };
        value.as_u64().map_or_else(|| Self::wrong(key, value, "a whole number, 0 or more"), |n| Ok(Some(n)))
    }

    fn counts(&self, key: &'static str) -> Result<Vec<u64>, String> {
        let Some((_, value)) = self.get(&[key]) else { return Ok(Vec::new()) };
        let numbers = value.as_array().and_then(|items| items.iter().map(Value::as_u64).collect());
        numbers.map_or_else(|| Self::wrong(key, value, "a list of whole numbers"), Ok)
    }

    fn integer(&self, key: &'static str) -> Result<Option<i64>, String> {
        let Some((_, value)) = self.get(&[key]) else { return Ok(None) };
        let whole = value.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < 9e15);
        let number = value.as_i64().or(whole.map(|number| number as i64));
        number.map_or_else(|| Self::wrong(key, value, "a whole number"), |number| Ok(Some(number)))
    }

    /// `3`, `[3, 5]` or `{"first": 3, "last": 5}`.
    fn span(&self, keys: &[&'static str]) -> Result<Option<Span>, String> {
        let Some((key, value)) = self.get(keys) else { return Ok(None) };
        let of = |first: Option<&Value>, last: Option<&Value>| {
            Some(Span { first: first?.as_u64()?, last: last?.as_u64()? })
        };
        let span = match value {
            Value::Array(ends) => of(ends.first(), ends.last()),
            Value::Object(ends) => of(ends.get("first"), ends.get("last")),
            number => number.as_u64().map(Span::one),
        };
        span.map_or_else(
            || Self::wrong(key, value, "a number or its `first` and `last`"),
            |span| Ok(Some(span)),
        )
    }

    fn one_of<T: Copy>(&self, key: &'static str, words: &[(&str, T)]) -> Result<Option<T>, String> {
        let Some(text) = self.text(&[key])? else { return Ok(None) };
        let found = words.iter().find(|(word, _)| text.eq_ignore_ascii_case(word));
        let all = || words.iter().map(|(word, _)| format!("`{word}`")).collect::<Vec<_>>().join(" or ");
        found.map_or_else(
            || Err(format!("`{key}` is `{text}`, expected {}", all())),
            |(_, value)| Ok(Some(*value)),
        )
    }

    fn whereabouts(&self) -> Result<Whereabouts, String> {
        let name = self.text(&["location_name", "name"])?.unwrap_or_default();
        let place = self.get(&["scope", "location", "place", "location_id"]);
        let place = place.map_or(Ok(Whereabouts::Unsaid), |(_, value)| Whereabouts::of_value(value))?;
        // `location` may be a name and `location_id` the id of the same place.
        let (place, name) = match (place, self.get(&["location_id"])) {
            (Whereabouts::Named(location), Some((_, id))) => (Whereabouts::of_value(id)?, location),
            (place, _) => (place, name),
        };
        Ok(place.called(&name))
    }

    fn memory(&self) -> Result<Item, String> {
        let category = match self.text(&["category"])? {
            None => Category::note(),
            Some(name) => name.parse()?,
        };
        let title = self.text(&["title"])?.unwrap_or_default();
        let titled = !title.trim().is_empty();
        let text = self.text(&["text", "content"])?;
        let text = text.ok_or_else(|| "`text` is missing".to_owned())?;
        if text.trim().is_empty() && !titled {
            return Err("the text is empty".to_owned());
        }
        let mut memory = Memory::new(category, title, text);
        let persistences = [
            ("permanent", Persistence::Permanent),
            ("core", Persistence::Core),
            ("ephemeral", Persistence::Ephemeral),
        ];
        let statuses = [
            ("active", Status::Active),
            ("tentative", Status::Tentative),
            ("superseded", Status::Superseded),
        ];
        memory.persistence = self.one_of("persistence", &persistences)?.unwrap_or_default();
        memory.status = self.one_of("status", &statuses)?.unwrap_or_default();
        memory.context = self.text(&["context"])?;
        memory.see_also = self.text(&["see_also"])?;
        memory.reference = self.reference()?;
        memory.provenance = self.provenance()?;
        Ok(Item::Memory { place: self.whereabouts()?, memory: Box::new(memory), titled })
    }

    fn provenance(&self) -> Result<Provenance, String> {
        let date = self.text(&["date", "timestamp"])?;
        if let Some(date) = date.as_deref().filter(|date| !is_date(date)) {
            return Err(format!("`date` is `{date}`, expected a date such as 2026-01-31"));
        }
        let tag = |tag: String| tag.trim().trim_start_matches('#').to_owned();
        Ok(Provenance {
            episode: self.episode()?,
            turns: self.span(&["turns", "turn", "turn_number"])?,
            messages: self.span(&["messages", "message"])?,
            score_change: self.integer("score_change")?,
            date,
            importance: self.importance()?,
            score: self.integer("score")?,
            moves: self.integer("moves")?,
            sources: self.texts("sources")?,
            tags: match self.object.get("fields").is_some() {
                true => self.texts("tags")?,
                false => self.texts("tags")?.into_iter().map(tag).collect(),
            },
            other: self.texts("other")?,
            goal: self.text(&["goal"])?,
        })
    }

    /// A number, or a label with one run of digits.
    fn episode(&self) -> Result<Option<u64>, String> {
        match self.get(&["episode"]) {
            Some((key, value @ Value::String(label))) => {
                parse_episode(label).map_or_else(|| Self::wrong(key, value, "a number"), |n| Ok(Some(n)))
            }
            _ => self.count("episode"),
        }
    }

    fn importance(&self) -> Result<Option<u16>, String> {
        let Some((key, value)) = self.get(&["importance"]) else { return Ok(None) };
        let number = value.as_f64().filter(|number| !number.is_nan());
        number
            .map_or_else(|| Self::wrong(key, value, "a number"), |number| Ok(Some(clamp_importance(number))))
    }

    fn reference(&self) -> Result<Option<Reference>, String> {
        let Some((key, value)) = self.get(&["reference"]) else { return Ok(None) };
        let expected = "{\"at\": {…}, \"cause\": {\"superseded_by\": …}} or {\"invalidated\": …}";
        let cause = |kind: &str| value.pointer(&format!("/cause/{kind}"))?.as_str().map(str::to_owned);
        let cause = cause("superseded_by").map(Cause::SupersededBy);
        let cause = cause
            .or_else(|| Some(Cause::Invalidated(value.pointer("/cause/invalidated")?.as_str()?.to_owned())));
        let Some(cause) = cause else { return Self::wrong(key, value, expected) };
        let number = |name: &str| value.pointer(&format!("/at/{name}")).and_then(Value::as_u64);
        let date = value.pointer("/at/date").and_then(Value::as_str).map(str::to_owned);
        let (episode, turn, message) = (number("episode"), number("turn"), number("message"));
        Ok(Some(Reference { at: Moment { episode, turn, message, date }, cause }))
    }

    fn section(&self) -> Result<Item, String> {
        let tried = match self.get(&["tried"]) {
            None => Vec::new(),
            Some((_, Value::Array(items))) => items.iter().map(read_attempt).collect::<Result<_, _>>()?,
            Some((key, other)) => return Self::wrong(key, other, "a list of tried actions"),
        };
        Ok(Item::Section {
            place: self.whereabouts()?,
            visits: self.count("visits")?.unwrap_or(0),
            episodes: self.counts("episodes")?,
            tried,
        })
    }
}

/// A tried action.
///
/// # Errors
///
/// What is wrong with it, in words.
pub fn read_attempt(value: &Value) -> Result<Attempt, String> {
    let Value::Object(object) = value else { return Err(format!("{} is not a tried action", short(value))) };
    let reader = Reader { object };
    // No field of a memory: `reply` and the like stand in the object itself.
    let text = |key: &str| match object.get(key) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Null) | None => Ok(String::new()),
        Some(other) => Reader::wrong(key, other, "a text"),
    };
    let action = text("action")?;
    if action.trim().is_empty() {
        return Err("a tried action without its `action`".to_owned());
    }
    Ok(Attempt {
        action,
        count: reader.count("count")?.unwrap_or(1),
        episode: reader.count("episode")?,
        turn: reader.count("turn")?,
        reply: text("reply")?,
    })
}
