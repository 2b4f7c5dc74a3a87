//! Settings of language models: plain values, already read from flags, files and the environment.
//!
//! Keys are in [`Environment`] only, and no `Debug` prints them. A model and an address are taken from
//! [`Config::model`] and [`Config::base_url`], else from the provider's own variable in [`Environment`],
//! else from the fallback in [`Config`]. Which variable applies is known only when the provider is.

use std::ffi::OsString;
use std::fmt;
#[cfg(debug_assertions)]
use std::path::PathBuf;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use strum::VariantNames;

use crate::model::ModelError;
use crate::refusals::Refusals;
use memories_document::nearest;

/// How models are reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[derive(strum::Display, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
#[strum(parse_err_ty = ModelError, parse_err_fn = unknown_provider)]
pub enum Provider {
    /// The provider whose key or host is set, else `offline` with a notice; see [`crate::choose`].
    #[default]
    Auto,
    /// Any server with `/v1/chat/completions`.
    Openai,
    /// Anthropic's Messages API.
    Anthropic,
    /// Ollama's own API.
    Ollama,
    /// Any program: prompt on stdin, answer on stdout.
    Command,
    /// Recorded answers from a file, for tests.
    #[cfg(debug_assertions)]
    Replay,
    /// No model: built-in rules take its place.
    Offline,
}

fn unknown_provider(text: &str) -> ModelError {
    unknown(text, "provider", Provider::VARIANTS)
}

/// How a request asks for an answer in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[derive(strum::Display, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "snake_case", ascii_case_insensitive)]
#[strum(parse_err_ty = ModelError, parse_err_fn = unknown_output)]
pub enum StructuredOutput {
    /// The strictest way that the server accepts, found by trying.
    #[default]
    Auto,
    /// The server enforces the schema. No other way is tried if it refuses.
    JsonSchema,
    /// A tool call is required, with an input under the schema.
    Tool,
    /// JSON without a schema; the schema is part of the prompt.
    JsonObject,
    /// Only the prompt asks for JSON.
    Plain,
}

fn unknown_output(text: &str) -> ModelError {
    unknown(text, "way of structured output", StructuredOutput::VARIANTS)
}

/// The error for a setting that is none of the known names.
pub(super) fn unknown(text: &str, what: &str, names: &[&str]) -> ModelError {
    // A key that was put in the wrong line is not repeated.
    let is_name = text.len() <= 24 && text.chars().all(|c| c.is_ascii_alphabetic() || c == '_');
    let text_shown = if is_name { format!("`{text}`") } else { "the value".to_owned() };
    let problem = match nearest(text, names.iter().copied(), 1).first() {
        Some(nearest) => format!("{text_shown} is not a {what}; the nearest is `{nearest}`"),
        None => format!("{text_shown} is not a {what}"),
    };
    ModelError::Settings { problem, hint: format!("use one of `{}`", names.join("`, `")) }
}

/// How long a request may take, and how often it is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestLimits {
    /// Time limit, retries and pauses included.
    pub timeout: Duration,
    /// Retries after a failure that may be temporary.
    pub max_retries: u32,
    /// Pause before the first retry. It doubles with each further one, less a random part of up to a
    /// half.
    pub retry_delay: Duration,
    /// Most requests for one question, those in another form after a refusal too.
    pub max_requests: u32,
}

impl RequestLimits {
    /// Two retries, the first after half a second.
    pub fn new(timeout: Duration) -> RequestLimits {
        let retry_delay = Duration::from_millis(500);
        RequestLimits { timeout, max_retries: 2, retry_delay, max_requests: u32::MAX }
    }
}

/// The settings of a language model.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The provider. Default: [`Provider::Auto`].
    pub provider: Provider,
    /// The model, by the server's name for it. Default: `gpt-4.1-mini` at OpenAI, `claude-haiku-5-5`
    /// at Anthropic, the first installed one at Ollama; other servers choose themselves.
    pub model: Option<String>,
    /// The model if neither `model` nor the provider's own variable names one.
    pub fallback_model: Option<String>,
    /// The server of `openai`, `anthropic` or `ollama`, with or without `/v1`. Default: OpenAI's,
    /// Anthropic's, Ollama's on this machine.
    pub base_url: Option<String>,
    /// The server if neither `base_url` nor the provider's own variable names one.
    pub fallback_base_url: Option<String>,
    /// The program of `command` and its arguments; a single string of the settings is run by a shell. Default: none.
    pub command: Vec<String>,
    /// The environment of that program. Default: empty.
    pub program_environment: ProgramEnvironment,
    /// The file of `replay`. Default: none.
    #[cfg(debug_assertions)]
    pub replay: Option<PathBuf>,
    /// Limits of one question. Default: 60 s, 2 retries.
    pub limits: RequestLimits,
    /// Longest answer, in tokens. Default: 500.
    pub max_output_tokens: u32,
    /// Most that memories take in a question about them, in tokens. Default: 3000, so that the question and its answer
    /// fit into the 4096 that a local server allows unless it is told otherwise.
    pub max_memory_tokens: usize,
    /// Sampling temperature. Default: 0; at Anthropic, whose newer models refuse the field, the model's own.
    pub temperature: Option<f64>,
    /// How JSON is asked for. Default: [`StructuredOutput::Auto`].
    pub structured_output: StructuredOutput,
    /// Refusals of servers that earlier commands met.
    pub refusals: Refusals,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            provider: Provider::Auto,
            model: None,
            fallback_model: None,
            base_url: None,
            fallback_base_url: None,
            command: Vec::new(),
            program_environment: ProgramEnvironment::default(),
            #[cfg(debug_assertions)]
            replay: None,
            limits: RequestLimits::new(Duration::from_secs(60)),
            max_output_tokens: 500,
            max_memory_tokens: 3000,
            temperature: None,
            structured_output: StructuredOutput::Auto,
            refusals: Refusals::default(),
        }
    }
}

impl Config {
    /// The model to ask. `variable` is the provider's own variable.
    pub fn model<'a>(&'a self, variable: &'a Option<String>) -> Option<&'a str> {
        text_of(&self.model).or(text_of(variable)).or(text_of(&self.fallback_model))
    }

    /// The server to ask. `variable` is the provider's own variable.
    pub fn base_url<'a>(&'a self, variable: &'a Option<String>) -> Option<&'a str> {
        text_of(&self.base_url).or(text_of(variable)).or(text_of(&self.fallback_base_url))
    }

    /// The provider that the settings name, by its name or by an address. Where they leave it to the keys and hosts of
    /// the environment, it is [`Provider::Offline`].
    pub fn named_provider(&self) -> Provider {
        match self.provider {
            Provider::Auto if self.base_url(&None).is_none() => Provider::Offline,
            provider => provider,
        }
    }
}

/// The environment of a program that answers. `Debug` shows no values.
#[derive(Clone, Default, PartialEq)]
pub struct ProgramEnvironment {
    variables: Vec<(OsString, OsString)>,
    /// Names that the settings pass on, whose values may be secrets.
    passed: Vec<String>,
}

impl ProgramEnvironment {
    /// These variables, of which the settings name some.
    pub fn new(variables: Vec<(OsString, OsString)>, passed: Vec<String>) -> ProgramEnvironment {
        ProgramEnvironment { variables, passed }
    }

    /// Gives a program these variables and no others.
    pub(super) fn apply(&self, command: &mut std::process::Command) {
        command.env_clear().envs(self.variables.iter().map(|(name, value)| (name, value)));
    }

    /// The values that may be secrets.
    pub(super) fn secrets(&self) -> impl Iterator<Item = String> {
        let is_passed = |name: &OsString| self.passed.iter().any(|passed| name == passed.as_str());
        let passed = self.variables.iter().filter(move |(name, _)| is_passed(name));
        passed.map(|(_, value)| value.to_string_lossy().into_owned())
    }
}

impl fmt::Debug for ProgramEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.variables.iter().map(|(name, _)| name)).finish()
    }
}

/// The arguments that let a shell run a single string.
pub fn shell(line: &str) -> Vec<String> {
    vec!["sh".to_owned(), "-c".to_owned(), line.to_owned()]
}

/// Values that the caller found in the process environment. Keys are present only as far as they may be
/// sent to the server that [`Config`] names. Empty values count as absent.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// `OPENAI_API_KEY`
    pub openai_api_key: Option<SecretString>,
    /// `OPENAI_BASE_URL`
    pub openai_base_url: Option<String>,
    /// `OPENAI_MODEL`
    pub openai_model: Option<String>,
    /// `ANTHROPIC_API_KEY`
    pub anthropic_api_key: Option<SecretString>,
    /// `ANTHROPIC_BASE_URL`
    pub anthropic_base_url: Option<String>,
    /// `OLLAMA_HOST`
    pub ollama_host: Option<String>,
    /// A key for an Ollama server behind a gateway that requires one.
    pub ollama_api_key: Option<SecretString>,
    /// The variable that holds all keys above, where it is not each provider's own.
    pub key_variable: Option<&'static str>,
}

/// The key, unless it is blank.
pub(super) fn key_of(key: &Option<SecretString>) -> Option<SecretString> {
    let key = key.as_ref()?.expose_secret().trim();
    (!key.is_empty()).then(|| SecretString::from(key))
}

/// The setting, unless it is blank.
pub(super) fn text_of(setting: &Option<String>) -> Option<&str> {
    setting.as_deref().map(str::trim).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for name in Provider::VARIANTS {
            assert_eq!(name.parse::<Provider>().unwrap().to_string(), *name);
        }
        for name in StructuredOutput::VARIANTS {
            assert_eq!(name.parse::<StructuredOutput>().unwrap().to_string(), *name);
        }
        assert_eq!("OpenAI".parse::<Provider>().unwrap(), Provider::Openai);
    }

    #[test]
    fn a_wrong_name_is_answered_with_the_nearest() {
        let error = "opnai".parse::<Provider>().unwrap_err();
        assert_eq!(error.to_string(), "`opnai` is not a provider; the nearest is `openai`");
        for secret in ["sk-1234567890", "hunter2", "a_long_word_that_is_no_name_of_anything"] {
            let error = secret.parse::<Provider>().unwrap_err();
            assert_eq!(error.to_string(), "the value is not a provider");
        }
        let error = "zzz".parse::<Provider>().unwrap_err();
        assert_eq!(error.to_string(), "`zzz` is not a provider");
        let ModelError::Settings { hint, .. } = error else { panic!("not settings") };
        assert_eq!(
            hint,
            "use one of `auto`, `openai`, `anthropic`, `ollama`, `command`, `replay`, `offline`"
        );
    }

    #[test]
    fn a_provider_s_own_variable_stands_between_setting_and_fallback() {
        let text = |text: &str| Some(text.to_owned());
        let mut config = Config { model: text("a"), fallback_model: text("c"), ..Config::default() };
        assert_eq!(config.model(&text("b")), Some("a"));
        config.model = text(" ");
        assert_eq!(config.model(&text("b")), Some("b"));
        assert_eq!(config.model(&None), Some("c"));
        config.fallback_base_url = text("d");
        assert_eq!((config.base_url(&text("e")), config.base_url(&text(""))), (Some("e"), Some("d")));
    }

    #[test]
    fn debug_shows_no_variable_s_value() {
        let variable = ("KEY".into(), "very-secret".into());
        let environment = ProgramEnvironment::new(vec![variable], vec!["KEY".to_owned()]);
        assert_eq!(format!("{environment:?}"), r#"["KEY"]"#);
    }

    #[test]
    fn debug_never_shows_the_key() {
        let environment = Environment {
            openai_api_key: Some(SecretString::from("sk-very-secret")),
            anthropic_api_key: Some(SecretString::from("sk-ant-very-secret")),
            ollama_api_key: Some(SecretString::from("very-secret")),
            ..Environment::default()
        };
        let shown = format!("{environment:?}");
        assert!(shown.contains("REDACTED") && !shown.contains("very-secret"), "{shown}");
    }
}
