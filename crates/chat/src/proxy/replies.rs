//! Extracts memories from replies, one after the other, on a thread of its own.
//!
//! Replies enter as they have been passed on; each is handed to the hooks. Where they come faster than memories are
//! extracted, the oldest are dropped. At the end there is a deadline: replies that still wait then are kept for a later
//! extraction.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::time::timeout;

use crate::proxy::backlog::Backlog;
use crate::proxy::call::ChatHooks;
use crate::proxy::finished::Finished;
use crate::proxy::pauses::Seldom;

/// Time for keeping the replies that are left when the time is over.
const KEEPING: Duration = Duration::from_secs(2);

/// The replies that memories are to be extracted from.
pub(super) struct Replies {
    backlog: Backlog<Finished>,
    hooks: Arc<dyn ChatHooks>,
    lag: Seldom,
    dropped: AtomicU64,
}

impl Replies {
    pub(super) fn new(hooks: Arc<dyn ChatHooks>) -> Replies {
        Replies { backlog: Backlog::new(), hooks, lag: Seldom::default(), dropped: AtomicU64::new(0) }
    }

    /// Adds a reply; never waits.
    pub(super) fn push(&self, reply: Finished) {
        let size = reply.size();
        let dropped = self.backlog.push(reply, size);
        self.dropped.fetch_add(dropped, Ordering::Relaxed);
        let problem = "too many replies wait for their extraction: the oldest gives no memories";
        if let Some(warning) = self.lag.warning(dropped, problem) {
            self.hooks.warn(warning);
        }
    }

    /// Starts the thread that hands the replies to the hooks. It ends after [`Replies::end`].
    pub(super) fn start(self: &Arc<Self>) -> JoinHandle<()> {
        let replies = Arc::clone(self);
        std::thread::spawn(move || {
            while let Some(reply) = replies.backlog.next() {
                if let Some(message) = reply.message() {
                    let Finished { call, request, .. } = &reply;
                    // A panic over one reply must not keep the hooks from the next one.
                    let extract = || replies.hooks.extract(call, request, message);
                    let _ = catch_unwind(AssertUnwindSafe(extract));
                }
            }
            if !replies.backlog.is_given_up() {
                replies.hooks.end();
            }
        })
    }

    /// Lets the thread work until the time is over, and says what is left undone.
    pub(super) async fn end(self: Arc<Self>, thread: JoinHandle<()>, over: impl Future) {
        self.backlog.close();
        let done = tokio::select! {
            _ = tokio::task::spawn_blocking(move || thread.join()) => true,
            _ = over => false,
        };
        if !done {
            let rest = self.backlog.give_up();
            let left = rest.waiting.len() + usize::from(rest.at_work);
            if left > 0 {
                self.hooks.warn(format!(
                    "the proxy ends before memories were extracted from {}: the next extraction of {} reads {}",
                    counted(left, "reply", "replies"),
                    if left == 1 { "its conversation" } else { "their conversations" },
                    if left == 1 { "it" } else { "them" },
                ));
            }
            let replies = Arc::clone(&self);
            let keep = tokio::task::spawn_blocking(move || replies.keep(rest.waiting));
            let _ = timeout(KEEPING, keep).await;
        }
        match self.hooks.left() {
            0 => {}
            left => self.hooks.warn(format!(
                "the proxy ends before memories were extracted from {} to save",
                counted(left, "conversation", "conversations")
            )),
        }
        match self.dropped.load(Ordering::Relaxed) {
            0 => {}
            dropped => self.hooks.warn(format!(
                "{} dropped, because too many were waiting",
                counted(dropped as usize, "reply was", "replies were")
            )),
        }
    }

    fn keep(&self, replies: Vec<Finished>) {
        for reply in replies {
            if let Some(message) = reply.message() {
                self.hooks.keep(&reply.call, &reply.request, message);
            }
        }
    }
}

fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
