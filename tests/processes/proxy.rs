//! The proxy between a client and a chat server, both on loopback, with hooks that report what they saw.
#![cfg(feature = "proxy")]

mod guard;
mod limits;
mod stalls;
mod tool;

use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::server::{Behaviour, Gate, NOBODY, Server, http_client};
use futures_util::StreamExt;
use memories::chat::api_format::ApiFormat;
use memories::chat::proxy::{Call, ChatHooks, ProxySettings, Upstream, serve};
use memories::document::types::ImportanceScale;
use memories::web::{Guard, Limits, Token};
use reqwest::blocking::{Client, RequestBuilder};
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(20);

/// Adds a field to each request that asks for it, and reports each reply.
struct Telling {
    told: Mutex<Sender<(Call, Value, Value)>>,
    warned: Mutex<Sender<String>>,
    kept: Mutex<Sender<Value>>,
    /// Stalls until the gate opens, for requests with a field that asks for it.
    stalled: Gate,
}

impl Telling {
    /// Waits at the gate where a request says so.
    fn stall(&self, request: &Value, field: &str) {
        if !request[field].is_null() {
            self.stalled.wait();
        }
    }
}

impl ChatHooks for Telling {
    fn inject(&self, _: &Call, request: &[u8]) -> Option<Vec<u8>> {
        let mut request: Value = serde_json::from_slice(request).ok()?;
        assert!(request["panic"].is_null(), "asked to");
        self.stall(&request, "stall_search");
        request["woven"] = json!(true);
        request["plain"].is_null().then(|| request.to_string().into_bytes())
    }

    fn offers_tool(&self, call: &Call) -> Option<ImportanceScale> {
        (call.extraction.as_deref() == Some("llm_triggered")).then(ImportanceScale::default)
    }

    fn extract(&self, call: &Call, request: &[u8], reply: Value) {
        let request: Value = serde_json::from_slice(request).unwrap();
        assert!(request["trip"].is_null(), "asked to");
        self.stall(&request, "stall_extraction");
        let _ = self.told.lock().unwrap().send((call.clone(), request, reply));
    }

    fn keep(&self, _: &Call, request: &[u8], _: Value) {
        self.kept.lock().unwrap().send(serde_json::from_slice(request).unwrap()).unwrap();
    }

    fn warn(&self, warning: String) {
        let _ = self.warned.lock().unwrap().send(warning);
    }
}

/// A running proxy.
struct Proxy {
    address: SocketAddr,
    told: Receiver<(Call, Value, Value)>,
    warned: Receiver<String>,
    kept: Receiver<Value>,
    /// Lets go what stalls.
    go: Option<Sender<()>>,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Proxy {
    fn before(upstream: &str) -> Proxy {
        Proxy::with(upstream, None, Limits::default())
    }

    fn with(upstream: &str, token: Option<&str>, limits: Limits) -> Proxy {
        Proxy::in_time(upstream, token, limits, PATIENCE, PATIENCE)
    }

    fn in_time(
        upstream: &str,
        token: Option<&str>,
        limits: Limits,
        memory_timeout: Duration,
        grace: Duration,
    ) -> Proxy {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let upstream = Upstream::new(upstream).unwrap();
        let guard = Guard::new(address, &[], token.map(|token| Token::new(token).unwrap()));
        let settings = ProxySettings { upstream, guard, limits, memory_timeout, grace };
        let (told_to, told) = channel();
        let (warned_to, warned) = channel();
        let (stop, stopped) = channel::<()>();
        let (kept_to, kept) = channel();
        let (stalled, go) = Gate::new();
        let hooks = Arc::new(Telling {
            told: Mutex::new(told_to),
            warned: Mutex::new(warned_to),
            kept: Mutex::new(kept_to),
            stalled,
        });
        let until = async move {
            let _ = tokio::task::spawn_blocking(move || stopped.recv()).await;
        };
        let thread = std::thread::spawn(move || serve(listener, settings, hooks, until).unwrap());
        Proxy { address, told, warned, kept, go: Some(go), stop: Some(stop), thread: Some(thread) }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn chat(&self, body: &Value) -> RequestBuilder {
        http_client().post(self.url("/v1/chat/completions")).json(body)
    }

    fn told(&self) -> (Call, Value, Value) {
        self.told.recv_timeout(PATIENCE).expect("a reply was drawn from")
    }

    /// Asks it to end and waits.
    fn stop(&mut self) {
        drop(self.stop.take());
        self.thread.take().map(JoinHandle::join).transpose().expect("it ends well");
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        drop(self.stop.take());
    }
}

fn streaming_client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().timeout(PATIENCE).build().unwrap()
}

fn question() -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": "Hi?"}]})
}

#[test]
fn a_chat_is_woven_and_drawn_from_and_the_headers_go_where_they_should() {
    let upstream = Server::start(vec![
        Behaviour::says("Hello.")
            .with_header("X-Upstream", "yes")
            .with_header("Set-Cookie", "a=1")
            .with_header("Set-Cookie", "b=2"),
    ]);
    let proxy = Proxy::before(&upstream.base_url());
    let request = proxy.chat(&question()).header("Authorization", "Bearer sk-key").header("X-Own", "kept");
    let request = request.header("X-Memories-Scope", "23").header("x-memories-conversation", "chat-7");
    let request =
        request.header("Connection", "close, x-hop").header("X-Hop", "1").header("Accept-Encoding", "gzip");
    let reply = request.send().unwrap();
    assert_eq!(reply.status(), 200);
    assert_eq!(reply.headers()["x-upstream"], "yes");
    assert_eq!(reply.headers().get_all("set-cookie").iter().count(), 2);
    let reply: Value = reply.json().unwrap();
    assert_eq!(reply["choices"][0]["message"]["content"], "Hello.");

    let up = upstream.requests().remove(0);
    assert_eq!((up.method.as_str(), up.path.as_str()), ("POST", "/v1/chat/completions"));
    assert_eq!(up.body["woven"], true);
    assert_eq!((up.header("authorization"), up.header("x-own")), (Some("Bearer sk-key"), Some("kept")));
    assert_eq!(up.header("host"), Some(upstream.url().trim_start_matches("http://")));
    for ours in ["x-memories-scope", "x-memories-conversation", "x-hop", "connection", "accept-encoding"] {
        assert_eq!(up.header(ours), None, "{ours}");
    }
    let (call, request, message) = proxy.told();
    let expected = Call {
        shape: ApiFormat::OpenAi,
        scope: Some("23".to_owned()),
        conversation: Some("chat-7".to_owned()),
        extraction: None,
    };
    assert_eq!((call, request), (expected, question()));
    assert_eq!(message["content"], "Hello.");
}

#[test]
fn what_is_no_chat_passes_by_untouched() {
    let body = "{\"data\":  [1.0, 18446744073709551616]}\n";
    let upstream = Server::start(vec![Behaviour::text(200, body).with_header("Content-Type", "a/b")]);
    let proxy = Proxy::before(&upstream.url());
    let models =
        http_client().get(proxy.url("/v1/models?limit=%201")).header("Accept-Encoding", "br").send().unwrap();
    assert_eq!(
        (models.headers()["content-type"].clone(), models.text().unwrap()),
        ("a/b".parse().unwrap(), body.to_owned())
    );
    let posted = http_client().post(proxy.url("/v1/embeddings")).body("{\"input\": 1.0}").send().unwrap();
    assert_eq!(posted.text().unwrap(), body);
    let read = http_client().get(proxy.url("/v1/chat/completions")).send().unwrap();
    assert_eq!(read.text().unwrap(), body);
    let requests = upstream.requests();
    assert_eq!(
        (requests[0].path.as_str(), requests[0].header("accept-encoding")),
        ("/v1/models?limit=%201", Some("br"))
    );
    assert_eq!((requests[0].header("content-length"), requests[0].header("transfer-encoding")), (None, None));
    assert_eq!(
        (requests[1].body.clone(), requests[1].header("content-length")),
        (json!({"input": 1.0}), Some("14"))
    );
    assert_eq!(requests[2].method, "GET");
}

#[test]
fn a_stream_comes_down_piece_by_piece() {
    let piece = |text: &str| format!("data: {}\n\n", json!({"choices": [{"delta": {"content": text}}]}));
    let pieces = vec![piece("One"), piece(" two"), piece(" three"), "data: [DONE]\n\n".to_owned()];
    let (gate, open) = Gate::new();
    let upstream = Server::start(vec![Behaviour::Stream(pieces.clone(), Some(gate))]);
    let proxy = Proxy::before(&upstream.url());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let client = streaming_client();
        let request = client.post(proxy.url("/v1/chat/completions")).json(&question());
        let reply = request.send().await.unwrap();
        assert_eq!(reply.headers()["content-type"], "text/event-stream");
        let mut stream = reply.bytes_stream();
        for piece in pieces {
            // The server sends the next chunk only now: a proxy that waits for more would hang.
            open.send(()).unwrap();
            assert_eq!(stream.next().await.unwrap().unwrap(), piece);
        }
        assert!(stream.next().await.is_none());
    });
    assert_eq!(proxy.told().2, json!({"role": "assistant", "content": "One two three"}));
}

#[test]
fn two_hundred_streams_at_once_keep_all_their_pieces() {
    let upstream = Server::deciding(|request, _| {
        let own = request.body["messages"][0]["content"].as_str().unwrap().to_owned();
        let piece = |at: usize| format!("data: {own}:{at}\n\n");
        Behaviour::Stream((0..30).map(piece).collect(), None)
    });
    let proxy = Proxy::before(&upstream.url());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let client = streaming_client();
        let streams: Vec<_> = (0..200)
            .map(|own| {
                let body = json!({"messages": [{"role": "user", "content": format!("s{own}")}]});
                let request = client.post(proxy.url("/v1/chat/completions")).json(&body);
                tokio::spawn(async move { (own, request.send().await.unwrap().text().await.unwrap()) })
            })
            .collect();
        for stream in streams {
            let (own, text) = stream.await.unwrap();
            let expected: String = (0..30).map(|at| format!("data: s{own}:{at}\n\n")).collect();
            assert_eq!(text, expected);
        }
    });
}

#[test]
fn the_client_sees_what_the_upstream_does() {
    let upstream = Server::start(vec![
        Behaviour::error(500, "out of order"),
        Behaviour::error(429, "slower").with_header("Retry-After", "7"),
        Behaviour::Cut("{\"choices\": [{\"message\": {\"content\": \"half\"}}]}".to_owned()),
        Behaviour::Reply {
            status: 307,
            headers: vec![("Location", "http://127.0.0.1:1/".to_owned())],
            body: String::new(),
        },
        Behaviour::Close,
        Behaviour::Slow(Duration::from_millis(300), Box::new(Behaviour::says("At last."))),
    ]);
    let proxy = Proxy::before(&upstream.url());
    let send = || proxy.chat(&question()).send();
    let reply = send().unwrap();
    assert_eq!(reply.status(), 500);
    assert_eq!(reply.json::<Value>().unwrap()["error"]["message"], "out of order");
    let reply = send().unwrap();
    assert_eq!((reply.status().as_u16(), &reply.headers()["retry-after"]), (429, &"7".parse().unwrap()));
    let reply = send().unwrap();
    assert_eq!(reply.status(), 200);
    assert!(reply.text().is_err(), "a reply that breaks off breaks off here, too");
    assert_eq!(client_without_redirects(&proxy).status(), 307);
    let reply = send().unwrap();
    assert_eq!(reply.status(), 502);
    let error = &reply.json::<Value>().unwrap()["error"];
    assert_eq!((&error["type"], &error["code"]), (&json!("memories_proxy"), &json!(502)));
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains(&format!("`{}` behind the proxy gave no reply", upstream.url()))
    );
    let reply: Value = send().unwrap().json().unwrap();
    assert_eq!(reply["choices"][0]["message"]["content"], "At last.");
    // Memories are extracted from the last one only.
    assert_eq!(proxy.told().2["content"], "At last.");
    assert!(proxy.told.try_recv().is_err());
    let alone = Proxy::before(NOBODY);
    let gone = alone.chat(&question()).send().unwrap();
    assert_eq!(gone.status(), 502);
    assert!(gone.text().unwrap().contains("cannot be reached"));
}

fn client_without_redirects(proxy: &Proxy) -> reqwest::blocking::Response {
    let client = Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    client.post(proxy.url("/v1/chat/completions")).json(&question()).send().unwrap()
}

#[test]
fn a_weaver_that_fails_changes_nothing() {
    let upstream = Server::start(vec![Behaviour::says("Hello.")]);
    let proxy = Proxy::before(&upstream.url());
    for field in ["panic", "plain", "trip"] {
        let body = format!("{{\"{field}\":  1.50, \"messages\": []}}");
        let request = http_client().post(proxy.url("/v1/chat/completions")).body(body.clone());
        let reply = request.header("Content-Type", "application/json").send().unwrap();
        assert_eq!(reply.status(), 200, "{field}");
        let up = upstream.requests().pop().unwrap();
        assert_eq!(up.body["woven"].is_null(), field != "trip", "{field}");
        if field != "trip" {
            assert_eq!(up.header("content-length"), Some(body.len().to_string().as_str()));
            assert_eq!(proxy.told().1[field], 1.5);
        }
    }
    proxy.chat(&question()).send().unwrap().text().unwrap();
    assert_eq!(proxy.told().1, question(), "one that trips does not stop the next");
}

#[test]
fn messages_of_anthropic_are_chats_too() {
    let reply = json!({"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Hi."}]});
    let upstream = Server::start(vec![Behaviour::json(200, reply.clone())]);
    let proxy = Proxy::before(&upstream.url());
    let request = http_client().post(proxy.url("/v1/messages")).header("x-api-key", "k").json(&question());
    assert_eq!(request.send().unwrap().json::<Value>().unwrap(), reply);
    let (call, _, message) = proxy.told();
    assert_eq!((call.shape, message), (ApiFormat::Anthropic, reply));
    assert_eq!(upstream.requests()[0].header("x-api-key"), Some("k"));
}

#[test]
fn responses_are_chats_too_and_are_told_apart_from_their_neighbours() {
    let call = json!({"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"});
    let reply = json!({"object": "response", "id": "resp_1", "output": [call]});
    let upstream = Server::start(vec![Behaviour::json(200, reply.clone()); 3]);
    let proxy = Proxy::before(&upstream.base_url());
    let body = json!({"model": "m", "input": "Hi?"});
    let post =
        |path: &str| http_client().post(proxy.url(path)).json(&body).send().unwrap().json::<Value>().unwrap();
    assert_eq!(post("/v1/responses"), reply);
    let (call, request, message) = proxy.told();
    assert_eq!((call.shape, request, &message["id"]), (ApiFormat::Responses, body.clone(), &json!("resp_1")));
    assert_eq!(message["tool_calls"][0]["function"]["name"], "look");
    for path in ["/v1/responses/compact", "/v1/responses/resp_1/cancel"] {
        post(path);
    }
    let woven: Vec<bool> = upstream.requests().iter().map(|up| up.body["woven"] == true).collect();
    assert_eq!(woven, [true, false, false]);
}

#[test]
fn it_is_healthy_and_ends_when_all_is_drawn() {
    let (gate, open) = Gate::new();
    let piece = format!("data: {}\n\n", json!({"choices": [{"delta": {"content": "Bye."}}]}));
    let upstream = Server::start(vec![Behaviour::Stream(vec![piece.clone(), piece], Some(gate))]);
    let mut proxy = Proxy::before(&upstream.base_url());
    let health: Value = http_client().get(proxy.url("/healthz")).send().unwrap().json().unwrap();
    assert_eq!(health, json!({"version": 1, "status": "ok", "upstream": upstream.base_url()}));
    let reply = {
        let request = proxy.chat(&question());
        std::thread::spawn(move || request.send().unwrap().text().unwrap())
    };
    open.send(()).unwrap();
    while upstream.requests().is_empty() {
        std::thread::yield_now();
    }
    drop(proxy.stop.take());
    drop(open);
    assert_eq!(reply.join().unwrap().matches("Bye.").count(), 2, "a running reply ends first");
    proxy.stop();
    assert_eq!(proxy.told.try_recv().unwrap().2["content"], "Bye.Bye.", "and is drawn from");
    assert!(http_client().get(format!("http://{}/healthz", proxy.address)).send().is_err());
}
