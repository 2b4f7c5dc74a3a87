//! A server over HTTP, and the meaning of its failures.
//!
//! A request goes out; a reply comes back, or a [`Failure`]: temporary and worth a retry, or permanent.
//! Both chats ([`crate::served`]) and vectors ([`crate::embedding`]) use it. Every wait ends
//! before the deadline, and no error contains the key.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use reqwest::Url;
use reqwest::blocking::Client;
use serde_json::Value;

use crate::config::RequestLimits;
use crate::connect::Destination;
use crate::http::{self, Access, Reply, TransportError};
use crate::model::{ModelError, one_line};

/// A reply with a status of success.
pub(super) struct Success {
    /// The body as JSON; `null` if it is none.
    pub(crate) value: Value,
    /// The body.
    pub(crate) body: String,
}

/// A reply that is an error.
pub(super) struct ErrorReply {
    /// HTTP status, or that of an error which a gateway reports under status 200.
    pub(crate) status: u16,
    /// The body in lower case.
    pub(crate) body: String,
    /// The body as JSON; `null` if it is none.
    pub(crate) value: Value,
}

/// Why a request failed.
pub(super) struct Failure {
    /// The error where nothing is tried again.
    pub(crate) error: ModelError,
    /// The same request may succeed later.
    temporary: bool,
    /// The pause that the server asks for before that.
    pause: Option<Duration>,
    /// No connection could be made.
    pub(crate) is_unconnected: bool,
    /// The reply, if one came.
    pub(crate) reply: Option<ErrorReply>,
}

/// The meaning of a failure.
pub(super) struct Diagnosis {
    /// Trying again may help.
    pub(crate) temporary: bool,
    /// The next step for the user.
    pub(crate) hint: Option<String>,
}

impl Diagnosis {
    /// The meaning of the status alone.
    pub(crate) fn of_status(status: u16) -> Diagnosis {
        Diagnosis { temporary: matches!(status, 408 | 429 | 500 | 502 | 503 | 504 | 529), hint: None }
    }

    /// A failure that a retry does not help, with what to do about it.
    pub(crate) fn permanent(hint: impl Into<String>) -> Diagnosis {
        Diagnosis { temporary: false, hint: Some(hint.into()) }
    }
}

/// One server.
pub(super) struct Server {
    /// The address that questions or texts are sent to.
    pub(crate) endpoint: Url,
    /// The address without secrets.
    pub(crate) at: String,
    /// How requests are authorised.
    pub(crate) access: Access,
    /// The setting that holds the address.
    pub(crate) url_setting: &'static str,
    /// Limits of one question or one batch.
    pub(crate) limits: RequestLimits,
    /// Decides the jitter.
    pub(crate) seed: u64,
    /// A hint for the case that no connection can be made.
    pub(crate) connection_hint: Option<&'static str>,
    /// The HTTP client, built at the first request.
    pub(crate) client: OnceLock<Client>,
}

impl Server {
    /// Posts JSON, once.
    pub(crate) fn post(
        &self,
        url: &Url,
        body: &Value,
        deadline: Instant,
        judge: impl FnOnce(&ErrorReply) -> Diagnosis,
    ) -> Result<Success, Box<Failure>> {
        self.read(self.send(url, Some(body), deadline), judge)
    }

    /// Fetches JSON, once.
    pub(crate) fn fetch(
        &self,
        url: &Url,
        deadline: Instant,
        judge: impl FnOnce(&ErrorReply) -> Diagnosis,
    ) -> Result<Value, ModelError> {
        let reply = self.read(self.send(url, None, deadline), judge);
        reply.map(|reply| reply.value).map_err(|failure| failure.error)
    }

    /// Sends a request to an address, with a body of JSON if there is one.
    fn send(&self, url: &Url, body: Option<&Value>, deadline: Instant) -> Result<Reply, TransportError> {
        let client = match self.client.get() {
            Some(client) => client,
            None => {
                let client = http::client_of(&self.endpoint)?;
                self.client.get_or_init(|| client)
            }
        };
        let request = match body {
            Some(body) => client.post(url.clone()).json(body),
            None => client.get(url.clone()),
        };
        http::exchange(self.access.apply(request)?, deadline)
    }

    /// The machine that requests are sent to, where it is another one.
    pub(crate) fn destination(&self) -> Option<Destination> {
        Destination::of(&self.endpoint, self.access.key.is_some())
    }

    /// Waits before a retry. `retries` were made for this request, `calls` requests in all.
    ///
    /// # Errors
    ///
    /// Where the failure is permanent, where all retries are used up, and where no time is left.
    pub(crate) fn wait_before_retry(
        &self,
        failure: Failure,
        retries: u32,
        calls: u32,
        deadline: Instant,
    ) -> Result<(), ModelError> {
        let problem = match failure.error {
            ModelError::Unavailable { problem, .. }
                if failure.temporary && retries < self.limits.max_retries =>
            {
                problem
            }
            error => return Err(error),
        };
        let seed = self.seed.wrapping_add(u64::from(calls));
        let pause = failure.pause.unwrap_or_else(|| http::backoff(self.limits.retry_delay, retries, seed));
        if http::remaining(deadline).is_none_or(|left| pause >= left) {
            return Err(self.unavailable(format!("{problem} (no time is left to try again)")));
        }
        std::thread::sleep(pause);
        Ok(())
    }

    /// Tells success from failure.
    fn read(
        &self,
        reply: Result<Reply, TransportError>,
        judge: impl FnOnce(&ErrorReply) -> Diagnosis,
    ) -> Result<Success, Box<Failure>> {
        let reply = reply.map_err(|error| Box::new(self.transport_failed(error)))?;
        let value = serde_json::from_str(&reply.body).unwrap_or(Value::Null);
        let status = effective_status(reply.status, &value);
        if (200..300).contains(&status) {
            return Ok(Success { value, body: reply.body });
        }
        let failed = ErrorReply { status, body: reply.body.to_lowercase(), value };
        Err(Box::new(self.reply_failed(&reply, failed, judge)))
    }

    fn transport_failed(&self, error: TransportError) -> Failure {
        let is_unconnected = matches!(error, TransportError::NoConnection(_));
        let temporary = is_unconnected || matches!(error, TransportError::Broken(_));
        let error = match error {
            TransportError::TooLate => {
                self.unavailable(format!("did not answer within {} s", self.limits.timeout.as_secs_f64()))
            }
            TransportError::NoConnection(problem) => {
                let hint = self.connection_hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
                self.unavailable(self.access.scrub(&format!("cannot be reached: {problem}{hint}")))
            }
            TransportError::Broken(problem) => {
                self.unavailable(self.access.scrub(&format!("broke off: {problem}")))
            }
            TransportError::TooLong => self.garbled("the reply is longer than 4 MiB"),
            TransportError::Setup(problem) => ModelError::Settings {
                problem: format!("no request can be made: {problem}"),
                hint: format!("check `{}` and `{}`", self.access.variable, self.url_setting),
            },
        };
        Failure { error, temporary, pause: None, is_unconnected, reply: None }
    }

    fn reply_failed(
        &self,
        reply: &Reply,
        failed: ErrorReply,
        judge: impl FnOnce(&ErrorReply) -> Diagnosis,
    ) -> Failure {
        let status = failed.status;
        let said = match &reply.location {
            Some(to) if (300..400).contains(&status) => {
                let to = self.access.scrub(to);
                format!("it redirects to `{}`: set `{}` to where it is", one_line(&to), self.url_setting)
            }
            _ => http::error_text(&reply.body, |text| self.access.scrub(text)),
        };
        let mut problem = format!("HTTP {status}");
        if !said.is_empty() {
            problem = format!("{problem}: {said}");
        }
        let Diagnosis { temporary, hint } = match (status, self.access.key.is_some()) {
            (401 | 403, true) => Diagnosis::permanent(format!("check the key in `{}`", self.access.variable)),
            (401 | 403, false) => Diagnosis::permanent(self.access.missing_hint()),
            _ => judge(&failed),
        };
        if let Some(hint) = hint {
            problem = format!("{problem} ({hint})");
        }
        let error = if temporary {
            self.unavailable(format!("answered with {problem}"))
        } else {
            self.refused(problem)
        };
        Failure { error, temporary, pause: reply.retry_after, is_unconnected: false, reply: Some(failed) }
    }

    /// No answer for now; the problem says what the server did.
    pub(crate) fn unavailable(&self, problem: String) -> ModelError {
        ModelError::Unavailable { at: self.at.clone(), problem }
    }

    /// The server answered and refused.
    pub(crate) fn refused(&self, problem: impl Into<String>) -> ModelError {
        ModelError::Refused { at: self.at.clone(), problem: problem.into() }
    }

    /// The server answered with something that is no answer.
    pub(crate) fn garbled(&self, problem: impl Into<String>) -> ModelError {
        ModelError::Garbled { at: self.at.clone(), problem: problem.into() }
    }

    /// The reply does not follow the protocol.
    pub(crate) fn foreign(&self, expected: &str, body: &str) -> ModelError {
        let said = http::error_text(body, |text| self.access.scrub(text));
        self.garbled(format!("the reply is no {expected}: {said}"))
    }
}

/// The status, or that of an error which a gateway reports under status 200.
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

/// The status of a named error type; any other is a failure of the gateway itself.
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
