//! The client's half of the result.

use proto::{EndReport, Histogram, Metrics, Window};
use stats::RoundTrips;

use super::tally::{Probed, Tally};
use crate::end::End;
use crate::measurements::{Measured, own_figures};
use crate::outcome::streams::{self, HELD_UP};
use crate::outcome::window;

/// The half of this end; a sink has only its socket's buffers to tell.
pub fn of(end: &End, measured: &Measured) -> EndReport {
    let flows = if end.flows.is_empty() { Vec::new() } else { streams::flows(end, |_| 0) };
    let mut report = EndReport { flows, ..EndReport::default() };
    if let Some(probed) = own_figures(measured).next() {
        add(&mut report, end, probed);
    }
    report
}

fn add(report: &mut EndReport, end: &End, probed: &Probed) {
    add_phase(&mut report.metrics, "", &probed.idle);
    let tallies = || [&probed.idle].into_iter().chain(&probed.loaded);
    let sum = |count: fn(&Tally) -> u64| tallies().map(count).sum::<u64>();
    for (name, value) in [
        ("duplicate_replies", sum(|tally| tally.duplicates)),
        ("late_replies", sum(|tally| tally.foreign)),
    ] {
        report.metrics.insert(name.to_owned(), value as f64);
    }
    if sum(|tally| tally.refused) > 0 {
        report.flags.push("send_errors".to_owned());
    }
    if tallies().any(|tally| tally.held_up >= HELD_UP) {
        report.flags.push("rate_not_reached".to_owned());
    }
    report.histogram = histogram("latency", &probed.idle.round_trips, &mut report.flags);
    if let Some(loaded) = &probed.loaded {
        add_phase(&mut report.metrics, "loaded_", loaded);
        add_differences(&mut report.metrics);
        report.loaded_histogram =
            histogram("loaded_latency", &loaded.round_trips, &mut report.flags);
    }
    add_load(report, probed);
    if let Some((begin, _)) = probed.span {
        report.outages = tallies().flat_map(|tally| tally.outages(begin)).collect();
    }
    report.reply_addresses.clone_from(&probed.elsewhere);
    report.window = window(end, probed);
}

/// Counts and round trips of a phase, under keys that begin with `prefix`.
fn add_phase(metrics: &mut Metrics, prefix: &str, tally: &Tally) {
    let Some(loss_ratio) = tally.loss_ratio() else {
        return;
    };
    let mut add = |name: &str, value: f64| metrics.insert(format!("{prefix}{name}"), value);
    add("sent_probes", tally.sent() as f64);
    add("lost_probes", tally.lost() as f64);
    add("loss_ratio", loss_ratio);
    let Some(summary) = tally.round_trips.summary() else {
        return;
    };
    add("latency_min_seconds", summary.min);
    add("latency_mean_seconds", summary.mean);
    add("latency_p50_seconds", summary.p50);
    add("latency_p90_seconds", summary.p90);
    add("latency_p99_seconds", summary.p99);
    add("latency_max_seconds", summary.max);
    add("latency_mdev_seconds", summary.mdev);
}

/// What the load added: loaded minus idle, which may be below zero.
fn add_differences(metrics: &mut Metrics) {
    for name in ["mean", "p50", "p99"] {
        let loaded = metrics.get(&format!("loaded_latency_{name}_seconds"));
        let idle = metrics.get(&format!("latency_{name}_seconds"));
        if let Some(added) = loaded.zip(idle).map(|(loaded, idle)| loaded - idle) {
            metrics.insert(format!("added_latency_{name}_seconds"), added);
        }
    }
}

/// The load's own result, and how much it did.
fn add_load(report: &mut EndReport, probed: &Probed) {
    if probed.has_load_ended_early {
        report.flags.push("load_ended_early".to_owned());
    }
    report.load.clone_from(&probed.load);
    let Some(load) = &probed.load else { return };
    if load.flags.iter().any(|flag| flag == "nothing_arrived") {
        report.flags.push("load_without_data".to_owned());
    }
    let figures = [
        ("load_throughput_bps", &["throughput_bps"][..]),
        ("load_transactions_per_second", &["transactions_per_second", "requests_per_second"]),
    ];
    for (name, sources) in figures {
        if let Some(value) = sources.iter().find_map(|source| load.metrics.get(*source)) {
            report.metrics.insert(name.to_owned(), *value);
        }
    }
}

fn histogram(metric: &str, round_trips: &RoundTrips, flags: &mut Vec<String>) -> Option<Histogram> {
    if round_trips.count() == 0 {
        return None;
    }
    let Ok(data) = round_trips.encoded() else {
        flags.push("histogram_not_encoded".to_owned());
        return None;
    };
    Some(Histogram {
        metric: metric.to_owned(),
        unit: "ns".to_owned(),
        encoding: "hdr-v2-deflate-base64".to_owned(),
        data,
    })
}

fn window(end: &End, probed: &Probed) -> Option<Window> {
    let (begin, over) = probed.span?;
    let seconds = over.saturating_duration_since(begin).as_secs_f64();
    let window = window::window(end, Some(begin), seconds, 0)?;
    Some(Window { reverse_bytes: None, ..window })
}
