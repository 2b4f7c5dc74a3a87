//! One question to a server, whatever it speaks: ask, judge the reply, adapt, try again.
//!
//! A [`Protocol`] says how a question is put and an answer read; what is alike everywhere stands
//! here. A question becomes one request, and more only where the last one failed for a cause that
//! may pass or that another form of request avoids. The form that worked is remembered for the
//! life of the value, so that later questions do not pay again. Every question ends by its
//! deadline, and no error holds the key.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use reqwest::Url;
use serde_json::Value;

use crate::llm::config::Config;
use crate::llm::form::{Form, Manner};
use crate::llm::http::{self, Access, Fault, Http, Reply};
use crate::llm::{Answer, ModelError, Question, answer, one_line};

/// What servers of one kind speak.
pub(super) trait Protocol {
    /// The body of a request.
    fn request(&self, question: &Question<'_>, form: Form) -> Value;

    /// What a reply says; its usage without the number of calls.
    fn read_answer(&self, reply: &Value) -> Result<Answer, Unusable>;

    /// What a failure means.
    fn judge(&self, failure: &Failure<'_>) -> Meaning;

    /// What to look at when no connection comes about.
    fn connection_hint(&self) -> Option<&'static str> {
        None
    }
}

/// A reply that is an error.
pub(super) struct Failure<'a> {
    /// HTTP status, or that of an error which a gateway hands on under status 200.
    pub status: u16,
    /// The body in lower case.
    pub body: &'a str,
    /// The body as JSON, `null` where it is none.
    pub value: &'a Value,
}

/// What a failure means for the question.
pub(super) struct Meaning {
    /// Trying again may help.
    pub passing: bool,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Meaning {
    /// What the status alone tells.
    pub fn of_status(status: u16) -> Meaning {
        Meaning { passing: matches!(status, 408 | 429 | 500 | 502 | 503 | 504 | 529), hint: None }
    }

    /// Not to be tried again, with what to do about it.
    pub fn settled(hint: impl Into<String>) -> Meaning {
        Meaning { passing: false, hint: Some(hint.into()) }
    }
}

/// Why a reply is no answer.
pub(super) enum Unusable {
    /// The model or its server declined.
    Refused(String),
    /// There is nothing to use.
    Garbled(String),
    /// The reply is not even of this protocol; what was expected.
    Foreign(&'static str),
}

impl Unusable {
    /// The answer ran into its limit.
    pub fn cut_off(limit: u32) -> Unusable {
        Unusable::Garbled(format!(
            "the answer was cut off after {limit} tokens (`max_output_tokens`), of which a model's \
             reasoning is a part"
        ))
    }

    /// There is no text.
    pub fn empty(reasoned: bool) -> Unusable {
        Unusable::Garbled(match reasoned {
            true => "the model reasoned but gave no answer".to_owned(),
            false => "the answer is empty".to_owned(),
        })
    }
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

/// Questions to one server.
pub(super) struct Session {
    endpoint: Url,
    /// The address without secrets.
    at: String,
    access: Access,
    timeout: Duration,
    max_retries: u32,
    retry_delay: Duration,
    seed: u64,
    http: Http,
    form: Mutex<Form>,
}

impl Session {
    /// Nothing is opened yet. `at` is the address as errors show it.
    ///
    /// # Errors
    ///
    /// [`ModelError::Settings`] for a way of structured output that these servers do not have.
    pub fn new(
        endpoint: Url,
        at: String,
        access: Access,
        manner: &'static Manner,
        config: &Config,
        seed: u64,
    ) -> Result<Session, ModelError> {
        Ok(Session {
            http: Http::new(&endpoint),
            endpoint,
            at,
            access,
            timeout: config.timeout,
            max_retries: config.max_retries,
            retry_delay: config.retry_delay,
            seed,
            form: Mutex::new(Form::first(manner, config.structured_output)?),
        })
    }

    /// The address without secrets.
    pub fn at(&self) -> &str {
        &self.at
    }

    /// The form of the next request.
    pub fn form(&self) -> Form {
        *self.form.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks until there is an answer, a failure that will not pass, or no time left.
    pub fn ask(
        &self,
        protocol: &impl Protocol,
        question: &Question<'_>,
        deadline: Instant,
    ) -> Result<Answer, ModelError> {
        let mut form = self.form();
        let (mut calls, mut retries, mut retried) = (0, 0, false);
        loop {
            calls += 1;
            let request = protocol.request(question, form);
            let outcome = self.http.post(&self.endpoint, &self.access, &request, deadline);
            let settled = retried || retries == self.max_retries;
            match self.judge(protocol, outcome, form, settled) {
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

    /// Fetches JSON from another address of the same server, once.
    pub fn fetch(&self, protocol: &impl Protocol, url: &Url, deadline: Instant) -> Result<Value, ModelError> {
        let reply = match self.http.get(url, &self.access, deadline) {
            Ok(reply) => reply,
            Err(fault) => {
                return Err(match self.judge_fault(protocol, fault) {
                    Verdict::Failed(error) => error,
                    Verdict::Again { problem, .. } => self.unreachable(problem),
                    Verdict::Answered(_) | Verdict::Adapt(_) => self.garbled("no reply"),
                });
            }
        };
        let value = serde_json::from_str(&reply.body).unwrap_or(Value::Null);
        let status = effective_status(reply.status, &value);
        if (200..300).contains(&status) {
            return Ok(value);
        }
        let (problem, meaning) = self.told(protocol, status, &reply, &value);
        Err(if meaning.passing { self.unreachable(problem) } else { self.refused(problem) })
    }

    /// Keeps the form that worked.
    fn remember(&self, form: Form, answer: &Answer) {
        let well_formed = answer::parse_object(&answer.text).is_ok();
        *self.form.lock().unwrap_or_else(PoisonError::into_inner) = form.after_answer(well_formed);
    }

    /// `settled` says that the same request failed before or may not be repeated.
    fn judge(
        &self,
        protocol: &impl Protocol,
        outcome: Result<Reply, Fault>,
        form: Form,
        settled: bool,
    ) -> Verdict {
        let reply = match outcome {
            Ok(reply) => reply,
            Err(fault) => return self.judge_fault(protocol, fault),
        };
        let value = serde_json::from_str(&reply.body).unwrap_or(Value::Null);
        let status = effective_status(reply.status, &value);
        if (200..300).contains(&status) {
            return match protocol.read_answer(&value) {
                Ok(answer) => Verdict::Answered(Answer { model: one_line(&answer.model), ..answer }),
                Err(unusable) => Verdict::Failed(self.unusable(unusable, &reply.body)),
            };
        }
        if let Some(form) = form.adapted(status, &reply.body.to_lowercase(), settled) {
            return Verdict::Adapt(form);
        }
        let (problem, meaning) = self.told(protocol, status, &reply, &value);
        match meaning.passing {
            true => Verdict::Again { problem, pause: reply.retry_after },
            false => Verdict::Failed(self.refused(problem)),
        }
    }

    fn judge_fault(&self, protocol: &impl Protocol, fault: Fault) -> Verdict {
        match fault {
            Fault::TooLate => Verdict::Failed(
                self.unreachable(format!("no answer within {} s", self.timeout.as_secs_f64())),
            ),
            Fault::Broken(problem) => {
                let problem = match protocol.connection_hint() {
                    Some(hint) => format!("{problem} ({hint})"),
                    None => problem,
                };
                Verdict::Again { problem: self.access.scrub(&problem), pause: None }
            }
            Fault::TooLong => Verdict::Failed(self.garbled("the reply is longer than 4 MiB")),
            Fault::Setup(problem) => Verdict::Failed(ModelError::Settings {
                problem: format!("no request can be made: {problem}"),
                hint: format!("check `{}` and `base_url`", self.access.variable),
            }),
        }
    }

    /// What a failed reply says, for people, and what it means.
    fn told(&self, protocol: &impl Protocol, status: u16, reply: &Reply, value: &Value) -> (String, Meaning) {
        let said = http::error_text(&self.access.scrub(&reply.body));
        let said = match &reply.location {
            Some(to) if (300..400).contains(&status) => {
                let to = self.access.scrub(to);
                format!("it redirects to `{}`: set `base_url` to where it is", one_line(&to))
            }
            _ => said,
        };
        let mut problem = format!("HTTP {status}");
        if !said.is_empty() {
            problem = format!("{problem}: {said}");
        }
        let with_key = self.access.key.is_some();
        let body = reply.body.to_lowercase();
        let meaning = match (status, with_key) {
            (401 | 403, true) => Meaning::settled(format!("check the key in `{}`", self.access.variable)),
            (401 | 403, false) => Meaning::settled(self.access.missing_hint()),
            _ => protocol.judge(&Failure { status, body: &body, value }),
        };
        if let Some(hint) = &meaning.hint {
            problem = format!("{problem} ({hint})");
        }
        (problem, meaning)
    }

    fn unusable(&self, unusable: Unusable, body: &str) -> ModelError {
        match unusable {
            Unusable::Refused(problem) => self.refused(one_line(&self.access.scrub(&problem))),
            Unusable::Garbled(problem) => self.garbled(self.access.scrub(&problem)),
            Unusable::Foreign(expected) => {
                let said = http::error_text(&self.access.scrub(body));
                self.garbled(format!("the reply is no {expected}: {said}"))
            }
        }
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
            _ => status_of_type(error["type"].as_str().unwrap_or_default()),
        },
    }
}

/// The status that goes with a named type of error; any other is the gateway's own trouble.
fn status_of_type(name: &str) -> u16 {
    match name {
        "invalid_request_error" => 400,
        "authentication_error" => 401,
        "billing_error" => 402,
        "permission_error" => 403,
        "not_found_error" => 404,
        "request_too_large" => 413,
        "rate_limit_error" => 429,
        "api_error" => 500,
        "timeout_error" => 504,
        "overloaded_error" => 529,
        _ => 502,
    }
}
