//! Memories and sections as JSON objects, as JSON, JSONL and SQLite have them.
//!
//! Objects are written in one shape. The reader also accepts the field names of other programs (`content`,
//! `turn`, `location`, `timestamp` …) and provenance beside the text instead of under `fields`; it reports
//! unknown keys.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::transfer::place::PlaceReference;
use crate::transfer::source::Item;
use memories_document::Section;
use memories_document::types::fields::{
    Expected, FieldError, Fields, count, episode, integer, named, number, span, text, texts,
};
use memories_document::types::text::truncate;
use memories_document::types::{
    Attempt, Category, Cause, Memory, Moment, Provenance, Reference, Scope, TryResult, Witnesses,
    clamp_importance,
};
use memories_record::turn::{category, date};

/// Keys of a memory without its provenance, and of a section.
const ITEM_KEYS: [&str; 26] = [
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
    "visits",
    "episodes",
    "first_visit",
    "ways",
    "worked",
    "seen",
    "tried",
    "memories",
];

/// Keys of a memory's provenance, beside the text or under `fields`.
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

/// Keys of an action in a list.
const ACTION_KEYS: &[&str] = &["action", "count", "episode", "turn", "reply", "result", "witnesses"];

/// Lists of a section, with the keys of their items.
const EVIDENCE_KEYS: [(&str, &[&str]); 4] = [
    ("tried", ACTION_KEYS),
    ("worked", ACTION_KEYS),
    ("seen", ACTION_KEYS),
    ("ways", &["action", "to", "name", "count", "episode", "turn", "after", "witnesses"]),
];

/// A memory as an object.
pub(crate) fn memory_object(scope: &Scope, memory: &Memory) -> Map<String, Value> {
    let Memory {
        category,
        persistence,
        status,
        title,
        text,
        context,
        see_also,
        provenance,
        reference,
        stale: _,
    } = memory;
    object([
        ("scope", json!(scope)),
        ("category", json!(category)),
        ("title", json!(title)),
        ("text", json!(text)),
        ("persistence", json!(persistence)),
        ("status", json!(status)),
        ("context", json!(context)),
        ("see_also", json!(see_also)),
        ("reference", json!(reference)),
        ("fields", json!(provenance)),
    ])
}

/// A section without its memories, as an object.
pub(crate) fn section_object(scope: &Scope, section: &Section) -> Map<String, Value> {
    object([
        ("scope", json!(scope)),
        ("name", json!(section.name)),
        ("visits", json!(section.visits)),
        ("episodes", json!(section.episodes)),
        ("first_visit", json!(section.first_visit)),
        ("ways", list(&section.ways)),
        ("worked", list(&section.worked)),
        ("seen", list(&section.seen)),
        ("tried", json!(section.tried)),
    ])
}

/// A list; `null` where it is empty.
fn list<T: Serialize>(items: &[T]) -> Value {
    if items.is_empty() { Value::Null } else { json!(items) }
}

/// An object of the fields that are not `null`.
fn object<const N: usize>(fields: [(&str, Value); N]) -> Map<String, Value> {
    let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
    fields.map(|(key, value)| (key.to_owned(), value)).collect()
}

/// The unknown keys of an object.
pub(crate) fn unknown_keys(object: &Map<String, Value>) -> impl Iterator<Item = &String> {
    let known = |key: &str| ITEM_KEYS.contains(&key) || FIELD_KEYS.contains(&key);
    let fields = object.get("fields").and_then(Value::as_object).into_iter().flat_map(Map::keys);
    let fields = fields.filter(|key| !FIELD_KEYS.contains(&key.as_str()));
    let items = EVIDENCE_KEYS.iter().flat_map(|(list, known)| {
        let items = object.get(*list).and_then(Value::as_array).into_iter().flatten();
        let keys = items.filter_map(Value::as_object).flat_map(Map::keys);
        keys.filter(|key| !known.contains(&key.as_str()))
    });
    object.keys().filter(move |key| !known(key)).chain(fields).chain(items)
}

/// Reads a memory if the object has a text or a title, otherwise a section.
///
/// # Errors
///
/// A message about the first problem.
pub(crate) fn read_item(value: &Value) -> Result<Item, String> {
    let Value::Object(object) = value else {
        return Err(format!("expected a JSON object, got {}", truncate(&value.to_string(), 60)));
    };
    let reader = ObjectReader::of(object);
    let has = |keys: &[&str]| keys.iter().any(|key| reader.fields.get(key).is_some());
    if has(&["text", "content", "title"]) {
        return reader.memory();
    }
    if has(&["visits", "episodes", "tried", "ways", "worked", "seen", "name"]) {
        return reader.section();
    }
    Err("neither a memory (`text`) nor a place (`visits`, `tried`)".to_owned())
}

/// Reads a section without its memories.
///
/// # Errors
///
/// A message about the first problem.
pub(crate) fn read_section(object: &Map<String, Value>) -> Result<Item, String> {
    ObjectReader::of(object).section()
}

/// Reads a memory or a section from the fields of an object.
struct ObjectReader<'a> {
    fields: Fields<'a>,
    /// The same, with the fields under `fields` for missing ones.
    all: Fields<'a>,
}

impl<'a> ObjectReader<'a> {
    fn of(object: &'a Map<String, Value>) -> ObjectReader<'a> {
        let fields = Fields::of(object);
        ObjectReader { fields, all: fields.with_nested("fields") }
    }

    fn place(&self) -> Result<PlaceReference, String> {
        let name = self.text(&["location_name", "name"])?.unwrap_or_default();
        let place = ["scope", "location", "place", "location_id"].iter().find_map(|key| self.fields.get(key));
        let place = place.map_or(Ok(PlaceReference::Unsaid), PlaceReference::of_value)?;
        // `location` may be a name and `location_id` the id of the same place.
        let (place, name) = match (place, self.fields.get("location_id")) {
            (PlaceReference::Named(location), Some(id)) => (PlaceReference::of_value(id)?, location),
            (place, _) => (place, name),
        };
        Ok(place.called(&name))
    }

    fn text(&self, names: &[&str]) -> Result<Option<String>, FieldError> {
        self.fields.read_first(names, text)
    }

    fn memory(&self) -> Result<Item, String> {
        let category = self.fields.read("category", category)?.unwrap_or_else(Category::note);
        let title = self.text(&["title"])?.unwrap_or_default();
        let text = self.text(&["text", "content"])?.ok_or("`text` is missing")?;
        if text.trim().is_empty() && title.trim().is_empty() {
            return Err("the text is empty".to_owned());
        }
        let mut memory = Memory::new(category, title, text);
        memory.persistence = self.fields.read("persistence", named)?.unwrap_or_default();
        memory.status = self.fields.read("status", named)?.unwrap_or_default();
        memory.context = self.text(&["context"])?;
        memory.see_also = self.text(&["see_also"])?;
        memory.reference = self.fields.read("reference", reference)?;
        memory.provenance = self.provenance()?;
        Ok(Item::Memory { place: self.place()?, memory: Box::new(memory) })
    }

    fn provenance(&self) -> Result<Provenance, FieldError> {
        let ObjectReader { fields, all } = self;
        let mut tags = all.read("tags", texts)?.unwrap_or_default();
        if fields.get("fields").is_none() {
            tags = tags.iter().map(|tag| tag.trim().trim_start_matches('#').to_owned()).collect();
        }
        Ok(Provenance {
            episode: all.read("episode", episode)?,
            turns: all.read_first(&["turns", "turn", "turn_number"], span)?,
            messages: all.read_first(&["messages", "message"], span)?,
            score_change: all.read("score_change", integer)?,
            date: all.read_first(&["date", "timestamp"], date)?,
            importance: all.read("importance", number)?.map(clamp_importance),
            score: all.read("score", integer)?,
            moves: all.read("moves", integer)?,
            sources: all.read("sources", texts)?.unwrap_or_default(),
            tags,
            other: all.read("other", texts)?.unwrap_or_default(),
            goal: all.read("goal", text)?,
        })
    }

    fn section(&self) -> Result<Item, String> {
        let section = Section {
            visits: self.fields.read("visits", count)?.unwrap_or(0),
            episodes: self.all.read("episodes", counts)?.unwrap_or_default(),
            first_visit: self.parse("first_visit")?,
            tried: self.attempts("tried")?,
            worked: self.attempts("worked")?,
            ways: self.parse("ways")?.unwrap_or_default(),
            seen: self.attempts("seen")?,
            ..Section::default()
        };
        Ok(Item::Section { place: self.place()?, section: Box::new(section) })
    }

    fn attempts(&self, name: &str) -> Result<Vec<Attempt>, String> {
        let attempts = self.fields.read(name, |value| match value {
            Value::Array(items) => Ok(items.iter().map(read_attempt).collect::<Result<Vec<_>, _>>()),
            _ => Err("a list of actions".into()),
        })?;
        Ok(attempts.transpose()?.unwrap_or_default())
    }

    /// A field in the shape in which it is written.
    fn parse<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, String> {
        let Some(value) = self.fields.get(name) else { return Ok(None) };
        T::deserialize(value).map(Some).map_err(|error| format!("`{name}`: {error}"))
    }
}

/// A list of whole numbers.
fn counts(value: &Value) -> Result<Vec<u64>, Expected> {
    let numbers = value.as_array().and_then(|items| items.iter().map(|item| count(item).ok()).collect());
    numbers.ok_or("a list of whole numbers".into())
}

/// The reference of a superseded memory; unreadable parts of its moment are left out.
fn reference(value: &Value) -> Result<Reference, Expected> {
    let cause = |kind: &str| value.pointer(&format!("/cause/{kind}"))?.as_str().map(str::to_owned);
    let superseded = cause("superseded_by").map(Cause::SupersededBy);
    let Some(cause) = superseded.or_else(|| cause("invalidated").map(Cause::Invalidated)) else {
        return Err("{\"at\": {…}, \"cause\": {\"superseded_by\": …}} or {\"invalidated\": …}".into());
    };
    let number = |name: &str| value.pointer(&format!("/at/{name}")).and_then(|value| count(value).ok());
    let date = value.pointer("/at/date").and_then(Value::as_str).map(str::to_owned);
    let (episode, turn, message) = (number("episode"), number("turn"), number("message"));
    Ok(Reference { at: Moment { episode, turn, message, date }, cause })
}

/// Reads a tried action.
///
/// # Errors
///
/// A message about the first problem.
pub(crate) fn read_attempt(value: &Value) -> Result<Attempt, String> {
    let Value::Object(object) = value else {
        return Err(format!("{} is not a tried action", truncate(&value.to_string(), 60)));
    };
    let fields = Fields::of(object);
    let action = fields.read("action", text)?.unwrap_or_default();
    if action.trim().is_empty() {
        return Err("a tried action without its `action`".to_owned());
    }
    Ok(Attempt {
        action,
        count: fields.read("count", count)?.unwrap_or(1),
        episode: fields.read("episode", count)?,
        turn: fields.read("turn", count)?,
        reply: fields.read("reply", text)?.unwrap_or_default(),
        result: fields.read("result", result)?.unwrap_or_default(),
        witnesses: fields.read("witnesses", witnesses)?.unwrap_or_default(),
    })
}

/// Reads who knows an action: a list of ids, or a text with commas.
fn witnesses(value: &Value) -> Result<Witnesses, Expected> {
    let listed =
        value.as_str().map(|ids| ids.split(',').filter(|id| !id.is_empty()).map(Value::from).collect());
    serde_json::from_value(listed.unwrap_or_else(|| value.clone())).map_err(|_| "a list of ids".into())
}

/// Reads what came of an action.
fn result(value: &Value) -> Result<TryResult, Expected> {
    serde_json::from_value(value.clone()).map_err(|_| "vain, blocked, deadly, died, unknown or unseen".into())
}
