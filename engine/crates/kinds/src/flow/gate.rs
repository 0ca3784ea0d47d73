//! The start barrier and the phase of a test, shared by all its threads.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Holds flow threads until all are there and the peer is ready.
#[derive(Debug, Default)]
pub struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    parked: usize,
    opened_at: Option<Instant>,
    is_aborted: bool,
}

impl Gate {
    /// Waits for the opening; none when the test was given up before it.
    pub fn pass(&self) -> Option<Instant> {
        let mut state = self.lock();
        state.parked += 1;
        self.changed.notify_all();
        loop {
            if state.is_aborted {
                return None;
            }
            if let Some(opened_at) = state.opened_at {
                return Some(opened_at);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until `count` threads stand before the gate, so that none starts late.
    pub fn wait_for_parked(&self, count: usize, limit: Duration) -> bool {
        let state = self.lock();
        let (_state, timeout) = self
            .changed
            .wait_timeout_while(state, limit, |state| state.parked < count)
            .unwrap_or_else(PoisonError::into_inner);
        !timeout.timed_out()
    }

    /// Lets everyone through and tells when.
    pub fn open(&self) -> Instant {
        let mut state = self.lock();
        let opened_at = Instant::now();
        state.opened_at = Some(opened_at);
        self.changed.notify_all();
        opened_at
    }

    /// Sends everyone home.
    pub fn abort(&self) {
        self.lock().is_aborted = true;
        self.changed.notify_all();
    }

    // A flow thread never panics while it holds the lock; if one did, its state would still be whole.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where a test stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// Traffic that is not measured.
    Warmup = 0,
    /// The measured window.
    Measured = 1,
    /// No more traffic.
    Over = 2,
}

impl Phase {
    /// What a test begins with.
    pub fn first(has_warmup: bool) -> Self {
        if has_warmup { Self::Warmup } else { Self::Measured }
    }
}

/// The phase, read by hot loops at the price of one load.
#[derive(Debug)]
#[repr(align(128))]
pub struct Pulse(AtomicU8);

impl Pulse {
    /// Begins in warm-up, or measured when there is none.
    pub fn new(has_warmup: bool) -> Self {
        Self(AtomicU8::new(Phase::first(has_warmup) as u8))
    }

    /// The phase now.
    #[inline]
    pub fn phase(&self) -> Phase {
        match self.0.load(Ordering::Relaxed) {
            0 => Phase::Warmup,
            1 => Phase::Measured,
            _ => Phase::Over,
        }
    }

    /// Enters a phase.
    pub fn set(&self, phase: Phase) {
        self.0.store(phase as u8, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;
    use std::time::Duration;

    use super::Gate;

    #[test]
    fn all_threads_pass_at_one_instant() {
        let gate = Arc::new(Gate::default());
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let gate = Arc::clone(&gate);
                thread::spawn(move || gate.pass())
            })
            .collect();
        assert!(gate.wait_for_parked(3, Duration::from_secs(5)));
        let opened_at = gate.open();
        for thread in threads {
            assert_eq!(thread.join().expect("does not panic"), Some(opened_at));
        }
    }

    #[test]
    fn an_aborted_gate_lets_nobody_through() {
        let gate = Gate::default();
        gate.abort();
        assert_eq!(gate.pass(), None);
        assert!(!gate.wait_for_parked(2, Duration::from_millis(1)));
    }
}
