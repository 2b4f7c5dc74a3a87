//! Calls of tools, off the one thread that speaks the protocol: progress, log, cancellation, panics.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ErrorData, ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinError;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use crate::mcp::access::{Step, Watcher};

/// A call that takes longer tells that it goes on, each time so much has passed.
const SIGN_OF_LIFE: Duration = Duration::from_secs(2);

/// Does something that may block, and tells the client how far it is where the client asked for that.
/// Whoever cancels gets no answer; what was begun is ended all the same.
///
/// # Errors
///
/// A protocol error where it panics: that is a bug of ours, and the server goes on.
pub async fn run<T: Send + 'static>(
    context: &RequestContext<RoleServer>,
    work: impl FnOnce(&Watcher) -> T + Send + 'static,
) -> Result<T, ErrorData> {
    let (sender, steps) = unbounded_channel::<Step>();
    let watcher = Watcher::new(move |step| {
        // A client that is gone need not be told.
        let _ = sender.send(step);
    });
    let mine = watcher.clone();
    let task = tokio::task::spawn_blocking(move || work(&mine));
    let token = context.meta.get_progress_token();
    let mut progress =
        Progress { peer: context.peer.clone(), token, steps, done: 0.0, life: signs_of_life() };
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

/// The error of a call that did not end by itself.
fn failed(error: &JoinError) -> ErrorData {
    let what = if error.is_panic() { "a bug of the program" } else { "the end of the program" };
    ErrorData::internal_error(format!("the call failed by {what}; stderr says more"), None)
}

fn signs_of_life() -> Interval {
    let mut life = interval_at(Instant::now() + SIGN_OF_LIFE, SIGN_OF_LIFE);
    life.set_missed_tick_behavior(MissedTickBehavior::Delay);
    life
}

/// What a client is told while it waits. Each number is greater than the one before, as the protocol
/// wants it.
struct Progress {
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    steps: UnboundedReceiver<Step>,
    done: f64,
    life: Interval,
}

impl Progress {
    /// Waits for the next thing to tell, and tells it.
    async fn step(&mut self) {
        tokio::select! {
            Some(step) = self.steps.recv() => self.tell(step).await,
            _ = self.life.tick() => {
                self.tell(Step { part: None, message: "still at it".to_owned() }).await;
            }
        }
    }

    /// Tells what was said before the end.
    async fn flush(&mut self) {
        while let Ok(step) = self.steps.try_recv() {
            self.tell(step).await;
        }
    }

    async fn tell(&mut self, Step { part, message }: Step) {
        let Some(token) = self.token.clone() else { return };
        let part = part.map(|(done, all)| (done as f64, all as f64)).filter(|(done, _)| *done > self.done);
        self.done = part.map_or(self.done + 1.0, |(done, _)| done);
        let mut told = ProgressNotificationParam::new(token, self.done).with_message(message);
        if let Some((_, all)) = part {
            told = told.with_total(all);
        }
        // A client that is gone need not be told.
        let _ = self.peer.notify_progress(told).await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::mcp::access::lock;

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
        // What it held can be used again.
        *lock(&shared) += 1;
        assert_eq!(
            runtime.block_on(async { tokio::task::spawn_blocking(move || *lock(&shared)).await.unwrap() }),
            2
        );
    }
}
