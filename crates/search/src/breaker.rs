//! Limits the time that callers wait for a served embedder.
//!
//! Work enters; its result leaves, or an error when the time is over. The work then goes on alone, and its result is
//! dropped: what it computed for all questions is kept by its engine. After a failure the embedder is left alone for a
//! while, and callers get that failure at once. Then one of them tries it again.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::embedder::EmbedError;
use memories_document::types::lock::lock;

/// Time for which an embedder that failed is left alone.
const PAUSE: Duration = Duration::from_secs(60);

/// Largest number of threads that ask the embedder, also of those that nobody waits for any more.
const MAX_THREADS: usize = 64;

/// See the [module](self).
pub(super) struct Breaker {
    limit: Duration,
    /// The last failure, and the time of the next trial.
    failure: Mutex<Option<(EmbedError, Instant)>>,
    threads: Arc<AtomicUsize>,
}

impl Breaker {
    pub(super) fn new(limit: Duration) -> Breaker {
        Breaker { limit, failure: Mutex::default(), threads: Arc::default() }
    }

    /// The result of the work, if the embedder is not left alone now.
    ///
    /// # Errors
    ///
    /// The failure of this work, or of earlier work.
    pub(super) fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, EmbedError> + Send + 'static,
    ) -> Result<T, EmbedError> {
        self.admit(Instant::now())?;
        let result = self.run_in_time(work);
        *lock(&self.failure) = match &result {
            Ok(_) => None,
            Err(error) => Some((error.clone(), Instant::now() + PAUSE)),
        };
        result
    }

    /// Lets a caller try the embedder: after a failure one in each pause.
    fn admit(&self, now: Instant) -> Result<(), EmbedError> {
        match &mut *lock(&self.failure) {
            None => Ok(()),
            Some((_, next)) if *next <= now => {
                *next = now + PAUSE;
                Ok(())
            }
            Some((error, _)) => Err(error.clone()),
        }
    }

    fn run_in_time<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, EmbedError> + Send + 'static,
    ) -> Result<T, EmbedError> {
        if self.threads.fetch_add(1, Ordering::Relaxed) >= MAX_THREADS {
            self.threads.fetch_sub(1, Ordering::Relaxed);
            return Err(self.late());
        }
        let (threads, (tell, told)) = (Arc::clone(&self.threads), channel());
        std::thread::spawn(move || {
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
            threads.fetch_sub(1, Ordering::Relaxed);
            // Nobody listens any more where the time was over. A panic is told by the channel's end.
            if let Ok(result) = result {
                let _ = tell.send(result);
            }
        });
        told.recv_timeout(self.limit).unwrap_or_else(|_| Err(self.late()))
    }

    fn late(&self) -> EmbedError {
        EmbedError {
            problem: format!("the embedder did not answer within {:?}", self.limit),
            hint: "`embedder = \"embedded\"` under `[search]` needs no server".to_owned(),
            passing: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure() -> EmbedError {
        EmbedError { problem: "out of order".to_owned(), hint: String::new(), passing: true }
    }

    #[test]
    fn work_that_stalls_is_left_alone_and_so_is_its_embedder() {
        let breaker = Breaker::new(Duration::from_millis(20));
        let (go, wait) = channel::<()>();
        let late = breaker.run(move || {
            let _ = wait.recv();
            Ok(1)
        });
        assert_eq!(late.unwrap_err().problem, "the embedder did not answer within 20ms");
        let asked = breaker.run(|| -> Result<u8, _> { unreachable!("the embedder is left alone") });
        assert!(asked.is_err());
        assert_eq!(breaker.threads.load(Ordering::Relaxed), 1);
        drop(go);
        while breaker.threads.load(Ordering::Relaxed) > 0 {
            std::thread::yield_now();
        }
    }

    #[test]
    fn after_a_pause_one_caller_tries_again() {
        let breaker = Breaker::new(Duration::from_secs(20));
        assert_eq!(breaker.run(|| Ok(1)), Ok(1));
        assert_eq!(breaker.run(|| Err::<u8, _>(failure())), Err(failure()));
        let later = Instant::now() + PAUSE;
        assert_eq!(breaker.admit(Instant::now()), Err(failure()));
        assert_eq!((breaker.admit(later), breaker.admit(later)), (Ok(()), Err(failure())));
        // The trial succeeds, and all are let in again.
        *lock(&breaker.failure) = Some((failure(), Instant::now()));
        assert_eq!(breaker.run(|| Ok(2)), Ok(2));
        assert_eq!(breaker.run(|| Ok(3)), Ok(3));
    }

    #[test]
    fn a_panic_is_a_failure() {
        let breaker = Breaker::new(Duration::from_secs(20));
        assert!(breaker.run(|| -> Result<u8, _> { panic!("as it happens") }).is_err());
    }
}
