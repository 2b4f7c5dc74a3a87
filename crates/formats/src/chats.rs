//! Conversations of other programs as messages with `role`, `content`, `name` and `timestamp`.
//!
//! ChatGPT keeps a tree of messages, of which the current branch is read; Claude a list; SillyTavern a line for each.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::json::{Object, date, first_text, is_true, text};
use crate::source::{Content, Source};

/// A conversation of another program.
#[derive(Debug, Clone, PartialEq)]
pub struct ForeignConversation {
    /// Its id there.
    pub id: String,
    /// Its title, which may be empty.
    pub title: String,
    /// Its messages, in order.
    pub messages: Vec<Value>,
    /// Messages without words: of tools, of other branches, with pictures alone.
    pub left_out: usize,
}

/// The conversations of a source; none if it holds something else.
pub fn conversations(source: &Source) -> Vec<ForeignConversation> {
    match &source.content {
        Content::Json(value) => {
            let list = value.as_array().or_else(|| value.get("conversations")?.as_array());
            let list = list.map_or(std::slice::from_ref(value), Vec::as_slice);
            list.iter().filter_map(conversation).collect()
        }
        Content::Lines(lines) => sillytavern(lines, &source.name).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn conversation(value: &Value) -> Option<ForeignConversation> {
    let object = value.as_object()?;
    if let Some(mapping) = object.get("mapping").and_then(Value::as_object) {
        return Some(chatgpt(object, mapping));
    }
    let messages = object.get("chat_messages")?.as_array()?;
    Some(claude(object, messages))
}

/// Walks from the current message to the first; a message that was seen before ends the walk.
fn chatgpt(object: &Object, mapping: &Object) -> ForeignConversation {
    let mut node = text(object, "current_node");
    if !mapping.contains_key(&node) {
        // Without a current message the last one without an answer counts.
        let is_leaf = |node: &Value| node.get("children").and_then(Value::as_array).is_none_or(Vec::is_empty);
        node = mapping.iter().rfind(|(_, node)| is_leaf(node)).map(|(id, _)| id.clone()).unwrap_or_default();
    }
    let (mut seen, mut messages) = (HashSet::new(), Vec::new());
    while let Some(Value::Object(fields)) = mapping.get(&node).filter(|_| seen.insert(node.clone())) {
        messages.extend(fields.get("message").and_then(Value::as_object).and_then(chatgpt_message));
        node = text(fields, "parent");
    }
    messages.reverse();
    let said = mapping.values().filter(|node| node.get("message").is_some_and(Value::is_object)).count();
    ForeignConversation {
        id: first_text(object, &["conversation_id", "id"]),
        title: text(object, "title"),
        left_out: said - messages.len(),
        messages,
    }
}

fn chatgpt_message(message: &Object) -> Option<Value> {
    let author = message.get("author")?.as_object()?;
    let content = message.get("content")?.as_object()?;
    let parts = content.get("parts").and_then(Value::as_array).into_iter().flatten();
    let parts: Vec<&str> =
        parts.filter_map(|part| part.as_str().or_else(|| part.get("text")?.as_str())).collect();
    let words = if parts.is_empty() { text(content, "text") } else { parts.join("\n") };
    let is_hidden = message
        .get("metadata")
        .and_then(|metadata| metadata.get("is_visually_hidden_from_conversation"))
        .is_some_and(|hidden| hidden == true);
    (!is_hidden).then(|| of_parts(&text(author, "role"), "", &words, date(message, &["create_time"])))?
}

fn claude(object: &Object, messages: &[Value]) -> ForeignConversation {
    let read: Vec<Value> = messages.iter().filter_map(Value::as_object).filter_map(claude_message).collect();
    ForeignConversation {
        id: first_text(object, &["uuid", "id"]),
        title: first_text(object, &["name", "title"]),
        left_out: messages.len() - read.len(),
        messages: read,
    }
}

fn claude_message(message: &Object) -> Option<Value> {
    let parts = message.get("content").and_then(Value::as_array).into_iter().flatten();
    let parts: Vec<&str> = parts.filter_map(|part| part.get("text")?.as_str()).collect();
    let words = if parts.is_empty() { text(message, "text") } else { parts.join("\n") };
    let role = match text(message, "sender").to_lowercase().as_str() {
        "human" => "user".to_owned(),
        other => other.to_owned(),
    };
    of_parts(&role, "", &words, date(message, &["created_at", "updated_at"]))
}

/// Reads a chat: its first line describes it, each other line is a message.
fn sillytavern(lines: &[Result<Value, String>], name: &str) -> Option<ForeignConversation> {
    let objects: Vec<&Object> = lines.iter().filter_map(|line| line.as_ref().ok()?.as_object()).collect();
    let (head, rest) = objects.split_first()?;
    let is_chat =
        head.contains_key("user_name") || head.contains_key("chat_metadata") || head.contains_key("mes");
    if !is_chat {
        return None;
    }
    let said = if head.contains_key("mes") { &objects[..] } else { rest };
    let messages: Vec<Value> = said.iter().filter_map(|message| sillytavern_message(message)).collect();
    Some(ForeignConversation {
        id: name.to_owned(),
        title: text(head, "character_name"),
        left_out: lines.len() - usize::from(!head.contains_key("mes")) - messages.len(),
        messages,
    })
}

fn sillytavern_message(message: &Object) -> Option<Value> {
    let role = if is_true(message, "is_user") { "user" } else { "assistant" };
    if is_true(message, "is_system") {
        return None;
    }
    of_parts(role, &text(message, "name"), &text(message, "mes"), date(message, &["send_date"]))
}

/// A message; none without a role or words.
fn of_parts(role: &str, name: &str, words: &str, date: Option<String>) -> Option<Value> {
    if role.is_empty() || words.trim().is_empty() {
        return None;
    }
    let mut message = json!({"role": role, "content": words});
    if !name.is_empty() {
        message["name"] = json!(name);
    }
    if let Some(date) = date {
        message["timestamp"] = json!(date);
    }
    Some(message)
}
