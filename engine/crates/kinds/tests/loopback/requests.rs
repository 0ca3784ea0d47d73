//! Request/response kinds end to end on loopback.

// Counts in metrics are whole numbers far below 2^53.
#![allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss)]

use crate::support::result;
use crate::support::stalls::undisturbed;
use proto::RunResult;
use stats::Latency;

fn transactions(result: &RunResult) -> u64 {
    let window = result.window.as_ref().expect("a window");
    (result.metrics["transactions_per_second"] * window.elapsed_seconds).round() as u64
}

fn histogram_count(result: &RunResult) -> u64 {
    let histogram = result.histogram.as_ref().expect("a histogram");
    assert_eq!(histogram.encoding, "hdr-v2-deflate-base64");
    Latency::encoded_count(&histogram.data).expect("decodes")
}

fn assert_whole(result: &RunResult) {
    assert!(transactions(result) > 100, "{:?}", result.metrics);
    assert_eq!(transactions(result), histogram_count(result));
    let latency = |name: &str| result.metrics[&format!("latency_{name}_seconds")];
    assert!(latency("min") <= latency("p50") && latency("p50") <= latency("p99"));
    assert!(latency("p99") <= latency("p999") && latency("p999") <= latency("max"));
    let window = result.window.as_ref().expect("a window");
    assert_eq!((window.clock.as_str(), window.bytes), ("source", 0));
}

#[test]
fn tcp_rr_has_a_latency_for_every_transaction() {
    undisturbed(|| {
        let result = result("tcp_rr", r#"{"duration_seconds": 0.4}"#);
        assert_whole(&result);
        let rate = result.metrics["transactions_per_second"];
        let in_flight = rate * result.metrics["latency_mean_seconds"];
        assert!((in_flight - 1.0).abs() < 0.05, "mean latency is 1 / rate, got {in_flight}");
    });
}

#[test]
fn tcp_rr_with_a_burst_has_one_more_than_the_burst_in_flight() {
    let text = r#"{"duration_seconds": 0.4, "warmup_seconds": 0.2, "burst": 3, "flows": 2,
                   "request_size_bytes": 100, "response_size_bytes": 200, "nodelay": true}"#;
    let result = result("tcp_rr", text);
    assert_whole(&result);
    let in_flight =
        result.metrics["transactions_per_second"] * result.metrics["latency_mean_seconds"];
    assert!((in_flight - 8.0).abs() < 0.8, "2 flows with 4 each in flight, got {in_flight}");
    assert!((result.window.expect("a window").elapsed_seconds - 0.4).abs() < 0.01);
}

#[test]
fn udp_rr_loses_nothing_on_loopback() {
    undisturbed(|| {
        let result =
            result("udp_rr", r#"{"duration_seconds": 0.4, "burst": 2, "response_size_bytes": 32}"#);
        assert_whole(&result);
        assert_eq!(result.metrics["lost_packets"] as u64, 0);
    });
}

#[test]
fn tcp_crr_opens_a_connection_per_transaction() {
    let result = result("tcp_crr", r#"{"duration_seconds": 0.4, "flows": 3}"#);
    assert_whole(&result);
    assert_eq!(result.metrics["errors"] as u64, 0);
    assert_eq!(
        result.metrics["connections_per_second"].to_bits(),
        result.metrics["transactions_per_second"].to_bits()
    );
}

#[test]
fn tcp_crr_closed_by_reset_makes_transactions_all_the_same() {
    let result =
        result("tcp_crr", r#"{"duration_seconds": 0.4, "close_mode": "reset", "flows": 2}"#);
    assert_whole(&result);
    assert_eq!(result.metrics["errors"] as u64, 0);
}

#[test]
fn a_burst_that_fills_every_buffer_is_answered_all_the_same() {
    // 200 requests of 64 KiB are more than both ends' buffers hold, and so are their responses.
    let text = r#"{"duration_seconds": 0.5, "burst": 200, "request_size_bytes": 65536, "response_size_bytes": 65536}"#;
    let result = result("tcp_rr", text);
    assert_whole(&result);
}
