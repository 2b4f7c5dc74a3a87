//! The form of a request: the parts in which servers of one kind differ.
//!
//! A form and a server's refusal enter; another form that may be accepted leaves. Nothing is sent here.
//! Forms only become weaker, each step once, so that trying them ends.

use serde_json::{Value, json};

use crate::config::StructuredOutput;
use crate::model::{ModelError, Question};

/// How JSON is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub(super) enum Format {
    /// The server enforces the schema.
    Schema,
    /// A tool call is required, with an input under the schema.
    Tool,
    /// Any JSON; the schema is part of the prompt.
    Object,
    /// Only the prompt asks for JSON.
    Plain,
}

/// Properties of all servers of one kind.
#[derive(Debug, PartialEq)]
pub(super) struct ApiTraits {
    /// The provider's name in settings.
    pub(crate) provider: &'static str,
    /// Ways of asking for JSON, strictest first; `Plain` is the last.
    pub(crate) ladder: &'static [Format],
    /// Fields to change if a refusal contains these words; see [`Form::is_switched`].
    pub(crate) switches: &'static [&'static str],
    /// Words by which a refusal names the way JSON was asked for.
    pub(crate) format_words: &'static [&'static str],
    /// Some servers fail with 500 on a format they do not know.
    pub(crate) fails_on_formats: bool,
    /// A hint for the case that no connection can be made.
    pub(crate) connection_hint: Option<&'static str>,
}

/// The form that one server is believed to accept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Form {
    traits: &'static ApiTraits,
    /// Position on the ladder.
    step: usize,
    /// The settings fix the format; it is never changed.
    fixed: bool,
    /// An answer came in this format.
    proven: bool,
    /// One bit for each switch.
    switched: u8,
    /// Position on the ladder to which refusals led; prose may lead further.
    refused: usize,
    /// True if the form is from an earlier command and has had no answer yet.
    recalled: bool,
}

impl Form {
    /// The form of the first request.
    ///
    /// # Errors
    ///
    /// [`ModelError::Settings`] for a way that these servers do not have.
    pub(crate) fn first(traits: &'static ApiTraits, way: StructuredOutput) -> Result<Form, ModelError> {
        let wanted = match way {
            StructuredOutput::Auto => traits.ladder[0],
            StructuredOutput::JsonSchema => Format::Schema,
            StructuredOutput::Tool => Format::Tool,
            StructuredOutput::JsonObject => Format::Object,
            StructuredOutput::Plain => Format::Plain,
        };
        let Some(step) = traits.ladder.iter().position(|format| *format == wanted) else {
            return Err(ModelError::Settings {
                problem: format!("provider `{}` has no structured output `{way}`", traits.provider),
                hint: "set `structured_output` to `auto`".to_owned(),
            });
        };
        let fixed = way != StructuredOutput::Auto;
        Ok(Form { traits, step, fixed, proven: false, switched: 0, refused: 0, recalled: false })
    }

    /// The form with what [`Form::refusals`] said in an earlier command; what is not understood is ignored.
    pub(crate) fn recalling(mut self, refusals: &Value) -> Form {
        let fields: Vec<&str> =
            refusals["fields"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (place, word) in self.traits.switches.iter().enumerate() {
            if fields.contains(word) {
                self.switched |= 1 << place;
            }
        }
        let known = |format: &Format| refusals["format"] == format.to_string();
        if let Some(step) = self.traits.ladder.iter().position(known).filter(|_| !self.fixed) {
            (self.step, self.refused) = (step, step);
        }
        Form { recalled: self.switched != 0 || self.refused != 0, ..self }
    }

    /// Parts of a request that the server refuses; `null` where there are none.
    pub(crate) fn refusals(self) -> Value {
        let words = self.traits.switches.iter().filter(|word| self.is_switched(word));
        let fields: Vec<&&str> = words.collect();
        if fields.is_empty() && self.refused == 0 {
            return Value::Null;
        }
        let format = self.traits.ladder[self.refused].to_string();
        json!({"format": format, "fields": fields})
    }

    /// How JSON is asked for.
    pub(crate) fn format(self) -> Format {
        self.traits.ladder[self.step]
    }

    /// The examples and the prompt as messages, with the schema in the prompt where nothing else in the request
    /// carries it.
    pub(crate) fn messages(self, question: &Question<'_>) -> Vec<Value> {
        match self.format() {
            Format::Schema | Format::Tool => question.messages(question.prompt),
            Format::Object | Format::Plain => question.messages(&question.prompt_with_schema()),
        }
    }

    /// The same messages behind the instructions, for servers that take these as a message.
    pub(crate) fn messages_with_system(self, question: &Question<'_>) -> Vec<Value> {
        let mut messages = self.messages(question);
        messages.insert(0, json!({"role": "system", "content": question.system}));
        messages
    }

    /// True if a refusal named this word of [`ApiTraits::switches`].
    pub(crate) fn is_switched(self, word: &str) -> bool {
        let place = self.traits.switches.iter().position(|known| *known == word);
        place.is_some_and(|place| self.switched & (1 << place) != 0)
    }

    /// The form of the next question, after an answer to this one.
    ///
    /// Prose in spite of a schema or a tool means that the server ignores it: later questions use a
    /// weaker form.
    pub(crate) fn after_answer(self, well_formed: bool) -> Form {
        let demanding = matches!(self.format(), Format::Schema | Format::Tool);
        match self.weaker() {
            Some(weaker) if demanding && !self.fixed && !well_formed => Form { recalled: false, ..weaker },
            _ => Form { proven: true, recalled: false, ..self },
        }
    }

    /// Another form that may avoid a failure, given its status and its body in lower case.
    ///
    /// `is_final`: the same request failed before or may not be repeated.
    pub(crate) fn adapted(self, status: u16, body: &str, is_final: bool) -> Option<Form> {
        // The server may be another one by now.
        if self.recalled && matches!(status, 400 | 415 | 422) && !names_other_cause(body) {
            let step = if self.fixed { self.step } else { 0 };
            return Some(Form { step, switched: 0, refused: 0, recalled: false, ..self });
        }
        if matches!(status, 400 | 422) {
            for (place, word) in self.traits.switches.iter().enumerate() {
                if self.switched & (1 << place) == 0 && body.contains(word) {
                    return Some(Form { switched: self.switched | (1 << place), ..self });
                }
            }
        }
        let named = self.traits.format_words.iter().any(|word| body.contains(word));
        let blamed = match status {
            400 | 415 | 422 => named || !(self.proven || names_other_cause(body)),
            404 => named,
            // One failure may be chance, two are not.
            500 if self.traits.fails_on_formats => named || (!self.proven && is_final),
            500 => named,
            501 => named || !self.proven,
            _ => false,
        };
        let weaker = self.weaker().filter(|_| blamed && !self.fixed)?;
        // A failure that names no format may have been chance: nothing to remember for later commands.
        let refused = if status < 500 || named { weaker.step } else { self.refused };
        Some(Form { refused, ..weaker })
    }

    fn weaker(self) -> Option<Form> {
        let step = self.step + 1;
        (step < self.traits.ladder.len()).then_some(Form { step, proven: false, ..self })
    }
}

/// True if no other format would avoid the error.
fn names_other_cause(body: &str) -> bool {
    let words = [
        "context",
        "too long",
        "model_not_found",
        "does not exist",
        "not found",
        "model is required",
        "api key",
        "api_key",
        "credit",
        "usage limit",
        "spend limit",
    ];
    words.iter().any(|word| body.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    static TRAITS: ApiTraits = ApiTraits {
        provider: "test",
        ladder: &[Format::Schema, Format::Object, Format::Plain],
        switches: &["max_completion_tokens", "temperature"],
        format_words: &["response_format", "schema"],
        fails_on_formats: true,
        connection_hint: None,
    };

    fn first() -> Form {
        Form::first(&TRAITS, StructuredOutput::Auto).unwrap()
    }

    #[test]
    fn a_proven_format_is_kept_unless_it_is_named() {
        let form = first().after_answer(true);
        for status in [400, 404, 415, 422, 500, 501, 503] {
            assert_eq!(form.adapted(status, "no", true), None, "{status}");
        }
        let other = form.adapted(400, "invalid schema for response_format", false);
        assert_eq!(other.map(Form::format), Some(Format::Object));
    }

    #[test]
    fn adapting_ends() {
        let body = "max_completion_tokens temperature response_format";
        let mut form = first();
        let mut steps = 0;
        while let Some(other) = form.adapted(400, body, true) {
            (form, steps) = (other, steps + 1);
        }
        assert_eq!(steps, 4);
        assert!(form.is_switched("temperature"));
    }

    #[test]
    fn prose_leads_away_from_a_schema_and_no_further() {
        let form = first().after_answer(false);
        assert_eq!(form.format(), Format::Object);
        assert_eq!(form.after_answer(false).format(), Format::Object);
        let fixed = Form::first(&TRAITS, StructuredOutput::JsonSchema).unwrap();
        assert_eq!(fixed.after_answer(false).format(), Format::Schema);
    }

    #[test]
    fn refusals_are_recalled_and_damaged_ones_ignored() {
        let refused = json!({"format": "object", "fields": ["temperature"]});
        let learned = first().adapted(400, "temperature", false).unwrap();
        let learned = learned.adapted(400, "response_format", false).unwrap().after_answer(true);
        assert_eq!(learned.refusals(), refused);
        let recalled = first().recalling(&refused);
        assert!(recalled.is_switched("temperature") && recalled.format() == Format::Object);
        assert_eq!(recalled.refusals(), refused);
        for damaged in
            [json!(null), json!([]), json!({"format": 7, "fields": {"a": 1}}), json!({"fields": ["x", 3]})]
        {
            assert_eq!(first().recalling(&damaged), first(), "{damaged}");
        }
    }

    #[test]
    fn a_recalled_form_that_is_refused_is_forgotten() {
        let recalled = first().recalling(&json!({"format": "plain", "fields": ["max_completion_tokens"]}));
        assert_eq!(recalled.adapted(400, "unknown field max_completion_tokens", true), Some(first()));
        assert_eq!(recalled.adapted(400, "the context is too long", true), None);
        let proven = recalled.after_answer(true);
        assert_eq!(proven.adapted(400, "unknown field max_completion_tokens", true), None);
    }

    #[test]
    fn chance_and_prose_are_not_remembered() {
        let crashed = first().adapted(500, "crash", true).unwrap();
        assert_eq!((crashed.format(), crashed.refusals()), (Format::Object, Value::Null));
        assert_eq!(first().after_answer(false).refusals(), Value::Null);
    }

    #[test]
    fn an_unsupported_structured_output_is_an_error() {
        let error = Form::first(&TRAITS, StructuredOutput::Tool).unwrap_err();
        assert_eq!(error.to_string(), "provider `test` has no structured output `tool`");
    }
}
