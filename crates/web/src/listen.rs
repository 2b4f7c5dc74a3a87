//! Accepts connections and reads requests from them, within limits.

use std::convert::Infallible;
use std::error::Error;
use std::future::{Future, pending};
use std::io;
use std::iter::successors;
use std::net::TcpListener;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::BoxError;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::response::Response;
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use socket2::SockRef;
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};

use crate::connections::{Answer, Connections};

/// Longest head of a request: its first line and its headers, in bytes.
const MAX_HEAD: usize = 64 << 10;

/// Time without a byte of a body when the server ends.
const IDLE_AT_END: Duration = Duration::from_secs(1);

/// Callers that the system lets wait to be accepted, as far as its own limit goes. The standard library lets 128: each
/// further one would try again after a second.
const WAITING: i32 = 1024;

/// Pause before the next connection is accepted where the system has no room for it.
const NO_ROOM: Duration = Duration::from_millis(100);

/// Limits on what callers may hold.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Number of connections at the same time; others wait to be accepted.
    pub connections: usize,
    /// Time for the head of a request, from the beginning of the connection or the end of the answer before.
    pub header: Duration,
    /// Time without a byte of a body that has not ended.
    pub body: Duration,
    /// Time in which nothing of an answer is read.
    pub answer: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        let seconds = Duration::from_secs;
        Limits { connections: 1000, header: seconds(10), body: seconds(30), answer: seconds(30) }
    }
}

/// Gives each request to the handler until `until` is ready, then lets the running ones end. Returns the number of
/// connections that had not ended after `grace`.
///
/// # Errors
///
/// When the socket cannot be used.
pub async fn serve<H, A>(
    listener: TcpListener,
    limits: Limits,
    grace: Duration,
    handler: H,
    until: impl Future<Output = ()>,
) -> io::Result<usize>
where
    H: Fn(Request) -> A + Clone + Send + 'static,
    A: Future<Output = Response> + Send + 'static,
{
    listener.set_nonblocking(true)?;
    SockRef::from(&listener).listen(WAITING)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let room = Arc::new(Semaphore::new(limits.connections));
    let connections = Arc::new(Connections::default());
    let watched = connections.clone();
    let watching = tokio::spawn(async move { watched.watch(limits.answer).await });
    let running = GracefulShutdown::new();
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.header).max_buf_size(MAX_HEAD);
    let mut until = pin!(until);
    let (end, ending) = watch::channel(false);
    loop {
        let (stream, permit) = tokio::select! {
            () = &mut until => break,
            accepted = accept(&listener, &room, &connections) => accepted,
        };
        let (handler, idle, has_request) = (handler.clone(), limits.body, Arc::new(AtomicBool::new(false)));
        let own = connections.begin();
        let service = {
            let (has_request, ending, own) = (has_request.clone(), ending.clone(), own.clone());
            service_fn(move |request: hyper::Request<Incoming>| {
                has_request.store(true, Ordering::Relaxed);
                own.is_asked();
                let own = own.clone();
                let timed = |body| TimedBody { body, idle, ending: ending.clone(), waiting: None };
                let answer = handler(request.map(|body| Body::new(timed(body))));
                async move { Ok::<_, Infallible>(answer.await.map(|body| Answer::new(body, own))) }
            })
        };
        let connection = running.watch(http.serve_connection(TokioIo::new(stream), service));
        let never_asked = never_asked(has_request, ending.clone());
        tokio::spawn(async move {
            tokio::select! {
                // A caller that leaves is no failure of the server.
                _ = connection => {}
                () = never_asked => {}
                () = own.is_cut() => {}
            }
            drop(permit);
        });
    }
    drop(listener);
    watching.abort();
    end.send_replace(true);
    let have_ended = timeout(grace, running.shutdown()).await.is_ok();
    Ok(if have_ended { 0 } else { limits.connections - room.available_permits() })
}

/// Ready when the server ends, and no request has come to it by then.
async fn never_asked(has_request: Arc<AtomicBool>, mut ending: watch::Receiver<bool>) {
    ended(&mut ending).await;
    if has_request.load(Ordering::Relaxed) {
        pending::<()>().await;
    }
}

/// Ready when the server ends.
async fn ended(ending: &mut watch::Receiver<bool>) {
    // An error says that the sender is gone, and with it the server.
    let _ = ending.wait_for(|ended| *ended).await;
}

/// The next connection, as soon as there is room for it. One that waits for its head makes room where there is none.
async fn accept(
    listener: &tokio::net::TcpListener,
    room: &Arc<Semaphore>,
    connections: &Connections,
) -> (TcpStream, OwnedSemaphorePermit) {
    let stream = loop {
        match listener.accept().await {
            Ok((stream, _)) => break stream,
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            // Often too many open files; some are closed soon.
            Err(_) => sleep(NO_ROOM).await,
        }
    };
    // Each token of a stream is a packet: without this it could wait for the next one.
    let _ = stream.set_nodelay(true);
    if room.available_permits() == 0 {
        tokio::select! {
            () = connections.make_room() => {}
            permit = room.clone().acquire_owned() => return (stream, permit.expect(OPEN)),
        }
    }
    (stream, room.clone().acquire_owned().await.expect(OPEN))
}

/// Why a permit always comes.
const OPEN: &str = "the semaphore is never closed";

/// A caller stopped in the middle of a body.
#[derive(Debug, thiserror::Error)]
#[error("no byte of the body came for too long")]
struct Stalled;

/// True if an error comes from a caller that stopped in the middle of a body.
pub fn is_stalled(error: &(dyn Error + 'static)) -> bool {
    successors(Some(error), |&error| error.source()).any(|error| error.is::<Stalled>())
}

/// A body that fails when its caller sends nothing for too long while it is awaited.
struct TimedBody {
    body: Incoming,
    idle: Duration,
    ending: watch::Receiver<bool>,
    waiting: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl HttpBody for TimedBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            self.waiting = None;
            return Poll::Ready(frame.map(|frame| frame.map_err(BoxError::from)));
        }
        let idle = self.idle;
        let mut ending = self.ending.clone();
        let waiting = self.waiting.get_or_insert_with(|| {
            Box::pin(async move {
                let end = async {
                    ended(&mut ending).await;
                    sleep(IDLE_AT_END).await;
                };
                let _ = timeout(idle, end).await;
            })
        });
        ready!(waiting.as_mut().poll(context));
        self.waiting = None;
        Poll::Ready(Some(Err(Stalled.into())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
