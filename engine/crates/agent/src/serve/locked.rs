//! How this engine locks.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks, also when another thread panicked in between: the data behind these locks is whole after every line.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
