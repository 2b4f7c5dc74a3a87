//! The server over HTTP: many clients by the protocol's streamable HTTP, at one path.
//!
//! Requests that the guard lets in enter; the SDK answers them, and its answers leave. It always holds that
//!
//! * no request without a right token reaches the SDK, and no token does;
//! * a session answers only the caller who began it, and the name of a caller is that of the token of each request;
//! * bodies have a limit, each and all together, and so have sessions, connections and calls;
//! * each error is one of JSON-RPC, with the status that the protocol gives it;
//! * when the server ends, calls that run have [`GRACE`] to be answered.

use std::net::TcpListener;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::BoxError;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hyper::body::{Frame, SizeHint};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::mcp::error::ServeError;
use crate::mcp::handler::Server;
use crate::mcp::malformed::{Line, NOT_REQUEST, read, refusal};
use crate::mcp::sessions::Sessions;
use memories_document::types::Writer;
use memories_document::types::json::without_mark;
use memories_web::{BodyError, BodyRoom, Guard, Limits, Refusal, count_values};

/// The path of the protocol.
pub(crate) const PATH: &str = "/mcp";

/// The path that says that the server runs.
const HEALTH: &str = "/healthz";

const SESSION: &str = "mcp-session-id";

/// Sessions at the same time.
const MAX_SESSIONS: usize = 1000;

/// Longest body, in bytes, equal to the longest line on stdio.
const MAX_BODY: usize = 16 << 20;

/// Bodies of all requests that are read or answered, in bytes.
const MAX_BODIES: usize = 64 << 20;

/// JSON values of a body. A value takes up to 100 bytes.
const MAX_VALUES: usize = 500_000;

/// Time for calls to be answered when the server ends.
const GRACE: Duration = Duration::from_secs(5);

/// Time after that for connections to end.
const CLOSING: Duration = Duration::from_secs(1);

/// JSON-RPC's code of a failure within the server.
const INTERNAL: i32 = -32603;

/// The socket, and who may use it.
pub(crate) struct HttpSettings {
    /// Accepts the connections.
    pub listener: TcpListener,
    /// Decides which requests are answered.
    pub guard: Guard,
    /// Limits on connections.
    pub limits: Limits,
}

/// The state that all requests share.
#[derive(Clone)]
struct Door {
    guard: Arc<Guard>,
    sessions: Arc<Sessions>,
    bodies: BodyRoom,
    /// A permit for each call that is answered.
    answering: Arc<Semaphore>,
    service: StreamableHttpService<Server, Sessions>,
}

/// Serves until `until` is ready, and returns the number of connections that were cut off.
///
/// # Errors
///
/// [`ServeError::Listen`].
pub(super) async fn run(
    server: Server,
    settings: HttpSettings,
    until: impl Future<Output = ()>,
) -> Result<usize, ServeError> {
    let HttpSettings { listener, guard, limits } = settings;
    // The guard checks `Host` and `Origin`.
    let config = StreamableHttpServerConfig::default().disable_allowed_hosts().with_json_response(true);
    let config = config.with_max_request_body_bytes(MAX_BODY);
    let end = config.cancellation_token.clone();
    let sessions = Arc::new(Sessions::new(MAX_SESSIONS));
    let service = StreamableHttpService::new(move || Ok(server.for_session()), sessions.clone(), config);
    let most = limits.connections;
    let answering = Arc::new(Semaphore::new(most));
    let bodies = BodyRoom::new(MAX_BODY, MAX_BODIES);
    let door = Door { guard: Arc::new(guard), sessions, bodies, answering: answering.clone(), service };
    let until = async move {
        until.await;
        tokio::spawn(async move {
            // Streams of notifications end with their sessions, so calls come first.
            let _ = timeout(GRACE, answering.acquire_many(u32::try_from(most).unwrap_or(u32::MAX))).await;
            end.cancel();
        });
    };
    let handler = move |request| answer(door.clone(), request);
    memories_web::serve(listener, limits, GRACE + CLOSING, handler, until).await.map_err(ServeError::Listen)
}

/// The answer to a request, if the guard lets it in.
async fn answer(door: Door, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    let caller = match door.admit(&parts) {
        Ok(_) if parts.uri.path() == HEALTH => return healthy(&parts),
        Ok(caller) => caller,
        Err(refusal) => return refuse(refusal),
    };
    parts.headers.remove(header::AUTHORIZATION);
    if let Some(name) = &caller {
        let writer: Writer = name.parse().expect("callers have names of writers");
        parts.extensions.insert(writer);
    }
    let begins = !parts.headers.contains_key(SESSION);
    let response = match parts.method {
        Method::POST => door.post(parts, body).await,
        _ => {
            let is_end = parts.method == Method::DELETE;
            let mut response =
                door.service.handle(Request::from_parts(parts, Body::empty())).await.map(Body::new);
            if is_end && response.status() == StatusCode::ACCEPTED {
                // Some clients take another success for a failure.
                *response.status_mut() = StatusCode::NO_CONTENT;
            }
            response
        }
    };
    if let (true, Some(id)) = (begins, text(response.headers(), SESSION)) {
        door.sessions.claim(id, caller);
    }
    as_json_rpc(response).await
}

impl Door {
    /// Lets a request in, or refuses it. Returns the name of its caller, if the token has one.
    fn admit(&self, parts: &Parts) -> Result<Option<String>, Refusal> {
        self.guard.check(parts)?;
        match parts.uri.path() {
            HEALTH => return Ok(None),
            PATH => {}
            _ => {
                return Err(not_found(
                    "nothing is served at this path",
                    &format!("the protocol is at `{PATH}`"),
                ));
            }
        }
        let caller = self.guard.check_token(&parts.headers)?;
        if parts.method == Method::POST {
            Guard::check_json(&parts.headers)?;
        }
        match text(&parts.headers, SESSION) {
            Some(id) if !self.sessions.is_of(id, caller) => {
                Err(not_found("there is no such session", "begin one with `initialize`"))
            }
            _ => Ok(caller.map(str::to_owned)),
        }
    }

    /// Has a message of a client answered.
    async fn post(&self, parts: Parts, body: Body) -> Response {
        let (body, room) = match self.bodies.read(body).await {
            Ok((body, _)) if count_values(&body) > MAX_VALUES => {
                return refuse(too_large(&format!("the message has more than {MAX_VALUES} JSON values")));
            }
            Ok(read) => read,
            Err(error) => return refuse(unread(error)),
        };
        let body = message_of(body);
        let is_ignored = match read(&body) {
            Line::Refused(refusal) => return json_answer(StatusCode::BAD_REQUEST, refusal),
            Line::Ignored => !body.is_empty(),
            Line::Message(_) => false,
        };
        let answering = self.answering.clone().acquire_owned().await.expect("the semaphore is never closed");
        let response = self.service.handle(Request::from_parts(parts, Body::from(body))).await;
        match response.status() {
            // The content type was right: the SDK could not read the message.
            StatusCode::UNSUPPORTED_MEDIA_TYPE if is_ignored => StatusCode::ACCEPTED.into_response(),
            StatusCode::UNSUPPORTED_MEDIA_TYPE => {
                let refusal = refusal(NOT_REQUEST, "the request has no message", None);
                json_answer(StatusCode::BAD_REQUEST, refusal)
            }
            _ => response.map(|body| Body::new(Held { body: Body::new(body), _permits: [answering, room] })),
        }
    }
}

/// The bytes of a message without a byte order mark and white space around it.
fn message_of(body: Bytes) -> Bytes {
    body.slice_ref(without_mark(body.trim_ascii()).trim_ascii())
}

fn healthy(parts: &Parts) -> Response {
    match parts.method {
        Method::GET | Method::HEAD => {
            json_answer(StatusCode::OK, json!({"version": 1, "status": "ok"}).to_string())
        }
        _ => refuse(Refusal {
            status: StatusCode::METHOD_NOT_ALLOWED,
            problem: format!("`{HEALTH}` is only read"),
            hint: "send `GET`".to_owned(),
        }),
    }
}

fn not_found(problem: &str, hint: &str) -> Refusal {
    Refusal { status: StatusCode::NOT_FOUND, problem: problem.to_owned(), hint: hint.to_owned() }
}

fn too_large(problem: &str) -> Refusal {
    let hint = "send less at once".to_owned();
    Refusal { status: StatusCode::PAYLOAD_TOO_LARGE, problem: problem.to_owned(), hint }
}

fn unread(error: BodyError) -> Refusal {
    let (status, problem) = match error {
        BodyError::TooLong => {
            return too_large(&format!("the message is longer than {} MiB", MAX_BODY >> 20));
        }
        BodyError::Stalled => (StatusCode::REQUEST_TIMEOUT, "the request stops in the middle of its body"),
        BodyError::Broken => (StatusCode::BAD_REQUEST, "the request breaks off in the middle of its body"),
    };
    Refusal { status, problem: problem.to_owned(), hint: "send it again".to_owned() }
}

fn refuse(Refusal { status, problem, hint }: Refusal) -> Response {
    let mut answer = json_answer(status, refusal(code_of(status), &format!("{problem}\nhint: {hint}"), None));
    if status == StatusCode::UNAUTHORIZED {
        answer.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    answer
}

/// The answer as it is, or, where the SDK gave an error in plain text, that one in JSON-RPC.
async fn as_json_rpc(response: Response) -> Response {
    let status = response.status();
    let is_json = text(response.headers(), header::CONTENT_TYPE.as_str())
        .is_some_and(|content_type| content_type.starts_with("application/json"));
    if !(status.is_client_error() || status.is_server_error()) || is_json {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let problem = axum::body::to_bytes(body, MAX_BODY).await.unwrap_or_default();
    let problem = String::from_utf8_lossy(&problem).into_owned();
    parts.headers.remove(header::CONTENT_LENGTH);
    let (_, body) = json_answer(status, refusal(code_of(status), &problem, None)).into_parts();
    parts.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Response::from_parts(parts, body)
}

/// JSON-RPC's code for a status.
fn code_of(status: StatusCode) -> i32 {
    if status.is_server_error() { INTERNAL } else { NOT_REQUEST }
}

fn json_answer(status: StatusCode, body: String) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

/// A header that is text.
fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// The body of an answer, and what it holds until it was sent or its reader is gone.
struct Held {
    body: Body,
    _permits: [OwnedSemaphorePermit; 2],
}

impl HttpBody for Held {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        Pin::new(&mut self.body).poll_frame(context).map_err(BoxError::from)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
