//! Language models and embedders as clients, and the redaction of secrets.
//!
//! A [`Question`] enters; the model's text and its cost leave as an [`Answer`]. What an answer means is decided by the
//! caller, with the tolerant reader in [`answer`]. It always holds that
//!
//! * no provider reads the environment or the wall clock: keys and hosts arrive in [`Config`] and [`Environment`],
//!   randomness as a seed;
//! * nothing is opened (socket, certificate store, thread, file) before the first question;
//! * every question ends within its time limit.
//!
//! # Where to begin
//!
//! * [`choose()`] turns settings into a [`Model`], the one trait of all providers.
//! * [`answer::parse_object`] reads the object that a model meant.
//! * [`embedding`] has the clients of models that turn texts into vectors.
//! * [`redact::redact`] replaces keys, tokens and passwords; [`fence::fenced`] puts data into a prompt behind a fence
//!   that the data cannot close.
//!
//! Each provider has a file: `openai`, `anthropic` and `ollama` (on top of `served`, `form`, `address`, `server`,
//! `http` and `connect`), `command`, and `replay`, which only builds with debug assertions have. [`Refusals`] keeps the
//! request fields that servers refuse beyond one command.
//!
//! # Example
//!
//! ```
//! use memories_llm::answer::parse_object;
//! use memories_llm::redact::redacted;
//!
//! let object = parse_object("Sure! Here it is: {\"title\": \"Trap door\", \"keep\": true}")?;
//! assert_eq!(object["title"], "Trap door");
//! assert_eq!(redacted("open mailbox"), "open mailbox");
//! # Ok::<(), String>(())
//! ```

mod address;
pub mod answer;
mod anthropic;
mod choose;
mod command;
pub mod config;
mod connect;
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

pub use choose::{Choice, choose, provider_in_use};
pub use config::{Config, Environment, ProgramEnvironment, Provider, RequestLimits, StructuredOutput};
pub use connect::{Destination, client_builder, install_tls, is_loopback};
pub use http::backoff;
pub use model::{Answer, Model, ModelError, ModelUse, Question, Usage};
pub use refusals::Refusals;
