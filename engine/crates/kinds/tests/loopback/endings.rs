//! Sessions that end early: cancelled, without a peer, impossible on this host.

use std::time::Duration;

use crate::support::stalls::stands_still;
use crate::support::{Pair, failed, params, text};
use proto::{EventBody, FailureCode, Role};

/// What is promised for a cancel.
const CANCEL_LIMIT: Duration = Duration::from_millis(100);
/// Of so many tries one has to keep it: a busy machine makes a try longer, none is shorter than it can be.
const TRIES: usize = 5;

fn cancelled(kind: &str, text: &str, role: Role) -> (EventBody, EventBody) {
    let attempt = || {
        let pair = Pair::start(kind, &params(text));
        pair.source.wait_until_running();
        std::thread::sleep(Duration::from_millis(150));
        let took = pair.cancel(role);
        (took, pair.join())
    };
    let mut last = attempt();
    for _ in 1..TRIES {
        if last.0 < CANCEL_LIMIT {
            break;
        }
        last = attempt();
    }
    assert!(
        last.0 < CANCEL_LIMIT || stands_still(),
        "{kind}: {:?} to cancel at the {role:?}",
        last.0
    );
    last.1
}

#[test]
fn every_kind_is_cancelled_at_once_and_keeps_what_it_measured() {
    for kind in ["tcp_stream", "udp_stream", "tcp_rr", "tcp_crr", "udp_rr", "http_load"] {
        let (source, sink) = cancelled(kind, &text(kind, 30.0), Role::Source);
        let (code, reason, partial) = failed(source);
        assert_eq!((code, reason.as_str()), (FailureCode::Cancelled, "enough"), "{kind}");
        assert_eq!(partial.expect("a partial result").kind, kind);
        let (code, reason, _) = failed(sink);
        assert_eq!((code, reason.as_str()), (FailureCode::Cancelled, "the other end says: enough"));
    }
}

#[test]
fn a_sink_that_is_cancelled_ends_its_source() {
    let text = r#"{"duration_seconds": 30, "direction": "bidirectional"}"#;
    let (source, sink) = cancelled("tcp_stream", text, Role::Sink);
    let (_, _, partial) = failed(sink);
    assert!(partial.expect("a partial result").metrics["throughput_bps"] > 0.0);
    assert_eq!(failed(source).0, FailureCode::Cancelled);
}

#[test]
fn a_lost_peer_leaves_a_partial_result_with_its_intervals() {
    let text = r#"{"duration_seconds": 30, "report_interval_seconds": 0.1}"#;
    let pair = Pair::start("tcp_stream", &params(text));
    pair.source.wait_until(|events| events.len() > 2);
    pair.agent.cut_link();
    let (source, sink) = pair.join();
    let (code, _, partial) = failed(source);
    assert_eq!(code, FailureCode::PeerLost);
    let partial = partial.expect("a partial result");
    assert!(!partial.intervals.is_empty());
    assert!(partial.metrics["send_throughput_bps"] > 0.0);
    assert!(!partial.metrics.contains_key("throughput_bps"), "the sink's half is unknown");
    let (code, _, partial) = failed(sink);
    assert_eq!(code, FailureCode::PeerLost);
    assert!(partial.expect("a partial result").metrics["throughput_bps"] > 0.0);
}

#[test]
fn an_unknown_congestion_control_names_those_that_there_are() {
    let (source, sink) =
        Pair::start("tcp_stream", &params(r#"{"congestion_control": "nosuchcontrol"}"#)).join();
    for (event, end) in [(source, "source"), (sink, "sink")] {
        let (code, reason, partial) = failed(event);
        assert_eq!(code, FailureCode::Invalid);
        assert!(
            reason.starts_with(&format!(
                "the {end} host has no congestion control \"nosuchcontrol\""
            ))
        );
        assert!(reason.contains("reno"), "{reason}");
        assert_eq!(partial, None);
    }
}

#[test]
fn a_cpu_that_the_host_does_not_have_is_refused_before_the_test() {
    let text = r#"{"source_cpus": "1000", "sink_cpus": "1001"}"#;
    let (source, sink) = Pair::start("tcp_stream", &params(text)).join();
    for (event, start) in
        [(source, "source_cpus names CPU 1000"), (sink, "sink_cpus names CPU 1001")]
    {
        let (code, reason, partial) = failed(event);
        assert_eq!((code, partial), (FailureCode::Invalid, None));
        assert!(reason.starts_with(start), "{reason}");
    }
}
