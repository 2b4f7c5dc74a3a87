//! Models that turn texts into vectors, behind HTTP: Ollama and every server with `/v1/embeddings`.
//!
//! Texts enter an `EmbeddingClient`, one vector for each leaves, in the same order. All vectors of one
//! client are finite, not empty and of the same dimension, which is that of the settings where these name
//! one; anything else that a server sends is an error. Nothing is opened before the first text. `client`
//! finds the server and sends texts in batches, `protocol` knows the two APIs, `known` the models.

mod client;
mod config;
mod known;
mod protocol;

pub use client::EmbeddingClient;
pub use config::{EmbedderConfig, EmbedderEnvironment, EmbedderKind};
