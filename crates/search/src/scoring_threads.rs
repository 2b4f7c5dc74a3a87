//! Runs scoring on a few short-lived threads, so that memory does not grow with the number of callers.
//!
//! Scoring 10,000 memories takes about one MB, which the allocator keeps for each thread that ever
//! allocated it. So the callers, of which a server has many, wait for as many threads as there are
//! processors.

use std::num::NonZero;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

pub(super) struct ScoringThreads {
    free: Mutex<usize>,
    freed: Condvar,
}

impl ScoringThreads {
    pub(super) fn new() -> ScoringThreads {
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        ScoringThreads { free: Mutex::new(processors), freed: Condvar::new() }
    }

    /// Does the work as soon as a thread is free. A panic is passed on.
    pub(super) fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let mut free = self.lock();
        while *free == 0 {
            free = self.freed.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
        drop(free);
        let result = std::thread::scope(|scope| scope.spawn(work).join());
        *self.lock() += 1;
        self.freed.notify_one();
        result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    fn lock(&self) -> MutexGuard<'_, usize> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn no_more_threads_run_than_there_are_processors_also_after_a_panic() {
        let threads = ScoringThreads::new();
        let processors = *threads.lock();
        let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for number in 0..processors * 8 {
                let (threads, running, most) = (&threads, &running, &most);
                scope.spawn(move || {
                    let work = || {
                        most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        std::thread::yield_now();
                        running.fetch_sub(1, Ordering::SeqCst);
                        assert!(number % 5 > 0, "as it happens");
                        number
                    };
                    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| threads.run(work)));
                    assert_eq!(result.ok(), (number % 5 > 0).then_some(number));
                });
            }
        });
        assert!(most.into_inner() <= processors);
        assert_eq!(*threads.lock(), processors);
    }
}
