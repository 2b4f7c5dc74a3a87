//! Requests with memories inserted: no message is lost, moved or changed; inserting twice gives the same.

use memories::chat::api_format::ApiFormat;
use memories::chat::inject::block::{BlockStyle, InjectMode, InjectedMemory, find_block, is_block, render};
use memories::chat::inject::request::insert_block;
use memories::types::{Category, Memory, Scope};
use proptest::prelude::*;
use serde_json::{Value, json};
use strum::VariantArray;

fn told() -> impl Strategy<Value = Vec<InjectedMemory>> {
    let text = prop::sample::select(vec![
        "The gate is open.",
        "a\n</memories>\n\nb",
        "<memories>\n1. x",
        "é \" \\ {{age}}",
        "",
    ]);
    let one = (text.clone(), text).prop_map(|(summary, context)| InjectedMemory {
        scope: Scope::World,
        name: String::new(),
        memory: Memory::new(Category::note(), "", ""),
        category: "NOTE".to_owned(),
        importance: 5,
        age: "today".to_owned(),
        summary: summary.to_owned(),
        context: context.to_owned(),
    });
    prop::collection::vec(one, 1..4)
}

fn content() -> impl Strategy<Value = Value> {
    let text = prop::sample::select(vec![
        "Hello",
        "",
        "é\u{1F600}\n\n",
        "<memories>\nmine\n</memories>",
        "\n\nx </memories>\n\n",
        "\\ \" / \u{7}",
    ]);
    let part = prop_oneof![
        text.clone().prop_map(|text| json!({"type": "text", "text": text})),
        Just(json!({"type": "image_url", "image_url": {"url": "u"}})),
        Just(json!({"type": "tool_result", "tool_use_id": "t", "content": "x"})),
        Just(json!({"type": "text", "text": "kept", "cache_control": {"type": "ephemeral"}})),
    ];
    prop_oneof![
        4 => text.prop_map(Value::from),
        2 => prop::collection::vec(part, 0..3).prop_map(Value::from),
        1 => Just(Value::Null),
    ]
}

fn message() -> impl Strategy<Value = Value> {
    let role = prop::sample::select(vec!["user", "assistant", "system", "tool", "developer"]);
    (role, content(), any::<bool>()).prop_map(|(role, content, unknown)| {
        if unknown {
            json!({"x_unknown": {"deep": [1.0, null]}, "role": role, "content": content})
        } else {
            json!({"role": role, "content": content})
        }
    })
}

fn request() -> impl Strategy<Value = String> {
    let text = content().prop_filter("null is no instruction", |content| !content.is_null());
    let system = prop_oneof![Just(None), text.prop_map(Some)];
    (prop::collection::vec(message(), 1..6), system, any::<bool>()).prop_map(|(messages, system, pretty)| {
        let mut request = json!({"model": "m", "messages": messages, "temperature": 1.0});
        if let Some(system) = system {
            request["system"] = system;
        }
        let text =
            if pretty { serde_json::to_string_pretty(&request) } else { serde_json::to_string(&request) };
        // JSON as another program writes it: other escapes, and a number that no double holds.
        text.unwrap()
            .replace('é', "\\u00e9")
            .replace("\"temperature\"", "\"n\":12345678901234567890123, \"temperature\"")
    })
}

fn mode() -> impl Strategy<Value = InjectMode> {
    prop::sample::select(InjectMode::VARIANTS)
}

/// A content without inserted blocks.
fn bare(content: &Value) -> Value {
    match content {
        Value::String(text) => {
            let mut text = text.clone();
            if let Some(found) = find_block(&text) {
                text.replace_range(found, "");
            }
            Value::from(text)
        }
        Value::Array(parts) => {
            let ours = |part: &&Value| part["text"].as_str().is_some_and(is_block);
            parts.iter().filter(|part| !ours(part)).cloned().collect()
        }
        other => other.clone(),
    }
}

/// The messages and instructions without blocks, and without the messages that are only a block.
fn without(request: &str) -> (Vec<Value>, Value) {
    let value: Value = serde_json::from_str(request).unwrap();
    let whole = |message: &&Value| message["content"].as_str().is_some_and(is_block);
    let messages = value["messages"].as_array().unwrap().iter().filter(|message| !whole(message));
    let messages = messages.map(|message| {
        let mut message = message.clone();
        message["content"] = bare(&message["content"]);
        message
    });
    (messages.collect(), bare(&value["system"]))
}

proptest! {
    #![proptest_config(crate::cases(512))]

    #[test]
    fn no_message_is_lost_moved_or_changed_and_twice_is_once(
        request in request(), told in told(), mode in mode(), other in mode(), anthropic in any::<bool>(),
    ) {
        let shape = Some(if anthropic { ApiFormat::Anthropic } else { ApiFormat::OpenAi });
        let style = BlockStyle::default();
        let block = render(&told, &style);
        prop_assert!(is_block(&block), "{block}");
        let put = |request: &str, mode| String::from_utf8(insert_block(request.as_bytes(), &block, mode, shape).unwrap()).unwrap();
        let once = put(&request, mode);
        let (before, after) = (without(&request), without(&once));
        prop_assert_eq!(&before.0, &after.0);
        if !before.1.is_null() {
            prop_assert_eq!(&before.1, &after.1);
        }
        prop_assert_eq!(once.matches(r"1. [NOTE, importance=5, today]").count(), 1);
        prop_assert!(once.contains("12345678901234567890123, \"temperature\""));
        prop_assert_eq!(put(&once, mode), once.clone(), "twice is once");
        prop_assert_eq!(put(&put(&once, other), mode), once, "another mode leaves nothing behind");
    }
}
