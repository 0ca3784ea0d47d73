//! Tests of more intervals than a result holds.

// Counts are whole numbers far below 2^53.
#![allow(clippy::cast_precision_loss)]

use std::sync::Arc;

use crate::support::{Pair, finished, params};
use proto::{EventBody, Interval, Role, RunResult};

const MOST: usize = 3_600;
/// Far below what the catalog allows, so that thousands of intervals pass in seconds.
const INTERVAL_SECONDS: f64 = 0.002;

/// The result of a test of some 4,250 intervals, and all of them as they were told while it ran.
fn long_test(kind: &str, text: &str) -> (RunResult, Vec<Interval>) {
    let pair = Pair::start_as(kind, &params(text), |params| {
        params.set("report_interval_seconds", INTERVAL_SECONDS);
    });
    let told = Arc::clone(&pair.source);
    let result = finished(pair.join().0);
    let intervals = told.events().into_iter().filter_map(|event| match event {
        EventBody::Interval { interval } => Some(*interval),
        _ => None,
    });
    (result, intervals.collect())
}

fn sum(intervals: &[Interval], of: impl Fn(&Interval) -> f64) -> f64 {
    intervals.iter().map(of).sum()
}

fn count(key: &str) -> impl Fn(&Interval) -> f64 {
    move |interval| interval.counts.get(key).map_or(0.0, |count| *count as f64)
}

fn metric(key: &str) -> impl Fn(&Interval) -> f64 {
    move |interval| interval.metrics.get(key).copied().unwrap_or_default()
}

fn assert_thinned(kind: &str, result: &RunResult, told: &[Interval]) {
    assert!(told.len() > MOST, "{kind}: only {} intervals", told.len());
    let kept = &result.intervals;
    assert!(kept.len() <= MOST && kept.len() >= MOST / 3, "{kind}: {}", kept.len());
    let parts: u32 = kept.iter().map(|each| each.parts.unwrap_or(1)).sum();
    // Of both directions each end tells its own.
    let ends = if kind == "udp_stream" { 2 } else { 1 };
    assert!(parts as usize * ends >= told.len(), "{kind}: {parts} of {}", told.len());
    for key in ["bytes", "units", "reverse_bytes", "reverse_units"] {
        let (kept, told) = (sum(kept, count(key)), sum(told, count(key)));
        assert!((kept - told).abs() < 0.5, "{kind}: {key} {kept} of {told}");
    }
    for key in result.metrics.keys() {
        let peak = told.iter().filter_map(|each| each.metrics.get(key)).copied().reduce(f64::max);
        let kept = kept.iter().filter_map(|each| each.extremes.get(key)).map(|extremes| extremes.1);
        let Some((peak, kept)) = peak.zip(kept.reduce(f64::max)) else { continue };
        assert!(kept >= peak, "{kind}: {key} {kept} of {peak}");
    }
    let is_in_order = |pair: &[Interval]| pair[0].start_seconds < pair[1].start_seconds;
    assert!(kept.windows(2).all(is_in_order), "{kind}");
    let bytes = serde_json::to_vec(result).map_or(0, |text| text.len());
    assert!(bytes < 6 * 1024 * 1024, "{kind}: a result of {bytes} bytes");
}

#[test]
fn every_kind_thins_its_intervals() {
    let tests = [
        ("tcp_stream", r#"{"duration_seconds": 8.5, "rate_bps": 100000000}"#),
        ("tcp_rr", r#"{"duration_seconds": 8.5}"#),
        ("tcp_crr", r#"{"duration_seconds": 8.5, "flows": 2}"#),
        ("udp_rr", r#"{"duration_seconds": 8.5}"#),
        ("http_load", r#"{"duration_seconds": 8.5, "connections": 2}"#),
        ("ping", r#"{"probe": "udp", "count": 1700, "probe_interval_seconds": 0.005}"#),
    ];
    // Side by side: what is looked at is how intervals are put together, and each lasts 8.5 s.
    std::thread::scope(|scope| {
        for (kind, text) in tests {
            scope.spawn(move || {
                let (result, told) = long_test(kind, text);
                assert_thinned(kind, &result, &told);
            });
        }
    });
}

#[test]
fn what_was_sent_and_lost_is_the_same_in_all_intervals_together() {
    let text = r#"{"duration_seconds": 8.5, "warmup_seconds": 0.5, "rate_bps": 20000000,
        "message_size_bytes": 1000, "direction": "bidirectional"}"#;
    let (result, told) = long_test("udp_stream", text);
    assert_thinned("udp_stream", &result, &told);
    for prefix in ["", "reverse_"] {
        for name in ["sent_packets", "lost_packets"] {
            let key = format!("{prefix}{name}");
            let whole = sum(&result.intervals, metric(&key));
            assert!(
                (whole - result.metrics[&key]).abs() < 0.5,
                "{key}: {whole} of {}",
                result.metrics[&key]
            );
        }
        let jitter = format!("{prefix}jitter_seconds");
        assert!(result.intervals.iter().any(|each| each.metrics.contains_key(&jitter)));
    }
    let warm = |each: &&Interval| each.warmup;
    let warmup = result.intervals.iter().rfind(warm).expect("a warm-up");
    assert!((warmup.end_seconds - 0.5).abs() < 0.1, "{}", warmup.end_seconds);
    assert!(
        result.intervals.iter().filter(warm).all(|each| !each.metrics.contains_key("sent_packets"))
    );
}

#[test]
fn both_ends_interfaces_are_told_interval_by_interval_as_over_the_window() {
    for kind in ["tcp_stream", "udp_stream", "tcp_rr"] {
        let rate = if kind == "tcp_rr" { "" } else { r#", "rate_bps": 50000000"# };
        let text = format!(r#"{{"duration_seconds": 2, "report_interval_seconds": 0.2{rate}}}"#);
        let mut result = finished(Pair::start(kind, &params(&text)).join().0);
        let hosts = result.hosts.take().expect("both hosts");
        for (role, host) in [(Role::Source, hosts.source), (Role::Sink, hosts.sink)] {
            let host = host.expect("its window");
            let window =
                host.interfaces.iter().find(|each| each.carries_test).expect("the loopback");
            let told: Vec<_> = result
                .intervals
                .iter_mut()
                .filter_map(|each| each.interfaces.end(role).take())
                .collect();
            assert!(told.len() >= 8, "{kind} {role:?}: {}", told.len());
            assert!(told.iter().all(|each| each.name == window.name));
            let received: u64 = told.iter().map(|each| each.rx_bytes).sum();
            let ratio = received as f64 / window.rx_bytes as f64;
            assert!(
                (0.8..1.3).contains(&ratio),
                "{kind} {role:?}: {received} of {}",
                window.rx_bytes
            );
        }
    }
}

#[test]
fn addresses_of_the_traffic_are_told() {
    let result = finished(
        Pair::start("udp_stream", &params(r#"{"duration_seconds": 0.3, "rate_bps": 1000000}"#))
            .join()
            .0,
    );
    let addresses = result.addresses.expect("both ends");
    assert_eq!(
        (addresses.family.as_str(), addresses.sink.to_string().as_str()),
        ("ipv4", "127.0.0.1")
    );
    assert_eq!((addresses.source_seen_by_sink, addresses.sink_own), (None, None));
}
