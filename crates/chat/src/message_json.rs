//! The form in which prompts show messages.

use serde_json::{Value, json};

use crate::message::Message;
use memories_document::types::text::truncate;
use memories_llm::redact::redacted;

/// Maximum length of a message in a prompt, in characters.
const MESSAGE_CHARS: usize = 2000;

/// A message as JSON for a prompt, with secrets redacted.
pub(super) fn message_json(message: &Message) -> Value {
    let mut value = json!({
        "number": message.number,
        "who": redacted(&message.speaker()),
        "text": prompt_text(&message.text()),
    });
    if let Some(time) = message.timestamp() {
        value["time"] = json!(redacted(time));
    }
    value
}

/// The text of a message for a prompt: redacted and truncated.
pub(super) fn prompt_text(text: &str) -> String {
    truncate(redacted(text).trim(), MESSAGE_CHARS)
}
