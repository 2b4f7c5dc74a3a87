//! The server over HTTP: many clients by the protocol's streamable HTTP, at one path.
//!
//! Requests that the guard lets in enter; the SDK answers them, and its answers leave. It always holds that
//!
//! * no request without a right token reaches the SDK, and no token does;
//! * a session answers only the caller who began it, and the name of a caller is that of the token of each request;
//! * bodies have a limit, each and all together, and so have sessions, connections and calls;
//! * when the server ends, calls that run have [`GRACE`] to be answered.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::mcp::calls::Room;
use crate::mcp::error::ServeError;
use crate::mcp::handler::Server;
use crate::mcp::sessions::Sessions;
use memories_document::types::Writer;
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

/// JSON-RPC's code of a request that is refused.
const REFUSED: i32 = -32600;

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
    service: StreamableHttpService<Server, LocalSessionManager>,
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
    let service =
        StreamableHttpService::new(move || Ok(server.for_session()), sessions.inner.clone(), config);
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
        door.sessions.begin(id, caller);
    }
    response
}

impl Door {
    /// Lets a request in, or refuses it. Returns the name of its caller, if the token has one.
    fn admit(&self, parts: &Parts) -> Result<Option<String>, Refusal> {
        self.guard.check(parts)?;
        match parts.uri.path() {
            HEALTH => return Ok(None),
            PATH => {}
            _ => {
                let hint = format!("the protocol is at `{PATH}`");
                return Err(refusal(StatusCode::NOT_FOUND, "nothing is served at this path", hint));
            }
        }
        let caller = self.guard.check_token(&parts.headers)?;
        if parts.method == Method::POST {
            Guard::check_json(&parts.headers)?;
        }
        match text(&parts.headers, SESSION) {
            Some(id) if !self.sessions.is_of(id, caller) => {
                let hint = "begin one with `initialize`";
                Err(refusal(StatusCode::NOT_FOUND, "there is no such session", hint))
            }
            _ => Ok(caller.map(str::to_owned)),
        }
    }

    /// Has a message of a client answered.
    async fn post(&self, mut parts: Parts, body: Body) -> Response {
        let (body, room) = match self.bodies.read(body).await {
            Ok((body, _)) if count_values(&body) > MAX_VALUES => {
                return refuse(too_large(format!("the message has more than {MAX_VALUES} JSON values")));
            }
            Ok(read) => read,
            Err(error) => return refuse(unread(error)),
        };
        let answering = self.answering.clone().acquire_owned().await.expect("the semaphore is never closed");
        let making = Room::default();
        parts.extensions.insert(making.clone());
        let response = self.service.handle(Request::from_parts(parts, Body::from(body))).await;
        response.map(|body| {
            // The permits are held until the answer was sent or its reader is gone.
            let permits = [answering, room];
            let data = Body::new(body).into_data_stream();
            Body::from_stream(data.inspect(move |_| {
                let _ = &permits;
                making.leave();
            }))
        })
    }
}

fn healthy(parts: &Parts) -> Response {
    match parts.method {
        Method::GET | Method::HEAD => json_answer(StatusCode::OK, &json!({"version": 1, "status": "ok"})),
        _ => {
            let problem = format!("`{HEALTH}` is only read");
            refuse(refusal(StatusCode::METHOD_NOT_ALLOWED, problem, "send `GET`"))
        }
    }
}

fn refusal(status: StatusCode, problem: impl Into<String>, hint: impl Into<String>) -> Refusal {
    Refusal { status, problem: problem.into(), hint: hint.into() }
}

fn too_large(problem: String) -> Refusal {
    refusal(StatusCode::PAYLOAD_TOO_LARGE, problem, "send less at once")
}

fn unread(error: BodyError) -> Refusal {
    let (status, problem) = match error {
        BodyError::TooLong => {
            return too_large(format!("the message is longer than {} MiB", MAX_BODY >> 20));
        }
        BodyError::Stalled => (StatusCode::REQUEST_TIMEOUT, "the request stops in the middle of its body"),
        BodyError::Broken => (StatusCode::BAD_REQUEST, "the request breaks off in the middle of its body"),
    };
    refusal(status, problem, "send it again")
}

fn refuse(Refusal { status, problem, hint }: Refusal) -> Response {
    let error = json!({"code": REFUSED, "message": format!("{problem}\nhint: {hint}")});
    let mut answer = json_answer(status, &json!({"jsonrpc": "2.0", "id": null, "error": error}));
    if status == StatusCode::UNAUTHORIZED {
        answer.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    answer
}

fn json_answer(status: StatusCode, body: &Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}

/// A header that is text.
fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
