//! The scale of importance, 1 to 1000, for everybody who states one.
//!
//! From a person, a value out of range is refused. A model, a tool or an agent may have another scale, which its caller
//! sets; nothing is guessed from a value. What is out of range is clamped, and a warning says so.

use serde_json::Value;

/// Importance of a memory that states none.
pub const DEFAULT_IMPORTANCE: u16 = 500;

/// The kind of value that a person is expected to give.
pub const EXPECTED_IMPORTANCE: &str = "a number from 1 to 1000";

/// The kind of value that a scale is.
pub const EXPECTED_SCALE: &str = "a number, 1 or more: the highest importance, such as 10";

/// The highest importance on the scale of a program, whose values are brought to 1 to 1000.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct ImportanceScale(f64);

impl Default for ImportanceScale {
    fn default() -> ImportanceScale {
        ImportanceScale(HIGHEST)
    }
}

/// The highest importance.
const HIGHEST: f64 = 1000.0;

impl ImportanceScale {
    /// A scale by its highest value; `None` for a number below 1.
    pub fn new(highest: f64) -> Option<ImportanceScale> {
        (highest.is_finite() && highest >= 1.0).then_some(ImportanceScale(highest))
    }

    /// The highest value on it.
    pub fn highest(self) -> f64 {
        self.0
    }

    /// An importance on this scale, brought to 1 to 1000 and not yet clamped.
    pub(crate) fn scaled(self, importance: f64) -> f64 {
        importance * HIGHEST / self.0
    }
}

/// An importance, rounded and clamped to 1 to 1000.
pub fn clamp_importance(importance: f64) -> u16 {
    // Exact: the value is a whole number within the range of `u16`.
    importance.round().clamp(1.0, 1000.0) as u16
}

/// The importance that a person states, rounded; `None` where it is out of range.
pub fn importance_of_person(number: f64) -> Option<u16> {
    (1.0..=1000.0).contains(&number).then(|| clamp_importance(number))
}

/// The importance that a model, a tool or an agent states on its scale: a number, or its text, such as `8` or `8/10`,
/// where the second number is the scale. Each value out of range is a warning. `None` stands for the default.
pub fn importance_of_program(
    value: &Value,
    scale: ImportanceScale,
    warnings: &mut Vec<String>,
) -> Option<u16> {
    let parse = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    let (number, scale) = match value {
        Value::Null => return None,
        Value::String(text) => match text.split_once('/') {
            Some((number, of)) => (parse(number), parse(of).and_then(ImportanceScale::new).unwrap_or(scale)),
            None => (parse(text), scale),
        },
        other => (other.as_f64(), scale),
    };
    let Some(number) = number else {
        let found = crate::types::text::truncate(&value.to_string(), 60);
        warnings.push(format!("importance {found} is not a number: {DEFAULT_IMPORTANCE} is used"));
        return None;
    };
    let scaled = scale.scaled(number);
    let importance = clamp_importance(scaled);
    if !(0.5..1000.5).contains(&scaled) {
        warnings.push(format!("importance {number} is out of range: {importance} is used"));
    }
    Some(importance)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_means_what_its_scale_says_and_nothing_is_guessed() {
        for (value, scale, importance, said) in [
            (json!(900), 1000.0, Some(900), ""),
            (json!(8), 1000.0, Some(8), ""),
            (json!(8), 10.0, Some(800), ""),
            (json!(0.8), 1.0, Some(800), ""),
            (json!(3), 5.0, Some(600), ""),
            (json!(10), 10.0, Some(1000), ""),
            (json!(55), 100.0, Some(550), ""),
            (json!("8/10"), 1000.0, Some(800), ""),
            (json!("800"), 1000.0, Some(800), ""),
            (json!(99), 10.0, Some(1000), "importance 99 is out of range: 1000 is used"),
            (json!(5000), 1000.0, Some(1000), "importance 5000 is out of range: 1000 is used"),
            (json!(-3), 10.0, Some(1), "importance -3 is out of range: 1 is used"),
            (json!(0), 10.0, Some(1), "importance 0 is out of range: 1 is used"),
            (json!("high"), 10.0, None, "importance \"high\" is not a number: 500 is used"),
            (json!(null), 10.0, None, ""),
        ] {
            let mut warnings = Vec::new();
            let scale = ImportanceScale::new(scale).expect("a scale");
            assert_eq!(importance_of_program(&value, scale, &mut warnings), importance, "{value}");
            assert_eq!(warnings.concat(), said, "{value}");
        }
        for none in [0.0, 0.5, -10.0, f64::NAN, f64::INFINITY] {
            assert_eq!(ImportanceScale::new(none), None, "{none}");
        }
    }

    #[test]
    fn persons_mean_what_they_say() {
        let stated = [1.0, 8.0, 1000.0, 0.0, 1001.0, f64::NAN].map(importance_of_person);
        assert_eq!(stated, [Some(1), Some(8), Some(1000), None, None, None]);
    }
}
