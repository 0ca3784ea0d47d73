//! The send modes of UDP streams end to end on loopback.

// Counts in metrics are whole numbers far below 2^53.
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]

use crate::support::result;
use crate::support::stalls::undisturbed;
use proto::RunResult;

fn metric(result: &RunResult, key: &str) -> f64 {
    *result.metrics.get(key).unwrap_or_else(|| panic!("{key} is missing from {:?}", result.metrics))
}

fn stream(mode: &str, others: &str) -> RunResult {
    result("udp_stream", &format!(r#"{{"send_mode": "{mode}", {others}}}"#))
}

fn has_flag(result: &RunResult, flag: &str) -> bool {
    result.flags.iter().any(|raised| raised == flag)
}

/// 2,000 datagrams a second: slow enough for a busy machine to lose none, even when a receiver is held up for 0.2 s.
fn is_whole_and_in_order(mode: &str, direction: &str) {
    let source = stream(
        mode,
        &format!(
            r#""duration_seconds": 1, "warmup_seconds": 0.1, "rate_bps": 3200000, "message_size_bytes": 200,
               "sink_socket_buffer_bytes": 200000, "source_socket_buffer_bytes": 200000, "direction": "{direction}""#
        ),
    );
    let count = |key: &str| metric(&source, key) as u64;
    assert_eq!(count("sent_packets"), count("received_packets"), "{mode} {direction}");
    for key in ["lost_packets", "duplicate_packets", "out_of_order_packets"] {
        assert_eq!(metric(&source, key) as u64, 0, "{mode} {direction}: {key}");
    }
    let sent = metric(&source, "sent_packets");
    assert!((1_960.0..=2_040.0).contains(&sent), "{mode} {direction}: {sent} datagrams of 2,000");
    assert!(metric(&source, "jitter_seconds") > 0.0);
    assert_eq!(has_flag(&source, "segmentation_offload"), mode == "segmentation");
    assert!(!has_flag(&source, "rate_not_reached"), "{:?}", source.flags);
    assert!(!has_flag(&source, "strange_datagrams"), "{:?}", source.flags);
}

#[test]
fn a_paced_sendmmsg_stream_is_whole_and_in_order() {
    undisturbed(|| {
        is_whole_and_in_order("sendmmsg", "forward");
    });
}

#[test]
fn a_paced_reverse_sendmmsg_stream_is_whole_and_in_order() {
    undisturbed(|| {
        is_whole_and_in_order("sendmmsg", "reverse");
    });
}

#[test]
fn a_paced_segmented_stream_is_whole_and_in_order() {
    undisturbed(|| {
        is_whole_and_in_order("segmentation", "forward");
    });
}

#[test]
fn a_paced_reverse_segmented_stream_is_whole_and_in_order() {
    undisturbed(|| {
        is_whole_and_in_order("segmentation", "reverse");
    });
}

#[test]
fn a_paced_stream_of_single_sends_is_whole_and_in_order() {
    undisturbed(|| {
        is_whole_and_in_order("send", "forward");
    });
}

#[test]
fn full_batches_both_ways_are_received_or_lost_and_never_doubled_or_out_of_order() {
    for mode in ["sendmmsg", "segmentation"] {
        let source = stream(
            mode,
            r#""duration_seconds": 0.4, "warmup_seconds": 0.1, "flows": 2, "direction": "bidirectional""#,
        );
        for prefix in ["", "reverse_"] {
            let count = |key: &str| metric(&source, &format!("{prefix}{key}")) as u64;
            assert!(count("received_packets") > 0);
            assert_eq!(count("sent_packets"), count("received_packets") + count("lost_packets"));
            assert_eq!((count("duplicate_packets"), count("out_of_order_packets")), (0, 0));
        }
        assert!(!has_flag(&source, "strange_datagrams"), "{:?}", source.flags);
    }
}

#[test]
fn small_datagrams_of_every_mode_give_counts_loss_and_order_but_no_jitter() {
    undisturbed(|| {
        let modes = ["send", "sendmmsg", "segmentation"];
        for (mode, bytes) in
            modes.into_iter().flat_map(|mode| [2, 4, 16].map(|bytes| (mode, bytes)))
        {
            let rate = bytes * 8_000;
            let others = format!(
                r#""duration_seconds": 0.4, "warmup_seconds": 0.2, "message_size_bytes": {bytes}, "rate_bps": {rate}"#
            );
            let source = stream(mode, &others);
            let is_blind = bytes < 4;
            assert_eq!(source.metrics.contains_key("duplicate_packets"), !is_blind, "{mode}");
            assert_eq!(has_flag(&source, "duplicates_unseen"), is_blind, "{mode}");
            let received = metric(&source, "received_packets");
            assert!((380.0..=420.0).contains(&received), "{mode}: {received} datagrams of 400");
            assert_eq!(metric(&source, "lost_packets") as u64, 0, "{mode}");
            assert!(!source.metrics.contains_key("jitter_seconds"));
            // The longer datagrams that end such a warm-up were not split.
            assert!(!has_flag(&source, "strange_datagrams"), "{mode}: {:?}", source.flags);
        }
    });
}

#[test]
fn the_greatest_datagrams_pass_in_every_mode() {
    undisturbed(|| {
        for mode in ["send", "sendmmsg", "segmentation"] {
            let source = stream(
                mode,
                r#""duration_seconds": 0.2, "message_size_bytes": 65507, "rate_bps": 52405600"#,
            );
            let sent = metric(&source, "sent_packets");
            assert!((16.0..=21.0).contains(&sent), "{mode}: {sent} datagrams of 20");
            assert_eq!(metric(&source, "received_packets") as u64, sent as u64, "{mode}");
        }
    });
}

#[test]
fn a_rate_that_no_machine_reaches_is_flagged() {
    let impossible = r#"{"duration_seconds": 0.2, "flow_rate_bps": 1000000000000}"#;
    for kind in ["udp_stream", "tcp_stream"] {
        assert!(has_flag(&result(kind, impossible), "rate_not_reached"), "{kind}");
    }
}

#[test]
fn a_tcp_stream_of_every_mode_arrives_whole_and_says_what_the_kernel_copied() {
    for mode in ["send", "sendfile", "zerocopy"] {
        for direction in ["forward", "bidirectional"] {
            let settings = format!(
                r#"{{"send_mode": "{mode}", "direction": "{direction}", "duration_seconds": 0.4,
                     "warmup_seconds": 0.1, "flows": 2, "message_size_bytes": 100000}}"#
            );
            let source = result("tcp_stream", &settings);
            assert_eq!(source.flows.len(), 2);
            for flow in &source.flows {
                assert!(flow.bytes > 0, "{mode} {direction}: {flow:?}");
                assert_eq!(
                    flow.reverse_bytes > 0,
                    direction == "bidirectional",
                    "{mode}: {flow:?}"
                );
            }
            assert!(metric(&source, "throughput_bps") > 0.0, "{mode} {direction}");
            assert_eq!(has_flag(&source, "zerocopy_copied"), mode == "zerocopy", "{direction}");
        }
    }
}

#[test]
fn a_paced_tcp_stream_keeps_its_rate_in_every_mode() {
    undisturbed(|| {
        for mode in ["send", "sendfile", "zerocopy"] {
            // A hundred messages: one that comes after the end is a hundredth of the rate.
            let settings = format!(
                r#"{{"send_mode": "{mode}", "rate_bps": 8000000, "duration_seconds": 1, "message_size_bytes": 10000}}"#
            );
            let source = result("tcp_stream", &settings);
            let rate = metric(&source, "throughput_bps");
            assert!((7.8e6..8.2e6).contains(&rate), "{mode}: {rate} bit/s of 8,000,000");
        }
    });
}
