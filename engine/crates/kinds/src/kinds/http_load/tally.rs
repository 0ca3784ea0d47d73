//! What one thread counts.

use std::time::{Duration, Instant};

use stats::Latency;

use super::HttpLoad;
use super::response::Response;
use crate::end::End;
use crate::outcome::requests::is_left_out;
use crate::task::Cue;

/// What one thread measured in the window.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The window.
    pub span: Option<(Instant, Instant)>,
    /// One latency per response.
    pub latency: Latency,
    /// Bytes received, heads included.
    pub bytes: u64,
    /// Responses other than 2xx and 3xx.
    pub failed_responses: u64,
    /// Connections that could not be made.
    pub connect_errors: u64,
    /// Responses that broke off, or were none.
    pub read_errors: u64,
    /// Requests that could not be sent.
    pub write_errors: u64,
    /// Responses that were slower than the time-out, or are still to come.
    pub timeout_errors: u64,
    /// Whether this host had no source port left for a connection.
    pub ports_exhausted: bool,
}

/// What went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// A connection could not be made.
    Connect,
    /// A response broke off, or was none.
    Read,
    /// A request could not be sent.
    Write,
}

/// Counts a thread's responses and errors by the test's time.
pub struct Tally {
    measured_from: Instant,
    deadline: Instant,
    timeout: Duration,
    /// Without a rate asked for: the window then ends with the last response, unless the server stood still.
    last_response: Option<Instant>,
    has_rate: bool,
    loaded: Loaded,
    /// Bytes from the beginning on, and those of them that came before the window.
    bytes: u64,
    warmup_bytes: u64,
    responses: u64,
}

impl Tally {
    pub fn new(end: &End, load: &HttpLoad, opened_at: Instant) -> Self {
        let measured_from = opened_at + end.settings.warmup;
        Self {
            measured_from,
            deadline: measured_from + end.settings.duration,
            timeout: load.timeout,
            last_response: None,
            has_rate: load.rate_rps > 0.0,
            loaded: Loaded::default(),
            bytes: 0,
            warmup_bytes: 0,
            responses: 0,
        }
    }

    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    pub fn is_over(&self, now: Instant) -> bool {
        now >= self.deadline
    }

    fn is_measured(&self, at: Instant) -> bool {
        at >= self.measured_from && at < self.deadline
    }

    /// Notes the time, at least once in each round of readings: what came before the window is not of it, even if its
    /// response ends there or never.
    #[inline]
    pub fn note_time(&mut self, now: Instant) {
        if now < self.measured_from {
            self.warmup_bytes = self.bytes;
        }
    }

    /// Counts received bytes.
    #[inline]
    pub fn add_bytes(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
    }

    /// Counts a whole response to a request that was due, or sent, at `begun`.
    #[inline]
    pub fn add_response(&mut self, cue: &Cue, response: Response, begun: Instant, now: Instant) {
        if self.is_over(now) {
            return;
        }
        self.responses += 1;
        cue.counter.set_units(self.responses);
        cue.counter.set_bytes(self.bytes);
        if now < self.measured_from {
            self.note_time(now);
            return;
        }
        let latency = now.saturating_duration_since(begun);
        self.loaded.latency.record(u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX));
        self.last_response = Some(now);
        self.loaded.failed_responses += u64::from(!response.is_success());
        self.loaded.timeout_errors += u64::from(latency > self.timeout);
    }

    /// Counts an error.
    pub fn add_trouble(&mut self, trouble: Trouble, now: Instant) {
        if !self.is_measured(now) {
            return;
        }
        let count = match trouble {
            Trouble::Connect => &mut self.loaded.connect_errors,
            Trouble::Read => &mut self.loaded.read_errors,
            Trouble::Write => &mut self.loaded.write_errors,
        };
        *count += 1;
    }

    /// Notes that no source port was left.
    pub fn note_ports_exhausted(&mut self) {
        self.loaded.ports_exhausted = true;
    }

    /// Counts a request that was never answered, if it was waited for long enough; one of the warm-up took the window's
    /// time as well.
    pub fn add_unanswered(&mut self, begun: Instant) {
        self.loaded.timeout_errors += u64::from(begun + self.timeout < self.deadline);
    }

    /// Counts a connection that was still not made at the end, if it was tried for long enough.
    pub fn add_unconnected(&mut self, begun: Instant) {
        self.loaded.connect_errors += u64::from(begun + self.timeout < self.deadline);
    }

    /// A response that is under way when the time is over counts for nothing, so its time doesn't either.
    fn end(&self, over: Instant) -> Instant {
        let window = over.saturating_duration_since(self.measured_from);
        let longest = Duration::from_nanos(self.loaded.latency.greatest());
        let is_under_way = |last: &Instant| {
            !self.has_rate && is_left_out(over.saturating_duration_since(*last), longest, window)
        };
        self.last_response.filter(is_under_way).unwrap_or(over)
    }

    /// What was measured, now that the thread has ended.
    pub fn finish(mut self, now: Instant) -> Loaded {
        let end = self.end(now.min(self.deadline));
        self.loaded.span = (end > self.measured_from).then_some((self.measured_from, end));
        self.loaded.bytes = self.bytes - self.warmup_bytes;
        self.loaded
    }
}
