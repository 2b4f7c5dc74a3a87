//! One bounded request: JSON goes out; status and body come back before the deadline.
//!
//! This file holds what all HTTP providers need: a client, a limit for the body, the pauses between retries, the text of
//! an error, and the removal of the key from everything that is shown.

use std::io::Read;
use std::time::{Duration, Instant};

use reqwest::Url;
use reqwest::blocking::{Client, RequestBuilder, Response};
use reqwest::header::{HeaderValue, LOCATION, RETRY_AFTER};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

use crate::connect::client_builder;
use crate::model::one_line;
use crate::secrets::Secrets;
use memories_document::types::hint::with_causes;

/// Longest body that is read, in bytes.
const BODY_LIMIT: u64 = 4 * 1024 * 1024;

/// How requests are authorised.
pub(super) struct Access {
    /// The key, if there is one.
    pub(crate) key: Option<SecretString>,
    /// The environment variable that holds it.
    pub(crate) variable: &'static str,
    /// The header that carries it.
    header: KeyHeader,
    /// Headers of every request.
    headers: &'static [(&'static str, &'static str)],
    /// The key, and the secrets of the address.
    secrets: Secrets,
}

/// The header that carries a key.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeyHeader {
    /// The name, in lower case.
    name: &'static str,
    /// The beginning of the value.
    prefix: &'static str,
}

/// `Authorization: Bearer …`
pub(super) const BEARER: KeyHeader = KeyHeader { name: "authorization", prefix: "Bearer " };

/// `x-api-key: …`
pub(super) const API_KEY: KeyHeader = KeyHeader { name: "x-api-key", prefix: "" };

impl Access {
    /// Access with a key, if there is one, to the server at an address.
    pub(crate) fn new(
        key: Option<SecretString>,
        variable: &'static str,
        header: KeyHeader,
        headers: &'static [(&'static str, &'static str)],
        address: &Url,
    ) -> Access {
        let secrets = Secrets::of_server(key.as_ref(), address);
        Access { key, variable, header, headers, secrets }
    }

    /// The text without the key and the secrets of the address.
    pub(crate) fn scrub(&self, text: &str) -> String {
        self.secrets.mask(text)
    }

    /// The hint where a key is required and none is set.
    pub(crate) fn missing_hint(&self) -> String {
        const ANYWHERE: &str = "MEMORIES_API_KEY";
        match self.variable {
            ANYWHERE => format!("set `{ANYWHERE}`"),
            own => format!("set `{own}`; for a host that only a file names, `{ANYWHERE}`"),
        }
    }

    /// Adds the headers of every request and the key.
    pub(crate) fn apply(&self, mut request: RequestBuilder) -> Result<RequestBuilder, TransportError> {
        for (name, value) in self.headers {
            request = request.header(*name, *value);
        }
        let Some(key) = &self.key else { return Ok(request) };
        let mut value = HeaderValue::from_str(&format!("{}{}", self.header.prefix, key.expose_secret()))
            .map_err(|_| TransportError::Setup("the key holds characters that no header can".to_owned()))?;
        value.set_sensitive(true);
        Ok(request.header(self.header.name, value))
    }
}

/// The reply of a server.
#[derive(Debug)]
pub(super) struct Reply {
    /// HTTP status.
    pub(crate) status: u16,
    /// The pause that the server asks for.
    pub(crate) retry_after: Option<Duration>,
    /// The target of a redirect.
    pub(crate) location: Option<String>,
    /// The body; invalid UTF-8 is replaced.
    pub(crate) body: String,
}

/// Why there is no reply.
#[derive(Debug)]
pub(super) enum TransportError {
    /// The client cannot be built.
    Setup(String),
    /// The deadline passed.
    TooLate,
    /// No connection could be made: nobody listens, or the name is unknown.
    NoConnection(String),
    /// The connection broke; trying again may help.
    Broken(String),
    /// The body exceeds the limit.
    TooLong,
}

/// A client for one server.
pub(super) fn client_of(server: &Url) -> Result<Client, TransportError> {
    let builder = client_builder(server).user_agent(concat!("memories/", env!("CARGO_PKG_VERSION")));
    let builder = reqwest::blocking::ClientBuilder::from(builder);
    builder.build().map_err(|error| TransportError::Setup(causes(error)))
}

/// Sends a request and reads the whole reply before `deadline`.
pub(super) fn exchange(request: RequestBuilder, deadline: Instant) -> Result<Reply, TransportError> {
    let response = send(request, deadline)?;
    let header = |name| {
        let value: Option<&HeaderValue> = response.headers().get(name);
        value.and_then(|value| value.to_str().ok()).map(str::to_owned)
    };
    let (status, location) = (response.status().as_u16(), header(LOCATION));
    let retry_after = header(RETRY_AFTER).and_then(|text| parse_retry_after(&text));
    Ok(Reply { status, retry_after, location, body: read_body(response, deadline)? })
}

fn send(request: RequestBuilder, deadline: Instant) -> Result<Response, TransportError> {
    let remaining = remaining(deadline).ok_or(TransportError::TooLate)?;
    request.timeout(remaining).send().map_err(|error| {
        if error.is_timeout() {
            TransportError::TooLate
        } else if error.is_builder() {
            TransportError::Setup(causes(error))
        } else if error.is_connect() {
            TransportError::NoConnection(causes(error))
        } else {
            TransportError::Broken(causes(error))
        }
    })
}

/// Reads in chunks, so that a slow server cannot outlast the deadline.
fn read_body(response: Response, deadline: Instant) -> Result<String, TransportError> {
    let mut body = Vec::new();
    let mut chunk = vec![0; 64 * 1024];
    let mut limited = response.take(BODY_LIMIT + 1);
    loop {
        remaining(deadline).ok_or(TransportError::TooLate)?;
        match limited.read(&mut chunk) {
            Ok(0) => break,
            Ok(length) => body.extend_from_slice(&chunk[..length]),
            Err(error) if remaining(deadline).is_none() || is_timeout(&error) => {
                return Err(TransportError::TooLate);
            }
            Err(_) => return Err(TransportError::Broken("the answer is not whole".to_owned())),
        }
    }
    if body.len() as u64 > BODY_LIMIT {
        return Err(TransportError::TooLong);
    }
    Ok(String::from_utf8_lossy(&body).into_owned())
}

fn is_timeout(error: &std::io::Error) -> bool {
    let inner = error.get_ref().and_then(|e| e.downcast_ref::<reqwest::Error>());
    error.kind() == std::io::ErrorKind::TimedOut || inner.is_some_and(reqwest::Error::is_timeout)
}

/// The time left until the deadline, or `None` when it has passed.
pub(super) fn remaining(deadline: Instant) -> Option<Duration> {
    deadline.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
}

/// An error with its causes, because the last one says what happened.
fn causes(error: reqwest::Error) -> String {
    one_line(&with_causes(&error.without_url()))
}

/// `Retry-After` in seconds; the form with a date is not supported.
fn parse_retry_after(text: &str) -> Option<Duration> {
    let seconds: f64 = text.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// The pause before retry `number` (from 0): doubled each time, less a random part of up to a half.
pub fn backoff(first: Duration, number: u32, seed: u64) -> Duration {
    let whole = first
        .saturating_mul(1_u32.checked_shl(number).unwrap_or(u32::MAX))
        .min(Duration::from_secs(24 * 60 * 60));
    let draw = xxh3_64(&seed.wrapping_add(u64::from(number)).to_le_bytes());
    whole.mul_f64((1.0 - draw as f64 / u64::MAX as f64 / 2.0).clamp(0.5, 1.0))
}

/// The text of an error body on one line: the known shapes of servers and gateways, else its beginning. Secrets are
/// removed by `scrub` after escapes are resolved and before the text is cut.
pub(super) fn error_text(body: &str, scrub: impl Fn(&str) -> String) -> String {
    let Ok(value) = serde_json::from_str::<Value>(body) else {
        return one_line(&scrub(&html_title(body).unwrap_or_else(|| body.to_owned())));
    };
    let places = ["/error/message", "/choices/0/error/message", "/error", "/message", "/detail"];
    let said = places.iter().find_map(|place| match value.pointer(place) {
        Some(Value::String(text)) if !text.trim().is_empty() => Some(text.clone()),
        Some(Value::Array(items)) if !items.is_empty() => Some(Value::from(items.clone()).to_string()),
        _ => None,
    });
    one_line(&scrub(&said.unwrap_or_else(|| value.to_string())))
}

fn html_title(body: &str) -> Option<String> {
    let lower = body.to_ascii_lowercase();
    let start = lower.find("<title>")? + "<title>".len();
    let end = start + lower[start..].find("</title>")?;
    Some(body[start..end].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_and_are_the_same_for_the_same_seed() {
        let first = Duration::from_millis(100);
        for number in 0..4 {
            let whole = first * 2_u32.pow(number);
            for seed in 0..50 {
                let pause = backoff(first, number, seed);
                assert!(pause <= whole && pause >= whole / 2, "{pause:?}");
                assert_eq!(pause, backoff(first, number, seed));
            }
        }
        assert_ne!(backoff(first, 0, 1), backoff(first, 0, 2));
        assert!(backoff(first, 400, 1) > first);
        assert!(backoff(Duration::MAX, 3, 1) < Duration::MAX);
    }

    #[test]
    fn retry_after_in_seconds() {
        assert_eq!(parse_retry_after(" 2 "), Some(Duration::from_secs(2)));
        assert_eq!(parse_retry_after("0.5"), Some(Duration::from_millis(500)));
        for text in ["", "-1", "NaN", "Fri, 31 Dec 1999 23:59:59 GMT"] {
            assert_eq!(parse_retry_after(text), None, "{text}");
        }
    }

    #[test]
    fn error_texts_of_servers() {
        for (body, said) in [
            (r#"{"error": {"message": "no such model", "code": "x"}}"#, "no such model"),
            (
                r#"{"error": "'response_format.type' must be 'text'"}"#,
                "'response_format.type' must be 'text'",
            ),
            (r#"{"object": "error", "message": "too long", "code": 400}"#, "too long"),
            (r#"{"detail": [{"loc": ["body"]}]}"#, r#"[{"loc":["body"]}]"#),
            (r#"{"other": 1}"#, r#"{"other":1}"#),
            ("<html><head><title>502 Bad Gateway</title></head></html>", "502 Bad Gateway"),
            ("bad\u{1b}[31m\n  things", "bad [31m things"),
            ("", ""),
        ] {
            assert_eq!(error_text(body, str::to_owned), said);
        }
        assert_eq!(error_text(&"x".repeat(1000), str::to_owned).chars().count(), 301);
    }

    #[test]
    fn secrets_are_taken_out_of_escaped_and_of_long_bodies() {
        let secrets = Secrets::of(["pass/word".to_owned()]);
        let said = |body: &str| error_text(body, |text| secrets.mask(text));
        assert_eq!(said(r#"{"error": "no `pass\/word`"}"#), "no `****`");
        let long = format!("{}pass/word", "x".repeat(295));
        assert_eq!(said(&long), format!("{}****", "x".repeat(295)));
    }
}
