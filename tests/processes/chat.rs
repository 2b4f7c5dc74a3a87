//! `memories chat proxy` as a program, between a chat client and a server on loopback.
#![cfg(feature = "proxy")]

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::program::{Killed, memories, send};
use crate::server::{Behaviour, NOBODY, Server, completion, http_client};
use memories::document::Document;
use memories::types::{Memory, Scope};
use reqwest::blocking::RequestBuilder;
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(30);

const KEY: &str = "sk-client-key-of-a-test-0123456789";

const FILE: &str = "\
# Location Memories

## Location 5: North Gate

### Memories

**[DISCOVERY] Gate unguarded at dawn** *(2026-01-29, importance 800)*
The northern gate is unguarded at dawn.

---

## NPC marcus: Marcus

### Memories

**[BEHAVIOR] Lies when cornered** *(2026-01-28, importance 900)*
Marcus lies whenever he is asked about the northern gate.

---
";

/// The program and its output.
pub struct Running {
    pub folder: tempfile::TempDir,
    child: Killed,
    url: String,
    said: Option<BufReader<std::process::ChildStdout>>,
}

impl Running {
    pub fn start(upstream: &str, settings: &str, flags: &[&str]) -> Running {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("Memories.md"), FILE).unwrap();
        std::fs::write(folder.path().join("memories.toml"), settings).unwrap();
        let answers = json!({"answer": {"memories": [{"category": "DECISION", "importance": 9,
            "summary": "Kira will storm the northern gate on Friday.", "context": "At the fire"}]}});
        std::fs::write(folder.path().join("answers.jsonl"), answers.to_string()).unwrap();
        let mut child =
            memories(folder.path(), &["proxy", "--upstream", upstream, "--listen", "127.0.0.1:0", "-v"])
                .args(flags)
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        let url = line.split_whitespace().nth(2).unwrap_or_else(|| panic!("{line:?}"));
        let url = url.trim_end_matches(',').to_owned();
        Running { folder, child: Killed(child), url, said: Some(said) }
    }

    pub fn chat(&self, body: &Value) -> RequestBuilder {
        http_client().post(format!("{}/v1/chat/completions", self.url)).bearer_auth(KEY).json(body)
    }

    /// Ends it as a supervisor does; returns both output streams.
    fn end(&mut self) -> String {
        send("-TERM", &self.child.0);
        let (mut out, mut err) = (String::new(), String::new());
        self.said.take().unwrap().read_to_string(&mut out).unwrap();
        self.child.0.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert!(self.child.0.wait().unwrap().success(), "{err}");
        format!("{out}{err}")
    }

    /// Ends it; returns both output streams and the memories of the world.
    fn stop(mut self) -> (String, Vec<Memory>) {
        let said = self.end();
        let text = std::fs::read_to_string(self.folder.path().join("Memories.md")).unwrap();
        assert_no_key(self.folder.path());
        (said, Document::parse(text).section(&Scope::World).unwrap_or_default().memories)
    }
}

/// The client's key is in no file.
fn assert_no_key(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            assert_no_key(&path);
        } else {
            let bytes = std::fs::read(&path).unwrap();
            assert!(!String::from_utf8_lossy(&bytes).contains(KEY), "{}", path.display());
        }
    }
}

/// Sends a request and reads the reply to its end, for nothing is extracted from a reply that its
/// client does not read; its status.
fn read(request: RequestBuilder) -> u16 {
    let reply = request.send().unwrap();
    let status = reply.status().as_u16();
    reply.bytes().unwrap();
    status
}

const REPLAY: &str = "[llm]\nprovider = \"replay\"\nreplay = \"answers.jsonl\"\n";

fn question(text: &str) -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": text}], "temperature": 1.0})
}

const REPLY: &str =
    "Kira nods. They have decided to storm the northern gate on Friday, before the sun is up.";

#[test]
fn a_chat_gets_memories_and_gives_some() {
    let upstream = Server::start(vec![Behaviour::says(REPLY)]);
    let scale = "[record]\nimportance_scale = 10\n";
    let settings = format!("{REPLAY}[chat]\nmemoryExtractionMode = \"every_turn\"\n{scale}");
    let proxy = Running::start(&upstream.base_url(), &settings, &[]);
    let health = http_client().get(format!("{}/healthz", proxy.url)).send().unwrap();
    assert_eq!(
        (health.status().as_u16(), health.json::<Value>().unwrap()["status"].clone()),
        (200, json!("ok"))
    );
    let reply: Value = proxy.chat(&question("Who guards the northern gate?")).send().unwrap().json().unwrap();
    assert_eq!(reply["choices"][0]["message"]["content"], REPLY);
    let came = &upstream.requests()[0];
    assert_eq!(came.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    let system = came.body["messages"][0]["content"].as_str().unwrap();
    assert!(
        system.contains("The northern gate is unguarded at dawn.") && system.contains("Marcus lies"),
        "{system}"
    );
    assert_eq!(came.body["messages"][1]["content"], "Who guards the northern gate?");
    // Nothing relevant: the request is passed on unchanged.
    let other = question("Please translate this poem into French.");
    read(proxy.chat(&other));
    assert_eq!(upstream.requests()[1].body, other);
    // Extracted before the server ends, though no request waited for it.
    let (said, memories) = proxy.stop();
    assert!(!said.contains(KEY), "{said}");
    assert_eq!(memories.len(), 1, "{said}");
    assert_eq!(memories[0].text, "Kira will storm the northern gate on Friday.");
    assert_eq!(memories[0].importance(), 700);
}

#[test]
fn flags_choose_the_memories_as_those_of_inject() {
    let upstream = Server::start(vec![Behaviour::says(REPLY)]);
    let shared =
        "**[BEHAVIOR] Lies to Kira** *(2026-01-27, importance 600, #about:kira)*\nThey had words over tea.\n";
    let file = format!("{FILE}\n## NPC alex: Alex\n\n### Memories\n\n{shared}\n---\n");
    let (gate, marcus, tea) = ("unguarded at dawn", "Marcus lies", "They had words over tea.");
    for (flags, given, kept_back) in [
        (&["--category", "DISCOVERY"][..], &[gate][..], &[marcus, tea][..]),
        (&["--max-age", "60h"], &[gate], &[marcus, tea]),
        (&["--min-importance", "850"], &[marcus], &[gate, tea]),
        (&["--between", "alex,kira"], &[gate, marcus, tea], &[]),
        (&["--between", "alex,kira", "--min-importance", "700"], &[gate, marcus], &[tea]),
    ] {
        let proxy = Running::start(&upstream.base_url(), "", flags);
        std::fs::write(proxy.folder.path().join("Memories.md"), &file).unwrap();
        assert_eq!(read(proxy.chat(&question("Who guards the northern gate?"))), 200);
        let request = upstream.requests().last().unwrap().body.to_string();
        assert!(given.iter().all(|text| request.contains(text)), "{flags:?}: {request}");
        assert!(!kept_back.iter().any(|text| request.contains(text)), "{flags:?}: {request}");
    }
}

#[test]
fn headers_say_what_a_chat_is_about() {
    let upstream = Server::start(vec![Behaviour::says(REPLY)]);
    let proxy = Running::start(&upstream.base_url(), REPLAY, &[]);
    let ask = |headers: &[(&'static str, &'static str)]| {
        let mut request = proxy.chat(&question("Who guards the northern gate?"));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        assert_eq!(read(request), 200);
    };
    ask(&[("X-Memories-Scope", "npc:marcus")]);
    ask(&[("X-Memories-Scope", "npc:marcus, North Gate")]);
    ask(&[("X-Memories-Scope", "No Such Place")]);
    ask(&[
        ("X-Memories-Scope", "world"),
        ("X-Memories-Conversation", "chat-7"),
        ("X-Memories-Extraction", "2"),
    ]);
    ask(&[
        ("X-Memories-Scope", "world"),
        ("X-Memories-Conversation", "chat-7"),
        ("X-Memories-Extraction", "2"),
    ]);
    let requests = upstream.requests();
    let system = |at: usize| requests[at].body["messages"][0]["content"].as_str().unwrap().to_owned();
    assert!(system(0).contains("Marcus lies") && !system(0).contains("unguarded"));
    assert!(system(1).contains("Marcus lies") && system(1).contains("unguarded"));
    assert_eq!(system(2), "Who guards the northern gate?");
    assert!(requests.iter().all(|request| request.header("x-memories-scope").is_none()));
    let (said, memories) = proxy.stop();
    assert!(said.contains("no place is called `No Such Place`"), "{said}");
    assert_eq!(memories.len(), 1, "{said}");
    assert_eq!(memories[0].provenance.tags, ["conversation:chat-7"]);
    assert_eq!(memories[0].provenance.sources, ["chat:chat-7#T1-2"]);
}

#[test]
fn anthropic_clients_have_a_memory_too() {
    let reply = json!({"id": "msg", "type": "message", "role": "assistant", "model": "m",
        "content": [{"type": "text", "text": REPLY}], "stop_reason": "end_turn", "usage": {}});
    let upstream = Server::start(vec![Behaviour::json(200, reply)]);
    let settings = format!("{REPLAY}[chat]\nmemoryExtractionMode = \"every_turn\"\n");
    let proxy = Running::start(&upstream.url(), &settings, &["--scope", "npc:marcus"]);
    let body = json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Who guards the northern gate?"}]});
    let request =
        http_client().post(format!("{}/v1/messages", proxy.url)).header("x-api-key", KEY).json(&body);
    assert_eq!(read(request), 200);
    let came = &upstream.requests()[0];
    assert_eq!(came.header("x-api-key"), Some(KEY));
    assert!(came.body["system"].as_str().unwrap().contains("Marcus lies"));
    assert_eq!(came.body["messages"], body["messages"]);
    let (said, world) = proxy.stop();
    assert!(said.contains("extracted from") && world.is_empty(), "{said}");
}

#[test]
fn what_goes_wrong_upstream_is_what_the_client_sees() {
    let upstream = Server::start(vec![
        Behaviour::error(500, "overloaded"),
        Behaviour::error(401, "wrong key"),
        Behaviour::Slow(Duration::from_millis(300), Box::new(Behaviour::says(REPLY))),
    ]);
    let proxy = Running::start(&upstream.base_url(), REPLAY, &[]);
    let begun = Instant::now();
    for status in [500, 401, 200] {
        let reply = proxy.chat(&question("Who guards the northern gate?")).send().unwrap();
        assert_eq!(reply.status(), status);
        let reply: Value = reply.json().unwrap();
        assert_eq!(reply["error"].is_null(), status == 200);
    }
    assert!(begun.elapsed() >= Duration::from_millis(300));
    let alone = Running::start(NOBODY, REPLAY, &[]);
    let reply = alone.chat(&question("Hello?")).send().unwrap();
    assert_eq!(reply.status(), 502);
    let reply: Value = reply.json().unwrap();
    assert!(reply["error"]["message"].as_str().unwrap().contains("cannot be reached"), "{reply}");
    for (said, memories) in [proxy.stop(), alone.stop()] {
        assert!(!said.contains(KEY) && memories.is_empty(), "{said}");
    }
}

#[test]
fn memories_are_drawn_when_the_proxy_ends_where_that_is_the_mode() {
    let upstream = Server::start(vec![Behaviour::says(REPLY)]);
    let settings = format!("{REPLAY}[chat]\nmemoryExtractionMode = \"on_save\"\n");
    let proxy = Running::start(&upstream.base_url(), &settings, &[]);
    for _ in 0..2 {
        read(proxy.chat(&question("Who guards the northern gate?")));
    }
    let (said, memories) = proxy.stop();
    assert_eq!(memories.len(), 1, "{said}");
}

#[test]
fn a_model_that_is_offered_the_tool_keeps_what_it_wants() {
    let kept = json!({"category": "FACT", "importance": 700, "summary": "Kira will storm the northern gate on Friday.",
        "context": "She said so over tea."});
    let mut calling = completion(Value::Null, "tool_calls");
    calling["choices"][0]["message"]["tool_calls"] = json!([{"id": "1", "type": "function", "function": {"name": "remember", "arguments": kept.to_string()}}]);
    let upstream = Server::start(vec![Behaviour::json(200, calling), Behaviour::says(REPLY)]);
    let settings = "[llm]\nprovider = \"offline\"\n[chat]\nmemoryExtractionMode = \"llm_triggered\"\n";
    let proxy = Running::start(&upstream.base_url(), settings, &[]);
    let reply: Value = proxy.chat(&question("Who guards the northern gate?")).send().unwrap().json().unwrap();
    let message = &reply["choices"][0]["message"];
    assert!(message["content"] == REPLY && message["tool_calls"].is_null(), "{reply}");
    let (said, memories) = proxy.stop();
    assert_eq!((memories.len(), upstream.requests().len()), (1, 2), "{said}");
    assert_eq!(memories[0].text, "Kira will storm the northern gate on Friday.");
}

#[test]
fn a_baseline_has_no_memory() {
    let upstream = Server::start(vec![Behaviour::says(REPLY)]);
    let settings = format!("{REPLAY}[chat]\nuseMemory = false\nmemoryExtractionMode = \"every_turn\"\n");
    let proxy = Running::start(&upstream.base_url(), &settings, &[]);
    let asked = question("Who guards the northern gate?");
    read(proxy.chat(&asked));
    assert_eq!(upstream.requests()[0].body, asked);
    let (said, memories) = proxy.stop();
    assert!(memories.is_empty(), "{said}");
}

/// A supervisor may end it as soon as it has said that it listens.
#[test]
fn a_signal_right_after_the_first_line_ends_the_proxy_as_ever() {
    for _ in 0..20 {
        Running::start(NOBODY, REPLAY, &[]).end();
    }
}

#[test]
fn twenty_chats_at_a_stalled_embedder_are_answered_in_time() {
    let upstream = Server::start(vec![Behaviour::says(REPLY)]);
    let embedder = Server::start(vec![Behaviour::Hang]);
    let settings = format!(
        "[llm]\nprovider = \"offline\"\n[search]\nembedder = \"openai\"\nembedding_model = \"m\"\n\
         embedding_url = \"{}\"\n",
        embedder.base_url()
    );
    let usual = Running::start(&upstream.base_url(), REPLAY, &[]);
    let usual = twenty_chats(&usual).into_iter().max().unwrap();
    let proxy = Running::start(&upstream.base_url(), &settings, &[]);
    let times = twenty_chats(&proxy);
    assert!(times.iter().all(|time| *time < usual + Duration::from_secs(3)), "{usual:?} {times:?}");
    assert_eq!(read(proxy.chat(&question("Is the northern gate unguarded today?"))), 200);
    let asked = embedder.requests();
    assert!(
        asked.iter().all(|asked| !asked.body.to_string().contains("today")),
        "it is left alone: {asked:?}"
    );
    let requests = upstream.requests();
    assert_eq!(requests.len(), 41);
    assert!(requests[40].body.to_string().contains("The northern gate is unguarded at dawn."));
    let (said, _) = proxy.stop();
    assert_eq!(
        said.matches("did not answer within 1s; the embedded model answers instead").count(),
        1,
        "{said}"
    );
}

/// The times of twenty chats at once. Their clients are built before.
fn twenty_chats(proxy: &Running) -> Vec<Duration> {
    let chats: Vec<RequestBuilder> =
        (0..20).map(|_| proxy.chat(&question("Who guards the northern gate?"))).collect();
    let timed = |chat: RequestBuilder| {
        let begun = Instant::now();
        assert_eq!(read(chat), 200);
        begun.elapsed()
    };
    std::thread::scope(|scope| {
        let chats: Vec<_> = chats.into_iter().map(|chat| scope.spawn(|| timed(chat))).collect();
        chats.into_iter().map(|chat| chat.join().unwrap()).collect()
    })
}

#[test]
fn a_stalled_model_does_not_hold_up_the_end_and_its_replies_are_kept() {
    let upstream = Server::start(vec![Behaviour::says(REPLY)]);
    let model = Server::start(vec![Behaviour::Hang]);
    let settings = format!(
        "[llm]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"{}\"\n[chat]\nmemoryExtractionMode = \
         \"every_turn\"\n",
        model.base_url()
    );
    let mut proxy = Running::start(&upstream.base_url(), &settings, &["--grace", "500ms"]);
    for _ in 0..3 {
        let request = proxy.chat(&question("Who guards the northern gate?"));
        assert_eq!(read(request.header("X-Memories-Conversation", "chat-7")), 200);
    }
    while model.requests().is_empty() {
        assert!(proxy.child.0.try_wait().unwrap().is_none());
        std::thread::yield_now();
    }
    let begun = Instant::now();
    let said = proxy.end();
    assert!(begun.elapsed() < PATIENCE, "the model has 60 s");
    assert!(said.contains("memories were extracted from 3 replies"), "{said}");
    let state = proxy.folder.path().join(".memories/Memories.md/state.json");
    let state: Value = serde_json::from_str(&std::fs::read_to_string(state).unwrap()).unwrap();
    let counts = &state["conversations"]["chat-7"];
    assert_eq!((&counts["turns"], &counts["extracted"]), (&json!(3), &json!(0)), "{state}");
    assert_eq!(counts["waiting"].as_array().unwrap().len(), 6, "{state}");
}

#[test]
fn a_token_comes_from_a_file_and_is_told_to_nobody() {
    const TOKEN: &str = "0123456789abcdef-of-a-test";
    let upstream =
        Server::start(vec![Behaviour::says("The northern gate is closed now, and it stays closed.")]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, format!("{TOKEN}\n")).unwrap();
    let running = Running::start(
        &upstream.url(),
        "[llm]\nprovider = \"offline\"\n",
        &["--token-file", file.to_str().unwrap(), "--allow-remote", "--host", "memories.example"],
    );
    let request = json!({"messages": [{"role": "user", "content": "Who guards the northern gate?"}]});
    assert_eq!(running.chat(&request).send().unwrap().status(), 401);
    let send = |name: &str| {
        running.chat(&request).header("X-Memories-Token", TOKEN).header("Host", name).send().unwrap().status()
    };
    assert_eq!((send("memories.example").as_u16(), send("evil.example").as_u16()), (200, 403));
    let up = upstream.requests().remove(0);
    assert!(up.headers.iter().all(|(_, value)| !value.contains(TOKEN)), "{up:?}");
    let arguments = std::fs::read(format!("/proc/{}/cmdline", running.child.0.id())).unwrap_or_default();
    assert!(!String::from_utf8_lossy(&arguments).contains(TOKEN));
    let (said, _) = running.stop();
    assert!(!said.contains(TOKEN), "{said}");
}
