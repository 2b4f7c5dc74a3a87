//! Numbers and truth values of JSON, which may also be written as texts that say them: `"23"`, `"+5"`, `"True"`.

use std::borrow::Cow;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// The kind of value that a conversion expected when it refused one, such as `a text`.
pub type Expected = Cow<'static, str>;

/// The number, truth value or `null` in a text such as `"5"`, `"+5"` or `"True"`; any other value as it is.
pub(crate) fn unquoted(value: &Value) -> Cow<'_, Value> {
    let Some(text) = value.as_str().map(str::trim) else { return Cow::Borrowed(value) };
    let number = text.strip_prefix('+').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    match serde_json::from_str(&number.unwrap_or(text).to_ascii_lowercase()) {
        Ok(read @ (Value::Number(_) | Value::Bool(_) | Value::Null)) => Cow::Owned(read),
        _ => Cow::Borrowed(value),
    }
}

/// True or false.
pub fn flag(value: &Value) -> Result<bool, Expected> {
    unquoted(value).as_bool().ok_or("true or false".into())
}

/// A number.
pub fn number(value: &Value) -> Result<f64, Expected> {
    unquoted(value).as_f64().ok_or("a number".into())
}

/// A whole number; also one written as `5.0`.
pub fn integer(value: &Value) -> Result<i64, Expected> {
    let value = &*unquoted(value);
    let whole = |number: &f64| number.fract() == 0.0 && number.abs() < 9e15;
    let number = value.as_i64().or_else(|| value.as_f64().filter(whole).map(|number| number as i64));
    number.ok_or("a whole number".into())
}

/// A whole number from 0 up to the largest `u64`.
pub fn count(value: &Value) -> Result<u64, Expected> {
    let value = &*unquoted(value);
    let number = value.as_u64().or_else(|| integer(value).ok().and_then(|number| number.try_into().ok()));
    number.ok_or("a whole number, 0 or more".into())
}

/// A field of a type that is read whole, as [`count`] reads it.
pub(crate) fn count_of<'de, D: Deserializer<'de>>(field: D) -> Result<u64, D::Error> {
    count(&Value::deserialize(field)?).map_err(D::Error::custom)
}

/// The same; nothing for `null`.
pub(crate) fn count_if_any<'de, D: Deserializer<'de>>(field: D) -> Result<Option<u64>, D::Error> {
    let value = Value::deserialize(field)?;
    if value.is_null() { Ok(None) } else { count(&value).map(Some).map_err(D::Error::custom) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_text_is_the_number_or_truth_value_that_it_says() {
        for (value, number) in
            [(json!("23"), 23), (json!(" +5 "), 5), (json!("-3"), -3), (json!("4.0"), 4), (json!(7), 7)]
        {
            assert_eq!(integer(&value), Ok(number), "{value}");
        }
        assert_eq!(
            (flag(&json!("True")), flag(&json!("false")), flag(&json!(true))),
            (Ok(true), Ok(false), Ok(true))
        );
        for value in
            [json!("yes"), json!("1 apple"), json!("++1"), json!("+"), json!(""), json!("[1]"), json!([1])]
        {
            assert!(integer(&value).is_err() && flag(&value).is_err(), "{value}");
        }
        assert!(count(&json!("-1")).is_err() && number(&json!("many")).is_err());
        assert!(unquoted(&json!("null")).is_null() && !unquoted(&json!("nul")).is_null());
    }
}
