//! Any server with `/v1/chat/completions`: OpenAI, OpenRouter, llama.cpp, vLLM, LM Studio.
//!
//! A question makes at most `max_retries` + 5 requests and ends within its time limit.

use serde_json::{Value, json};

use crate::address;
use crate::config::{self, Config, Environment};
use crate::form::{ApiTraits, Form, Format};
use crate::http::{Access, Scheme};
use crate::model::{Answer, ModelError, Question, Usage};
use crate::served::{Protocol, ServedModel, Unusable, no_key};
use crate::server::{Diagnosis, ErrorReply};

const OPENAI_URL: &str = "https://api.openai.com/v1";
const OPENAI_HOST: &str = "api.openai.com";
const OPENAI_MODEL: &str = "gpt-4.1-mini";
const KEY_VARIABLE: &str = "OPENAI_API_KEY";
const CALL: &str = "/chat/completions";

/// Reasoning models require `max_completion_tokens` instead of `max_tokens`.
const COMPLETION_TOKENS: &str = "max_completion_tokens";
const TEMPERATURE: &str = "temperature";

static TRAITS: ApiTraits = ApiTraits {
    provider: "openai",
    ladder: &[Format::Schema, Format::Object, Format::Plain],
    switches: &[COMPLETION_TOKENS, TEMPERATURE],
    format_words: &[
        "response_format",
        "json_schema",
        "json_object",
        "json mode",
        "schema",
        "grammar",
        "structured output",
        "requested parameters",
    ],
    fails_on_formats: true,
    connection_hint: None,
};

/// The protocol, with the settings of its requests.
pub(super) struct OpenAi {
    model: Option<String>,
    max_output_tokens: u32,
    temperature: f64,
}

/// The model that the settings name; nothing is opened yet.
///
/// # Errors
///
/// [`ModelError::Settings`] for an invalid address, and for OpenAI's own server without a key.
pub(super) fn model(
    config: &Config,
    environment: &Environment,
    seed: u64,
) -> Result<ServedModel<OpenAi>, ModelError> {
    let base = config.base_url(&environment.openai_base_url).unwrap_or(OPENAI_URL);
    let endpoint = address::versioned_endpoint(base, CALL)?;
    let key = config::key_of(&environment.openai_api_key);
    let official = endpoint.host_str() == Some(OPENAI_HOST);
    if official && key.is_none() {
        return Err(no_key("openai", KEY_VARIABLE));
    }
    let model = config.model(&environment.openai_model).or(official.then_some(OPENAI_MODEL));
    let protocol = OpenAi {
        model: model.map(str::to_owned),
        max_output_tokens: config.max_output_tokens,
        temperature: config.temperature.unwrap_or_default(),
    };
    let variable = environment.key_variable.unwrap_or(KEY_VARIABLE);
    let access = Access::new(key, variable, Scheme::Bearer, &endpoint);
    ServedModel::new(protocol, endpoint, CALL, access, config, seed)
}

impl Protocol for OpenAi {
    const TRAITS: &'static ApiTraits = &TRAITS;

    fn name(&self) -> String {
        format!("openai/{}", self.model.as_deref().unwrap_or("default"))
    }

    fn request(&self, question: &Question<'_>, form: Form) -> Value {
        let mut messages = vec![json!({"role": "system", "content": question.system})];
        messages.extend(question.messages(&form.prompt_of(question)));
        let mut request = json!({"messages": messages});
        let limit = if form.is_switched(COMPLETION_TOKENS) { "max_completion_tokens" } else { "max_tokens" };
        request[limit] = json!(self.max_output_tokens);
        if !form.is_switched(TEMPERATURE) {
            request["temperature"] = json!(self.temperature);
        }
        match form.format() {
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
            Format::Tool | Format::Plain => {}
        }
        if let Some(model) = &self.model {
            request["model"] = json!(model);
        }
        request
    }

    fn read_answer(&self, reply: &Value) -> Result<Answer, Unusable> {
        let Some(choice) = reply.pointer("/choices/0").filter(|choice| choice.is_object()) else {
            return Err(Unusable::Foreign("chat completion"));
        };
        let message = &choice["message"];
        if let Some(refusal) = message["refusal"].as_str().filter(|text| !text.is_empty()) {
            return Err(Unusable::Refused(refusal.to_owned()));
        }
        match choice["finish_reason"].as_str() {
            Some("length") => return Err(Unusable::cut_off(self.max_output_tokens)),
            Some("content_filter") => {
                let problem = "the content filter of the server held the answer back";
                return Err(Unusable::Refused(problem.to_owned()));
            }
            _ => {}
        }
        let text = text_of_content(&message["content"]);
        if text.trim().is_empty() {
            let reasoned = ["reasoning_content", "reasoning"]
                .iter()
                .any(|field| message[*field].as_str().is_some_and(|text| !text.is_empty()));
            return Err(Unusable::empty(reasoned));
        }
        let model = reply["model"].as_str().or(self.model.as_deref());
        Ok(Answer {
            text,
            model: model.unwrap_or_default().to_owned(),
            usage: Usage {
                calls: 0,
                input_tokens: reply["usage"]["prompt_tokens"].as_u64(),
                output_tokens: reply["usage"]["completion_tokens"].as_u64(),
                cost: reply["usage"]["cost"].as_f64(),
            },
        })
    }

    fn judge(&self, failure: &ErrorReply) -> Diagnosis {
        match failure.status {
            429 if failure.body.contains("insufficient_quota") => Diagnosis { temporary: false, hint: None },
            404 => Diagnosis::permanent("check the address, and the model's name with `--model`"),
            status => Diagnosis::of_status(status),
        }
    }
}

/// The content is a text, or a list of parts of which some are texts.
fn text_of_content(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part["text"].as_str().or(part.as_str())).collect()
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use secrecy::SecretString;

    use super::*;

    #[test]
    fn debug_holds_no_secrets() {
        let config =
            Config { base_url: Some("https://user:word@h:81/v1?key=word".to_owned()), ..Config::default() };
        let environment =
            Environment { openai_api_key: Some(SecretString::from("word")), ..Environment::default() };
        let served = model(&config, &environment, 1).unwrap();
        assert!(!format!("{served:?}").contains("word"));
    }

    #[test]
    fn openai_itself_needs_a_key() {
        let error = model(&Config::default(), &Environment::default(), 1).unwrap_err();
        assert!(matches!(error, ModelError::Settings { hint, .. } if hint.contains("OPENAI_API_KEY")));
    }

    #[test]
    fn content_in_parts() {
        let parts = json!([{"type": "text", "text": "a"}, {"type": "image"}, "b"]);
        assert_eq!(text_of_content(&parts), "ab");
    }
}
