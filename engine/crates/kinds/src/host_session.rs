//! A session without a peer: one host measured, from its specification to its final event.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use proto::{
    CpuPerCore, DiskPlace, EndReport, EngineVersions, EventBody, Facts, FailureCode, HostWindows,
    Role, RunResult, SessionSpec, Window,
};

use crate::facts;
use crate::failure::Failure;
use crate::host_kind::{Broken, HostReport, ReadHost, Seen, Stage, Stop};
use crate::host_window::{self, Ends, Scene, Surroundings};
use crate::outcome::window;
use crate::supply::{Outbox, Supply};

/// How often the thread that hears the agent looks whether its session is over.
const HEARING_INTERVAL: Duration = Duration::from_millis(100);
/// A window shorter than this share of what was asked for is flagged.
const SHORT_SHARE: f64 = 0.9;
/// A test of one host has no interface of its own.
const OF_THE_WIRE: [&str; 2] = ["nic_unknown", "background_traffic"];

/// Runs one session of the kind that `read` reads to its end.
pub fn run(
    spec: &SessionSpec,
    places: &[DiskPlace],
    supply: Receiver<Supply>,
    outbox: &Arc<dyn Outbox>,
    read: ReadHost,
) {
    let (stop, surroundings) = (Arc::<Stop>::default(), Arc::<Surroundings>::default());
    let is_over = Arc::new(AtomicBool::new(false));
    hear(supply, Arc::clone(&stop), Arc::clone(&surroundings), Arc::clone(&is_over));
    let facts = facts::facts();
    let event = match begin(spec, places, read) {
        Err(failure) => EventBody::failure(failure.code, failure.reason, None),
        Ok(kind) => {
            let pinned = kind.cpus().to_vec();
            let mut stage =
                Stage::new(Arc::clone(outbox), stop, Arc::clone(&surroundings), &pinned);
            let outcome = kind.run(&mut stage);
            let scene = Whole { spec, facts, surroundings: &surroundings, pinned: &pinned };
            conclude(outcome, stage.into_seen(), scene)
        }
    };
    is_over.store(true, Ordering::Relaxed);
    outbox.event(event);
}

fn begin(
    spec: &SessionSpec,
    places: &[DiskPlace],
    read: ReadHost,
) -> Result<Box<dyn crate::host_kind::HostKind>, Failure> {
    if spec.role == Role::Sink {
        let reason = proto::reason!("setup_no_sink", kind = spec.kind.as_str());
        return Err(Failure::new(FailureCode::Invalid, reason));
    }
    read(&spec.params, places)
}

/// What a result needs beside what the kind and the stage tell.
struct Whole<'a> {
    spec: &'a SessionSpec,
    facts: Facts,
    surroundings: &'a Surroundings,
    pinned: &'a [usize],
}

fn conclude(outcome: Result<HostReport, Broken>, seen: Seen, whole: Whole<'_>) -> EventBody {
    match outcome {
        Ok(report) => EventBody::finished(result(report, seen, whole)),
        Err(Broken { failure, partial }) => {
            let partial = partial.map(|report| {
                let mut partial = result(*report, seen, whole);
                partial.flags.push("partial".to_owned());
                partial.flags.sort();
                partial
            });
            EventBody::failure(failure.code, failure.reason, partial)
        }
    }
}

fn result(report: HostReport, seen: Seen, whole: Whole<'_>) -> RunResult {
    let Whole { spec, facts, surroundings, pinned } = whole;
    let mut end = EndReport { metrics: report.metrics, ..EndReport::default() };
    if let Some(occurred) = &seen.occurred {
        let scene = Scene {
            kind: &spec.kind,
            role: Role::Source,
            facts: &facts,
            surroundings,
            link: None,
            device: None,
            pinned,
            has_connections: false,
            is_tcp: false,
            tasks: None,
            rtt_seconds: 0.0,
        };
        host_window::add_to(&mut end, &occurred.with_children(report.cpu_seconds), &scene);
    }
    let mut hosts = HostWindows { source: end.host.take(), sink: None };
    host_window::tell_others(&mut hosts, false);
    let window = seen.window.map(|(begin, until)| Window {
        started_at: window::wall_clock(begin).into(),
        elapsed_seconds: (until - begin).as_secs_f64(),
        bytes: report.bytes,
        reverse_bytes: None,
        clock: "source".to_owned(),
    });
    let ends = Ends { share_host: false, source_cpus: pinned, sink_cpus: &[] };
    let mut flags = [end.flags, report.flags, host_window::flags(&hosts, ends)].concat();
    flags.retain(|flag| !OF_THE_WIRE.contains(&flag.as_str()));
    if is_short(window.as_ref(), spec) {
        flags.push("window_short".to_owned());
    }
    flags.sort();
    flags.dedup();
    RunResult {
        schema: RunResult::SCHEMA,
        kind: spec.kind.clone(),
        params: spec.params.clone(),
        metrics: end.metrics,
        intervals: seen.course.with(crate::outcome::course::Course::default()),
        window,
        outages: Vec::new(),
        addresses: None,
        reply_addresses: Vec::new(),
        path_fault: None,
        largest_payload_bytes: None,
        largest_reverse_payload_bytes: None,
        unanswered_hellos: None,
        histogram: report.histogram,
        loaded_histogram: None,
        load: None,
        flows: Vec::new(),
        source: Some(facts),
        sink: None,
        flags,
        engine: EngineVersions {
            source_version: proto::ENGINE_VERSION.to_owned(),
            sink_version: String::new(),
        },
        cpu_per_core: Some(CpuPerCore { source: end.cpu_per_core, sink: Vec::new() }),
        limits: Vec::new(),
        hosts: hosts.source.is_some().then_some(hosts),
        host_test: Some(report.test),
    }
}

fn is_short(window: Option<&Window>, spec: &SessionSpec) -> bool {
    let asked = spec.params.number("duration_seconds").ok();
    let short =
        window.zip(asked).map(|(window, asked)| window.elapsed_seconds < SHORT_SHARE * asked);
    short.unwrap_or(false)
}

/// Hears what the agent says, until the session is over.
fn hear(
    supply: Receiver<Supply>,
    stop: Arc<Stop>,
    surroundings: Arc<Surroundings>,
    is_over: Arc<AtomicBool>,
) {
    thread::spawn(move || {
        while !is_over.load(Ordering::Relaxed) {
            match supply.recv_timeout(HEARING_INTERVAL) {
                Ok(Supply::Background(background)) => surroundings.set_background(*background),
                Ok(Supply::Neighbours(neighbours)) => surroundings.set_neighbours(neighbours),
                Ok(Supply::Cancel { code, reason }) => stop.give(code, reason),
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    });
}
