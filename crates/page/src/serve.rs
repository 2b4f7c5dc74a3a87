//! The server of the page: the page itself, its data, updates, the search, and a person's changes.
//!
//! Requests that the guard lets in enter. It always holds that
//!
//! * no page of another site gets an answer, and with a token nobody without it does;
//! * nothing is changed without `--edit`, and then only with the token, which no answer to a cookie has;
//! * the memory file is the only state: a server that starts anew shows the same.

use std::convert::Infallible;
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::json;
use tokio::sync::broadcast::{self, error::RecvError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::edits::Edits;
use crate::html;
use crate::live::{Live, News};
use crate::world::PageFacts;
use memories_document::types::hint::{Hint, Remedy, with_causes};
use memories_document::types::lock::lock;
use memories_notebook::{Clock, MemoryObjects, Notebook};
use memories_recall::Limits;
use memories_search::filter::Filter;
use memories_search::{Question, SearchError, Searcher};
use memories_store::StoreError;
use memories_web::{BodyRoom, Guard, Refusal, TOKEN_HEADER, Token};

/// Time between two looks at the files.
const LOOK: Duration = Duration::from_millis(40);

/// Time after which a page is told that the server is still there.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// News that a slow page may be behind; then it fetches the data anew.
const KEPT_NEWS: usize = 64;

/// Longest request, in bytes.
const MAX_BODY: usize = 1 << 20;

/// Bytes of all requests.
const MAX_BODIES: usize = 64 << 20;

/// Streams of news at the same time.
const MAX_STREAMS: usize = 200;

/// Answers that are worked at, at the same time.
const MAX_WORK: usize = 4;

/// Memories that a search finds.
const HITS: usize = 20;

/// Time for running answers when the server ends.
const GRACE: Duration = Duration::from_secs(1);

/// Settings of the server: its listener, its callers and its rights.
pub struct ServeSettings {
    /// Accepts the connections.
    pub listener: TcpListener,
    /// Decides which requests are answered.
    pub guard: Guard,
    /// Limits on connections.
    pub limits: memories_web::Limits,
    /// The memory file.
    pub notebook: Notebook,
    /// Searches it.
    pub searcher: Searcher,
    /// The title of the page.
    pub title: String,
    /// The name of the memory file on the page.
    pub file: String,
    /// A random value of the cookie by which a browser that came with the token may read, if the guard asks for one.
    pub session: Option<Token>,
    /// True if the page may change memories.
    pub can_edit: bool,
    /// The limits of a recall.
    pub recall: Limits,
    /// The present time.
    pub clock: Clock,
}

/// The state that all requests share.
struct Door {
    guard: Guard,
    page: PageFacts,
    live: Mutex<Live>,
    news: broadcast::Sender<News>,
    searcher: Searcher,
    clock: Clock,
    edits: Mutex<Edits>,
    bodies: BodyRoom,
    /// A permit for each answer that is worked at.
    working: Semaphore,
    /// A permit for each stream of news, so that other requests have connections.
    streams: Arc<Semaphore>,
    /// The name of the cookie and its value. Browsers send it to all ports of a host, so it is not the token.
    cookie: Option<(String, Token)>,
}

/// Serves until `until` is ready. `warn` is told what cannot be read meanwhile.
///
/// # Errors
///
/// When the files cannot be read at first, or the socket cannot be used.
pub fn serve(
    settings: ServeSettings,
    warn: impl Fn(String) + Send + 'static,
    until: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let ServeSettings {
        listener,
        guard,
        limits,
        notebook,
        searcher,
        title,
        file,
        session,
        can_edit,
        recall,
        clock,
    } = settings;
    let port = listener.local_addr()?.port();
    let cookie = session.map(|session| (format!("memories-{port}"), session));
    let page =
        PageFacts { title, file, made: clock.now(), mode: "serve", server: clock.fresh_id(), can_edit };
    let live = Live::open(notebook.store().clone(), page.clone(), recall, clock.clone())?;
    let (news, _) = broadcast::channel(KEPT_NEWS);
    let door = Arc::new(Door {
        guard,
        page,
        live: Mutex::new(live),
        news,
        searcher,
        clock,
        edits: Mutex::new(Edits::new(notebook)),
        bodies: BodyRoom::new(MAX_BODY, MAX_BODIES),
        working: Semaphore::new(MAX_WORK),
        streams: Arc::new(Semaphore::new(MAX_STREAMS)),
        cookie,
    });
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let served = runtime.block_on(async {
        let watching = tokio::spawn(watch(door.clone(), warn));
        let ending = async {
            until.await;
            watching.abort();
            // Streams of news end, so that their connections can.
            let _ = door.news.send(News::End);
        };
        let handler = {
            let door = door.clone();
            move |request| answer(door.clone(), request)
        };
        memories_web::serve(listener, limits, GRACE, handler, ending).await
    });
    runtime.shutdown_background();
    served?;
    Ok(())
}

/// The server cannot begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The files cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The socket cannot be used.
    #[error("cannot serve")]
    Socket(#[from] std::io::Error),
}

impl Door {
    /// Looks at the files, and tells all pages what is new.
    fn look(&self) -> Result<(), StoreError> {
        let mut live = lock(&self.live);
        if let Some(news) = live.poll()? {
            // Nobody may be there to be told.
            let _ = self.news.send(news);
        }
        Ok(())
    }
}

/// Looks at the files again and again, as long as a page is open.
async fn watch(door: Arc<Door>, warn: impl Fn(String) + Send + 'static) {
    let mut looks = interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut last_problem = None;
    loop {
        looks.tick().await;
        let looking = door.clone();
        if looking.news.receiver_count() == 0 {
            continue;
        }
        let problem = match spawn_blocking(move || looking.look()).await {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(error) => Some(error.to_string()),
        };
        if problem != last_problem {
            problem.iter().for_each(|problem| warn(problem.clone()));
            last_problem = problem;
        }
    }
}

async fn answer(door: Arc<Door>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    if let Err(refusal) = door.guard.check(&parts) {
        return with_safe_headers(refused(refusal));
    }
    let answered = match (parameter(&parts, "token"), &door.cookie) {
        (Some(token), Some(cookie)) if parts.uri.path() == "/" => enter(&door, cookie, &token),
        _ => {
            let sends_token = parts.headers.contains_key(TOKEN_HEADER);
            match door.guard.check_token(&parts.headers) {
                Err(refusal) if sends_token || !has_cookie(&door, &parts.headers) => without_token(&refusal),
                _ => route(&door, &parts, sends_token, body).await,
            }
        }
    };
    with_safe_headers(answered)
}

/// Gives a browser that comes with the right token a cookie to read with, and sends it to the page. A page that edits gets
/// the token behind the `#` of its address, which no browser sends to any server.
fn enter(door: &Door, cookie: &(String, Token), token: &str) -> Response {
    let (name, session) = cookie;
    let mut headers = HeaderMap::new();
    let Ok(sent) = HeaderValue::from_str(token) else {
        return failed(StatusCode::BAD_REQUEST, "the token has characters that no header carries", None);
    };
    headers.insert(TOKEN_HEADER, sent);
    if let Err(refusal) = door.guard.check_token(&headers) {
        return without_token(&refusal);
    }
    let cookie = format!("{name}={}; HttpOnly; SameSite=Strict; Path=/", session.text());
    let kept = utf8_percent_encode(token, NON_ALPHANUMERIC);
    let page = if door.page.can_edit { format!("/#token={kept}") } else { "/".to_owned() };
    (StatusCode::SEE_OTHER, [(header::LOCATION, page), (header::SET_COOKIE, cookie)]).into_response()
}

/// True if a browser sends the cookie.
fn has_cookie(door: &Door, headers: &HeaderMap) -> bool {
    let Some((own, session)) = &door.cookie else { return false };
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|cookies| cookies.to_str().ok());
    let mut pairs =
        cookies.flat_map(|cookies| cookies.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.any(|(name, value)| name == own && session.is(value.as_bytes()))
}

async fn route(door: &Arc<Door>, parts: &Parts, sends_token: bool, body: Body) -> Response {
    match (&parts.method, parts.uri.path()) {
        (&Method::GET, "/") => typed("text/html; charset=utf-8", html::live(&door.page)),
        (&Method::GET, "/data") => {
            blocking(door, |door| {
                // The last data that was read is better than none, and the watch reports the error.
                let _ = door.look();
                typed("application/json", lock(&door.live).data())
            })
            .await
        }
        (&Method::GET, "/events") => match door.streams.clone().try_acquire_owned() {
            Ok(permit) => events(door, permit).into_response(),
            Err(_) => {
                let problem = "too many pages are open";
                failed(StatusCode::SERVICE_UNAVAILABLE, problem, Some("close some, then load this one anew"))
            }
        },
        (&Method::GET, "/search") => {
            let question = parameter(parts, "q").unwrap_or_default();
            blocking(door, move |door| search(door, &question)).await
        }
        (&Method::POST, "/edit") => edit(door, parts, sends_token, body).await,
        (_, "/" | "/data" | "/events" | "/search" | "/edit") => failed(
            StatusCode::METHOD_NOT_ALLOWED,
            "this address does not take that method",
            Some("open the page in a browser"),
        ),
        _ => failed(StatusCode::NOT_FOUND, "nothing is served at this address", Some("the page is at `/`")),
    }
}

/// The stream of what is new. It begins with the number of steps, by which a page knows whether it missed something.
/// It holds its permit until it ends.
fn events(
    door: &Door,
    permit: OwnedSemaphorePermit,
) -> Sse<impl stream::Stream<Item = Result<Event, Infallible>> + use<>> {
    // Subscribed first, so that news during the greeting follow it.
    let news = door.news.subscribe();
    let hello = event("hello", lock(&door.live).hello().to_string());
    Sse::new(stream::unfold((news, Some(hello), permit), |(mut news, hello, permit)| async move {
        if let Some(hello) = hello {
            return Some((Ok(hello), (news, None, permit)));
        }
        let next = match timeout(KEEP_ALIVE, news.recv()).await {
            Err(_) => Event::default().comment("still here"),
            Ok(Ok(News::Change(change))) => event("change", change),
            Ok(Ok(News::Anew) | Err(RecvError::Lagged(_))) => event("anew", "{}".to_owned()),
            Ok(Ok(News::End) | Err(RecvError::Closed)) => return None,
        };
        Some((Ok(next), (news, None, permit)))
    }))
}

fn event(name: &str, data: String) -> Event {
    Event::default().event(name).data(data)
}

fn search(door: &Door, question: &str) -> Response {
    let found = || -> Result<serde_json::Value, SearchError> {
        let now = door.clock.now();
        let question = Question::new(question).at(&now).with_weak();
        let found = door.searcher.query(question, &Filter::default(), HITS)?;
        let files = door.searcher.files().current()?;
        let objects = MemoryObjects::of(&files);
        let memories = found.hits.iter().map(|hit| {
            let mut object = json!(objects.object(&hit.scope, &hit.name, &hit.memory));
            object["relevance"] = json!((f64::from(hit.relevance) * 1000.0).round() / 1000.0);
            if hit.is_weak {
                object["weak"] = json!(true);
            }
            object
        });
        Ok(json!({"version": 1, "query": found.question.text, "memories": memories.collect::<Vec<_>>()}))
    };
    match found() {
        Ok(found) => typed("application/json", found.to_string()),
        Err(error) => refusal_of(&error),
    }
}

async fn edit(door: &Arc<Door>, parts: &Parts, sends_token: bool, body: Body) -> Response {
    if !door.page.can_edit {
        let hint = "start it with `memories serve --edit`";
        return failed(StatusCode::FORBIDDEN, "this page only reads", Some(hint));
    }
    // A browser sends the cookie by itself, and the header only for a script that knows the token.
    if !sends_token {
        let problem = "this change does not come from the page";
        return failed(StatusCode::FORBIDDEN, problem, Some("load the page anew"));
    }
    if let Err(refusal) = Guard::check_json(&parts.headers) {
        return refused(refusal);
    }
    let (body, _room) = match door.bodies.read(body).await {
        Ok(read) => read,
        Err(error) => return failed(StatusCode::PAYLOAD_TOO_LARGE, &error.to_string(), None),
    };
    blocking(door, move |door| match lock(&door.edits).make(&body) {
        Ok(said) => typed("application/json", json!({"version": 1, "message": said}).to_string()),
        Err(error) => refusal_of(&error),
    })
    .await
}

/// Does work that takes its time, beside that of few others: what they make is held until it is read.
async fn blocking(door: &Arc<Door>, work: impl FnOnce(&Door) -> Response + Send + 'static) -> Response {
    let _working = door.working.acquire().await;
    let door = door.clone();
    spawn_blocking(move || work(&door))
        .await
        .unwrap_or_else(|_| failed(StatusCode::INTERNAL_SERVER_ERROR, "the work broke off", None))
}

/// A parameter of the address.
fn parameter(parts: &Parts, name: &str) -> Option<String> {
    let pairs = parts.uri.query()?.split('&').filter_map(|pair| pair.split_once('='));
    let value = pairs.into_iter().find(|(key, _)| *key == name)?.1.replace('+', " ");
    Some(percent_decode_str(&value).decode_utf8_lossy().into_owned())
}

fn typed(content_type: &'static str, body: impl Into<Body>) -> Response {
    ([(header::CONTENT_TYPE, HeaderValue::from_static(content_type))], body.into()).into_response()
}

fn failed(status: StatusCode, problem: &str, hint: Option<&str>) -> Response {
    error_answer(status, problem, hint, if status.is_server_error() { 70 } else { 4 })
}

fn error_answer(status: StatusCode, problem: &str, hint: Option<&str>, code: u8) -> Response {
    let error = json!({"version": 1, "error": problem, "hint": hint, "code": code}).to_string();
    (status, typed("application/json", error)).into_response()
}

fn without_token(refusal: &Refusal) -> Response {
    let hint = "open the address that `memories serve` prints";
    failed(refusal.status, "this page needs the token of its server", Some(hint))
}

fn refused(refusal: Refusal) -> Response {
    failed(refusal.status, &refusal.problem, Some(&refusal.hint))
}

/// The answer for an error that a command would print, with the exit code of that command.
fn refusal_of(error: &(impl Hint + std::error::Error + 'static)) -> Response {
    let advice = error.advice();
    let (status, code) = match advice.remedy {
        Remedy::Retry => (StatusCode::SERVICE_UNAVAILABLE, 3),
        Remedy::CommandLine => (StatusCode::BAD_REQUEST, 2),
        Remedy::Fix => (StatusCode::BAD_REQUEST, 4),
    };
    let hint = (!advice.hints.is_empty()).then(|| advice.hints.join("; "));
    error_answer(status, &with_causes(error), hint.as_deref(), code)
}

/// No other site may frame the page or read what it loads, and nothing is kept by the browser.
fn with_safe_headers(mut response: Response) -> Response {
    let policy = HeaderValue::from_str(html::live_policy());
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    if let Ok(policy) = policy {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}
