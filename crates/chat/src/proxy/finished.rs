//! A reply that memories can be extracted from, with its request.

use axum::body::Bytes;
use serde_json::Value;

use crate::proxy::call::Call;
use crate::proxy::reply::message_of;
use crate::proxy::request::{Kept, may_be_parsed};

/// A reply that was passed on to its end.
pub(super) struct Finished {
    pub call: Call,
    pub request: Bytes,
    pub content_type: String,
    pub reply: Vec<u8>,
    /// Room for the request and the reply.
    pub kept: Kept,
}

impl Finished {
    /// Its size in bytes.
    pub(super) fn size(&self) -> usize {
        self.request.len() + self.reply.len()
    }

    /// The assistant's message in it.
    pub(super) fn message(&self) -> Option<Value> {
        may_be_parsed(&self.reply).then(|| message_of(&self.content_type, &self.reply)).flatten()
    }
}
