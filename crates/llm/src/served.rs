//! A model behind a server: ask, judge the reply, adapt the request, try again.
//!
//! A [`Dialect`] says how a question is put and how an answer is read; everything that all servers have in
//! common is here. A question is one request. Further ones follow only where the last one failed for a
//! reason that may be temporary, or that another form of request avoids. The form that worked is kept for
//! the life of the value, so that later questions do not pay again; what was refused outlives it as a
//! [`Refusals`](crate::Refusals). Every question ends by its deadline,
//! and no error contains the key.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Instant;

use reqwest::Url;
use secrecy::SecretString;
use serde_json::Value;

use crate::config::{Config, Environment, key_of};
use crate::connect::Destination;
use crate::form::{ApiTraits, Form};
use crate::http::{Access, KeyHeader};
use crate::model::{Answer, Model, ModelError, Question, Usage, deadline_after, one_line};
use crate::server::{Diagnosis, ErrorReply, Server};
use crate::{address, answer};
use memories_document::types::lock::lock;

/// The API of servers of one kind.
pub(super) struct Dialect {
    /// Traits of the requests that these servers accept.
    pub(crate) traits: ApiTraits,
    /// The provider's own values in the environment.
    pub(crate) variables: for<'a> fn(&'a Environment) -> Variables<'a>,
    /// The variable that errors name, where the keys are not all in one.
    pub(crate) key_variable: &'static str,
    /// The header that carries the key.
    pub(crate) key_header: KeyHeader,
    /// Further headers of every request.
    pub(crate) headers: &'static [(&'static str, &'static str)],
    /// The server that is asked where the settings name none.
    pub(crate) url: &'static str,
    /// The host of that server, if it requires a key.
    pub(crate) own_host: Option<&'static str>,
    /// The end of every endpoint, which errors do not show.
    pub(crate) call: &'static str,
    /// The address of a call under the address of a server.
    pub(crate) endpoint: fn(&str, &str) -> Result<Url, ModelError>,
    /// The model that is asked where the settings name none; true for the provider's own host.
    pub(crate) usual_model: fn(bool) -> Option<&'static str>,
    /// Where only the server knows its models: the call that lists them, and the first usable one of the list.
    pub(crate) installed: Option<(&'static str, FirstModel)>,
    /// The body of a request.
    pub(crate) request: fn(&Request<'_>) -> Value,
    /// The answer in a reply.
    pub(crate) read: fn(&Value) -> Result<Reading, Unusable>,
    /// The meaning of a failure of a model, where it is not that of the status alone.
    pub(crate) judge: fn(&ErrorReply, &str) -> Option<Diagnosis>,
}

/// Reads the first usable model of a list.
type FirstModel = fn(&Value) -> Option<String>;

/// Values of one provider in the environment.
pub(super) struct Variables<'a> {
    pub(crate) base_url: &'a Option<String>,
    pub(crate) model: &'a Option<String>,
    pub(crate) key: &'a Option<SecretString>,
}

/// A question, and everything else that its request states.
pub(super) struct Request<'a> {
    pub(crate) question: &'a Question<'a>,
    pub(crate) form: Form,
    /// The model; empty where the server chooses.
    pub(crate) model: &'a str,
    pub(crate) max_output_tokens: u32,
    pub(crate) temperature: Option<f64>,
}

/// The parts of a reply in which servers differ.
#[derive(Default)]
pub(super) struct Reading {
    pub(crate) text: String,
    /// The reply holds the model's reasoning.
    pub(crate) reasoned: bool,
    pub(crate) input_tokens: Option<u64>,
    pub(crate) output_tokens: Option<u64>,
    pub(crate) cost: Option<f64>,
}

/// Why a reply holds no answer.
pub(super) enum Unusable {
    /// The model or its server declined.
    Refused(String),
    /// The answer reached its limit of tokens.
    CutOff,
    /// The answer reached the end of the model's context.
    ContextEnds,
    /// The reply does not follow this protocol; what was expected.
    Foreign(&'static str),
}

/// A model behind one server. It has no `Debug`, because its server knows secrets.
pub(super) struct ServedModel {
    dialect: &'static Dialect,
    model: Option<String>,
    /// The first installed model, once the server was asked for it.
    found: OnceLock<String>,
    /// The address of the list of models.
    list: Option<Url>,
    max_output_tokens: u32,
    temperature: Option<f64>,
    server: Server,
    /// Address and model, by which refusals are remembered.
    known_as: String,
    form: Mutex<Form>,
    calls: AtomicU32,
}

impl ServedModel {
    /// The model that the settings name; nothing is opened yet. `seed` decides the jitter of retries.
    ///
    /// # Errors
    ///
    /// [`ModelError::Settings`] for an invalid address, for a way of structured output that these servers do
    /// not have, and for a provider's own server without a key.
    pub(crate) fn new(
        dialect: &'static Dialect,
        config: &Config,
        environment: &Environment,
        seed: u64,
    ) -> Result<ServedModel, ModelError> {
        let variables = (dialect.variables)(environment);
        let base = config.base_url(variables.base_url).unwrap_or(dialect.url);
        let endpoint = (dialect.endpoint)(base, dialect.call)?;
        let list = dialect.installed.map(|(call, _)| (dialect.endpoint)(base, call)).transpose()?;
        let key = key_of(variables.key);
        let is_own = dialect.own_host.is_some() && endpoint.host_str() == dialect.own_host;
        if is_own && key.is_none() {
            return Err(ModelError::Settings {
                problem: format!("provider `{}` has no key", dialect.traits.provider),
                hint: format!("set `{}`, or `base_url` to a server that needs none", dialect.key_variable),
            });
        }
        let model = config.model(variables.model).or((dialect.usual_model)(is_own)).map(str::to_owned);
        let variable = environment.key_variable.unwrap_or(dialect.key_variable);
        let access = Access::new(key, variable, dialect.key_header, dialect.headers, &endpoint);
        let server = Server {
            at: address::display_address(&endpoint, dialect.call),
            access,
            url_setting: "base_url",
            limits: config.limits,
            seed,
            connection_hint: dialect.traits.connection_hint,
            client: OnceLock::new(),
            endpoint,
        };
        let form = Form::first(&dialect.traits, config.structured_output)?;
        let mut served = ServedModel {
            dialect,
            model,
            found: OnceLock::new(),
            list,
            max_output_tokens: config.max_output_tokens,
            temperature: config.temperature,
            server,
            known_as: String::new(),
            form: Mutex::new(form),
            calls: AtomicU32::new(0),
        };
        served.known_as = format!("{} {}", served.server.at, served.name());
        served.form = Mutex::new(form.recalling(config.refusals.of(&served.known_as)));
        Ok(served)
    }

    /// The model of the settings, else the first installed one; empty where the server chooses, and before
    /// that is known.
    fn model(&self) -> &str {
        self.model.as_ref().or(self.found.get()).map_or("", String::as_str)
    }

    fn judge(&self, failure: &ErrorReply) -> Diagnosis {
        let own = (self.dialect.judge)(failure, self.model());
        own.unwrap_or_else(|| Diagnosis::of_status(failure.status))
    }

    /// Asks the server for its first model, where only the server knows one.
    fn find_model(&self, deadline: Instant) -> Result<(), ModelError> {
        let (Some(list), Some((_, first)), true) =
            (&self.list, self.dialect.installed, self.model().is_empty())
        else {
            return Ok(());
        };
        let listed = self.server.fetch(list, deadline, |failure| self.judge(failure))?;
        let first = first(&listed).ok_or_else(|| {
            self.server.refused(
                "no model is installed (install one with `ollama pull NAME`, or name one with `--model`)",
            )
        })?;
        let _ = self.found.set(first);
        Ok(())
    }

    /// Asks until there is an answer, a permanent failure, or no time left.
    fn ask_until(&self, question: &Question<'_>, deadline: Instant) -> Result<Answer, ModelError> {
        let mut form = *lock(&self.form);
        let (mut calls, mut retries, mut retried) = (0, 0, false);
        loop {
            calls += 1;
            self.calls.fetch_add(1, Ordering::Relaxed);
            let (model, max_output_tokens, temperature) =
                (self.model(), self.max_output_tokens, self.temperature);
            let request = Request { question, form, model, max_output_tokens, temperature };
            let request = (self.dialect.request)(&request);
            let judge = |failure: &ErrorReply| self.judge(failure);
            let failure = match self.server.post(&self.server.endpoint, &request, deadline, judge) {
                Ok(reply) => {
                    let answer = self.read(&reply.value, &reply.body, calls)?;
                    // Later questions begin with the form that worked.
                    *lock(&self.form) = form.after_answer(answer::parse_object(&answer.text).is_ok());
                    return Ok(answer);
                }
                Err(failure) => failure,
            };
            let limits = self.server.limits;
            let is_last = calls >= limits.max_requests;
            let is_final = retried || retries == limits.max_retries;
            if let Some(reply) = failure.reply.as_ref().filter(|_| !is_last)
                && let Some(other) = form.adapted(reply.status, &reply.body, is_final)
            {
                (form, retried) = (other, false);
                continue;
            }
            let made = if is_last { limits.max_retries } else { retries };
            self.server.wait_before_retry(*failure, made, calls, deadline)?;
            (retries, retried) = (retries + 1, true);
        }
    }

    /// The answer in a reply to the last of `calls` requests.
    fn read(&self, reply: &Value, body: &str, calls: u32) -> Result<Answer, ModelError> {
        let server = &self.server;
        let reading = (self.dialect.read)(reply).map_err(|unusable| match unusable {
            Unusable::Refused(problem) => server.refused(one_line(&server.access.scrub(&problem))),
            Unusable::CutOff => server.garbled(format!(
                "the answer was cut off after {} tokens (`max_output_tokens`), of which a model's reasoning is \
                 a part",
                self.max_output_tokens
            )),
            Unusable::ContextEnds => server.garbled("the answer was cut off where the model's context ends"),
            Unusable::Foreign(expected) => server.foreign(expected, body),
        })?;
        let Reading { text, reasoned, input_tokens, output_tokens, cost } = reading;
        if text.trim().is_empty() {
            return Err(server.garbled(if reasoned {
                "the model reasoned but gave no answer"
            } else {
                "the answer is empty"
            }));
        }
        let model = one_line(reply["model"].as_str().unwrap_or(self.model()));
        Ok(Answer { text, model, usage: Usage { calls, input_tokens, output_tokens, cost } })
    }
}

impl Model for ServedModel {
    fn name(&self) -> String {
        let provider = self.dialect.traits.provider;
        match (&self.model, self.found.get()) {
            (Some(model), _) => format!("{provider}/{model}"),
            (None, Some(found)) => format!("{provider}/{found} (first installed)"),
            (None, None) if self.list.is_some() => format!("{provider}/first installed"),
            (None, None) => format!("{provider}/default"),
        }
    }

    fn ask(&self, question: &Question<'_>) -> Result<Answer, ModelError> {
        let deadline = deadline_after(self.server.limits.timeout);
        self.find_model(deadline)?;
        self.ask_until(question, deadline)
    }

    fn destination(&self) -> Option<Destination> {
        self.server.destination()
    }

    fn refusal(&self) -> Option<(String, Value)> {
        Some((self.known_as.clone(), lock(&self.form).refusals()))
    }

    fn calls_made(&self) -> u32 {
        self.calls.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openai;

    #[test]
    fn openai_itself_needs_a_key() {
        let served = ServedModel::new(&openai::DIALECT, &Config::default(), &Environment::default(), 1);
        let error = served.err().expect("an error");
        assert!(matches!(error, ModelError::Settings { hint, .. } if hint.contains("OPENAI_API_KEY")));
    }
}
