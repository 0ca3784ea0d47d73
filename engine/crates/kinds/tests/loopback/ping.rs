//! Probes end to end on loopback.

// Counts in metrics are whole numbers far below 2^53.
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]

use crate::support::{Pair, failed, finished, params, result};
use proto::{FailureCode, RunResult};
use stats::Latency;

fn count(result: &RunResult, key: &str) -> u64 {
    result.metrics[key] as u64
}

/// Twenty answered probes, 10 ms apart.
fn assert_whole(result: &RunResult) {
    assert_eq!(count(result, "sent_probes"), 20);
    assert_eq!((count(result, "lost_probes"), count(result, "duplicate_replies")), (0, 0));
    assert_eq!(result.metrics["loss_ratio"].to_bits(), 0.0_f64.to_bits());
    let latency = |name: &str| result.metrics[&format!("latency_{name}_seconds")];
    assert!(latency("min") > 0.0 && latency("min") <= latency("mean"));
    assert!(latency("min") <= latency("p50") && latency("p50") <= latency("p99"));
    assert!(latency("p99") <= latency("max") && latency("mdev") <= latency("max"));
    let histogram = result.histogram.as_ref().expect("a histogram");
    assert_eq!(Latency::encoded_count(&histogram.data).expect("decodes"), 20);
    let window = result.window.as_ref().expect("a window");
    assert_eq!((window.clock.as_str(), window.bytes), ("source", 0));
    // Nineteen intervals lie between twenty probes.
    assert!((0.19..1.0).contains(&window.elapsed_seconds), "{}", window.elapsed_seconds);
}

fn twenty(probe: &str) -> Pair {
    let text = format!(r#"{{"probe": "{probe}", "count": 20, "probe_interval_seconds": 0.01}}"#);
    Pair::start("ping", &params(&text))
}

#[test]
fn tcp_probes_are_all_answered_on_loopback() {
    assert_whole(&finished(twenty("tcp").join().0));
}

#[test]
fn udp_probes_are_all_answered_on_loopback() {
    assert_whole(&finished(twenty("udp").join().0));
}

/// Where the host allows neither kind of socket, the session says so before it connects.
#[test]
fn icmp_probes_are_all_answered_or_refused_with_what_to_allow() {
    let here = "127.0.0.1".parse().expect("an address");
    let (local, options) = (net::LocalEnd::default(), net::Options::default());
    let is_allowed = net::EchoSocket::open(here, &local, &options, 1).is_ok();
    let pair = twenty("icmp");
    if is_allowed {
        return assert_whole(&finished(pair.join().0));
    }
    pair.source.wait_until(|events| !events.is_empty());
    pair.cancel(proto::Role::Sink);
    let (code, reason, partial) = failed(pair.join().0);
    assert_eq!((code, partial), (FailureCode::Invalid, None));
    assert!(reason.contains("sysctl -w net.ipv4.ping_group_range="), "{reason}");
}

#[test]
fn intervals_tell_the_mean_latency_as_the_probes_go() {
    let text = r#"{"probe": "udp", "count": 40, "probe_interval_seconds": 0.01, "report_interval_seconds": 0.1}"#;
    let result = result("ping", text);
    let means: Vec<f64> = result
        .intervals
        .iter()
        .filter_map(|interval| interval.metrics.get("latency_mean_seconds").copied())
        .collect();
    assert!(means.len() >= 3, "{:?}", result.intervals);
    assert!(means.iter().all(|mean| *mean > 0.0 && *mean < 0.1), "{means:?}");
}

#[test]
fn a_cancelled_ping_keeps_what_it_has_measured() {
    let text = r#"{"probe": "udp", "count": 1000, "probe_interval_seconds": 0.01}"#;
    let pair = Pair::start("ping", &params(text));
    pair.source.wait_until(|events| events.len() > 1);
    let took = pair.cancel(proto::Role::Source);
    let (code, _, partial) = failed(pair.join().0);
    assert_eq!(code, FailureCode::Cancelled);
    // Its probes alone would have taken ten seconds.
    assert!(took.as_secs() < 5, "{took:?}");
    let sent = count(&partial.expect("a partial result"), "sent_probes");
    assert!((50..1000).contains(&sent), "{sent}");
}

/// Ten probes idle and ten on the plateau of a load.
fn under_load(load: &str) -> RunResult {
    let text = format!(
        r#"{{"probe": "udp", "count": 10, "probe_interval_seconds": 0.02, "load": {load}}}"#
    );
    let result = result("ping", &text);
    assert_eq!((count(&result, "sent_probes"), count(&result, "loaded_sent_probes")), (10, 10));
    // What the machine itself did meanwhile is told too, and rightly.
    let machines =
        ["background_traffic", "background_cpu", "cpu_steal", "cpu_frequency", "clock_step"];
    let of_the_test: Vec<_> =
        result.flags.iter().filter(|flag| !machines.contains(&flag.as_str())).collect();
    assert_eq!(of_the_test, ["same_host"]);
    let figure = |name: &str| result.metrics[&format!("{name}latency_mean_seconds")];
    let added = figure("loaded_") - figure("");
    assert!((figure("added_") - added).abs() < 1e-12, "{:?}", result.metrics);
    let data = &result.loaded_histogram.as_ref().expect("a histogram under load").data;
    let answered = 10 - count(&result, "loaded_lost_probes");
    assert_eq!(Latency::encoded_count(data).expect("decodes"), answered);
    result
}

#[test]
fn probes_under_a_stream_tell_what_it_adds_and_what_it_carried() {
    let result = under_load(r#"{"kind": "tcp_stream", "params": {"flows": 2}}"#);
    let load = result.load.as_ref().expect("the load's own result");
    assert_eq!(
        (load.kind.as_str(), load.flows.len(), load.source.is_none()),
        ("tcp_stream", 2, true)
    );
    assert_eq!(
        result.metrics["load_throughput_bps"].to_bits(),
        load.metrics["throughput_bps"].to_bits()
    );
    // Its measured window has all probes and the ramp after them, not the ramp before.
    let window = load.window.as_ref().expect("the load's window");
    assert!((1.1..1.6).contains(&window.elapsed_seconds), "{}", window.elapsed_seconds);
}

#[test]
fn kinds_with_datagrams_and_with_connections_of_their_own_are_loads_too() {
    for kind in ["udp_rr", "tcp_crr"] {
        let result = under_load(&format!(r#"{{"kind": "{kind}"}}"#));
        assert!(result.metrics["load_transactions_per_second"] > 100.0, "{kind}");
    }
}

#[test]
fn requests_to_the_own_responder_are_a_load_too() {
    let result = under_load(r#"{"kind": "http_load", "params": {"connections": 2}}"#);
    let load = result.load.as_ref().expect("the load's own result");
    assert_eq!(load.kind, "http_load");
    assert!(load.metrics["requests_per_second"] > 100.0, "{:?}", load.metrics);
}

#[test]
fn a_test_cancelled_under_load_ends_both_at_once_and_keeps_the_idle_part() {
    let text = r#"{"probe": "udp", "count": 5, "probe_interval_seconds": 0.5, "report_interval_seconds": 0.5,
                   "load": {"kind": "tcp_stream"}}"#;
    let pair = Pair::start("ping", &params(text));
    std::thread::sleep(std::time::Duration::from_millis(4_500));
    let took = pair.cancel(proto::Role::Source);
    let (code, _, partial) = failed(pair.join().0);
    assert_eq!(code, FailureCode::Cancelled);
    // The load would have gone on for longer.
    assert!(took.as_secs() < 5, "{took:?}");
    let partial = partial.expect("a partial result");
    assert_eq!((count(&partial, "sent_probes"), count(&partial, "lost_probes")), (5, 0));
    assert!(partial.metrics.contains_key("loaded_sent_probes"), "{:?}", partial.metrics);
}
