//! `run` with several tests: sweeps, repetitions, confidence.

use std::process::Output;

use crate::support::Engine;
use serde_json::Value;

fn lines(output: &Output) -> Vec<Value> {
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_sweep_prints_a_line_for_each_test_and_a_summary_for_each_combination() {
    let engine = Engine::start();
    let file = engine.folder.path().join("results.jsonl");
    let output = engine.run(&[
        "tcp_stream",
        "--json",
        "--set",
        "duration_seconds=0.2",
        "--set",
        "message_size_bytes=64,1024",
        "--repetitions",
        "2",
        "--output",
        file.to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let lines = lines(&output);
    assert_eq!(lines.len(), 6);
    let tests: Vec<(u64, u64)> = lines[..4]
        .iter()
        .map(|line| {
            let size = line["params"]["message_size_bytes"].as_u64().unwrap();
            (size, line["repetition"].as_u64().unwrap())
        })
        .collect();
    assert_eq!(tests, [(64, 1), (1024, 1), (64, 2), (1024, 2)]);
    let rate = |index: usize| lines[index]["metrics"]["throughput_bps"].as_f64().unwrap();
    let summary = &lines[5]["summary"];
    assert_eq!(summary["params"]["message_size_bytes"], 1024);
    assert_eq!(summary["repetitions"], 2);
    assert_eq!(summary["metrics"]["throughput_bps"]["count"], 2);
    assert_eq!(summary["metrics"]["throughput_bps"]["minimum"], rate(1).min(rate(3)));
    assert_eq!(summary["metrics"]["throughput_bps"]["median"], f64::midpoint(rate(1), rate(3)));
    // Other tests on this machine may raise more.
    assert!(summary["flags"].as_array().unwrap().contains(&Value::from("same_host")));
    assert_eq!(std::fs::read(file).unwrap(), output.stdout);
}

#[test]
fn a_test_that_fails_does_not_lose_the_others() {
    let engine = Engine::start();
    // No host has this CPU: the source refuses that one test.
    let output = engine.run(&[
        "tcp_rr",
        "--set",
        "duration_seconds=0.2",
        "--set",
        "source_cpus=4095;0",
        "--order",
        "sequential",
    ]);
    assert_eq!(output.status.code(), Some(5), "{}", stderr(&output));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("failed: source_cpus=4095: the test failed"), "{text}");
    let row = text.lines().find(|line| line.starts_with("  0 ")).unwrap();
    assert!(row.contains("transactions/s"), "{text}");
    assert!(stderr(&output).contains("1 of 2 tests failed"), "{}", stderr(&output));
}

#[test]
fn a_confidence_that_is_not_reached_is_told_loudly_and_is_6() {
    let engine = Engine::start();
    let output = engine.run(&[
        "tcp_rr",
        "--json",
        "--quiet",
        "--set",
        "duration_seconds=0.1",
        "--confidence",
        "99,0.0001",
        "--repetitions",
        "2-4",
    ]);
    assert_eq!(output.status.code(), Some(6), "{}", stderr(&output));
    assert!(stderr(&output).starts_with("!!! WARNING\n"), "{}", stderr(&output));
    let lines = lines(&output);
    assert_eq!(lines.len(), 5);
    let summary = &lines[4]["summary"];
    let confidence = &summary["confidence"];
    assert_eq!(confidence["is_reached"], false);
    assert_eq!(confidence["repetitions"], 4);
    assert_eq!(confidence["level_percent"], 99.0);
    assert_eq!(confidence["width_percent"], 0.0001);
    let interval = &confidence["metrics"]["transactions_per_second"];
    assert!(interval["width_percent"].as_f64().unwrap() > 0.0001);
    assert!(summary["flags"].as_array().unwrap().contains(&Value::from("confidence_not_reached")));
}

#[test]
fn a_confidence_that_is_reached_stops_before_the_maximum() {
    let engine = Engine::start();
    let output = engine.run(&[
        "tcp_stream",
        "--json",
        "--set",
        "duration_seconds=0.3",
        "--set",
        "rate_bps=80000000",
        "--confidence",
        "95,50",
        "--confidence-on",
        "headline",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let lines = lines(&output);
    let confidence = &lines[lines.len() - 1]["summary"]["confidence"];
    assert_eq!(confidence["is_reached"], true, "{confidence}");
    assert_eq!(confidence["maximum_repetitions"], 30);
    assert!((3..30).contains(&confidence["repetitions"].as_u64().unwrap()), "{confidence}");
    assert_eq!(confidence["metrics"].as_object().unwrap().len(), 1);
}
