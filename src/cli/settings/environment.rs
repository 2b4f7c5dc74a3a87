//! The environment variables that settings come from, and where keys may be sent.

use std::path::PathBuf;

use secrecy::SecretString;

/// What the environment says.
#[derive(Debug, Default)]
pub struct Environment {
    pub no_color: bool,
    pub(super) now: Option<String>,
    pub(super) provider: Option<String>,
    pub(super) model: Option<String>,
    pub(super) base_url: Option<String>,
    pub(super) api_key: Option<SecretString>,
    pub(super) openai_api_key: Option<SecretString>,
    pub(super) openai_base_url: Option<String>,
    pub(super) openai_model: Option<String>,
    pub(super) anthropic_api_key: Option<SecretString>,
    pub(super) anthropic_base_url: Option<String>,
    pub(super) ollama_host: Option<String>,
    pub(super) embedder: Variables,
    pub(super) folder: PathBuf,
}

impl Environment {
    /// Reads the variables of this process and where it runs.
    pub(crate) fn of_process() -> Environment {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        Environment {
            no_color: variable("NO_COLOR").is_some(),
            now: variable("MEMORIES_NOW"),
            provider: variable("MEMORIES_PROVIDER"),
            model: variable("MEMORIES_MODEL"),
            base_url: variable("MEMORIES_BASE_URL"),
            api_key: variable("MEMORIES_API_KEY").map(SecretString::from),
            openai_api_key: variable("OPENAI_API_KEY").map(SecretString::from),
            openai_base_url: variable("OPENAI_BASE_URL"),
            openai_model: variable("OPENAI_MODEL"),
            anthropic_api_key: variable("ANTHROPIC_API_KEY").map(SecretString::from),
            anthropic_base_url: variable("ANTHROPIC_BASE_URL"),
            ollama_host: variable("OLLAMA_HOST"),
            embedder: Variables::read(variable),
            folder: std::env::current_dir().unwrap_or_default(),
        }
    }
}

/// What the environment says of vectors.
#[derive(Debug, Default)]
pub(super) struct Variables {
    pub(super) provider: Option<String>,
    pub(super) model: Option<String>,
    pub(super) url: Option<String>,
    pub(super) api_key: Option<SecretString>,
}

impl Variables {
    fn read(variable: impl Fn(&str) -> Option<String>) -> Variables {
        Variables {
            provider: variable("MEMORIES_EMBEDDER"),
            model: variable("MEMORIES_EMBEDDING_MODEL"),
            url: variable("MEMORIES_EMBEDDING_URL"),
            api_key: variable("MEMORIES_EMBEDDING_API_KEY").map(SecretString::from),
        }
    }
}

/// A key where it may be sent: where the environment leads, or to its home, if no file leads elsewhere.
pub(super) fn trusted(
    key: &Option<SecretString>,
    led: bool,
    file_url: Option<&str>,
    home: &str,
) -> Option<SecretString> {
    key.clone().filter(|_| led || file_url.is_none_or(|url| is_at(url, home)))
}

/// Whether an address is at a host, given with its scheme.
fn is_at(url: &str, home: &str) -> bool {
    url.strip_prefix(home).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
