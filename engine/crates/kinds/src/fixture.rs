//! A small real kind for the test that a new kind is one catalog entry and one module.

use std::sync::Arc;
use std::time::Instant;

use proto::{EndReport, Metrics, Params, Reason, Role};

use crate::end::End;
use crate::flow::counter::Count;
use crate::flow::part::Part;
use crate::kind::Kind;
use crate::kinds;
use crate::measurements::{Finished, Measured, Outcome};
use crate::outcome::requests::{self, Timekeeper, receive_whole, send_whole};
use crate::outcome::streams::joint_seconds;
use crate::settings::{Settings, size};
use crate::task::{Cue, Task};
use crate::transport::{Tcp, Transport};

const METRIC: &str = "probe_round_trip_seconds";
const OVERLAY: &str = include_str!("../../../schema/fixture/catalog.json");

/// Adds this kind to the catalog and to the kinds; called before either is used.
pub fn add() {
    proto::Catalog::overlay(OVERLAY);
    kinds::add("tcp_echo_probe", read);
}

/// One-byte round trips, a given number of them.
#[derive(Clone, Copy)]
pub struct TcpEchoProbe {
    count: usize,
    fails_at_end: bool,
}

fn read(params: &Params, _settings: &Settings) -> Result<Arc<dyn Kind>, Reason> {
    let fails_at_end = params.boolean("fault_at_end").map_err(|error| error.message)?;
    Ok(Arc::new(TcpEchoProbe { count: size(params, "probe_count")?, fails_at_end }))
}

impl Kind for TcpEchoProbe {
    fn transport(&self) -> &'static dyn Transport {
        &Tcp
    }

    fn tasks(&self, end: &Arc<End>) -> Vec<Task> {
        match end.role {
            Role::Source => {
                let kind = *self;
                vec![Task::new(Part::Client, 0, move |end, cue| probe(end, cue, kind))]
            }
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

fn probe(end: &End, cue: &Cue, kind: TcpEchoProbe) -> Finished {
    let socket = end.flow(cue.flow);
    let Some(opened_at) = cue.gate.pass() else {
        return requests::nothing_transacted();
    };
    let mut timekeeper = Timekeeper::new(end, opened_at);
    let mut begun = Instant::now();
    let mut byte = [0];
    for _ in 0..kind.count {
        let answered = send_whole(socket, &byte).and_then(|()| receive_whole(socket, &mut byte));
        let now = Instant::now();
        if !matches!(answered, Ok(true)) || !timekeeper.count(cue, begun, now) {
            break;
        }
        begun = now;
    }
    let fault = kind.fails_at_end.then(|| Reason::from("the probe was asked to fail"));
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
