//! Live counts that a flow thread keeps and the session's main thread reads.

use std::sync::atomic::{AtomicU64, Ordering};

/// Written by one thread only, so a store is enough; alone on its cache lines, so that flows
/// don't slow each other down.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Counter {
    bytes: AtomicU64,
    units: AtomicU64,
    measured_units: AtomicU64,
    latency_nanoseconds: AtomicU64,
    numbered: AtomicU64,
    jitter_seconds: AtomicU64,
}

/// A reading of a counter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// Payload bytes received so far, warm-up included.
    pub bytes: u64,
    /// Datagrams or transactions so far, warm-up included.
    pub units: u64,
    /// The sum of the units' latencies so far, where a kind tells them.
    pub latency_nanoseconds: u64,
    /// Datagrams of the measured window that have been sent so far, by the highest number that has come.
    pub numbered: u64,
    /// Those of them that have come, each once.
    pub unique: u64,
}

impl Count {
    /// What was counted since `earlier`.
    pub fn since(self, earlier: Self) -> Self {
        Self {
            bytes: self.bytes - earlier.bytes,
            units: self.units - earlier.units,
            latency_nanoseconds: self.latency_nanoseconds - earlier.latency_nanoseconds,
            numbered: self.numbered - earlier.numbered,
            unique: self.unique - earlier.unique,
        }
    }

    /// Two counts together.
    pub fn and(self, other: Self) -> Self {
        Self {
            bytes: self.bytes + other.bytes,
            units: self.units + other.units,
            latency_nanoseconds: self.latency_nanoseconds + other.latency_nanoseconds,
            numbered: self.numbered + other.numbered,
            unique: self.unique + other.unique,
        }
    }
}

impl Counter {
    /// Tells the bytes received so far.
    #[inline]
    pub fn set_bytes(&self, bytes: u64) {
        self.bytes.store(bytes, Ordering::Relaxed);
    }

    /// Tells the datagrams or transactions so far.
    #[inline]
    pub fn set_units(&self, units: u64) {
        self.units.store(units, Ordering::Relaxed);
    }

    /// Tells the sum of latencies so far.
    #[inline]
    pub fn set_latency_nanoseconds(&self, nanoseconds: u64) {
        self.latency_nanoseconds.store(nanoseconds, Ordering::Relaxed);
    }

    /// Tells how many datagrams of the measured window have come.
    #[inline]
    pub fn set_measured_units(&self, units: u64) {
        self.measured_units.store(units, Ordering::Relaxed);
    }

    /// Tells how many datagrams of the measured window the sender has sent, by the numbers that have come.
    #[inline]
    pub fn set_numbered(&self, datagrams: u64) {
        self.numbered.store(datagrams, Ordering::Relaxed);
    }

    /// Tells the present jitter.
    #[inline]
    pub fn set_jitter_seconds(&self, seconds: f64) {
        self.jitter_seconds.store(seconds.to_bits(), Ordering::Relaxed);
    }

    /// The present jitter, where one is told; one of nothing at all is as good as none.
    pub fn jitter_seconds(&self) -> Option<f64> {
        let bits = self.jitter_seconds.load(Ordering::Relaxed);
        (bits != 0).then(|| f64::from_bits(bits))
    }

    /// The present counts.
    pub fn read(&self) -> Count {
        Count {
            bytes: self.bytes.load(Ordering::Relaxed),
            units: self.units.load(Ordering::Relaxed),
            latency_nanoseconds: self.latency_nanoseconds.load(Ordering::Relaxed),
            numbered: self.numbered.load(Ordering::Relaxed),
            unique: self.measured_units.load(Ordering::Relaxed),
        }
    }

    /// The datagrams of the measured window that have come.
    pub fn measured_units(&self) -> u64 {
        self.measured_units.load(Ordering::Relaxed)
    }
}
