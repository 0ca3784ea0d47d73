//! What a kind of one host provides: a test without a peer, run on the session's main thread.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use proto::{
    DiskPlace, EventBody, FailureCode, Histogram, HostTest, Interval, Metrics, Params, Reason,
    SessionState,
};

use crate::failure::Failure;
use crate::host_window::{Meter, Occurred, Surroundings};
use crate::outcome::course::Course;
use crate::outcome::window;
use crate::supply::Outbox;

/// Reads checked and filled parameters of a kind of one host; disks may be measured in `places`.
///
/// # Errors
/// When values don't go together, or ask for what the operator didn't allow.
pub type ReadHost = fn(&Params, &[DiskPlace]) -> Result<Box<dyn HostKind>, Failure>;

/// One kind of one host, with its settings.
pub trait HostKind {
    /// CPUs that its threads are pinned to.
    fn cpus(&self) -> &[usize] {
        &[]
    }
    /// Runs the test; opens and closes the measured window on `stage`.
    ///
    /// # Errors
    /// Why it could not be run to its end, with what was measured until then.
    fn run(&self, stage: &mut Stage) -> Result<HostReport, Broken>;
}

/// What a test of one host measured.
#[derive(Debug, Default)]
pub struct HostReport {
    /// Metrics of the measured window.
    pub metrics: Metrics,
    /// Bytes that were moved in it.
    pub bytes: u64,
    /// The latency distribution, where there is one.
    pub histogram: Option<Histogram>,
    /// Short words that qualify the result.
    pub flags: Vec<String>,
    /// CPU time of programs that were started, in seconds.
    pub cpu_seconds: f64,
    /// How it was made, and on what.
    pub test: HostTest,
}

/// A test that ended early.
#[derive(Debug)]
pub struct Broken {
    /// Why.
    pub failure: Failure,
    /// What was measured until then.
    pub partial: Option<Box<HostReport>>,
}

impl From<Failure> for Broken {
    fn from(failure: Failure) -> Self {
        Self { failure, partial: None }
    }
}

/// An order to stop, from whoever gives it.
#[derive(Debug, Default)]
pub struct Stop {
    order: Mutex<Option<Failure>>,
    given: Condvar,
}

impl Stop {
    /// Gives the order; the first one stays.
    pub fn give(&self, code: FailureCode, reason: Reason) {
        self.lock().get_or_insert_with(|| Failure::new(code, reason));
        self.given.notify_all();
    }

    /// The order, once it was given.
    pub fn order(&self) -> Option<Failure> {
        self.lock().clone()
    }

    /// Waits until `until`, or until the order comes; the order.
    pub fn wait(&self, until: Instant) -> Option<Failure> {
        let mut order = self.lock();
        while order.is_none() {
            let left = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero());
            let Some(left) = left else { break };
            let waited = self.given.wait_timeout(order, left);
            order = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        order.clone()
    }

    // The order is whole after every line, whoever panicked.
    fn lock(&self) -> MutexGuard<'_, Option<Failure>> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where a test of one host tells what it does; it also reads the host's counters at both ends of the window.
pub struct Stage {
    /// The order to stop.
    pub stop: Arc<Stop>,
    outbox: Arc<dyn Outbox>,
    surroundings: Arc<Surroundings>,
    pinned: Vec<usize>,
    origin: Option<Instant>,
    window: Option<(Instant, Instant)>,
    meter: Option<Meter>,
    occurred: Option<Occurred>,
    course: Course,
}

/// What a stage has seen.
pub struct Seen {
    /// When the measured window began and ended.
    pub window: Option<(Instant, Instant)>,
    /// What the host did in it.
    pub occurred: Option<Occurred>,
    /// The test's course.
    pub course: Course,
}

impl Stage {
    /// An empty stage.
    pub fn new(
        outbox: Arc<dyn Outbox>,
        stop: Arc<Stop>,
        surroundings: Arc<Surroundings>,
        pinned: &[usize],
    ) -> Self {
        Self {
            stop,
            outbox,
            surroundings,
            pinned: pinned.to_vec(),
            origin: None,
            window: None,
            meter: None,
            occurred: None,
            course: Course::default(),
        }
    }

    /// The work begins now: whatever came before was preparation.
    pub fn begin(&mut self) -> Instant {
        let origin = Instant::now();
        self.origin = Some(origin);
        self.outbox.event(EventBody::State {
            state: SessionState::Running,
            started_at: window::wall_clock(origin).into(),
        });
        origin
    }

    /// The measured window begins now.
    pub fn open_window(&mut self) -> Instant {
        self.surroundings.open_window();
        self.meter = Some(Meter::begin(&[], &self.pinned));
        let now = Instant::now();
        self.window = Some((now, now));
        now
    }

    /// The measured window ends now.
    pub fn close_window(&mut self) -> Instant {
        let now = Instant::now();
        if let Some((_, end)) = self.window.as_mut() {
            *end = now;
        }
        self.occurred = self.meter.take().map(|meter| meter.finish(&[]));
        now
    }

    /// Tells what was measured from `begin` to `end`.
    pub fn interval(&mut self, begin: Instant, end: Instant, metrics: Metrics) {
        let Some(origin) = self.origin else { return };
        if let Some(meter) = self.meter.as_mut() {
            meter.look();
        }
        let since = |at: Instant| at.saturating_duration_since(origin).as_secs_f64();
        let interval = Interval {
            start_seconds: since(begin),
            end_seconds: since(end),
            metrics,
            warmup: self.window.is_none_or(|(opened, _)| begin < opened),
            ..Interval::default()
        };
        self.course.add(interval.clone());
        self.outbox.event(EventBody::Interval { interval: Box::new(interval) });
    }

    /// What it has seen in the end.
    pub fn into_seen(mut self) -> Seen {
        if self.meter.is_some() {
            self.close_window();
        }
        Seen { window: self.window, occurred: self.occurred, course: self.course }
    }
}

/// Metrics by key and value; what is not a number is left out.
pub fn metrics<const N: usize>(values: [(&str, f64); N]) -> Metrics {
    let known = values.into_iter().filter(|(_, value)| value.is_finite());
    known.map(|(key, value)| (key.to_owned(), value)).collect()
}

/// The next time to tell of an interval, at the end of the test at the latest.
pub fn next_telling(from: Instant, interval: Duration, end: Instant) -> Instant {
    (from + interval).min(end)
}
