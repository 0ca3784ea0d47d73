//! Kinds of one host: sessions without a peer.

mod support;

use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use kinds::{Outbox, Supply, run_session};
use proto::{
    Catalog, Cookie, DiskPlace, EventBody, FailureCode, Lane, Params, Role, RunResult, SessionSpec,
};
use support::{failed, finished};

/// What a session told, event by event.
#[derive(Default)]
struct Events(Mutex<Vec<EventBody>>);

impl Outbox for Events {
    fn prepared(&self) {}

    fn event(&self, event: EventBody) {
        self.0.lock().unwrap().push(event);
    }

    fn register_ports(&self, _: Lane, _: std::net::IpAddr, _: u16, _: u16) {}

    fn release_ports(&self, _: Lane) {}

    fn foreign(&self, _: std::os::fd::OwnedFd) {}
}

struct Session {
    events: Arc<Events>,
    supply: Sender<Supply>,
    thread: JoinHandle<()>,
}

impl Session {
    fn start(role: Role, kind: &str, text: &str, places: Vec<DiskPlace>) -> Self {
        let given: Params = proto::parse_json(text.as_bytes()).unwrap();
        let spec = SessionSpec {
            role,
            kind: kind.to_owned(),
            params: Catalog::embedded().fill(kind, &given).expect("in bounds"),
            cookie: Cookie::new([7; 32]),
            peer: None,
            bind: None,
            lease_seconds: 60.0,
        };
        let (supply, receiver) = channel();
        let events = Arc::<Events>::default();
        let outbox = Arc::clone(&events);
        let thread = thread::spawn(move || run_session(spec, places, receiver, outbox));
        Self { events, supply, thread }
    }

    fn join(self) -> EventBody {
        self.thread.join().unwrap();
        self.events.0.lock().unwrap().pop().expect("a session ends with an event")
    }
}

fn run(kind: &str, text: &str, places: &[DiskPlace]) -> EventBody {
    Session::start(Role::Source, kind, text, places.to_vec()).join()
}

fn place(path: &str) -> DiskPlace {
    DiskPlace { path: path.to_owned(), most_bytes: None, allows_any_filesystem: true }
}

/// A folder on the disk that this was built on.
fn built_on() -> DiskPlace {
    place(env!("CARGO_TARGET_TMPDIR"))
}

fn metric(result: &RunResult, name: &str) -> f64 {
    result.metrics.get(name).copied().unwrap_or_else(|| panic!("{name} is missing: {result:?}"))
}

#[test]
fn every_kernel_is_timed_by_its_passes_on_one_core_and_on_all() {
    let kernels = ["memcpy", "dumb", "mcblock", "copy", "scale", "add", "triad", "read", "write"];
    for kernel in kernels {
        let text =
            format!(r#"{{"kernel": "{kernel}", "array_bytes": 8388608, "passes": 4, "cores": 0}}"#);
        let result = finished(run("memory_bandwidth", &text, &[]));
        let memory = result.host_test.as_ref().unwrap().memory.as_ref().unwrap();
        assert_eq!(memory.pass_seconds.len(), 4, "{kernel}");
        let best = memory.pass_seconds[1..].iter().copied().fold(f64::MAX, f64::min);
        #[allow(clippy::cast_precision_loss)] // A few megabytes.
        let rate = memory.pass_bytes as f64 / best;
        assert!((metric(&result, "memory_bytes_per_second") - rate).abs() <= rate * 1e-9);
        let mean = metric(&result, "memory_mean_bytes_per_second");
        assert!(
            metric(&result, "memory_least_bytes_per_second") <= mean && mean <= rate * 1.000_001
        );
        assert!(!memory.cores.is_empty() && result.sink.is_none());
        // What all do in common lasts at least as long as what each of them does.
        let sum: f64 = memory.cores.iter().map(|core| core.bytes_per_second).sum();
        assert!(rate <= sum * 1.000_001, "{kernel}: {rate} of {sum}");
    }
}

#[test]
fn what_counts_as_moved_is_the_tools_own_count() {
    let bytes = |kernel: &str| {
        let text = format!(r#"{{"kernel": "{kernel}", "array_bytes": 1048576, "passes": 2}}"#);
        let result = finished(run("memory_bandwidth", &text, &[]));
        assert!(
            result.flags.contains(&"arrays_near_cache".to_owned())
                || result.flags.contains(&"cache_unknown".to_owned())
        );
        result.host_test.unwrap().memory.unwrap().pass_bytes >> 20
    };
    assert_eq!(["memcpy", "copy", "triad", "read"].map(bytes), [1, 2, 3, 1]);
}

#[test]
fn a_test_of_one_host_is_cancelled_within_half_a_second_and_keeps_its_passes() {
    let text = r#"{"array_bytes": 33554432, "passes": 10000}"#;
    let session = Session::start(Role::Source, "memory_bandwidth", text, Vec::new());
    thread::sleep(Duration::from_millis(500));
    let begin = Instant::now();
    let cancel = Supply::Cancel { code: FailureCode::Cancelled, reason: "enough".into() };
    session.supply.send(cancel).unwrap();
    let (code, reason, partial) = failed(session.join());
    assert!(begin.elapsed() < Duration::from_millis(500), "{:?}", begin.elapsed());
    assert_eq!((code, reason.as_str()), (FailureCode::Cancelled, "enough"));
    assert!(metric(&partial.expect("passes were made"), "memory_bytes_per_second") > 0.0);
}

#[test]
fn it_has_no_sink_and_no_more_cores_than_there_are() {
    let sink = Session::start(Role::Sink, "memory_bandwidth", "{}", Vec::new()).join();
    assert_eq!(failed(sink).0, FailureCode::Invalid);
    let (code, reason, _) = failed(run("memory_bandwidth", r#"{"cores": 4096}"#, &[]));
    assert_eq!(code, FailureCode::Invalid);
    assert!(reason.starts_with("4096 cores are asked for, and there are"), "{reason}");
}

fn disk(method: &str, pattern: &str, more: &str) -> RunResult {
    let text = format!(
        r#"{{"method": "{method}", "pattern": "{pattern}", "file_size_bytes": 16777216, "duration_seconds": 0.5{more}}}"#
    );
    finished(run("disk_io", &text, &[built_on()]))
}

fn check_littles_law(result: &RunResult, depth: f64) {
    let in_flight = metric(result, "iops") * metric(result, "latency_mean_seconds");
    assert!((in_flight / depth - 1.0).abs() < 0.1, "{in_flight} in flight at {depth}: {result:?}");
}

#[test]
fn the_engines_own_threads_keep_the_depth_and_tell_reads_from_writes() {
    let result = disk("native", "randread", r#", "depth": 4"#);
    assert_eq!(result.host_test.as_ref().unwrap().variant, "native");
    check_littles_law(&result, 4.0);
    assert!(result.histogram.is_some() && !result.metrics.contains_key("read_iops"));
    let mixed = disk("native", "randrw", r#", "depth": 2, "jobs": 2, "read_percent": 75"#);
    check_littles_law(&mixed, 4.0);
    let (reads, writes) = (metric(&mixed, "read_iops"), metric(&mixed, "write_iops"));
    assert!((reads / (reads + writes) - 0.75).abs() < 0.15, "{reads} reads, {writes} writes");
    assert!((metric(&mixed, "iops") - reads - writes).abs() < 1e-6 * reads);
}

#[test]
fn fio_measures_where_it_is_installed_and_says_its_version() {
    if !Path::new("/usr/bin/fio").exists() {
        println!("NOT JUDGED: this machine has no fio");
        return;
    }
    let result = disk("auto", "randwrite", r#", "depth": 2, "warmup_seconds": 0.2"#);
    let test = result.host_test.as_ref().unwrap();
    assert!(test.variant.starts_with("fio 3."), "{}", test.variant);
    assert_eq!(test.tool_document.as_ref().unwrap()["jobs"][0]["error"], 0);
    check_littles_law(&result, 2.0);
    assert!(metric(&result, "latency_p99_seconds") >= metric(&result, "latency_p50_seconds"));
    let mixed = disk("fio", "rw", r#", "block_size_bytes": 65536"#);
    assert!(metric(&mixed, "write_bytes_per_second") > 0.0);
}

#[test]
fn nothing_is_written_where_the_operator_allowed_nothing() {
    let (code, reason, _) = failed(run("disk_io", "{}", &[]));
    assert_eq!(code, FailureCode::Invalid);
    assert!(reason.contains("--disk-dir"), "{reason}");
    let elsewhere = r#"{"directory": "/tmp"}"#;
    assert_eq!(failed(run("disk_io", elsewhere, &[built_on()])).0, FailureCode::Invalid);
}

#[test]
fn memory_is_no_disk_and_a_file_without_room_is_refused() {
    let shared = DiskPlace { allows_any_filesystem: false, ..place("/dev/shm") };
    if Path::new(&shared.path).is_dir() {
        let (_, reason, _) = failed(run("disk_io", "{}", &[shared]));
        assert!(reason.contains("any-filesystem"), "{reason}");
    }
    let (code, reason, _) =
        failed(run("disk_io", r#"{"file_size_bytes": 17592186044416}"#, &[built_on()]));
    assert_eq!(code, FailureCode::Limit);
    assert!(reason.contains("MiB free in"), "{reason}");
    let device = failed(run("disk_io", "{}", &[place("/dev/null")]));
    assert_eq!(device.0, FailureCode::Invalid);
}
