//! Chooses the model that the settings name.
//!
//! [`Config`] and [`Environment`] enter; a model leaves, or none where built-in rules take its place.
//! Nothing is opened here: a wrong key or a dead server shows at the first question.

use std::fmt;

use crate::command::Command;
use crate::config::{Config, Environment, Provider, key_of, text_of};
use crate::model::{Model, ModelError};
#[cfg(debug_assertions)]
use crate::replay::Replay;
use crate::served::ServedModel;
use crate::{anthropic, ollama, openai};

/// A model, and a notice about the choice.
pub struct Choice {
    /// The model; none for [`Provider::Offline`].
    pub model: Option<Box<dyn Model>>,
    /// One line for stderr.
    pub notice: Option<String>,
}

impl fmt::Debug for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.model.as_ref().map(|model| model.name());
        f.debug_struct("Choice").field("model", &name).field("notice", &self.notice).finish()
    }
}

const NO_MODEL: &str = "no model configured: built-in rules take memories from the game's text \
                        (provider `offline`)";

/// The model that the settings name. `seed` decides the jitter of retries.
///
/// [`Provider::Auto`] takes the first of these that is set: an address in the settings (`openai`), a key
/// or an address of OpenAI, a key of Anthropic, a host of Ollama; else `offline`.
///
/// # Errors
///
/// [`ModelError::Settings`] where the settings cannot work.
pub fn choose(config: &Config, environment: &Environment, seed: u64) -> Result<Choice, ModelError> {
    let Some(provider) = provider_in_use(config, environment) else {
        return Ok(Choice { model: None, notice: Some(NO_MODEL.to_owned()) });
    };
    let served = |dialect| ServedModel::new(dialect, config, environment, seed);
    let model: Option<Box<dyn Model>> = match provider {
        Provider::Auto | Provider::Offline => None,
        Provider::Openai => Some(Box::new(served(&openai::DIALECT)?)),
        Provider::Anthropic => Some(Box::new(served(&anthropic::DIALECT)?)),
        Provider::Ollama => Some(Box::new(served(&ollama::DIALECT)?)),
        Provider::Command => Some(Box::new(Command::new(config)?)),
        #[cfg(debug_assertions)]
        Provider::Replay => {
            let path = config.replay.as_ref().ok_or_else(|| ModelError::Settings {
                problem: "provider `replay` has no file".to_owned(),
                hint: "set `replay` under `[llm]` to a JSONL file of recorded answers".to_owned(),
            })?;
            Some(Box::new(Replay::new(path)))
        }
    };
    Ok(Choice { model, notice: None })
}

/// The provider that the settings name or choose; `None` for the rules of `offline`, where nothing is set.
pub fn provider_in_use(config: &Config, environment: &Environment) -> Option<Provider> {
    match config.provider {
        Provider::Auto => find_provider(config, environment),
        provider => Some(provider),
    }
}

/// The provider whose server or key is set.
fn find_provider(config: &Config, environment: &Environment) -> Option<Provider> {
    if config.base_url(&environment.openai_base_url).is_some()
        || key_of(&environment.openai_api_key).is_some()
    {
        return Some(Provider::Openai);
    }
    if key_of(&environment.anthropic_api_key).is_some() {
        return Some(Provider::Anthropic);
    }
    text_of(&environment.ollama_host).map(|_| Provider::Ollama)
}

#[cfg(test)]
mod tests {
    use secrecy::SecretString;

    use super::*;

    fn with(provider: Provider) -> Config {
        Config { provider, ..Config::default() }
    }

    #[test]
    fn auto_without_key_and_host_is_offline_and_says_so() {
        let blank = Environment {
            openai_api_key: Some(SecretString::from("  ")),
            openai_base_url: Some(String::new()),
            openai_model: Some("m".to_owned()),
            anthropic_api_key: Some(SecretString::from("")),
            anthropic_base_url: Some("https://h".to_owned()),
            ollama_host: Some(" ".to_owned()),
            ollama_api_key: Some(SecretString::from("key")),
            key_variable: None,
        };
        for environment in [Environment::default(), blank] {
            let choice = choose(&Config::default(), &environment, 1).unwrap();
            assert!(choice.model.is_none());
            assert!(choice.notice.unwrap().contains("no model configured"));
        }
        let choice = choose(&with(Provider::Offline), &Environment::default(), 1).unwrap();
        assert!(choice.model.is_none() && choice.notice.is_none());
    }

    #[test]
    fn auto_takes_the_first_key_or_host() {
        let key = |text: &str| Some(SecretString::from(text));
        let mut environment = Environment { ollama_host: Some("box".to_owned()), ..Environment::default() };
        let name = |config: &Config, environment: &Environment| {
            let choice = choose(config, environment, 1).unwrap();
            assert!(choice.notice.is_none());
            choice.model.expect("a model").name()
        };
        assert_eq!(name(&Config::default(), &environment), "ollama/first installed");
        environment.anthropic_api_key = key("sk-ant-1234567890");
        assert_eq!(name(&Config::default(), &environment), "anthropic/claude-haiku-5-5");
        environment.openai_api_key = key("sk-1234567890");
        assert_eq!(name(&Config::default(), &environment), "openai/gpt-4.1-mini");
        let url = Some("http://localhost:8080".to_owned());
        environment =
            Environment { openai_api_key: None, openai_base_url: url.clone(), ..environment.clone() };
        assert_eq!(name(&Config::default(), &environment), "openai/default");
        environment.openai_base_url = None;
        let model = Some("qwen".to_owned());
        let named = Config { base_url: url.clone(), model: model.clone(), ..Config::default() };
        let fallback = Config { fallback_base_url: url, fallback_model: model, ..Config::default() };
        for config in [named, fallback] {
            assert_eq!(name(&config, &environment), "openai/qwen");
        }
    }

    #[test]
    fn a_provider_without_its_required_setting_is_an_error() {
        for provider in [
            Provider::Command,
            #[cfg(debug_assertions)]
            Provider::Replay,
        ] {
            let error = choose(&with(provider), &Environment::default(), 1).unwrap_err();
            assert!(matches!(error, ModelError::Settings { .. }), "{error}");
        }
    }
}
