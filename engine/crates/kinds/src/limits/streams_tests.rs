use proto::LimitedBy;

use super::verdict;
use crate::limits::known::{EndUse, Known};
use crate::limits::rules::{confined, receiver_cpu, sender_cpu, with_confines};

fn awake(share: f64) -> EndUse {
    EndUse { awake: Some(share), running: Some(share), threads: 1, ..EndUse::default() }
}

/// A stream in which nothing stands out.
fn calm() -> Known {
    Known {
        sender: awake(0.5),
        receiver: awake(0.5),
        throughput_bps: Some(900e6),
        busy: Some(1.0),
        receiver_limited: Some(0.0),
        send_buffer_limited: Some(0.0),
        retransmit_ratio: Some(0.0),
        rtt_seconds: Some(0.0102),
        minimum_rtt_seconds: Some(0.010),
        ..Known::default()
    }
}

fn by(known: &Known) -> LimitedBy {
    verdict(known).by
}

#[test]
fn figures_without_a_sign_give_no_verdict() {
    let verdict = verdict(&calm());
    assert_eq!(verdict.by, LimitedBy::Unknown);
    assert_eq!(verdict.evidence.len(), 5);
    assert_eq!(by(&Known { throughput_bps: Some(1.0), ..Known::default() }), LimitedBy::Unknown);
}

#[test]
fn a_rate_that_was_asked_for_and_reached_is_the_limit() {
    let asked = Known { asked_bps: Some(910e6), ..calm() };
    let verdict = verdict(&asked);
    assert_eq!(verdict.by, LimitedBy::Pacing);
    assert_eq!(&*verdict.summary, "99 % of the 910.0 Mbit/s asked for arrived.");
    assert_eq!(by(&Known { asked_bps: Some(1e9), ..calm() }), LimitedBy::Unknown);
}

#[test]
fn a_full_link_is_the_limit_however_busy_the_ends_are() {
    let full = Known { ceiling_bps: Some(941.5e6), sender: awake(0.99), ..calm() };
    let verdict = verdict(&full);
    assert_eq!(verdict.by, LimitedBy::LinkRate);
    assert_eq!(
        &*verdict.summary,
        "96 % of the 941.5 Mbit/s of payload that the link can carry arrived."
    );
}

#[test]
fn a_link_that_other_traffic_fills_is_the_limit_too() {
    let sender = EndUse { link_use: Some(0.97), ..awake(0.5) };
    let shared = Known { ceiling_bps: Some(9.4e9), sender, ..calm() };
    let verdict = verdict(&shared);
    assert_eq!(verdict.by, LimitedBy::LinkRate);
    assert_eq!(&*verdict.summary, "The link was 97 % full with all traffic on it.");
}

#[test]
fn a_sender_that_never_sleeps_is_the_limit() {
    let small_messages = Known { sender: awake(0.99), busy: Some(0.6), ..calm() };
    let verdict = verdict(&small_messages);
    assert_eq!(verdict.by, LimitedBy::SenderCpu);
    assert_eq!(
        &*verdict.summary,
        "The sending thread was awake 99 % of its time, 100 % of it on a CPU: that end could do no more."
    );
    assert_eq!(verdict.evidence[0].threshold, Some(0.85));
}

#[test]
fn a_closed_window_is_the_receivers_cpu_when_its_thread_has_no_time_and_its_buffer_else() {
    let closed = Known { receiver_limited: Some(0.7), ..calm() };
    assert_eq!(by(&closed), LimitedBy::ReceiverWindow);
    assert_eq!(by(&Known { receiver: awake(0.8), ..closed.clone() }), LimitedBy::ReceiverCpu);
    let both_awake = Known { sender: awake(0.95), receiver: awake(0.99), ..closed };
    assert_eq!(by(&both_awake), LimitedBy::ReceiverCpu);
}

#[test]
fn of_two_ends_that_never_sleep_the_sender_counts_unless_the_window_closes() {
    let both = Known { sender: awake(0.95), receiver: awake(0.95), ..calm() };
    assert_eq!(by(&both), LimitedBy::SenderCpu);
    assert_eq!(by(&Known { receiver_limited: Some(0.25), ..both }), LimitedBy::ReceiverCpu);
}

#[test]
fn a_core_full_of_interrupts_is_the_receivers_cpu() {
    let receiver = EndUse { interrupted: Some(0.9), ..awake(0.4) };
    assert_eq!(by(&Known { receiver, ..calm() }), LimitedBy::ReceiverCpu);
}

#[test]
fn a_send_buffer_that_holds_all_in_flight_is_the_limit() {
    let small = Known { send_buffer_limited: Some(0.8), ..calm() };
    let verdict = verdict(&small);
    assert_eq!(verdict.by, LimitedBy::SendBuffer);
    assert!((verdict.evidence[0].value - 0.8).abs() < 1e-12);
}

#[test]
fn a_buffer_that_is_always_full_is_seen_by_what_is_in_flight() {
    // 4 Mbit/s over 20 ms: 10,000 B in flight of a window of 14,480 B and a buffer of 16,384 B.
    let full = Known {
        throughput_bps: Some(4e6),
        rtt_seconds: Some(0.020),
        minimum_rtt_seconds: Some(0.020),
        congestion_window_bytes: Some(14_480.0),
        send_buffer_bytes: Some(16_384.0),
        flows: 1.0,
        ..calm()
    };
    let found = verdict(&full);
    assert_eq!(found.by, LimitedBy::SendBuffer);
    assert!((found.evidence[0].value - 10_000.0 / 16_384.0).abs() < 1e-9);
    let full_window = Known { congestion_window_bytes: Some(10_000.0), ..full.clone() };
    assert_eq!(by(&full_window), LimitedBy::Unknown);
    let large_buffer = Known { send_buffer_bytes: Some(4e6), ..full };
    assert_eq!(by(&large_buffer), LimitedBy::Unknown);
}

#[test]
fn a_sender_of_datagrams_that_sleeps_waits_for_its_own_hosts_queue() {
    let held = Known {
        loss_ratio: Some(0.0),
        asked_bps: Some(5e9),
        busy: None,
        retransmit_ratio: None,
        ..calm()
    };
    assert_eq!(by(&held), LimitedBy::Path);
    assert_eq!(by(&Known { loss_ratio: None, ..held }), LimitedBy::Unknown);
}

#[test]
fn loss_or_a_queue_under_a_full_congestion_window_is_the_paths() {
    let lossy = Known { retransmit_ratio: Some(0.01), ..calm() };
    let found = verdict(&lossy);
    assert_eq!(found.by, LimitedBy::Path);
    assert_eq!(
        &*found.summary,
        "The congestion window held the sender back: 1 % of the segments were sent again."
    );
    let queued = Known { rtt_seconds: Some(0.05), ..calm() };
    let found = verdict(&queued);
    assert_eq!(found.by, LimitedBy::Path);
    assert_eq!(
        &*found.summary,
        "The congestion window held the sender back: a queue made the round trip grow from 10.0 ms to 50.0 ms."
    );
    assert_eq!(found.evidence[0].threshold, Some(0.015));
}

#[test]
fn a_round_trip_that_grows_under_an_open_window_is_no_queue() {
    let delayed = Known {
        throughput_bps: Some(3e6),
        rtt_seconds: Some(0.036),
        minimum_rtt_seconds: Some(0.020),
        congestion_window_bytes: Some(6e6),
        send_buffer_bytes: Some(16_384.0),
        ..calm()
    };
    assert_eq!(by(&delayed), LimitedBy::SendBuffer);
    let held = Known { congestion_window_bytes: Some(14_480.0), ..delayed };
    assert_eq!(by(&held), LimitedBy::Path);
}

#[test]
fn a_queue_of_microseconds_is_none_and_an_idle_sender_has_no_path_limit() {
    let loopback = Known { rtt_seconds: Some(90e-6), minimum_rtt_seconds: Some(10e-6), ..calm() };
    assert_eq!(by(&loopback), LimitedBy::Unknown);
    let idle = Known { busy: Some(0.1), retransmit_ratio: Some(0.01), ..calm() };
    assert_eq!(by(&idle), LimitedBy::Unknown);
}

#[test]
fn an_old_kernel_without_times_still_shows_loss() {
    let old = Known {
        busy: None,
        receiver_limited: None,
        send_buffer_limited: None,
        minimum_rtt_seconds: None,
        retransmit_ratio: Some(0.002),
        ..calm()
    };
    assert_eq!(by(&old), LimitedBy::Path);
}

#[test]
fn datagrams_are_lost_at_a_busy_receiver_or_on_the_path() {
    let flood =
        Known { loss_ratio: Some(0.3), sender: awake(1.0), receiver: awake(0.97), ..calm() };
    let found = verdict(&flood);
    assert_eq!(found.by, LimitedBy::ReceiverCpu);
    assert!(found.summary.ends_with(" 30 % of the datagrams were lost."), "{}", found.summary);
    let dropped = Known { receiver: awake(0.3), ..flood.clone() };
    assert_eq!(by(&dropped), LimitedBy::Path);
    let overflowed = Known { overflow_ratio: Some(0.9), ..dropped.clone() };
    assert_eq!(by(&overflowed), LimitedBy::ReceiverCpu);
    assert_eq!(by(&Known { overflow_ratio: Some(0.1), ..dropped }), LimitedBy::Path);
    assert_eq!(by(&Known { loss_ratio: Some(0.0), ..flood }), LimitedBy::SenderCpu);
}

#[test]
fn a_host_without_a_free_cpu_is_the_limit_of_the_end_that_uses_more_of_it() {
    let full = |process_cpus| EndUse {
        host_busy: Some(0.99),
        cores: 2,
        process_cpus: Some(process_cpus),
        ..awake(0.3)
    };
    let crowded = Known { sender: full(0.8), receiver: full(1.3), ..calm() };
    assert_eq!(by(&crowded), LimitedBy::ReceiverCpu);
    let crowded = Known { sender: full(1.2), receiver: full(0.7), ..calm() };
    assert_eq!(by(&crowded), LimitedBy::SenderCpu);
    let windows_close = Known { receiver_limited: Some(0.5), ..crowded.clone() };
    assert_eq!(by(&windows_close), LimitedBy::SenderCpu);
    let one_full = Known { sender: full(1.0), ..calm() };
    assert_eq!(by(&one_full), LimitedBy::SenderCpu);
    let filled_by_others = Known { sender: full(0.1), receiver: full(0.3), ..calm() };
    assert_eq!(by(&filled_by_others), LimitedBy::Unknown);
}

#[test]
fn an_end_that_used_up_what_its_control_group_allows_is_the_limit_and_the_group_is_named() {
    let squeezed = |quota_cpus, cpuset_cpus| Known {
        sender: EndUse { process_cpus: Some(0.49), quota_cpus, cpuset_cpus, ..awake(0.7) },
        ..calm()
    };
    let verdict = verdict(&squeezed(Some(0.5), Some(1.0)));
    assert_eq!(verdict.by, LimitedBy::SenderCpu);
    let summary =
        "The sending end used 0.49 of the 0.5 CPUs that the quota of its control group allows.";
    assert_eq!(&*verdict.summary, summary);
    assert_eq!(by(&squeezed(Some(2.0), None)), LimitedBy::Unknown);
    assert_eq!(by(&squeezed(None, Some(0.5))), LimitedBy::SenderCpu);
}

#[test]
fn a_verdict_about_a_cpu_names_the_limits_of_that_ends_control_group() {
    let group = EndUse { quota_cpus: Some(4.0), cpuset_cpus: Some(2.0), ..awake(0.97) };
    let known = Known { receiver: group, sender: awake(0.3), ..calm() };
    let named = with_confines(verdict(&known), &known);
    assert_eq!(named.by, LimitedBy::ReceiverCpu);
    let last: Vec<(&str, f64)> =
        named.evidence.iter().rev().take(2).map(|each| (each.what.as_str(), each.value)).collect();
    let cpuset = ("CPUs in the cpuset of its control group", 2.0);
    assert_eq!(last, [cpuset, ("CPU quota of its control group", 4.0)]);
}

#[test]
fn threads_and_confines_of_either_end_have_their_sentences() {
    for (threads, running) in [(1, None), (1, Some(0.5)), (2, None), (2, Some(0.5))] {
        let end = || EndUse { awake: Some(0.9), running, threads, ..EndUse::default() };
        let sender = sender_cpu(&Known { sender: end(), ..Known::default() });
        let receiver = receiver_cpu(&Known { receiver: end(), ..Known::default() });
        for (verdict, what) in [(sender, "The sending thread"), (receiver, "The receiving thread")]
        {
            let summary = verdict.expect("its CPU is the limit").summary;
            assert!(summary.starts_with(what), "{summary}");
            assert!(summary.ends_with(" time: that end could do no more.") || running.is_some());
        }
    }
    for (quota_cpus, cpuset_cpus, what) in [(Some(1.0), None, "quota"), (None, Some(1.0), "cpuset")]
    {
        let end =
            || EndUse { process_cpus: Some(1.0), quota_cpus, cpuset_cpus, ..EndUse::default() };
        let sender = confined(&Known { sender: end(), ..Known::default() });
        let receiver = confined(&Known { receiver: end(), ..Known::default() });
        for (verdict, end) in [(sender, "The sending end"), (receiver, "The receiving end")] {
            let summary = verdict.expect("it is confined").summary;
            assert!(summary.starts_with(end) && summary.contains(what), "{summary}");
        }
    }
}
