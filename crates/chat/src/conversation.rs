//! Reads conversations: JSON Lines, a JSON array of messages, or a request or response of OpenAI's APIs or of
//! Anthropic's.
//!
//! A text enters; messages leave, numbered from 1 in their order. Anthropic's `system` field next to the messages
//! is an instruction, not a message. Errors name the line or the number of the message.

use std::fmt::Display;

use serde_json::Value;

use crate::message::Message;
use crate::responses::{message_of_output, messages_of_input};
use memories_document::types::json;
use memories_document::types::json::text_without_mark;
use memories_llm::redact::redacted;

/// A conversation and its id.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversation {
    /// Identifies the conversation each time it is read.
    pub id: String,
    /// Its messages, in order.
    pub messages: Vec<Message>,
}

impl Conversation {
    /// A conversation, with secrets in its id masked: the id is written with each memory.
    pub(crate) fn of(id: &str, messages: Vec<Message>) -> Conversation {
        Conversation { id: redacted(id), messages }
    }

    /// Reads a conversation in any of the formats.
    ///
    /// # Errors
    ///
    /// The reason why the text is not a conversation, with the line or the number of the message.
    pub fn read(id: &str, text: &str) -> Result<Conversation, String> {
        Ok(Conversation::of(id, read_messages(text)?))
    }
}

fn read_messages(text: &str) -> Result<Vec<Message>, String> {
    let text = text_without_mark(text);
    if text.trim().is_empty() {
        return Err("it is empty".to_owned());
    }
    match serde_json::from_str(text) {
        Ok(value) => messages_of(value),
        Err(error) if text.trim_start().starts_with('[') => {
            Err(format!("line {} is not JSON: {error}", error.line()))
        }
        Err(_) => read_lines(text),
    }
}

/// The tag of entries that come from a conversation.
pub(crate) fn conversation_tag(id: &str) -> String {
    format!("conversation:{id}")
}

/// The messages of one JSON value: a list, a request, a response, or a single message.
pub(crate) fn messages_of(value: Value) -> Result<Vec<Message>, String> {
    let list = match value {
        Value::Array(items) => items,
        Value::Object(mut fields) => {
            if let Some(Value::Array(items)) = fields.get_mut("messages") {
                std::mem::take(items)
            } else if let Some(Value::Array(choices)) = fields.get_mut("choices") {
                let message = choices.first_mut().and_then(|choice| choice.get_mut("message"));
                message.map(Value::take).into_iter().collect()
            } else if fields.contains_key("role") {
                return Ok(vec![message_at("it", 1, Value::Object(fields))?]);
            } else if let Some(input) = fields.get("input").cloned().and_then(messages_of_input) {
                input
            } else if fields.contains_key("output") {
                message_of_output(&Value::Object(fields)).into_iter().collect()
            } else {
                return Ok(vec![message_at("it", 1, Value::Object(fields))?]);
            }
        }
        other => vec![other],
    };
    let numbered = list.into_iter().zip(1..);
    numbered.map(|(value, number)| message_at(format_args!("message {number}"), number, value)).collect()
}

fn message_at(place: impl Display, number: u64, value: Value) -> Result<Message, String> {
    Message::of(number, value).map_err(|problem| format!("{place} is not a message: {problem}"))
}

fn read_lines(text: &str) -> Result<Vec<Message>, String> {
    let mut messages = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let value =
            json::read(line.as_bytes()).map_err(|error| format!("line {} is not JSON: {error}", at + 1))?;
        messages.push(message_at(format_args!("line {}", at + 1), messages.len() as u64 + 1, value)?);
    }
    Ok(messages)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<(u64, String)> {
        let messages = read_messages(text).expect("a conversation");
        messages.iter().map(|message| (message.number, message.text())).collect()
    }

    #[test]
    fn all_formats_give_the_same_messages() {
        let expected = [(1, "Hi.".to_owned()), (2, "Yes?".to_owned())];
        let (a, b) = (r#"{"role":"user","content":"Hi."}"#, r#"{"role":"assistant","content":"Yes?"}"#);
        for text in [
            format!("{a}\n\n{b}\n"),
            format!("\u{feff}{a}\r\n{b}"),
            format!("[{a},\n {b}]"),
            format!("{{\"model\": \"m\", \"messages\": [{a}, {b}]}}"),
            format!("{{\"system\": \"Be kind.\", \"max_tokens\": 9, \"messages\": [{a}, {b}]}}"),
        ] {
            assert_eq!(texts(&text), expected, "{text}");
        }
        let answer =
            r#"{"id": "x", "choices": [{"index": 0, "message": {"role": "assistant", "content": "Yes?"}}]}"#;
        assert_eq!(texts(answer), [(1, "Yes?".to_owned())]);
        let anthropic =
            r#"{"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Yes?"}]}"#;
        assert_eq!(texts(anthropic), [(1, "Yes?".to_owned())]);
        assert_eq!(texts(&format!("{{\"model\": \"m\", \"input\": [{a}, {b}]}}")), expected);
        assert_eq!(texts(r#"{"input": "Yes?"}"#), [(1, "Yes?".to_owned())]);
        let response = r#"{"object": "response", "output": [{"type": "message", "role": "assistant",
            "content": [{"type": "output_text", "text": "Yes?"}]}]}"#;
        assert_eq!(texts(response), [(1, "Yes?".to_owned())]);
        assert_eq!(texts("[]"), []);
    }

    #[test]
    fn errors_name_the_line() {
        let error = |text: &str| read_messages(text).unwrap_err();
        assert_eq!(error(" \n"), "it is empty");
        assert!(error("{\"role\": \"user\"}\n{oops\n").starts_with("line 2 is not JSON: key must be"));
        assert_eq!(
            error("{\"role\": \"user\"}\n7\n"),
            "line 2 is not a message: expected an object with `role` and `content`"
        );
        assert_eq!(error("[{\"role\": \"user\"}, {}]"), "message 2 is not a message: `role` is missing");
        assert_eq!(error("{\"a\": 1}"), "it is not a message: `role` is missing");
        assert!(error("[{\n}").starts_with("line 2 is not JSON"));
    }
}
