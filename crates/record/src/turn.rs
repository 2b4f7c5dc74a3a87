//! One turn of a game, read from the JSON that scripts send.
//!
//! `null` counts as absent. A field with an unusable value is refused with its name and the expectation. A
//! field that is not known, or not used, is named in the notes of the turn.

use serde::Serialize;
use serde_json::{Map, Value};

pub use crate::remember::Remember;
pub use crate::remember::{category, importance_scale};
use crate::remember::{present, remember};
use memories_document::field::is_date;
use memories_document::grammar::name_of_text_id;
use memories_document::types::fields::{Expected, FieldError, Fields, count, episode, flag, integer, text};
use memories_document::types::hint::{Advice, Hint};
use memories_document::types::{ImportanceScale, Scope, ScopeName, json};
use memories_document::unknown_field;

/// The fields of a turn. Those of the last line are known from recorded play and not used.
#[rustfmt::skip]
const FIELDS: [&str; 32] = [
    "episode", "turn", "id", "action", "response", "location", "location_before", "location_after",
    "location_id", "location_name", "score_before", "score_after", "moves_before", "moves_after",
    "inventory_before", "inventory_after", "died", "world_changed", "valid", "reasoning", "remember",
    "remember_importance", "rememberImportance", "importance_scale", "remember_category", "timestamp", CONTEXT,
    "game", "outcome", "won", "rewind", "present",
];

/// An object whose fields count as the turn's own.
const CONTEXT: &str = "z_machine_context";

/// A place given by id, by name, or by both.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct TurnLocation {
    /// The engine's id.
    pub id: Option<u64>,
    /// The name for people.
    pub name: Option<String>,
    /// The caller gave an id of its own, `location:town-square`: where no place has that name, a new one gets it.
    #[serde(skip)]
    pub is_own_id: bool,
}

impl TurnLocation {
    /// A place by the engine's id.
    fn of_id(id: u64, name: Option<&str>) -> TurnLocation {
        TurnLocation { id: Some(id), name: name.map(str::to_owned), is_own_id: false }
    }

    /// A place by a text: `location:23`, `location:town-square`, or a name. With an id in letters, `name` is used where
    /// it says the same.
    pub fn of_text(text: &str, name: Option<&str>) -> TurnLocation {
        let is_prefixed =
            text.trim_start().get(..9).is_some_and(|start| start.eq_ignore_ascii_case("location:"));
        match text.parse().ok().filter(|_| is_prefixed) {
            Some(ScopeName::Scope(Scope::Location(id))) => TurnLocation::of_id(id, name),
            Some(ScopeName::Place(id)) => {
                TurnLocation { id: None, name: Some(name_of_text_id(&id, name)), is_own_id: true }
            }
            _ => TurnLocation { id: None, name: Some(text.trim().to_owned()), is_own_id: false },
        }
    }
}

/// One turn. `None` means that the caller gave no value.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Turn {
    /// The caller's own id of the turn, by which it is recorded once.
    pub id: Option<String>,
    /// Episode; the running one where absent.
    pub episode: Option<u64>,
    /// Number of the turn; one more than the last where absent.
    pub turn: Option<u64>,
    /// The player's command.
    pub action: String,
    /// The game's reply.
    pub response: String,
    /// The place where the action was taken.
    pub location_before: Option<TurnLocation>,
    /// The place afterwards.
    pub location_after: Option<TurnLocation>,
    /// Score before.
    pub score_before: Option<i64>,
    /// Score after.
    pub score_after: Option<i64>,
    /// The engine's move counter before.
    pub moves_before: Option<i64>,
    /// The engine's move counter after.
    pub moves_after: Option<i64>,
    /// Items carried before.
    pub inventory_before: Option<Vec<String>>,
    /// Items carried after.
    pub inventory_after: Option<Vec<String>>,
    /// The player died.
    pub died: bool,
    /// The game is won.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub won: bool,
    /// The game's world changed; `None` if unknown.
    pub world_changed: Option<bool>,
    /// Ids of the characters who know what is remembered of it; everybody, where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub present: Vec<String>,
    /// The player's reason.
    pub reasoning: Option<String>,
    /// What was recorded from its number on is set aside first.
    #[serde(skip)]
    pub rewind: bool,
    /// A memory that the player states directly.
    pub remember: Option<Remember>,
    /// Time of the turn: a date or RFC 3339.
    pub timestamp: Option<String>,
    /// Warnings about fields that were not taken as the caller sent them.
    #[serde(skip)]
    pub notes: Vec<String>,
}

/// A turn that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TurnError {
    /// The text is not JSON.
    #[error("not JSON: {0}")]
    NotJson(String),
    /// JSON, but not an object.
    #[error("a turn is a JSON object, this is {0}")]
    NotAnObject(&'static str),
    /// A required field is missing.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// The turn names its place in a field that is not known.
    #[error("`location` is missing, and `{0}` is no field of a turn")]
    MisnamedLocation(&'static str),
    /// The value of a field cannot be used.
    #[error(transparent)]
    Field(#[from] FieldError),
}

impl TurnError {
    /// The next step for the caller.
    pub fn hint(&self) -> &'static str {
        match self {
            TurnError::NotJson(_) | TurnError::NotAnObject(_) => {
                "send one object, such as {\"action\": \"look\", \"response\": \"A field.\", \"location\": 64}"
            }
            TurnError::Missing("location_before") => {
                "say where it happened: `location_before`, `location_after`, `location` or `location_id`"
            }
            TurnError::MisnamedLocation(_) => "did you mean `location`?",
            TurnError::Missing("turn") => "a turn before which others are set aside needs its number: `turn`",
            TurnError::Missing(_) => "`action`, `response` and one location are required",
            TurnError::Field(FieldError { field, .. }) if field == "episode" => {
                "send the number, or a label with one run of digits such as `ep_003`"
            }
            TurnError::Field(FieldError { found, expected, .. })
                if found.starts_with('"') && (expected == ID || expected.starts_with("a whole number")) =>
            {
                "numbers are sent as numbers, not as text"
            }
            TurnError::Field(_) => "correct that field; nothing of this turn is recorded",
        }
    }
}

impl Hint for TurnError {
    fn advice(&self) -> Advice {
        Advice::fix(self.hint())
    }
}

const ID: &str = "the engine's integer id, 0 or more";
const PLACE: &str = "an id, a name, or an object {\"id\": 23, \"name\": \"Living Room\"}";

impl Turn {
    /// A turn with only the required fields.
    pub fn new(
        action: impl Into<String>,
        response: impl Into<String>,
        location: Option<TurnLocation>,
    ) -> Turn {
        Turn {
            action: action.into(),
            response: response.into(),
            location_before: location,
            ..Turn::default()
        }
    }

    /// Reads a turn from JSON text, with importances from 1 to 1000.
    ///
    /// # Errors
    ///
    /// See [`TurnError`].
    pub fn from_json(text: &str) -> Result<Turn, TurnError> {
        Turn::from_json_on(text, ImportanceScale::default())
    }

    /// Reads a turn from JSON text, with importances on a scale, if it names no other.
    pub fn from_json_on(text: &str, scale: ImportanceScale) -> Result<Turn, TurnError> {
        let value: Value = json::read(text.as_bytes()).map_err(|error| {
            // In one line of JSONL, "line 1" would be mistaken for the line of the file.
            let problem = if text.trim_end().contains('\n') {
                error.to_string()
            } else {
                error.to_string().replace(" at line 1 column ", " at column ")
            };
            TurnError::NotJson(problem)
        })?;
        Turn::from_value_on(&value, scale)
    }

    /// Reads a turn from a JSON value, with importances from 1 to 1000.
    ///
    /// # Errors
    ///
    /// See [`TurnError`].
    pub fn from_value(value: &Value) -> Result<Turn, TurnError> {
        Turn::from_value_on(value, ImportanceScale::default())
    }

    /// Reads a turn from a JSON value, with importances on a scale, if it names no other.
    pub(crate) fn from_value_on(value: &Value, scale: ImportanceScale) -> Result<Turn, TurnError> {
        let Value::Object(object) = value else { return Err(TurnError::NotAnObject(kind_of(value))) };
        let fields = Fields::of(object).with_nested(CONTEXT);
        let mut notes = unknown_fields(object);
        let action = fields.read("action", text)?.ok_or(TurnError::Missing("action"))?;
        let response = fields.read("response", text)?.ok_or(TurnError::Missing("response"))?;
        let (location_before, location_after) = locations(fields, &mut notes)?;
        let remember = remember(fields, scale, &mut notes)?;
        let number = fields.read("turn", count)?;
        let rewind = fields.read("rewind", flag)?.unwrap_or(false);
        rewind.then(|| number.ok_or(TurnError::Missing("turn"))).transpose()?;
        Ok(Turn {
            id: fields.read("id", id)?,
            action,
            response,
            episode: fields.read("episode", episode)?,
            turn: number,
            rewind,
            location_before,
            location_after,
            score_before: fields.read("score_before", integer)?,
            score_after: fields.read("score_after", integer)?,
            moves_before: fields.read("moves_before", integer)?,
            moves_after: fields.read("moves_after", integer)?,
            inventory_before: fields.read("inventory_before", inventory)?,
            inventory_after: fields.read("inventory_after", inventory)?,
            died: fields.read("died", flag)?.unwrap_or(false),
            won: fields.read("won", flag)?.unwrap_or(false),
            world_changed: match fields.read("world_changed", flag)? {
                Some(changed) => Some(changed),
                None => fields.read("valid", flag)?,
            },
            present: fields.read("present", present)?.unwrap_or_default(),
            reasoning: fields.read("reasoning", text)?,
            remember,
            timestamp: fields.read("timestamp", date)?,
            notes,
        })
    }
}

/// A note on each field that is not known.
fn unknown_fields(object: &Map<String, Value>) -> Vec<String> {
    let nested = object.get(CONTEXT).and_then(Value::as_object).into_iter().flat_map(Map::keys);
    let names = object.keys().chain(nested).filter(|name| !FIELDS.contains(&name.as_str()));
    names.map(|name| unknown_field(name, "a turn", &FIELDS)).collect()
}

/// Reads the places before and after the action, at least one of which is there.
fn locations(
    fields: Fields<'_>,
    notes: &mut Vec<String>,
) -> Result<(Option<TurnLocation>, Option<TurnLocation>), TurnError> {
    let mut after = location(fields, "location_after")?;
    let mut before = location(fields, "location_before")?;
    let named = match location(fields, "location")? {
        Some(named) => Some(("location", named)),
        None => split_location(fields)?
            .map(|named| (if named.id.is_some() { "location_id" } else { "location_name" }, named)),
    };
    match (&mut before, named) {
        (_, None) => {}
        (None, Some((_, named))) => before = Some(named),
        (Some(before), Some((field, named))) => {
            if !give_name([Some(before), after.as_mut()], &named) {
                notes.push(format!("`{field}` is not used: it is not the place before or after the action"));
            }
        }
    }
    if before.is_some() || after.is_some() {
        return Ok((before, after));
    }
    let misnamed = ["room", "place"].into_iter().find(|name| fields.get(name).is_some());
    Err(misnamed.map_or(TurnError::Missing("location_before"), TurnError::MisnamedLocation))
}

/// Gives the name of `named` to the places of a turn that have its id and no name. Without an id it is the name of
/// the only place of the turn. False where it is none of them.
fn give_name(places: [Option<&mut TurnLocation>; 2], named: &TurnLocation) -> bool {
    let mut places: Vec<&mut TurnLocation> = places.into_iter().flatten().collect();
    let stays = places.iter().all(|place| place.id == places[0].id);
    places.retain(|place| named.id.map_or(stays, |id| place.id == Some(id)));
    let is_meant = !places.is_empty();
    for place in places {
        place.name = place.name.take().or_else(|| named.name.clone());
    }
    is_meant
}

/// Reads the caller's id of a turn.
fn id(value: &Value) -> Result<String, Expected> {
    match value {
        Value::String(id) if !id.trim().is_empty() => Ok(id.trim().to_owned()),
        Value::Number(id) => Ok(id.to_string()),
        _ => Err("a text or a number".into()),
    }
}

/// Reads a place from one field: an id, a name, or an object with both.
fn location(fields: Fields<'_>, name: &str) -> Result<Option<TurnLocation>, FieldError> {
    let Some(value) = fields.get(name) else { return Ok(None) };
    let wrong = |value: &Value, expected: &'static str| FieldError::new(name, value, expected);
    let id = |value: &Value| location_id(value).map_err(|_| wrong(value, ID));
    let location = match value {
        Value::Object(object) => {
            let fields = Fields::of(object);
            let name = fields.get("name").and_then(Value::as_str);
            match fields.get("id").or_else(|| fields.get("num")) {
                Some(Value::String(text)) if is_text_id(text) => by_text_id(text, name),
                Some(number) => TurnLocation::of_id(id(number)?, name),
                None => TurnLocation { name: name.map(str::to_owned), ..TurnLocation::default() },
            }
        }
        Value::String(text) => {
            if !text.trim().is_empty() && !is_text_id(text) {
                return Err(wrong(value, ID));
            }
            TurnLocation::of_text(text, None)
        }
        other => TurnLocation::of_id(id(other)?, None),
    };
    let nameless = location.name.as_deref().is_none_or(|name| name.trim().is_empty());
    if location.id.is_none() && nameless {
        return Err(wrong(value, PLACE));
    }
    Ok(Some(location))
}

/// Reads a place from two fields: `location_id` and `location_name`.
fn split_location(fields: Fields<'_>) -> Result<Option<TurnLocation>, FieldError> {
    let name = fields.read("location_name", text)?;
    let id = match fields.get("location_id") {
        Some(Value::String(id)) if is_text_id(id) => {
            return Ok(Some(by_text_id(id, name.as_deref())));
        }
        _ => fields.read("location_id", location_id)?,
    };
    if id.is_none() && name.as_deref().is_some_and(|name| name.trim().is_empty()) {
        return Err(FieldError::new("location_name", &Value::from(""), PLACE));
    }
    Ok((id.is_some() || name.is_some()).then_some(TurnLocation { id, name, is_own_id: false }))
}

/// A place whose id is a text: a name, unless it is written as `location:town-square`.
fn by_text_id(text: &str, name: Option<&str>) -> TurnLocation {
    let place = TurnLocation::of_text(text, name);
    if place.id.is_some() || place.is_own_id {
        place
    } else {
        TurnLocation { name: Some(name_of_text_id(text, name)), ..place }
    }
}

/// True for an id that is a text and no number: it is the name of its place.
fn is_text_id(text: &str) -> bool {
    text.trim().bytes().any(|byte| !byte.is_ascii_digit())
}

/// Reads a date or a time.
pub fn date(value: &Value) -> Result<String, Expected> {
    let date = value.as_str().map(str::trim).filter(|date| is_date(date));
    let expected = "a date such as 2026-01-31 or a time such as 2026-01-31T10:40:00Z";
    date.map(str::to_owned).ok_or(expected.into())
}

fn inventory(value: &Value) -> Result<Vec<String>, Expected> {
    let name = |item: &Value| item.as_str().or_else(|| item.get("name")?.as_str()).map(str::to_owned);
    value.as_array().and_then(|items| items.iter().map(name).collect()).ok_or("a list of names".into())
}

fn location_id(value: &Value) -> Result<u64, Expected> {
    value.as_u64().ok_or(ID.into())
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Turn, TurnError> {
        Turn::from_json(text)
    }

    fn location(turn: &Turn) -> (Option<u64>, Option<&str>) {
        let location = turn.location_before.as_ref().expect("a place");
        (location.id, location.name.as_deref())
    }

    #[test]
    fn places_are_read_in_all_their_forms() {
        let with =
            |place: &str| read(&format!(r#"{{"action": "a", "response": "b", {place}}}"#)).expect("a turn");
        assert_eq!(location(&with(r#""location_before": {"id": 23, "name": "x"}"#)), (Some(23), Some("x")));
        assert_eq!(location(&with(r#""location_before": 0"#)), (Some(0), None));
        assert_eq!(location(&with(r#""location": "Attic""#)), (None, Some("Attic")));
        let town = with(r#""location": {"id": "town-square", "name": "Town Square"}"#);
        assert_eq!(location(&town), (None, Some("Town Square")));
        let town = with(r#""location_id": "town-square", "location_name": "Town Square""#);
        assert_eq!(location(&town), (None, Some("Town Square")));
        let maze = with(r#""location": {"id": "maze-2", "name": "Maze"}"#);
        assert_eq!(location(&maze), (None, Some("maze-2")));
        assert_eq!(
            location(&with(r#""location_id": 4, "location_name": "Attic""#)),
            (Some(4), Some("Attic"))
        );
        assert_eq!(location(&with(r#""z_machine_context": {"location_before": 7}"#)), (Some(7), None));
        assert!(with(r#""location_after": 7"#).location_before.is_none());
    }

    #[test]
    fn unusable_values_are_refused() {
        let refused = |fields: &str| {
            let turn = read(&format!(r#"{{"action": "a", "response": "b", "location": 1, {fields}}}"#));
            turn.expect_err("refused").to_string()
        };
        assert_eq!(
            refused(r#""location_before": "23""#),
            "`location_before` is \"23\", expected the engine's integer id, 0 or more"
        );
        assert!(refused(r#""location_before": -3"#).contains("-3"));
        assert!(refused(r#""location_before": 1.5"#).contains("integer"));
        assert!(refused(r#""episode": "ep1b2""#).contains("one run of digits"));
        assert!(refused(r#""turn": -1"#).contains("0 or more"));
        assert!(refused(r#""location": null, "location_name": " ""#).contains("an id, a name"));
        assert!(refused(r#""inventory_before": "sword""#).contains("list"));
        assert!(refused(r#""died": "yes""#).contains("true or false"));
        assert!(refused(r#""timestamp": "yesterday, at noon""#).contains("timestamp"));
        assert_eq!(read("[]"), Err(TurnError::NotAnObject("a list")));
        assert_eq!(read(r#"{"action": "a", "response": "b"}"#), Err(TurnError::Missing("location_before")));
        assert_eq!(read(r#"{"response": "b", "location": 1}"#), Err(TurnError::Missing("action")));
    }

    #[test]
    fn other_spellings() {
        let turn = read(r#"{"action": "a", "response": "b", "location": 1, "valid": true, "episode": "ep_003", "score_before": 5.0,
                "remember": "x", "rememberImportance": 5000, "unknown": [], "reasoning": null}"#)
        .expect("a turn");
        assert_eq!((turn.world_changed, turn.episode, turn.score_before), (Some(true), Some(3), Some(5)));
        assert_eq!(turn.remember.expect("kept").importance, 1000);
    }

    /// Found by fuzzing: the label was accepted, the number refused.
    #[test]
    fn the_largest_numbers_are_accepted() {
        for episode in ["18446744073709551615", "\"ep_18446744073709551615\""] {
            let turn = read(&format!(
                r#"{{"action": "a", "response": "b", "location": 1, "turn": {}, "episode": {episode}}}"#,
                u64::MAX
            ));
            let turn = turn.expect("a turn");
            assert_eq!((turn.episode, turn.turn), (Some(u64::MAX), Some(u64::MAX)));
        }
    }

    #[test]
    fn a_scale_may_stand_in_quotation_marks_and_no_number_is_the_default() {
        let importance = |fields: &str| {
            let remember = r#""remember": "x", "remember_importance""#;
            let turn =
                read(&format!(r#"{{"action": "a", "response": "b", "location": 1, {remember}: {fields}}}"#));
            turn.expect("a turn").remember.expect("kept").importance
        };
        assert_eq!(importance(r#"7, "importance_scale": "10""#), 700);
        assert_eq!(importance(r#""high""#), memories_document::types::DEFAULT_IMPORTANCE);
    }
}
