//! Any server with `/v1/chat/completions`: OpenAI, OpenRouter, llama.cpp, vLLM, LM Studio.
//!
//! A question becomes one request, and more only where the last one failed for a cause that may
//! pass or that another form of request avoids. The form that worked is remembered for the life of
//! the value, so that later questions do not pay again. A question makes at most
//! `max_retries` + 5 requests and ends within its time limit.

mod form;

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use reqwest::Url;
use secrecy::SecretString;
use serde_json::{Value, json};

use crate::llm::config::{self, Config, Environment};
use crate::llm::http::{self, Fault, Http, Reply};
use crate::llm::openai::form::Form;
use crate::llm::{Answer, Model, ModelError, Question, Usage, answer, deadline_after, one_line};

const OPENAI_URL: &str = "https://api.openai.com/v1";
const OPENAI_HOST: &str = "api.openai.com";
const OPENAI_MODEL: &str = "gpt-4.1-mini";
const KEY_VARIABLE: &str = "OPENAI_API_KEY";

/// A model behind an OpenAI-like server.
pub struct OpenAi {
    endpoint: Url,
    /// The address without secrets.
    at: String,
    model: Option<String>,
    key: Option<SecretString>,
    timeout: Duration,
    max_retries: u32,
    retry_delay: Duration,
    max_output_tokens: u32,
    temperature: f64,
    seed: u64,
    http: Http,
    form: Mutex<Form>,
}

/// What a reply means for the question.
enum Verdict {
    Answered(Answer),
    /// The same again, after a pause that the server may have named.
    Again {
        problem: String,
        pause: Option<Duration>,
    },
    Adapt(Form),
    Failed(ModelError),
}

impl OpenAi {
    /// The model that the settings name; nothing is opened yet.
    ///
    /// # Errors
    ///
    /// [`ModelError::Settings`] for an address that is none, and for OpenAI's own server without a
    /// key.
    pub fn new(config: &Config, environment: &Environment, seed: u64) -> Result<OpenAi, ModelError> {
        let base = config::text_of(&config.base_url)
            .or(config::text_of(&environment.openai_base_url))
            .unwrap_or(OPENAI_URL);
        let endpoint = endpoint_of(base)?;
        let key = environment.openai_key();
        let official = endpoint.host_str() == Some(OPENAI_HOST);
        if official && key.is_none() {
            return Err(ModelError::Settings {
                problem: "provider `openai` has no key".to_owned(),
                hint: format!("set `{KEY_VARIABLE}`, or `base_url` to a server that needs none"),
            });
        }
        let model = config::text_of(&config.model)
            .or(config::text_of(&environment.openai_model))
            .or(official.then_some(OPENAI_MODEL));
        Ok(OpenAi {
            at: shown_address(&endpoint),
            http: Http::new(&endpoint),
            endpoint,
            model: model.map(str::to_owned),
            key,
            timeout: config.timeout,
            max_retries: config.max_retries,
            retry_delay: config.retry_delay,
            max_output_tokens: config.max_output_tokens,
            temperature: config.temperature,
            seed,
            form: Mutex::new(Form::first(config.structured_output)),
        })
    }

    fn form(&self) -> Form {
        *self.form.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the form that worked.
    fn remember(&self, form: Form, answer: &Answer) {
        let well_formed = answer::parse_object(&answer.text).is_ok();
        *self.form.lock().unwrap_or_else(PoisonError::into_inner) = form.after_answer(well_formed);
    }

    fn request(&self, question: &Question<'_>, form: Form) -> Value {
        let mut request = form.request(question, self.max_output_tokens, self.temperature);
        if let Some(model) = &self.model {
            request["model"] = json!(model);
        }
        request
    }

    /// `settled` says that the same request failed before or may not be repeated.
    fn judge(&self, outcome: Result<Reply, Fault>, form: Form, settled: bool) -> Verdict {
        let reply = match outcome {
            Ok(reply) => reply,
            Err(Fault::TooLate) => return Verdict::Failed(self.too_late()),
            Err(Fault::Broken(problem)) => {
                return Verdict::Again { problem: http::scrub(&problem, self.key.as_ref()), pause: None };
            }
            Err(Fault::TooLong) => {
                return Verdict::Failed(self.garbled("the reply is longer than 4 MiB"));
            }
            Err(Fault::Setup(problem)) => {
                return Verdict::Failed(ModelError::Settings {
                    problem: format!("no request can be made: {problem}"),
                    hint: format!("check `{KEY_VARIABLE}` and `base_url`"),
                });
            }
        };
        let value = serde_json::from_str(&reply.body).unwrap_or(Value::Null);
        match effective_status(reply.status, &value) {
            200..=299 => match self.read_answer(&value, &reply.body) {
                Ok(answer) => Verdict::Answered(answer),
                Err(error) => Verdict::Failed(error),
            },
            status => self.judge_failure(status, &reply, form, settled),
        }
    }

    fn judge_failure(&self, status: u16, reply: &Reply, form: Form, settled: bool) -> Verdict {
        let said = http::error_text(&http::scrub(&reply.body, self.key.as_ref()));
        let said = match &reply.location {
            Some(to) if (300..400).contains(&status) => {
                let to = http::scrub(to, self.key.as_ref());
                format!("it redirects to `{}`: set `base_url` to where it is", one_line(&to))
            }
            _ => said,
        };
        let body = reply.body.to_lowercase();
        if let Some(form) = form.adapted(status, &body, settled) {
            return Verdict::Adapt(form);
        }
        let mut problem = format!("HTTP {status}");
        if !said.is_empty() {
            problem = format!("{problem}: {said}");
        }
        match status {
            401 | 403 => {
                problem.push_str(match self.key {
                    Some(_) => " (check the key in `MEMORIES_API_KEY` or `OPENAI_API_KEY`)",
                    None => " (set `MEMORIES_API_KEY`)",
                });
                Verdict::Failed(self.refused(problem))
            }
            429 if body.contains("insufficient_quota") => Verdict::Failed(self.refused(problem)),
            408 | 429 | 500 | 502 | 503 | 504 | 529 => Verdict::Again { problem, pause: reply.retry_after },
            _ => Verdict::Failed(self.refused(problem)),
        }
    }

    fn read_answer(&self, reply: &Value, body: &str) -> Result<Answer, ModelError> {
        let Some(choice) = reply.pointer("/choices/0").filter(|choice| choice.is_object()) else {
            let said = http::error_text(&http::scrub(body, self.key.as_ref()));
            return Err(self.garbled(format!("the reply is no chat completion: {said}")));
        };
        let message = &choice["message"];
        if let Some(refusal) = message["refusal"].as_str().filter(|text| !text.is_empty()) {
            let refusal = http::scrub(refusal, self.key.as_ref());
            return Err(self.refused(one_line(&refusal)));
        }
        match choice["finish_reason"].as_str() {
            Some("length") => {
                return Err(self.garbled(format!(
                    "the answer was cut off after {} tokens (`max_output_tokens`), of which a \
                     model's reasoning is a part",
                    self.max_output_tokens
                )));
            }
            Some("content_filter") => {
                return Err(self.refused("the content filter of the server held the answer back"));
            }
            _ => {}
        }
        let text = text_of_content(&message["content"]);
        if text.trim().is_empty() {
            let reasoned = ["reasoning_content", "reasoning"]
                .iter()
                .any(|field| message[*field].as_str().is_some_and(|text| !text.is_empty()));
            return Err(self.garbled(match reasoned {
                true => "the model reasoned but gave no answer",
                false => "the answer is empty",
            }));
        }
        let model = reply["model"].as_str().or(self.model.as_deref());
        Ok(Answer {
            text,
            model: one_line(model.unwrap_or_default()),
            usage: Usage {
                calls: 0,
                input_tokens: reply["usage"]["prompt_tokens"].as_u64(),
                output_tokens: reply["usage"]["completion_tokens"].as_u64(),
                cost: reply["usage"]["cost"].as_f64(),
            },
        })
    }

    fn too_late(&self) -> ModelError {
        self.unreachable(format!("no answer within {} s", self.timeout.as_secs_f64()))
    }

    fn unreachable(&self, problem: String) -> ModelError {
        ModelError::Unreachable { at: self.at.clone(), problem }
    }

    fn refused(&self, problem: impl Into<String>) -> ModelError {
        ModelError::Refused { at: self.at.clone(), problem: problem.into() }
    }

    fn garbled(&self, problem: impl Into<String>) -> ModelError {
        ModelError::Garbled { at: self.at.clone(), problem: problem.into() }
    }
}

impl fmt::Debug for OpenAi {
    /// Only what holds no secret: addresses and keys may.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAi")
            .field("at", &self.at)
            .field("model", &self.model)
            .field("form", &self.form())
            .finish_non_exhaustive()
    }
}

impl Model for OpenAi {
    fn name(&self) -> String {
        format!("openai/{}", self.model.as_deref().unwrap_or("default"))
    }

    fn ask(&self, question: &Question<'_>) -> Result<Answer, ModelError> {
        let deadline = deadline_after(self.timeout);
        let mut form = self.form();
        let (mut calls, mut retries, mut retried) = (0, 0, false);
        loop {
            calls += 1;
            let request = self.request(question, form);
            let key = self.key.as_ref();
            let outcome = self.http.post(&self.endpoint, key, &request, deadline);
            let settled = retried || retries == self.max_retries;
            match self.judge(outcome, form, settled) {
                Verdict::Answered(mut answer) => {
                    self.remember(form, &answer);
                    answer.usage.calls = calls;
                    return Ok(answer);
                }
                Verdict::Failed(error) => return Err(error),
                Verdict::Adapt(other) => (form, retried) = (other, false),
                Verdict::Again { problem, .. } if retries == self.max_retries => {
                    return Err(self.unreachable(problem));
                }
                Verdict::Again { problem, pause } => {
                    let seed = self.seed.wrapping_add(u64::from(calls));
                    let pause = pause.unwrap_or_else(|| http::backoff(self.retry_delay, retries, seed));
                    if http::remaining(deadline).is_none_or(|left| pause >= left) {
                        let problem = format!("{problem} (no time is left to try again)");
                        return Err(self.unreachable(problem));
                    }
                    std::thread::sleep(pause);
                    (retries, retried) = (retries + 1, true);
                }
            }
        }
    }
}

/// The address of chat completions under a base address, with or without its version.
fn endpoint_of(base: &str) -> Result<Url, ModelError> {
    let wrong = || ModelError::Settings {
        problem: "`base_url` is not an address of a web server".to_owned(),
        hint: "write it like `http://localhost:8080/v1`".to_owned(),
    };
    let mut url = Url::parse(base).map_err(|_| wrong())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(wrong());
    }
    let path = url.path().trim_end_matches('/');
    let path = path.strip_suffix("/chat/completions").unwrap_or(path);
    let versioned = path.split('/').any(|part| {
        let mut letters = part.chars();
        letters.next() == Some('v') && letters.next().is_some_and(|c| c.is_ascii_digit())
    });
    let version = if versioned { "" } else { "/v1" };
    let path = format!("{path}{version}/chat/completions");
    url.set_path(&path);
    url.set_fragment(None);
    Ok(url)
}

/// An address as errors show it: without user, password, query and the part that is always there.
fn shown_address(endpoint: &Url) -> String {
    let origin = endpoint.origin().ascii_serialization();
    let path = endpoint.path();
    format!("{origin}{}", path.strip_suffix("/chat/completions").unwrap_or(path))
}

/// The status, or that of an error which a gateway hands on under status 200.
fn effective_status(status: u16, reply: &Value) -> u16 {
    if !(200..300).contains(&status) {
        return status;
    }
    let error = [reply.get("error"), reply.pointer("/choices/0/error")]
        .into_iter()
        .flatten()
        .find(|error| !error.is_null());
    match error {
        None => status,
        Some(error) => match error["code"].as_u64() {
            Some(code @ 400..=599) => code as u16,
            _ => 502,
        },
    }
}

/// Content is a text, or a list of parts of which some are texts.
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
    fn base_addresses() {
        for (base, endpoint) in [
            ("http://localhost:8080", "http://localhost:8080/v1/chat/completions"),
            ("http://localhost:8080/", "http://localhost:8080/v1/chat/completions"),
            ("http://localhost:8080/v1", "http://localhost:8080/v1/chat/completions"),
            ("http://localhost:8080/v1//", "http://localhost:8080/v1/chat/completions"),
            ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/chat/completions"),
            ("https://openrouter.ai/api", "https://openrouter.ai/api/v1/chat/completions"),
            ("https://h/v1beta/openai/", "https://h/v1beta/openai/chat/completions"),
            ("https://h/v1/chat/completions", "https://h/v1/chat/completions"),
            ("https://h/v1?api-version=2", "https://h/v1/chat/completions?api-version=2"),
        ] {
            assert_eq!(endpoint_of(base).unwrap().as_str(), endpoint);
        }
        for base in ["localhost:8080", "not an address", "ftp://h", "file:///etc"] {
            assert!(matches!(endpoint_of(base), Err(ModelError::Settings { .. })), "{base}");
        }
    }

    #[test]
    fn shown_addresses_hold_no_secrets() {
        let endpoint = endpoint_of("https://user:word@h:81/v1?key=word").unwrap();
        assert_eq!(shown_address(&endpoint), "https://h:81/v1");
        let config = Config { base_url: Some(endpoint.to_string()), ..Config::default() };
        let environment =
            Environment { openai_api_key: Some(SecretString::from("word")), ..Environment::default() };
        let model = OpenAi::new(&config, &environment, 1).unwrap();
        assert!(!format!("{model:?}").contains("word"));
    }

    #[test]
    fn openai_itself_needs_a_key() {
        let error = OpenAi::new(&Config::default(), &Environment::default(), 1).unwrap_err();
        assert!(matches!(error, ModelError::Settings { hint, .. } if hint.contains("OPENAI_API_KEY")));
    }

    #[test]
    fn content_in_parts() {
        let parts = json!([{"type": "text", "text": "a"}, {"type": "image"}, "b"]);
        assert_eq!(text_of_content(&parts), "ab");
    }
}
