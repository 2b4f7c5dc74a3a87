//! A server over HTTP and what its failures mean, whatever it is asked for.
//!
//! A request goes out; a reply comes back, or a [`Trouble`]: what may pass and is worth another try,
//! or what is settled. Chats ([`crate::llm::session`]) and vectors ([`crate::llm::embedding`]) are
//! asked for through this. Every wait ends before the deadline, and no error holds the key.

use std::time::{Duration, Instant};

use reqwest::Url;
use serde_json::Value;

use crate::llm::config::RequestLimits;
use crate::llm::http::{self, Access, Fault, Http, Reply};
use crate::llm::model::{ModelError, one_line};

/// A reply that is an error.
pub(super) struct Failure<'a> {
    /// HTTP status, or that of an error which a gateway hands on under status 200.
    pub status: u16,
    /// The body in lower case.
    pub body: &'a str,
    /// The body as JSON, `null` where it is none.
    pub value: &'a Value,
}

/// What a failure means for what was asked.
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

/// Why a request brought nothing.
pub(super) enum Trouble {
    /// The same again may help, after a pause that the server may have named.
    Passing {
        /// What happened.
        problem: String,
        /// How long the server asks to wait.
        pause: Option<Duration>,
    },
    /// Trying again will not help.
    Settled(ModelError),
}

/// One server.
pub(super) struct Server {
    /// The address without secrets.
    pub at: String,
    /// How it is entered.
    pub access: Access,
    /// The setting that holds its address.
    pub url_setting: &'static str,
    /// Limits of one question or one batch.
    pub limits: RequestLimits,
    /// Decides the jitter.
    pub seed: u64,
    /// The client.
    pub http: Http,
}

impl Server {
    /// Posts `body`.
    pub fn post(&self, url: &Url, body: &Value, deadline: Instant) -> Result<Reply, Fault> {
        self.http.post(url, &self.access, body, deadline)
    }

    /// Fetches JSON, once.
    pub fn fetch(
        &self,
        url: &Url,
        deadline: Instant,
        judge: impl FnOnce(&Failure<'_>) -> Meaning,
        connection_hint: Option<&str>,
    ) -> Result<Value, ModelError> {
        let reply = match self.http.get(url, &self.access, deadline) {
            Ok(reply) => reply,
            Err(fault) => return Err(self.error_of(self.trouble_of_fault(fault, connection_hint))),
        };
        let value = serde_json::from_str(&reply.body).unwrap_or(Value::Null);
        let status = effective_status(reply.status, &value);
        if (200..300).contains(&status) {
            return Ok(value);
        }
        Err(self.error_of(self.trouble_of_reply(status, &reply, &value, judge)))
    }

    /// Waits for what may pass to have passed. `retries` were made before, `calls` in all.
    ///
    /// # Errors
    ///
    /// What is settled, what did not pass in all tries, and where no time is left.
    pub fn wait_out(
        &self,
        trouble: Trouble,
        retries: u32,
        calls: u32,
        deadline: Instant,
    ) -> Result<(), ModelError> {
        let (problem, pause) = match trouble {
            Trouble::Passing { problem, pause } if retries < self.limits.max_retries => (problem, pause),
            other => return Err(self.error_of(other)),
        };
        let seed = self.seed.wrapping_add(u64::from(calls));
        let pause = pause.unwrap_or_else(|| http::backoff(self.limits.retry_delay, retries, seed));
        if http::remaining(deadline).is_none_or(|left| pause >= left) {
            return Err(self.unreachable(format!("{problem} (no time is left to try again)")));
        }
        std::thread::sleep(pause);
        Ok(())
    }

    /// What it means that no reply came.
    pub fn trouble_of_fault(&self, fault: Fault, connection_hint: Option<&str>) -> Trouble {
        Trouble::Settled(match fault {
            Fault::TooLate => {
                self.unreachable(format!("no answer within {} s", self.limits.timeout.as_secs_f64()))
            }
            Fault::NoConnection(problem) | Fault::Broken(problem) => {
                let problem = match connection_hint {
                    Some(hint) => format!("{problem} ({hint})"),
                    None => problem,
                };
                return Trouble::Passing { problem: self.access.scrub(&problem), pause: None };
            }
            Fault::TooLong => self.garbled("the reply is longer than 4 MiB"),
            Fault::Setup(problem) => ModelError::Settings {
                problem: format!("no request can be made: {problem}"),
                hint: format!("check `{}` and `{}`", self.access.variable, self.url_setting),
            },
        })
    }

    /// What a failed reply says, for people, and what it means.
    pub fn trouble_of_reply(
        &self,
        status: u16,
        reply: &Reply,
        value: &Value,
        judge: impl FnOnce(&Failure<'_>) -> Meaning,
    ) -> Trouble {
        let said = http::error_text(&self.access.scrub(&reply.body));
        let said = match &reply.location {
            Some(to) if (300..400).contains(&status) => {
                let to = self.access.scrub(to);
                format!("it redirects to `{}`: set `{}` to where it is", one_line(&to), self.url_setting)
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
            _ => judge(&Failure { status, body: &body, value }),
        };
        if let Some(hint) = &meaning.hint {
            problem = format!("{problem} ({hint})");
        }
        match meaning.passing {
            true => Trouble::Passing { problem, pause: reply.retry_after },
            false => Trouble::Settled(self.refused(problem)),
        }
    }

    /// The error where nothing is tried again.
    pub fn error_of(&self, trouble: Trouble) -> ModelError {
        match trouble {
            Trouble::Passing { problem, .. } => self.unreachable(problem),
            Trouble::Settled(error) => error,
        }
    }

    /// No server, or none that answered in time.
    pub fn unreachable(&self, problem: String) -> ModelError {
        ModelError::Unreachable { at: self.at.clone(), problem }
    }

    /// The server answered and refused.
    pub fn refused(&self, problem: impl Into<String>) -> ModelError {
        ModelError::Refused { at: self.at.clone(), problem: problem.into() }
    }

    /// The server answered with something that is no answer.
    pub fn garbled(&self, problem: impl Into<String>) -> ModelError {
        ModelError::Garbled { at: self.at.clone(), problem: problem.into() }
    }

    /// The reply is not even of the protocol.
    pub fn foreign(&self, expected: &str, body: &str) -> ModelError {
        let said = http::error_text(&self.access.scrub(body));
        self.garbled(format!("the reply is no {expected}: {said}"))
    }
}

/// The status, or that of an error which a gateway hands on under status 200.
pub(super) fn effective_status(status: u16, reply: &Value) -> u16 {
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
