//! Accepts connections and reads requests from them, within limits.

use std::convert::Infallible;
use std::error::Error;
use std::future::Future;
use std::io;
use std::iter::successors;
use std::net::TcpListener;
use std::pin::{Pin, pin};
use std::sync::Arc;
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
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Sleep, sleep};

/// Longest head of a request: its first line and its headers, in bytes.
const MAX_HEAD: usize = 64 << 10;

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
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { connections: 1000, header: Duration::from_secs(10), body: Duration::from_secs(30) }
    }
}

/// Gives each request to the handler until `until` is ready, then lets the running ones end.
///
/// # Errors
///
/// When the socket cannot be used.
pub async fn serve<H, A>(
    listener: TcpListener,
    limits: Limits,
    handler: H,
    until: impl Future<Output = ()>,
) -> io::Result<()>
where
    H: Fn(Request) -> A + Clone + Send + 'static,
    A: Future<Output = Response> + Send + 'static,
{
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let connections = Arc::new(Semaphore::new(limits.connections));
    let running = GracefulShutdown::new();
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.header).max_buf_size(MAX_HEAD);
    let mut until = pin!(until);
    loop {
        let (stream, permit) = tokio::select! {
            () = &mut until => break,
            accepted = accept(&listener, &connections) => accepted,
        };
        let (handler, idle) = (handler.clone(), limits.body);
        let service = service_fn(move |request: hyper::Request<Incoming>| {
            let answer = handler(request.map(|body| Body::new(TimedBody { body, idle, waiting: None })));
            async move { Ok::<_, Infallible>(answer.await) }
        });
        let connection = running.watch(http.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            // A caller that leaves is no failure of the server.
            let _ = connection.await;
            drop(permit);
        });
    }
    drop(listener);
    running.shutdown().await;
    Ok(())
}

/// The next connection, as soon as there is room for it.
async fn accept(
    listener: &tokio::net::TcpListener,
    connections: &Arc<Semaphore>,
) -> (TcpStream, OwnedSemaphorePermit) {
    let permit = connections.clone().acquire_owned().await.expect("the semaphore is never closed");
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // Each token of a stream is a packet: without this it could wait for the next one.
                let _ = stream.set_nodelay(true);
                return (stream, permit);
            }
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            // Often too many open files; some are closed soon.
            Err(_) => sleep(NO_ROOM).await,
        }
    }
}

/// A caller stopped in the middle of a body.
#[derive(Debug, thiserror::Error)]
#[error("no byte of the body came for {0:?}")]
struct Stalled(Duration);

/// True if an error comes from a caller that stopped in the middle of a body.
pub fn is_stalled(error: &(dyn Error + 'static)) -> bool {
    successors(Some(error), |&error| error.source()).any(|error| error.is::<Stalled>())
}

/// A body that fails when its caller sends nothing for too long while it is awaited.
struct TimedBody {
    body: Incoming,
    idle: Duration,
    waiting: Option<Pin<Box<Sleep>>>,
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
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(idle)));
        ready!(waiting.as_mut().poll(context));
        Poll::Ready(Some(Err(Stalled(idle).into())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
