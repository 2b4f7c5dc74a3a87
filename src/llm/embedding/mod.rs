//! Models that turn texts into vectors, behind HTTP: Ollama and every server with `/v1/embeddings`.
//!
//! Texts enter a `Client`, a vector for each leaves, in their order. It always holds that all
//! vectors of one client are finite, not empty and of the same dimension, that of the settings where
//! these name one; what a server sends otherwise is an error and never a vector. Nothing is opened
//! before the first text. `client` finds the server and cuts texts into batches, `protocol` knows
//! what the servers speak, [`known`] what is known of models.

#[cfg(feature = "llm")]
mod client;
pub mod known;
#[cfg(feature = "llm")]
mod protocol;

#[cfg(feature = "llm")]
pub use client::Client;

use std::time::Duration;

use secrecy::SecretString;
use strum::VariantNames;

use crate::llm::config::unknown;
use crate::llm::model::ModelError;

/// Where vectors come from.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, strum::Display, strum::EnumString, strum::VariantNames,
)]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
#[strum(parse_err_ty = ModelError, parse_err_fn = unknown_provider)]
pub enum Provider {
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

fn unknown_provider(text: &str) -> ModelError {
    unknown(text, "kind of embedder", Provider::VARIANTS)
}

/// What the settings say of vectors.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Where vectors come from. Default: [`Provider::Embedded`].
    pub provider: Provider,
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
    /// The time limit of one batch, retries and waiting included. Default: 30 s.
    pub timeout: Duration,
    /// How often a request is repeated after what may pass. Default: 2.
    pub max_retries: u32,
    /// The wait before the first retry; it doubles with each further one. Default: 500 ms.
    pub retry_delay: Duration,
    /// Most texts of one request; fewer where the server wants fewer. Default: 32.
    pub batch: usize,
    /// What stands before each text. Default: what is [`known`] of the model.
    pub text_prefix: Option<String>,
    /// What stands before each question. Default: what is [`known`] of the model.
    pub question_prefix: Option<String>,
    /// The cosine of a question and a text that have nothing to do with each other, from 0 to less
    /// than 1. Default: what is [`known`] of the model.
    pub unrelated: Option<f32>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            provider: Provider::Embedded,
            model: None,
            url: None,
            fallback_url: None,
            dimensions: None,
            timeout: Duration::from_secs(30),
            max_retries: 2,
            retry_delay: Duration::from_millis(500),
            batch: 32,
            text_prefix: None,
            question_prefix: None,
            unrelated: None,
        }
    }
}

/// What the caller found in the process environment, the keys as far as they may be sent to where
/// [`Config`] leads. Empty values count as absent; no `Debug` shows a key.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// `MEMORIES_EMBEDDING_API_KEY`, for any server.
    pub api_key: Option<SecretString>,
    /// `OPENAI_API_KEY`
    pub openai_api_key: Option<SecretString>,
    /// `OPENAI_BASE_URL`
    pub openai_base_url: Option<String>,
    /// `OLLAMA_HOST`
    pub ollama_host: Option<String>,
}
