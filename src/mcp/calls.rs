//! Runs calls on threads of their own, with progress, cancellation and protection against panics.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::http::request::Parts;
use rmcp::RoleServer;
use rmcp::model::{ErrorData, ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinError;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use crate::mcp::access::{Step, Watcher};
use memories_document::types::Writer;
use memories_document::types::lock::lock;

/// Interval of progress notifications for a call that reports nothing itself.
const HEARTBEAT: Duration = Duration::from_secs(2);

/// Calls that run or wait for a thread at the same time; more of them are refused.
pub(super) const MAX_CALLS: u32 = 1024;

/// Runs blocking work as soon as its answer has room, with progress notifications if the client asked for them. A
/// cancelled call gets no answer, but a write that has begun is completed. A client over HTTP writes in the name that
/// goes with its token.
///
/// # Errors
///
/// A protocol error if too many calls wait, the call is cancelled or the work panics; the server keeps running.
pub async fn run<T: Send + 'static>(
    calls: &Arc<Semaphore>,
    context: &RequestContext<RoleServer>,
    room: impl Future<Output = Option<Room>>,
    work: impl FnOnce(&Watcher) -> T + Send + 'static,
) -> Result<T, ErrorData> {
    let Ok(permit) = Arc::clone(calls).try_acquire_owned() else {
        return Err(ErrorData::internal_error("too many calls wait already: try again later", None));
    };
    let _room = room.await;
    let (sender, steps) = unbounded_channel::<Step>();
    let watcher = Watcher::new(move |step| {
        // Fails only when the call was cancelled.
        let _ = sender.send(step);
    });
    let watcher = watcher.with_writer(writer_of(context));
    let mine = watcher.clone();
    let task = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        work(&mine)
    });
    let token = context.meta.get_progress_token();
    let mut progress =
        Progress { peer: context.peer.clone(), token, steps, done: 0.0, heartbeat: heartbeat() };
    tokio::pin!(task);
    loop {
        tokio::select! {
            biased;
            () = context.ct.cancelled() => {
                watcher.leave();
                return Err(ErrorData::internal_error("the call was cancelled", None));
            }
            result = &mut task => {
                progress.flush().await;
                return result.map_err(|error| failed(&error));
            }
            () = progress.step() => {}
        }
    }
}

/// Bytes of the answers that are made at the same time.
const MAX_MAKING: u32 = 16 << 20;

/// The memory that an answer takes while it is made, in sizes of the memory file: for its text, its value and its JSON.
const COPIES: u64 = 3;

/// Room for answers that are being made.
#[derive(Debug, Clone)]
pub(super) struct Making(Arc<Semaphore>);

/// The room of one answer. Over HTTP its request keeps it until the connection has the answer and counts it.
#[derive(Debug, Clone, Default)]
pub(super) struct Room(Arc<Mutex<Option<OwnedSemaphorePermit>>>);

impl Making {
    /// Room for all answers.
    pub(super) fn new() -> Making {
        Making(Arc::new(Semaphore::new(MAX_MAKING as usize)))
    }

    /// Waits for the room of an answer from a memory file of this size. Two answers of large files wait for each other.
    pub(super) async fn room(&self, context: &RequestContext<RoleServer>, size: u64) -> Room {
        let room =
            context.extensions.get::<Parts>().and_then(|parts| parts.extensions.get::<Room>().cloned());
        let bytes = u32::try_from(size.saturating_mul(COPIES)).unwrap_or(MAX_MAKING).clamp(1, MAX_MAKING);
        let room = room.unwrap_or_default();
        tokio::select! {
            permit = Arc::clone(&self.0).acquire_many_owned(bytes) => *lock(&room.0) = permit.ok(),
            () = context.ct.cancelled() => {}
        }
        room
    }
}

impl Room {
    /// Gives the room back.
    pub(super) fn leave(&self) {
        lock(&self.0).take();
    }
}

/// An empty stream that ends once no call runs. The SDK takes the end of its input for the moment to stop, and gives
/// running calls five seconds then: too few for a model that thinks.
pub struct EndOfCalls(Pin<Box<dyn Future<Output = ()> + Send>>);

impl EndOfCalls {
    /// Ends when all of `calls` is free. A request that was read just before has its turn first to take a part of it.
    pub fn new(calls: &Arc<Semaphore>) -> EndOfCalls {
        let calls = Arc::clone(calls);
        EndOfCalls(Box::pin(async move {
            tokio::task::yield_now().await;
            // Nobody closes the semaphore.
            let _ = calls.acquire_many(MAX_CALLS).await;
        }))
    }
}

impl AsyncRead for EndOfCalls {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        _: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.0.as_mut().poll(context).map(Ok)
    }
}

/// The writer that the token of a request over HTTP names.
fn writer_of(context: &RequestContext<RoleServer>) -> Option<Writer> {
    context.extensions.get::<Parts>()?.extensions.get().cloned()
}

/// The error of a call that panicked or was aborted.
fn failed(error: &JoinError) -> ErrorData {
    let what = if error.is_panic() { "a bug of the program" } else { "the end of the program" };
    ErrorData::internal_error(format!("the call failed by {what}; stderr says more"), None)
}

fn heartbeat() -> Interval {
    let mut interval = interval_at(Instant::now() + HEARTBEAT, HEARTBEAT);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    interval
}

/// Progress notifications for one call. Their numbers increase, as the protocol requires.
struct Progress {
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    steps: UnboundedReceiver<Step>,
    done: f64,
    heartbeat: Interval,
}

impl Progress {
    /// Waits for the next step or heartbeat and sends it.
    async fn step(&mut self) {
        tokio::select! {
            Some(step) = self.steps.recv() => self.send(step).await,
            _ = self.heartbeat.tick() => {
                self.send(Step { part: None, message: "still at it".to_owned() }).await;
            }
        }
    }

    /// Sends the steps reported before the call ended.
    async fn flush(&mut self) {
        while let Ok(step) = self.steps.try_recv() {
            self.send(step).await;
        }
    }

    async fn send(&mut self, Step { part, message }: Step) {
        let Some(token) = self.token.clone() else { return };
        let part = part.map(|(done, all)| (done as f64, all as f64)).filter(|(done, _)| *done > self.done);
        self.done = part.map_or(self.done + 1.0, |(done, _)| done);
        let mut notification = ProgressNotificationParam::new(token, self.done).with_message(message);
        if let Some((_, all)) = part {
            notification = notification.with_total(all);
        }
        // Fails only when the client is gone.
        let _ = self.peer.notify_progress(notification).await;
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    #[test]
    fn a_panic_ends_its_call_and_nothing_else() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let shared = Arc::new(Mutex::new(1));
        let held = Arc::clone(&shared);
        let panics = move || {
            let _guard = held.lock();
            panic!("a test panics");
        };
        let error = runtime.block_on(async { tokio::task::spawn_blocking(panics).await.unwrap_err() });
        assert_eq!(failed(&error).message, "the call failed by a bug of the program; stderr says more");
        // The mutex can be locked again.
        *lock(&shared) += 1;
        assert_eq!(
            runtime.block_on(async { tokio::task::spawn_blocking(move || *lock(&shared)).await.unwrap() }),
            2
        );
    }
    #[tokio::test]
    async fn input_ends_once_no_call_runs() {
        let calls = Arc::new(Semaphore::new(MAX_CALLS as usize));
        let running = Arc::clone(&calls).try_acquire_owned().unwrap();
        let end = tokio::spawn(async move { EndOfCalls::new(&calls).read_u8().await });
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        assert!(!end.is_finished());
        drop(running);
        assert_eq!(end.await.unwrap().unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
