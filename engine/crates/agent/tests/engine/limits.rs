//! What sessions may ask for, and whose they are.

use crate::support::{Engine, sink};
use hyper::{Method, StatusCode};
use serde_json::{Value, json};

const ALPHA: &str = "alpha-alpha-alpha-alpha-alpha-alpha";
const BETA: &str = "beta-beta-beta-beta-beta-beta-beta";
const LIMITS: &str = "sessions=1 duration=5 flows=4 rate=1e9 kinds=tcp_stream,udp_stream,tcp_rr";

fn two_tokens(options: &[&str]) -> Engine {
    let tokens = format!("{ALPHA} {LIMITS}\n{BETA}\n");
    Engine::start_with_tokens(tempfile::tempdir().unwrap(), &tokens, options)
}

fn put(engine: &Engine, token: &str, id: &str, kind: &str, params: &Value) -> (StatusCode, Value) {
    engine.call_as(token, Method::PUT, &format!("/v1/sessions/{id}"), Some(&sink(kind, params)))
}

#[test]
fn a_tokens_limits_refuse_with_field_value_and_whose_they_are() {
    let engine = two_tokens(&[]);
    for (kind, params, field, said) in [
        (
            "tcp_stream",
            json!({"rate_bps": 1000, "duration_seconds": 4, "warmup_seconds": 2}),
            "params.duration_seconds",
            "this token's limit of 5 s",
        ),
        (
            "tcp_stream",
            json!({"rate_bps": 1000, "duration_seconds": 1, "flows": 5}),
            "params.flows",
            "this token's limit of 4",
        ),
        (
            "udp_stream",
            json!({"rate_bps": 1_000_000_001, "duration_seconds": 1}),
            "params.rate_bps",
            "this token's limit of 1000000000 bit/s",
        ),
        (
            "udp_stream",
            json!({"duration_seconds": 1}),
            "params.rate_bps",
            "without rate_bps the rate has no bound",
        ),
        (
            "tcp_rr",
            json!({"response_size_bytes": 1_048_576, "duration_seconds": 1}),
            "params.response_size_bytes",
            "ask for less",
        ),
        ("tcp_crr", json!({"duration_seconds": 1}), "kind", "this token may not run tcp_crr"),
    ] {
        let (status, answer) = put(&engine, ALPHA, "a", kind, &params);
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{answer}");
        assert_eq!(
            (&answer["error"]["code"], &answer["error"]["field"]),
            (&json!("limit"), &json!(field))
        );
        let code = answer["error"]["message_data"]["code"].as_str().expect("a code");
        assert!(code.starts_with("admission_"), "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(said), "{answer}");
    }
    assert_eq!(engine.session_processes().len(), 0);
    assert_eq!(
        put(&engine, BETA, "b", "tcp_crr", &json!({"duration_seconds": 60, "flows": 9})).0,
        StatusCode::CREATED
    );
}

#[test]
fn a_tokens_session_limit_counts_its_own_and_the_engines_counts_all() {
    let engine = two_tokens(&["--max-sessions", "2"]);
    let params = json!({"duration_seconds": 1, "rate_bps": 1000, "message_size_bytes": 100});
    assert_eq!(put(&engine, ALPHA, "a1", "tcp_stream", &params).0, StatusCode::CREATED);
    let (status, answer) = put(&engine, ALPHA, "a2", "tcp_stream", &params);
    assert_eq!(status, StatusCode::TOO_MANY_REQUESTS);
    assert!(
        answer["error"]["message"].as_str().unwrap().contains("this token's limit of 1 at once")
    );
    assert_eq!(put(&engine, BETA, "b1", "tcp_stream", &params).0, StatusCode::CREATED);
    let (status, answer) = put(&engine, BETA, "b2", "tcp_stream", &params);
    assert_eq!(status, StatusCode::TOO_MANY_REQUESTS);
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("this engine's limit of 2 at once (--max-sessions)")
    );
}

#[test]
fn the_engines_limits_hold_for_every_token() {
    let engine = two_tokens(&[
        "--max-duration",
        "2",
        "--max-flows",
        "2",
        "--max-bytes",
        "1e6",
        "--max-memory",
        "20e6",
    ]);
    for (params, field, said) in [
        (json!({"duration_seconds": 3}), "params.duration_seconds", "(--max-duration)"),
        (json!({"duration_seconds": 1, "flows": 3}), "params.flows", "(--max-flows)"),
        (json!({"duration_seconds": 1, "rate_bps": 8_000_001}), "params.rate_bps", "(--max-bytes)"),
        (
            json!({"duration_seconds": 1, "rate_bps": 8, "message_size_bytes": 10_000_000}),
            "params.message_size_bytes",
            "(--max-memory)",
        ),
    ] {
        let (status, answer) = put(&engine, BETA, "b", "tcp_stream", &params);
        assert_eq!(
            (status, &answer["error"]["field"]),
            (StatusCode::UNPROCESSABLE_ENTITY, &json!(field))
        );
        assert!(answer["error"]["message"].as_str().unwrap().contains(said), "{answer}");
    }
    let params = json!({"duration_seconds": 1, "rate_bps": 8_000_000});
    assert_eq!(put(&engine, BETA, "b", "tcp_stream", &params).0, StatusCode::CREATED);
    let limits = &engine.call_as(ALPHA, Method::GET, "/v1/about", None).1["limits"];
    assert_eq!(
        limits["engine"],
        json!({"sessions": 64, "duration_seconds": 2.0, "flows": 2, "bytes": 1e6})
    );
    assert_eq!(limits["token"]["sessions"], 1);
}

#[test]
fn a_token_neither_sees_nor_ends_the_sessions_of_another() {
    let engine = two_tokens(&[]);
    let params = json!({"duration_seconds": 1, "rate_bps": 1000, "message_size_bytes": 100});
    assert_eq!(put(&engine, ALPHA, "a", "tcp_stream", &params).0, StatusCode::CREATED);
    let mine = |method: Method, path: &str| engine.call_as(BETA, method, path, None);
    for (method, path) in [
        (Method::GET, "/v1/sessions/a"),
        (Method::GET, "/v1/sessions/a/events"),
        (Method::POST, "/v1/sessions/a/cancel"),
    ] {
        let (status, other) = mine(method.clone(), path);
        let nobodys = mine(method, &path.replace("/a", "/nobodys")).1.to_string();
        assert_eq!(status, StatusCode::NOT_FOUND);
        assert_eq!(other.to_string(), nobodys.replace("nobodys", "a"));
    }
    assert_eq!(mine(Method::DELETE, "/v1/sessions/a").0, StatusCode::OK);
    assert_eq!(put(&engine, BETA, "a", "tcp_stream", &params).0, StatusCode::CONFLICT);
    let (status, document) = engine.call_as(ALPHA, Method::GET, "/v1/sessions/a", None);
    assert_eq!((status, &document["state"]), (StatusCode::OK, &json!("prepared")));
    assert_eq!(engine.session_processes().len(), 1);
}

#[test]
fn a_token_that_may_not_measure_memory_takes_no_canary() {
    let engine = two_tokens(&[]);
    let take = |token| engine.call_as(token, Method::POST, "/v1/canary", None);
    assert_eq!(take(ALPHA).0, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(take(BETA).0, StatusCode::OK);
    let small = two_tokens(&["--max-memory", "100000000"]);
    let (status, _) = small.call_as(BETA, Method::POST, "/v1/canary", None);
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
}
