//! What the host had received of one flow and when, around the end of the warm-up.
//!
//! A thread among hundreds on a few processors reads its flow every tenth of a second or so, and meanwhile its socket
//! fills: bytes read tell too little. Asking every socket at one moment tells no more, for who asks waits until the
//! thread that reads has let go of the socket. So each thread notes by itself what its flow had received, read or not,
//! whenever it has read; the session's main thread does it for those that wait for data.

use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use stats::{Bracket, Checkpoints, Crossing};

use crate::flow::counter::Counter;

/// The receipts of one flow; kept only while somebody asks for them.
#[derive(Debug, Default)]
pub struct Receipts {
    is_kept: AtomicBool,
    is_waiting: AtomicBool,
    book: Mutex<Option<Book>>,
}

#[derive(Debug)]
struct Book {
    origin: Instant,
    interval: Duration,
    next: Instant,
    bytes: Checkpoints,
    segments: Checkpoints,
}

impl Receipts {
    /// Begins to keep receipts, at most one per `interval` and the newest `capacity` of them; the first is what has been
    /// read by now.
    pub fn keep(&self, origin: Instant, interval: Duration, capacity: usize, counter: &Counter) {
        let now = Instant::now();
        let mut book = Book {
            origin,
            interval,
            next: now,
            bytes: Checkpoints::new(capacity),
            segments: Checkpoints::new(capacity),
        };
        book.bytes.record(book.seconds(now), counter.read().bytes);
        *self.lock() = Some(book);
        self.is_kept.store(true, Ordering::Relaxed);
    }

    /// Notes what has been read, whenever the last receipt was: nothing comes any more.
    pub fn note_last(&self, counter: &Counter) {
        if let Some(book) = self.lock().as_mut() {
            book.record(Instant::now(), counter.read().bytes, None);
        }
    }

    /// Keeps no more of them.
    pub fn end(&self) {
        self.is_kept.store(false, Ordering::Relaxed);
    }

    /// The reading thread says whether it has read all there was and now waits.
    #[inline]
    pub fn set_waiting(&self, is_waiting: bool) {
        self.is_waiting.store(is_waiting, Ordering::Relaxed);
    }

    /// The reading thread notes what it has read by now, and what else its socket holds.
    #[inline]
    pub fn note(&self, socket: BorrowedFd<'_>, bytes_read: u64) {
        if self.is_kept.load(Ordering::Relaxed) {
            self.note_kept(socket, || bytes_read);
        }
    }

    /// Another thread notes the same, if the reading one waits: it doesn't hold the socket then.
    pub fn note_for_waiting(&self, socket: BorrowedFd<'_>, counter: &Counter) {
        if self.is_waiting.load(Ordering::Relaxed) {
            self.note_kept(socket, || counter.read().bytes);
        }
    }

    fn note_kept(&self, socket: BorrowedFd<'_>, bytes_read: impl Fn() -> u64) {
        let mut guard = self.lock();
        let Some(book) = guard.as_mut().filter(|book| Instant::now() >= book.next) else {
            return;
        };
        let read = bytes_read();
        let Ok(unread) = net::unread_bytes(socket) else {
            return;
        };
        let segments = net::tcp_info(socket).and_then(|info| info.data_segments_received);
        let now = Instant::now();
        // Between the two questions the flow may have been read; then they don't belong together.
        if bytes_read() == read {
            book.record(now, read + unread, segments);
        }
    }

    /// When the byte behind `offset` had come, once a receipt beyond it exists; seconds since the origin.
    pub fn crossing(&self, offset: u64) -> Option<Crossing> {
        self.lock().as_ref()?.bytes.crossing(offset)
    }

    /// Whether there is a receipt of this time or a later one.
    pub fn reach(&self, at_seconds: f64) -> bool {
        self.lock().as_ref().is_some_and(|book| book.bytes.reach(at_seconds))
    }

    /// What had been received by a time, and between which receipts that lies.
    pub fn at(&self, at_seconds: f64) -> Option<Received> {
        let guard = self.lock();
        let book = guard.as_ref()?;
        Some(Received {
            bytes: book.bytes.count_at(at_seconds)?,
            bracket: book.bytes.bracket(at_seconds),
            segments: book.segments.count_at(at_seconds),
        })
    }

    // Nobody panics while holding the lock; if one did, the receipts would still be whole.
    fn lock(&self) -> MutexGuard<'_, Option<Book>> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a flow had received by some time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Received {
    /// Payload bytes, read or not.
    pub bytes: u64,
    /// The receipts around that time.
    pub bracket: Bracket,
    /// Data segments, where the kernel tells them.
    pub segments: Option<u64>,
}

impl Book {
    fn seconds(&self, at: Instant) -> f64 {
        at.saturating_duration_since(self.origin).as_secs_f64()
    }

    fn record(&mut self, now: Instant, bytes: u64, segments: Option<u64>) {
        self.next = now + self.interval;
        let at_seconds = self.seconds(now);
        self.bytes.record(at_seconds, bytes);
        if let Some(segments) = segments {
            self.segments.record(at_seconds, segments);
        }
    }
}
