//! What an engine proves to whoever asks, and what it tells nobody.

use std::process::Command;

use hyper::{Method, StatusCode};
use serde_json::{Value, json};

use crate::support::{Engine, TOKEN, wait_until};

const NONCE: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"; // pragma: allowlist secret
const SECOND: &str = "the-second-token-of-the-test-of-the-engine";

fn ask(engine: &Engine, body: &Value) -> (StatusCode, Value) {
    engine.call_as("", Method::POST, "/v1/proof", Some(body))
}

fn is_proven(engine: &Engine, token: &str, fingerprint: &str) -> bool {
    let (status, answer) = ask(engine, &json!({"nonce": NONCE}));
    assert_eq!(status, StatusCode::OK, "{answer}");
    let proofs = answer["proofs"].as_array().unwrap().iter().map(|proof| proof.as_str().unwrap());
    proto::is_proven(&proto::token_key(token), NONCE, fingerprint, proofs)
}

#[test]
fn an_engine_proves_each_of_its_tokens_with_its_own_certificate_and_no_other() {
    let tokens = format!("{TOKEN}\n{SECOND} flows=4\n");
    let engine = Engine::start_with_tokens(tempfile::tempdir().unwrap(), &tokens, &[]);
    for token in [TOKEN, SECOND] {
        assert!(is_proven(&engine, token, &engine.fingerprint));
        assert!(!is_proven(&engine, token, &format!("sha256:{}", "0".repeat(64))));
    }
    assert!(!is_proven(&engine, "", &engine.fingerprint));
    assert!(!is_proven(&engine, &TOKEN[1..], &engine.fingerprint));
}

#[test]
fn a_hang_up_changes_what_is_proven() {
    let engine = Engine::start();
    let newer = engine.token_file().with_extension("new");
    std::fs::write(&newer, SECOND).unwrap();
    std::fs::rename(newer, engine.token_file()).unwrap();
    assert!(!is_proven(&engine, SECOND, &engine.fingerprint));
    let id = engine.child.id().to_string();
    assert!(Command::new("kill").args(["-HUP", &id]).status().unwrap().success());
    wait_until(|| is_proven(&engine, SECOND, &engine.fingerprint));
    assert!(!is_proven(&engine, TOKEN, &engine.fingerprint));
}

#[test]
fn what_is_no_nonce_is_refused() {
    let engine = Engine::start();
    for nonce in ["", &NONCE[1..], &NONCE.to_uppercase(), &"é".repeat(32)] {
        let (status, answer) = ask(&engine, &json!({"nonce": nonce}));
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
        assert_eq!(answer["error"]["field"], "nonce");
    }
    for body in [json!({}), json!("text"), json!({"nonce": NONCE, "more": 1})] {
        assert_eq!(ask(&engine, &body).0, StatusCode::BAD_REQUEST, "{body}");
    }
    let long = json!({"nonce": "0".repeat(1024)});
    assert_eq!(ask(&engine, &long).0, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(engine.call_as("", Method::GET, "/v1/proof", None).0, StatusCode::UNAUTHORIZED);
}

#[test]
fn a_proof_ends_its_connection() {
    let engine = Engine::start();
    assert_eq!(engine.calls_on_one_connection("/v1/proof", &json!({"nonce": NONCE})), 1);
}

#[test]
fn a_controller_outside_the_allowed_networks_gets_no_proof() {
    let engine = Engine::start_with(tempfile::tempdir().unwrap(), &["--allow", "192.0.2.0/24"]);
    assert_eq!(ask(&engine, &json!({"nonce": NONCE})).0, StatusCode::FORBIDDEN);
}
