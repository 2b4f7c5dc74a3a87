//! Anthropic's Messages API, and servers that implement it.
//!
//! JSON is asked for by `output_config.format` (which no longer needs a beta header), else by a required
//! tool call, else in the prompt. In each case the answer is taken from a `tool_use` block if there is
//! one, else from the text, because a required tool may be answered in plain text all the same. Thinking
//! is switched off where the model allows it: it would use up the answer's tokens and forbid the required
//! tool. A question makes at most `max_retries` + 5 requests.

mod schema;

use serde_json::{Value, json};

use crate::address;
use crate::config::{self, Config, Environment};
use crate::form::{ApiTraits, Form, Format};
use crate::http::{Access, Scheme};
use crate::model::{Answer, ModelError, Question, Usage};
use crate::served::{Protocol, ServedModel, Unusable, no_key};
use crate::server::{Diagnosis, ErrorReply};

const ANTHROPIC_URL: &str = "https://api.anthropic.com";
const ANTHROPIC_HOST: &str = "api.anthropic.com";
const ANTHROPIC_MODEL: &str = "claude-haiku-5-5";
const KEY_VARIABLE: &str = "ANTHROPIC_API_KEY";
const CALL: &str = "/messages";
const HEADERS: &[(&str, &str)] = &[("anthropic-version", "2023-06-01")];

/// Newer models refuse a temperature.
const TEMPERATURE: &str = "temperature";
/// Some models cannot switch thinking off.
const THINKING: &str = "thinking";

/// A field of the last example: it asks the server to cache the prompt up to there, which is the same in every question.
const CACHE: &str = "cache_control";

static TRAITS: ApiTraits = ApiTraits {
    provider: "anthropic",
    ladder: &[Format::Schema, Format::Tool, Format::Plain],
    switches: &[TEMPERATURE, THINKING, CACHE],
    format_words: &[
        "output_config",
        "output_format",
        "output format",
        "structured output",
        "schema",
        "tool_choice",
        "tools",
    ],
    fails_on_formats: false,
    connection_hint: None,
};

/// The protocol, with the settings of its requests.
pub(super) struct Anthropic {
    model: String,
    max_output_tokens: u32,
    temperature: Option<f64>,
}

/// The model that the settings name; nothing is opened yet.
///
/// # Errors
///
/// [`ModelError::Settings`] for an invalid address, for a way of structured output that the API lacks, and
/// for Anthropic's own server without a key.
pub(super) fn model(
    config: &Config,
    environment: &Environment,
    seed: u64,
) -> Result<ServedModel<Anthropic>, ModelError> {
    let base = config.base_url(&environment.anthropic_base_url).unwrap_or(ANTHROPIC_URL);
    let endpoint = address::versioned_endpoint(base, CALL)?;
    let key = config::key_of(&environment.anthropic_api_key);
    if endpoint.host_str() == Some(ANTHROPIC_HOST) && key.is_none() {
        return Err(no_key("anthropic", KEY_VARIABLE));
    }
    let protocol = Anthropic {
        model: config.model(&None).unwrap_or(ANTHROPIC_MODEL).to_owned(),
        max_output_tokens: config.max_output_tokens,
        temperature: config.temperature,
    };
    let variable = environment.key_variable.unwrap_or(KEY_VARIABLE);
    let access = Access { headers: HEADERS, ..Access::new(key, variable, Scheme::ApiKey, &endpoint) };
    ServedModel::new(protocol, endpoint, CALL, access, config, seed)
}

impl Protocol for Anthropic {
    const TRAITS: &'static ApiTraits = &TRAITS;

    fn name(&self) -> String {
        format!("anthropic/{}", self.model)
    }

    fn request(&self, question: &Question<'_>, form: Form) -> Value {
        let mut messages = question.messages(&form.prompt_of(question));
        if !form.is_switched(CACHE)
            && let [.., last_example, _] = messages.as_mut_slice()
        {
            let text = last_example["content"].take();
            last_example["content"] = json!([{"type": "text", "text": text, CACHE: {"type": "ephemeral"}}]);
        }
        let mut request = json!({
            "model": self.model,
            "max_tokens": self.max_output_tokens,
            "system": question.system,
            "messages": messages,
        });
        if let (Some(temperature), false) = (self.temperature, form.is_switched(TEMPERATURE)) {
            request["temperature"] = json!(temperature);
        }
        if !form.is_switched(THINKING) {
            request["thinking"] = json!({"type": "disabled"});
        }
        match form.format() {
            Format::Schema => {
                let schema = schema::accepted(question.schema);
                request["output_config"] = json!({"format": {"type": "json_schema", "schema": schema}});
            }
            Format::Tool => {
                request["tools"] = json!([{
                    "name": question.schema_name,
                    "description": "Takes the answer.",
                    "input_schema": question.schema,
                }]);
                request["tool_choice"] = json!({"type": "tool", "name": question.schema_name});
            }
            Format::Object | Format::Plain => {}
        }
        request
    }

    fn read_answer(&self, reply: &Value) -> Result<Answer, Unusable> {
        let Some(blocks) = reply["content"].as_array() else {
            return Err(Unusable::Foreign("message"));
        };
        match reply["stop_reason"].as_str() {
            Some("refusal") => {
                let said = reply.pointer("/stop_details/explanation").and_then(Value::as_str);
                return Err(Unusable::Refused(said.unwrap_or("the model declined to answer").to_owned()));
            }
            Some("max_tokens") => return Err(Unusable::cut_off(self.max_output_tokens)),
            Some("model_context_window_exceeded") => {
                let problem = "the answer was cut off where the model's context ends";
                return Err(Unusable::Garbled(problem.to_owned()));
            }
            _ => {}
        }
        let text = tool_input(blocks).unwrap_or_else(|| text_of(blocks));
        if text.trim().is_empty() {
            let reasoned = blocks
                .iter()
                .any(|block| matches!(block["type"].as_str(), Some("thinking" | "redacted_thinking")));
            return Err(Unusable::empty(reasoned));
        }
        let usage = &reply["usage"];
        let read = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
        Ok(Answer {
            text,
            model: reply["model"].as_str().unwrap_or(&self.model).to_owned(),
            usage: Usage {
                input_tokens: read
                    .iter()
                    .filter_map(|field| usage[*field].as_u64())
                    .reduce(u64::saturating_add),
                output_tokens: usage["output_tokens"].as_u64(),
                ..Usage::default()
            },
        })
    }

    fn judge(&self, failure: &ErrorReply) -> Diagnosis {
        let kind = failure.value.pointer("/error/type").and_then(Value::as_str).unwrap_or_default();
        let code = failure.value.pointer("/error/details/error_code").and_then(Value::as_str);
        match failure.status {
            400 if failure.body.contains("too long") || failure.body.contains("context") => {
                Diagnosis::permanent("more than the model's context holds; `history_window` makes it less")
            }
            402 => Diagnosis::permanent("check the account's billing"),
            404 if kind == "not_found_error" && failure.body.contains("model") => {
                Diagnosis::permanent("no such model for this key; name another with `--model`")
            }
            404 => Diagnosis::permanent("check the address, and the model's name with `--model`"),
            // A monthly spend limit: the wait would be days.
            429 if code == Some("enforced_spend_limit_reached") => {
                Diagnosis::permanent("the account's spend limit is reached")
            }
            529 => Diagnosis { temporary: true, hint: Some("the service is overloaded".to_owned()) },
            status => Diagnosis::of_status(status),
        }
    }
}

/// The input of the first tool call: an object, at some servers written as a text.
fn tool_input(blocks: &[Value]) -> Option<String> {
    let called = blocks.iter().find(|block| block["type"] == "tool_use")?;
    match &called["input"] {
        Value::String(text) => Some(text.clone()),
        input @ Value::Object(_) => Some(input.to_string()),
        _ => None,
    }
}

fn text_of(blocks: &[Value]) -> String {
    let texts = blocks.iter().filter(|block| block["type"] == "text");
    texts.filter_map(|block| block["text"].as_str()).collect()
}
