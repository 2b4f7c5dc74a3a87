//! Conversations: what was said becomes memories, and memories are woven into what is said next.
//!
//! Messages enter in the shapes that chat programs have ([`mod@file`]); memories leave ([`digest`]). Requests
//! enter, and leave with memories in them ([`inject`]); replies enter, and what is worth remembering of them
//! stays ([`extract`]). It always holds that
//!
//! * nothing is summarised twice: how far a scope has been read stands in its own entries;
//! * what people and models said reaches a prompt as data behind a fence, without what looks like a secret;
//! * the lock is never held while a model is asked.

pub mod digest;
pub mod extract;
pub mod file;
pub mod inject;
pub mod message;
#[cfg(feature = "proxy")]
pub mod proxy;

pub use file::{Conversation, ConversationError};
pub use message::Message;

/// The tag that says from which conversation an entry comes.
pub fn conversation_tag(id: &str) -> String {
    format!("conversation:{id}")
}
