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
//! `replay`, which only builds with debug assertions have. [`Refusals`] keeps the request fields that servers refuse
//! beyond a command. Models that turn texts into vectors are in [`embedding`].

mod address;
pub mod answer;
mod anthropic;
mod choose;
mod command;
pub mod config;
mod connect;
mod destination;
pub mod embedding;
pub mod fence;
mod form;
mod http;
mod lenient;
mod model;
mod ollama;
mod openai;
pub mod prompt;
pub mod redact;
mod refusals;
#[cfg(debug_assertions)]
mod replay;
mod secrets;
mod served;
mod server;

pub use connect::client_builder;
pub use connect::install_tls;
pub use connect::is_loopback;
pub use http::backoff;

pub use choose::choose;
pub use choose::{Choice, provider_in_use};
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
pub use model::ModelUse;
pub use model::Question;
pub use model::Usage;
pub use refusals::Refusals;
