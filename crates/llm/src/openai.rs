//! Any server with `/v1/chat/completions`: OpenAI, OpenRouter, llama.cpp, vLLM, LM Studio.
//!
//! A question makes at most `max_retries` + 5 requests and ends within its time limit.

use serde_json::{Value, json};

use crate::address;
use crate::form::{ApiTraits, Format};
use crate::http::BEARER;
use crate::served::{Dialect, Reading, Request, Unusable, Variables};
use crate::server::{Diagnosis, ErrorReply};

/// Reasoning models require `max_completion_tokens` instead of `max_tokens`.
const COMPLETION_TOKENS: &str = "max_completion_tokens";
const TEMPERATURE: &str = "temperature";

/// The API of OpenAI's Chat Completions.
pub(super) static DIALECT: Dialect = Dialect {
    traits: ApiTraits {
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
    },
    variables: |environment| Variables {
        base_url: &environment.openai_base_url,
        model: &environment.openai_model,
        key: &environment.openai_api_key,
    },
    key_variable: "OPENAI_API_KEY",
    key_header: BEARER,
    headers: &[],
    url: "https://api.openai.com/v1",
    own_host: Some("api.openai.com"),
    call: "/chat/completions",
    endpoint: address::versioned_endpoint,
    usual_model: |is_own| is_own.then_some("gpt-4.1-mini"),
    installed: None,
    request,
    read,
    judge,
};

fn request(Request { question, form, model, max_output_tokens, temperature }: &Request<'_>) -> Value {
    let mut request = json!({"messages": form.messages_with_system(question)});
    let limit = if form.is_switched(COMPLETION_TOKENS) { "max_completion_tokens" } else { "max_tokens" };
    request[limit] = json!(max_output_tokens);
    if !form.is_switched(TEMPERATURE) {
        request["temperature"] = json!(temperature.unwrap_or_default());
    }
    match form.format() {
        Format::Schema => {
            request["response_format"] = json!({
                "type": "json_schema",
                "json_schema": {"name": question.schema_name, "strict": true, "schema": question.schema},
            });
        }
        Format::Object => request["response_format"] = json!({"type": "json_object"}),
        Format::Tool | Format::Plain => {}
    }
    if !model.is_empty() {
        request["model"] = json!(model);
    }
    request
}

fn read(reply: &Value) -> Result<Reading, Unusable> {
    let Some(choice) = reply.pointer("/choices/0").filter(|choice| choice.is_object()) else {
        return Err(Unusable::Foreign("chat completion"));
    };
    let message = &choice["message"];
    if let Some(refusal) = message["refusal"].as_str().filter(|text| !text.is_empty()) {
        return Err(Unusable::Refused(refusal.to_owned()));
    }
    match choice["finish_reason"].as_str() {
        Some("length") => return Err(Unusable::CutOff),
        Some("content_filter") => {
            let problem = "the content filter of the server held the answer back";
            return Err(Unusable::Refused(problem.to_owned()));
        }
        _ => {}
    }
    let reasoning = ["reasoning_content", "reasoning"];
    Ok(Reading {
        text: text_of_content(&message["content"]),
        reasoned: reasoning.iter().any(|field| message[*field].as_str().is_some_and(|text| !text.is_empty())),
        input_tokens: reply["usage"]["prompt_tokens"].as_u64(),
        output_tokens: reply["usage"]["completion_tokens"].as_u64(),
        cost: reply["usage"]["cost"].as_f64(),
    })
}

fn judge(failure: &ErrorReply, _: &str) -> Option<Diagnosis> {
    match failure.status {
        429 if failure.body.contains("insufficient_quota") => {
            Some(Diagnosis { temporary: false, hint: None })
        }
        404 => Some(Diagnosis::permanent("check the address, and the model's name with `--model`")),
        _ => None,
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
    use super::*;

    #[test]
    fn content_in_parts() {
        let parts = json!([{"type": "text", "text": "a"}, {"type": "image"}, "b"]);
        assert_eq!(text_of_content(&parts), "ab");
    }
}
