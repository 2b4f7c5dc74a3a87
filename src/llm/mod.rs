//! Language models: one trait, and the providers behind it.
//!
//! A [`Question`] goes in; the model's text and its cost come out. Answers are not interpreted here: the
//! caller decides what an answer means and whether it can be used, with the tolerant reader in
//! [`answer`]. No provider reads the environment or the wall clock: keys and hosts arrive in [`Config`]
//! and [`Environment`], randomness as a seed. Nothing is opened (socket, certificate store, thread, file)
//! before the first question, and every question ends within its time limit.
//!
//! [`choose`] turns settings into a [`Model`]. Each provider has a file: `openai`, `anthropic` and
//! `ollama` (on top of `served`, `form`, `address`, `server`, `http` and `connect`), `command`; and
//! `replay`, which only builds with debug assertions have. What servers refuse outlives a command in [`Refusals`]. Models that turn texts into vectors are in
//! [`embedding`].

#[cfg(feature = "llm")]
mod address;
pub mod answer;
#[cfg(feature = "llm")]
mod anthropic;
mod choose;
mod command;
pub(crate) mod config;
#[cfg(feature = "llm")]
mod connect;
mod destination;
pub mod embedding;
pub(crate) mod fence;
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
mod refusals;
#[cfg(debug_assertions)]
mod replay;
mod secrets;
#[cfg(feature = "llm")]
mod served;
#[cfg(feature = "llm")]
mod server;

#[cfg(feature = "proxy")]
pub(crate) use connect::client_builder;
#[cfg(feature = "sync")]
pub(crate) use connect::install_tls;
#[cfg(any(feature = "proxy", feature = "sync"))]
pub(crate) use connect::is_loopback;
#[cfg(feature = "sync")]
pub(crate) use http::backoff;

pub use choose::choose;
pub(crate) use choose::{Choice, provider_in_use};
pub use config::Config;
pub use config::Environment;
pub use config::ProgramEnvironment;
pub use config::Provider;
pub use config::RequestLimits;
pub use config::StructuredOutput;
pub use destination::Destination;
pub use model::Answer;
pub use model::Model;
pub use model::ModelError;
pub(crate) use model::ModelUse;
pub use model::Question;
pub use model::Usage;
pub use refusals::Refusals;
