//! Reads the assistant's message from a reply, a whole one or a stream of events.
//!
//! Bytes enter as they went to the client; a message leaves in the format of the server, or in that of
//! OpenAI where it comes from a stream. Anything else is `None`, and no error.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::responses::message_of_output;

/// The message of a reply with that content type.
pub(crate) fn message_of(content_type: &str, bytes: &[u8]) -> Option<Value> {
    if content_type.trim_start().starts_with("text/event-stream") {
        return message_of_events(&String::from_utf8_lossy(bytes));
    }
    let mut reply: Value = serde_json::from_slice(bytes).ok()?;
    if let Some(message) = reply.pointer_mut("/choices/0/message") {
        return Some(message.take());
    }
    if reply["role"] == "assistant" && !reply["content"].is_null() {
        return Some(reply);
    }
    message_of_output(&reply)
}

/// A message that is put together from a stream.
#[derive(Default)]
struct PartialMessage {
    text: String,
    /// Name and arguments of each tool call, by its number.
    calls: BTreeMap<u64, (String, String)>,
    /// The id of the response, where its API has one.
    id: Option<Value>,
    /// The message of the last event, where that holds all of it.
    whole: Option<Value>,
    /// True if the stream had any part of a reply.
    any: bool,
}

/// True if the bytes of a stream are those of a reply to its end.
pub(crate) fn is_complete(stream: &[u8]) -> bool {
    let last = stream.rsplit(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"data:"));
    let Some(last) = last.map(<[u8]>::trim_ascii) else { return false };
    let ends = ["message_stop", "response.completed", "response.incomplete"];
    last == b"[DONE]"
        || serde_json::from_slice::<Value>(last)
            .is_ok_and(|event| ends.iter().any(|end| event["type"] == *end))
}

fn message_of_events(text: &str) -> Option<Value> {
    let mut message_parts = PartialMessage::default();
    for line in text.lines() {
        let Some(data) = line.strip_prefix("data:") else { continue };
        let Ok(event) = serde_json::from_str::<Value>(data.trim_start()) else { continue };
        message_parts.take_chunk(&event);
        message_parts.take_event(&event);
        message_parts.take_event_of_response(&event);
    }
    let PartialMessage { text, calls, id, whole, any } = message_parts;
    if whole.is_some() {
        return whole;
    }
    let calls: Vec<Value> = calls
        .into_values()
        .map(|(name, arguments)| {
            json!({"type": "function", "function": {"name": name, "arguments": arguments}})
        })
        .collect();
    let mut message = json!({"role": "assistant", "content": text});
    if !calls.is_empty() {
        message["tool_calls"] = Value::Array(calls);
    }
    if let Some(id) = id {
        message["id"] = id;
    }
    any.then_some(message)
}

impl PartialMessage {
    /// A chunk of OpenAI: `{"choices": [{"delta": {"content": "…"}}]}`.
    fn take_chunk(&mut self, chunk: &Value) {
        let Some(delta) = chunk.pointer("/choices/0/delta") else { return };
        self.any = true;
        self.text.push_str(delta["content"].as_str().unwrap_or_default());
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            let (name, arguments) = self.calls.entry(call["index"].as_u64().unwrap_or(0)).or_default();
            name.push_str(call["function"]["name"].as_str().unwrap_or_default());
            arguments.push_str(call["function"]["arguments"].as_str().unwrap_or_default());
        }
    }

    /// An event of Anthropic: `{"type": "content_block_delta", "index": 0, "delta": {"text": "…"}}`.
    fn take_event(&mut self, event: &Value) {
        let number = event["index"].as_u64().unwrap_or(0);
        match event["type"].as_str() {
            Some("content_block_start") => {
                self.any = true;
                let block = &event["content_block"];
                if block["type"] == "tool_use" {
                    let name = block["name"].as_str().unwrap_or_default().to_owned();
                    self.calls.insert(number, (name, String::new()));
                } else if !self.text.is_empty() && block["type"] == "text" {
                    self.text.push('\n');
                }
            }
            Some("content_block_delta") => {
                self.text.push_str(event["delta"]["text"].as_str().unwrap_or_default());
                if let Some((_, arguments)) = self.calls.get_mut(&number) {
                    arguments.push_str(event["delta"]["partial_json"].as_str().unwrap_or_default());
                }
            }
            _ => {}
        }
    }

    /// An event of OpenAI's Responses: `{"type": "response.output_text.delta", "output_index": 0, "delta": "…"}`.
    fn take_event_of_response(&mut self, event: &Value) {
        match event["type"].as_str() {
            Some("response.created") => self.id = Some(event["response"]["id"].clone()),
            Some("response.content_part.added") if !self.text.is_empty() => self.text.push('\n'),
            Some("response.output_text.delta") => {
                self.any = true;
                self.text.push_str(event["delta"].as_str().unwrap_or_default());
            }
            Some("response.output_item.done") if event["item"]["type"] == "function_call" => {
                self.any = true;
                let text = |name: &str| event["item"][name].as_str().unwrap_or_default().to_owned();
                let number = event["output_index"].as_u64().unwrap_or(0);
                self.calls.insert(number, (text("name"), text("arguments")));
            }
            Some("response.completed" | "response.incomplete") => {
                self.whole = message_of_output(&event["response"]);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_replies() {
        let of = |reply: Value| message_of("application/json", reply.to_string().as_bytes());
        let message = json!({"role": "assistant", "content": "Hi."});
        assert_eq!(of(json!({"id": "x", "choices": [{"message": message}]})), Some(message));
        let anthropic = json!({"role": "assistant", "content": [{"type": "text", "text": "Hi."}]});
        assert_eq!(of(anthropic.clone()), Some(anthropic));
        let part = json!({"type": "output_text", "text": "Hi.", "annotations": []});
        let item = json!({"type": "message", "role": "assistant", "content": [part]});
        let message = json!({"role": "assistant", "content": [part], "id": "resp_1"});
        assert_eq!(of(json!({"object": "response", "id": "resp_1", "output": [item]})), Some(message));
        for other in [json!({"error": {"message": "no"}}), json!({"choices": []}), json!([1])] {
            assert_eq!(of(other), None);
        }
        assert_eq!(message_of("application/json", b"{\"choices\""), None);
    }

    #[test]
    fn streams_of_openai() {
        let chunk = |delta: Value| format!("data: {}\r\n\r\n", json!({"choices": [{"delta": delta}]}));
        let call = |call: Value| json!({"tool_calls": [call]});
        let stream = [
            ": a comment\n".to_owned(),
            chunk(json!({"role": "assistant", "content": ""})),
            chunk(json!({"content": "Hé"})),
            chunk(json!({"content": "llo"})),
            chunk(call(json!({"index": 1, "function": {"name": "remember", "arguments": "{\"a\""}}))),
            chunk(call(json!({"index": 1, "function": {"arguments": ":1}"}}))),
            "data: {\"choices\":[],\"usage\":{}}\n\ndata: [DONE]\n\n".to_owned(),
        ]
        .concat();
        let message = message_of("text/event-stream; charset=utf-8", stream.as_bytes()).unwrap();
        let call = json!({"type": "function", "function": {"name": "remember", "arguments": "{\"a\":1}"}});
        assert_eq!(message, json!({"role": "assistant", "content": "Héllo", "tool_calls": [call]}));
        assert_eq!(message_of("text/event-stream", b"data: [DONE]\n\n"), None);
    }

    #[test]
    fn streams_of_anthropic() {
        let event = |event: Value| format!("event: x\ndata: {event}\n\n");
        let start = |number: u64, block: Value| {
            event(json!({"type": "content_block_start", "index": number, "content_block": block}))
        };
        let delta = |number: u64, delta: Value| {
            event(json!({"type": "content_block_delta", "index": number, "delta": delta}))
        };
        let stream = [
            event(json!({"type": "message_start", "message": {"role": "assistant", "content": []}})),
            start(0, json!({"type": "text", "text": ""})),
            delta(0, json!({"type": "text_delta", "text": "One."})),
            start(1, json!({"type": "tool_use", "name": "remember", "input": {}})),
            delta(1, json!({"type": "input_json_delta", "partial_json": "{}"})),
            start(2, json!({"type": "text", "text": ""})),
            delta(2, json!({"type": "text_delta", "text": "Two."})),
        ]
        .concat();
        let message = message_of("text/event-stream", stream.as_bytes()).unwrap();
        assert_eq!(message["content"], "One.\nTwo.");
        assert_eq!(message["tool_calls"][0]["function"], json!({"name": "remember", "arguments": "{}"}));
    }

    #[test]
    fn streams_of_responses() {
        let event = |event: Value| format!("event: x\ndata: {event}\n\n");
        let delta = |text: &str| event(json!({"type": "response.output_text.delta", "delta": text}));
        let call = json!({"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"});
        let begun = [
            event(json!({"type": "response.created", "response": {"id": "resp_1", "output": []}})),
            event(json!({"type": "response.content_part.added", "part": {"type": "output_text"}})),
            delta("Hé"),
            delta("llo"),
            event(json!({"type": "response.output_item.done", "output_index": 1, "item": call})),
        ]
        .concat();
        let message = message_of("text/event-stream", begun.as_bytes()).unwrap();
        assert_eq!((&message["content"], &message["id"]), (&json!("Héllo"), &json!("resp_1")));
        assert_eq!(message["tool_calls"][0]["function"], json!({"name": "look", "arguments": "{}"}));
        assert!(!is_complete(begun.as_bytes()));

        let part = json!({"type": "output_text", "text": "All."});
        let item = json!({"type": "message", "role": "assistant", "content": [part]});
        let response = json!({"id": "resp_1", "output": [item]});
        let whole = begun + &event(json!({"type": "response.completed", "response": response}));
        let message = message_of("text/event-stream", whole.as_bytes()).unwrap();
        assert_eq!(message, json!({"role": "assistant", "content": [part], "id": "resp_1"}));
        for (stream, expected) in [
            (whole.as_str(), true),
            ("data: [DONE]", true),
            ("event: message_stop\ndata: {\"type\": \"message_stop\"}\r\n\r\n", true),
            ("data: {\"type\": \"message_sto", false),
            ("data: {\"delta\": \"response.completed\"}\n\n", false),
            ("", false),
        ] {
            assert_eq!(is_complete(stream.as_bytes()), expected, "{stream}");
        }
    }
}
