//! Each method in each version of the protocol, on stdin and over HTTP: answered, removed, or what is wrong with it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::client::{STORY, World};
use super::http_client::{ADA, Server, answer_of};
use super::protocol::current_meta;

const HOUR: u64 = 60 * 60 * 1000;

/// The answers to a method: with parameters, with wrong ones, and with none, in the version before and in the current one.
struct Row {
    method: &'static str,
    parameters: Value,
    before: [i64; 3],
    current: [i64; 3],
}

const FINE: i64 = 0;
const UNKNOWN: i64 = -32601;
const WRONG: i64 = -32602;

fn row(method: &'static str, parameters: Value, before: [i64; 3], current: [i64; 3]) -> Row {
    Row { method, parameters, before, current }
}

fn rows() -> Vec<Row> {
    let needs = [FINE, WRONG, WRONG];
    let (always, never) = ([FINE; 3], [UNKNOWN; 3]);
    let place = || json!({"uri": "memories://location/23"});
    vec![
        row("ping", json!({}), always, never),
        row("logging/setLevel", json!({"level": "info"}), needs, never),
        row("resources/subscribe", place(), never, never),
        row("resources/unsubscribe", place(), never, never),
        row("subscriptions/listen", json!({"notifications": {}}), never, never),
        row("roots/list", json!({}), never, never),
        row("sampling/createMessage", json!({}), never, never),
        row(
            "completion/complete",
            json!({"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "a", "value": ""}}),
            never,
            never,
        ),
        row("tasks/get", json!({"taskId": "1"}), never, never),
        row("no/such", json!({}), never, never),
        row("tools/list", json!({}), always, always),
        row("resources/list", json!({}), always, always),
        row("resources/templates/list", json!({}), always, always),
        row("prompts/list", json!({}), always, always),
        row("tools/call", json!({"name": "memory_status"}), needs, needs),
        row("resources/read", place(), needs, needs),
        row("prompts/get", json!({"name": "consult_memory_first"}), needs, needs),
    ]
}

/// Asks for each row, and compares the codes. `ask` gets the method and the parameters.
fn try_all(is_current: bool, mut ask: impl FnMut(&str, Value) -> Value) {
    for Row { method, parameters, before, current } in rows() {
        let wrong = json!({"level": 9, "uri": 5, "name": [], "ref": 1, "notifications": 3, "taskId": {}});
        let expected = if is_current { current } else { before };
        for (parameters, code) in [parameters, wrong, json!({})].into_iter().zip(expected) {
            let answer = ask(method, parameters);
            assert_eq!(answer["error"]["code"].as_i64().unwrap_or(FINE), code, "{method}: {answer}");
            let message = answer["error"]["message"].as_str().unwrap_or_default();
            assert!(answer["error"].is_null() || message.contains(method), "{method}: {answer}");
            let says = ["missing field", "invalid type"].iter().any(|what| message.contains(what));
            assert_eq!(says, code == WRONG, "{answer}");
        }
    }
}

fn with_meta(mut parameters: Value) -> Value {
    parameters["_meta"] = current_meta();
    parameters
}

#[test]
fn on_stdin() {
    let world = World::new(STORY);
    let answer = |result: Result<Value, Value>| match result {
        Ok(result) => json!({"result": result}),
        Err(error) => json!({"error": error}),
    };
    let mut before = world.serve(&[]);
    try_all(false, |method, parameters| answer(before.ask(method, parameters)));
    let mut current = world.start(&[]);
    current.ask("tools/list", with_meta(json!({}))).unwrap();
    try_all(true, |method, parameters| answer(current.ask(method, with_meta(parameters))));

    let found = current.ask("server/discover", with_meta(json!({}))).unwrap();
    let offered: Vec<&String> = found["capabilities"].as_object().unwrap().keys().collect();
    assert_eq!(offered, ["prompts", "resources", "tools"]);
    let lists =
        ["server/discover", "tools/list", "prompts/list", "resources/templates/list", "resources/list"];
    let times: BTreeMap<&str, Value> = lists
        .iter()
        .map(|list| (*list, current.ask(list, with_meta(json!({}))).unwrap()["ttlMs"].clone()))
        .collect();
    // The list of sections changes with the file, whatever the client does.
    for (list, time) in times {
        assert_eq!(time, if list == "resources/list" { 0 } else { HOUR }, "{list}");
    }
    for list in ["tools/list", "resources/list"] {
        assert!(before.ask(list, json!({})).unwrap().get("ttlMs").is_none(), "{list}");
    }
}

#[test]
fn over_http() {
    let world = World::new(STORY);
    let server = Server::start(&world, &[]);
    let mut before = server.client(ADA);
    try_all(false, |method, parameters| answer_of(&before.send(method, parameters).text().unwrap()));
    let current = server.stranger(ADA);
    let post = |method: &str, parameters: Value| {
        let name =
            ["name", "uri", "taskId"].iter().find_map(|key| parameters.get(*key)).and_then(Value::as_str);
        let body =
            json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": with_meta(parameters.clone())});
        let request = current.request(reqwest::Method::POST).header("Content-Type", "application/json");
        let request = request.header("MCP-Protocol-Version", "2026-07-28").header("Mcp-Method", method);
        let request = match name {
            Some(name) => request.header("Mcp-Name", name),
            None => request,
        };
        answer_of(&request.body(body.to_string()).send().unwrap().text().unwrap())
    };
    try_all(true, post);
    let client = json!({"name": "test", "version": "1"});
    let greeting = json!({"protocolVersion": "2026-07-28", "capabilities": {}, "clientInfo": client});
    assert_eq!(post("initialize", greeting)["error"]["code"], UNKNOWN);
}
