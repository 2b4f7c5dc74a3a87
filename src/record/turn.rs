//! One turn of a game: the JSON that scripts send, read tolerantly and checked.
//!
//! A JSON object enters, a [`Turn`] leaves. Unknown fields are ignored, `null` is as good as absent;
//! what is there but cannot be meant is refused with the field's name and what was expected.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::types::hint::{Advice, Hint};
use crate::types::{Category, DEFAULT_IMPORTANCE, clamp_importance};

/// A place as a caller names it: by id, by name, or by both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Spot {
    /// The engine's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
    /// The name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// What the player wants kept, without a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Remember {
    /// As worded.
    pub text: String,
    /// 1 to 1000.
    pub importance: u16,
    /// NOTE unless the caller says otherwise.
    pub category: Category,
}

/// One turn. What is `None` the caller did not say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Turn {
    /// Episode; the running one where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub episode: Option<u64>,
    /// Number of the turn; one more than the last where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// What the player did.
    pub action: String,
    /// What the game answered.
    pub response: String,
    /// Where the action was taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location_before: Option<Spot>,
    /// Where it led.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location_after: Option<Spot>,
    /// Score before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score_before: Option<i64>,
    /// Score after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score_after: Option<i64>,
    /// The engine's move counter before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moves_before: Option<i64>,
    /// The engine's move counter after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moves_after: Option<i64>,
    /// What was carried before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inventory_before: Option<Vec<String>>,
    /// What was carried after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inventory_after: Option<Vec<String>>,
    /// Whether the player died.
    pub died: bool,
    /// Whether the game's world changed, where the caller knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world_changed: Option<bool>,
    /// Why the player did it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// What the player wants kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remember: Option<Remember>,
    /// When it was played: a date or RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
}

/// Why a turn is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TurnError {
    /// The text is not JSON.
    #[error("not JSON: {0}")]
    NotJson(String),
    /// JSON, but no object.
    #[error("a turn is a JSON object, this is {0}")]
    NotAnObject(&'static str),
    /// A field that must be there is not.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// A field holds what cannot be meant.
    #[error("`{field}` is {found}, expected {expected}")]
    Unexpected {
        /// The field.
        field: String,
        /// What it holds.
        found: String,
        /// What it should hold.
        expected: &'static str,
    },
}

impl TurnError {
    /// What the caller can do.
    pub fn hint(&self) -> &'static str {
        match self {
            TurnError::NotJson(_) | TurnError::NotAnObject(_) => {
                "send one object, such as {\"action\": \"look\", \"response\": \"A field.\", \"location\": 64}"
            }
            TurnError::Missing("location_before") => {
                "say where it happened: `location_before`, `location_after`, `location` or `location_id`"
            }
            TurnError::Missing(_) => "`action`, `response` and one location are required",
            TurnError::Unexpected { field, .. } if field == "episode" => {
                "send the number, or a label with one run of digits such as `ep_003`"
            }
            TurnError::Unexpected { found, expected, .. }
                if found.starts_with('"') && (*expected == ID || expected.starts_with("a whole number")) =>
            {
                "numbers are sent as numbers, not as text"
            }
            TurnError::Unexpected { .. } => "correct that field; nothing of this turn is recorded",
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
    /// A turn with nothing but what is required.
    pub fn new(action: impl Into<String>, response: impl Into<String>, location: Option<Spot>) -> Turn {
        Turn {
            episode: None,
            turn: None,
            action: action.into(),
            response: response.into(),
            location_before: location,
            location_after: None,
            score_before: None,
            score_after: None,
            moves_before: None,
            moves_after: None,
            inventory_before: None,
            inventory_after: None,
            died: false,
            world_changed: None,
            reasoning: None,
            remember: None,
            timestamp: None,
        }
    }

    /// Reads a turn from JSON text.
    ///
    /// # Errors
    ///
    /// See [`TurnError`].
    pub fn from_json(text: &str) -> Result<Turn, TurnError> {
        let value: Value = serde_json::from_str(text).map_err(|error| {
            // The line of a text of one line says nothing, and would be taken for that of its file.
            let problem = match text.trim_end().contains('\n') {
                true => error.to_string(),
                false => error.to_string().replace(" at line 1 column ", " at column "),
            };
            TurnError::NotJson(problem)
        })?;
        Turn::from_value(&value)
    }

    /// Reads a turn from a JSON value.
    ///
    /// # Errors
    ///
    /// See [`TurnError`].
    pub fn from_value(value: &Value) -> Result<Turn, TurnError> {
        let Value::Object(object) = value else { return Err(TurnError::NotAnObject(kind_of(value))) };
        let fields = Fields { object, nested: object.get("z_machine_context").and_then(Value::as_object) };
        let action = fields.text("action")?.ok_or(TurnError::Missing("action"))?;
        let response = fields.text("response")?.ok_or(TurnError::Missing("response"))?;
        let location_after = fields.spot("location_after")?;
        let before = match fields.spot("location_before")? {
            Some(spot) => Some(spot),
            None => fields.spot("location")?.or(fields.split_spot()?),
        };
        if before.is_none() && location_after.is_none() {
            return Err(TurnError::Missing("location_before"));
        }
        Ok(Turn {
            episode: fields.episode()?,
            turn: fields.count("turn")?,
            location_before: before,
            location_after,
            score_before: fields.integer("score_before")?,
            score_after: fields.integer("score_after")?,
            moves_before: fields.integer("moves_before")?,
            moves_after: fields.integer("moves_after")?,
            inventory_before: fields.inventory("inventory_before")?,
            inventory_after: fields.inventory("inventory_after")?,
            died: fields.flag("died")?.unwrap_or(false),
            world_changed: match fields.flag("world_changed")? {
                Some(changed) => Some(changed),
                None => fields.flag("valid")?,
            },
            reasoning: fields.text("reasoning")?,
            remember: fields.remember()?,
            timestamp: fields.timestamp()?,
            ..Turn::new(action, response, None)
        })
    }
}

/// The fields of a turn, with those under `z_machine_context` behind them.
struct Fields<'a> {
    object: &'a Map<String, Value>,
    nested: Option<&'a Map<String, Value>>,
}

impl Fields<'_> {
    fn get(&self, name: &str) -> Option<&Value> {
        let nested = || self.nested.and_then(|nested| nested.get(name));
        self.object.get(name).or_else(nested).filter(|value| !value.is_null())
    }

    fn text(&self, name: &'static str) -> Result<Option<String>, TurnError> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other) => Err(unexpected(name, other, "a text")),
        }
    }

    fn flag(&self, name: &'static str) -> Result<Option<bool>, TurnError> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(other) => Err(unexpected(name, other, "true or false")),
        }
    }

    fn integer(&self, name: &'static str) -> Result<Option<i64>, TurnError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        integer(value).map(Some).ok_or_else(|| unexpected(name, value, "a whole number"))
    }

    fn count(&self, name: &'static str) -> Result<Option<u64>, TurnError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        count(value).map(Some).ok_or_else(|| unexpected(name, value, "a whole number, 0 or more"))
    }

    fn episode(&self) -> Result<Option<u64>, TurnError> {
        let Some(value) = self.get("episode") else { return Ok(None) };
        let episode = match value {
            Value::String(label) => parse_episode(label),
            other => count(other),
        };
        let expected = "a whole number or a label with exactly one run of digits";
        episode.map(Some).ok_or_else(|| unexpected("episode", value, expected))
    }

    fn inventory(&self, name: &'static str) -> Result<Option<Vec<String>>, TurnError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let wrong = || unexpected(name, value, "a list of names");
        let item = |item: &Value| match item {
            Value::String(name) => Ok(name.clone()),
            Value::Object(object) => {
                object.get("name").and_then(Value::as_str).map(str::to_owned).ok_or_else(wrong)
            }
            _ => Err(wrong()),
        };
        value.as_array().ok_or_else(wrong)?.iter().map(item).collect::<Result<_, _>>().map(Some)
    }

    fn spot(&self, name: &'static str) -> Result<Option<Spot>, TurnError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let spot = match value {
            Value::Object(object) => {
                let present = |key| object.get(key).filter(|value| !value.is_null());
                let id = present("id").or_else(|| present("num"));
                let id = id.map(|id| location_id(name, id)).transpose()?;
                let name_of = present("name").and_then(Value::as_str).map(str::to_owned);
                Spot { id, name: name_of.filter(|_| id.is_some() || present("name").is_some()) }
            }
            Value::String(text) => {
                let digits = text.trim();
                if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
                    return Err(unexpected(name, value, ID));
                }
                Spot { id: None, name: Some(text.clone()) }
            }
            other => Spot { id: Some(location_id(name, other)?), name: None },
        };
        let nameless = spot.name.as_deref().is_none_or(|name| name.trim().is_empty());
        if spot.id.is_none() && nameless {
            return Err(unexpected(name, value, PLACE));
        }
        Ok(Some(spot))
    }

    /// A place in two fields: `location_id` and `location_name`.
    fn split_spot(&self) -> Result<Option<Spot>, TurnError> {
        let id = self.get("location_id").map(|id| location_id("location_id", id)).transpose()?;
        let name = self.text("location_name")?;
        if id.is_none() && name.as_deref().is_some_and(|name| name.trim().is_empty()) {
            return Err(unexpected("location_name", &Value::from(""), PLACE));
        }
        Ok((id.is_some() || name.is_some()).then_some(Spot { id, name }))
    }

    fn remember(&self) -> Result<Option<Remember>, TurnError> {
        let Some(text) = self.text("remember")?.filter(|text| !text.trim().is_empty()) else {
            return Ok(None);
        };
        let importance = self.get("remember_importance").or_else(|| self.get("rememberImportance"));
        let importance = importance.and_then(Value::as_f64).map_or(DEFAULT_IMPORTANCE, clamp_importance);
        let category = match self.text("remember_category")? {
            None => Category::note(),
            Some(name) => Category::new(&name).ok_or_else(|| {
                unexpected("remember_category", &Value::String(name), "a word such as `NOTE` or `PUZZLE`")
            })?,
        };
        Ok(Some(Remember { text, importance, category }))
    }

    fn timestamp(&self) -> Result<Option<String>, TurnError> {
        let Some(text) = self.text("timestamp")? else { return Ok(None) };
        if crate::document::fields::is_date(text.trim()) {
            return Ok(Some(text.trim().to_owned()));
        }
        let expected = "a date such as 2026-01-31 or a time such as 2026-01-31T10:40:00Z";
        Err(unexpected("timestamp", &Value::String(text), expected))
    }
}

/// The number of an episode's label: `3` or a text with exactly one run of digits such as `ep_003`.
pub fn parse_episode(label: &str) -> Option<u64> {
    let mut runs = label.split(|c: char| !c.is_ascii_digit()).filter(|run| !run.is_empty());
    let number = runs.next()?.parse().ok()?;
    let signed = label.trim_start().starts_with(['-', '+']);
    (runs.next().is_none() && !signed).then_some(number)
}

fn location_id(field: &str, value: &Value) -> Result<u64, TurnError> {
    value.as_u64().ok_or_else(|| unexpected(field, value, ID))
}

/// A whole number, also one that was sent as `5.0`.
fn integer(value: &Value) -> Option<i64> {
    let whole = |number: &f64| number.fract() == 0.0 && number.abs() < 9e15;
    value.as_i64().or_else(|| value.as_f64().filter(whole).map(|number| number as i64))
}

/// A whole number from 0 up, as large as they come.
fn count(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| integer(value).and_then(|number| u64::try_from(number).ok()))
}

fn unexpected(field: &str, value: &Value, expected: &'static str) -> TurnError {
    let mut found = value.to_string();
    if let Some((end, _)) = found.char_indices().nth(40) {
        found.truncate(end);
        found.push('…');
    }
    TurnError::Unexpected { field: field.to_owned(), found, expected }
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

    fn spot(turn: &Turn) -> (Option<u64>, Option<&str>) {
        let spot = turn.location_before.as_ref().expect("a place");
        (spot.id, spot.name.as_deref())
    }

    #[test]
    fn places_are_read_in_all_their_forms() {
        let with =
            |place: &str| read(&format!(r#"{{"action": "a", "response": "b", {place}}}"#)).expect("a turn");
        assert_eq!(spot(&with(r#""location_before": {"id": 23, "name": "x"}"#)), (Some(23), Some("x")));
        assert_eq!(spot(&with(r#""location_before": 0"#)), (Some(0), None));
        assert_eq!(spot(&with(r#""location": "Attic""#)), (None, Some("Attic")));
        assert_eq!(spot(&with(r#""location_id": 4, "location_name": "Attic""#)), (Some(4), Some("Attic")));
        assert_eq!(spot(&with(r#""z_machine_context": {"location_before": 7}"#)), (Some(7), None));
        assert!(with(r#""location_after": 7"#).location_before.is_none());
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
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
        let turn = read(
            r#"{"action": "a", "response": "b", "location": 1, "valid": true, "episode": "ep_003", "score_before": 5.0,
                "remember": "x", "rememberImportance": 5000, "unknown": [], "reasoning": null}"#,
        )
        .expect("a turn");
        assert_eq!((turn.world_changed, turn.episode, turn.score_before), (Some(true), Some(3), Some(5)));
        assert_eq!(turn.remember.expect("kept").importance, 1000);
    }

    /// Found by fuzzing: as a label it was taken, as a number refused.
    #[test]
    fn numbers_are_as_large_as_they_come() {
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
    fn importance_that_is_no_number_is_the_default() {
        let turn = read(
            r#"{"action": "a", "response": "b", "location": 1, "remember": "x", "remember_importance": "high"}"#,
        );
        assert_eq!(turn.expect("a turn").remember.expect("kept").importance, DEFAULT_IMPORTANCE);
    }
}
