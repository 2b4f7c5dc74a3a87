//! Requests that are refused: of web pages, of strangers, too long, too slow, or no message.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::client::{STORY, World};
use super::http_client::{ADA, BOB, PATIENCE, Server, TOKENS};

/// A `ping` with these headers; the connection ends after it.
fn ping(headers: &str) -> String {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    let length = body.len();
    format!("POST /mcp HTTP/1.1\r\n{headers}Connection: close\r\nContent-Length: {length}\r\n\r\n{body}")
}

#[test]
fn a_page_of_another_site_and_a_caller_without_a_token_reach_nothing() {
    let world = World::new(STORY);
    let server = Server::start(&world, &["--host", "memories.example"]);
    let own = server.address;
    let json_type = "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n";
    let right = format!("{json_type}Authorization: Bearer {ADA}\r\n");
    let attempts = [
        // The name of the page's own server, which now has this machine's address.
        (403, ping(&format!("Host: evil.example:{}\r\n{right}", own.port()))),
        (403, ping(&format!("Host: {own}\r\nOrigin: http://evil.example\r\n{right}"))),
        (403, ping(&format!("Host: {own}\r\nOrigin: null\r\n{right}"))),
        (403, ping(&format!("Host: {own}\r\nSec-Fetch-Site: cross-site\r\n{right}"))),
        (400, ping(&right)),
        (415, ping(&format!("Host: {own}\r\nContent-Type: text/plain\r\nAuthorization: Bearer {ADA}\r\n"))),
        (401, ping(&format!("Host: {own}\r\n{json_type}"))),
        (401, ping(&format!("Host: {own}\r\n{json_type}Authorization: Bearer {ADA}x\r\n"))),
        (401, ping(&format!("Host: {own}\r\n{json_type}Authorization: Bearer ada={ADA}\r\n"))),
        (401, ping(&format!("Host: {own}\r\n{json_type}Authorization: Basic {ADA}\r\n"))),
        (401, ping(&format!("Host: {own}\r\n{json_type}X-Memories-Token: {ADA}\r\n"))),
        (401, ping(&format!("Host: {own}\r\n{right}Authorization: Bearer {BOB}\r\n"))),
        (404, ping(&format!("Host: {own}\r\n{right}")).replace("/mcp", "/")),
        (404, ping(&format!("Host: {own}\r\n{right}Mcp-Session-Id: 1\r\n"))),
        (405, ping(&format!("Host: {own}\r\n{right}")).replace("POST", "PUT")),
        (405, ping(&format!("Host: {own}\r\n{right}")).replace("POST", "OPTIONS")),
        (401, format!("GET /mcp HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\n\r\n")),
        (401, format!("DELETE /mcp HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\n\r\n")),
    ];
    for (expected, attempt) in attempts {
        let (status, head, body) = server.raw(&attempt);
        assert_eq!(status, expected, "{attempt}\n{body}");
        assert!(!head.contains("access-control-"), "{head}");
        assert_eq!(head.contains("www-authenticate: bearer"), status == 401, "{head}");
        if status != 405 {
            let answer: Value = serde_json::from_str(&body).unwrap();
            assert_eq!((&answer["jsonrpc"], &answer["error"]["code"]), (&json!("2.0"), &json!(-32600)));
        }
        assert!(!body.contains(ADA) && !body.contains(BOB), "{body}");
    }
    for host in [own.to_string(), format!("localhost:{}", own.port()), "memories.example".to_owned()] {
        let (status, _, body) = server.raw(&ping(&format!("Host: {host}\r\n{right}")));
        // It is let in: what is missing is the session.
        assert!(status == 400 && body.contains("Session ID"), "{status} {body}");
        let health = format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        assert_eq!(server.raw(&health).2, "{\"version\":1,\"status\":\"ok\"}");
    }
    server.signal("-INT");
    assert_eq!(server.end(), (Some(0), String::new()));
}

#[test]
fn what_is_no_message_is_refused() {
    let world = World::new(STORY);
    let server = Server::start(&world, &[]);
    let mut client = server.client(ADA);
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":6,"method":"x","params":{{"a":{}{}}}}}"#,
        "[".repeat(200),
        "]".repeat(200)
    );
    for body in ["", "hello", "{", "[]", &deep, r#"{"jsonrpc":"1.0","id":5,"method":"ping"}"#] {
        assert_eq!(client.post(body.to_owned()).status(), 415, "{body}");
    }
    assert_eq!(client.post(b"\xff".to_vec()).status(), 415);
    let notification = client.post(r#"{"jsonrpc":"2.0","method":"$/unknown","params":{}}"#);
    assert_eq!((notification.status().as_u16(), notification.text().unwrap().as_str()), (202, ""));
    assert_eq!(client.ask("tools/call", json!({"name": 7}))["error"]["code"], -32602);
    assert_eq!(client.ask("no/such", json!({}))["error"]["code"], -32601);
    let many =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":[1{}]}}}}"#, ",1".repeat(600_000));
    assert_eq!(client.post(many).status(), 413);
    let long =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":"{}"}}}}"#, "x".repeat(15 << 20));
    assert_eq!(client.post(long).status(), 200);
    assert!(client.values("memory_status", json!({}))["exists"].as_bool().unwrap(), "the session goes on");
}

#[test]
fn bodies_have_a_limit_and_requests_their_time() {
    let world = World::new(STORY);
    let server = Server::start(&world, &[]);
    let head = |length: &str| {
        format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {ADA}\r\nAccept: application/json, \
             text/event-stream\r\nContent-Type: application/json\r\n{length}\r\nConnection: close\r\n\r\n",
            server.address
        )
    };
    let (status, _, body) = server.raw(&head(&format!("Content-Length: {}", 17 << 20)));
    assert!(status == 413 && body.contains("16 MiB"), "{status} {body}");
    // Without a length, the limit holds while the body comes.
    let stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    (&stream).write_all(head("Transfer-Encoding: chunked").as_bytes()).unwrap();
    let chunk = format!("100000\r\n{}\r\n", "x".repeat(1 << 20));
    // The server may end the connection before it has taken all.
    let _ = (0..17).try_for_each(|_| (&stream).write_all(chunk.as_bytes()));
    let mut answer = Vec::new();
    let _ = (&stream).read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 413 "), "{answer}");
    // A head that never ends costs its caller the connection.
    let mut slow = TcpStream::connect(server.address).unwrap();
    slow.set_read_timeout(Some(PATIENCE)).unwrap();
    slow.write_all(b"POST /mcp HTTP/1.1\r\nHost: ").unwrap();
    let mut rest = Vec::new();
    slow.read_to_end(&mut rest).unwrap();
    let mut client = server.client(BOB);
    assert_eq!(client.values("memory_status", json!({}))["exists"], true);
}

#[test]
fn without_a_token_only_this_machine_gets_in_and_is_told_so() {
    let world = World::new(STORY);
    let server = Server::by(world.program(), &[]);
    let mut client = server.client("anything");
    assert_eq!(client.values("memory_status", json!({}))["exists"], true);
    server.signal("-TERM");
    let (code, stderr) = server.end();
    assert_eq!(code, Some(0));
    assert!(stderr.contains("warning: ") && stderr.contains("every user of this machine"), "{stderr}");
    for address in ["0.0.0.0:0", "[::]:0"] {
        let refused = world.program().args(["mcp", "--http", address]).output().unwrap();
        let stderr = String::from_utf8_lossy(&refused.stderr);
        assert!(refused.status.code() == Some(2) && stderr.contains("MEMORIES_MCP_TOKEN"), "{stderr}");
    }
}

#[test]
fn tokens_are_nowhere_to_be_seen() {
    let world = World::new(STORY);
    for (tokens, told) in [("short", "fewer than 16"), ("a=0123456789abcdef 0123456789abcdeg", "no name")] {
        let mut program = world.program();
        program.env("MEMORIES_MCP_TOKEN", tokens).args(["mcp", "--http", "127.0.0.1:0"]);
        let refused = program.output().unwrap();
        let stderr = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(4), "{stderr}");
        assert!(
            stderr.contains(told) && !stderr.contains("0123456789") && !stderr.contains("short"),
            "{stderr}"
        );
    }
    let mut program = world.program();
    program.env("MEMORIES_MCP_TOKEN", TOKENS);
    let server = Server::by(program, &["-v", "--agent", "alex"]);
    let mut client = server.client(ADA);
    let arguments = json!({"content": "The lamp is brass.", "title": "Lamp"});
    client.values("form_memory", arguments);
    server.signal("-TERM");
    let (_, stderr) = server.end();
    assert!(!stderr.contains(ADA), "{stderr}");
    for file in std::fs::read_dir(world.path().join(".memories")).unwrap() {
        let file = file.unwrap().path();
        if file.is_file() {
            let text = std::fs::read(&file).unwrap();
            assert!(!String::from_utf8_lossy(&text).contains(ADA), "{}", file.display());
        }
    }
}
