//! A test's course: its intervals, of which a result never holds more than [`MOST`].
//!
//! Beyond that they are joined, always as many as a power of two and never over the end of the warm-up or the begin of
//! the drain. Both ends join the same ones, as it goes by their number alone.

use std::collections::BTreeMap;

use proto::{Interval, Metrics};

/// So many intervals a result has at most: a day of them, at that, says where to look.
pub const MOST: usize = 3_600;

/// Intervals, joined so that there are never too many.
#[derive(Debug)]
pub struct Course {
    most: usize,
    parts: u32,
    told: usize,
    entries: Vec<Entry>,
}

/// An interval, and for how long each of its metrics was measured, or in how many units.
#[derive(Debug)]
struct Entry {
    interval: Interval,
    weights: Metrics,
}

/// How a metric of two intervals becomes that of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Joining {
    /// A count.
    Sum,
    /// A mean over the units that were counted.
    MeanOfUnits,
    /// A rate or a level.
    MeanOverTime,
}

impl Default for Course {
    fn default() -> Self {
        Self::of_at_most(MOST)
    }
}

impl Course {
    /// A course of at most so many intervals, which are two or more.
    fn of_at_most(most: usize) -> Self {
        Self { most, parts: 1, told: 0, entries: Vec::new() }
    }

    /// How many have been added.
    pub const fn told(&self) -> usize {
        self.told
    }

    /// Adds the next interval, of the length asked for.
    pub fn add(&mut self, mut interval: Interval) {
        self.told += 1;
        // Time goes from the warm-up to the window to the drain, whatever a peer says.
        if let Some(last) = self.entries.last().map(|entry| &entry.interval) {
            interval.warmup &= last.warmup;
            interval.drain |= last.drain;
        }
        self.append(Entry::of(interval));
        while self.entries.len() > self.most {
            self.join_into(self.parts.saturating_mul(2));
        }
    }

    /// The intervals of this end with those that the other end told of the same times.
    pub fn with(mut self, mut peer: Self) -> Vec<Interval> {
        let parts = self.parts.max(peer.parts);
        self.join_into(parts);
        peer.join_into(parts);
        let (is_longer, tells) = (self.entries.len() >= peer.entries.len(), self.measures());
        let is_base = if tells == peer.measures() { is_longer } else { tells };
        let (joined, rest) = if is_base { (self, peer) } else { (peer, self) };
        // Without figures of the test its intervals say nothing, whatever an interface counted.
        if !joined.measures() {
            return Vec::new();
        }
        let mut joined = joined.into_intervals();
        for (interval, addition) in joined.iter_mut().zip(rest.into_intervals()) {
            add_other_end(interval, addition);
        }
        joined
    }

    fn measures(&self) -> bool {
        self.entries.iter().any(|entry| !entry.interval.metrics.is_empty())
    }

    fn into_intervals(self) -> Vec<Interval> {
        self.entries.into_iter().map(|entry| entry.interval).collect()
    }

    fn join_into(&mut self, parts: u32) {
        if parts > self.parts {
            self.parts = parts;
            let entries = std::mem::take(&mut self.entries);
            for entry in entries {
                self.append(entry);
            }
        }
    }

    fn append(&mut self, entry: Entry) {
        match self.entries.last_mut() {
            Some(last)
                if last.parts().saturating_add(entry.parts()) <= self.parts
                    && last.is_beside(&entry) =>
            {
                last.join(entry);
            }
            _ => self.entries.push(entry),
        }
    }
}

impl Entry {
    fn of(interval: Interval) -> Self {
        let seconds = interval.end_seconds - interval.start_seconds;
        let weight = |key: &str| match joining(key) {
            Joining::MeanOfUnits => units(&interval).unwrap_or(seconds),
            Joining::MeanOverTime | Joining::Sum => seconds,
        };
        let weights = interval.metrics.keys().map(|key| (key.clone(), weight(key))).collect();
        Self { interval, weights }
    }

    fn parts(&self) -> u32 {
        self.interval.parts.unwrap_or(1)
    }

    fn is_beside(&self, other: &Self) -> bool {
        let side = |entry: &Self| (entry.interval.warmup, entry.interval.drain);
        side(self) == side(other)
    }

    fn join(&mut self, mut other: Self) {
        let parts = self.parts() + other.parts();
        let whole = &mut self.interval;
        let mut all = extremes(whole);
        for (key, (low, high)) in extremes(&mut other.interval) {
            let both = all.entry(key).or_insert((low, high));
            *both = (both.0.min(low), both.1.max(high));
        }
        (whole.parts, whole.extremes) = (Some(parts), all);
        whole.end_seconds = other.interval.end_seconds;
        // Flows tell of one interval each; courses that are joined have none.
        whole.flows.clear();
        for (key, count) in other.interval.counts {
            let sum = whole.counts.entry(key).or_default();
            *sum = sum.saturating_add(count);
        }
        join_interface(&mut whole.interfaces.source, other.interval.interfaces.source);
        join_interface(&mut whole.interfaces.sink, other.interval.interfaces.sink);
        for (key, value) in other.interval.metrics {
            let weight = other.weights.get(&key).copied().unwrap_or_default();
            self.join_metric(key, value, weight);
        }
    }

    fn join_metric(&mut self, key: String, value: f64, weight: f64) {
        let joining = joining(&key);
        let before = self.weights.entry(key.clone()).or_default();
        let metric = self.interval.metrics.entry(key).or_default();
        *metric = match joining {
            Joining::Sum => *metric + value,
            Joining::MeanOfUnits | Joining::MeanOverTime if *before + weight > 0.0 => {
                (*metric * *before + value * weight) / (*before + weight)
            }
            Joining::MeanOfUnits | Joining::MeanOverTime => value,
        };
        *before += weight;
    }
}

fn joining(key: &str) -> Joining {
    if ["packets", "retransmits", "errors"].iter().any(|counted| key.ends_with(counted)) {
        Joining::Sum
    } else if key.contains("latency_mean") {
        Joining::MeanOfUnits
    } else {
        Joining::MeanOverTime
    }
}

fn units(interval: &Interval) -> Option<f64> {
    interval.counts.get("units").map(|units| *units as f64)
}

/// Those of an interval that joins others, else its own figures.
fn extremes(interval: &mut Interval) -> BTreeMap<String, (f64, f64)> {
    if interval.parts.is_some() {
        return std::mem::take(&mut interval.extremes);
    }
    let figures = interval.metrics.iter();
    figures.map(|(key, value)| (key.clone(), (*value, *value))).collect()
}

/// Counts of two interfaces can't be added: what is then known is nothing.
fn join_interface(whole: &mut Option<proto::InterfaceCount>, other: Option<proto::InterfaceCount>) {
    *whole = whole.take().zip(other).filter(|(one, other)| one.name == other.name).map(
        |(one, other)| proto::InterfaceCount {
            name: one.name,
            rx_packets: one.rx_packets.saturating_add(other.rx_packets),
            tx_packets: one.tx_packets.saturating_add(other.tx_packets),
            rx_bytes: one.rx_bytes.saturating_add(other.rx_bytes),
            tx_bytes: one.tx_bytes.saturating_add(other.tx_bytes),
        },
    );
}

/// Adds what the other end told of the same time.
fn add_other_end(interval: &mut Interval, addition: Interval) {
    if !addition.metrics.is_empty() {
        interval.end_seconds = interval.end_seconds.max(addition.end_seconds);
    }
    interval.metrics.extend(addition.metrics);
    interval.extremes.extend(addition.extremes);
    interval.counts.extend(addition.counts);
    interval.flows.extend(addition.flows);
    let (own, other) = (&mut interval.interfaces, addition.interfaces);
    own.source = own.source.take().or(other.source);
    own.sink = own.sink.take().or(other.sink);
}

#[cfg(test)]
#[path = "course_tests.rs"]
mod tests;
