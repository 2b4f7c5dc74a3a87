//! The proxy's own server: each request goes up, and each reply down, as it comes.
//!
//! Requests enter by a listening socket. A chat request is read whole, for memories are injected into it;
//! all else, and every reply, is streamed.

use std::future::{Future, ready};
use std::io;
use std::net::TcpListener;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::serve::ListenerExt;
use futures_util::{StreamExt, TryStreamExt, stream};
use serde_json::json;

use crate::chat::api_format::ApiFormat;
use crate::chat::proxy::call::{Call, ChatHooks};
use crate::chat::proxy::reply::message_of;
use crate::chat::proxy::upstream::Upstream;
use crate::types::lock::lock;

/// Longest chat request, in bytes.
const MAX_REQUEST: usize = 64 << 20;

/// Longest reply that memories are extracted from, in bytes.
const MAX_REPLY: usize = 8 << 20;

/// Longest last event of a stream, in bytes.
const LAST_EVENT: usize = 200;

/// Prefix of the headers that are meant for the proxy, and not passed on.
const OWN_PREFIX: &str = "x-memories-";

/// Headers of one connection (hop by hop), which are not passed on.
const HOP_BY_HOP: [HeaderName; 10] = [
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

/// A reply that was passed on to its end.
struct Finished {
    call: Call,
    request: Bytes,
    content_type: String,
    reply: Vec<u8>,
}

/// The state of the server.
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
    // Each token is a packet: without this it could wait for the next one.
    let listener = tokio::net::TcpListener::from_std(listener)?.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    let client = upstream.client().map_err(io::Error::other)?;
    let (finished, replies) = channel();
    let extraction = {
        let hooks = hooks.clone();
        std::thread::spawn(move || extract_all(&replies, hooks.as_ref()))
    };
    let proxy = Proxy { upstream: Arc::new(upstream), client, hooks, finished };
    let router = Router::new().route("/healthz", get(healthy)).fallback(pass).with_state(proxy);
    axum::serve(listener, router).with_graceful_shutdown(until).await?;
    // With the router the last sender is gone: the thread ends after the last extraction.
    tokio::task::spawn_blocking(move || extraction.join()).await.map_err(io::Error::other)?.ok();
    Ok(())
}

/// Extracts memories from one reply after the other.
fn extract_all(replies: &Receiver<Finished>, hooks: &dyn ChatHooks) {
    for Finished { call, request, content_type, reply } in replies {
        let Some(message) = message_of(&content_type, &reply) else { continue };
        // A panic over one reply must not keep the hooks from the next one.
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
    let mut headers = passed_on(&parts.headers);
    let mut extract = None;
    if let Some(call) = call_of(&parts) {
        let Ok(request) = to_bytes(body, MAX_REQUEST).await else {
            let problem = format!("the request breaks off, or is longer than {} MiB", MAX_REQUEST >> 20);
            return refuse(StatusCode::PAYLOAD_TOO_LARGE, &problem);
        };
        // The length may change, and a compressed reply could not be read.
        headers.remove(header::CONTENT_LENGTH);
        headers.remove(header::ACCEPT_ENCODING);
        up = up.body(inject(&proxy.hooks, &call, &request).await);
        extract = Some((proxy.finished, call, request));
    } else if !body.is_end_stream() {
        up = up.body(reqwest::Body::wrap_stream(body.into_data_stream()));
    }
    match up.headers(headers).send().await {
        Ok(reply) => pass_down(reply, extract),
        Err(error) => unreachable(&proxy.upstream, &error),
    }
}

/// The request with memories; unchanged where there are none, or where the hooks fail.
async fn inject(hooks: &Arc<dyn ChatHooks>, call: &Call, request: &Bytes) -> Bytes {
    let (hooks, call, body) = (hooks.clone(), call.clone(), request.clone());
    let injected = tokio::task::spawn_blocking(move || hooks.inject(&call, &body)).await;
    injected.ok().flatten().map_or_else(|| request.clone(), Bytes::from)
}

/// The reply as it comes. Where memories are extracted from it, it is collected on the way and sent to the
/// extraction at its end.
fn pass_down(reply: reqwest::Response, extract: Option<(Sender<Finished>, Call, Bytes)>) -> Response {
    let (status, headers) = (reply.status(), passed_on(reply.headers()));
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let content_type = content_type.unwrap_or_default().to_owned();
    let length = reply.content_length();
    let chunks = reply.bytes_stream();
    let body = match extract.filter(|_| status.is_success()) {
        None => Body::from_stream(chunks),
        Some((to, call, request)) => {
            let finished = Finished { call, request, content_type, reply: Vec::new() };
            let collector =
                Arc::new(Mutex::new(Collector { passed: 0, length, finished: Some((to, finished)) }));
            let collect = {
                let collector = collector.clone();
                move |chunk: &Bytes| lock(&collector).take_chunk(chunk)
            };
            // Reached only after the last chunk: an error, or a client that leaves, ends the stream before.
            let end = stream::once(async move { lock(&collector).finish() }).filter_map(|()| ready(None));
            Body::from_stream(chunks.inspect_ok(collect).chain(end))
        }
    };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

/// A reply that is collected while it is passed on.
struct Collector {
    passed: u64,
    /// Its length, where that is known: a client may not read on to the end of the stream then.
    length: Option<u64>,
    /// The reply and its receiver; `None` when it was sent, or is too long.
    finished: Option<(Sender<Finished>, Finished)>,
}

impl Collector {
    fn take_chunk(&mut self, chunk: &Bytes) {
        self.passed += chunk.len() as u64;
        match &mut self.finished {
            Some((_, finished)) if finished.reply.len() + chunk.len() <= MAX_REPLY => {
                finished.reply.extend_from_slice(chunk);
            }
            _ => self.finished = None,
        }
        if self.length == Some(self.passed) {
            self.finish();
        }
    }

    fn finish(&mut self) {
        if let Some((to, finished)) = self.finished.take() {
            // Fails only where the extraction thread is gone.
            let _ = to.send(finished);
        }
    }
}

impl Drop for Collector {
    /// Some clients hang up at the last event of a stream, before its end: then the reply is complete, too.
    fn drop(&mut self) {
        let is_complete = self.finished.as_ref().is_some_and(|(_, finished)| {
            let tail = &finished.reply[finished.reply.len().saturating_sub(LAST_EVENT)..];
            let tail = String::from_utf8_lossy(tail);
            tail.contains("data: [DONE]") || tail.contains("\"message_stop\"")
        });
        if is_complete {
            self.finish();
        }
    }
}

/// The call of a chat, by its method and path.
fn call_of(parts: &Parts) -> Option<Call> {
    let shape = match parts.uri.path() {
        _ if parts.method != Method::POST => return None,
        path if path.ends_with("/chat/completions") => ApiFormat::OpenAi,
        path if path.ends_with("/v1/messages") => ApiFormat::Anthropic,
        _ => return None,
    };
    let own = |name: &str| {
        let value = parts.headers.get(format!("{OWN_PREFIX}{name}"))?.to_str().ok()?.trim();
        (!value.is_empty()).then(|| value.to_owned())
    };
    let (scope, conversation) = (own("scope"), own("conversation"));
    Some(Call { shape, scope, conversation, extraction: own("extraction") })
}

/// The headers that are passed on to the other side.
fn passed_on(headers: &HeaderMap) -> HeaderMap {
    let named = headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let named: Vec<String> =
        named.flat_map(|value| value.split(',')).map(|name| name.trim().to_lowercase()).collect();
    let is_passed_on = |name: &HeaderName| {
        let name_text = name.as_str();
        !HOP_BY_HOP.contains(name)
            && !name_text.starts_with(OWN_PREFIX)
            && !named.iter().any(|named| named == name_text)
    };
    let kept = headers.iter().filter(|(name, _)| is_passed_on(name));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// The upstream gave no answer. The request's address is left out: it could hold a key.
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

/// An error of the proxy, in the form that clients of chat servers understand.
fn refuse(status: StatusCode, problem: &str) -> Response {
    let error = json!({"message": problem, "type": "memories_proxy", "param": null, "code": status.as_u16()});
    answer(status, &json!({"error": error}))
}

fn answer(status: StatusCode, body: &serde_json::Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}
