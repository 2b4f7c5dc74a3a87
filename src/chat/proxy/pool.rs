//! A few of what is dear to make, for many who need one for a moment.
//!
//! Whoever comes gets one that is idle, or a new one as long as there are few; else waits. What panics is
//! not given to anybody again.

use std::ops::{Deref, DerefMut};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The few.
pub struct Pool<T> {
    make: Box<dyn Fn() -> T + Send + Sync>,
    most: usize,
    state: Mutex<State<T>>,
    freed: Condvar,
}

struct State<T> {
    idle: Vec<T>,
    /// How many there are, idle or not.
    made: usize,
}

impl<T> Pool<T> {
    /// None yet; so many at most, one at least.
    pub fn new(most: usize, make: Box<dyn Fn() -> T + Send + Sync>) -> Pool<T> {
        let state = Mutex::new(State { idle: Vec::new(), made: 0 });
        Pool { make, most: most.max(1), state, freed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One of them, until it is dropped.
    pub fn take(&self) -> Taken<'_, T> {
        let mut state = self.lock();
        loop {
            if let Some(one) = state.idle.pop() {
                return Taken { pool: self, one: Some(one) };
            }
            if state.made < self.most {
                state.made += 1;
                drop(state);
                // Should the making panic, dropping this makes room for another try.
                let mut taken = Taken { pool: self, one: None };
                taken.one = Some((self.make)());
                return taken;
            }
            state = self.freed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// One of a pool's, in use.
pub struct Taken<'a, T> {
    pool: &'a Pool<T>,
    /// `None` only while it is made.
    one: Option<T>,
}

impl<T> Deref for Taken<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.one.as_ref().expect("it was made before it was given out")
    }
}

impl<T> DerefMut for Taken<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.one.as_mut().expect("it was made before it was given out")
    }
}

impl<T> Drop for Taken<'_, T> {
    fn drop(&mut self) {
        let mut state = self.pool.lock();
        match self.one.take().filter(|_| !std::thread::panicking()) {
            Some(one) => state.idle.push(one),
            None => state.made -= 1,
        }
        drop(state);
        self.pool.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn many_share_a_few_and_what_panics_is_replaced() {
        let made = Arc::new(AtomicUsize::new(0));
        let count = made.clone();
        let pool = Pool::new(2, Box::new(move || count.fetch_add(1, Ordering::SeqCst)));
        std::thread::scope(|scope| {
            for _ in 0..50 {
                scope.spawn(|| assert!(*pool.take() < 2));
            }
        });
        assert!(made.load(Ordering::SeqCst) <= 2);
        let (one, two) = (pool.take(), pool.take());
        drop((one, two));
        for _ in 0..2 {
            let broken = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let _taken = pool.take();
                panic!("as it happens");
            }));
            assert!(broken.is_err());
        }
        assert!(*pool.take() >= 2, "both were replaced");
    }
}
