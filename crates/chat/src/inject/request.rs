//! Inserts a block of memories into a chat request without changing any other byte.
//!
//! A request of OpenAI's APIs or of Anthropic's enters with a block; the same bytes leave with the block inserted.
//! Everything else stays as it was written: the order of keys, spaces, numbers, escapes, and unknown parts and
//! fields. A block from an earlier insertion is removed first.

use std::collections::HashMap;
use std::ops::Range;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::api_format::ApiFormat;
use crate::inject::block::{GAP, InjectMode, find_block, is_block};
use crate::inject::place::{Mark, Place, Turn, last_of_user, place};
use crate::inject::splice::{Edit, apply_edits, escaped, quoted, range_of, raw_offset, without_element};
use crate::message::Message;
use memories_document::types::json;
use memories_document::types::model_text::ModelText;

/// The fields of an object as they stand in it.
pub(crate) type Fields<'a> = HashMap<String, &'a RawValue>;

/// The fields by which a client marks what is to be cached.
const MARKS: [&str; 2] = ["cache_control", "prompt_cache_breakpoint"];

/// A parsed request that still refers to the original text.
pub(crate) struct ChatRequest<'a> {
    text: &'a str,
    fields: Fields<'a>,
    messages: Vec<(&'a RawValue, Fields<'a>)>,
    /// Its messages are an `input`: one text of the user, or a list.
    input: Option<Input>,
}

/// The form of an `input`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Input {
    Text,
    List,
}

impl<'a> ChatRequest<'a> {
    /// Parses a request.
    ///
    /// # Errors
    ///
    /// A description of the problem.
    pub fn read(bytes: &'a [u8]) -> Result<ChatRequest<'a>, String> {
        let text = std::str::from_utf8(bytes).map_err(|error| format!("it is not UTF-8: {error}"))?;
        let text = json::text_without_mark(text);
        let fields: Fields<'a> = serde_json::from_str(text).map_err(|error| {
            if error.is_data() {
                "it is not a JSON object".to_owned()
            } else {
                format!("it is not JSON: {error}")
            }
        })?;
        let (name, list) = match (fields.get("messages"), fields.get("input")) {
            (Some(messages), _) => ("messages", messages),
            (None, Some(input)) if input.get().starts_with('"') => {
                let user = serde_json::from_str("\"user\"").expect("JSON");
                let said = Fields::from_iter([("role".to_owned(), user), ("content".to_owned(), *input)]);
                let messages = vec![(*input, said)];
                return Ok(ChatRequest { text, fields, messages, input: Some(Input::Text) });
            }
            (None, Some(input)) => ("input", input),
            (None, None) => return Err("it has no `messages`".to_owned()),
        };
        let verb = if name == "input" { "is" } else { "are" };
        let raw: Vec<&'a RawValue> =
            serde_json::from_str(list.get()).map_err(|_| format!("its `{name}` {verb} not a list"))?;
        let messages = raw.into_iter().zip(1..).map(|(raw, number)| {
            let fields = serde_json::from_str(raw.get());
            fields.map(|fields| (raw, fields)).map_err(|_| format!("its message {number} is not an object"))
        });
        let messages: Vec<_> = messages.collect::<Result<_, _>>()?;
        if messages.is_empty() {
            return Err(format!("its `{name}` {verb} empty"));
        }
        let input = (name == "input").then_some(Input::List);
        Ok(ChatRequest { text, fields, messages, input })
    }

    /// Guesses the format from fields and roles that only one of them has.
    pub fn format(&self) -> ApiFormat {
        if self.input.is_some() {
            return ApiFormat::Responses;
        }
        let roles: Vec<String> = self.messages.iter().map(|(_, fields)| role_of(fields)).collect();
        if roles.iter().any(|role| matches!(role.as_str(), "system" | "developer" | "tool")) {
            return ApiFormat::OpenAi;
        }
        let own = ["system", "anthropic_version", "stop_sequences", "thinking"];
        let model = self.fields.get("model").map(|model| model.get()).unwrap_or_default();
        let blocks = self.messages.iter().any(|(_, fields)| holds_part(fields, &["tool_use", "tool_result"]));
        let is_anthropic =
            own.iter().any(|key| self.fields.contains_key(*key)) || model.starts_with("\"claude") || blocks;
        if is_anthropic { ApiFormat::Anthropic } else { ApiFormat::OpenAi }
    }

    /// The last messages with speech up to the user's last one, at most `limit`, oldest first. What the model says
    /// between its calls of tools does not count: other memories at each step would void what is cached of the steps.
    pub(crate) fn last_messages(&self, limit: usize) -> Vec<Message> {
        let end = last_of_user(&self.turns()).map_or(self.messages.len(), |user| user + 1);
        let numbered = self.messages[..end].iter().enumerate().rev();
        let read = numbered.filter_map(|(at, (raw, _))| match serde_json::from_str(raw.get()).ok()? {
            Value::String(text) if self.input == Some(Input::Text) => Some(Message::plain(1, "user", &text)),
            message => Message::of(at as u64 + 1, message).ok(),
        });
        let mut said: Vec<Message> = read.filter(Message::is_speech).take(limit).collect();
        said.reverse();
        said
    }

    fn turns(&self) -> Vec<Turn> {
        let turn = |(raw, fields): &(&RawValue, Fields<'_>)| {
            let content = fields.get("content").map_or("null", |content| content.get());
            Turn {
                role: role_of(fields),
                has_content: !matches!(content, "\"\"" | "null"),
                has_parts: content.starts_with('['),
                has_results: holds_part(fields, &["tool_result"]),
                mark: mark_of(raw.get()),
            }
        };
        self.messages.iter().map(turn).collect()
    }

    /// The request without blocks from earlier insertions.
    fn without_blocks(&self) -> String {
        let mut edits: Vec<Edit> = Vec::new();
        let ranges: Vec<_> = self.messages.iter().map(|(raw, _)| range_of(self.text, raw.get())).collect();
        for (at, (_, fields)) in self.messages.iter().enumerate() {
            let Some(content) = fields.get("content") else { continue };
            if matches!(role_of(fields).as_str(), "assistant" | "tool" | "function") {
                continue;
            }
            let whole = fields.len() == 2 && text_of(content).is_some_and(|text| is_block(&text));
            if whole {
                edits.push((without_element(&ranges, at), String::new()));
            } else {
                edits.extend(self.strip_content(content));
            }
        }
        for name in ["system", "instructions"] {
            let Some(system) = self.fields.get(name) else { continue };
            let own = format!("{{\"{name}\":{},", system.get());
            if self.text.starts_with(&own) && text_of(system).is_some_and(|text| is_block(&text)) {
                edits.push((1..own.len(), String::new()));
            } else {
                edits.extend(self.strip_content(system));
            }
        }
        apply_edits(self.text, edits)
    }

    fn strip_content(&self, content: &RawValue) -> Option<Edit> {
        let raw = content.get();
        if raw.starts_with('"') {
            let found = find_block(&text_of(content)?)?;
            let start = range_of(self.text, raw).start;
            let range = start + raw_offset(raw, found.start)..start + raw_offset(raw, found.end);
            return Some((range, String::new()));
        }
        let parts: Vec<&RawValue> = serde_json::from_str(raw).ok()?;
        let ranges: Vec<Range<usize>> = parts.iter().map(|part| range_of(self.text, part.get())).collect();
        let is_ours = |part: &RawValue| {
            let part: Option<Value> = serde_json::from_str(part.get()).ok();
            let part = part.as_ref().and_then(Value::as_object).filter(|part| part.len() == 2);
            part.and_then(|part| part.get("text")?.as_str()).is_some_and(is_block)
        };
        // An insertion puts at most one block into a message.
        let at = parts.iter().position(|part| is_ours(part))?;
        Some((without_element(&ranges, at), String::new()))
    }

    /// The request with a block inserted.
    fn with_block(&self, block: &str, mode: InjectMode, format: ApiFormat) -> String {
        let format = if self.input.is_some() { ApiFormat::Responses } else { format };
        let insert = |at: usize, side| self.insert(self.messages[at].1["content"], block, side, format);
        let range = |at: usize| range_of(self.text, self.messages[at].0.get());
        let message = |role| format!("{{\"role\":\"{role}\",\"content\":{}}}", quoted(block));
        let is_text = self.input == Some(Input::Text);
        let edit = match place(&self.turns(), mode, format, self.keeps_turns(format)) {
            Place::Instructions => self.append_to_instructions(block, format),
            Place::Start(at) => insert(at, Side::Start),
            Place::End(at) => insert(at, Side::End),
            // A text has no message before it.
            Place::Before(at) if is_text => insert(at, Side::Start),
            Place::Before(at) => {
                let role = if format == ApiFormat::Anthropic { "user" } else { "system" };
                (range(at).start..range(at).start, format!("{},", message(role)))
            }
            Place::Behind(at) => (range(at).end..range(at).end, format!(",{}", message("user"))),
        };
        apply_edits(self.text, vec![edit])
    }

    /// True if the server keeps what it computed for the turns in the request. A conversation that it keeps itself is
    /// not in the request, and what is in the request stays in that conversation.
    fn keeps_turns(&self, format: ApiFormat) -> bool {
        let has = |name: &str| self.fields.get(name).is_some_and(|value| value.get() != "null");
        match format {
            ApiFormat::OpenAi => true,
            ApiFormat::Anthropic => has("cache_control"),
            ApiFormat::Responses => !has("previous_response_id") && !has("conversation"),
        }
    }

    fn append_to_instructions(&self, block: &str, format: ApiFormat) -> Edit {
        let name = if format == ApiFormat::Responses { "instructions" } else { "system" };
        match self.fields.get(name) {
            Some(own) if own.get() == "null" => (range_of(self.text, own.get()), quoted(block)),
            Some(own) => self.insert(own, block, Side::End, format),
            None => {
                let start = self.text.find('{').map_or(0, |at| at + 1);
                (start..start, format!("\"{name}\":{},", quoted(block)))
            }
        }
    }

    /// Inserts a block into a content, which is a text or a list of parts.
    fn insert(&self, content: &RawValue, block: &str, side: Side, format: ApiFormat) -> Edit {
        let range = range_of(self.text, content.get());
        let is_text = content.get().starts_with('"');
        let parts: Vec<&RawValue> = serde_json::from_str(content.get()).unwrap_or_default();
        let (at, new) = match (side, parts.first().zip(parts.last())) {
            (Side::Start, _) if is_text => (range.start + 1, escaped(&format!("{block}{GAP}"))),
            (Side::End, _) if is_text => {
                let gap = if content.get() == "\"\"" { "" } else { GAP };
                (range.end - 1, escaped(&format!("{gap}{block}")))
            }
            (Side::Start, Some((first, _))) => {
                (range_of(self.text, first.get()).start, format!("{},", part(block, format)))
            }
            (Side::End, Some((_, last))) => {
                (range_of(self.text, last.get()).end, format!(",{}", part(block, format)))
            }
            (_, None) => (range.start + 1, part(block, format)),
        };
        (at..at, new)
    }
}

/// The end of a content at which a block is inserted.
#[derive(Clone, Copy)]
enum Side {
    Start,
    End,
}

/// Inserts a block into a request and removes blocks from earlier insertions. A `format` of `None` is guessed.
///
/// # Errors
///
/// A description of the problem if the bytes are not a chat request.
pub fn insert_block(
    request: &[u8],
    block: &ModelText,
    mode: InjectMode,
    format: Option<ApiFormat>,
) -> Result<Vec<u8>, String> {
    let read = ChatRequest::read(request)?;
    let format = format.unwrap_or_else(|| read.format());
    if !read.text.contains("memories>") && !read.text.contains("memories\\u003") {
        return Ok(read.with_block(block, mode, format).into_bytes());
    }
    let stripped = read.without_blocks();
    match ChatRequest::read(stripped.as_bytes()) {
        Ok(read) => Ok(read.with_block(block, mode, format).into_bytes()),
        // The request contained nothing but the block: leave it unchanged.
        Err(_) => Ok(request.to_vec()),
    }
}

fn role_of(fields: &Fields<'_>) -> String {
    fields.get("role").and_then(|role| text_of(role)).unwrap_or_default().to_lowercase()
}

fn text_of(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

/// True if the content of a message is a list with a part of one of these types.
fn holds_part(fields: &Fields<'_>, kinds: &[&str]) -> bool {
    let content = fields.get("content").map(|content| content.get()).unwrap_or_default();
    if !content.starts_with('[') || !kinds.iter().any(|kind| content.contains(kind)) {
        return false;
    }
    let parts: Vec<Value> = serde_json::from_str(content).unwrap_or_default();
    parts.iter().any(|part| kinds.iter().any(|kind| part["type"] == *kind))
}

fn part(block: &str, format: ApiFormat) -> String {
    let kind = if format == ApiFormat::Responses { "input_text" } else { "text" };
    format!("{{\"type\":\"{kind}\",\"text\":{}}}", quoted(block))
}

/// What is marked for caching in a message: the message, one of its parts, or something inside of a part.
fn mark_of(raw: &str) -> Option<Mark> {
    if !MARKS.iter().any(|mark| raw.contains(mark)) {
        return None;
    }
    let message: Value = serde_json::from_str(raw).ok()?;
    let is_marked = |value: &Value| MARKS.iter().any(|mark| !value[*mark].is_null());
    let in_list = |list: &Value| list.as_array().is_some_and(|items| items.iter().any(is_marked));
    if is_marked(&message) || in_list(&message["output"]) {
        return Some(Mark::Whole);
    }
    let mut parts = message["content"].as_array().into_iter().flatten();
    parts.any(|part| is_marked(part) || in_list(&part["content"])).then_some(Mark::Part)
}

#[cfg(test)]
mod tests;
