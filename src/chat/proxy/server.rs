//! The proxy's own server: each request goes up, and each reply down, as it comes.
//!
//! Requests enter by a listening socket. A chat request is read whole, for memories are woven into it; all
//! else, and every reply, passes by in the pieces in which it comes.

use std::future::{Future, ready};
use std::io;
use std::net::TcpListener;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::serve::ListenerExt;
use futures_util::{StreamExt, TryStreamExt, stream};
use serde_json::json;

use crate::chat::proxy::reply::message_of;
use crate::chat::proxy::{Call, ChatHooks, Dialect, Upstream};

/// The longest chat request.
const LONGEST_REQUEST: usize = 64 << 20;

/// Of longer replies no memories are drawn.
const LONGEST_REPLY: usize = 8 << 20;

/// The last event of a stream is no longer than this.
const LAST_EVENT: usize = 200;

/// What our own headers begin with. They tell us how to remember, and nobody else.
const OURS: &str = "x-memories-";

/// Headers that are about one connection, and not about what it carries.
const OF_ONE_CONNECTION: [HeaderName; 10] = [
    header::CONNECTION,
    header::EXPECT,
    header::HOST,
    HeaderName::from_static("keep-alive"),
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// A reply that has gone down whole.
struct Finished {
    call: Call,
    request: Bytes,
    content_type: String,
    reply: Vec<u8>,
}

/// What every request needs.
#[derive(Clone)]
struct Proxy {
    upstream: Arc<Upstream>,
    client: reqwest::Client,
    hooks: Arc<dyn ChatHooks>,
    finished: Sender<Finished>,
}

/// See [`super::serve`].
pub async fn serve(
    listener: TcpListener,
    upstream: Upstream,
    hooks: Arc<dyn ChatHooks>,
    until: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    // A token is a packet: it must not wait for the next one.
    let listener = tokio::net::TcpListener::from_std(listener)?.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    let client = upstream.client().map_err(io::Error::other)?;
    let (finished, to_draw) = channel();
    let drawing = {
        let hooks = hooks.clone();
        std::thread::spawn(move || draw(&to_draw, hooks.as_ref()))
    };
    let proxy = Proxy { upstream: Arc::new(upstream), client, hooks, finished };
    let router = Router::new().route("/healthz", get(healthy)).fallback(pass).with_state(proxy);
    axum::serve(listener, router).with_graceful_shutdown(until).await?;
    // With the router the last sender is gone: the thread ends when all is drawn.
    tokio::task::spawn_blocking(move || drawing.join()).await.map_err(io::Error::other)?.ok();
    Ok(())
}

/// Draws memories from one reply after the other.
fn draw(finished: &Receiver<Finished>, hooks: &dyn ChatHooks) {
    for Finished { call, request, content_type, reply } in finished {
        let Some(message) = message_of(&content_type, &reply) else { continue };
        // One reply that trips the hooks up must not keep it from the next.
        let _ = catch_unwind(AssertUnwindSafe(|| hooks.extract(&call, &request, message)));
    }
}

async fn healthy(State(proxy): State<Proxy>) -> Response {
    let body = json!({"version": 1, "status": "ok", "upstream": proxy.upstream.shown()});
    answer(StatusCode::OK, &body)
}

async fn pass(State(proxy): State<Proxy>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let url = proxy.upstream.url_of(&parts.uri);
    let mut up = proxy.client.request(parts.method.clone(), url);
    let call = Some(&parts)
        .filter(|parts| parts.method == Method::POST)
        .and_then(|parts| call_of(parts.uri.path(), &parts.headers));
    let Some(call) = call else {
        up = up.headers(passed_on(&parts.headers));
        if !body.is_end_stream() {
            up = up.body(reqwest::Body::wrap_stream(body.into_data_stream()));
        }
        return match up.send().await {
            Ok(reply) => pass_down(reply, None),
            Err(error) => unreachable(&proxy.upstream, &error),
        };
    };
    let Ok(request) = to_bytes(body, LONGEST_REQUEST).await else {
        let problem = format!("the request breaks off, or is longer than {} MiB", LONGEST_REQUEST >> 20);
        return refuse(StatusCode::PAYLOAD_TOO_LARGE, &problem);
    };
    let mut headers = passed_on(&parts.headers);
    // Ours may have another length, and a reply that is packed could not be read.
    headers.remove(header::CONTENT_LENGTH);
    headers.remove(header::ACCEPT_ENCODING);
    let woven = weave(&proxy.hooks, &call, &request).await;
    match up.headers(headers).body(woven).send().await {
        Ok(reply) => pass_down(reply, Some((proxy.finished, call, request))),
        Err(error) => unreachable(&proxy.upstream, &error),
    }
}

/// The request with memories; as it came where there are none, or where weaving fails.
async fn weave(hooks: &Arc<dyn ChatHooks>, call: &Call, request: &Bytes) -> Bytes {
    let (hooks, call, body) = (hooks.clone(), call.clone(), request.clone());
    let woven = tokio::task::spawn_blocking(move || hooks.inject(&call, &body)).await;
    woven.ok().flatten().map_or_else(|| request.clone(), Bytes::from)
}

/// The reply as it comes. What is to be drawn from is gathered on the way, and handed on at its end.
fn pass_down(reply: reqwest::Response, draw: Option<(Sender<Finished>, Call, Bytes)>) -> Response {
    let (status, headers) = (reply.status(), passed_on(reply.headers()));
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let content_type = content_type.unwrap_or_default().to_owned();
    let length = reply.content_length();
    let pieces = reply.bytes_stream();
    let body = match draw.filter(|_| status.is_success()) {
        None => Body::from_stream(pieces),
        Some((to, call, request)) => {
            let finished = Finished { call, request, content_type, reply: Vec::new() };
            let gathering =
                Arc::new(Mutex::new(Gathering { passed: 0, length, finished: Some((to, finished)) }));
            let gather = {
                let gathering = gathering.clone();
                move |piece: &Bytes| lock(&gathering).take_piece(piece)
            };
            // Reached only when all pieces have gone down: an error or a client that leaves ends before.
            let end = stream::once(async move { lock(&gathering).hand_on() }).filter_map(|()| ready(None));
            Body::from_stream(pieces.inspect_ok(gather).chain(end))
        }
    };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

/// A reply on its way down.
struct Gathering {
    passed: u64,
    /// How long it is, where that is known: then nobody looks beyond that for an end.
    length: Option<u64>,
    /// What is handed on at its end, and to whom; `None` when it is, or when the reply is too long.
    finished: Option<(Sender<Finished>, Finished)>,
}

impl Gathering {
    fn take_piece(&mut self, piece: &Bytes) {
        self.passed += piece.len() as u64;
        match &mut self.finished {
            Some((_, finished)) if finished.reply.len() + piece.len() <= LONGEST_REPLY => {
                finished.reply.extend_from_slice(piece);
            }
            _ => self.finished = None,
        }
        if self.length == Some(self.passed) {
            self.hand_on();
        }
    }

    fn hand_on(&mut self) {
        if let Some((to, finished)) = self.finished.take() {
            // Nobody listens any more only where the thread is gone.
            let _ = to.send(finished);
        }
    }
}

impl Drop for Gathering {
    /// Some clients hang up as soon as a stream says that it is at its end: then it is there whole, too.
    fn drop(&mut self) {
        let said_its_end = self.finished.as_ref().is_some_and(|(_, finished)| {
            let tail = &finished.reply[finished.reply.len().saturating_sub(LAST_EVENT)..];
            let tail = String::from_utf8_lossy(tail);
            tail.contains("data: [DONE]") || tail.contains("\"message_stop\"")
        });
        if said_its_end {
            self.hand_on();
        }
    }
}

fn lock(gathering: &Mutex<Gathering>) -> MutexGuard<'_, Gathering> {
    gathering.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The call of a chat, by its path.
fn call_of(path: &str, headers: &HeaderMap) -> Option<Call> {
    let dialect = match path {
        path if path.ends_with("/chat/completions") => Dialect::OpenAi,
        path if path.ends_with("/v1/messages") => Dialect::Anthropic,
        _ => return None,
    };
    let ours = |name: &str| {
        let value = headers.get(format!("{OURS}{name}"))?.to_str().ok()?.trim();
        (!value.is_empty()).then(|| value.to_owned())
    };
    let (scope, conversation) = (ours("scope"), ours("conversation"));
    Some(Call { dialect, scope, conversation, extraction: ours("extraction") })
}

/// The headers that are meant for the other side.
fn passed_on(headers: &HeaderMap) -> HeaderMap {
    let named = headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let named: Vec<String> =
        named.flat_map(|value| value.split(',')).map(|name| name.trim().to_lowercase()).collect();
    let is_meant = |name: &HeaderName| {
        let name_text = name.as_str();
        !OF_ONE_CONNECTION.contains(name)
            && !name_text.starts_with(OURS)
            && !named.iter().any(|named| named == name_text)
    };
    let kept = headers.iter().filter(|(name, _)| is_meant(name));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Nobody answers behind the proxy. What the error says of the request is left out: it could hold a key.
fn unreachable(upstream: &Upstream, error: &reqwest::Error) -> Response {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    let upstream = upstream.shown();
    let problem = match error.is_connect() {
        true => format!("`{upstream}` behind the proxy cannot be reached: {cause}"),
        false => format!("`{upstream}` behind the proxy gave no reply: {cause}"),
    };
    refuse(StatusCode::BAD_GATEWAY, &problem)
}

/// An error of our own, in the shape that clients of chat servers read.
fn refuse(status: StatusCode, problem: &str) -> Response {
    let error = json!({"message": problem, "type": "memories_proxy", "param": null, "code": status.as_u16()});
    answer(status, &json!({"error": error}))
}

fn answer(status: StatusCode, body: &serde_json::Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}
