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
use crate::form::{ApiTraits, Format};
use crate::http::API_KEY;
use crate::served::{Dialect, Reading, Request, Unusable, Variables};
use crate::server::{Diagnosis, ErrorReply};

/// Newer models refuse a temperature.
const TEMPERATURE: &str = "temperature";
/// Some models cannot switch thinking off.
const THINKING: &str = "thinking";

/// A field of the last example: it asks the server to cache the prompt up to there, which is the same in every question.
const CACHE: &str = "cache_control";

/// The Messages API.
pub(super) static DIALECT: Dialect = Dialect {
    traits: ApiTraits {
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
    },
    variables: |environment| Variables {
        base_url: &environment.anthropic_base_url,
        model: &None,
        key: &environment.anthropic_api_key,
    },
    key_variable: "ANTHROPIC_API_KEY",
    key_header: API_KEY,
    headers: &[("anthropic-version", "2023-06-01")],
    url: "https://api.anthropic.com",
    own_host: Some("api.anthropic.com"),
    call: "/messages",
    endpoint: address::versioned_endpoint,
    usual_model: |_| Some("claude-haiku-5-5"),
    installed: None,
    request,
    read,
    judge,
};

fn request(Request { question, form, model, max_output_tokens, temperature }: &Request<'_>) -> Value {
    let mut messages = form.messages(question);
    if !form.is_switched(CACHE)
        && let [.., last_example, _] = messages.as_mut_slice()
    {
        let text = last_example["content"].take();
        last_example["content"] = json!([{"type": "text", "text": text, CACHE: {"type": "ephemeral"}}]);
    }
    let mut request = json!({
        "model": model,
        "max_tokens": max_output_tokens,
        "system": question.system,
        "messages": messages,
    });
    if let (Some(temperature), false) = (temperature, form.is_switched(TEMPERATURE)) {
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

fn read(reply: &Value) -> Result<Reading, Unusable> {
    let Some(blocks) = reply["content"].as_array() else {
        return Err(Unusable::Foreign("message"));
    };
    match reply["stop_reason"].as_str() {
        Some("refusal") => {
            let said = reply.pointer("/stop_details/explanation").and_then(Value::as_str);
            return Err(Unusable::Refused(said.unwrap_or("the model declined to answer").to_owned()));
        }
        Some("max_tokens") => return Err(Unusable::CutOff),
        Some("model_context_window_exceeded") => return Err(Unusable::ContextEnds),
        _ => {}
    }
    let usage = &reply["usage"];
    let input = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
    let is_thinking =
        |block: &Value| matches!(block["type"].as_str(), Some("thinking" | "redacted_thinking"));
    Ok(Reading {
        text: tool_input(blocks).unwrap_or_else(|| text_of(blocks)),
        reasoned: blocks.iter().any(is_thinking),
        input_tokens: input.iter().filter_map(|field| usage[*field].as_u64()).reduce(u64::saturating_add),
        output_tokens: usage["output_tokens"].as_u64(),
        cost: None,
    })
}

fn judge(failure: &ErrorReply, _: &str) -> Option<Diagnosis> {
    let kind = failure.value.pointer("/error/type").and_then(Value::as_str).unwrap_or_default();
    let code = failure.value.pointer("/error/details/error_code").and_then(Value::as_str);
    Some(match failure.status {
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
        _ => return None,
    })
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
