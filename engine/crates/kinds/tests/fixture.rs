//! What the fixture kind shows of every kind: one catalog entry and one module are enough, and no fault is lost.

mod support;

use proto::FailureCode;
use support::{Pair, failed, params, result};

#[test]
fn the_fixture_kind_runs_like_any_other() {
    kinds::fixture::add();
    let result = result("tcp_echo_probe", r#"{"probe_count": 50}"#);
    let mean = result.metrics["probe_round_trip_seconds"];
    assert!(mean > 0.0 && mean < 0.1);
    let own = |key: &&String| key.as_str() == "probe_round_trip_seconds" || key.contains("latency");
    assert_eq!(result.metrics.keys().filter(own).count(), 1, "{:?}", result.metrics);
}

#[test]
fn a_fault_in_a_client_that_has_done_its_work_fails_the_test_and_keeps_what_was_measured() {
    kinds::fixture::add();
    let (source, _) =
        Pair::start("tcp_echo_probe", &params(r#"{"probe_count": 50, "fault_at_end": true}"#))
            .join();
    let (code, reason, partial) = failed(source);
    assert_eq!(code, FailureCode::PeerLost);
    assert_eq!(reason, "the probe was asked to fail");
    assert!(partial.expect("it had measured").metrics["probe_round_trip_seconds"] > 0.0);
}
