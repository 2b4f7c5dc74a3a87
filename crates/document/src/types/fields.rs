//! Fields of JSON objects that scripts, models and people wrote: read tolerantly, refused by name.
//!
//! A number or a truth value may be written as a text (`"23"`, `"true"`), where it can mean one thing.
//! A conversion such as [`text`] or [`count`] turns a value into a type, or says what it expects instead.
//! [`Fields`] applies it to the field of a name; the error then names field, value and expectation.
//! `null` counts as absent, and so does the text `null` where no text is expected.

use std::str::FromStr;

use serde_json::{Map, Value};
use strum::VariantNames;

use crate::types::Span;
use crate::types::importance::{EXPECTED_IMPORTANCE, importance_of_person};
use crate::types::lenient::unquoted;
pub use crate::types::lenient::{Expected, count, flag, integer, number};
use crate::types::names::one_of;
use crate::types::text::truncate;

/// Longest value shown in an error, in characters.
const SHOWN_CHARS: usize = 60;

/// A field whose value cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` is {found}, expected {expected}")]
pub struct FieldError {
    /// Name of the field.
    pub field: String,
    /// Its value as JSON, truncated.
    pub found: String,
    /// The kind of value that was expected.
    pub expected: Expected,
}

impl FieldError {
    /// The error for a value.
    pub fn new(field: &str, value: &Value, expected: impl Into<Expected>) -> FieldError {
        let found = truncate(&value.to_string(), SHOWN_CHARS);
        FieldError { field: field.to_owned(), found, expected: expected.into() }
    }
}

impl From<FieldError> for String {
    fn from(error: FieldError) -> String {
        error.to_string()
    }
}

/// The fields of an object.
#[derive(Debug, Clone, Copy)]
pub struct Fields<'a> {
    object: &'a Map<String, Value>,
    fallback: Option<&'a Map<String, Value>>,
}

impl<'a> Fields<'a> {
    /// The fields of an object.
    pub fn of(object: &'a Map<String, Value>) -> Fields<'a> {
        Fields { object, fallback: None }
    }

    /// The same, with fields of the object at `name` for those that are missing.
    pub fn with_nested(self, name: &str) -> Fields<'a> {
        Fields { fallback: self.object.get(name).and_then(Value::as_object), ..self }
    }

    /// The value of a field, `None` where it is missing or `null`.
    pub fn get(&self, name: &str) -> Option<&'a Value> {
        let nested = || self.fallback.and_then(|fallback| fallback.get(name));
        self.object.get(name).or_else(nested).filter(|value| !value.is_null())
    }

    /// The names of the fields.
    pub fn names(&self) -> impl Iterator<Item = &'a str> {
        self.object.keys().map(String::as_str)
    }

    /// The converted value of a field, `None` where it is missing.
    pub fn read<T>(
        &self,
        name: &str,
        conversion: impl FnOnce(&Value) -> Result<T, Expected>,
    ) -> Result<Option<T>, FieldError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        match conversion(value) {
            Ok(read) => Ok(Some(read)),
            Err(_) if unquoted(value).is_null() => Ok(None),
            Err(expected) => Err(FieldError::new(name, value, expected)),
        }
    }

    /// The converted value of the first of these fields that is there.
    pub fn read_first<T>(
        &self,
        names: &[&str],
        conversion: impl FnOnce(&Value) -> Result<T, Expected>,
    ) -> Result<Option<T>, FieldError> {
        match names.iter().find(|name| self.get(name).is_some()) {
            Some(name) => self.read(name, conversion),
            None => Ok(None),
        }
    }
}

/// A text.
pub fn text(value: &Value) -> Result<String, Expected> {
    value.as_str().map(str::to_owned).ok_or("a text".into())
}

/// A list of texts; a single text is a list of one.
pub fn texts(value: &Value) -> Result<Vec<String>, Expected> {
    let list = match value {
        Value::String(text) => Some(vec![text.clone()]),
        Value::Array(items) => items.iter().map(|item| item.as_str().map(str::to_owned)).collect(),
        _ => None,
    };
    list.ok_or("a list of texts".into())
}

/// An episode: a number, or a label with one run of digits.
pub fn episode(value: &Value) -> Result<u64, Expected> {
    let episode = match value {
        Value::String(label) => parse_episode(label),
        other => count(other).ok(),
    };
    episode.ok_or("a whole number or a label with exactly one run of digits".into())
}

/// The number of an episode's label: `3`, or a text with exactly one run of digits such as `ep_003`.
pub fn parse_episode(label: &str) -> Option<u64> {
    let mut runs = label.split(|c: char| !c.is_ascii_digit()).filter(|run| !run.is_empty());
    let number = runs.next()?.parse().ok()?;
    let signed = label.trim_start().starts_with(['-', '+']);
    (runs.next().is_none() && !signed).then_some(number)
}

/// An importance that a person states.
pub fn importance(value: &Value) -> Result<u16, Expected> {
    number(value).ok().and_then(importance_of_person).ok_or(EXPECTED_IMPORTANCE.into())
}

/// Turns or messages: `3`, `"3-5"`, `[3, 5]` or `{"first": 3, "last": 5}`.
pub fn span(value: &Value) -> Result<Span, Expected> {
    let number = |end: Option<&Value>| end.and_then(|end| count(end).ok());
    let ends = match value {
        Value::String(text) => return parse_span(text).map_err(Expected::from),
        Value::Array(ends) => (number(ends.first()), number(ends.last())),
        Value::Object(ends) => (number(ends.get("first")), number(ends.get("last"))),
        one => (number(Some(one)), number(Some(one))),
    };
    match ends {
        (Some(first), Some(last)) => Ok(Span { first, last }),
        _ => Err("a number or its `first` and `last`".into()),
    }
}

/// A number, or first and last of a run: `23`, `23-24`.
pub fn parse_span(text: &str) -> Result<Span, &'static str> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (first.trim().parse(), last.trim().parse()) {
        (Ok(first), Ok(last)) if first <= last => Ok(Span { first, last }),
        _ => Err("a number, or first and last such as `23-24`"),
    }
}

/// The value of an enum by its name.
pub fn named<T: FromStr + VariantNames>(value: &Value) -> Result<T, Expected> {
    let named = value.as_str().and_then(|name| name.parse().ok());
    named.ok_or_else(|| one_of(T::VARIANTS).into())
}
