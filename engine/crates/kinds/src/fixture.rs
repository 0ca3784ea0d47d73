//! A small real kind for the test that a new kind is one catalog entry and one module.

use std::sync::Arc;
use std::time::Instant;

use proto::{EndReport, Metrics, Role};

use crate::counter::Count;
use crate::end::End;
use crate::kind::Kind;
use crate::measurements::{Finished, Measured, Outcome};
use crate::part::Part;
use crate::registry;
use crate::requests::{self, Timekeeper, receive_whole, send_whole};
use crate::settings::Settings;
use crate::streams::joint_seconds;
use crate::task::{Cue, Task};
use crate::transport::{Tcp, Transport};

const METRIC: &str = "probe_round_trip_seconds";
const OVERLAY: &str = include_str!("../../../schema/fixture/catalog.json");

/// Adds this kind to the catalog and to the kinds; called before either is used.
pub fn add() {
    proto::Catalog::overlay(OVERLAY);
    registry::add(&TcpEchoProbe);
}

/// One-byte round trips, a given number of them.
pub struct TcpEchoProbe;

impl Kind for TcpEchoProbe {
    fn name(&self) -> &'static str {
        "tcp_echo_probe"
    }

    fn transport(&self, _settings: &Settings) -> &'static dyn Transport {
        &Tcp
    }

    fn tasks(&self, end: &Arc<End>) -> Vec<Task> {
        match end.role {
            Role::Source => vec![Task::new(Part::Client, 0, probe)],
            Role::Sink => vec![Task::new(Part::Server, 0, echo)],
        }
    }

    fn interval(&self, _end: &End, count: Count, seconds: f64) -> Metrics {
        let mean = (count.units > 0).then(|| (METRIC.to_owned(), seconds / count.units as f64));
        mean.into_iter().collect()
    }

    fn report(&self, _end: &End, measured: &Measured) -> EndReport {
        let mut report = EndReport::default();
        let mean = requests::clients(measured).find_map(|client| client.latency.summary());
        if let Some(summary) = mean.filter(|_| has_window(measured)) {
            report.metrics.insert(METRIC.to_owned(), summary.mean);
        }
        report
    }
}

fn has_window(measured: &Measured) -> bool {
    joint_seconds(requests::clients(measured).filter_map(|client| client.span)).is_some()
}

fn probe(end: &End, cue: &Cue) -> Finished {
    let socket = end.flow(cue.flow);
    let count = end.params.integer("probe_count").unwrap_or(1);
    let Some(opened_at) = cue.gate.pass() else {
        return requests::nothing_transacted();
    };
    let mut timekeeper = Timekeeper::new(end, opened_at);
    let mut begun = Instant::now();
    let mut byte = [0];
    for _ in 0..count {
        let answered = send_whole(socket, &byte).and_then(|()| receive_whole(socket, &mut byte));
        let now = Instant::now();
        if !matches!(answered, Ok(true)) || !timekeeper.count(cue, begun, now) {
            break;
        }
        begun = now;
    }
    let fault = end.params.boolean("fault_at_end").unwrap_or(false);
    let fault = fault.then(|| "the probe was asked to fail".to_owned());
    Finished { outcome: timekeeper.finish(Instant::now(), 0, 0), fault }
}

fn echo(end: &End, cue: &Cue) -> Finished {
    let socket = end.flow(cue.flow);
    let mut byte = [0];
    while matches!(receive_whole(socket, &mut byte), Ok(true)) && send_whole(socket, &byte).is_ok()
    {
    }
    Finished { outcome: Outcome::Served, fault: None }
}
