//! The token file: what is refused or warned of at the start, and what SIGHUP changes while sessions run.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hyper::{Method, StatusCode};
use serde_json::json;

use crate::support::{Engine, PROGRAM, TOKEN, sink};

const NEW: &str = "another-token-of-the-test-of-the-engine";

/// Starts an engine that ends at once where its start is refused, else is stopped; what it said.
fn said_at_start(token: &str, mode: u32) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    fs::write(&file, token).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
    let mut child = Command::new(PROGRAM)
        .args(["serve", "--listen", "127.0.0.1:0", "--data-port", "0", "--state-dir"])
        .arg(folder.path().join("state"))
        .arg("--token-file")
        .arg(&file)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let listening = folder.path().join("state/listening.json");
    wait_until(|| listening.exists() || child.try_wait().unwrap().is_some());
    let _ = child.kill();
    String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap()
}

fn wait_until(mut holds: impl FnMut() -> bool) {
    let give_up_at = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < give_up_at, "it did not come to pass in 20 s");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn hang_up(engine: &Engine) {
    let id = engine.child.id().to_string();
    assert!(Command::new("kill").args(["-HUP", &id]).status().unwrap().success());
}

fn about(engine: &Engine, token: &str) -> StatusCode {
    engine.call_as(token, Method::GET, "/v1/about", None).0
}

#[test]
fn a_token_of_31_characters_is_refused_at_the_start() {
    let said = said_at_start(&"x".repeat(31), 0o600);
    assert!(said.contains("line 1: the token has 31 characters, fewer than 32"), "{said}");
    assert!(said.contains("make one with: openssl rand -hex 32"), "{said}");
}

#[test]
fn a_token_file_that_everybody_may_read_is_warned_of() {
    let said = said_at_start(TOKEN, 0o644);
    assert!(said.contains("every user of this host can read the token file"), "{said}");
    assert!(said.contains("(mode 0644); keep it from them with: chmod o-rwx"), "{said}");
    assert_eq!(said_at_start(TOKEN, 0o600), "");
    assert_eq!(said_at_start(TOKEN, 0o640), "");
}

#[test]
fn a_hang_up_reads_the_tokens_anew_and_leaves_sessions_running() {
    let engine = Engine::start();
    let spec = sink("tcp_stream", &json!({"duration_seconds": 30}));
    assert_eq!(engine.call(Method::PUT, "/v1/sessions/a", Some(&spec)).0, StatusCode::CREATED);
    replace(&engine.token_file(), NEW);
    assert_eq!(about(&engine, NEW), StatusCode::UNAUTHORIZED);
    hang_up(&engine);
    wait_until(|| about(&engine, NEW) == StatusCode::OK);
    assert_eq!(about(&engine, TOKEN), StatusCode::UNAUTHORIZED);
    let (status, session) = engine.call_as(NEW, Method::GET, "/v1/sessions/a", None);
    assert_eq!(status, StatusCode::OK);
    assert!(!session.to_string().contains("failure"), "{session}");
}

#[test]
fn a_new_file_that_cannot_be_used_changes_no_token() {
    let engine = Engine::start();
    for text in ["", "short", &format!("{NEW} nonsense")] {
        replace(&engine.token_file(), text);
        hang_up(&engine);
        assert_eq!(about(&engine, TOKEN), StatusCode::OK, "{text:?}");
    }
    replace(&engine.token_file(), &format!("{TOKEN}\n{NEW}"));
    hang_up(&engine);
    wait_until(|| about(&engine, NEW) == StatusCode::OK);
    assert_eq!(about(&engine, TOKEN), StatusCode::OK);
}

fn replace(file: &Path, text: &str) {
    let newer = file.with_extension("new");
    fs::write(&newer, text).unwrap();
    fs::rename(newer, file).unwrap();
}
