//! The server over HTTP with several clients: versions, sessions, cancelled calls, and its end.

use std::sync::mpsc::channel;

use serde_json::{Value, json};

use super::client::{STORY, World};
use super::crowd::word;
use super::http_client::{ADA, BOB, PATIENCE, Server, answer_of, messages_of};
use super::protocol::{turn, with_slow_model};

#[test]
fn each_version_of_the_protocol_is_spoken() {
    let world = World::new(STORY);
    let server = Server::start(&world, &["--agent", "alex", "--read-only", "--tools", "status"]);
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = server.stranger(ADA);
        assert_eq!(client.initialize(version)["protocolVersion"], version);
        let tools = client.ask("tools/list", json!({}))["result"]["tools"].clone();
        assert_eq!((tools[0]["name"].as_str(), tools[1].is_null()), (Some("memory_status"), true));
        assert_eq!(client.values("memory_status", json!({}))["agent"], "alex");
        assert!(client.request(reqwest::Method::DELETE).send().unwrap().status().is_success());
        assert_eq!(client.send("ping", json!({})).status(), 404);
    }
    // Since this version each request says all that is needed, and there are no sessions.
    let current = "2026-07-28";
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "memory_status", "arguments": {},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": current,
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    }});
    let request =
        server.stranger(BOB).request(reqwest::Method::POST).header("Content-Type", "application/json");
    let request = request.header("MCP-Protocol-Version", current).header("Mcp-Method", "tools/call");
    let response = request.header("Mcp-Name", "memory_status").body(body.to_string()).send().unwrap();
    assert!(!response.headers().contains_key("mcp-session-id"));
    let answer: Value = response.json().unwrap();
    assert_eq!(answer["result"]["structuredContent"]["agent"], "alex", "{answer}");
}

#[test]
fn a_session_is_of_the_client_who_began_it() {
    let world = World::new(STORY);
    let server = Server::start(&world, &[]);
    let (mut ada, mut bob) = (server.client(ADA), server.client(BOB));
    let mut thief = ada.clone();
    thief.token = BOB.to_owned();
    assert_eq!(thief.send("ping", json!({})).status(), 404);
    assert_eq!(thief.request(reqwest::Method::DELETE).send().unwrap().status(), 404);
    assert_eq!(thief.request(reqwest::Method::GET).send().unwrap().status(), 404);
    // Both write and read one file, and each sees at once what the other one wrote.
    let at = |title: &str, content: &str| json!({"content": content, "scope": "24", "title": title});
    ada.values("form_memory", at("Kitchen sack", "The sack smells of hot peppers."));
    bob.values("form_memory", at("Kitchen window", "The window opens to the garden path."));
    for client in [&mut ada, &mut bob] {
        let found =
            client.values("query_memories", json!({"question": "what is in the kitchen?"})).to_string();
        assert!(found.contains("Kitchen sack") && found.contains("Kitchen window"), "{found}");
    }
    // Each wrote in the name of its token.
    let line = |title: &str| {
        let text = world.text();
        let (_, entry) = text.split_once(&format!("{title}**")).unwrap();
        entry.lines().next().unwrap().to_owned()
    };
    assert!(line("Kitchen sack").contains("#by:ada") && line("Kitchen window").contains("#by:bob"));
    let said = bob.values("form_memory", at("Sack", "The sack smells of hot peppers."));
    assert_eq!(said["outcome"], "confirmed", "{said}");
    assert!(line("Kitchen sack").contains("#by:ada, #by:bob"), "{}", line("Kitchen sack"));
    // The level of the log is that of a session.
    assert!(ada.ask("logging/setLevel", json!({"level": "debug"})).get("error").is_none());
    let stream = |client: &super::http_client::Client| client.request(reqwest::Method::GET).send().unwrap();
    let (of_ada, of_bob) = (stream(&ada), stream(&bob));
    for client in [&mut ada, &mut bob] {
        client.values("memory_status", json!({}));
    }
    server.signal("-TERM");
    let notes = messages_of(&of_ada.text().unwrap());
    assert!(notes.iter().any(|note| note["params"]["level"] == "debug"), "{notes:?}");
    assert_eq!(messages_of(&of_bob.text().unwrap()), Vec::<Value>::new());
    assert_eq!(server.end(), (Some(0), String::new()));
}

#[test]
fn a_cancelled_call_is_not_answered_and_what_it_began_is_written_whole() {
    let world = World::new(STORY);
    with_slow_model(&world);
    let server = Server::start(&world, &[]);
    let mut client = server.client(ADA);
    let other = client.clone();
    let mut params = turn();
    params["_meta"] = json!({"progressToken": 1});
    let running = client.send("tools/call", params);
    let mut stream = std::io::BufReader::new(running);
    let mut line = String::new();
    while !line.contains("notifications/progress") {
        line.clear();
        assert_ne!(std::io::BufRead::read_line(&mut stream, &mut line).unwrap(), 0);
    }
    let cancelled = json!({"requestId": client.last(), "reason": "the player left"});
    assert_eq!(other.tell("notifications/cancelled", cancelled).status(), 202);
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut stream, &mut rest).unwrap();
    assert!(messages_of(&rest).iter().all(|message| message.get("result").is_none()), "{rest}");
    // The server goes on, also for others.
    client.values("memory_status", json!({}));
    server.client(BOB).values("form_memory", json!({"content": "Written meanwhile.", "scope": "23"}));
    world.write("gate", "go\n");
    server.signal("-TERM");
    assert_eq!(server.end(), (Some(0), String::new()));
    let text = world.text();
    assert!(text.contains("Case opens") && text.contains("Written meanwhile."), "{text}");
}

#[test]
fn a_call_that_runs_when_the_server_ends_is_answered() {
    let world = World::new(STORY);
    with_slow_model(&world);
    let server = Server::start(&world, &[]);
    let mut client = server.client(ADA);
    let silent = client.clone();
    let standing = client.request(reqwest::Method::GET).send().unwrap();
    let mut params = turn();
    params["_meta"] = json!({"progressToken": 1});
    let running = client.send("tools/call", params);
    let mut stream = std::io::BufReader::new(running);
    let mut line = String::new();
    while !line.contains("notifications/progress") {
        line.clear();
        assert_ne!(std::io::BufRead::read_line(&mut stream, &mut line).unwrap(), 0);
    }
    server.signal("-TERM");
    world.write("gate", "go\n");
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut stream, &mut rest).unwrap();
    assert_eq!(answer_of(&rest)["result"]["structuredContent"]["outcome"], "stored", "{rest}");
    drop(standing.text());
    assert_eq!(server.end(), (Some(0), String::new()));
    assert!(world.text().contains("Case opens"));
    assert!(silent.request(reqwest::Method::POST).send().is_err(), "nobody listens any more");
}

#[test]
fn what_was_answered_is_in_the_file_whenever_the_server_ends() {
    const CLIENTS: usize = 8;
    for (round, signal) in ["-TERM", "-KILL"].into_iter().enumerate() {
        let world = World::new(STORY);
        let server = Server::start(&world, &[]);
        let (begins, has_begun) = channel();
        let clients: Vec<_> = (0..CLIENTS).map(|number| server.client([ADA, BOB][number % 2])).collect();
        let stored: Vec<String> = std::thread::scope(|scope| {
            let writers: Vec<_> = clients
                .iter()
                .enumerate()
                .map(|(number, client)| {
                    let begins = begins.clone();
                    scope.spawn(move || {
                        let mut stored = Vec::new();
                        for write in 0.. {
                            let title = format!("Round {round} of {number} number {write}");
                            let content = word(write * CLIENTS + number);
                            let memory = json!({"content": content, "scope": "24", "title": title});
                            let call = json!({"jsonrpc": "2.0", "id": write, "method": "tools/call",
                                "params": {"name": "form_memory", "arguments": memory}});
                            let request = client.request(reqwest::Method::POST);
                            let request = request.header("Content-Type", "application/json");
                            let Ok(response) = request.body(call.to_string()).send() else { return stored };
                            let Ok(body) = response.text() else { return stored };
                            if body.contains("\"outcome\":\"stored\"") {
                                stored.push(title);
                            } else {
                                // The answer broke off, or says that the server ends.
                                return stored;
                            }
                            if stored.len() == 3 {
                                let _ = begins.send(());
                            }
                        }
                        stored
                    })
                })
                .collect();
            drop(begins);
            let _ = has_begun.recv_timeout(PATIENCE);
            server.signal(signal);
            writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
        });
        let (code, stderr) = server.end();
        assert_eq!(code, (signal == "-TERM").then_some(0), "{stderr}");
        let text = world.text();
        let lost: Vec<&String> = stored.iter().filter(|title| !text.contains(&format!("{title}*"))).collect();
        assert!(stored.len() > 2 && lost.is_empty(), "{signal}: {lost:?} of {}", stored.len());
        assert_eq!(world.program().arg("check").output().unwrap().status.code(), Some(0));
    }
}
