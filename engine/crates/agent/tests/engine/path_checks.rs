//! Looks at the path between two data ports.

use std::net::{TcpListener, UdpSocket};

use hyper::{Method, StatusCode};
use serde_json::{Value, json};

use crate::support::Engine;

fn cookie() -> String {
    "c7".repeat(32)
}

fn check(engine: &Engine, body: &Value) -> (StatusCode, Value) {
    engine.call(Method::POST, "/v1/path-checks", Some(body))
}

fn open(sink: &Engine) -> Value {
    let (status, answer) = check(sink, &json!({"role": "sink", "cookie": cookie()}));
    assert_eq!(status, StatusCode::OK, "{answer}");
    answer
}

fn look(source: &Engine, port: u16) -> Value {
    let peer = json!({"address": "127.0.0.1", "data_port": port});
    let (status, found) =
        check(source, &json!({"role": "source", "cookie": cookie(), "peer": peer}));
    assert_eq!(status, StatusCode::OK, "{found}");
    found
}

#[test]
fn a_free_path_carries_tcp_and_udp_both_ways() {
    let (source, sink) = (Engine::start(), Engine::start());
    let opened = open(&sink);
    assert_eq!(opened["data_port"], sink.data_port);
    assert_eq!(opened["arrived"], json!({"tcp": 0, "udp": 0}));
    let found = look(&source, sink.data_port);
    for protocol in ["tcp", "udp"] {
        assert_eq!(found[protocol]["passes"], true, "{found}");
        let round_trip = found[protocol]["round_trip_seconds"].as_f64().unwrap();
        assert!(round_trip > 0.0 && round_trip < 1.0, "{found}");
    }
    for way in ["forward", "backward"] {
        assert_eq!(found[way], json!({"mtu_bytes": 65_535, "is_silent": false}), "{found}");
    }
    assert_eq!(found["local_address"], "127.0.0.1");
    let arrived = open(&sink)["arrived"].clone();
    assert_eq!(arrived["tcp"], 1);
    assert!(arrived["udp"].as_u64().unwrap() >= 5, "{arrived}");
}

#[test]
fn a_port_where_nothing_listens_refuses_both() {
    let source = Engine::start();
    let port = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let found = look(&source, port);
    assert_eq!(
        (&found["tcp"]["passes"], &found["tcp"]["fault"]),
        (&json!(false), &json!("refused"))
    );
    assert_eq!(
        (&found["udp"]["passes"], &found["udp"]["fault"]),
        (&json!(false), &json!("refused"))
    );
    assert_eq!((&found["forward"], &found["backward"]), (&Value::Null, &Value::Null));
}

#[test]
fn who_accepts_and_is_no_sink_is_not_taken_for_one() {
    let source = Engine::start();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let accepting = std::thread::spawn(move || drop(listener.accept().unwrap()));
    let found = look(&source, port);
    accepting.join().unwrap();
    assert_eq!(found["tcp"]["fault"], "no_answer", "{found}");
}

#[test]
fn a_sink_answers_nobody_without_its_cookie() {
    let (source, sink) = (Engine::start(), Engine::start());
    let found = look(&source, sink.data_port);
    assert_eq!(
        (&found["tcp"]["fault"], &found["udp"]["fault"]),
        (&json!("no_answer"), &json!("timed_out"))
    );
    assert_eq!(open(&sink)["arrived"], json!({"tcp": 0, "udp": 0}));
}

#[test]
fn a_source_looks_only_where_its_operator_lets_it() {
    let engine = Engine::start_with(tempfile::tempdir().unwrap(), &["--allow", "127.0.0.0/8"]);
    for (address, field) in [("192.0.2.1", "peer.address"), ("224.0.0.1", "peer.address")] {
        let peer = json!({"address": address});
        let (status, answer) =
            check(&engine, &json!({"role": "source", "cookie": cookie(), "peer": peer}));
        assert_eq!(
            (status, &answer["error"]["field"]),
            (StatusCode::UNPROCESSABLE_ENTITY, &json!(field))
        );
    }
    let (status, answer) = check(&engine, &json!({"role": "source", "cookie": cookie()}));
    assert_eq!(
        (status, &answer["error"]["field"]),
        (StatusCode::UNPROCESSABLE_ENTITY, &json!("peer"))
    );
    assert_eq!(check(&engine, &json!({"role": "sink"})).0, StatusCode::BAD_REQUEST);
}
