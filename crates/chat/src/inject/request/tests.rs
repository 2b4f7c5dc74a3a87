//! Requests with a block, by the byte.

use super::*;

const BLOCK: &str = "<memories>\n1. \"A\" é\n</memories>";

fn put(request: &str, mode: InjectMode) -> String {
    let block = ModelText::framed(BLOCK);
    String::from_utf8(insert_block(request.as_bytes(), &block, mode, None).expect("a request")).expect("text")
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
    let part = format!(",{}", part(BLOCK, ApiFormat::OpenAi));
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
    let part = format!("{},", part(BLOCK, ApiFormat::OpenAi));
    check(
        mode,
        r#"{"messages":[{"role":"user","content":[ ⟨⟩{"type":"image_url","image_url":{"url":"u"}}]}]}"#,
        &part,
    );
}

#[test]
fn behind_what_is_cached() {
    let mode = InjectMode::Auto;
    let part = |format| part(BLOCK, format);
    let mark = r#""cache_control":{"type":"ephemeral"}"#;
    let with_mark = |marked: &str| marked.replace("⟨M⟩", mark);
    let last = format!(",{}", part(ApiFormat::Anthropic));
    check(
        mode,
        &with_mark(
            r#"{"tools":[{"name":"n",⟨M⟩}],"messages":[{"role":"user","content":[{"type":"text","text":"a",⟨M⟩}]},{"role":"assistant","content":"b"},{"role":"user","content":[{"type":"text","text":"c",⟨M⟩}⟨⟩]}],"system":[{"type":"text","text":"s",⟨M⟩}]}"#,
        ),
        &last,
    );
    check(
        mode,
        &with_mark(
            r#"{"system":"s","messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"x",⟨M⟩}]}⟨⟩]}]}"#,
        ),
        &last,
    );
    let gap = format!("{}\\n\\n", text());
    check(
        mode,
        &with_mark(r#"{"messages":[{"role":"system","content":"s",⟨M⟩},{"role":"user","content":"⟨⟩a"}]}"#),
        &gap,
    );
    check(
        mode,
        r#"{"messages":[{"role":"system","content":"s"},{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"⟨⟩c"}]}"#,
        &gap,
    );
    let message = format!(",{{\"role\":\"user\",\"content\":\"{}\"}}", text());
    check(
        mode,
        &with_mark(r#"{"messages":[{"role":"system","content":"s"},{"role":"user","content":"a",⟨M⟩}⟨⟩]}"#),
        &message,
    );
}

#[test]
fn requests_of_the_responses_api() {
    let mode = InjectMode::Auto;
    let gap = format!("\\n\\n{}", text());
    let new = format!("\"instructions\":\"{}\",", text());
    check(mode, r#"{⟨⟩"model":"m","input":"Hi"}"#, &new);
    check(mode, r#"{"input":"Hi","instructions":"Be kind.⟨⟩","previous_response_id":"r"}"#, &gap);
    check(
        mode,
        r#"{"instructions":"s⟨⟩","input":[{"type":"function_call_output","call_id":"c","output":"x"}]}"#,
        &gap,
    );
    check(
        mode,
        r#"{"instructions":"s⟨⟩","conversation":"c","input":[{"type":"function_call_output","call_id":"c","output":"x"},{"role":"user","content":"a"}]}"#,
        &gap,
    );
    let first = format!("{},", part(BLOCK, ApiFormat::Responses));
    check(
        mode,
        r#"{"instructions":"s","input":[{"role":"user","content":"a"},{"type":"reasoning","id":"r","summary":[]},{"type":"message","role":"user","content":[⟨⟩{"type":"input_text","text":"b"}]},{"type":"function_call","call_id":"c","name":"n","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"x"}]}"#,
        &first,
    );
    let last = format!(",{}", part(BLOCK, ApiFormat::Responses));
    check(
        mode,
        r#"{"instructions":"s","input":[{"role":"user","content":[{"type":"input_text","text":"b","prompt_cache_breakpoint":{"mode":"explicit"}}⟨⟩]}]}"#,
        &last,
    );
    let before = format!("{}\\n\\n", text());
    check(InjectMode::UserPrefix, r#"{"input":"⟨⟩Hi"}"#, &before);
    check(InjectMode::ContextMessage, r#"{"input":"⟨⟩Hi"}"#, &before);
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
    assert_eq!(problem(r#"{"input": 7}"#), "its `input` is not a list");
    assert_eq!(problem(r#"{"messages": [7]}"#), "its message 1 is not an object");
}
