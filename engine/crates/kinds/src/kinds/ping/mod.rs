//! Probes at a fixed cadence and what became of each: ping, in ICMP or in band (TCP, UDP).
//!
//! Fair queueing separates flows, so ICMP and in-band probes see different queues: they are
//! different tests, and an in-band probe never shares a socket with other traffic.

mod echo;
mod load;
mod permission;
mod probe;
mod report;
mod tally;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use proto::{EndReport, Metrics, Params, Reason, Role, RunResult, SessionSpec, reason};

use crate::end::End;
use crate::flow::counter::Count;
use crate::flow::part::Part;
use crate::kind::Kind;
use crate::limits::arrival;
use crate::measurements::Measured;
use crate::settings::Settings;
use crate::task::Task;
use crate::transport::{Nothing, Tcp, Transport, Udp};

/// The kind.
pub struct Ping {
    plan: Plan,
    /// The parameters of the test that runs beside the probes of its second part.
    load: Option<Params>,
}

/// What a probe is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Probe {
    /// An ICMP echo request, answered by the sink's kernel.
    Icmp,
    /// A message on a TCP connection, echoed by the sink's engine.
    Tcp,
    /// A datagram, echoed by the sink's engine.
    Udp,
}

impl Probe {
    /// The parameter's meaning; the catalog allows no other names.
    fn named(name: &str) -> Self {
        match name {
            "tcp" => Self::Tcp,
            "udp" => Self::Udp,
            _ => Self::Icmp,
        }
    }
}

/// What is to be sent, and when.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Plan {
    probe: Probe,
    count: u64,
    interval: Duration,
    payload_bytes: usize,
}

impl Plan {
    /// Reads checked and filled parameters; bounds are the catalog's.
    fn read(params: &Params) -> Self {
        let payload_bytes = params.integer("payload_bytes").unwrap_or(0);
        Self {
            probe: Probe::named(params.text("probe").unwrap_or_default()),
            count: params.integer("count").unwrap_or(1),
            interval: Duration::from_secs_f64(
                params.number("probe_interval_seconds").unwrap_or(1.0),
            ),
            payload_bytes: usize::try_from(payload_bytes)
                .unwrap_or(wire::LEAST_PAYLOAD_BYTES)
                .max(wire::LEAST_PAYLOAD_BYTES),
        }
    }

    /// From the first probe until one interval after the last.
    fn cadence(&self) -> Duration {
        self.interval.saturating_mul(u32::try_from(self.count).unwrap_or(u32::MAX))
    }
}

/// Reads checked and filled parameters.
// Every kind is read so; this one's bounds are all the catalog's.
#[allow(clippy::unnecessary_wraps)]
pub fn read(params: &Params, _settings: &Settings) -> Result<Arc<dyn Kind>, Reason> {
    let load = params.test("load").map(|(_, load)| load);
    Ok(Arc::new(Ping { plan: Plan::read(params), load }))
}

impl Kind for Ping {
    fn transport(&self) -> &'static dyn Transport {
        match self.plan.probe {
            Probe::Icmp => &Nothing,
            Probe::Tcp => &Tcp,
            Probe::Udp => &Udp,
        }
    }

    fn longest(&self) -> Option<Duration> {
        let idle = self.plan.cadence() + tally::LONGEST_WAIT;
        let loaded = self.load.as_ref().map(|load| load::longest(&self.plan, load));
        Some(idle + loaded.unwrap_or_default())
    }

    fn check(&self, spec: &SessionSpec, _settings: &Settings) -> Result<(), Reason> {
        match (spec.role, spec.peer, self.plan.probe) {
            (Role::Source, Some(peer), Probe::Icmp) => permission::check(peer.address),
            _ => Ok(()),
        }
    }

    fn tasks(&self, end: &Arc<End>) -> Vec<Task> {
        let plan = self.plan;
        if end.role == Role::Source {
            return vec![Task::new(Part::Client, 0, move |end, cue| probe::run(end, cue, &plan))];
        }
        let echo = match plan.probe {
            // The sink's kernel answers.
            Probe::Icmp => None,
            Probe::Tcp => Some(Task::new(Part::Server, 0, echo::stream)),
            Probe::Udp => {
                Some(Task::new(Part::Server, 0, move |end, cue| echo::datagrams(end, cue, &plan)))
            }
        };
        let load = end.load.is_some();
        let load =
            load.then(|| Task::new(Part::Server, 0, move |end, cue| load::serve(end, cue, &plan)));
        echo.into_iter().chain(load).collect()
    }

    fn interval(&self, _end: &End, count: Count, _seconds: f64) -> Metrics {
        let mean = count.latency_nanoseconds as f64 / count.units as f64 / 1e9;
        let has_replies = count.units > 0;
        has_replies.then(|| ("latency_mean_seconds".to_owned(), mean)).into_iter().collect()
    }

    fn report(&self, end: &End, measured: &Measured) -> EndReport {
        report::of(end, measured)
    }

    /// Probes are told one by one which were lost.
    fn longest_silence(&self) -> Option<Duration> {
        None
    }

    fn silence(&self, result: &RunResult) -> Option<Reason> {
        arrival::unanswered(result, |count| reason!("says_no_probe_answered", count = count))
    }
}
