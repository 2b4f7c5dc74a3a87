//! OpenAI's Responses API: a request has items in `input`, and a response has items in `output`.
//!
//! Items enter; messages in the format of Chat Completions leave. Items that nobody says, such as reasoning, are left
//! out.

use serde_json::{Value, json};

/// The messages of an `input`, which is a text of the user or a list of items.
pub(crate) fn messages_of_input(input: Value) -> Option<Vec<Value>> {
    match input {
        Value::String(text) => Some(vec![json!({"role": "user", "content": text})]),
        Value::Array(items) => Some(items.into_iter().filter_map(message_of_item).collect()),
        _ => None,
    }
}

fn message_of_item(mut item: Value) -> Option<Value> {
    match item["type"].as_str() {
        None | Some("message") => Some(item),
        Some("function_call") => Some(json!({"role": "assistant", "tool_calls": [call_of(&item)]})),
        Some("function_call_output") => Some(json!({"role": "tool", "content": item["output"].take()})),
        _ => None,
    }
}

/// The assistant's message in a response: all that it says, all that it calls, and the id of the response.
pub(crate) fn message_of_output(response: &Value) -> Option<Value> {
    let items = response["output"].as_array().filter(|items| !items.is_empty())?;
    let of_kind = |kind: &'static str| items.iter().filter(move |item| item["type"] == kind);
    let parts: Vec<&Value> =
        of_kind("message").filter_map(|item| item["content"].as_array()).flatten().collect();
    let calls: Vec<Value> = of_kind("function_call").map(call_of).collect();
    let mut message = json!({"role": "assistant", "content": parts, "id": response["id"]});
    if !calls.is_empty() {
        message["tool_calls"] = Value::Array(calls);
    }
    Some(message)
}

fn call_of(item: &Value) -> Value {
    json!({"type": "function", "function": {"name": item["name"], "arguments": item["arguments"]}})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_messages() {
        let said =
            json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi."}]});
        let call = json!({"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"});
        let output = json!({"type": "function_call_output", "call_id": "c", "output": "A gate."});
        let thought = json!({"type": "reasoning", "id": "r", "summary": []});
        let messages = messages_of_input(json!([said, thought, call, output])).unwrap();
        let function = json!({"type": "function", "function": {"name": "look", "arguments": "{}"}});
        assert_eq!(messages[0], said);
        assert_eq!(messages[1], json!({"role": "assistant", "tool_calls": [function]}));
        assert_eq!(messages[2], json!({"role": "tool", "content": "A gate."}));
        assert_eq!(messages_of_input(json!("Hi.")), Some(vec![json!({"role": "user", "content": "Hi."})]));
        assert_eq!(messages_of_input(json!(7)), None);

        let part = json!({"type": "output_text", "text": "Yes?", "annotations": []});
        let answer = json!({"type": "message", "role": "assistant", "content": [part]});
        let reply = json!({"object": "response", "id": "resp_1", "output": [thought, answer, call]});
        let message = message_of_output(&reply).unwrap();
        let whole = json!({"role": "assistant", "content": [part], "id": "resp_1", "tool_calls": [function]});
        assert_eq!(message, whole);
        assert_eq!(message_of_output(&json!({"status": "queued", "output": []})), None);
    }
}
