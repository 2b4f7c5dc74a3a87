//! Ollama's own API: `/api/chat`.
//!
//! JSON is asked for by `format` with the schema, else by `"json"`, else in the prompt. Thinking is
//! switched off where the server knows the field, because thoughts count towards the answer's tokens. A
//! prompt beyond the context is to be refused, not truncated silently. Only the server knows which models
//! exist: without a name in the settings the first installed one is asked. A question makes at most
//! `max_retries` + 4 requests, and once one for the list of models.

use serde_json::{Value, json};

use crate::address;
use crate::form::{ApiTraits, Format};
use crate::http::BEARER;
use crate::model::one_line;
use crate::served::{Dialect, Reading, Request, Unusable, Variables};
use crate::server::{Diagnosis, ErrorReply};

/// Some servers and models refuse the field.
const THINK: &str = "think";

/// The API of Ollama's chats.
pub(super) static DIALECT: Dialect = Dialect {
    traits: ApiTraits {
        provider: "ollama",
        ladder: &[Format::Schema, Format::Object, Format::Plain],
        switches: &[THINK],
        format_words: &["format", "schema", "grammar"],
        fails_on_formats: false,
        connection_hint: Some("is `ollama serve` running?"),
    },
    variables: |environment| Variables {
        base_url: &environment.ollama_host,
        model: &None,
        key: &environment.ollama_api_key,
    },
    key_variable: "MEMORIES_API_KEY",
    key_header: BEARER,
    headers: &[],
    url: "127.0.0.1:11434",
    own_host: None,
    call: "/api/chat",
    endpoint: address::ollama_endpoint,
    usual_model: |_| None,
    installed: Some(("/api/tags", first_installed)),
    request,
    read,
    judge,
};

fn request(Request { question, form, model, max_output_tokens, temperature }: &Request<'_>) -> Value {
    let mut request = json!({
        "model": model,
        "messages": form.messages_with_system(question),
        "stream": false,
        "truncate": false,
        "options": {
            "temperature": temperature.unwrap_or_default(),
            "num_predict": max_output_tokens,
        },
    });
    if !form.is_switched(THINK) {
        request["think"] = json!(false);
    }
    match form.format() {
        Format::Schema => request["format"] = question.schema.clone(),
        Format::Object => request["format"] = json!("json"),
        Format::Tool | Format::Plain => {}
    }
    request
}

fn read(reply: &Value) -> Result<Reading, Unusable> {
    let Some(message) = reply.get("message").filter(|message| message.is_object()) else {
        return Err(Unusable::Foreign("chat of Ollama"));
    };
    if reply["done_reason"] == "length" {
        return Err(Unusable::CutOff);
    }
    Ok(Reading {
        text: message["content"].as_str().unwrap_or_default().to_owned(),
        reasoned: message["thinking"].as_str().is_some_and(|text| !text.is_empty()),
        input_tokens: reply["prompt_eval_count"].as_u64(),
        output_tokens: reply["eval_count"].as_u64(),
        cost: None,
    })
}

fn judge(failure: &ErrorReply, model: &str) -> Option<Diagnosis> {
    let said = |words: &[&str]| words.iter().any(|word| failure.body.contains(word));
    Some(match failure.status {
        404 if said(&["model"]) => Diagnosis::permanent(format!(
            "install it with `ollama pull {model}`, or name another with `--model`"
        )),
        404 => Diagnosis::permanent("is this an Ollama server? `--model` names another model"),
        400..=599 if said(&["context length", "context size", "context window", "too long"]) => {
            Diagnosis::permanent("start the server with a larger `OLLAMA_CONTEXT_LENGTH`")
        }
        500 if said(&["system memory"]) => Diagnosis::permanent("set `model` to a smaller one"),
        _ => return None,
    })
}

/// The first chat model of the list; embedding models are skipped.
fn first_installed(tags: &Value) -> Option<String> {
    let models = tags["models"].as_array()?.iter();
    let talking = models.filter(|model| {
        let family = model.pointer("/details/family").and_then(Value::as_str).unwrap_or_default();
        !family.contains("bert") && !model["name"].as_str().unwrap_or_default().contains("embed")
    });
    let mut names = talking.filter_map(|model| model["name"].as_str().or(model["model"].as_str()));
    names.find(|name| !name.trim().is_empty()).map(one_line)
}
