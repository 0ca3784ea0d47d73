//! Where a controller can make an engine write: nowhere but in its operator's places, and nothing stays there.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{Engine, sink};
use serde_json::{Value, json};

fn alone(kind: &str, params: &Value) -> Value {
    let mut spec = sink(kind, params);
    spec["role"] = json!("source");
    spec
}

fn serving(folder: &Path, more: &str) -> Engine {
    let place = format!("{}{more}", folder.display());
    Engine::start_with(tempfile::tempdir().unwrap(), &["--disk-dir", &place])
}

/// Open files without a name in a folder, of all processes.
fn nameless_files(folder: &Path) -> usize {
    let beginning = format!("{}/", folder.display());
    let descriptors = fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|process| fs::read_dir(process.path().join("fd")).ok());
    let links = descriptors.flatten().flatten().filter_map(|link| fs::read_link(link.path()).ok());
    let names = links.map(|link| link.to_string_lossy().into_owned());
    names.filter(|name| name.starts_with(&beginning) && name.ends_with(" (deleted)")).count()
}

fn within(limit: Duration, is_met: impl Fn() -> bool) -> bool {
    let begin = Instant::now();
    while begin.elapsed() < limit {
        if is_met() {
            return true;
        }
        thread::sleep(Duration::from_millis(10));
    }
    is_met()
}

#[test]
fn a_kind_of_one_host_needs_no_peer_and_tells_its_result() {
    let engine = Engine::start();
    let params = json!({"array_bytes": 4_194_304, "passes": 3});
    let (status, answer) = engine.put_sink("a", &alone("memory_bandwidth", &params));
    assert_eq!(status, hyper::StatusCode::CREATED, "{answer}");
    let last = engine.events("a", 0).pop().unwrap();
    assert_eq!(last["type"], "result", "{last}");
    assert!(last["result"]["metrics"]["memory_bytes_per_second"].as_f64().unwrap() > 0.0);
}

#[test]
fn arrays_beyond_the_engines_share_of_memory_are_refused() {
    let engine = Engine::start();
    let params = json!({"array_bytes": 1_099_511_627_776_u64});
    let (status, answer) = engine.put_sink("a", &alone("memory_bandwidth", &params));
    assert_eq!(status, hyper::StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(answer["error"]["field"], "params.array_bytes", "{answer}");
}

#[test]
fn no_file_stays_after_a_test_nor_after_the_engine_was_killed_in_one() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for method in ["native", "auto"] {
        let mut engine = serving(folder.path(), ",size=64M,any-filesystem");
        assert_eq!(engine.get("/v1/about")["disk_places"][0]["most_bytes"], 64 << 20);
        let params = |seconds: f64| json!({"method": method, "file_size_bytes": 4_194_304, "duration_seconds": seconds});
        engine.put_sink("a", &alone("disk_io", &params(0.3)));
        let last = engine.events("a", 0).pop().unwrap();
        assert_eq!(last["type"], "result", "{last}");
        assert_eq!(nameless_files(folder.path()), 0);
        engine.put_sink("b", &alone("disk_io", &params(60.0)));
        assert!(within(Duration::from_secs(10), || nameless_files(folder.path()) > 0));
        // fio has it too by now, where there is one.
        thread::sleep(Duration::from_millis(500));
        engine.stop();
        let is_gone = within(Duration::from_secs(1), || nameless_files(folder.path()) == 0);
        assert!(is_gone, "{method}: somebody holds the test file a second after SIGKILL");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

#[test]
fn a_file_larger_than_the_operator_allows_is_refused_in_words() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let engine = serving(folder.path(), ",size=2M,any-filesystem");
    engine.put_sink("a", &alone("disk_io", &json!({"file_size_bytes": 4_194_304})));
    let last = engine.events("a", 0).pop().unwrap();
    assert_eq!((last["type"].as_str(), last["code"].as_str()), (Some("failure"), Some("limit")));
    assert!(last["reason"].as_str().unwrap().contains("2 MiB are allowed"), "{last}");
}

#[test]
fn the_command_line_measures_this_host_without_a_peer() {
    let engine = Engine::start();
    let output = std::process::Command::new(crate::support::PROGRAM)
        .args([
            "run",
            "memory_bandwidth",
            "--json",
            "--set",
            "array_bytes=4194304",
            "--set",
            "passes=3",
        ])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(result["host_test"]["variant"], "native");
    let refused = engine.run(&["memory_bandwidth"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("leave out --peer"));
}
