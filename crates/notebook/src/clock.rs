//! The time and fresh ids, handed in from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The source of the time and of fresh ids.
#[derive(Clone)]
pub struct Clock {
    now: Arc<dyn Fn() -> String + Send + Sync>,
    fresh_id: Arc<dyn Fn() -> String + Send + Sync>,
}

impl Clock {
    /// `now` gives the time (RFC 3339), `fresh_id` each time an id that no other line of a journal has.
    pub fn new(
        now: impl Fn() -> String + Send + Sync + 'static,
        fresh_id: impl Fn() -> String + Send + Sync + 'static,
    ) -> Clock {
        Clock { now: Arc::new(now), fresh_id: Arc::new(fresh_id) }
    }

    /// A clock that stands still, with ids that count from 1.
    pub fn fixed(now: &str) -> Clock {
        let (now, ids) = (now.to_owned(), AtomicU64::new(1));
        Clock::new(move || now.clone(), move || ids.fetch_add(1, Ordering::Relaxed).to_string())
    }

    /// The present time, RFC 3339.
    pub fn now(&self) -> String {
        (self.now)()
    }

    /// An id that no other line of a journal has.
    pub fn fresh_id(&self) -> String {
        (self.fresh_id)()
    }
}
