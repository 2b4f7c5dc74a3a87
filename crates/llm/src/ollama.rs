//! Ollama's own API: `/api/chat`.
//!
//! JSON is asked for by `format` with the schema, else by `"json"`, else in the prompt. Thinking is
//! switched off where the server knows the field, because thoughts count towards the answer's tokens. A
//! prompt beyond the context is to be refused, not truncated silently. Only the server knows which models
//! exist: without a name in the settings the first installed one is asked. A question makes at most
//! `max_retries` + 4 requests, and once one for the list of models.

use std::sync::OnceLock;
use std::time::Instant;

use reqwest::Url;
use serde_json::{Value, json};

use crate::address;
use crate::config::{self, Config, Environment};
use crate::form::{ApiTraits, Form, Format};
use crate::http::{Access, Scheme};
use crate::model::{Answer, ModelError, Question, Usage, one_line};
use crate::served::{Protocol, ServedModel, Unusable};
use crate::server::{Diagnosis, ErrorReply, Server};

const OLLAMA_HOST: &str = "127.0.0.1:11434";
const CALL: &str = "/api/chat";
const TAGS: &str = "/api/tags";

/// Some servers and models refuse the field.
const THINK: &str = "think";

static TRAITS: ApiTraits = ApiTraits {
    provider: "ollama",
    ladder: &[Format::Schema, Format::Object, Format::Plain],
    switches: &[THINK],
    format_words: &["format", "schema", "grammar"],
    fails_on_formats: false,
    connection_hint: Some("is `ollama serve` running?"),
};

/// The protocol, with the settings of its requests.
pub(super) struct Ollama {
    model: Option<String>,
    /// The first installed model, once the server was asked for it.
    found: OnceLock<String>,
    tags: Url,
    max_output_tokens: u32,
    temperature: f64,
}

/// The model that the settings name; nothing is opened yet.
///
/// # Errors
///
/// [`ModelError::Settings`] for an invalid address, and for a way of structured output that the server
/// lacks.
pub(super) fn model(
    config: &Config,
    environment: &Environment,
    seed: u64,
) -> Result<ServedModel<Ollama>, ModelError> {
    let host = config.base_url(&environment.ollama_host).unwrap_or(OLLAMA_HOST);
    let endpoint = address::ollama_endpoint(host, CALL)?;
    let protocol = Ollama {
        model: config.model(&None).map(str::to_owned),
        found: OnceLock::new(),
        tags: address::ollama_endpoint(host, TAGS)?,
        max_output_tokens: config.max_output_tokens,
        temperature: config.temperature.unwrap_or_default(),
    };
    let key = config::key_of(&environment.ollama_api_key);
    let access = Access::new(key, "MEMORIES_API_KEY", Scheme::Bearer, &endpoint);
    ServedModel::new(protocol, endpoint, CALL, access, config, seed)
}

impl Ollama {
    /// The model of the settings, else the first installed one; empty before that is known.
    fn model(&self) -> &str {
        self.model.as_ref().or(self.found.get()).map_or("", String::as_str)
    }
}

impl Protocol for Ollama {
    const TRAITS: &'static ApiTraits = &TRAITS;

    fn name(&self) -> String {
        match (&self.model, self.found.get()) {
            (Some(model), _) => format!("ollama/{model}"),
            (None, Some(found)) => format!("ollama/{found} (first installed)"),
            (None, None) => "ollama/first installed".to_owned(),
        }
    }

    fn prepare(&self, server: &Server, deadline: Instant) -> Result<(), ModelError> {
        if !self.model().is_empty() {
            return Ok(());
        }
        let tags = server.fetch(&self.tags, deadline, |failure| self.judge(failure))?;
        let first = first_installed(&tags).ok_or_else(|| {
            server.refused(
                "no model is installed (install one with `ollama pull NAME`, or name one with `--model`)",
            )
        })?;
        let _ = self.found.set(first);
        Ok(())
    }

    fn request(&self, question: &Question<'_>, form: Form) -> Value {
        let mut messages = vec![json!({"role": "system", "content": question.system})];
        messages.extend(question.messages(&form.prompt_of(question)));
        let mut request = json!({
            "model": self.model(),
            "messages": messages,
            "stream": false,
            "truncate": false,
            "options": {
                "temperature": self.temperature,
                "num_predict": self.max_output_tokens,
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

    fn read_answer(&self, reply: &Value) -> Result<Answer, Unusable> {
        let Some(message) = reply.get("message").filter(|message| message.is_object()) else {
            return Err(Unusable::Foreign("chat of Ollama"));
        };
        if reply["done_reason"] == "length" {
            return Err(Unusable::cut_off(self.max_output_tokens));
        }
        let text = message["content"].as_str().unwrap_or_default();
        if text.trim().is_empty() {
            return Err(Unusable::empty(message["thinking"].as_str().is_some_and(|text| !text.is_empty())));
        }
        Ok(Answer {
            text: text.to_owned(),
            model: reply["model"].as_str().unwrap_or(self.model()).to_owned(),
            usage: Usage {
                input_tokens: reply["prompt_eval_count"].as_u64(),
                output_tokens: reply["eval_count"].as_u64(),
                ..Usage::default()
            },
        })
    }

    fn judge(&self, failure: &ErrorReply) -> Diagnosis {
        let said = |words: &[&str]| words.iter().any(|word| failure.body.contains(word));
        match failure.status {
            404 if said(&["model"]) => Diagnosis::permanent(format!(
                "install it with `ollama pull {}`, or name another with `--model`",
                self.model()
            )),
            404 => Diagnosis::permanent("is this an Ollama server? `--model` names another model"),
            400..=599 if said(&["context length", "context size", "context window", "too long"]) => {
                Diagnosis::permanent("start the server with a larger `OLLAMA_CONTEXT_LENGTH`")
            }
            500 if said(&["system memory"]) => Diagnosis::permanent("set `model` to a smaller one"),
            status => Diagnosis::of_status(status),
        }
    }
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
