//! The scale of importance, 1 to 1000, for everybody who states one.
//!
//! From a person, a value out of range is refused. A model, a tool or an agent may mean a scale of ten: its
//! values up to 10 are multiplied by 100, those out of range are clamped, and a warning says so.

use serde_json::Value;

/// Importance of a memory that states none.
pub(crate) const DEFAULT_IMPORTANCE: u16 = 500;

/// The kind of value that a person is expected to give.
pub(crate) const EXPECTED_IMPORTANCE: &str = "a number from 1 to 1000";

/// Highest value on a scale of ten.
const TEN: f64 = 10.0;

/// An importance, rounded and clamped to 1 to 1000.
pub(crate) fn clamp_importance(importance: f64) -> u16 {
    // Exact: the value is a whole number within the range of `u16`.
    importance.round().clamp(1.0, 1000.0) as u16
}

/// The importance that a person states, rounded; `None` where it is out of range.
pub(crate) fn importance_of_person(number: f64) -> Option<u16> {
    (1.0..=1000.0).contains(&number).then(|| clamp_importance(number))
}

/// The importance that a model, a tool or an agent states: a number, or a text such as `8/10`. Each change of
/// the value is a warning. `None` stands for the default.
pub(crate) fn importance_of_program(value: &Value, warnings: &mut Vec<String>) -> Option<u16> {
    let number = match value {
        Value::Null => return None,
        Value::String(text) => text.split('/').next().and_then(|text| text.trim().parse().ok()),
        other => other.as_f64(),
    };
    let Some(number) = number.filter(|number: &f64| number.is_finite()) else {
        let found = crate::types::text::truncate(&value.to_string(), 60);
        warnings.push(format!("importance {found} is not a number: {DEFAULT_IMPORTANCE} is used"));
        return None;
    };
    let scaled = if number <= TEN { number * 100.0 } else { number };
    let importance = clamp_importance(scaled);
    if !(0.5..1000.5).contains(&scaled) {
        warnings.push(format!("importance {number} is out of range: {importance} is used"));
    } else if number <= TEN {
        warnings.push(format!("importance {number} is on a scale of ten: {importance} is used"));
    }
    Some(importance)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn programs_may_use_a_scale_of_ten_and_hear_of_it() {
        for (value, importance, said) in [
            (json!(900), Some(900), ""),
            (json!(10.4), Some(10), ""),
            (json!(8), Some(800), "importance 8 is on a scale of ten: 800 is used"),
            (json!(10), Some(1000), "importance 10 is on a scale of ten: 1000 is used"),
            (json!("8/10"), Some(800), "importance 8 is on a scale of ten: 800 is used"),
            (json!(0.8), Some(80), "importance 0.8 is on a scale of ten: 80 is used"),
            (json!(5000), Some(1000), "importance 5000 is out of range: 1000 is used"),
            (json!(-3), Some(1), "importance -3 is out of range: 1 is used"),
            (json!("high"), None, "importance \"high\" is not a number: 500 is used"),
            (json!(null), None, ""),
        ] {
            let mut warnings = Vec::new();
            assert_eq!(importance_of_program(&value, &mut warnings), importance, "{value}");
            assert_eq!(warnings.concat(), said, "{value}");
        }
    }

    #[test]
    fn persons_mean_what_they_say() {
        let stated = [1.0, 8.0, 1000.0, 0.0, 1001.0, f64::NAN].map(importance_of_person);
        assert_eq!(stated, [Some(1), Some(8), Some(1000), None, None, None]);
    }
}
