//! The protocol: versions, lists, errors, slow calls, and a stdout with nothing but messages.

use std::collections::BTreeSet;
use std::process::Stdio;

use serde_json::{Value, json};

use super::client::{Client, STORY, WITH_INITIALIZE, World};
use crate::program::with_input;

/// The current version: it has no handshake; each request carries what it needs.
const CURRENT: &str = "2026-07-28";

fn names(client: &mut Client) -> Vec<String> {
    client.tools().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

pub(super) fn current_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": CURRENT,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

#[test]
fn the_version_before_begins_with_a_greeting() {
    let world = World::new(STORY);
    let greeting = world.start(&["--agent", "alex"]).initialize(WITH_INITIALIZE);
    assert_eq!(greeting["protocolVersion"], WITH_INITIALIZE);
    assert_eq!(greeting["serverInfo"]["name"], "memories");
    assert_eq!(greeting["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
    for capability in ["tools", "resources", "prompts", "logging"] {
        assert!(greeting["capabilities"][capability].is_object(), "{greeting}");
    }
    assert!(greeting["instructions"].as_str().unwrap().contains("You are the agent `alex`"));
    // Older versions are spoken, too; for an unknown one, the newest with a handshake is offered.
    assert_eq!(world.start(&[]).initialize("2025-06-18")["protocolVersion"], "2025-06-18");
    assert_eq!(world.start(&[]).initialize("2099-01-01")["protocolVersion"], WITH_INITIALIZE);
}

#[test]
fn the_current_version_needs_no_greeting() {
    let world = World::new(STORY);
    let mut client = world.start(&["--agent", "alex"]);
    client.meta = Some(current_meta());
    let found = client.ask("server/discover", json!({})).unwrap();
    assert!(found["supportedVersions"].as_array().unwrap().contains(&json!(CURRENT)), "{found}");
    assert_eq!(client.tools().len(), 23);
    let result = client.call("query_self", json!({}));
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["structuredContent"]["memories"][0]["title"], "Who I am");
    let read = client.ask("resources/read", json!({"uri": "memories://scene"})).unwrap();
    assert!(read["contents"][0]["text"].as_str().unwrap().starts_with("## Scene"));
    let lost = client.ask("resources/read", json!({"uri": "memories://location/99"})).unwrap_err();
    assert_eq!(lost["code"], -32602);
    let (code, stderr) = client.leave();
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
}

#[test]
fn every_tool_says_what_it_takes_gives_and_does() {
    let world = World::new("");
    let mut client = world.serve(&["--agent", "alex"]);
    let mut titles = BTreeSet::new();
    for tool in client.tools() {
        let name = tool["name"].as_str().unwrap();
        assert!(titles.insert(tool["title"].as_str().unwrap().to_owned()), "{name}");
        assert!(!tool["description"].as_str().unwrap().is_empty(), "{name}");
        for (argument, schema) in tool["inputSchema"]["properties"].as_object().unwrap() {
            let about = schema["description"].as_str().unwrap_or_default();
            let says_more = about.len() > 4 && about.to_lowercase() != argument.replace('_', " ");
            assert!(says_more, "{name}: `{argument}` has the description `{about}`");
        }
        assert_eq!(
            (&tool["inputSchema"]["type"], &tool["outputSchema"]["type"]),
            (&json!("object"), &json!("object"))
        );
        let hints = &tool["annotations"];
        let expected = match name {
            "record_turn" | "reinforce_memory" => (false, Some(false), Some(false)),
            "form_memory" | "associate_memories" => (false, Some(false), Some(true)),
            "supersede_memory" | "invalidate_memory" => (false, Some(true), Some(true)),
            _ => (true, None, None),
        };
        let [reads, destroys, repeats] =
            ["readOnlyHint", "destructiveHint", "idempotentHint"].map(|hint| hints[hint].as_bool());
        assert_eq!((reads.unwrap(), destroys, repeats), expected, "{name}");
    }
}

#[test]
fn groups_and_read_only_leave_tools_out() {
    let world = World::new(STORY);
    let all: BTreeSet<String> = names(&mut world.serve(&["--agent", "alex"])).into_iter().collect();
    assert_eq!(all.len(), 23);
    let mut union = BTreeSet::new();
    for (group, count) in [("places", 8), ("self", 6), ("shaping", 5), ("recalling", 4), ("status", 1)] {
        let own = names(&mut world.serve(&["--agent", "alex", "--tools", group]));
        assert_eq!(own.len(), count, "{group}");
        union.extend(own);
    }
    assert_eq!(union, all);
    let mut reader = world.serve(&["--read-only"]);
    assert_eq!(names(&mut reader).len(), 14);
    let refused = reader.refuses("form_memory", json!({"content": "x"}));
    assert!(refused.starts_with("the tool `form_memory` is not offered here\nhint:"), "{refused}");
    let mut places = world.serve(&["--agent", "alex", "--tools", "places", "status"]);
    assert_eq!(names(&mut places).len(), 9);
    assert!(places.refuses("query_self", json!({})).contains("without the group `self`"));
    let before = world.text();
    for tool in
        ["record_turn", "supersede_memory", "invalidate_memory", "reinforce_memory", "associate_memories"]
    {
        reader.refuses(tool, json!({"title": "Trap door shuts", "reason": "x", "location": 23}));
    }
    assert_eq!(world.text(), before);
}

#[test]
fn an_unknown_tool_names_the_nearest() {
    let world = World::new(STORY);
    let mut client = world.serve(&[]);
    let refused = client.refuses("query_memorys", json!({}));
    assert!(
        refused.starts_with("there is no tool `query_memorys`\nhint: did you mean `query_memor"),
        "{refused}"
    );
    assert!(client.refuses("xyzzy", json!({})).contains("hint: there are get_location_memories"));
    let error = client.ask("no/such/method", json!({})).unwrap_err();
    assert_eq!(error["code"], -32601);
}

#[test]
fn a_wrong_command_line_is_told_on_stderr() {
    let world = World::new("");
    for (arguments, told) in [
        (&["--tools", "selfs"][..], "`selfs` is not a group of tools"),
        (&["--agent", "Alex Smith"], "is not an id"),
        (&["--provider", "replay"], "replay"),
    ] {
        let output = world.program().arg("mcp").args(arguments).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains(told) && stderr.contains("hint:") | stderr.contains("--help"), "{stderr}");
        assert!(output.stdout.is_empty() && output.status.code() != Some(0));
    }
    // Started at a keyboard without input, it prints nothing and reports no error.
    let output = world.program().arg("mcp").stdin(Stdio::null()).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len(), output.stderr.len()), (Some(0), 0, 0));
}

#[test]
fn a_client_may_leave_right_behind_its_last_request() {
    let world = World::new(STORY);
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params":
        {"name": "get_location_memories", "arguments": {"location": "23"}, "_meta": current_meta()}});
    for end in ["\n", "\r\n", ""] {
        let output = with_input(world.program().arg("mcp"), format!("{request}{end}"));
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["result"]["isError"], false, "{end:?}: {answer}");
    }
}

#[test]
fn resources_are_the_sections_as_they_are_now() {
    let world = World::new(STORY);
    let mut client = world.serve(&["--agent", "alex"]);
    let list = client.ask("resources/list", json!({})).unwrap();
    let uris: Vec<&str> = list["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|resource| resource["uri"].as_str().unwrap())
        .collect();
    let expected =
        ["memories://location/23", "memories://agent/alex", "memories://scene", "memories://dialogue"];
    assert_eq!(uris, expected);
    let templates = client.ask("resources/templates/list", json!({})).unwrap();
    assert_eq!(templates["resourceTemplates"][0]["uriTemplate"], "memories://location/{id}");
    let mut read = |uri: &str| client.ask("resources/read", json!({"uri": uri}));
    let place = read("memories://location/23").unwrap();
    assert_eq!(place["contents"][0]["mimeType"], "text/markdown");
    // Lines of texts are indented.
    let shown = place["contents"][0]["text"].as_str().unwrap();
    assert!(shown.contains("\n  ") && world.text().contains(&shown.replace("\n  ", "\n")), "{shown}");
    // A person edits the file, under another name first, as editors do.
    world.write("new.md", &world.text().replace("provides light source", "is broken"));
    std::fs::rename(world.path().join("new.md"), world.file()).unwrap();
    let place = read("memories://location/23").unwrap();
    assert!(place["contents"][0]["text"].as_str().unwrap().contains("is broken"));
    for lost in
        ["memories://location/99", "memories://agent/jordan", "memories://kitchen", "file:///etc/passwd"]
    {
        let error = read(lost).unwrap_err();
        assert_eq!(error["code"], -32002, "{lost}");
        assert!(error["message"].as_str().unwrap().contains("hint:"), "{error}");
    }
    assert!(client.says("query_memories", json!({"question": "brass lantern"})).contains("is broken"));
}

#[test]
fn a_long_list_of_resources_has_pages() {
    let text: String = (0..450).map(|id| format!("## Location {id}: Room {id}\n\n---\n\n")).collect();
    let world = World::new(&text);
    let mut client = world.serve(&[]);
    let mut seen = BTreeSet::new();
    let mut cursor: Option<Value> = None;
    loop {
        let params = cursor.take().map_or(json!({}), |cursor| json!({"cursor": cursor}));
        let page = client.ask("resources/list", params).unwrap();
        seen.extend(page["resources"].as_array().unwrap().iter().map(|resource| resource["uri"].to_string()));
        match page.get("nextCursor") {
            Some(next) => cursor = Some(next.clone()),
            None => break,
        }
    }
    assert_eq!(seen.len(), 450);
    assert_eq!(client.ask("resources/list", json!({"cursor": "soon"})).unwrap_err()["code"], -32602);
}

#[test]
fn prompts_are_filled_with_what_memory_says() {
    let world = World::new(STORY);
    let mut client = world.serve(&["--agent", "alex"]);
    let list = client.ask("prompts/list", json!({})).unwrap();
    let names: Vec<&Value> =
        list["prompts"].as_array().unwrap().iter().map(|prompt| &prompt["name"]).collect();
    assert_eq!(names, ["consult_memory_first", "explore_with_memory", "gifted_memories"]);
    let mut get = |name: &str, arguments: Value| {
        let result = client.ask("prompts/get", json!({"name": name, "arguments": arguments}));
        result.map(|result| result["messages"][0]["content"]["text"].as_str().unwrap().to_owned())
    };
    let bare = get("consult_memory_first", json!({})).unwrap();
    assert!(
        ["1. ", "2. ", "3. ", "4. ", "no relevant memories"].iter().all(|part| bare.contains(part)),
        "{bare}"
    );
    let filled = json!({"location": "23", "characters": "Jordan, Zoe", "situation": "\"flying saucers\""});
    let filled = get("consult_memory_first", filled).unwrap();
    assert!(filled.contains("Acquire brass lantern") && filled.contains("I love Italian food."), "{filled}");
    assert!(filled.contains("Zoe:\n   no relevant memories"), "{filled}");
    assert_eq!(filled.matches("no relevant memories").count(), 3, "{filled}");
    let nowhere = get("consult_memory_first", json!({"location": "99"})).unwrap();
    assert!(
        nowhere.contains("(`get_location_memories`, `check_action`)\n   no relevant memories\n"),
        "{nowhere}"
    );
    let explore = get("explore_with_memory", json!({"location": "Living Room"})).unwrap();
    assert!(explore.contains("`record_turn`") && explore.contains("Trap door shuts"), "{explore}");
    let gifted = get("gifted_memories", json!({})).unwrap();
    assert!(
        gifted.contains("- query_self, query_background, query_communication_style: who you are\n")
            && gifted.contains("ask who and where you are"),
        "{gifted}"
    );
    assert!(get("gifted", json!({})).unwrap_err()["message"].as_str().unwrap().contains("`gifted_memories`"));
    assert!(get("explore_with_memory", json!({"location": "Livin Room"})).is_err());
    // The prompt names only tools that are offered.
    let mut few = world.serve(&["--read-only", "--tools", "places"]);
    let prompt = few.ask("prompts/get", json!({"name": "explore_with_memory"})).unwrap().to_string();
    assert!(!prompt.contains("record_turn") && !prompt.contains("form_memory"), "{prompt}");
}

/// A model that answers only when something is written into a pipe.
pub(super) fn with_slow_model(world: &World) {
    let made = std::process::Command::new("mkfifo").arg(world.path().join("gate")).status().unwrap();
    assert!(made.success());
    world.write(
        "answer.json",
        "{\"should_remember\": true, \"category\": \"SUCCESS\", \"memory_title\": \"Case opens\", \
         \"memory_text\": \"The trophy case opens.\", \"reasoning\": \"it may score\"}",
    );
    let script = "cat > /dev/null; cat gate > /dev/null; cat answer.json";
    world.write(
        "memories.toml",
        &format!("[llm]\nprovider = \"command\"\ncommand = [\"sh\", \"-c\", \"{script}\"]\n"),
    );
}

pub(super) fn turn() -> Value {
    json!({"name": "record_turn", "arguments": {
        "location": "23", "action": "open case", "response": "The trophy case is open.", "score_before": 0, "score_after": 5,
    }})
}

#[test]
fn what_takes_long_tells_how_far_it_is_and_blocks_nobody() {
    let world = World::new(STORY);
    with_slow_model(&world);
    let mut client = world.serve(&[]);
    let mut params = turn();
    params["_meta"] = json!({"progressToken": "p1"});
    let id = client.request("tools/call", params);
    let note = client.receive();
    assert_eq!(note["method"], "notifications/progress", "{note}");
    assert_eq!(note["params"]["progressToken"], "p1");
    assert!(note["params"]["message"].as_str().unwrap().starts_with("asking "), "{note}");
    // The lock is not held, and another call is answered meanwhile: also one that writes.
    client.values("form_memory", json!({"content": "Written meanwhile.", "scope": "23"}));
    world.write("gate", "go\n");
    let result = client.answer_to(id).unwrap();
    assert_eq!(result["structuredContent"]["outcome"], "stored");
    let told: Vec<f64> = std::iter::once(&note)
        .chain(&client.notes)
        .filter(|note| note["method"] == "notifications/progress")
        .map(|note| note["params"]["progress"].as_f64().unwrap())
        .collect();
    assert!(told.len() >= 2 && told.windows(2).all(|two| two[0] < two[1]), "{told:?}");
    let text = world.text();
    assert!(text.contains("Case opens") && text.contains("Written meanwhile."), "{text}");
}

#[test]
fn a_cancelled_call_is_not_answered_and_what_it_began_is_written_whole() {
    let world = World::new(STORY);
    with_slow_model(&world);
    let mut client = world.serve(&[]);
    let mut params = turn();
    params["_meta"] = json!({"progressToken": 1});
    let id = client.request("tools/call", params);
    assert_eq!(client.receive()["method"], "notifications/progress");
    client.tell("notifications/cancelled", json!({"requestId": id, "reason": "the player left"}));
    // Nothing comes for that id, whatever else is asked; `answer_to` would panic.
    client.values("memory_status", json!({}));
    world.write("gate", "go\n");
    client.values("memory_status", json!({}));
    let (code, stderr) = client.leave();
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(world.text().contains("Case opens"));
}

#[test]
fn the_client_says_how_much_log_it_wants() {
    let world = World::new(STORY);
    let mut client = world.serve(&["--agent", "alex"]);
    client.says("query_self", json!({}));
    client.refuses("query_memories", json!({"question": ""}));
    assert_eq!(client.notes, Vec::<Value>::new());
    client.says("query_memories", json!({"question": "light", "answer": true}));
    let note = client.notes.pop().unwrap();
    assert_eq!(
        (&note["method"], &note["params"]["level"]),
        (&json!("notifications/message"), &json!("warning"))
    );
    client.ask("logging/setLevel", json!({"level": "debug"})).unwrap();
    client.says("query_self", json!({}));
    assert_eq!(client.notes.pop().unwrap()["params"]["level"], "debug");
    client.ask("logging/setLevel", json!({"level": "error"})).unwrap();
    client.says("query_memories", json!({"question": "light", "answer": true}));
    assert_eq!(client.notes, Vec::<Value>::new());
    assert!(client.ask("logging/setLevel", json!({"level": "loud"})).is_err());
    // In the current version logging is deprecated, and not offered.
    let mut client = world.start(&[]);
    let mut meta = current_meta();
    meta["io.modelcontextprotocol/logLevel"] = json!("info");
    client.meta = Some(meta);
    client.says("query_memories", json!({"question": "light", "answer": true}));
    client.refuses("query_memories", json!({"question": ""}));
    assert_eq!(client.notes, Vec::<Value>::new());
}

#[test]
fn what_is_no_message_ends_nothing() {
    let world = World::new(STORY);
    let mut client = world.serve(&[]);
    client.send(&json!("hello"));
    assert_eq!(client.receive()["error"]["code"], -32600);
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/unheard_of"}));
    assert_eq!(client.call("memory_status", json!({}))["isError"], false);
    let wrong =
        client.ask("tools/call", json!({"name": "query_memories", "arguments": "words"})).unwrap_err();
    assert!(wrong["code"].as_i64().unwrap() < 0);
    assert_eq!(client.call("memory_status", json!({}))["isError"], false);
}

#[test]
fn memory_that_is_switched_off_offers_nothing() {
    let world = World::new(STORY);
    world.write("memories.toml", "enabled = false\n");
    let mut client = world.serve(&[]);
    assert_eq!(names(&mut client), [""; 0]);
    for (method, list) in [("resources/list", "resources"), ("prompts/list", "prompts")] {
        assert_eq!(client.ask(method, json!({})).unwrap()[list], json!([]));
    }
    assert!(client.ask("resources/read", json!({"uri": "memories://scene"})).is_err());
    assert!(client.refuses("query_self", json!({})).contains("is not offered here"));
}

#[test]
fn a_line_that_is_no_json_is_passed_over_and_the_server_goes_on() {
    let world = World::new(STORY);
    let mut client = world.start(&[]);
    client.send_line(b"hello");
    assert_eq!(client.initialize(WITH_INITIALIZE)["serverInfo"]["name"], "memories");
    let deep = "[".repeat(100_000);
    let long = format!(r#"{{"jsonrpc":"2.0","id":8,"method":"ping","params":"{}"}}"#, "x".repeat(17 << 20));
    for line in [&b"hello"[..], b"\xff\xfe", b"{", b"", deep.as_bytes(), long.as_bytes()] {
        client.send_line(line);
        assert!(!client.tools().is_empty(), "the server answers the next request");
    }
    let lines: [(&[u8], i64, Value); 4] = [
        (br#"{"jsonrpc":"2.0","id":2.5,"method":"ping"}"#, -32600, Value::Null),
        (br#"{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}"#, -32600, Value::Null),
        (br#"{"jsonrpc":"2.0","id":"u","method":"no/such","params":{}}"#, -32601, json!("u")),
        (br#"{"jsonrpc":"2.0","id":"v","method":"tools/call","params":{"name":7}}"#, -32602, json!("v")),
    ];
    for (line, code, id) in lines {
        client.send_line(line);
        let answer = client.receive();
        let answered = answer.get("id").unwrap_or(&Value::Null);
        assert_eq!((&answer["error"]["code"], answered), (&json!(code), &id), "{answer}");
        assert!(!client.tools().is_empty(), "the server answers the next request");
    }
    let (code, stderr) = client.leave();
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
}
