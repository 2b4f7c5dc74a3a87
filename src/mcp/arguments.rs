//! The arguments of a call: an object as a model sent it, read tolerantly, refused with the field's name.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::document::nearest;
use crate::mcp::answer::Refusal;
use crate::types::fields::{self, Expected, Fields};
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

    fn read<T>(
        &self,
        name: &str,
        conversion: impl FnOnce(&Value) -> Result<T, Expected>,
    ) -> Result<Option<T>, Refusal> {
        let fields = Fields::of(self.object);
        fields
            .read(name, conversion)
            .map_err(|error| Refusal::new(error.to_string()).hint("correct that argument; nothing was done"))
    }

    /// A text without outer space, `None` where it is blank or missing. A number counts as a text: ids are
    /// often sent so.
    pub fn text(&self, name: &str) -> Result<Option<String>, Refusal> {
        let text = self.read(name, |value| match value {
            Value::Number(number) => Ok(number.to_string()),
            other => fields::text(other).map(|text| text.trim().to_owned()),
        })?;
        Ok(text.filter(|text| !text.is_empty()))
    }

    /// A text that must be there; `hint` says what is wanted.
    pub fn required(&self, name: &str, hint: &str) -> Result<String, Refusal> {
        self.text(name)?.ok_or_else(|| Refusal::new(format!("`{name}` is empty")).hint(hint))
    }

    /// A whole number from 0 up.
    pub fn count(&self, name: &str) -> Result<Option<u64>, Refusal> {
        self.read(name, |value| fields::count(&unquoted(value)))
    }

    /// An importance, brought into its bounds.
    pub fn importance(&self, name: &str) -> Result<Option<u16>, Refusal> {
        let number =
            |value: &Value| fields::number(&unquoted(value)).map_err(|_| "a number, 1 to 1000".into());
        Ok(self.read(name, number)?.map(clamp_importance))
    }

    /// Yes or no.
    pub fn flag(&self, name: &str) -> Result<Option<bool>, Refusal> {
        self.read(name, |value| fields::flag(&unquoted(value)))
    }
}

/// The number or truth value in a text such as `"5"`: models quote them. Other values stay as they are.
fn unquoted(value: &Value) -> Cow<'_, Value> {
    match value.as_str().map(serde_json::from_str) {
        Some(Ok(inner)) => Cow::Owned(inner),
        _ => Cow::Borrowed(value),
    }
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
