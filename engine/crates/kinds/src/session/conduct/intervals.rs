//! A test's course: the intervals of this end, and those that the peer tells.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use proto::{EventBody, Interval, LinkMessage, Role};

use super::Conduct;
use crate::failure::Failure;
use crate::flow::counter::Count;
use crate::flow::part::Part;

/// Metrics, flows and counts of an interval: one of ours has fewer than half as many.
const FIGURES_AT_MOST: usize = 256;

impl Conduct<'_> {
    /// Ends the present interval, and tells of it where something is measured at this end.
    pub(super) fn report_interval(&mut self, now: Instant) -> Result<(), Failure> {
        if let Some(meter) = self.meter.as_mut() {
            meter.look();
        }
        let interval = self.make_interval(now).filter(|interval| !is_empty_drain(interval));
        let Some(interval) = interval else {
            return Ok(());
        };
        self.own_course.add(interval.clone());
        if self.makes_intervals() {
            self.brief.outbox.event(EventBody::Interval { interval: Box::new(interval.clone()) });
        }
        if self.role() == Role::Sink {
            self.line.tell(&LinkMessage::Interval { interval: Box::new(interval) })?;
        }
        Ok(())
    }

    /// The present interval, ended; none where it has no length.
    pub(super) fn make_interval(&mut self, now: Instant) -> Option<Interval> {
        let count = self.threads().count();
        let (mut interval, count) = self.clock().intervals.as_mut()?.cut(now, count);
        let seconds = interval.end_seconds - interval.start_seconds;
        if seconds <= 0.0 {
            return None;
        }
        if self.threads().are_measuring() {
            interval.metrics = self.brief.kind.interval(&self.setup.end, count, seconds);
            interval.counts = counts(count, self.brief.settings.prefix(self.role()));
        }
        let rest = self.never_arrived();
        let jitter = self.threads().jitter_seconds();
        if let Some(samples) = self.datagram_samples.as_mut() {
            samples.add_to(&mut interval, count, (rest, jitter));
        }
        let role = self.role();
        if let Some(watch) = self.interface.as_mut() {
            *interval.interfaces.end(role) = watch.look();
        }
        let is_source_of_streams = self.role() == Role::Source && self.threads().has(Part::Sender);
        if let Some(samples) = self.tcp_samples.as_mut().filter(|_| !is_source_of_streams) {
            samples.add_to(&mut interval, &self.setup.end);
        }
        Some(interval)
    }

    /// A sink that only sends makes intervals of what its connections tell.
    pub(super) fn makes_intervals(&self) -> bool {
        let tells_connections = self.role() == Role::Sink && self.tcp_samples.is_some();
        self.threads().are_measuring() || tells_connections
    }

    /// What the sender's word tells beyond the numbers that have come, once no more of them are waited for.
    fn never_arrived(&self) -> u64 {
        let is_over = self.threads().are_done() && self.measured.drain_cut.is_none();
        let Some(flows) = self.measured.peer_sent.as_ref().filter(|_| is_over) else {
            return 0;
        };
        let sent: u64 = flows.iter().map(|flow| flow.packets).sum();
        sent.saturating_sub(self.threads().count().numbered)
    }

    /// How much later than this end the peer began, at most: it has told of an interval no sooner than it ended.
    fn note_peer_lag(&mut self, interval: &Interval) {
        let Some(clock) = &self.clock else {
            return;
        };
        let elapsed = clock.origin.elapsed().as_secs_f64();
        let lag = Duration::try_from_secs_f64(elapsed - interval.end_seconds).unwrap_or_default();
        self.peer_lag = Some(self.peer_lag.map_or(lag, |least| least.min(lag)));
    }

    /// What a receiving sink saw goes out with this sender's own view of it; what a sending sink saw of its
    /// connections only completes what was seen here.
    pub(super) fn take_interval(&mut self, mut interval: Interval) {
        self.note_peer_lag(&interval);
        // A peer that has more to say than the test has intervals would only fill this host's memory.
        let most = self.brief.settings.intervals_at_most(self.threads().has(Part::Sender));
        let is_too_many = self.peer_course.told() >= most;
        let figures = interval.metrics.len() + interval.flows.len() + interval.counts.len();
        if is_too_many || figures > FIGURES_AT_MOST {
            return;
        }
        // Intervals are joined here, and each end tells of its own interface.
        (interval.parts, interval.extremes) = (None, BTreeMap::new());
        *interval.interfaces.end(self.role()) = None;
        let has_senders = self.threads().has(Part::Sender);
        if let Some(samples) = self.tcp_samples.as_mut().filter(|_| has_senders) {
            samples.add_to(&mut interval, &self.setup.end);
        }
        self.peer_course.add(interval.clone());
        if has_senders {
            self.brief.outbox.event(EventBody::Interval { interval: Box::new(interval) });
        }
    }
}

/// What was counted, but for what nothing was counted of.
fn counts(count: Count, prefix: &str) -> BTreeMap<String, u64> {
    let counted = [("bytes", count.bytes), ("units", count.units)].into_iter();
    let some = counted.filter(|(_, count)| *count > 0);
    some.map(|(name, count)| (format!("{prefix}{name}"), count)).collect()
}

/// Nothing came any more: an interval of it says nothing.
fn is_empty_drain(interval: &Interval) -> bool {
    interval.drain && interval.metrics.values().all(|value| *value == 0.0)
}
