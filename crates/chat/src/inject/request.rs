//! Inserts a block of memories into a chat request without changing any other byte.
//!
//! A request in OpenAI's or Anthropic's format enters with a block; the same bytes leave with the block inserted.
//! Everything else stays as it was written: the order of keys, spaces, numbers, escapes, and unknown parts and
//! fields. A block from an earlier insertion is removed first.

use std::collections::HashMap;
use std::ops::Range;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::api_format::ApiFormat;
use crate::inject::block::{GAP, InjectMode, find_block, is_block};
use crate::message::Message;
use memories_document::types::json;
use memories_document::types::model_text::ModelText;

type Fields<'a> = HashMap<String, &'a RawValue>;

/// A parsed request that still refers to the original text.
pub(crate) struct ChatRequest<'a> {
    text: &'a str,
    fields: Fields<'a>,
    messages: Vec<(&'a RawValue, Fields<'a>)>,
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
        let list = fields.get("messages").ok_or_else(|| "it has no `messages`".to_owned())?;
        let raw: Vec<&'a RawValue> =
            serde_json::from_str(list.get()).map_err(|_| "its `messages` are not a list".to_owned())?;
        let messages = raw.into_iter().zip(1..).map(|(raw, number)| {
            let fields = serde_json::from_str(raw.get());
            fields.map(|fields| (raw, fields)).map_err(|_| format!("its message {number} is not an object"))
        });
        let messages: Vec<_> = messages.collect::<Result<_, _>>()?;
        if messages.is_empty() {
            return Err("its `messages` are empty".to_owned());
        }
        Ok(ChatRequest { text, fields, messages })
    }

    /// Guesses the format from fields and roles that only one of the two has.
    pub fn format(&self) -> ApiFormat {
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

    /// The last messages with speech, at most `limit`, oldest first.
    pub(crate) fn last_messages(&self, limit: usize) -> Vec<Message> {
        let numbered = self.messages.iter().enumerate().rev();
        let read = numbered.filter_map(|(at, (raw, _))| {
            Message::of(at as u64 + 1, serde_json::from_str::<Value>(raw.get()).ok()?).ok()
        });
        let mut said: Vec<Message> = read.filter(Message::is_speech).take(limit).collect();
        said.reverse();
        said
    }

    /// The byte range of a slice of the text.
    fn range_of(&self, part: &str) -> Range<usize> {
        let start = part.as_ptr() as usize - self.text.as_ptr() as usize;
        start..start + part.len()
    }

    fn message_ranges(&self) -> Vec<Range<usize>> {
        self.messages.iter().map(|(raw, _)| self.range_of(raw.get())).collect()
    }

    /// The index of the user's last message that does not contain tool results, which must follow their calls.
    fn last_user_message(&self) -> Option<usize> {
        let is_users =
            |fields: &Fields<'_>| role_of(fields) == "user" && !holds_part(fields, &["tool_result"]);
        self.messages.iter().rposition(|(_, fields)| is_users(fields))
    }

    /// The request without blocks from earlier insertions.
    fn without_blocks(&self) -> String {
        let mut edits: Vec<Edit> = Vec::new();
        let ranges = self.message_ranges();
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
        if let Some(system) = self.fields.get("system") {
            let own = format!("{{\"system\":{},", system.get());
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
            let start = self.range_of(raw).start;
            let range = start + raw_offset(raw, found.start)..start + raw_offset(raw, found.end);
            return Some((range, String::new()));
        }
        let parts: Vec<&RawValue> = serde_json::from_str(raw).ok()?;
        let ranges: Vec<Range<usize>> = parts.iter().map(|part| self.range_of(part.get())).collect();
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
        let user = self.last_user_message();
        let edit = match (mode, user) {
            (InjectMode::ContextMessage, Some(user)) => {
                self.insert_message(user, if format == ApiFormat::OpenAi { "system" } else { "user" }, block)
            }
            (InjectMode::UserPrefix, Some(user)) => match self.messages[user].1.get("content") {
                Some(content) if content.get() != "null" => self.insert(content, block, Side::Start),
                _ => self.append_to_instructions(block, format),
            },
            _ => self.append_to_instructions(block, format),
        };
        apply_edits(self.text, vec![edit])
    }

    fn append_to_instructions(&self, block: &str, format: ApiFormat) -> Edit {
        match format {
            ApiFormat::Anthropic => match self.fields.get("system") {
                Some(system) if system.get() == "null" => (self.range_of(system.get()), quoted(block)),
                Some(system) => self.insert(system, block, Side::End),
                None => {
                    let start = self.text.find('{').map_or(0, |at| at + 1);
                    (start..start, format!("\"system\":{},", quoted(block)))
                }
            },
            ApiFormat::OpenAi => {
                let is_instruction =
                    |fields: &Fields<'_>| matches!(role_of(fields).as_str(), "system" | "developer");
                let own = self.messages.iter().find(|(_, fields)| is_instruction(fields));
                let content = own.and_then(|(_, fields)| fields.get("content"));
                match content.filter(|content| !matches!(content.get(), "\"\"" | "null")) {
                    Some(content) => self.insert(content, block, Side::End),
                    None => self.insert_message(0, "system", block),
                }
            }
        }
    }

    /// Inserts a message before the one at an index.
    fn insert_message(&self, at: usize, role: &str, block: &str) -> Edit {
        let start = self.range_of(self.messages[at].0.get()).start;
        (start..start, format!("{{\"role\":\"{role}\",\"content\":{}}},", quoted(block)))
    }

    /// Inserts a block into a content, which is a text or a list of parts.
    fn insert(&self, content: &RawValue, block: &str, side: Side) -> Edit {
        let range = self.range_of(content.get());
        let is_text = content.get().starts_with('"');
        let parts: Vec<&RawValue> = serde_json::from_str(content.get()).unwrap_or_default();
        let (at, new) = match (side, parts.first().zip(parts.last())) {
            (Side::Start, _) if is_text => (range.start + 1, escaped(&format!("{block}{GAP}"))),
            (Side::End, _) if is_text => {
                let gap = if content.get() == "\"\"" { "" } else { GAP };
                (range.end - 1, escaped(&format!("{gap}{block}")))
            }
            (Side::Start, Some((first, _))) => {
                (self.range_of(first.get()).start, format!("{},", part(block)))
            }
            (Side::End, Some((_, last))) => (self.range_of(last.get()).end, format!(",{}", part(block))),
            (_, None) => (range.start + 1, part(block)),
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

type Edit = (Range<usize>, String);

fn apply_edits(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|(range, _)| range.start);
    let mut out = String::with_capacity(text.len() + edits.iter().map(|(_, new)| new.len()).sum::<usize>());
    let mut done = 0;
    for (range, new) in edits {
        out.push_str(&text[done..range.start.max(done)]);
        out.push_str(&new);
        done = range.end.max(done);
    }
    out.push_str(&text[done..]);
    out
}

/// The bytes to remove with an element of a list: up to the next element, or from the end of the previous one.
fn without_element(ranges: &[Range<usize>], at: usize) -> Range<usize> {
    match (ranges.get(at + 1), at.checked_sub(1)) {
        (Some(next), _) => ranges[at].start..next.start,
        (None, Some(before)) => ranges[before].end..ranges[at].end,
        (None, None) => ranges[at].clone(),
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

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a text is writable as JSON")
}

fn escaped(text: &str) -> String {
    let quoted = quoted(text);
    quoted[1..quoted.len() - 1].to_owned()
}

fn part(block: &str) -> String {
    format!("{{\"type\":\"text\",\"text\":{}}}", quoted(block))
}

/// Maps an offset in a decoded JSON string to the offset in its source, which includes the quotes.
fn raw_offset(raw: &str, decoded: usize) -> usize {
    let unit = |at: usize| raw.get(at + 2..at + 6).and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let (mut at, mut passed) = (1, 0);
    while passed < decoded && at + 1 < raw.len() {
        let Some(first) = raw[at..].chars().next() else { break };
        if first != '\\' {
            at += first.len_utf8();
            passed += first.len_utf8();
            continue;
        }
        match (raw.as_bytes().get(at + 1), unit(at)) {
            (Some(b'u'), Some(0xD800..0xDC00)) => {
                at += 12;
                passed += 4;
            }
            (Some(b'u'), Some(unit)) => {
                at += 6;
                passed += char::from_u32(unit).map_or(3, char::len_utf8);
            }
            _ => {
                at += 2;
                passed += 1;
            }
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: &str = "<memories>\n1. \"A\" é\n</memories>";

    fn put(request: &str, mode: InjectMode) -> String {
        let block = ModelText::framed(BLOCK);
        String::from_utf8(insert_block(request.as_bytes(), &block, mode, None).expect("a request"))
            .expect("text")
    }

    /// The block is inserted at `⟨⟩`, and inserting it a second time changes nothing.
    #[track_caller]
    fn check(mode: InjectMode, marked: &str, new: &str) {
        let request = marked.replace("⟨⟩", "");
        let once = put(&request, mode);
        assert_eq!(once, marked.replace("⟨⟩", new));
        assert_eq!(put(&once, mode), once, "twice is once");
        for &other in <InjectMode as strum::VariantArray>::VARIANTS {
            let again = put(&once, other);
            assert_eq!(again.matches("</memories>").count(), 1, "replaced, not stacked: {again}");
            assert_eq!(again, put(&request, other), "as if it had never been there");
        }
    }

    fn text() -> String {
        escaped(BLOCK)
    }

    #[test]
    fn after_the_instructions() {
        let mode = InjectMode::SystemAppend;
        let gap = format!("\\n\\n{}", text());
        check(
            mode,
            r#" {"x": 1.0, "messages" : [ {"content":"B\u00e9 \/ k.⟨⟩","role":"system"}, {"role":"user","content":"Hi"} ], "y":12345678901234567890123}"#,
            &gap,
        );
        check(
            mode,
            r#"{"messages":[{"role":"developer","content":"x⟨⟩"},{"role":"user","content":"Hi"}]}"#,
            &gap,
        );
        let new = format!("{{\"role\":\"system\",\"content\":\"{}\"}},", text());
        check(mode, r#"{"messages":[ ⟨⟩{"role":"user","content":"Hi"}]}"#, &new);
        check(
            mode,
            r#"{"messages":[⟨⟩{"role": "system", "content": ""}, {"role":"user","content":"Hi"}]}"#,
            &new,
        );
        let part = format!(",{}", part(BLOCK));
        check(
            mode,
            r#"{"messages":[{"role":"system","content":[{"type":"text","text":"x"}⟨⟩ ]},{"role":"user","content":"Hi"}]}"#,
            &part,
        );
        let system = format!("\"system\":\"{}\",", text());
        check(
            mode,
            r#"{⟨⟩"model":"claude-x","max_tokens":9,"messages":[{"role":"user","content":"Hi"}]}"#,
            &system,
        );
        check(
            mode,
            r#"{"model":"claude-x","system":"Be kind.⟨⟩","messages":[{"role":"user","content":"Hi"}]}"#,
            &gap,
        );
        check(
            mode,
            r#"{"system":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}⟨⟩],"messages":[{"role":"user","content":"Hi"}]}"#,
            &part,
        );
    }

    #[test]
    fn in_a_separate_message() {
        let mode = InjectMode::ContextMessage;
        let of = |role: &str| format!("{{\"role\":\"{role}\",\"content\":\"{}\"}},", text());
        check(
            mode,
            r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}, ⟨⟩{"role":"user","content":"c"}]}"#,
            &of("system"),
        );
        // A tool's result must follow its call.
        check(
            mode,
            r#"{"messages":[⟨⟩{"role":"user","content":"c"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}]}"#,
            &of("user"),
        );
    }

    #[test]
    fn before_the_text_of_the_user() {
        let mode = InjectMode::UserPrefix;
        let gap = format!("{}\\n\\n", text());
        check(
            mode,
            r#"{"messages":[{"role":"user","content":"a"},{"role":"user","content":"⟨⟩c"},{"role":"assistant","content":null,"tool_calls":[{"id":"x","type":"function","function":{"name":"n","arguments":"{}"}}]},{"role":"tool","tool_call_id":"x","content":"42"}]}"#,
            &gap,
        );
        let part = format!("{},", part(BLOCK));
        check(
            mode,
            r#"{"messages":[{"role":"user","content":[ ⟨⟩{"type":"image_url","image_url":{"url":"u"}}]}]}"#,
            &part,
        );
    }

    #[test]
    fn a_block_is_recognised_with_other_escapes() {
        let once = put(
            r#"{"messages":[{"role":"system","content":"Bé."},{"role":"user","content":"Hi"}]}"#,
            InjectMode::SystemAppend,
        );
        let anew = once
            .replace("<memories>", "\\u003cmemories\\u003e")
            .replace("</memories>", "\\u003c/memories\\u003e");
        assert_eq!(put(&anew, InjectMode::SystemAppend), once);
        // An assistant that repeats a block, and a block of a person's own, are left alone.
        let own = r#"{"messages":[{"role":"system","content":"Use <memories>\nmine\n</memories>"},{"role":"user","content":"Hi"}]}"#;
        assert!(put(own, InjectMode::UserPrefix).contains(r"Use <memories>\nmine\n</memories>"));
    }

    #[test]
    fn errors_name_the_problem() {
        let problem = |text: &str| ChatRequest::read(text.as_bytes()).err().unwrap_or_default();
        assert!(problem("{").starts_with("it is not JSON"));
        assert_eq!(problem("[]"), "it is not a JSON object");
        assert_eq!(problem("{}"), "it has no `messages`");
        assert_eq!(problem(r#"{"messages": {}}"#), "its `messages` are not a list");
        assert_eq!(problem(r#"{"messages": []}"#), "its `messages` are empty");
        assert_eq!(problem(r#"{"messages": [7]}"#), "its message 1 is not an object");
    }
}
