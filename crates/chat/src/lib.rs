//! Conversations of chat programs: digests, extraction of memories, and injection of memories into requests.
//!
//! Messages enter in the formats of chat programs (`conversation`) and are summarised into memories
//! ([`digest`]). Memories are inserted into chat requests ([`inject`]), and new memories are extracted from the
//! replies ([`extract`]). It always holds that
//!
//! * no message is summarised twice: the entries of a scope record how far it has been digested;
//! * messages reach a prompt as fenced data, with secrets redacted;
//! * the lock is never held during a model call.

pub mod api_format;
pub(crate) mod conversation;
pub mod digest;
mod error;
pub mod extract;
pub mod inject;
pub(crate) mod message;
mod message_json;
#[cfg(feature = "proxy")]
pub mod proxy;
mod rejected;
mod settings;

pub use conversation::Conversation;
pub use error::ChatError;
pub use message::Message;
pub use settings::CALIBRATED;
pub use settings::ChatSettings;
pub use settings::ExtractMode;
pub use settings::USUAL_THRESHOLD;
