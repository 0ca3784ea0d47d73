//! The course of the tests on standard error.

use std::fmt::Write as _;

use proto::{Catalog, FlowInterval, Interval, RunResult};

use crate::run::plan::Plan;
use crate::run::report::style::Style;
use crate::run::report::units::with_unit;

/// What intervals show beside the headline, with names short enough for one line.
const SHORT_NAMES: [(&str, &str); 12] = [
    ("reverse_throughput_bps", "reverse"),
    ("packets_per_second", "rate"),
    ("send_throughput_bps", "sent"),
    ("lost_packets", "lost"),
    ("loss_ratio", "loss"),
    ("retransmits", "retr"),
    ("congestion_window_bytes", "cwnd"),
    ("rtt_seconds", "rtt"),
    ("jitter_seconds", "jitter"),
    ("latency_p50_seconds", "p50"),
    ("latency_p99_seconds", "p99"),
    ("errors", "errors"),
];

/// Tells how the tests go, or keeps quiet.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    is_quiet: bool,
    style: Style,
}

impl Progress {
    /// On standard error, unless it shall be quiet.
    pub fn new(is_quiet: bool) -> Self {
        Self { is_quiet, style: Style::of_errors() }
    }

    /// A line of its own.
    pub fn say(self, line: &str) {
        if !self.is_quiet {
            note!("{line}");
        }
    }

    /// Which test begins; of a single one nothing needs saying.
    pub fn begin(self, plan: &Plan, index: usize, attempt: usize, number: usize) {
        if plan.is_single() {
            return;
        }
        let count = plan.test_count().map_or(String::new(), |count| format!("/{count}"));
        let rule = plan.rule;
        let repetition = match rule.maximum {
            1 => String::new(),
            maximum if rule.confidence.is_some() => {
                format!("repetition {attempt} of at most {maximum}")
            }
            maximum => format!("repetition {attempt} of {maximum}"),
        };
        let parts = [plan.combinations[index].name(), repetition];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let line = format!("[{number}{count}] {} {}", plan.kind, parts.join(", "));
        self.say(&self.style.bold(&line));
    }

    /// One interval was measured.
    pub fn interval(self, kind: &str, interval: &Interval) {
        let line = line(kind, interval);
        self.say(&if interval.warmup || interval.drain { self.style.dim(&line) } else { line });
    }

    /// One of several tests ended well.
    pub fn finished(self, plan: &Plan, result: &RunResult) {
        let figure = headline(&plan.kind, result);
        if let Some(figure) = figure.filter(|_| !plan.is_single()) {
            self.say(&format!("  whole   {}", self.style.bold(&figure)));
        }
    }

    /// One test failed.
    pub fn failed(self, reason: &str) {
        self.say(&format!("  {}", self.style.alarm(&format!("failed: {reason}"))));
    }
}

/// A result's headline figure, if it has one.
pub fn headline(kind: &str, result: &RunResult) -> Option<String> {
    let key = &Catalog::embedded().kinds.get(kind)?.headline;
    result.metrics.get(key).map(|value| shown(key, *value))
}

fn shown(key: &str, value: f64) -> String {
    let metric = Catalog::embedded().metrics.get(key);
    with_unit(value, metric.map_or("", |metric| metric.unit.as_str()))
}

/// "    1.0 s   16.300 Gbit/s   retr 3   cwnd 1.2 MB   rtt 63 µs".
fn line(kind: &str, interval: &Interval) -> String {
    let mut text = format!("{:>7.1} s", interval.end_seconds);
    let headline = Catalog::embedded().kinds.get(kind).map(|kind| kind.headline.as_str());
    // Writing to a String can't fail.
    if let Some((key, value)) = headline.and_then(|key| interval.metrics.get_key_value(key)) {
        let _ = write!(text, "   {:>14}", shown(key, *value));
    }
    let connections = connections(&interval.flows);
    for (key, name) in SHORT_NAMES {
        let of_flows =
            || connections.iter().find(|(known, _)| *known == key).map(|(_, value)| *value);
        let value = interval.metrics.get(key).copied().or_else(of_flows);
        if let Some(value) = value.filter(|_| Some(key) != headline) {
            let _ = write!(text, "   {name} {}", shown(key, value));
        }
    }
    if interval.warmup {
        text.push_str("   (warm-up)");
    }
    if interval.drain {
        text.push_str("   (after the window)");
    }
    text
}

/// Of all flows together: segments sent again, the sum of the congestion windows, the mean round-trip time. Only of the
/// first flow's end, so that nothing counts twice.
fn connections(flows: &[FlowInterval]) -> Vec<(&'static str, f64)> {
    let Some(end) = flows.first().map(|flow| flow.end) else { return Vec::new() };
    let figures: Vec<_> =
        flows.iter().filter(|flow| flow.end == end).map(|flow| flow.tcp).collect();
    let sum = |values: Vec<f64>| (!values.is_empty()).then(|| values.iter().sum::<f64>());
    let retransmits = figures.iter().filter_map(|tcp| tcp.retransmits.map(count)).collect();
    let windows = figures.iter().filter_map(|tcp| tcp.congestion_window_bytes.map(count)).collect();
    let times: Vec<f64> = figures.iter().filter_map(|tcp| tcp.rtt_seconds).collect();
    let time_count = times.len();
    let known = [
        ("retransmits", sum(retransmits)),
        ("congestion_window_bytes", sum(windows)),
        ("rtt_seconds", sum(times).map(|sum| sum / time_count as f64)),
    ];
    known.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
}

fn count(value: u64) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use proto::{Role, TcpFigures};

    use super::*;

    fn flow(index: u32, end: Role, retransmits: u64, rtt_seconds: f64) -> FlowInterval {
        let tcp = TcpFigures {
            retransmits: Some(retransmits),
            congestion_window_bytes: Some(500_000),
            rtt_seconds: Some(rtt_seconds),
            ..TcpFigures::default()
        };
        FlowInterval { index, end, tcp }
    }

    #[test]
    fn an_interval_shows_its_headline_first_and_its_connections_together() {
        let interval = Interval {
            end_seconds: 1.0,
            metrics: [("throughput_bps".to_owned(), 1.63e10)].into(),
            flows: vec![
                flow(0, Role::Source, 3, 0.000_060),
                flow(1, Role::Source, 1, 0.000_080),
                flow(0, Role::Sink, 9, 1.0),
            ],
            ..Interval::default()
        };
        assert_eq!(
            line("tcp_stream", &interval),
            "    1.0 s    16.300 Gbit/s   retr 4 segments   cwnd 1.000 MB   rtt 70.000 µs"
        );
    }

    #[test]
    fn what_was_not_measured_is_not_shown() {
        let interval = Interval { end_seconds: 0.5, warmup: true, ..Interval::default() };
        assert_eq!(line("tcp_rr", &interval), "    0.5 s   (warm-up)");
    }
}
