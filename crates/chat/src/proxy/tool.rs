//! Offers the model the tool `remember`, and keeps its calls from the client.
//!
//! A request enters and leaves with the tool, all other bytes unchanged; a whole reply enters and leaves without the
//! calls. Where the model did nothing but call it, a second request goes up with the results, for the client asked for
//! an answer. Streams are passed on as they come, so they get no tool.

use serde_json::{Value, json};

use crate::api_format::ApiFormat;
use crate::extract::aspects::{TOOL, tool_schema};
use crate::inject::request::Fields;
use crate::inject::splice::{apply_edits, range_of};
use memories_document::types::ImportanceScale;

/// The request with the tool. `None` where its reply is streamed, where it asks for several replies, has a tool of that
/// name, or lets the model choose none.
pub(super) fn offered(request: &[u8], shape: ApiFormat, scale: ImportanceScale) -> Option<Vec<u8>> {
    let request = std::str::from_utf8(request).ok()?;
    let fields: Fields<'_> = serde_json::from_str(request).ok()?;
    let is = |name: &str, values: &[&str]| fields.get(name).is_none_or(|value| values.contains(&value.get()));
    let may_choose = fields.get("tool_choice").is_none_or(|choice| {
        let choice: Value = serde_json::from_str(choice.get()).unwrap_or_default();
        choice.is_null() || choice == "auto" || choice["type"] == "auto"
    });
    let has_messages = fields.get("messages").is_some_and(|messages| messages.get().starts_with('['));
    if !(is("stream", &["false", "null"]) && is("n", &["1", "null"]) && may_choose && has_messages) {
        return None;
    }
    let tool = tool_schema(shape, scale).to_string();
    let Some(tools) = fields.get("tools") else {
        return Some(spliced(request, request.find('{')? + 1, format!("\"tools\":[{tool}],")));
    };
    let known: Vec<Value> = serde_json::from_str(tools.get()).ok()?;
    let name = |tool: &Value| [&tool["name"], &tool["function"]["name"]].contains(&&json!(TOOL));
    if known.iter().any(name) {
        return None;
    }
    let end = range_of(request, tools.get()).end - 1;
    let comma = if known.is_empty() { "" } else { "," };
    Some(spliced(request, end, format!("{comma}{tool}")))
}

/// A reply in which the model called the tool.
pub(super) struct Called {
    /// The reply without the calls.
    pub reply: Value,
    /// The messages with which the model goes on, where it said nothing and called no other tool.
    pub further: Option<Vec<Value>>,
}

/// The reply without calls of the tool; `None` where it has none.
pub(super) fn without_calls(reply: &[u8], shape: ApiFormat) -> Option<Called> {
    let mut reply: Value = serde_json::from_slice(reply).ok()?;
    match shape {
        ApiFormat::OpenAi => {
            let choice = reply.pointer_mut("/choices/0")?;
            let asked = choice["message"].clone();
            let calls = choice["message"]["tool_calls"].as_array_mut()?;
            let ours = take(calls, |call| call["function"]["name"] == TOOL)?;
            let others = !calls.is_empty();
            if !others {
                choice["message"].as_object_mut()?.remove("tool_calls");
                choice["finish_reason"] = json!("stop");
            }
            let said = choice["message"]["content"].as_str().is_some_and(|text| !text.trim().is_empty());
            let results = ours
                .iter()
                .map(|call| json!({"role": "tool", "tool_call_id": call["id"], "content": "Noted."}));
            let further = (!said && !others).then(|| [asked].into_iter().chain(results).collect());
            Some(Called { reply, further })
        }
        // It is never offered the tool.
        ApiFormat::Responses => None,
        ApiFormat::Anthropic => {
            let asked = json!({"role": "assistant", "content": reply["content"]});
            let blocks = reply["content"].as_array_mut()?;
            let ours = take(blocks, |block| block["type"] == "tool_use" && block["name"] == TOOL)?;
            let others = blocks.iter().any(|block| block["type"] == "tool_use");
            let is_said = |block: &Value| block["text"].as_str().is_some_and(|text| !text.trim().is_empty());
            let said = blocks.iter().any(is_said);
            if !others {
                reply["stop_reason"] = json!("end_turn");
            }
            let results: Vec<Value> = ours
                .iter()
                .map(|call| json!({"type": "tool_result", "tool_use_id": call["id"], "content": "Noted."}))
                .collect();
            let further =
                (!said && !others).then(|| vec![asked, json!({"role": "user", "content": results})]);
            Some(Called { reply, further })
        }
    }
}

/// The request with further messages at its end.
pub(super) fn continued(request: &[u8], messages: &[Value]) -> Option<Vec<u8>> {
    let request = std::str::from_utf8(request).ok()?;
    let fields: Fields<'_> = serde_json::from_str(request).ok()?;
    let end = range_of(request, fields.get("messages")?.get()).end - 1;
    Some(spliced(request, end, messages.iter().map(|message| format!(",{message}")).collect()))
}

/// Takes what is wanted out of a list; `None` where there is nothing.
fn take(items: &mut Vec<Value>, wanted: impl Fn(&Value) -> bool) -> Option<Vec<Value>> {
    let taken: Vec<Value> = items.extract_if(.., |item| wanted(item)).collect();
    (!taken.is_empty()).then_some(taken)
}

fn spliced(text: &str, at: usize, inserted: String) -> Vec<u8> {
    apply_edits(text, vec![(at..at, inserted)]).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPES: [ApiFormat; 2] = [ApiFormat::OpenAi, ApiFormat::Anthropic];

    #[test]
    fn a_request_gets_the_tool_and_keeps_all_its_bytes() {
        let scale = ImportanceScale::default();
        for shape in SHAPES {
            let tool = tool_schema(shape, scale).to_string();
            let offer = |request: &str| offered(request.as_bytes(), shape, scale).unwrap();
            let bare = r#" { "model" : "m", "messages": [ ], "top_p": 1.0e0 }"#;
            let text = String::from_utf8(offer(bare)).unwrap();
            assert_eq!(text.replace(&format!("\"tools\":[{tool}],"), ""), bare);
            let with = r#"{"tools": [{"name": "look"}] ,"messages":[]}"#;
            let text = String::from_utf8(offer(with)).unwrap();
            assert_eq!(text, with.replace("}]", &format!("}},{tool}]")));
            assert!(serde_json::from_str::<Value>(&text).unwrap()["tools"][1].is_object());
            offer(r#"{"tools":[],"messages":[],"tool_choice":"auto","n":1,"stream":false}"#);
        }
    }

    #[test]
    fn a_request_that_cannot_have_the_tool_stays_as_it_is() {
        for request in [
            r#"{"messages":[],"stream":true}"#,
            r#"{"messages":[],"n":2}"#,
            r#"{"messages":[],"tool_choice":"none"}"#,
            r#"{"messages":[],"tool_choice":{"type":"tool","name":"look"}}"#,
            r#"{"messages":[],"tools":null}"#,
            r#"{"messages":[],"tools":7}"#,
            r#"{"messages":[],"tools":[{"name":"remember"}]}"#,
            r#"{"messages":[],"tools":[{"type":"function","function":{"name":"remember"}}]}"#,
            r#"{"prompt":"x"}"#,
            "[]",
            "no JSON",
        ] {
            assert_eq!(
                offered(request.as_bytes(), ApiFormat::OpenAi, ImportanceScale::default()),
                None,
                "{request}"
            );
        }
    }

    #[test]
    fn a_client_sees_no_call_of_the_tool() {
        let call = |id: &str, name: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}});
        let of = |content: Value, calls: Vec<Value>| {
            let message = json!({"role": "assistant", "content": content, "tool_calls": calls});
            let reply = json!({"id": "x", "choices": [{"message": message, "finish_reason": "tool_calls"}]});
            without_calls(reply.to_string().as_bytes(), ApiFormat::OpenAi)
        };
        let said = of(json!("Hi."), vec![call("a", TOOL)]).unwrap();
        assert_eq!(said.reply["choices"][0]["message"], json!({"role": "assistant", "content": "Hi."}));
        assert_eq!(
            (&said.reply["choices"][0]["finish_reason"], said.further.is_none()),
            (&json!("stop"), true)
        );
        let both = of(Value::Null, vec![call("a", TOOL), call("b", "look")]).unwrap();
        assert_eq!(both.reply["choices"][0]["message"]["tool_calls"], json!([call("b", "look")]));
        assert_eq!(
            (&both.reply["choices"][0]["finish_reason"], both.further.is_none()),
            (&json!("tool_calls"), true)
        );
        let alone = of(Value::Null, vec![call("a", TOOL), call("c", TOOL)]).unwrap().further.unwrap();
        assert_eq!((alone.len(), &alone[2]["tool_call_id"]), (3, &json!("c")));
        assert!(of(json!("Hi."), vec![call("b", "look")]).is_none() && of(json!("Hi."), vec![]).is_none());

        let of = |blocks: Value| {
            let reply = json!({"role": "assistant", "content": blocks, "stop_reason": "tool_use"});
            without_calls(reply.to_string().as_bytes(), ApiFormat::Anthropic)
        };
        let use_of = |id: &str, name: &str| json!({"type": "tool_use", "id": id, "name": name, "input": {}});
        let said = of(json!([{"type": "text", "text": "Hi."}, use_of("a", TOOL)])).unwrap();
        assert_eq!(said.reply["content"], json!([{"type": "text", "text": "Hi."}]));
        assert_eq!((&said.reply["stop_reason"], said.further.is_none()), (&json!("end_turn"), true));
        let alone = of(json!([use_of("a", TOOL)])).unwrap().further.unwrap();
        assert_eq!(alone[1]["content"][0]["tool_use_id"], "a");
        let both = of(json!([use_of("a", TOOL), use_of("b", "look")])).unwrap();
        assert_eq!((&both.reply["content"], both.further.is_none()), (&json!([use_of("b", "look")]), true));
        assert_eq!(both.reply["stop_reason"], "tool_use");
        assert!(of(json!([{"type": "text", "text": "Hi."}])).is_none());
        assert!(without_calls(b"no JSON", ApiFormat::OpenAi).is_none());
    }

    #[test]
    fn a_request_goes_on_behind_its_messages() {
        let request = r#"{"messages": [{"role": "user", "content": "]"}] , "x": 1}"#;
        let further = continued(request.as_bytes(), &[json!({"role": "tool"})]).unwrap();
        let expected = request.replace("}] ,", "},{\"role\":\"tool\"}] ,");
        assert_eq!(String::from_utf8(further).unwrap(), expected);
    }
}
