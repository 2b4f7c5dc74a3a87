//! Reads the arguments of a call tolerantly; errors name the argument.

use serde_json::{Map, Value};

use crate::mcp::answer::Refusal;
use crate::mcp::parameter::Parameter;
use memories_document::nearest;
use memories_document::types::fields::{self, Expected, Fields};
use memories_document::types::{
    ImportanceScale, character_id, clamp_importance, did_you_mean, importance_of_program,
};

/// The arguments of one call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arguments<'a> {
    object: &'a Map<String, Value>,
}

impl<'a> Arguments<'a> {
    /// The arguments in an object. An unknown name is refused rather than silently ignored.
    pub(crate) fn of(
        object: &'a Map<String, Value>,
        parameters: &[Parameter],
    ) -> Result<Arguments<'a>, Refusal> {
        let known = || parameters.iter().map(|parameter| parameter.name);
        let Some(unknown) = object.keys().find(|name| !known().any(|known| known == *name)) else {
            return Ok(Arguments { object });
        };
        let names: Vec<String> = known().map(|name| format!("`{name}`")).collect();
        let otherwise = if names.is_empty() {
            "it takes no arguments".to_owned()
        } else {
            format!("there are {}", names.join(", "))
        };
        Err(Refusal::arguments(format!("there is no argument `{unknown}`"))
            .hint(did_you_mean(&nearest(unknown, known(), 1)).unwrap_or(otherwise)))
    }

    pub(crate) fn object(&self) -> &'a Map<String, Value> {
        self.object
    }

    fn read<T>(
        &self,
        parameter: &Parameter,
        conversion: impl FnOnce(&Value) -> Result<T, Expected>,
    ) -> Result<Option<T>, Refusal> {
        let fields = Fields::of(self.object);
        fields.read(parameter.name, conversion).map_err(|error| {
            Refusal::arguments(error.to_string()).hint("correct that argument; nothing was done")
        })
    }

    /// A trimmed text; `None` if it is blank or missing. A number counts as text, since ids are often sent as
    /// numbers.
    pub fn text(&self, parameter: &Parameter) -> Result<Option<String>, Refusal> {
        let text = self.read(parameter, |value| match value {
            Value::Number(number) => Ok(number.to_string()),
            other => fields::text(other).map(|text| text.trim().to_owned()),
        })?;
        Ok(text.filter(|text| !text.is_empty()))
    }

    /// The text of a required parameter.
    pub(crate) fn required(&self, parameter: &Parameter) -> Result<String, Refusal> {
        self.text(parameter)?.ok_or_else(|| {
            let hints = parameter.required.map(str::to_owned).into_iter().collect();
            Refusal { hints, ..Refusal::arguments(format!("`{}` is empty", parameter.name)) }
        })
    }

    /// Ids of characters, with commas or as a list.
    pub(crate) fn ids(&self, parameter: &Parameter) -> Result<Vec<String>, Refusal> {
        let named = self.read(parameter, fields::texts)?.unwrap_or_default();
        let named =
            named.iter().flat_map(|ids| ids.split(',')).filter(|id| !id.trim().is_empty()).map(character_id);
        named
            .collect::<Result<_, _>>()
            .map_err(|wrong| Refusal::arguments(format!("`{}`: {wrong}", parameter.name)))
    }

    /// A whole number, 0 or more.
    pub(crate) fn count(&self, parameter: &Parameter) -> Result<Option<u64>, Refusal> {
        self.read(parameter, fields::count)
    }

    /// The importance of a new memory, 1 to 1000, with a warning where it is changed.
    pub(crate) fn importance(
        &self,
        parameter: &Parameter,
        warnings: &mut Vec<String>,
    ) -> Result<Option<u16>, Refusal> {
        let number = self.number(parameter)?;
        let scale = ImportanceScale::default();
        Ok(number.and_then(|number| importance_of_program(&Value::from(number), scale, warnings)))
    }

    /// The lowest importance of a search, clamped to its range.
    pub(crate) fn lowest_importance(&self, parameter: &Parameter) -> Result<Option<u16>, Refusal> {
        Ok(self.number(parameter)?.map(clamp_importance))
    }

    fn number(&self, parameter: &Parameter) -> Result<Option<f64>, Refusal> {
        let number = |value: &Value| fields::number(value).map_err(|_| "a number, 1 to 1000".into());
        self.read(parameter, number)
    }

    pub(crate) fn flag(&self, parameter: &Parameter) -> Result<Option<bool>, Refusal> {
        self.read(parameter, fields::flag)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::mcp::parameter::ArgumentType;

    #[test]
    fn values_are_read_tolerantly_and_refused_by_name() {
        let value = json!({"a": " x ", "n": 23, "q": "5", "f": 4.0, "no": -1, "yes": true, "blank": " ", "null": null});
        let named = |name| Parameter::new(name, ArgumentType::Text, "a value");
        let names = ["a", "n", "q", "f", "no", "yes", "blank", "null"].map(named);
        let [a, n, q, f, no, yes, blank, null] = &names;
        let arguments = Arguments::of(value.as_object().unwrap(), &names).unwrap();
        assert_eq!(arguments.text(a).unwrap().as_deref(), Some("x"));
        assert_eq!(arguments.text(n).unwrap().as_deref(), Some("23"));
        assert_eq!((arguments.count(q), arguments.count(f)), (Ok(Some(5)), Ok(Some(4))));
        assert_eq!(arguments.count(null), Ok(None));
        assert!(arguments.count(no).is_err_and(|refusal| refusal.problem.starts_with("`no` is -1")));
        assert_eq!(arguments.flag(yes), Ok(Some(true)));
        assert!(
            arguments
                .required(&blank.required("say it"))
                .is_err_and(|refusal| refusal.text() == "`blank` is empty\nhint: say it")
        );
        assert_eq!(arguments.lowest_importance(no), Ok(Some(1)));
        let others = ["a", "n", "q", "f", "no", "yes", "blanks", "null"].map(named);
        let refusal = Arguments::of(value.as_object().unwrap(), &others).unwrap_err();
        assert_eq!(refusal.text(), "there is no argument `blank`\nhint: did you mean `blanks`?");
    }
}
