//! The arguments of a call: an object as a model sent it, read tolerantly, refused with the field's name.

use serde_json::{Map, Value};

use crate::document::nearest;
use crate::mcp::answer::Refusal;
use crate::types::{clamp_importance, did_you_mean};

/// Named values of one call.
#[derive(Debug, Clone, Copy)]
pub struct Arguments<'a> {
    object: &'a Map<String, Value>,
}

impl<'a> Arguments<'a> {
    /// The arguments in an object.
    pub fn of(object: &'a Map<String, Value>) -> Arguments<'a> {
        Arguments { object }
    }

    /// Refuses what is not among the known names: a misspelt argument would be left out in silence.
    pub fn refuse_unknown(&self, known: &[&str]) -> Result<(), Refusal> {
        let Some(unknown) = self.object.keys().find(|name| !known.contains(&name.as_str())) else {
            return Ok(());
        };
        let near = nearest(unknown, known.iter().copied(), 1);
        let names: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
        let otherwise = match names.is_empty() {
            true => "it takes no arguments".to_owned(),
            false => format!("there are {}", names.join(", ")),
        };
        Err(Refusal::new(format!("there is no argument `{unknown}`"))
            .hint(did_you_mean(&near).unwrap_or(otherwise)))
    }

    /// All of it.
    pub fn object(&self) -> &'a Map<String, Value> {
        self.object
    }

    fn get(&self, name: &str) -> Option<&'a Value> {
        self.object.get(name).filter(|value| !value.is_null())
    }

    /// A text without outer space, `None` where it is blank or absent. A number counts as a text: ids are
    /// often sent so.
    pub fn text(&self, name: &str) -> Result<Option<String>, Refusal> {
        let text = match self.get(name) {
            None => return Ok(None),
            Some(Value::String(text)) => text.trim().to_owned(),
            Some(Value::Number(number)) => number.to_string(),
            Some(other) => return Err(wrong(name, other, "a text")),
        };
        Ok(Some(text).filter(|text| !text.is_empty()))
    }

    /// A text that must be there; `hint` says what is wanted.
    pub fn required(&self, name: &str, hint: &str) -> Result<String, Refusal> {
        self.text(name)?.ok_or_else(|| Refusal::new(format!("`{name}` is empty")).hint(hint))
    }

    /// A whole number from 0 up; in quotation marks, too.
    pub fn count(&self, name: &str) -> Result<Option<u64>, Refusal> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let number = match value {
            Value::String(text) => text.trim().parse().ok(),
            other => other.as_u64().or_else(|| {
                other
                    .as_f64()
                    .filter(|number| *number >= 0.0 && number.fract() == 0.0)
                    .map(|number| number as u64)
            }),
        };
        number.map(Some).ok_or_else(|| wrong(name, value, "a whole number, 0 or more"))
    }

    /// An importance, brought into its bounds.
    pub fn importance(&self, name: &str) -> Result<Option<u16>, Refusal> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let number = match value {
            Value::String(text) => text.trim().parse().ok(),
            other => other.as_f64(),
        };
        let number = number.filter(|number: &f64| number.is_finite());
        number
            .map(|number| Some(clamp_importance(number)))
            .ok_or_else(|| wrong(name, value, "a number, 1 to 1000"))
    }

    /// Yes or no.
    pub fn flag(&self, name: &str) -> Result<Option<bool>, Refusal> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(Value::String(text)) if text == "true" || text == "false" => Ok(Some(text == "true")),
            Some(other) => Err(wrong(name, other, "true or false")),
        }
    }
}

fn wrong(name: &str, value: &Value, expected: &str) -> Refusal {
    Refusal::new(format!("`{name}` is {value}, expected {expected}"))
        .hint("correct that argument; nothing was done")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_read_tolerantly_and_refused_by_name() {
        let value = json!({"a": " x ", "n": 23, "q": "5", "f": 4.0, "no": -1, "yes": true, "blank": " ", "null": null});
        let arguments = Arguments::of(value.as_object().unwrap());
        assert_eq!(arguments.text("a").unwrap().as_deref(), Some("x"));
        assert_eq!(arguments.text("n").unwrap().as_deref(), Some("23"));
        assert_eq!((arguments.count("q"), arguments.count("f")), (Ok(Some(5)), Ok(Some(4))));
        assert_eq!(arguments.count("null"), Ok(None));
        assert!(arguments.count("no").is_err_and(|refusal| refusal.problem.starts_with("`no` is -1")));
        assert_eq!(arguments.flag("yes"), Ok(Some(true)));
        assert!(
            arguments
                .required("blank", "say it")
                .is_err_and(|refusal| refusal.text() == "`blank` is empty\nhint: say it")
        );
        assert_eq!(arguments.importance("no"), Ok(Some(1)));
        let refusal =
            arguments.refuse_unknown(&["a", "n", "q", "f", "no", "yes", "blanks", "null"]).unwrap_err();
        assert_eq!(refusal.text(), "there is no argument `blank`\nhint: did you mean `blanks`?");
    }
}
