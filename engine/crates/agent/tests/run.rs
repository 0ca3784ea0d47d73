//! `run`, as a person and a script meet it.

mod support;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use support::{Engine, program};

fn stderr(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn run_json_prints_exactly_one_result_document() {
    let engine = Engine::start();
    let output = engine.run(&[
        "tcp_stream",
        "--json",
        "--set",
        "duration_seconds=0.5",
        "--set",
        "message_size_bytes=4096",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(result["kind"], "tcp_stream");
    assert_eq!(result["schema"], 1);
    assert_eq!(result["params"]["message_size_bytes"], 4096);
    assert_eq!(result["params"].as_object().unwrap().len(), 14);
    let throughput = result["metrics"]["throughput_bps"].as_f64().unwrap();
    let bytes = result["window"]["bytes"].as_f64().unwrap();
    let elapsed = result["window"]["elapsed_seconds"].as_f64().unwrap();
    assert!((0.4..0.8).contains(&elapsed), "{elapsed}");
    assert!(
        (throughput * elapsed / 8.0 / bytes - 1.0).abs() < 0.01,
        "{throughput} {bytes} {elapsed}"
    );
    assert_eq!(result["source"]["hostname"], result["sink"]["hostname"]);
    assert!(stderr(&output).contains(&engine.fingerprint));
}

#[test]
fn without_json_the_summary_names_each_metric_with_its_unit() {
    let engine = Engine::start();
    let output = engine.run(&[
        "tcp_rr",
        "--set",
        "duration_seconds=0.3",
        "--peer-fingerprint",
        &engine.fingerprint,
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(text.starts_with("TCP request/response, 0.3"), "{text}");
    assert!(text.contains("Latency, 99th percentile"), "{text}");
    assert!(!stderr(&output).contains("fingerprint"));
}

#[test]
fn every_kind_gives_its_headline() {
    let engine = Engine::start();
    for kind in ["tcp_stream", "udp_stream", "tcp_rr", "tcp_crr", "udp_rr"] {
        let output = engine.run(&[kind, "--json", "--set", "duration_seconds=0.3"]);
        assert_eq!(output.status.code(), Some(0), "{kind}: {}", stderr(&output));
        let result: Value = serde_json::from_slice(&output.stdout).unwrap();
        let headline = proto::Catalog::embedded().kinds[kind].headline.as_str();
        assert!(result["metrics"][headline].as_f64().unwrap() > 0.0, "{kind}: {result}");
    }
    assert_eq!(engine.get("/v1/about")["sessions"], 0);
}

#[test]
fn bad_usage_is_2_before_anyone_is_spoken_to() {
    let engine = Engine::start();
    for (arguments, reason) in [
        (&["telepathy"][..], "this engine has no test kind"),
        (&["udp_stream", "--set", "message_size_bytes=65536"], "65,507"),
        (&["tcp_rr", "--set", "colour=red"], "tcp_rr has no parameter \"colour\""),
        (&["tcp_rr", "--set", "flows"], "write it as name=value"),
        (&["tcp_rr", "--set", "flows=1", "--set", "flows=2"], "--set flows is given twice"),
    ] {
        let output = engine.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(reason), "{}", stderr(&output));
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn an_unreachable_peer_is_3() {
    let mut engine = Engine::start();
    engine.stop();
    let output = engine.run(&["tcp_stream"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains(&format!("can't reach the engine at {}", engine.control)));
}

#[test]
fn a_wrong_token_or_fingerprint_is_4() {
    let engine = Engine::start();
    let wrong = format!("sha256:{}", "0".repeat(64));
    let output = engine.run(&["tcp_stream", "--peer-fingerprint", &wrong]);
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    std::fs::write(engine.token_file(), "another").unwrap();
    let output = engine.run(&["tcp_stream"]);
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    assert!(stderr(&output).contains("token"));
}

#[test]
fn ctrl_c_ends_both_ends_with_130() {
    let engine = Engine::start();
    let mut child = program()
        .args(["run", "tcp_stream", "--peer", &engine.control, "--set", "duration_seconds=30"])
        .arg("--token-file")
        .arg(engine.token_file())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    support::wait_until(Duration::from_secs(5), || !engine.session_processes().is_empty());
    std::thread::sleep(Duration::from_millis(300));
    let begin = Instant::now();
    assert!(
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success()
    );
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
    support::wait_until(Duration::from_secs(1), || engine.session_processes().is_empty());
}
