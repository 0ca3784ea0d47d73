//! What results tell of TCP connections: per flow, per interval and together.

#![allow(clippy::cast_precision_loss)]

use crate::support::result;
use crate::support::stalls::undisturbed;
use proto::{Role, RunResult, TcpFigures};

fn told(result: &RunResult, role: Role) -> Vec<&TcpFigures> {
    let figures = result.flows.iter().map(|flow| match role {
        Role::Source => flow.source_tcp.as_ref(),
        Role::Sink => flow.sink_tcp.as_ref(),
    });
    figures.flatten().collect()
}

/// Retransmits of every interval in the window sum to the window's.
fn assert_intervals_sum(result: &RunResult, prefix: &str) {
    let key = format!("{prefix}retransmits");
    let sum: f64 = result.intervals.iter().map(|interval| interval.metrics[&key]).sum();
    assert!((sum - result.metrics[&key]).abs() < 0.5, "{sum} is not {}", result.metrics[&key]);
}

#[test]
fn a_forward_stream_tells_the_sources_connections_in_flows_and_intervals() {
    undisturbed(|| {
        let text = r#"{"duration_seconds": 0.5, "flows": 3, "report_interval_seconds": 0.1}"#;
        let result = result("tcp_stream", text);
        assert_eq!((told(&result, Role::Source).len(), told(&result, Role::Sink).len()), (3, 0));
        for flow in told(&result, Role::Source) {
            let busy = flow.busy_seconds.expect("this kernel tells");
            assert!(busy > 0.1 && busy < 0.7, "busy for {busy} s of 0.5 s");
            assert!(flow.segments_sent.expect("this kernel tells") > 10);
        }
        assert_eq!(result.intervals.len(), 5);
        for interval in &result.intervals {
            let flows: Vec<_> = interval.flows.iter().map(|flow| (flow.index, flow.end)).collect();
            assert_eq!(flows, [(0, Role::Source), (1, Role::Source), (2, Role::Source)]);
            for key in
                ["throughput_bps", "congestion_window_bytes", "rtt_seconds", "delivery_rate_bps"]
            {
                assert!(interval.metrics[key] > 0.0, "{key} of an interval");
            }
        }
        assert_intervals_sum(&result, "");
        assert!((0.2..=1.0).contains(&result.metrics["busy_ratio"]));
    });
}

#[test]
fn a_reverse_stream_tells_the_sinks_connections_beside_the_sources_throughput() {
    undisturbed(|| {
        let text = r#"{"duration_seconds": 0.5, "warmup_seconds": 0.2, "direction": "reverse",
                   "report_interval_seconds": 0.1}"#;
        let result = result("tcp_stream", text);
        assert_eq!((told(&result, Role::Source).len(), told(&result, Role::Sink).len()), (0, 1));
        assert_eq!(result.intervals.len(), 7);
        for interval in &result.intervals {
            assert!(
                interval.metrics["throughput_bps"] > 0.0 && interval.metrics["rtt_seconds"] > 0.0
            );
            assert_eq!(interval.flows.len(), 1);
            assert_eq!(interval.flows[0].end, Role::Sink);
        }
        assert!(result.metrics["rtt_variation_seconds"] > 0.0);
    });
}

#[test]
fn a_bidirectional_stream_tells_each_ends_connections_under_its_own_names() {
    let text = r#"{"duration_seconds": 0.4, "direction": "bidirectional",
                   "report_interval_seconds": 0.2}"#;
    let result = result("tcp_stream", text);
    assert_eq!((told(&result, Role::Source).len(), told(&result, Role::Sink).len()), (1, 1));
    assert_eq!(result.intervals.len(), 2);
    for interval in &result.intervals {
        let ends: Vec<_> = interval.flows.iter().map(|flow| flow.end).collect();
        assert!(ends.contains(&Role::Source) && ends.contains(&Role::Sink), "{ends:?}");
        assert!(interval.metrics.contains_key("reverse_rtt_seconds"));
        assert!(interval.metrics.contains_key("rtt_seconds"));
    }
    assert_intervals_sum(&result, "");
    assert_intervals_sum(&result, "reverse_");
    for key in
        ["busy_ratio", "reverse_busy_ratio", "minimum_rtt_seconds", "reverse_minimum_rtt_seconds"]
    {
        assert!(result.metrics[key] > 0.0, "{key}");
    }
}

#[test]
fn a_request_test_tells_the_clients_round_trip() {
    let text = r#"{"duration_seconds": 0.4, "warmup_seconds": 0.1, "flows": 2}"#;
    let result = result("tcp_rr", text);
    assert_eq!(told(&result, Role::Source).len(), 2);
    for key in ["rtt_seconds", "minimum_rtt_seconds"] {
        assert!(result.metrics[key] > 0.0 && result.metrics[key] < 0.1, "{key}");
    }
    // The kernel tells whole microseconds, of which steady round trips have none.
    assert!((0.0..0.1).contains(&result.metrics["rtt_variation_seconds"]));
    assert!(!result.metrics.contains_key("busy_ratio"), "a request test is never a busy sender");
}

#[test]
fn intervals_tell_sixty_four_flows_and_their_metrics_cover_all() {
    let text = r#"{"duration_seconds": 0.4, "flows": 70, "rate_bps": 7000000,
                   "message_size_bytes": 1000}"#;
    let result = result("tcp_stream", text);
    assert_eq!(told(&result, Role::Source).len(), 70);
    assert_eq!(result.intervals.len(), 1);
    assert_eq!(result.intervals[0].flows.len(), 64);
    let sum: u64 = result.flows.iter().filter_map(|flow| flow.source_tcp?.retransmits).sum();
    assert!((result.metrics["retransmits"] - sum as f64).abs() < 0.5);
}
