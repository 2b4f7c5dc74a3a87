//! A model behind a server: ask, judge the reply, adapt the request, try again.
//!
//! A [`Protocol`] says how a question is put and how an answer is read; everything that all servers have in
//! common is here. A question is one request. Further ones follow only where the last one failed for a
//! reason that may be temporary, or that another form of request avoids. The form that worked is kept for
//! the life of the value, so that later questions do not pay again; what was refused outlives it as a
//! [`Refusals`](crate::Refusals). Every question ends by its deadline,
//! and no error contains the key.

use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use reqwest::Url;
use serde_json::Value;

use crate::config::Config;
use crate::destination::Destination;
use crate::form::{ApiTraits, Form};
use crate::http::{Access, Http};
use crate::model::{Answer, Model, ModelError, Question, deadline_after, one_line};
use crate::server::{Diagnosis, ErrorReply, Failure, Server};
use crate::{address, answer};
use memories_document::types::lock::lock;

/// The API of servers of one kind.
pub(super) trait Protocol: Send {
    /// Traits that all servers of this kind share.
    const TRAITS: &'static ApiTraits;

    /// Provider and model, as in reports and the journal.
    fn name(&self) -> String;

    /// The body of a request.
    fn request(&self, question: &Question<'_>, form: Form) -> Value;

    /// The answer in a reply; its usage without the number of calls.
    fn read_answer(&self, reply: &Value) -> Result<Answer, Unusable>;

    /// The meaning of a failure.
    fn judge(&self, failure: &ErrorReply) -> Diagnosis;

    /// Asks the server for what the first question needs.
    fn prepare(&self, _server: &Server, _deadline: Instant) -> Result<(), ModelError> {
        Ok(())
    }
}

/// Why a reply holds no answer.
pub(super) enum Unusable {
    /// The model or its server declined.
    Refused(String),
    /// The answer cannot be used.
    Garbled(String),
    /// The reply does not follow this protocol; what was expected.
    Foreign(&'static str),
}

impl Unusable {
    /// The answer reached its limit of tokens.
    pub(crate) fn cut_off(limit: u32) -> Unusable {
        Unusable::Garbled(format!(
            "the answer was cut off after {limit} tokens (`max_output_tokens`), of which a model's \
             reasoning is a part"
        ))
    }

    /// The answer has no text.
    pub(crate) fn empty(reasoned: bool) -> Unusable {
        Unusable::Garbled(if reasoned {
            "the model reasoned but gave no answer".to_owned()
        } else {
            "the answer is empty".to_owned()
        })
    }
}

/// A model behind one server.
pub(super) struct ServedModel<P> {
    protocol: P,
    endpoint: Url,
    server: Server,
    /// Address and model, by which refusals are remembered.
    known_as: String,
    form: Mutex<Form>,
    calls: AtomicU32,
}

impl<P: Protocol> ServedModel<P> {
    /// Nothing is opened yet. `call` is the end of every endpoint of this kind, which errors do not show.
    ///
    /// # Errors
    ///
    /// [`ModelError::Settings`] for a way of structured output that these servers do not have.
    pub(crate) fn new(
        protocol: P,
        endpoint: Url,
        call: &str,
        access: Access,
        config: &Config,
        seed: u64,
    ) -> Result<ServedModel<P>, ModelError> {
        let server = Server {
            at: address::display_address(&endpoint, call),
            access,
            url_setting: "base_url",
            limits: config.limits,
            seed,
            connection_hint: P::TRAITS.connection_hint,
            http: Http::new(&endpoint),
        };
        let known_as = format!("{} {}", server.at, protocol.name());
        let form = Form::first(P::TRAITS, config.structured_output)?;
        let form = Mutex::new(form.recalling(config.refusals.of(&known_as)));
        Ok(ServedModel { protocol, endpoint, server, known_as, form, calls: AtomicU32::new(0) })
    }

    /// Asks until there is an answer, a permanent failure, or no time left.
    fn ask_until(&self, question: &Question<'_>, deadline: Instant) -> Result<Answer, ModelError> {
        let mut form = *lock(&self.form);
        let (mut calls, mut retries, mut retried) = (0, 0, false);
        loop {
            calls += 1;
            self.calls.fetch_add(1, Ordering::Relaxed);
            let request = self.protocol.request(question, form);
            let failure = match self.server.post(&self.endpoint, &request, deadline) {
                Ok(reply) => {
                    let answer = self.protocol.read_answer(&reply.value);
                    let mut answer = answer.map_err(|unusable| self.unusable(unusable, &reply.body))?;
                    answer.model = one_line(&answer.model);
                    answer.usage.calls = calls;
                    // Later questions begin with the form that worked.
                    *lock(&self.form) = form.after_answer(answer::parse_object(&answer.text).is_ok());
                    return Ok(answer);
                }
                Err(failure) => failure,
            };
            let is_final = retried || retries == self.server.limits.max_retries;
            if let Failure::Reply(reply) = &failure
                && let Some(other) = form.adapted(reply.status, &reply.body, is_final)
            {
                (form, retried) = (other, false);
                continue;
            }
            let error = self.server.diagnose(failure, |reply| self.protocol.judge(reply));
            self.server.wait_before_retry(error, retries, calls, deadline)?;
            (retries, retried) = (retries + 1, true);
        }
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

impl<P: Protocol> fmt::Debug for ServedModel<P> {
    /// Without the endpoint and the access, which may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServedModel")
            .field("name", &self.protocol.name())
            .field("at", &self.server.at)
            .field("format", &lock(&self.form).format())
            .finish_non_exhaustive()
    }
}

impl<P: Protocol> Model for ServedModel<P> {
    fn name(&self) -> String {
        self.protocol.name()
    }

    fn ask(&self, question: &Question<'_>) -> Result<Answer, ModelError> {
        let deadline = deadline_after(self.server.limits.timeout);
        self.protocol.prepare(&self.server, deadline)?;
        self.ask_until(question, deadline)
    }

    fn destination(&self) -> Option<Destination> {
        Destination::of(&self.endpoint, self.server.access.key.is_some())
    }

    fn refusal(&self) -> Option<(String, Value)> {
        Some((self.known_as.clone(), lock(&self.form).refusals()))
    }

    fn calls_made(&self) -> u32 {
        self.calls.load(Ordering::Relaxed)
    }
}

/// A provider's own server needs a key, and there is none.
pub(super) fn no_key(provider: &str, variable: &str) -> ModelError {
    ModelError::Settings {
        problem: format!("provider `{provider}` has no key"),
        hint: format!("set `{variable}`, or `base_url` to a server that needs none"),
    }
}
