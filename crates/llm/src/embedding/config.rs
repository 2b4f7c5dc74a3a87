//! Settings of embedders: plain values, already read from flags, files and the environment.

use std::time::Duration;

use secrecy::SecretString;
use strum::VariantNames;

use crate::config::{RequestLimits, unknown};
use crate::model::ModelError;

/// Where vectors come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[derive(strum::Display, strum::EnumString, strum::VariantNames)]
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
    /// The first server that answers: the one at the address of the settings, whatever API it has;
    /// without an address an Ollama that has the model, then an OpenAI whose key or address is set.
    Auto,
}

fn unknown_kind(text: &str) -> ModelError {
    unknown(text, "kind of embedder", EmbedderKind::VARIANTS)
}

/// The settings of an embedder.
#[derive(Debug, Clone, PartialEq)]
pub struct EmbedderConfig {
    /// Where vectors come from. Default: [`EmbedderKind::Embedded`].
    pub provider: EmbedderKind,
    /// The model, by the server's name for it. Default: `nomic-embed-text` at Ollama,
    /// `text-embedding-3-small` at OpenAI; other servers choose themselves.
    pub model: Option<String>,
    /// The server, with or without `/v1`. Default: Ollama's on this machine, OpenAI's.
    pub url: Option<String>,
    /// The server if neither `url` nor the provider's own variable names one.
    pub fallback_url: Option<String>,
    /// Required dimension of the vectors; servers that can shorten vectors are asked to. Default: the
    /// model's own.
    pub dimensions: Option<usize>,
    /// Limits of one batch. Default: 30 s, 2 retries.
    pub limits: RequestLimits,
    /// Texts of one request; fewer where the server wants fewer. Default: 32.
    pub batch: usize,
    /// Prefix of each text. Default: that of the known model.
    pub text_prefix: Option<String>,
    /// Prefix of each question. Default: that of the known model.
    pub question_prefix: Option<String>,
    /// Baseline cosine of an unrelated question and text, from 0 to less than 1. Default: that of the
    /// known model.
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

/// Values that the caller found in the process environment. Keys are present only as far as they may be
/// sent to the server that [`EmbedderConfig`] names. Empty values count as absent; no `Debug` shows a
/// key.
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
