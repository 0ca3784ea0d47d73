//! A controller replaces its token and the engine's certificate: nothing is refused in between, the old ones afterwards.

use hyper::{Method, StatusCode};
use serde_json::{Value, json};

use crate::support::{Engine, TOKEN, sink};

const NEW: &str = "the-new-token-of-the-test-of-the-engine";
const SECOND: &str = "the-second-token-of-the-test-of-the-engine";

fn take(engine: &Engine, by: &str, token: &str) -> (StatusCode, Value) {
    engine.call_as(by, Method::POST, "/v1/token", Some(&json!({"token": token})))
}

fn about(engine: &Engine, token: &str) -> StatusCode {
    engine.call_as(token, Method::GET, "/v1/about", None).0
}

fn announced(engine: &Engine) -> String {
    let (status, answer) = engine.call(Method::POST, "/v1/certificate", None);
    assert_eq!(status, StatusCode::OK, "{answer}");
    answer["fingerprint"].as_str().unwrap().to_owned()
}

#[test]
fn both_tokens_are_valid_until_the_new_one_is_used() {
    let engine = Engine::start();
    assert_eq!(take(&engine, TOKEN, NEW), (StatusCode::OK, json!({"taken": true})));
    assert_eq!(about(&engine, TOKEN), StatusCode::OK);
    assert_eq!(about(&engine, NEW), StatusCode::OK);
    assert_eq!(about(&engine, TOKEN), StatusCode::UNAUTHORIZED);
    let engine = engine.restart();
    assert_eq!(about(&engine, TOKEN), StatusCode::UNAUTHORIZED);
    assert_eq!(about(&engine, NEW), StatusCode::OK);
    let kept = std::fs::read_to_string(engine.folder.path().join("state/successors.json")).unwrap();
    assert!(!kept.contains(NEW));
}

#[test]
fn a_session_of_the_old_token_is_the_new_ones_and_nobody_elses() {
    let tokens = format!("{TOKEN}\n{SECOND}\n");
    let engine = Engine::start_with_tokens(tempfile::tempdir().unwrap(), &tokens, &[]);
    let (status, _) = engine.put_sink("mine", &sink("tcp_rr", &json!({"duration_seconds": 1})));
    assert_eq!(status, StatusCode::CREATED);
    take(&engine, TOKEN, NEW);
    let found = |token| engine.call_as(token, Method::GET, "/v1/sessions/mine", None).0;
    assert_eq!(found(NEW), StatusCode::OK);
    assert_eq!(found(SECOND), StatusCode::NOT_FOUND);
    assert_eq!(found(TOKEN), StatusCode::UNAUTHORIZED);
}

#[test]
fn a_token_that_is_no_good_is_refused_and_changes_nothing() {
    let tokens = format!("{TOKEN}\n{SECOND}\n");
    let engine = Engine::start_with_tokens(tempfile::tempdir().unwrap(), &tokens, &[]);
    for token in
        ["", &NEW[..31], "a token that has spaces in it, and is long enough", TOKEN, SECOND]
    {
        let (status, answer) = take(&engine, TOKEN, token);
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{answer}");
        assert_eq!(answer["error"]["field"], "token");
    }
    assert_eq!(take(&engine, "nobody's", NEW).0, StatusCode::UNAUTHORIZED);
    assert_eq!(about(&engine, NEW), StatusCode::UNAUTHORIZED);
    assert!(!engine.folder.path().join("state/successors.json").exists());
}

#[test]
fn a_certificate_is_announced_and_shown_to_whoever_pinned_it_and_the_old_one_too() {
    let engine = Engine::start();
    let new = announced(&engine);
    assert_eq!(announced(&engine), new);
    // The announced one is not used by being asked for.
    let told =
        || std::fs::read_to_string(engine.folder.path().join("state/listening.json")).unwrap();
    assert!(told().contains(&engine.fingerprint));
    for fingerprint in [&new, &engine.fingerprint, &new] {
        let client = engine.connect_pinned(fingerprint).unwrap();
        assert_eq!(&client.fingerprint, fingerprint);
    }
    assert_eq!(engine.call(Method::GET, "/v1/about", None).0, StatusCode::OK);
}

#[test]
fn only_the_first_token_replaces_what_all_controllers_pin() {
    let tokens = format!("{TOKEN}\n{SECOND}\n");
    let engine = Engine::start_with_tokens(tempfile::tempdir().unwrap(), &tokens, &[]);
    let (status, answer) = engine.call_as(SECOND, Method::POST, "/v1/certificate", None);
    assert_eq!(status, StatusCode::FORBIDDEN, "{answer}");
    // Its own token is its own.
    assert_eq!(take(&engine, SECOND, NEW).0, StatusCode::OK);
    assert_eq!(about(&engine, TOKEN), StatusCode::OK);
}
