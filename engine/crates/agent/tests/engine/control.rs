//! The control API, as a controller meets it.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::{Engine, TOKEN, can_take_less, is_alive, run, sink, wait_until};
use agent::client::ClientError;
use hyper::{Method, StatusCode};
use serde_json::{Value, json};

const SECOND: Duration = Duration::from_secs(1);

fn signal(name: &str, pid: u32) {
    assert!(Command::new("kill").args([name, &pid.to_string()]).status().unwrap().success());
}

fn waiting_sink() -> Value {
    sink("tcp_stream", &json!({"duration_seconds": 1}))
}

#[test]
fn a_wrong_token_is_answered_401_and_makes_no_session() {
    let engine = Engine::start();
    for token in ["wrong", "the-token-of-the-test-of-the-engin", ""] {
        let (status, answer) =
            engine.call_as(token, Method::PUT, "/v1/sessions/a", Some(&waiting_sink()));
        assert_eq!(status, StatusCode::UNAUTHORIZED);
        assert_eq!(answer["error"]["code"], "unauthorized");
    }
    assert_eq!(engine.get("/v1/about")["sessions"], 0);
}

#[test]
fn about_tells_versions_port_and_kinds() {
    let engine = Engine::start();
    let about = engine.get("/v1/about");
    assert_eq!(about["protocol_version"], 1);
    assert_eq!(about["catalog_version"], 1);
    assert_eq!(about["data_port"], engine.data_port);
    assert_eq!(about["engine_version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(about["boot_id"].as_str().unwrap().len(), 36);
    assert!(about["kinds"].as_array().unwrap().contains(&json!("tcp_stream")));
    assert_eq!(engine.get("/v1/catalog")["kinds"]["tcp_stream"]["label"], "TCP stream");
}

#[test]
fn host_tells_the_last_times_load_and_the_interface_of_an_address() {
    let engine = Engine::start();
    let load = || engine.get("/v1/host?address=127.0.0.1");
    wait_until(|| load()["seconds"] != 0.0);
    let load = load();
    assert!((0.5..60.1).contains(&load["seconds"].as_f64().unwrap()), "{load}");
    assert!((0.0..=1.0).contains(&load["cpu_ratio"].as_f64().unwrap()), "{load}");
    assert_eq!(load["interface"]["name"], "lo");
    // The calls themselves went over it; a loopback has no speed.
    assert!(load["interface"]["rx_bps"].as_f64().unwrap() > 0.0, "{load}");
    assert_eq!(load["interface"].get("speed_bps"), None);
    assert_eq!(engine.get("/v1/host?device=lo&address=192.0.2.1")["interface"]["name"], "lo");
    // An address that no interface holds: the traffic is not told.
    assert_eq!(engine.get("/v1/host?address=192.0.2.1").get("interface"), None);
}

#[test]
fn host_is_for_holders_of_a_token_and_refuses_what_is_no_address() {
    let engine = Engine::start();
    let (status, _) = engine.call_as("wrong", Method::GET, "/v1/host", None);
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    let (status, answer) = engine.call_as(TOKEN, Method::GET, "/v1/host?address=eth0", None);
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(answer["error"]["field"], "address");
}

#[test]
fn an_unknown_kind_is_422_with_the_field_and_what_there_is() {
    let engine = Engine::start();
    let (status, answer) = engine.put_sink("a", &sink("telepathy", &json!({})));
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(answer["error"]["field"], "kind");
    assert!(
        answer["error"]["message"].as_str().unwrap().contains("tcp_stream, udp_rr, udp_stream")
    );
}

#[test]
fn a_65536_byte_udp_message_is_422_with_the_limit() {
    let engine = Engine::start();
    let (status, answer) =
        engine.put_sink("a", &sink("udp_stream", &json!({"message_size_bytes": 65536})));
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(answer["error"]["field"], "params.message_size_bytes");
    assert!(answer["error"]["message"].as_str().unwrap().contains("65,507"));
    let data = &answer["error"]["message_data"];
    assert_eq!(
        (&data["code"], &data["params"]["limit"]),
        (&"parameter_above".into(), &"65,507 B".into())
    );
    assert_eq!(engine.get("/v1/about")["sessions"], 0);
}

#[test]
fn a_source_may_only_be_sent_to_one_host() {
    let engine = Engine::start();
    let mut spec = waiting_sink();
    spec["role"] = json!("source");
    let field = |spec: &Value| engine.put_sink("a", spec).1["error"]["field"].clone();
    assert_eq!(field(&spec), "peer");
    for address in ["224.0.0.1", "255.255.255.255", "0.0.0.0", "ff02::1"] {
        spec["peer"] = json!({"address": address, "data_port": 7411});
        assert_eq!(field(&spec), "peer.address", "{address}");
    }
}

#[test]
fn bodies_that_are_no_specification_are_refused_and_the_engine_goes_on() {
    let engine = Engine::start();
    let status = |body: &Value| engine.put_sink("a", body).0;
    assert_eq!(status(&json!("text")), StatusCode::BAD_REQUEST);
    let mut deep = json!(1);
    for _ in 0..40 {
        deep = json!([deep]);
    }
    let (code, answer) = engine.put_sink("a", &deep);
    assert_eq!(code, StatusCode::BAD_REQUEST);
    assert!(answer["error"]["message"].as_str().unwrap().contains("deeper than 32 levels"));
    let large = json!("x".repeat(300 * 1024));
    assert_eq!(status(&large), StatusCode::PAYLOAD_TOO_LARGE);
    let (code, _) = engine.call(Method::PUT, "/v1/sessions/a%2Fb", Some(&waiting_sink()));
    assert_eq!(code, StatusCode::BAD_REQUEST);
    assert_eq!(engine.get("/v1/about")["sessions"], 0);
}

#[test]
fn the_same_put_again_answers_the_same_and_another_content_is_a_clash() {
    let engine = Engine::start();
    let (first_status, first) = engine.put_sink("a", &waiting_sink());
    assert_eq!((first_status, &first["state"]), (StatusCode::CREATED, &json!("prepared")));
    assert_eq!(first["data_port"], engine.data_port);
    let (second_status, second) = engine.put_sink("a", &waiting_sink());
    assert_eq!((second_status, second), (StatusCode::OK, first));
    let (status, answer) =
        engine.put_sink("a", &sink("tcp_stream", &json!({"duration_seconds": 2})));
    assert_eq!((status, &answer["error"]["code"]), (StatusCode::CONFLICT, &json!("clash")));
    assert_eq!(engine.session_processes().len(), 1);
}

#[test]
fn more_sessions_than_the_limit_are_429() {
    let engine = Engine::start_with(tempfile::tempdir().unwrap(), &["--max-sessions", "2"]);
    assert_eq!(engine.put_sink("a", &waiting_sink()).0, StatusCode::CREATED);
    assert_eq!(engine.put_sink("b", &waiting_sink()).0, StatusCode::CREATED);
    assert_eq!(engine.put_sink("c", &waiting_sink()).0, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(engine.call(Method::DELETE, "/v1/sessions/a", None).0, StatusCode::OK);
    assert_eq!(engine.put_sink("c", &waiting_sink()).0, StatusCode::CREATED);
}

#[test]
fn a_cancelled_session_says_why_and_its_events_can_be_read_again() {
    let engine = Engine::start();
    engine.put_sink("a", &waiting_sink());
    let (status, _) =
        engine.call(Method::POST, "/v1/sessions/a/cancel", Some(&json!({"reason": "enough"})));
    assert_eq!(status, StatusCode::OK);
    let events = engine.events("a", 0);
    let last = events.last().unwrap();
    assert_eq!((&last["state"], &last["reason"]), (&json!("cancelled"), &json!("enough")));
    assert_eq!(engine.events("a", 0), events);
    assert_eq!(engine.events("a", last["id"].as_u64().unwrap()), Vec::<Value>::new());
    assert_eq!(engine.get("/v1/sessions/a")["reason"], "enough");
    wait_until(|| engine.session_processes().is_empty());
}

#[test]
fn delete_may_be_repeated_and_frees_the_id() {
    let engine = Engine::start();
    engine.put_sink("a", &waiting_sink());
    for _ in 0..2 {
        assert_eq!(engine.call(Method::DELETE, "/v1/sessions/a", None).0, StatusCode::OK);
    }
    assert_eq!(engine.call(Method::GET, "/v1/sessions/a", None).0, StatusCode::NOT_FOUND);
    wait_until(|| engine.session_processes().is_empty());
    wait_until(|| {
        std::fs::read_dir(engine.folder.path().join("state/sessions")).unwrap().count() == 0
    });
    assert_eq!(engine.put_sink("a", &waiting_sink()).0, StatusCode::CREATED);
}

#[test]
fn a_session_whose_controller_falls_silent_ends_as_controller_lost() {
    let engine = Engine::start();
    let mut spec = waiting_sink();
    spec["lease_seconds"] = json!(1);
    engine.put_sink("a", &spec);
    std::thread::sleep(SECOND * 2);
    let document = engine.get("/v1/sessions/a");
    assert_eq!(document["state"], "failed");
    assert_eq!(engine.events("a", 0).last().unwrap()["code"], "controller_lost");
}

#[test]
fn a_killed_session_process_is_a_failure_with_its_signal() {
    let engine = Engine::start();
    engine.put_sink("a", &waiting_sink());
    signal("-KILL", engine.session_processes()[0]);
    let last = engine.events("a", 0).pop().unwrap();
    assert_eq!((&last["state"], &last["code"]), (&json!("failed"), &json!("internal")));
    assert!(last["reason"].as_str().unwrap().contains("signal: 9 (SIGKILL)"), "{last}");
}

#[test]
fn a_hanging_session_process_is_ended_within_a_second_of_the_cancel() {
    let engine = Engine::start();
    assert!(can_take_less(SECOND, || {
        engine.put_sink("a", &waiting_sink());
        signal("-STOP", engine.session_processes()[0]);
        let begin = Instant::now();
        engine.call(Method::POST, "/v1/sessions/a/cancel", Some(&json!({"reason": "enough"})));
        wait_until(|| engine.get("/v1/sessions/a")["state"] == "cancelled");
        let took = begin.elapsed();
        assert_eq!(engine.get("/v1/sessions/a")["reason"], "enough");
        engine.call(Method::DELETE, "/v1/sessions/a", None);
        wait_until(|| engine.session_processes().is_empty());
        took
    }));
}

#[test]
fn a_killed_agent_takes_its_sessions_with_it_and_its_successor_says_so() {
    let mut engine = Engine::start();
    engine.put_sink("a", &waiting_sink());
    let processes = engine.session_processes();
    assert_eq!(processes.len(), 1);
    engine.stop();
    wait_until(|| !is_alive(processes[0]));

    let engine = engine.restart();
    let last = engine.events("a", 0).pop().unwrap();
    assert_eq!((&last["state"], &last["code"]), (&json!("failed"), &json!("internal")));
    assert!(last["reason"].as_str().unwrap().starts_with("the engine was restarted"));
    assert_eq!(engine.put_sink("a", &waiting_sink()).0, StatusCode::OK);
}

#[test]
fn sigterm_cancels_the_sessions_and_the_certificate_and_results_outlive_it() {
    let mut engine = Engine::start();
    let fingerprint = engine.fingerprint.clone();
    engine.put_sink("a", &waiting_sink());
    let process = engine.session_processes()[0];
    signal("-TERM", engine.child.id());
    assert!(engine.child.wait().unwrap().success());
    wait_until(|| !is_alive(process));

    let engine = engine.restart();
    assert_eq!(engine.fingerprint, fingerprint);
    let document = engine.get("/v1/sessions/a");
    assert_eq!(
        (&document["state"], &document["reason"]),
        (&json!("cancelled"), &json!("the engine was stopped"))
    );
}

#[test]
fn another_fingerprint_is_refused_with_both_named() {
    let engine = Engine::start();
    let pinned = format!("sha256:{}", "0".repeat(64));
    let Err(error) = engine.connect_pinned(&pinned) else { panic!("it was accepted") };
    assert!(matches!(error, ClientError::Fingerprint { .. }));
    assert!(error.to_string().contains(&engine.fingerprint) && error.to_string().contains(&pinned));
}

#[test]
fn a_controller_outside_the_allowed_networks_is_403() {
    let engine = Engine::start_with(tempfile::tempdir().unwrap(), &["--allow", "192.0.2.0/24"]);
    let (status, answer) = engine.call_as(TOKEN, Method::GET, "/v1/about", None);
    assert_eq!((status, &answer["error"]["code"]), (StatusCode::FORBIDDEN, &json!("not_allowed")));
}

#[test]
fn serve_without_its_token_file_is_one_clear_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let (state, token) = (folder.path().join("state"), folder.path().join("token"));
    let serve = || {
        let state = state.to_str().unwrap();
        let options = ["serve", "--listen", "127.0.0.1:0", "--state-dir", state, "--token-file"];
        run(&[&options[..], &[token.to_str().unwrap()]].concat())
    };
    let output = serve();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("can't read the token file"));
    std::fs::write(&token, "\n").unwrap();
    assert!(
        String::from_utf8_lossy(&serve().stderr)
            .contains("is empty; put one line with a secret in it")
    );
}

#[test]
fn a_second_engine_on_the_same_state_folder_is_refused() {
    let engine = Engine::start();
    let state = engine.folder.path().join("state");
    let output = run(&[
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--data-port",
        "0",
        "--state-dir",
        state.to_str().unwrap(),
        "--token-file",
        engine.token_file().to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("another engine uses the state folder")
    );
}

#[test]
fn a_canary_measures_the_host_alone_within_its_second() {
    let engine = Engine::start();
    let (status, canary) = engine.call_as(TOKEN, Method::POST, "/v1/canary", None);
    assert_eq!(status, StatusCode::OK, "{canary}");
    let figures = canary["figures"].as_array().unwrap();
    let find = |metric: &str| figures.iter().find(|figure| figure["metric"] == metric);
    // Where the machine is too busy for three passes in time a figure is left out: not the fastest one.
    let loopback = find("loopback_round_trip_seconds").expect("the loopback's");
    assert_eq!(loopback["unit"], "s");
    assert!((1e-7..0.1).contains(&loopback["median"].as_f64().unwrap()), "{loopback}");
    assert!(loopback["least"].as_f64() <= loopback["median"].as_f64(), "{loopback}");
    assert!((3..=9).contains(&loopback["n"].as_u64().unwrap()), "{loopback}");
    let quick = || {
        let (_, canary) = engine.call_as(TOKEN, Method::POST, "/v1/canary", None);
        Duration::from_secs_f64(canary["seconds"].as_f64().unwrap())
    };
    assert!(can_take_less(SECOND, quick));
    assert_eq!(engine.session_ids(), Vec::<String>::new());
}

#[test]
fn no_canary_is_taken_beside_a_session_or_where_limits_forbid_it() {
    let engine = Engine::start();
    engine.put_sink("a", &waiting_sink());
    let (status, answer) = engine.call_as(TOKEN, Method::POST, "/v1/canary", None);
    assert_eq!(status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(answer["error"]["message_data"]["code"], "admission_canary_busy");
    let (status, _) = engine.call_as("wrong", Method::POST, "/v1/canary", None);
    assert_eq!(status, StatusCode::UNAUTHORIZED);
}
