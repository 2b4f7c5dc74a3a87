//! Settings of embedders: plain values, already read from flags, files and the environment.

use std::time::Duration;

use secrecy::SecretString;
use strum::VariantNames;

use crate::llm::config::{RequestLimits, unknown};
use crate::llm::model::ModelError;

/// Where vectors come from.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, strum::Display, strum::EnumString, strum::VariantNames,
)]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
#[strum(parse_err_ty = ModelError, parse_err_fn = unknown_kind)]
pub enum EmbedderKind {
    /// The model inside the program: no server, no network.
    #[default]
    Embedded,
    /// Ollama's own API.
    Ollama,
    /// Any server with `/v1/embeddings`.
    Openai,
    /// The first server that is there: the one at the address of the settings, whatever it speaks;
    /// without an address an Ollama that has the model, then an OpenAI whose key or address is known.
    Auto,
}

fn unknown_kind(text: &str) -> ModelError {
    unknown(text, "kind of embedder", EmbedderKind::VARIANTS)
}

/// What the settings say of vectors.
#[derive(Debug, Clone, PartialEq)]
pub struct EmbedderConfig {
    /// Where vectors come from. Default: [`EmbedderKind::Embedded`].
    pub provider: EmbedderKind,
    /// The model's name, as the server knows it. Default: `nomic-embed-text` of Ollama,
    /// `text-embedding-3-small` at OpenAI, at other servers what they choose themselves.
    pub model: Option<String>,
    /// The server, with or without `/v1`. Default: Ollama's on this machine, OpenAI's.
    pub url: Option<String>,
    /// The server where neither that nor the provider's own variable names one.
    pub fallback_url: Option<String>,
    /// How many dimensions the vectors must have; servers that can shorten vectors are asked to.
    /// Default: what the model gives.
    pub dimensions: Option<usize>,
    /// Limits of one batch. Default: 30 s, 2 retries.
    pub limits: RequestLimits,
    /// Most texts of one request; fewer where the server wants fewer. Default: 32.
    pub batch: usize,
    /// What stands before each text. Default: what is [known](crate::llm::embedding::known) of the model.
    pub text_prefix: Option<String>,
    /// What stands before each question. Default: what is [known](crate::llm::embedding::known) of the model.
    pub question_prefix: Option<String>,
    /// The cosine of a question and a text that have nothing to do with each other, from 0 to less
    /// than 1. Default: what is [known](crate::llm::embedding::known) of the model.
    pub unrelated: Option<f32>,
}

impl Default for EmbedderConfig {
    fn default() -> EmbedderConfig {
        EmbedderConfig {
            provider: EmbedderKind::Embedded,
            model: None,
            url: None,
            fallback_url: None,
            dimensions: None,
            limits: RequestLimits::new(Duration::from_secs(30)),
            batch: 32,
            text_prefix: None,
            question_prefix: None,
            unrelated: None,
        }
    }
}

/// What the caller found in the process environment, the keys as far as they may be sent to where
/// [`EmbedderConfig`] leads. Empty values count as absent; no `Debug` shows a key.
#[derive(Debug, Clone, Default)]
pub struct EmbedderEnvironment {
    /// `MEMORIES_EMBEDDING_API_KEY`, for any server.
    pub api_key: Option<SecretString>,
    /// `OPENAI_API_KEY`
    pub openai_api_key: Option<SecretString>,
    /// `OPENAI_BASE_URL`
    pub openai_base_url: Option<String>,
    /// `OLLAMA_HOST`
    pub ollama_host: Option<String>,
}
