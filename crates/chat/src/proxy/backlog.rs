//! Replies that wait for their extraction: in order, and bounded in number and size.
//!
//! The threads that pass replies on add them and never wait; one thread takes them out. Of too many replies the oldest
//! are dropped: a later request of a conversation often holds the earlier messages again.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};

use memories_document::types::lock::lock;

/// Largest number of replies that wait.
pub(super) const MAX_COUNT: usize = 100;

/// Largest size of the replies that wait, in bytes. The newest one may be larger, for it is bounded otherwise.
pub(super) const MAX_BYTES: usize = 16 << 20;

/// Values that wait for one thread.
pub(super) struct Backlog<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    /// The oldest first, with their sizes.
    waiting: VecDeque<(T, usize)>,
    bytes: usize,
    /// True while the last one taken is worked on.
    at_work: bool,
    is_closed: bool,
    is_given_up: bool,
}

/// The replies that were left when the backlog was given up.
pub(super) struct Rest<T> {
    pub waiting: Vec<T>,
    /// True if one more was being worked on.
    pub at_work: bool,
}

impl<T> Backlog<T> {
    pub(super) fn new() -> Backlog<T> {
        Backlog {
            state: Mutex::new(State {
                waiting: VecDeque::new(),
                bytes: 0,
                at_work: false,
                is_closed: false,
                is_given_up: false,
            }),
            changed: Condvar::new(),
        }
    }

    /// Adds a value as the newest one. The number of values that were dropped: old ones for which there is no more
    /// room, or this one after the end.
    pub(super) fn push(&self, value: T, size: usize) -> u64 {
        let mut state = lock(&self.state);
        if state.is_closed {
            return 1;
        }
        state.waiting.push_back((value, size));
        state.bytes += size;
        let mut dropped = 0;
        while state.waiting.len() > MAX_COUNT || state.bytes > MAX_BYTES && state.waiting.len() > 1 {
            let Some((_, size)) = state.waiting.pop_front() else { break };
            state.bytes -= size;
            dropped += 1;
        }
        self.changed.notify_one();
        dropped
    }

    /// The oldest value, as soon as there is one; `None` when the backlog is closed and empty. The value before is
    /// done.
    pub(super) fn next(&self) -> Option<T> {
        let mut state = lock(&self.state);
        state.at_work = false;
        loop {
            if let Some((value, size)) = state.waiting.pop_front() {
                state.bytes -= size;
                state.at_work = true;
                return Some(value);
            }
            if state.is_closed {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes no more values; those that wait can still be taken out.
    pub(super) fn close(&self) {
        lock(&self.state).is_closed = true;
        self.changed.notify_all();
    }

    /// Takes everything out that waits.
    pub(super) fn give_up(&self) -> Rest<T> {
        let mut state = lock(&self.state);
        state.is_closed = true;
        state.is_given_up = true;
        state.bytes = 0;
        let waiting = std::mem::take(&mut state.waiting).into_iter().map(|(value, _)| value).collect();
        Rest { waiting, at_work: state.at_work }
    }

    /// True after [`Backlog::give_up`].
    pub(super) fn is_given_up(&self) -> bool {
        lock(&self.state).is_given_up
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_are_dropped_where_there_are_too_many() {
        let backlog = Backlog::new();
        let dropped: u64 = (0..MAX_COUNT + 5).map(|number| backlog.push(number, 1)).sum();
        assert_eq!((dropped, backlog.next()), (5, Some(5)));
        let rest = backlog.give_up();
        assert_eq!((rest.waiting.len(), rest.waiting[0], rest.at_work), (MAX_COUNT - 1, 6, true));
        assert_eq!((backlog.next(), backlog.push(1, 1)), (None, 1));
    }

    #[test]
    fn the_oldest_are_dropped_where_they_are_too_large() {
        let backlog = Backlog::new();
        assert_eq!(backlog.push('a', MAX_BYTES / 2) + backlog.push('b', MAX_BYTES / 2), 0);
        assert_eq!(backlog.push('c', 1), 1);
        assert_eq!(backlog.push('d', MAX_BYTES + 1), 2, "the newest stays, however large");
        backlog.close();
        assert_eq!((backlog.next(), backlog.next()), (Some('d'), None));
        assert!(!backlog.give_up().at_work);
    }

    #[test]
    fn a_thread_that_waits_gets_the_next_one_and_the_end() {
        let backlog = Backlog::new();
        std::thread::scope(|scope| {
            let taken = scope.spawn(|| std::iter::from_fn(|| backlog.next()).collect::<Vec<_>>());
            for number in 0..50 {
                backlog.push(number, 1);
            }
            backlog.close();
            assert_eq!(taken.join().unwrap(), (0..50).collect::<Vec<_>>());
        });
    }
}
