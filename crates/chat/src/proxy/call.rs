//! A chat request as the proxy sees it, and what is done with it and its reply.

use serde_json::Value;

use crate::api_format::ApiFormat;
use memories_document::types::ImportanceScale;

/// A chat request: the facts that its path and headers give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// [`ApiFormat::OpenAi`] for `/v1/chat/completions`, [`ApiFormat::Anthropic`] for `/v1/messages`,
    /// [`ApiFormat::Responses`] for `/v1/responses`.
    pub shape: ApiFormat,
    /// `X-Memories-Scope`: where memories come from and go to.
    pub scope: Option<String>,
    /// `X-Memories-Conversation`: the id of the conversation.
    pub conversation: Option<String>,
    /// `X-Memories-Extraction`: when memories are extracted from it.
    pub extraction: Option<String>,
}

/// Hooks on the requests and replies of chats. They are called where they may block, never on a thread
/// that forwards data.
pub trait ChatHooks: Send + Sync + 'static {
    /// The body of a request with memories in it; `None` where there is nothing to add.
    fn inject(&self, call: &Call, request: &[u8]) -> Option<Vec<u8>>;

    /// The scale of the importances that the model states in calls of the tool `remember`; `None` if it is not to be
    /// offered the tool in this call.
    fn offers_tool(&self, _: &Call) -> Option<ImportanceScale> {
        None
    }

    /// A reply was passed on to its end: `request` is the body as the client sent it, `reply` the
    /// assistant's message.
    fn extract(&self, call: &Call, request: &[u8], reply: Value);

    /// There is no time to extract memories from this reply: notes it, so that a later extraction of its conversation
    /// reads it. Must end soon.
    fn keep(&self, call: &Call, request: &[u8], reply: Value);

    /// Memories were extracted from all replies, and no further one will come. The proxy may not wait for the end of
    /// it.
    fn end(&self) {}

    /// Number of conversations for which [`ChatHooks::end`] has something left to do.
    fn left(&self) -> usize {
        0
    }

    /// Tells the person who runs the proxy that something is not as it should be.
    fn warn(&self, warning: String);
}
