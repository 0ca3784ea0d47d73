//! TCP connect/request/response: each transaction opens a connection; the sink closes first (netperf `TCP_CRR`).

mod client;
mod server;
#[cfg(test)]
mod tests;

use std::os::fd::OwnedFd;
use std::sync::Arc;

use proto::{EndReport, Metrics, Role};

use crate::counter::Count;
use crate::end::End;
use crate::gate::Phase;
use crate::kind::Kind;
use crate::measurements::Measured;
use crate::part::Part;
use crate::requests;
use crate::settings::Settings;
use crate::task::{Cue, Task};
use crate::transport::{Connections, Transport, ports};

/// The kind.
pub struct TcpCrr;

impl Kind for TcpCrr {
    fn name(&self) -> &'static str {
        "tcp_crr"
    }

    fn transport(&self, _settings: &Settings) -> &'static dyn Transport {
        &Connections
    }

    fn tasks(&self, end: &Arc<End>) -> Vec<Task> {
        let flows = 0..end.settings.flows;
        match end.role {
            Role::Source => {
                let ports = ports::PortSteps::new(end.ports.unwrap_or(ports::DEFAULT_PORTS));
                let ports = Arc::new(ports);
                flows
                    .map(|flow| {
                        let ports = Arc::clone(&ports);
                        Task::new(Part::Client, flow, move |end, cue| client::ask(end, cue, &ports))
                    })
                    .collect()
            }
            Role::Sink => flows
                .map(|flow| Task::new(Part::Server, flow, server::serve))
                .chain([Task::new(Part::Server, 0, server::serve_handed_over)])
                .collect(),
        }
    }

    fn interval(&self, _end: &End, count: Count, seconds: f64) -> Metrics {
        requests::interval(count, seconds)
    }

    fn report(&self, end: &End, measured: &Measured) -> EndReport {
        let mut report = requests::report(end, measured);
        if end.role == Role::Source {
            if let Some(&rate) = report.metrics.get("transactions_per_second") {
                let errors: u64 = requests::clients(measured).map(|client| client.errors).sum();
                // One connection per transaction: the two rates are one.
                report.metrics.insert("connections_per_second".to_owned(), rate);
                report.metrics.insert("errors".to_owned(), errors as f64);
            }
        }
        report
    }
}

/// Shows a socket to who may interrupt it. Who came before it was shown has set the phase before that.
fn show(cue: &Cue, socket: &Arc<OwnedFd>) -> Result<(), net::Errno> {
    cue.current.set(socket);
    if cue.pulse.phase() == Phase::Over { Err(net::Errno::INTR) } else { Ok(()) }
}
