//! What request/response kinds measure, and the loops that they share.

use std::collections::BTreeSet;
use std::os::fd::BorrowedFd;
use std::time::Instant;

use proto::{Histogram, Metrics, SinkReport, Window};
use stats::Latency;

use crate::compose;
use crate::counter::Count;
use crate::kind::{Cue, End, Finished, Measured, Outcome};
use crate::streams::{self, joint_seconds};

/// What one client flow did in the measured window.
#[derive(Debug)]
pub struct Transacted {
    /// The window of this flow.
    pub span: Option<(Instant, Instant)>,
    /// One latency per transaction.
    pub latency: Latency,
    /// Transactions without an answer in time (UDP).
    pub lost: u64,
    /// Transactions that failed otherwise.
    pub errors: u64,
    /// Flags of the catalog's that this flow raised.
    pub flags: BTreeSet<&'static str>,
}

/// Keeps a client's time: warm-up, window, deadline, and the latencies of the window.
pub struct Timekeeper {
    measured_from: Instant,
    deadline: Instant,
    latency: Latency,
    total: u64,
    flags: BTreeSet<&'static str>,
}

impl Timekeeper {
    /// A timekeeper of a test that began at `opened_at`.
    pub fn new(end: &End, opened_at: Instant) -> Self {
        let measured_from = opened_at + end.settings.warmup;
        Self::between(measured_from, measured_from + end.settings.duration)
    }

    /// A timekeeper of a window.
    pub fn between(measured_from: Instant, deadline: Instant) -> Self {
        Self {
            measured_from,
            deadline,
            latency: Latency::default(),
            total: 0,
            flags: BTreeSet::new(),
        }
    }

    /// Counts a transaction that began and ended at these times; false when it ended too late.
    #[inline]
    pub fn count(&mut self, cue: &Cue, begun: Instant, ended: Instant) -> bool {
        if ended >= self.deadline {
            return false;
        }
        if begun >= self.measured_from {
            let nanoseconds = ended.duration_since(begun).as_nanos();
            self.latency.record(u64::try_from(nanoseconds).unwrap_or(u64::MAX));
        }
        self.total += 1;
        cue.counter.set_units(self.total);
        true
    }

    /// Raises a flag of the catalog's.
    pub fn raise(&mut self, flag: &'static str) {
        self.flags.insert(flag);
    }

    /// Whether `now` lies in the measured window.
    pub fn is_measured(&self, now: Instant) -> bool {
        now >= self.measured_from && now < self.deadline
    }

    /// Whether the test's time is over.
    pub fn is_over(&self, now: Instant) -> bool {
        now >= self.deadline
    }

    /// What was measured, now that the flow has ended at `now`.
    pub fn finish(self, now: Instant, lost: u64, errors: u64) -> Outcome {
        let end = now.min(self.deadline);
        let span = (end > self.measured_from).then_some((self.measured_from, end));
        let Self { latency, flags, .. } = self;
        Outcome::Transacted(Transacted { span, latency, lost, errors, flags })
    }
}

/// The outcome of a client that never began.
pub fn nothing_transacted() -> Finished {
    let transacted = Transacted {
        span: None,
        latency: Latency::default(),
        lost: 0,
        errors: 0,
        flags: BTreeSet::new(),
    };
    Finished { outcome: Outcome::Transacted(transacted), fault: None }
}

/// Sends all of `data`.
#[inline]
pub fn send_whole(socket: BorrowedFd<'_>, data: &[u8]) -> Result<(), net::Errno> {
    let mut place = 0;
    while place < data.len() {
        match net::send(socket, &data[place..]) {
            Ok(bytes) => place += bytes,
            Err(net::Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Receives until `buffer` is full; false at the end of the stream.
#[inline]
pub fn receive_whole(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> Result<bool, net::Errno> {
    let mut place = 0;
    while place < buffer.len() {
        match net::receive(socket, &mut buffer[place..]) {
            Ok(0) => return Ok(false),
            Ok(bytes) => place += bytes,
            Err(net::Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

/// Metrics of an interval: every request kind counts transactions.
pub fn interval(count: Count, seconds: f64) -> Metrics {
    Metrics::from([("transactions_per_second".to_owned(), count.units as f64 / seconds)])
}

/// The clients among the outcomes.
pub fn clients(measured: &Measured) -> impl Iterator<Item = &Transacted> {
    measured.outcomes.iter().filter_map(|outcome| match outcome {
        Outcome::Transacted(transacted) => Some(transacted),
        _ => None,
    })
}

/// The half of a client's end: rate, latencies and their histogram; a server's end has flows only.
pub fn report(end: &End, measured: &Measured) -> SinkReport {
    let mut report = SinkReport { flows: streams::flows(end, |_| 0), ..SinkReport::default() };
    let mut latency = Latency::default();
    clients(measured).for_each(|client| latency.join(&client.latency));
    let flags: BTreeSet<&str> = clients(measured).flat_map(|client| client.flags.clone()).collect();
    report.flags.extend(flags.into_iter().map(str::to_owned));
    let spans = || clients(measured).filter_map(|client| client.span);
    let Some(seconds) = joint_seconds(spans()) else {
        return report;
    };
    let rate = latency.count() as f64 / seconds;
    report.metrics.insert("transactions_per_second".to_owned(), rate);
    add_latency(&mut report, &latency);
    report.window = window(end, spans().map(|span| span.0).min(), seconds);
    report
}

fn window(end: &End, begin: Option<Instant>, seconds: f64) -> Option<Window> {
    let window = compose::window(end, begin, seconds, 0)?;
    Some(Window { reverse_bytes: None, ..window })
}

/// Adds the figures of a latency distribution, and the distribution itself.
pub fn add_latency(report: &mut SinkReport, latency: &Latency) {
    let Some(summary) = latency.summary() else {
        return;
    };
    let figures = [
        ("min", summary.min),
        ("mean", summary.mean),
        ("p50", summary.p50),
        ("p90", summary.p90),
        ("p99", summary.p99),
        ("p999", summary.p999),
        ("max", summary.max),
        ("stddev", summary.stddev),
    ];
    for (name, seconds) in figures {
        report.metrics.insert(format!("latency_{name}_seconds"), seconds);
    }
    match latency.encoded() {
        Ok(data) => {
            report.histogram = Some(Histogram {
                metric: "latency".to_owned(),
                unit: "ns".to_owned(),
                encoding: "hdr-v2-deflate-base64".to_owned(),
                data,
            });
        }
        Err(_) => report.flags.push("histogram_not_encoded".to_owned()),
    }
}
