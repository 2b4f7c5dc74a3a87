//! The proxy's own server: each request goes up, and each reply down, as it comes.
//!
//! Requests enter by a listening socket, and the guard decides which are answered. A chat request is read whole, for
//! memories are injected into it; all else, and every reply, is streamed.

use std::future::Future;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::api_format::ApiFormat;
use crate::proxy::call::{Call, ChatHooks};
use crate::proxy::collect::{Extraction, pass_down};
use crate::proxy::finished::Finished;
use crate::proxy::headers::{OWN_PREFIX, passed_up};
use crate::proxy::pauses::Seldom;
use crate::proxy::replies::Replies;
use crate::proxy::request::{ChatBody, Room};
use crate::proxy::tool::offered;
use crate::proxy::tool_round::without_tool;
use crate::proxy::upstream::Upstream;
use memories_web::{Guard, Limits, Refusal, is_stalled};

/// The server behind the proxy, and the callers before it.
#[derive(Debug)]
pub struct ProxySettings {
    /// Answers the chats.
    pub upstream: Upstream,
    /// Decides which requests are answered.
    pub guard: Guard,
    /// Limits on connections.
    pub limits: Limits,
    /// Time that a request waits for its memories.
    pub memory_timeout: Duration,
    /// Time for running replies and extractions to end.
    pub grace: Duration,
}

/// The state of the server.
#[derive(Clone)]
struct Proxy {
    settings: Arc<ProxySettings>,
    client: reqwest::Client,
    hooks: Arc<dyn ChatHooks>,
    room: Arc<Room>,
    replies: Arc<Replies>,
    /// Chats that did not get their memories in time.
    late: Arc<Seldom>,
}

/// See [`super::serve`].
pub async fn serve(
    listener: TcpListener,
    settings: ProxySettings,
    hooks: Arc<dyn ChatHooks>,
    until: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let (limits, grace) = (settings.limits.clone(), settings.grace);
    let client = settings.upstream.client().map_err(io::Error::other)?;
    let replies = Arc::new(Replies::new(hooks.clone()));
    let extraction = replies.start();
    let proxy = Proxy {
        settings: Arc::new(settings),
        client,
        hooks: hooks.clone(),
        room: Arc::new(Room::new()),
        replies: replies.clone(),
        late: Arc::default(),
    };
    let (asked, begun) = tokio::sync::oneshot::channel();
    let until = async {
        until.await;
        let _ = asked.send(());
    };
    let over = tokio::spawn(async move {
        let _ = begun.await;
        tokio::time::sleep(grace).await;
    });
    let cut_off =
        memories_web::serve(listener, limits, grace, move |request| answer(proxy.clone(), request), until)
            .await?;
    match cut_off {
        0 => {}
        1 => hooks.warn("1 connection was cut off in the middle of its reply".to_owned()),
        _ => hooks.warn(format!("{cut_off} connections were cut off in the middle of their replies")),
    }
    replies.end(extraction, over).await;
    Ok(())
}

/// The answer to a request, if the guard lets it in.
async fn answer(proxy: Proxy, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let guard = &proxy.settings.guard;
    let checked = guard.check(&parts).and_then(|()| match parts.uri.path() {
        "/healthz" => Ok(()),
        _ => guard.check_token(&parts.headers).map(drop),
    });
    match checked {
        Err(refusal) => refuse(refusal),
        Ok(()) if parts.uri.path() == "/healthz" => healthy(&proxy, &parts),
        Ok(()) => pass(proxy, parts, body).await,
    }
}

/// Answers that the proxy runs. Only callers with the token learn the address of the server behind it.
fn healthy(proxy: &Proxy, parts: &Parts) -> Response {
    let mut body = json!({"version": 1, "status": "ok"});
    let ProxySettings { guard, upstream, .. } = &*proxy.settings;
    if guard.check_token(&parts.headers).is_ok() {
        body["upstream"] = json!(upstream.shown());
    }
    json_answer(StatusCode::OK, &body)
}

async fn pass(proxy: Proxy, parts: Parts, body: Body) -> Response {
    let url = proxy.settings.upstream.url_of(&parts.uri);
    let mut up = proxy.client.request(parts.method.clone(), url.clone());
    let mut headers = passed_up(&parts.headers);
    let (mut extraction, mut with_tool) = (None, None);
    if let Some(call) = call_of(&parts) {
        if let Err(refusal) = Guard::check_json(&parts.headers) {
            return refuse(refusal);
        }
        match proxy.room.read(body).await {
            Ok(ChatBody::Whole(request, kept)) => {
                // The length may change, and a compressed reply could not be read.
                headers.remove(header::CONTENT_LENGTH);
                headers.remove(header::ACCEPT_ENCODING);
                let Injected { body, has_tool } = inject(&proxy, &call, &request).await;
                with_tool = has_tool.then(|| body.clone());
                up = up.body(body);
                let finished =
                    Finished { call, request, kept, content_type: String::new(), reply: Vec::new() };
                extraction = Some(Extraction { to: proxy.replies.clone(), finished });
            }
            Ok(ChatBody::Passing(request)) => {
                proxy.hooks.warn(
                    "a chat goes on without memories: it is too large, or too many are at work".to_owned(),
                );
                up = up.body(request);
            }
            Err(error) => return broken(&error),
        }
    } else if !body.is_end_stream() {
        up = up.body(reqwest::Body::wrap_stream(body.into_data_stream()));
    }
    let passed = match up.headers(headers.clone()).send().await {
        Ok(reply) => match (with_tool, extraction) {
            (Some(sent), Some(extraction)) => {
                let again = |body: Vec<u8>| proxy.client.post(url).headers(headers).body(body).send();
                without_tool(reply, &sent, extraction, again).await
            }
            (_, extraction) => Ok(pass_down(reply, extraction)),
        },
        Err(error) => Err(error),
    };
    match passed {
        Ok(response) => response,
        Err(error) if is_stalled(&error) => broken(&error),
        Err(error) => unreachable(&proxy.settings.upstream, &error),
    }
}

/// The body of a request as it goes up.
struct Injected {
    body: Bytes,
    /// It offers the tool `remember`.
    has_tool: bool,
}

/// The request with memories and the tool; unchanged where there are none, where the hooks fail, or when the time is
/// over. The hooks may go on then, and keep their turn so long.
async fn inject(proxy: &Proxy, call: &Call, request: &Bytes) -> Injected {
    let injected = async {
        let turn = proxy.room.turn(request).await;
        let (hooks, call, body) = (proxy.hooks.clone(), call.clone(), request.clone());
        let inject = move || {
            let injected = hooks.inject(&call, &body).map_or(body, Bytes::from);
            let with_tool = hooks.offers_tool(&call).and_then(|scale| offered(&injected, call.shape, scale));
            drop(turn);
            let has_tool = with_tool.is_some();
            Injected { body: with_tool.map_or(injected, Bytes::from), has_tool }
        };
        tokio::task::spawn_blocking(inject).await.ok()
    };
    let unchanged = || Injected { body: request.clone(), has_tool: false };
    let limit = proxy.settings.memory_timeout;
    match tokio::time::timeout(limit, injected).await {
        Ok(injected) => injected.unwrap_or_else(unchanged),
        Err(_) => {
            let problem = format!("a chat goes on without memories: these were not found within {limit:?}");
            if let Some(warning) = proxy.late.warning(1, &problem) {
                proxy.hooks.warn(warning);
            }
            unchanged()
        }
    }
}

/// The call of a chat, by its method and path.
fn call_of(parts: &Parts) -> Option<Call> {
    if parts.method != Method::POST {
        return None;
    }
    let shape = match parts.uri.path() {
        path if path.ends_with("/chat/completions") => ApiFormat::OpenAi,
        path if path.ends_with("/v1/messages") => ApiFormat::Anthropic,
        path if path.ends_with("/responses") => ApiFormat::Responses,
        _ => return None,
    };
    let own = |name: &str| {
        let value = parts.headers.get(format!("{OWN_PREFIX}{name}"))?.to_str().ok()?.trim();
        (!value.is_empty()).then(|| value.to_owned())
    };
    let (scope, conversation) = (own("scope"), own("conversation"));
    Some(Call { shape, scope, conversation, extraction: own("extraction") })
}

/// The client sent only a part of its request.
fn broken(error: &(dyn std::error::Error + 'static)) -> Response {
    let (status, problem) = if is_stalled(error) {
        (StatusCode::REQUEST_TIMEOUT, "the request stops in the middle of its body")
    } else {
        (StatusCode::BAD_REQUEST, "the request breaks off in the middle of its body")
    };
    refuse(Refusal { status, problem: problem.to_owned(), hint: "send it again".to_owned() })
}

/// The upstream gave no answer. The request's address is left out: it could hold a key.
fn unreachable(upstream: &Upstream, error: &reqwest::Error) -> Response {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    let upstream = upstream.shown();
    let problem = if error.is_connect() {
        format!("`{upstream}` behind the proxy cannot be reached: {cause}")
    } else {
        format!("`{upstream}` behind the proxy gave no reply: {cause}")
    };
    error_answer(StatusCode::BAD_GATEWAY, &problem)
}

fn refuse(refusal: Refusal) -> Response {
    let Refusal { status, problem, hint } = refusal;
    let mut answer = error_answer(status, &format!("{problem}\nhint: {hint}"));
    if status == StatusCode::UNAUTHORIZED {
        let scheme = header::HeaderValue::from_static("X-Memories-Token");
        answer.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
    }
    answer
}

/// An error of the proxy, in the form that clients of chat servers understand.
fn error_answer(status: StatusCode, problem: &str) -> Response {
    let error = json!({"message": problem, "type": "memories_proxy", "param": null, "code": status.as_u16()});
    json_answer(status, &json!({"error": error}))
}

fn json_answer(status: StatusCode, body: &serde_json::Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}
