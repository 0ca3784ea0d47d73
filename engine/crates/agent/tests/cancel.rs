//! Ends that nobody planned: cancels, kills, and many sessions at once.

mod support;

use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hyper::Method;
use serde_json::{Value, json};
use support::{Engine, can_take_less, program, wait_until};

/// What is promised from the cancel to the final event with no process left.
const PROMISE: Duration = Duration::from_millis(500);

/// Times are measured: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wait_until_running(engine: &Engine, id: &str) {
    wait_until(|| engine.get(&format!("/v1/sessions/{id}"))["state"] == "running");
}

fn last(engine: &Engine, id: &str) -> Value {
    engine.events(id, 0).pop().unwrap()
}

#[test]
fn a_cancel_ends_300_flows_within_half_a_second_and_keeps_what_was_measured() {
    let _alone = alone();
    let engine = Engine::start();
    assert!(can_take_less(PROMISE, || {
        engine.start_pair("a", "tcp_stream", &json!({"duration_seconds": 30, "flows": 300}));
        wait_until_running(&engine, "a-source");
        wait_until_running(&engine, "a-sink");
        std::thread::sleep(Duration::from_millis(300));
        let begin = Instant::now();
        for id in ["a-source", "a-sink"] {
            let path = format!("/v1/sessions/{id}/cancel");
            engine.call(Method::POST, &path, Some(&json!({"reason": "enough"})));
        }
        let ends = ["a-source", "a-sink"].map(|id| last(&engine, id));
        wait_until(|| engine.session_processes().is_empty());
        let took = begin.elapsed();
        for end in &ends {
            // An end whose peer was told first has its reason from there.
            assert_eq!(end["state"], "cancelled");
            assert!(end["reason"].as_str().unwrap().ends_with("enough"), "{end}");
            assert!(took > PROMISE || end["partial"].is_object(), "{took:?}: {end}");
        }
        // The receiving end knows what arrived.
        let bytes = ends[1]["partial"]["window"]["bytes"].as_u64();
        assert!(took > PROMISE || bytes.is_some_and(|bytes| bytes > 0), "{took:?}: {}", ends[1]);
        for id in ["a-source", "a-sink"] {
            engine.call(Method::DELETE, &format!("/v1/sessions/{id}"), None);
        }
        took
    }));
}

#[test]
fn a_cancel_during_the_set_up_ends_both_ends_at_once() {
    let _alone = alone();
    let engine = Engine::start();
    assert!(can_take_less(PROMISE, || {
        engine.start_pair("a", "udp_stream", &json!({"duration_seconds": 30, "flows": 300}));
        let begin = Instant::now();
        for id in ["a-source", "a-sink"] {
            engine.call(Method::POST, &format!("/v1/sessions/{id}/cancel"), None);
        }
        for id in ["a-source", "a-sink"] {
            let end = last(&engine, id);
            assert_eq!(end["state"], "cancelled", "{end}");
        }
        wait_until(|| engine.session_processes().is_empty());
        let took = begin.elapsed();
        for id in ["a-source", "a-sink"] {
            engine.call(Method::DELETE, &format!("/v1/sessions/{id}"), None);
        }
        took
    }));
}

#[test]
fn ctrl_c_ends_a_run_of_300_flows_within_half_a_second() {
    let _alone = alone();
    let engine = Engine::start();
    assert!(can_take_less(PROMISE, || {
        let mut child = start_run(&engine);
        wait_until(|| !engine.session_processes().is_empty());
        std::thread::sleep(Duration::from_secs(1));
        let begin = Instant::now();
        assert!(
            Command::new("kill")
                .args(["-INT", &child.id().to_string()])
                .status()
                .unwrap()
                .success()
        );
        assert_eq!(child.wait().unwrap().code(), Some(130));
        wait_until(|| engine.session_processes().is_empty());
        begin.elapsed()
    }));
}

fn start_run(engine: &Engine) -> Child {
    program()
        .args(["run", "tcp_stream", "--peer", &engine.control])
        .args(["--set", "duration_seconds=30", "--set", "flows=300"])
        .arg("--token-file")
        .arg(engine.token_file())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn a_process_killed_in_mid_test_fails_alone_and_its_peer_says_so_within_three_seconds() {
    let _alone = alone();
    assert!(can_take_less(Duration::from_secs(3), time_to_the_end_of_a_killed_test));
}

fn time_to_the_end_of_a_killed_test() -> Duration {
    let engine = Engine::start();
    engine.start_pair("a", "tcp_stream", &json!({"duration_seconds": 30}));
    engine.start_pair_of("b", &"cd".repeat(32), "tcp_rr", &json!({"duration_seconds": 1}));
    wait_until_running(&engine, "a-source");
    // Children are in the order of their start; a-sink was the first.
    let sink = *engine.session_processes().iter().min().unwrap();
    assert!(Command::new("kill").args(["-KILL", &sink.to_string()]).status().unwrap().success());
    let begin = Instant::now();
    let (sink, source) = (last(&engine, "a-sink"), last(&engine, "a-source"));
    let took = begin.elapsed();
    assert_eq!((&sink["state"], &sink["code"]), (&json!("failed"), &json!("internal")));
    assert!(sink["reason"].as_str().unwrap().contains("signal: 9 (SIGKILL)"), "{sink}");
    assert_eq!((&source["state"], &source["code"]), (&json!("failed"), &json!("peer_lost")));
    assert!(source["partial"].is_object(), "{source}");
    assert_eq!(last(&engine, "b-source")["type"], "result");
    took
}

#[test]
fn twenty_tests_at_once_all_give_their_result() {
    let _alone = alone();
    let engine = Engine::start();
    // Mostly paced: what is tried is their number, not the CPU.
    let paced = json!({"duration_seconds": 0.3, "rate_bps": 5_000_000});
    let unpaced = json!({"duration_seconds": 0.3});
    let kinds = [
        ("tcp_stream", &paced),
        ("udp_stream", &paced),
        ("tcp_stream", &paced),
        ("udp_stream", &paced),
        ("tcp_rr", &unpaced),
        ("tcp_stream", &paced),
        ("udp_stream", &paced),
        ("tcp_crr", &unpaced),
        ("udp_stream", &paced),
        ("udp_rr", &unpaced),
    ];
    let name = |number: usize| format!("t{number}");
    for number in 0..20 {
        let (kind, params) = kinds[number % kinds.len()];
        engine.start_pair_of(&name(number), &format!("{number:064x}"), kind, params);
    }
    for number in 0..20 {
        for end in ["source", "sink"] {
            let last = last(&engine, &format!("{}-{end}", name(number)));
            assert_eq!(last["type"], "result", "{} {end}: {last}", kinds[number % kinds.len()].0);
        }
    }
    wait_until(|| engine.session_processes().is_empty());
}
