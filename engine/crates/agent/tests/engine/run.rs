//! `run`, as a person and a script meet it.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::stalls::undisturbed;
use crate::support::{Engine, program};
use serde_json::Value;

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
    let parameters = &proto::Catalog::embedded().kinds["tcp_stream"].parameters;
    assert_eq!(result["params"].as_object().unwrap().len(), parameters.len());
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
    assert!(text.starts_with("TCP request/response, 0."), "{text}");
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
    let output = engine.run(&["ping", "--json", "--set", "probe=udp", "--set", "count=3"]);
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(result["metrics"]["latency_mean_seconds"].as_f64().unwrap() > 0.0, "{result}");
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
        (&["tcp_rr", "--set", "flows=1,0"], "flows is 0"),
        (&["tcp_rr", "--repetitions", "3-5"], "goes with --confidence"),
        (&["tcp_rr", "--confidence", "99,5", "--repetitions", "1"], "at least 2 repetitions"),
        (&["tcp_rr", "--output", "/nowhere/at/all"], "can't write to /nowhere/at/all"),
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
    assert!(stderr(&output).contains("doesn't know this token, so it was not sent"));
    let output = engine.run(&["tcp_stream", "--peer-fingerprint", &engine.fingerprint]);
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    assert!(stderr(&output).contains("the bearer token is missing or not this engine's"));
}

#[test]
fn a_result_tells_what_its_interface_counted_and_that_another_session_ran() {
    let engine = Engine::start();
    let paced = serde_json::json!({"duration_seconds": 20, "rate_bps": 1_000_000});
    engine.start_pair("other", "tcp_stream", &paced);
    let paced = ["--set", "duration_seconds=0.5", "--set", "rate_bps=400000000"];
    let output = engine.run(&[&["tcp_stream", "--json"], &paced[..]].concat());
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    let host = &result["hosts"]["sink"];
    // The other test's two ends have one cookie and are two sessions of this engine.
    assert_eq!(host["other_sessions"], 2);
    assert!(result["flags"].as_array().unwrap().contains(&Value::from("other_sessions")));
    let interfaces = host["interfaces"].as_array().unwrap();
    let carrier = interfaces.iter().find(|interface| interface["carries_test"] == true).unwrap();
    assert_eq!(carrier["name"], "lo");
    let rate = result["metrics"]["nic_rx_bytes_per_second"].as_f64().unwrap();
    let counted = carrier["rx_bytes"].as_f64().unwrap() / host["seconds"].as_f64().unwrap();
    assert!((rate / counted - 1.0).abs() < 1e-9, "{rate} is not {counted}");
    // A busy machine reads the counters some milliseconds after the first byte; of a paced test that leaves the rate.
    let payload = result["metrics"]["throughput_bps"].as_f64().unwrap() / 8.0;
    assert!((0.95..1.15).contains(&(rate / payload)), "{rate} on the wire, {payload} received");
}

#[test]
fn what_the_sink_host_can_not_do_is_said_as_invalid() {
    let engine = Engine::start();
    let cases = [
        ("congestion_control=nosuchcontrol", "the sink host has no congestion control"),
        ("sink_cpus=1000", "sink_cpus names CPU 1000"),
    ];
    for (setting, reason) in cases {
        let output = engine.run(&["tcp_stream", "--set", setting]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(5), "{said}");
        assert!(said.contains(&format!("the test failed (invalid): {reason}")), "{said}");
    }
}

/// Interrupts a test in mid-measurement; its output and how long the end took.
fn interrupted(engine: &Engine, arguments: &[&str]) -> (std::process::Output, Duration) {
    let child = program()
        .args(["run", arguments[0], "--peer", &engine.control, "--set", "duration_seconds=30"])
        .args(&arguments[1..])
        .arg("--token-file")
        .arg(engine.token_file())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let is_running = |id: &String| {
        let path = format!("/v1/sessions/{id}");
        engine.call(hyper::Method::GET, &path, None).1["state"] == "running"
    };
    crate::support::wait_until(|| engine.session_ids().iter().any(is_running));
    std::thread::sleep(Duration::from_millis(500));
    let begin = Instant::now();
    assert!(
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success()
    );
    let output = child.wait_with_output().unwrap();
    crate::support::wait_until(|| engine.session_processes().is_empty());
    (output, begin.elapsed())
}

#[test]
fn ctrl_c_ends_both_ends_within_half_a_second_and_keeps_what_both_measured() {
    undisturbed(|| {
        let engine = Engine::start();
        let mut told = Vec::new();
        assert!(crate::support::can_take_less(Duration::from_millis(500), || {
            let (output, took) = interrupted(&engine, &["tcp_stream", "--json"]);
            assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
            told = output.stdout;
            took
        }));
        let partial: Value = serde_json::from_slice(&told).unwrap();
        assert!(
            partial["flags"].as_array().unwrap().contains(&Value::from("partial")),
            "{partial}"
        );
        for key in ["throughput_bps", "send_throughput_bps", "sink_cpu_ratio", "source_cpu_ratio"] {
            assert!(partial["metrics"][key].as_f64().is_some(), "{key}: {}", partial["metrics"]);
        }
        assert!(partial["window"]["bytes"].as_u64().unwrap() > 0);
    });
}

#[test]
fn an_interrupted_sweep_tells_people_what_was_measured_until_then() {
    undisturbed(|| {
        let engine = Engine::start();
        let (output, _) = interrupted(&engine, &["tcp_rr", "--repetitions", "2"]);
        assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
        let text = String::from_utf8(output.stdout).unwrap();
        let line = text.lines().last().unwrap();
        assert!(line.starts_with("  failed: interrupted"), "{text}");
        assert!(line.contains("(until then ") && line.ends_with("transactions/s)"), "{text}");
    });
}

#[test]
fn a_sweep_that_is_interrupted_keeps_its_finished_tests() {
    undisturbed(|| {
        let engine = Engine::start();
        let sweep = ["tcp_rr", "--json", "--repetitions", "2"];
        let (output, _) = interrupted(&engine, &sweep);
        assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
        let text = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 2, "{text}");
        assert_eq!(lines[0]["failure"]["exit_code"], 130);
        assert!(lines[0]["partial"]["metrics"]["transactions_per_second"].as_f64().unwrap() > 0.0);
        assert_eq!(lines[1]["summary"]["failed"], 1);
    });
}

#[test]
fn what_was_measured_is_shown_even_if_its_file_can_not_be_written() {
    let engine = Engine::start();
    for (arguments, begin) in
        [(&["--json"][..], "{\"schema\":1"), (&[], "TCP request/response, 0.")]
    {
        let asked = ["tcp_rr", "--set", "duration_seconds=0.1", "--output", "/dev/full"];
        let output = engine.run(&[&asked[..], arguments].concat());
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert!(stderr(&output).contains("can't write to /dev/full"), "{}", stderr(&output));
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.starts_with(begin), "{text}");
    }
}

/// An engine that takes a connection and its calls, and never answers; its address.
fn silent_engine() -> String {
    use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
    use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};
    let made = rcgen::generate_simple_self_signed(["silent".to_owned()]).unwrap();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let provider = std::sync::Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let config = std::sync::Arc::new(config);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let session = ServerConnection::new(std::sync::Arc::clone(&config)).unwrap();
            let mut tls = StreamOwned::new(session, stream.unwrap());
            std::thread::spawn(move || std::io::copy(&mut tls, &mut std::io::sink()));
        }
    });
    address
}

fn spawn_run(peer: &str, token_file: &std::path::Path) -> std::process::Child {
    program()
        .args(["run", "tcp_rr", "--peer", peer, "--token-file"])
        .arg(token_file)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn an_engine_that_never_answers_is_given_up_and_ctrl_c_needs_not_wait_for_it() {
    let peer = silent_engine();
    let folder = tempfile::tempdir().unwrap();
    let token_file = folder.path().join("token");
    std::fs::write(&token_file, "secret").unwrap();
    let begin = Instant::now();
    let (patient, interrupted) = (spawn_run(&peer, &token_file), spawn_run(&peer, &token_file));
    std::thread::sleep(Duration::from_secs(1));
    let interrupt = Command::new("kill").args(["-INT", &interrupted.id().to_string()]).status();
    assert!(interrupt.unwrap().success());
    let output = interrupted.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    // The other one has to wait for 15 s.
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    let output = patient.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("it gave no answer within 15 s"), "{}", stderr(&output));
    assert!(begin.elapsed() < Duration::from_secs(40), "{:?}", begin.elapsed());
}

#[test]
fn a_command_whose_messages_nobody_reads_ends_as_any_other() {
    let engine = Engine::start();
    let mut child = program()
        .args([
            "run",
            "tcp_rr",
            "--peer",
            &engine.control,
            "--set",
            "duration_seconds=0.1",
            "--json",
        ])
        .arg("--token-file")
        .arg(engine.token_file())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stderr.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(serde_json::from_slice::<Value>(&output.stdout).is_ok());
}
