//! Language models: one trait, and the providers behind it.
//!
//! A [`Question`] goes in, the model's own words and what they cost come out. Nothing is believed
//! here: what an answer means, and whether it can be used, is decided by whoever asked; [`answer`]
//! has the tolerant reader for it. No provider reads the environment or the wall clock; keys and
//! hosts arrive in [`Config`] and [`Environment`], randomness as a seed. Nothing is opened (no
//! socket, no certificate store, no thread, no file) before the first question, and every question
//! ends within its time limit.
//!
//! [`choose`] turns settings into a [`Model`]; one file for each provider: `openai`,
//! `anthropic` and `ollama` (with `session`, `form`, `address`, `server` and `http` beneath them),
//! [`command`] and [`replay`]. What turns texts into vectors is apart, in [`embedding`].

#[cfg(feature = "llm")]
mod address;
pub mod answer;
#[cfg(feature = "llm")]
mod anthropic;
mod choose;
pub mod command;
pub mod config;
#[cfg(feature = "llm")]
mod connect;
pub mod data;
pub mod embedding;
#[cfg(feature = "llm")]
mod form;
#[cfg(feature = "llm")]
mod http;
mod lenient;
mod model;
#[cfg(feature = "llm")]
mod ollama;
#[cfg(feature = "llm")]
mod openai;
pub mod replay;
#[cfg(feature = "llm")]
mod served;
#[cfg(feature = "llm")]
mod server;

#[cfg(feature = "proxy")]
pub(crate) use connect::client_builder;

pub use choose::{Choice, choose};
pub use config::{Config, Environment, Provider, RequestLimits, StructuredOutput};
pub use model::{Answer, Model, ModelError, ModelUse, Question, Usage};
