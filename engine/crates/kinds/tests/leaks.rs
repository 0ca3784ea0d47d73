//! In a process of its own: what a session opens, it closes.

mod support;

use std::fs;
use std::time::{Duration, Instant};

fn open_things() -> (usize, usize) {
    let count = |path: &str| fs::read_dir(path).unwrap().count();
    (count("/proc/self/fd"), count("/proc/self/task"))
}

#[test]
fn no_descriptor_and_no_thread_is_left_after_the_end() {
    let before = open_things();
    for kind in ["tcp_stream", "udp_stream", "tcp_rr", "tcp_crr", "udp_rr", "http_load"] {
        support::result(kind, &support::text(kind, 0.1));
    }
    support::result("ping", r#"{"probe": "tcp", "count": 3, "probe_interval_seconds": 0.01}"#);
    // The threads that forward supplies, and the test's own agents, notice the end a little later.
    let patience = Instant::now() + Duration::from_secs(60);
    while open_things() != before && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(open_things(), before);
}
