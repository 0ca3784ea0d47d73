//! TCP and UDP streams end to end on loopback.

// Counts in metrics are whole numbers far below 2^53.
#![allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss)]

use crate::support::stalls::undisturbed;
use crate::support::{result, results};
use proto::RunResult;

fn metric(result: &RunResult, key: &str) -> f64 {
    *result.metrics.get(key).unwrap_or_else(|| panic!("{key} is missing from {:?}", result.metrics))
}

fn flow_bytes(result: &RunResult) -> (u64, u64) {
    let flows = result.flows.iter();
    (flows.clone().map(|flow| flow.bytes).sum(), flows.map(|flow| flow.reverse_bytes).sum())
}

fn assert_close(value: f64, expected: f64, share: f64) {
    assert!(
        (value - expected).abs() <= expected * share,
        "{value} is not within {share} of {expected}"
    );
}

#[test]
fn a_forward_tcp_stream_accounts_for_every_byte_on_the_sinks_clock() {
    let (source, sink) = results("tcp_stream", r#"{"duration_seconds": 0.4, "flows": 3}"#);
    let window = source.window.clone().expect("a window");
    assert_eq!(window.clock, "sink");
    assert_eq!(flow_bytes(&source), (window.bytes, 0));
    assert!(!source.flags.contains(&"bytes_unaccounted".to_owned()), "{:?}", source.flags);
    assert_close(
        metric(&source, "throughput_bps"),
        window.bytes as f64 * 8.0 / window.elapsed_seconds,
        1e-9,
    );
    assert_eq!(
        sink.metrics["throughput_bps"].to_bits(),
        source.metrics["throughput_bps"].to_bits()
    );
    assert!(source.flags.contains(&"same_host".to_owned()));
    assert!(source.metrics.keys().all(|key| !key.starts_with("reverse_")));
    for key in
        ["send_throughput_bps", "packets_per_second", "retransmits", "congestion_window_bytes"]
    {
        assert!(metric(&source, key) >= 0.0);
    }
    assert!(metric(&source, "cpu_seconds_per_gigabyte") > 0.0);
}

#[test]
fn a_reverse_tcp_stream_is_measured_at_the_source_under_plain_names() {
    let source = result("tcp_stream", r#"{"duration_seconds": 0.4, "direction": "reverse"}"#);
    let window = source.window.clone().expect("a window");
    assert_eq!((window.clock.as_str(), window.bytes), ("source", 0));
    assert_eq!(flow_bytes(&source), (0, window.reverse_bytes.expect("reverse bytes")));
    assert!(metric(&source, "throughput_bps") > 0.0);
    assert!(!source.flags.contains(&"bytes_unaccounted".to_owned()));
}

#[test]
fn a_bidirectional_tcp_stream_has_metrics_of_both_directions() {
    let source = result(
        "tcp_stream",
        r#"{"duration_seconds": 0.4, "direction": "bidirectional", "flows": 2}"#,
    );
    let window = source.window.clone().expect("a window");
    assert_eq!(flow_bytes(&source), (window.bytes, window.reverse_bytes.expect("reverse bytes")));
    for key in [
        "throughput_bps",
        "reverse_throughput_bps",
        "send_throughput_bps",
        "reverse_send_throughput_bps",
    ] {
        assert!(metric(&source, key) > 0.0, "{key}");
    }
    assert!(!source.flags.contains(&"bytes_unaccounted".to_owned()));
}

#[test]
fn a_tcp_warmup_is_cut_at_the_mark_and_its_bytes_are_not_counted() {
    undisturbed(|| {
        let text = r#"{"duration_seconds": 0.5, "warmup_seconds": 0.4, "flows": 2, "rate_bps": 80000000,
                   "message_size_bytes": 1000, "report_interval_seconds": 0.2}"#;
        let source = result("tcp_stream", text);
        let window = source.window.clone().expect("a window");
        assert_close(window.elapsed_seconds, 0.5, 0.05);
        assert_close(window.bytes as f64, 5_000_000.0, 0.05);
        assert!(!source.flags.contains(&"bytes_unaccounted".to_owned()), "{:?}", source.flags);
        let warm: Vec<bool> = source.intervals.iter().map(|interval| interval.warmup).collect();
        assert_eq!(warm, [true, true, false, false, false]);
    });
}

#[test]
fn intervals_sum_to_the_bytes_of_the_window() {
    let source =
        result("tcp_stream", r#"{"duration_seconds": 0.5, "report_interval_seconds": 0.1}"#);
    let bits: f64 = source
        .intervals
        .iter()
        .map(|interval| {
            interval.metrics["throughput_bps"] * (interval.end_seconds - interval.start_seconds)
        })
        .sum();
    assert_eq!(source.intervals.len(), 5);
    assert_close(bits / 8.0, source.window.expect("a window").bytes as f64, 1e-9);
}

#[test]
fn a_rate_limit_counts_payload_bits_of_all_flows() {
    undisturbed(|| {
        let text = r#"{"duration_seconds": 0.5, "rate_bps": 40000000, "flows": 2, "message_size_bytes": 500}"#;
        assert_close(metric(&result("tcp_stream", text), "throughput_bps"), 40e6, 0.05);
    });
}

#[test]
fn datagrams_sent_are_received_or_lost() {
    let source = result("udp_stream", r#"{"duration_seconds": 0.4, "flows": 2}"#);
    let (sent, received) = (metric(&source, "sent_packets"), metric(&source, "received_packets"));
    assert!(received > 0.0);
    assert_eq!(sent as u64, received as u64 + metric(&source, "lost_packets") as u64);
    assert_eq!(metric(&source, "duplicate_packets") as u64, 0);
    assert_eq!(source.window.expect("a window").bytes, received as u64 * 1_400);
}

#[test]
fn a_paced_udp_stream_loses_nothing_and_has_jitter() {
    undisturbed(|| {
        let text = r#"{"duration_seconds": 0.5, "rate_bps": 8000000, "message_size_bytes": 200,
                   "warmup_seconds": 0.3, "direction": "bidirectional"}"#;
        let source = result("udp_stream", text);
        for prefix in ["", "reverse_"] {
            let metric = |key: &str| metric(&source, &format!("{prefix}{key}"));
            assert_eq!(metric("lost_packets") as u64, 0);
            assert_eq!(metric("sent_packets") as u64, metric("received_packets") as u64);
            assert_eq!(metric("out_of_order_packets") as u64, 0);
            assert_close(metric("throughput_bps"), 8e6, 0.05);
            assert!(metric("jitter_seconds") > 0.0);
        }
    });
}

#[test]
fn the_smallest_datagrams_give_counts_and_loss_only() {
    undisturbed(|| {
        let text = r#"{"duration_seconds": 0.4, "warmup_seconds": 0.2, "message_size_bytes": 2, "rate_bps": 16000,
                   "direction": "reverse"}"#;
        let source = result("udp_stream", text);
        assert_eq!(metric(&source, "lost_packets") as u64, 0);
        assert_close(metric(&source, "received_packets"), 400.0, 0.05);
        for key in ["duplicate_packets", "out_of_order_packets", "jitter_seconds"] {
            assert!(!source.metrics.contains_key(key), "{key} can't be measured");
        }
        assert_eq!(source.window.expect("a window").clock, "source");
    });
}

#[test]
fn a_slow_udp_stream_is_as_fast_as_it_was_sent() {
    undisturbed(|| {
        let source = result(
            "udp_stream",
            r#"{"duration_seconds": 0.5, "message_size_bytes": 100, "rate_bps": 8000}"#,
        );
        let sent = metric(&source, "sent_packets");
        assert_close(sent, 5.0, 0.2);
        // From first to last arrival would be 0.4 s, and 10,000 bit/s.
        assert_close(metric(&source, "throughput_bps"), sent * 800.0 / 0.5, 0.02);
        let last = source.intervals.last().expect("an interval");
        assert_close(last.end_seconds, 0.5, 0.02);
    });
}

#[test]
fn buffers_are_told_as_granted_where_a_size_was_asked_for() {
    let largest = |name: &str| -> f64 {
        let text = std::fs::read_to_string(format!("/proc/sys/net/core/{name}")).expect("Linux");
        text.trim().parse().expect("a number")
    };
    let kinds = [
        ("tcp_stream", ""),
        ("udp_stream", r#", "rate_bps": 1000000"#),
        ("tcp_rr", ""),
        ("udp_rr", ""),
        ("tcp_crr", ""),
    ];
    for (kind, others) in kinds {
        let asked = r#"{"duration_seconds": 0.2, "source_socket_buffer_bytes": 1073741824"#;
        let source = result(kind, &format!("{asked}{others}}}"));
        let send = metric(&source, "source_send_buffer_bytes");
        let receive = metric(&source, "source_receive_buffer_bytes");
        assert_eq!(
            (send.to_bits(), receive.to_bits()),
            (largest("wmem_max").to_bits(), largest("rmem_max").to_bits()),
            "{kind}"
        );
        assert!(!source.metrics.contains_key("sink_send_buffer_bytes"), "{kind}");
        assert!(source.flags.contains(&"buffer_not_granted".to_owned()), "{:?}", source.flags);
        let granted = result(
            kind,
            &format!(r#"{{"duration_seconds": 0.2, "sink_socket_buffer_bytes": 65536{others}}}"#),
        );
        assert_eq!(metric(&granted, "sink_receive_buffer_bytes").to_bits(), 65_536_f64.to_bits());
        assert!(!granted.flags.contains(&"buffer_not_granted".to_owned()), "{kind}");
    }
}
