//! The form of a request, as far as OpenAI-like servers differ in what they take.
//!
//! A form and a server's refusal enter, another form that may be taken leaves; nothing is sent
//! here. Forms only ever become weaker, each step once, so that trying them ends.

use serde_json::{Value, json};

use crate::llm::Question;
use crate::llm::config::StructuredOutput;

/// What a server is believed to take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Form {
    format: Format,
    /// The format stays whatever the server says.
    fixed: bool,
    /// An answer came in this format.
    proven: bool,
    /// `max_completion_tokens` in place of `max_tokens`.
    completion_tokens: bool,
    temperature: bool,
}

/// How JSON is asked for, strictest first.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Format {
    Schema,
    Object,
    Plain,
}

impl Form {
    /// The form of the first request.
    pub fn first(structured_output: StructuredOutput) -> Form {
        Form {
            format: match structured_output {
                StructuredOutput::Auto | StructuredOutput::JsonSchema => Format::Schema,
                StructuredOutput::JsonObject => Format::Object,
                StructuredOutput::Plain => Format::Plain,
            },
            fixed: structured_output != StructuredOutput::Auto,
            proven: false,
            completion_tokens: false,
            temperature: true,
        }
    }

    /// The form of the next question, after an answer to this one.
    ///
    /// Prose in spite of a schema means that the server takes no notice of it: later prompts will
    /// hold the schema themselves.
    pub fn after_answer(self, well_formed: bool) -> Form {
        let ignored = !self.fixed && self.format == Format::Schema && !well_formed;
        Form { format: if ignored { Format::Object } else { self.format }, proven: !ignored, ..self }
    }

    /// The body of a request, without the model.
    pub fn request(self, question: &Question<'_>, max_tokens: u32, temperature: f64) -> Value {
        let prompt = match self.format {
            Format::Schema => question.prompt.to_owned(),
            Format::Object | Format::Plain => question.prompt_with_schema(),
        };
        let mut request = json!({
            "messages": [
                {"role": "system", "content": question.system},
                {"role": "user", "content": prompt},
            ],
        });
        let limit = match self.completion_tokens {
            true => "max_completion_tokens",
            false => "max_tokens",
        };
        request[limit] = json!(max_tokens);
        if self.temperature {
            request["temperature"] = json!(temperature);
        }
        match self.format {
            Format::Schema => {
                request["response_format"] = json!({
                    "type": "json_schema",
                    "json_schema": {
                        "name": question.schema_name,
                        "strict": true,
                        "schema": question.schema,
                    },
                });
            }
            Format::Object => request["response_format"] = json!({"type": "json_object"}),
            Format::Plain => {}
        }
        request
    }

    /// Another form that may avoid a failure, by its status and its body in lower case.
    ///
    /// `settled` says that the same request failed before or may not be repeated.
    pub fn adapted(self, status: u16, body: &str, settled: bool) -> Option<Form> {
        if matches!(status, 400 | 422) {
            if !self.completion_tokens && body.contains("max_completion_tokens") {
                return Some(Form { completion_tokens: true, ..self });
            }
            if self.temperature && body.contains("temperature") {
                return Some(Form { temperature: false, ..self });
            }
        }
        let named = names_format(body);
        let blamed = match status {
            400 | 415 | 422 => named || !(self.proven || names_other_cause(body)),
            404 => named,
            // Some servers fail on a format they do not know: once may be chance, twice is not.
            500 => named || (!self.proven && settled),
            501 => named || !self.proven,
            _ => false,
        };
        if self.fixed || !blamed {
            return None;
        }
        Some(Form {
            format: match self.format {
                Format::Schema => Format::Object,
                Format::Object => Format::Plain,
                Format::Plain => return None,
            },
            proven: false,
            ..self
        })
    }
}

/// Whether an error speaks of the format that was asked for.
fn names_format(body: &str) -> bool {
    let words = [
        "response_format",
        "json_schema",
        "json_object",
        "json mode",
        "schema",
        "grammar",
        "structured output",
        "requested parameters",
    ];
    words.iter().any(|word| body.contains(word))
}

/// Whether an error has a cause that no other format avoids.
fn names_other_cause(body: &str) -> bool {
    let words = ["context", "too long", "model_not_found", "does not exist", "api key", "api_key"];
    words.iter().any(|word| body.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proven_format_is_kept_unless_it_is_named() {
        let form = Form::first(StructuredOutput::Auto).after_answer(true);
        for status in [400, 404, 415, 422, 500, 501, 503] {
            assert_eq!(form.adapted(status, "no", true), None, "{status}");
        }
        let other = form.adapted(400, "invalid schema for response_format", false);
        assert_eq!(other.map(|form| form.format), Some(Format::Object));
    }

    #[test]
    fn adapting_ends() {
        let body = "max_completion_tokens temperature response_format";
        let mut form = Form::first(StructuredOutput::Auto);
        let mut steps = 0;
        while let Some(other) = form.adapted(400, body, true) {
            (form, steps) = (other, steps + 1);
        }
        assert_eq!(steps, 4);
    }
}
