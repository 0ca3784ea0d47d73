//! HTTP load end to end on loopback: the sink's own responder, and servers that misbehave.

// Counts in metrics are whole numbers far below 2^53.
#![allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss)]

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use crate::support::stalls::undisturbed;
use crate::support::web::{Web, respond};
use crate::support::{Pair, failed, params, result, results, unanswered};
use proto::{FailureCode, RunResult};
use stats::Latency;

fn count(result: &RunResult, key: &str) -> u64 {
    result.metrics[key] as u64
}

fn requests(result: &RunResult) -> u64 {
    let window = result.window.as_ref().expect("a window");
    (result.metrics["requests_per_second"] * window.elapsed_seconds).round() as u64
}

fn latencies(result: &RunResult) -> u64 {
    let histogram = result.histogram.as_ref().expect("a histogram");
    Latency::encoded_count(&histogram.data).expect("decodes")
}

/// Loads a server with these parameters beside its URL.
fn load(web: &Web, text: &str) -> RunResult {
    results("http_load", &format!(r#"{{"url": "{}", {text}}}"#, web.url)).0
}

fn load_unanswered(web: &Web, text: &str) -> RunResult {
    unanswered("http_load", &format!(r#"{{"url": "{}", {text}}}"#, web.url))
}

fn assert_errors(result: &RunResult, expected: [(&str, bool); 5]) {
    for (key, is_expected) in expected {
        assert_eq!(count(result, key) > 0, is_expected, "{key}: {:?}", result.metrics);
    }
    let sum: u64 = ["connect_errors", "read_errors", "write_errors", "timeout_errors"]
        .iter()
        .map(|key| count(result, key))
        .sum();
    assert_eq!(count(result, "errors"), sum);
}

const NO_ERRORS: [(&str, bool); 5] = [
    ("failed_responses", false),
    ("connect_errors", false),
    ("read_errors", false),
    ("write_errors", false),
    ("timeout_errors", false),
];

fn only(key: &str) -> [(&str, bool); 5] {
    NO_ERRORS.map(|(each, _)| (each, each == key))
}

#[test]
fn the_sinks_responder_answers_every_request_on_every_connection() {
    undisturbed(|| {
        let text = r#"{"duration_seconds": 0.5, "warmup_seconds": 0.1, "connections": 30, "threads": 3,
                   "response_size_bytes": 100000}"#;
        let result = result("http_load", text);
        assert!(requests(&result) > 100, "{:?}", result.metrics);
        assert_eq!(requests(&result), latencies(&result));
        assert_errors(&result, NO_ERRORS);
        let bytes_per_request =
            result.metrics["received_bytes_per_second"] / result.metrics["requests_per_second"];
        let head = 112.0;
        // A response may have come in part at either end of the window.
        let slack = 30.0 * 100_112.0 / requests(&result) as f64;
        assert!((bytes_per_request - 100_000.0 - head).abs() <= slack, "{bytes_per_request}");
        let in_flight =
            result.metrics["requests_per_second"] * result.metrics["latency_mean_seconds"];
        // Those at the window's end aren't counted yet: many, where the host's own host takes CPU time away meanwhile.
        assert!(in_flight > 15.0 && in_flight < 31.0, "30 are in flight, got {in_flight}");
        let share = result.metrics["latency_within_stddev_ratio"];
        assert!(share > 0.5 && share <= 1.0, "{share}");
        assert!(result.metrics["latency_p50_seconds"] <= result.metrics["latency_p75_seconds"]);
        assert!(result.metrics["latency_p75_seconds"] <= result.metrics["latency_p90_seconds"]);
    });
}

#[test]
fn a_fixed_rate_is_kept_within_two_percent_and_is_said_to_be_corrected() {
    undisturbed(|| {
        let text = r#"{"duration_seconds": 1, "connections": 7, "threads": 2, "rate_rps": 2000}"#;
        let result = result("http_load", text);
        let rate = result.metrics["requests_per_second"];
        assert!((rate / 2_000.0 - 1.0).abs() < 0.02, "{rate}");
        assert!(result.flags.contains(&"coordinated_omission_corrected".to_owned()));
        assert!(!result.flags.contains(&"rate_not_reached".to_owned()));
    });
}

#[test]
fn a_server_that_closes_after_each_response_is_connected_to_again_without_an_error() {
    let web = Web::start(|stream, _| {
        respond(stream, "200 OK\r\nConnection: close", "hello");
        false
    });
    let result = load(&web, r#""duration_seconds": 0.4, "connections": 4"#);
    assert!(requests(&result) > 20, "{:?}", result.metrics);
    assert_errors(&result, NO_ERRORS);
    assert!(web.connections() as u64 >= requests(&result));
}

#[test]
fn a_body_without_a_length_ends_with_the_connection() {
    let web = Web::start(|stream, _| {
        let _ = stream.write_all(b"HTTP/1.0 200 OK\r\n\r\nsome");
        thread::sleep(Duration::from_millis(5));
        let _ = stream.write_all(b"thing");
        false
    });
    let result = load(&web, r#""duration_seconds": 0.3, "connections": 2"#);
    assert!(requests(&result) > 5 && result.metrics["latency_min_seconds"] >= 0.005);
    assert_errors(&result, NO_ERRORS);
}

#[test]
fn responses_other_than_2xx_and_3xx_are_counted_apart() {
    let web = Web::start(|stream, number| {
        respond(stream, if number % 2 == 0 { "404 Not Found" } else { "302 Found" }, "x")
    });
    let result = load(&web, r#""duration_seconds": 0.3, "connections": 1, "threads": 1"#);
    assert_errors(&result, only("failed_responses"));
    assert_eq!(count(&result, "failed_responses"), requests(&result).div_ceil(2));
}

#[test]
fn a_server_that_never_answers_is_a_time_out_per_connection() {
    let web = Web::start(|_, _| true);
    let result = load_unanswered(
        &web,
        r#""duration_seconds": 0.4, "connections": 6, "timeout_seconds": 0.1"#,
    );
    assert_eq!((requests(&result), count(&result, "timeout_errors")), (0, 6));
    assert_errors(&result, only("timeout_errors"));
}

#[test]
fn a_response_that_is_slower_than_the_time_out_is_one_and_keeps_its_latency() {
    undisturbed(|| {
        let web = Web::start(|stream, number| {
            thread::sleep(Duration::from_millis(if number == 1 { 150 } else { 1 }));
            respond(stream, "200 OK", "x")
        });
        let result =
            load(&web, r#""duration_seconds": 0.5, "connections": 1, "timeout_seconds": 0.1"#);
        assert_eq!(count(&result, "timeout_errors"), 1);
        assert!(result.metrics["latency_max_seconds"] >= 0.15);
        assert_eq!(latencies(&result), requests(&result));
    });
}

#[test]
fn garbage_and_broken_off_responses_are_read_errors() {
    for garbage in ["SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"] {
        let web = Web::start(move |stream, _| {
            let _ = stream.write_all(garbage.as_bytes());
            false
        });
        let result = load(&web, r#""duration_seconds": 0.3, "connections": 2"#);
        assert_eq!(requests(&result), 0);
        assert!(count(&result, "read_errors") > 2, "{:?}", result.metrics);
        assert_errors(&result, only("read_errors"));
    }
}

#[test]
fn a_stall_shows_in_the_latencies_of_all_requests_that_were_due_meanwhile() {
    undisturbed(|| {
        let stalling = |stream: &mut std::net::TcpStream, number| {
            thread::sleep(Duration::from_millis(if number == 100 { 200 } else { 0 }));
            respond(stream, "200 OK", "x")
        };
        let closed_loop =
            load(&Web::start(stalling), r#""duration_seconds": 1, "connections": 1, "threads": 1"#);
        let fixed_rate = load(
            &Web::start(stalling),
            r#""duration_seconds": 1, "connections": 1, "threads": 1, "rate_rps": 500"#,
        );
        // 100 of 500 requests became due in the 200 ms: they waited 100 ms on average.
        assert!(closed_loop.metrics["latency_p90_seconds"] < 0.02, "{:?}", closed_loop.metrics);
        let p90 = fixed_rate.metrics["latency_p90_seconds"];
        assert!((0.08..0.15).contains(&p90), "{p90}");
        assert!(fixed_rate.metrics["latency_mean_seconds"] > 0.015);
    });
}

#[test]
fn a_server_that_goes_away_leaves_connect_errors() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    // The first connection asks whether anyone is there; after it nobody is. The kernel may take more of them until the
    // listener is closed, which break later than by being refused: the warm-up is theirs.
    let closing = thread::spawn(move || drop((listener.accept(), listener)));
    let text = format!(
        r#"{{"url": "{url}", "warmup_seconds": 0.5, "duration_seconds": 0.3, "connections": 2}}"#
    );
    let result = unanswered("http_load", &text);
    closing.join().unwrap();
    assert_eq!(requests(&result), 0);
    assert!(count(&result, "connect_errors") > 2, "{:?}", result.metrics);
    assert_errors(&result, only("connect_errors"));
}

#[test]
fn nobody_at_the_url_is_told_with_the_address_and_the_reason() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let text = format!(r#"{{"url": "http://127.0.0.1:{port}/"}}"#);
    let (code, reason, _) = failed(Pair::start("http_load", &params(&text)).join().0);
    assert_eq!(code, FailureCode::Unreachable);
    assert_eq!(
        reason,
        format!(
            "the URL's server can't be reached from the source host: 127.0.0.1:{port} takes no connection: Connection refused (os error 111)"
        )
    );
}

#[test]
fn a_thousand_connections_are_answered() {
    let text = r#"{"duration_seconds": 0.5, "connections": 1000, "response_size_bytes": 10}"#;
    let result = result("http_load", text);
    assert!(requests(&result) >= 1_000, "{:?}", result.metrics);
    assert_errors(&result, NO_ERRORS);
}

#[test]
fn bytes_of_a_response_that_never_ends_count_from_the_warm_ups_end_on() {
    undisturbed(|| {
        let written = Arc::new(AtomicU64::new(0));
        let tally = Arc::clone(&written);
        // As even as a clock: 10 kB a millisecond, for longer than the test.
        let web = Web::start(move |stream, _| {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n");
            while stream.write_all(&[7; 10_000]).is_ok() {
                tally.fetch_add(10_000, Ordering::Relaxed);
                thread::sleep(Duration::from_millis(1));
            }
            false
        });
        let result =
            load(&web, r#""duration_seconds": 0.5, "warmup_seconds": 0.5, "connections": 2"#);
        let seconds = result.window.as_ref().expect("a window").elapsed_seconds;
        let counted = result.metrics["received_bytes_per_second"] * seconds;
        let share = counted / written.load(Ordering::Relaxed) as f64;
        // Half; none would be what came before it, nearly all what came in all.
        assert!((0.1..0.8).contains(&share), "{share} of all bytes came in half of the time");
    });
}

#[test]
fn a_rate_far_beyond_the_server_leaves_the_client_its_time_for_requests() {
    undisturbed(|| {
        let text = |rate: u64| {
            format!(
                r#"{{"duration_seconds": 0.5, "connections": 4, "threads": 1, "rate_rps": {rate}}}"#
            )
        };
        let rate = |asked| result("http_load", &text(asked)).metrics["requests_per_second"];
        let (many, far_too_many) = (rate(1_000_000), rate(100_000_000));
        assert!(
            far_too_many > many / 4.0,
            "{far_too_many} requests/s, and {many} when fewer are due"
        );
    });
}

#[test]
fn a_request_that_waits_since_the_warm_up_is_a_time_out_of_the_window() {
    let web = Web::start(|_, _| true);
    let result = load_unanswered(
        &web,
        r#""duration_seconds": 0.4, "warmup_seconds": 0.3, "connections": 3, "timeout_seconds": 0.1"#,
    );
    assert_eq!((requests(&result), count(&result, "timeout_errors")), (0, 3));
}
