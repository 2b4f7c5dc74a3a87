//! The tool `remember`, which the model is offered and the client never sees.

use super::*;
use crate::server::completion;

fn call(name: &str) -> Value {
    json!({"id": format!("call-{name}"), "type": "function", "function": {"name": name, "arguments": "{\"summary\":\"x\"}"}})
}

/// A reply that says a text and calls tools.
fn calling(content: Value, names: &[&str]) -> Behaviour {
    let mut reply = completion(content, "tool_calls");
    reply["choices"][0]["message"]["tool_calls"] = names.iter().map(|name| call(name)).collect();
    Behaviour::json(200, reply)
}

/// The reply to a chat in the mode in which the model decides what is kept.
fn ask(proxy: &Proxy, question: &Value) -> Value {
    let reply = proxy.chat(question).header("X-Memories-Extraction", "llm_triggered").send().unwrap();
    assert_eq!(reply.status(), 200);
    reply.json().unwrap()
}

fn names_of(tools: &Value) -> Vec<&str> {
    tools.as_array().into_iter().flatten().filter_map(|tool| tool["function"]["name"].as_str()).collect()
}

#[test]
fn the_model_is_offered_the_tool_and_the_client_sees_no_call_of_it() {
    let upstream = Server::start(vec![calling(json!("Hello."), &["remember"])]);
    let proxy = Proxy::before(&upstream.base_url());
    let reply = ask(&proxy, &question());
    assert_eq!(
        reply["choices"][0]["message"],
        json!({"role": "assistant", "content": "Hello.", "refusal": null})
    );
    assert_eq!(reply["choices"][0]["finish_reason"], "stop");
    let requests = upstream.requests();
    assert_eq!((requests.len(), names_of(&requests[0].body["tools"])), (1, vec!["remember"]));
    assert_eq!(requests[0].body["woven"], true, "memories are there, too");
    let (_, request, message) = proxy.told();
    assert_eq!((request, &message["tool_calls"]), (question(), &json!([call("remember")])));
}

#[test]
fn a_model_that_only_remembers_is_asked_to_go_on() {
    let upstream = Server::start(vec![calling(Value::Null, &["remember"]), Behaviour::says("Hello.")]);
    let proxy = Proxy::before(&upstream.base_url());
    let request = proxy.chat(&question()).header("X-Memories-Extraction", "llm_triggered");
    let reply: Value = request.header("Authorization", "Bearer sk-key").send().unwrap().json().unwrap();
    assert_eq!(reply["choices"][0]["message"]["content"], "Hello.");
    let requests = upstream.requests();
    let messages = requests[1].body["messages"].as_array().unwrap();
    assert_eq!((requests.len(), messages.len()), (2, 3));
    assert_eq!(messages[2], json!({"role": "tool", "tool_call_id": "call-remember", "content": "Noted."}));
    assert_eq!(requests[1].header("authorization"), Some("Bearer sk-key"));
    assert_eq!(requests[1].header("x-memories-extraction"), None);
    assert_eq!(proxy.told().2["tool_calls"], json!([call("remember")]));
    // Once, whatever it does then.
    let stubborn = Server::start(vec![calling(Value::Null, &["remember"])]);
    let proxy = Proxy::before(&stubborn.base_url());
    let reply = ask(&proxy, &question());
    assert!(reply["choices"][0]["message"]["tool_calls"].is_null(), "{reply}");
    assert_eq!(stubborn.requests().len(), 2);
    // The client gets the server's reply to the second request.
    let broke = Server::start(vec![calling(Value::Null, &["remember"]), Behaviour::error(429, "slow down")]);
    let proxy = Proxy::before(&broke.base_url());
    let refused = proxy.chat(&question()).header("X-Memories-Extraction", "llm_triggered").send().unwrap();
    assert_eq!(refused.status(), 429);
}

#[test]
fn the_clients_own_tools_stay_its_own() {
    let upstream = Server::start(vec![calling(Value::Null, &["look", "remember"])]);
    let proxy = Proxy::before(&upstream.base_url());
    let mut with_tool = question();
    with_tool["tools"] = json!([call("look")]);
    let reply = ask(&proxy, &with_tool);
    assert_eq!(reply["choices"][0]["message"]["tool_calls"], json!([call("look")]));
    assert_eq!(reply["choices"][0]["finish_reason"], "tool_calls");
    assert_eq!(names_of(&upstream.requests()[0].body["tools"]), ["look", "remember"]);
    with_tool["tools"] = json!([call("remember")]);
    let reply = ask(&proxy, &with_tool);
    assert_eq!(reply["choices"][0]["message"]["tool_calls"], json!([call("look"), call("remember")]));
    assert_eq!(upstream.requests()[1].body["tools"], with_tool["tools"], "it has one of that name");
}

#[test]
fn streams_and_other_modes_get_no_tool() {
    let piece = format!("data: {}\n\n", json!({"choices": [{"delta": {"content": "One"}}]}));
    let pieces = vec![piece, "data: [DONE]\n\n".to_owned()];
    let upstream = Server::start(vec![Behaviour::Stream(pieces.clone(), None)]);
    let proxy = Proxy::before(&upstream.base_url());
    let mut streamed = question();
    streamed["stream"] = json!(true);
    let request = proxy.chat(&streamed).header("X-Memories-Extraction", "llm_triggered");
    assert_eq!(request.send().unwrap().text().unwrap(), pieces.concat());
    let plain = Server::start(vec![Behaviour::says("Hello.")]);
    let before = Proxy::before(&plain.base_url());
    let _ = before.chat(&question()).send().unwrap().text().unwrap();
    for requests in [upstream.requests(), plain.requests()] {
        assert!(requests[0].body["tools"].is_null());
    }
}

/// A server that answers something else than it should gets passed on as it is.
#[test]
fn what_is_no_reply_of_a_model_passes_by_untouched() {
    for (status, body) in [(200, "no JSON"), (200, "{\"choices\": []}"), (500, "{\"error\": 1}")] {
        let upstream = Server::start(vec![Behaviour::text(status, body)]);
        let proxy = Proxy::before(&upstream.base_url());
        let reply = proxy.chat(&question()).header("X-Memories-Extraction", "llm_triggered").send().unwrap();
        assert_eq!((reply.status().as_u16(), reply.text().unwrap()), (status, body.to_owned()));
    }
    let upstream = Server::start(vec![Behaviour::Close]);
    let proxy = Proxy::before(&upstream.base_url());
    let reply = proxy.chat(&question()).header("X-Memories-Extraction", "llm_triggered").send().unwrap();
    assert_eq!(reply.status(), 502);
}
