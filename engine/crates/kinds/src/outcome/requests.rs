//! What request/response kinds measure, and the loops that they share.

use std::collections::BTreeSet;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use proto::{EndReport, Metrics, Params, Reason, Window};
use stats::Latency;

use crate::end::End;
use crate::flow::counter::Count;
use crate::host_window::OwnTraffic;
use crate::measurements::{Finished, Measured, Outcome, Transacted};
use crate::outcome::distribution;
use crate::outcome::streams::{self, joint_seconds};
use crate::outcome::window;
use crate::settings::size;
use crate::task::Cue;

/// Bytes of a request and of its response.
#[derive(Debug, Clone, Copy)]
pub struct Exchange {
    /// Bytes of one request.
    pub request_bytes: usize,
    /// Bytes of one response.
    pub response_bytes: usize,
}

impl Exchange {
    /// Reads checked and filled parameters.
    ///
    /// # Errors
    /// When a value is of another type than the catalog says.
    pub fn read(params: &Params) -> Result<Self, Reason> {
        Ok(Self {
            request_bytes: size(params, "request_size_bytes")?,
            response_bytes: size(params, "response_size_bytes")?,
        })
    }

    /// What a client's tasks put on its interface; none of a server's end.
    pub fn own_traffic(&self, measured: &Measured) -> Option<OwnTraffic> {
        let count: u64 = clients(measured)
            .map(|client| client.latency.count() + client.lost + client.errors)
            .sum();
        let (received, sent) = (self.response_bytes, self.request_bytes);
        (count > 0).then(|| OwnTraffic::of_transactions(count, received, sent))
    }
}

/// What is less than this part of a window changes no figure.
const LEAST_EDGE: u32 = 1_000;

/// Keeps a client's time: warm-up, window, deadline, and the latencies of the window.
pub struct Timekeeper {
    measured_from: Instant,
    deadline: Instant,
    /// When the first transaction of the window began, and the last ended.
    counted: Option<(Instant, Instant)>,
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
            counted: None,
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
            self.note(begun, ended, u64::try_from(nanoseconds).unwrap_or(u64::MAX));
        }
        self.total += 1;
        cue.counter.set_units(self.total);
        true
    }

    #[inline]
    fn note(&mut self, begun: Instant, ended: Instant, nanoseconds: u64) {
        self.latency.record(nanoseconds);
        self.counted = Some((self.counted.map_or(begun, |(first, _)| first), ended));
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
        let span = self.span(now.min(self.deadline));
        let Self { latency, flags, .. } = self;
        Outcome::Transacted(Transacted { span, latency, lost, errors, flags })
    }

    /// The window, of whole transactions: the one under way at either edge counts for nothing, so its time doesn't either.
    /// An edge at which nothing came for longer than any transaction took is kept: then the path stood still.
    fn span(&self, end: Instant) -> Option<(Instant, Instant)> {
        let window = end.saturating_duration_since(self.measured_from);
        let longest = Duration::from_nanos(self.latency.greatest());
        let (first, last) = self.counted.unwrap_or((self.measured_from, end));
        let is_left_out = |wait: Duration| is_left_out(wait, longest, window);
        let begin =
            if is_left_out(first - self.measured_from) { first } else { self.measured_from };
        let end = if is_left_out(end.saturating_duration_since(last)) { last } else { end };
        (end > begin).then_some((begin, end))
    }
}

/// Whether the time at an edge of a window is that of a transaction under way, and enough of it to matter for the rate.
pub fn is_left_out(wait: Duration, longest: Duration, window: Duration) -> bool {
    wait <= longest && wait > window / LEAST_EDGE
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
pub fn report(end: &End, measured: &Measured) -> EndReport {
    let mut report = EndReport { flows: streams::flows(end, |_| 0), ..EndReport::default() };
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
    let window = window::window(end, begin, seconds, 0)?;
    Some(Window { reverse_bytes: None, ..window })
}

/// Adds the figures of a latency distribution, and the distribution itself.
pub fn add_latency(report: &mut EndReport, latency: &Latency) {
    let figures = distribution::figures(latency);
    if figures.is_empty() {
        return;
    }
    for (name, seconds) in figures {
        report.metrics.insert(format!("latency_{name}_seconds"), seconds);
    }
    report.histogram = distribution::histogram(latency);
    if report.histogram.is_none() {
        report.flags.push(distribution::NOT_ENCODED.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Timekeeper;

    const SECOND: Duration = Duration::from_secs(1);

    /// The window of ten seconds in which transactions began and ended at these seconds.
    fn window(transactions: &[(f64, f64)]) -> (f64, f64) {
        let from = Instant::now();
        let at = |seconds: f64| from + Duration::from_secs_f64(seconds);
        let mut keeper = Timekeeper::between(from, from + SECOND * 10);
        for &(begun, ended) in transactions {
            let nanoseconds = (at(ended) - at(begun)).as_nanos();
            keeper.note(at(begun), at(ended), u64::try_from(nanoseconds).expect("seconds"));
        }
        let (begin, end) = keeper.span(from + SECOND * 10).expect("it took some time");
        ((begin - from).as_secs_f64(), (end - from).as_secs_f64())
    }

    #[test]
    fn a_transaction_under_way_at_an_edge_takes_none_of_the_window() {
        assert_eq!(window(&[(0.0, 3.0), (3.0, 6.0), (6.0, 9.0)]), (0.0, 9.0));
        assert_eq!(window(&[(2.0, 5.0), (5.0, 8.0)]), (2.0, 8.0));
    }

    #[test]
    fn a_path_that_stood_still_does() {
        assert_eq!(window(&[(0.0, 1.0), (1.0, 2.0)]), (0.0, 10.0));
        assert_eq!(window(&[]), (0.0, 10.0));
    }

    #[test]
    fn what_changes_no_figure_leaves_the_window_as_it_was_asked_for() {
        assert_eq!(window(&[(0.002, 4.0), (4.0, 9.995)]), (0.0, 10.0));
    }
}
