//! One question to a server, whatever it speaks: ask, judge the reply, adapt, try again.
//!
//! A [`Protocol`] says how a question is put and an answer read; what is alike everywhere stands
//! here. A question becomes one request, and more only where the last one failed for a cause that
//! may pass or that another form of request avoids. The form that worked is remembered for the
//! life of the value, so that later questions do not pay again. Every question ends by its
//! deadline, and no error holds the key.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use reqwest::Url;
use serde_json::Value;

use crate::llm::answer;
use crate::llm::config::Config;
use crate::llm::form::{Form, Manner};
use crate::llm::http::{self, Access, Fault, Reply};
use crate::llm::model::{Answer, ModelError, Question, one_line};
use crate::llm::server::{Server, Trouble, effective_status};

pub(super) use crate::llm::server::{Failure, Meaning};

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
    Adapt(Form),
    Failed(Trouble),
}

/// Questions to one server.
pub(super) struct Session {
    endpoint: Url,
    server: Server,
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
        let Config { timeout, max_retries, retry_delay, .. } = *config;
        let http = http::Http::new(&endpoint);
        let url_setting = "base_url";
        Ok(Session {
            endpoint,
            server: Server { at, access, url_setting, timeout, max_retries, retry_delay, seed, http },
            form: Mutex::new(Form::first(manner, config.structured_output)?),
        })
    }

    /// The address without secrets.
    pub fn at(&self) -> &str {
        &self.server.at
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
            let outcome = self.server.post(&self.endpoint, &request, deadline);
            let settled = retried || retries == self.server.max_retries;
            match self.judge(protocol, outcome, form, settled) {
                Verdict::Answered(mut answer) => {
                    self.remember(form, &answer);
                    answer.usage.calls = calls;
                    return Ok(answer);
                }
                Verdict::Adapt(other) => (form, retried) = (other, false),
                Verdict::Failed(trouble) => {
                    self.server.wait_out(trouble, retries, calls, deadline)?;
                    (retries, retried) = (retries + 1, true);
                }
            }
        }
    }

    /// Fetches JSON from another address of the same server, once.
    pub fn fetch(&self, protocol: &impl Protocol, url: &Url, deadline: Instant) -> Result<Value, ModelError> {
        self.server.fetch(url, deadline, |failure| protocol.judge(failure), protocol.connection_hint())
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
            Err(fault) => {
                return Verdict::Failed(self.server.trouble_of_fault(fault, protocol.connection_hint()));
            }
        };
        let value = serde_json::from_str(&reply.body).unwrap_or(Value::Null);
        let status = effective_status(reply.status, &value);
        if (200..300).contains(&status) {
            return match protocol.read_answer(&value) {
                Ok(answer) => Verdict::Answered(Answer { model: one_line(&answer.model), ..answer }),
                Err(unusable) => Verdict::Failed(Trouble::Settled(self.unusable(unusable, &reply.body))),
            };
        }
        if let Some(form) = form.adapted(status, &reply.body.to_lowercase(), settled) {
            return Verdict::Adapt(form);
        }
        let judge = |failure: &Failure<'_>| protocol.judge(failure);
        Verdict::Failed(self.server.trouble_of_reply(status, &reply, &value, judge))
    }

    fn unusable(&self, unusable: Unusable, body: &str) -> ModelError {
        let server = &self.server;
        match unusable {
            Unusable::Refused(problem) => server.refused(one_line(&server.access.scrub(&problem))),
            Unusable::Garbled(problem) => server.garbled(server.access.scrub(&problem)),
            Unusable::Foreign(expected) => server.foreign(expected, body),
        }
    }
}
