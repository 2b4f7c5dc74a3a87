//! Locks of values that stay usable where a thread panicked.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex even where a thread panicked while it held it. Only for values that are either replaced
/// whole or complete at every moment.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
