//! Tests between two sessions, as the dashboard runs them.

use std::fs::{self, File};
use std::time::{Duration, Instant, SystemTime};

use crate::support::{Engine, can_take_less, wait_until};
use hyper::{Method, StatusCode};
use proto::Event;
use serde_json::{Value, json};

fn types(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

#[test]
fn one_engine_runs_both_ends_and_streams_state_intervals_and_result() {
    let engine = Engine::start();
    engine.start_pair(
        "a",
        "tcp_stream",
        &json!({"duration_seconds": 0.6, "report_interval_seconds": 0.2}),
    );
    let events = engine.events("a-source", 0);
    assert_eq!(types(&events), ["state", "interval", "interval", "interval", "result"]);
    let ids: Vec<u64> = events.iter().map(|event| event["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, [1, 2, 3, 4, 5]);
    assert_eq!(types(&engine.events("a-source", 3)), ["interval", "result"]);
    let result = &events[4]["result"];
    assert!(result["metrics"]["throughput_bps"].as_f64().unwrap() > 1e6);
    assert_eq!(result["sink"]["hostname"], result["source"]["hostname"]);
    assert_eq!(engine.get("/v1/sessions/a-source")["state"], "finished");
    assert_eq!(types(&engine.events("a-sink", 0)).last(), Some(&"result"));
}

#[test]
fn every_event_is_one_that_the_messages_crate_reads_and_writes_alike() {
    let engine = Engine::start();
    engine.start_pair("a", "tcp_rr", &json!({"duration_seconds": 0.2}));
    for value in engine.events("a-source", 0) {
        let event: Event = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(serde_json::to_value(&event).unwrap(), value);
    }
}

#[test]
fn a_result_survives_the_engines_kill_until_it_is_acknowledged() {
    let engine = Engine::start();
    engine.start_pair("a", "tcp_rr", &json!({"duration_seconds": 0.2}));
    let events = engine.events("a-source", 0);
    wait_until(|| engine.session_processes().is_empty());
    let engine = engine.restart();
    assert_eq!(engine.events("a-source", 0), events);
    assert_eq!(engine.call(Method::DELETE, "/v1/sessions/a-source", None).0, StatusCode::OK);
    let engine = engine.restart();
    assert_eq!(engine.call(Method::GET, "/v1/sessions/a-source", None).0, StatusCode::NOT_FOUND);
    assert_eq!(engine.get("/v1/sessions/a-sink")["state"], "finished");
}

#[test]
fn a_result_is_delivered_after_a_restart_whatever_its_files_date_says() {
    let decades = Duration::from_secs(56 * 365 * 86_400);
    let mut engine = Engine::start();
    engine.start_pair("a", "tcp_rr", &json!({"duration_seconds": 0.2}));
    let events = engine.events("a-source", 0);
    wait_until(|| engine.session_processes().is_empty());
    for date in [SystemTime::now() - decades, SystemTime::now() + decades] {
        engine.stop();
        for entry in fs::read_dir(engine.folder.path().join("state/sessions")).unwrap() {
            let file = File::options().write(true).open(entry.unwrap().path()).unwrap();
            file.set_modified(date).unwrap();
        }
        engine = engine.restart();
        assert_eq!(engine.events("a-source", 0), events);
        assert_eq!(engine.get("/v1/sessions/a-sink")["state"], "finished");
    }
    assert_eq!(engine.call(Method::DELETE, "/v1/sessions/a-source", None).0, StatusCode::OK);
    assert_eq!(engine.call(Method::GET, "/v1/sessions/a-source", None).0, StatusCode::NOT_FOUND);
}

#[test]
fn a_source_whose_sink_is_cancelled_fails_and_keeps_what_it_measured() {
    let engine = Engine::start();
    engine.start_pair(
        "a",
        "tcp_stream",
        &json!({"duration_seconds": 20, "report_interval_seconds": 0.1}),
    );
    wait_until(|| engine.get("/v1/sessions/a-source")["last_event_id"].as_u64() >= Some(4));
    engine.call(Method::POST, "/v1/sessions/a-sink/cancel", None);
    wait_until(|| engine.get("/v1/sessions/a-source")["state"] != "running");
    let last = engine.events("a-source", 0).pop().unwrap();
    assert_eq!(last["type"], "failure");
    assert!(last["partial"]["intervals"].as_array().unwrap().len() >= 3, "{last}");
}

#[test]
fn cancelling_both_ends_takes_less_than_a_second() {
    let engine = Engine::start();
    let paths = ["/v1/sessions/a-source", "/v1/sessions/a-sink"];
    assert!(can_take_less(Duration::from_secs(1), || {
        engine.start_pair("a", "udp_stream", &json!({"duration_seconds": 20}));
        wait_until(|| engine.get(paths[0])["state"] == "running");
        let begin = Instant::now();
        for path in paths {
            engine.call(Method::POST, &format!("{path}/cancel"), None);
        }
        wait_until(|| paths.iter().all(|path| engine.get(path)["state"] == "cancelled"));
        let took = begin.elapsed();
        for path in paths {
            engine.call(Method::DELETE, path, None);
        }
        took
    }));
}

#[test]
fn a_source_without_a_sink_to_reach_fails_as_unreachable_or_refused() {
    let engine = Engine::start();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut spec = crate::support::sink("tcp_stream", &json!({}));
    spec["role"] = json!("source");
    spec["peer"] = json!({"address": "127.0.0.1", "data_port": free});
    engine.put_sink("nobody", &spec);
    let last = engine.events("nobody", 0).pop().unwrap();
    assert_eq!((&last["state"], &last["code"]), (&json!("failed"), &json!("unreachable")));
    spec["peer"] = json!({"address": "127.0.0.1", "data_port": engine.data_port});
    engine.put_sink("unexpected", &spec);
    let last = engine.events("unexpected", 0).pop().unwrap();
    assert_eq!((&last["state"], &last["code"]), (&json!("failed"), &json!("refused")));
}

#[test]
fn tests_of_connections_and_of_streams_share_the_data_port_at_once() {
    let engine = Engine::start();
    let mut other = crate::support::sink("tcp_stream", &json!({"duration_seconds": 0.3}));
    other["cookie"] = json!("cd".repeat(32));
    engine.start_pair("a", "tcp_crr", &json!({"duration_seconds": 0.8}));
    wait_until(|| engine.get("/v1/sessions/a-source")["state"] == "running");
    engine.put_sink("b-sink", &other);
    other["role"] = json!("source");
    other["peer"] = json!({"address": "127.0.0.1", "data_port": engine.data_port});
    engine.put_sink("b-source", &other);
    for end in ["a-source", "b-source"] {
        let last = engine.events(end, 0).pop().unwrap();
        assert_eq!(last["type"], "result", "{end}: {last}");
    }
}

#[test]
fn an_engine_that_can_not_write_where_it_listens_serves_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    // As on a full disk, the file can't be written: there is a folder in its place.
    std::fs::create_dir_all(folder.path().join("state/listening.json/inside")).unwrap();
    let engine = Engine::start_with(folder, &[]);
    let output = engine.run(&["tcp_rr", "--set", "duration_seconds=0.1", "--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
