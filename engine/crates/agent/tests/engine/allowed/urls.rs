//! Whom a controller can make an engine send HTTP requests to: nobody but its operator's choice.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::support::{Engine, sink};
use hyper::StatusCode;
use serde_json::{Value, json};

/// A web server that redirects every request elsewhere; its address and its count of connections.
fn redirecting(location: String) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let connections = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&connections);
    thread::spawn(move || {
        for stream in listener.incoming() {
            seen.fetch_add(1, Ordering::SeqCst);
            let mut stream = stream.unwrap();
            let head = format!("HTTP/1.1 302 Found\r\nLocation: {location}\r\n");
            thread::spawn(move || {
                while let Ok(1..) = stream.read(&mut [0; 4_096]) {
                    let _ = stream.write_all(format!("{head}Content-Length: 0\r\n\r\n").as_bytes());
                }
            });
        }
    });
    (address, connections)
}

fn source(engine: &Engine, url: &str) -> Value {
    let params = json!({"url": url, "duration_seconds": 0.2, "connections": 2});
    let mut spec = sink("http_load", &params);
    spec["role"] = json!("source");
    spec["peer"] = json!({"address": "127.0.0.1", "data_port": engine.data_port});
    spec
}

#[test]
fn a_url_that_is_not_allowed_is_422_and_nobody_is_connected_to() {
    let (address, connections) = redirecting("/".to_owned());
    let allowed = format!("http://{address}/public");
    let engine = Engine::start_with(tempfile::tempdir().unwrap(), &["--allow-url", &allowed]);
    assert_eq!(engine.get("/v1/about")["url_prefixes"], json!([allowed]));
    for url in [
        format!("http://{address}/private"),
        format!("http://{address}/public/../private"),
        format!("http://{address}/publicity"),
        format!("http://localhost:{}/public", address.rsplit(':').next().unwrap()),
        format!("https://{address}/public"),
        format!("http://user:secret@{address}/public"), // pragma: allowlist secret
    ] {
        let (status, answer) = engine.put_sink("a", &source(&engine, &url));
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{url}");
        assert_eq!(answer["error"]["field"], "params.url", "{url}");
    }
    assert_eq!(engine.get("/v1/about")["sessions"], 0);
    assert_eq!(connections.load(Ordering::SeqCst), 0);
}

#[test]
fn without_the_option_no_url_is_allowed_and_the_refusal_names_it() {
    let engine = Engine::start();
    assert_eq!(engine.get("/v1/about")["url_prefixes"], json!([]));
    let (status, answer) = engine.put_sink("a", &source(&engine, "http://192.0.2.1/x"));
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(
        answer["error"]["message"],
        "the source engine may not ask for http://192.0.2.1/x: no URL is allowed there; its operator allows it with serve --allow-url http://192.0.2.1/"
    );
}

#[test]
fn an_allowed_url_is_loaded_and_its_redirects_are_not_followed() {
    let (other, other_connections) = redirecting("/".to_owned());
    let (address, connections) = redirecting(format!("http://{other}/"));
    let allowed = format!("http://{address}/");
    let engine = Engine::start_with(tempfile::tempdir().unwrap(), &["--allow-url", &allowed]);
    let params =
        json!({"url": format!("http://{address}/page"), "duration_seconds": 0.2, "connections": 2});
    engine.start_pair("a", "http_load", &params);
    let last = engine.events("a-source", 0).pop().unwrap();
    let metrics = &last["result"]["metrics"];
    assert!(metrics["requests_per_second"].as_f64().unwrap() > 0.0, "{last}");
    assert_eq!(metrics["failed_responses"], json!(0.0));
    // One asks whether the server is there.
    assert_eq!(connections.load(Ordering::SeqCst), 3);
    assert_eq!(other_connections.load(Ordering::SeqCst), 0);
}

#[test]
fn the_command_line_may_load_the_url_that_it_is_given() {
    let (address, _) = redirecting("/".to_owned());
    let engine = Engine::start();
    let url = format!("url=http://{address}/");
    let output =
        engine.run(&["http_load", "--json", "--set", &url, "--set", "duration_seconds=0.2"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(result["metrics"]["requests_per_second"].as_f64().unwrap() > 0.0);
    let output = engine.run(&["http_load", "--set", "url=https://192.0.2.1/"]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("only http is measured"), "{message}");
}
