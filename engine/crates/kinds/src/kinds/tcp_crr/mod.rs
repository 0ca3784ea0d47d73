//! TCP connect/request/response: each transaction opens a connection; the sink closes first (netperf `TCP_CRR`).

mod client;
mod server;
#[cfg(test)]
mod tests;

use std::os::fd::OwnedFd;
use std::sync::Arc;

use proto::{EndReport, Metrics, Params, Reason, Role};

use crate::end::End;
use crate::flow::counter::Count;
use crate::flow::gate::Phase;
use crate::flow::part::Part;
use crate::host_window::OwnTraffic;
use crate::kind::Kind;
use crate::measurements::Measured;
use crate::outcome::requests::{self, Exchange};
use crate::settings::{Settings, text, unknown_word};
use crate::task::{Cue, Task};
use crate::transport::{Connections, Transport, ports};

/// The kind.
#[derive(Clone, Copy)]
pub struct TcpCrr {
    exchange: Exchange,
    close_mode: CloseMode,
}

/// Who ends a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CloseMode {
    /// The sink, which then keeps TIME-WAIT.
    SinkFirst,
    /// The source, with a reset.
    Reset,
}

impl CloseMode {
    fn read(params: &Params) -> Result<Self, Reason> {
        match text(params, "close_mode")? {
            "" | "sink_first" => Ok(Self::SinkFirst),
            "reset" => Ok(Self::Reset),
            other => Err(unknown_word("close_mode", other)),
        }
    }
}

/// Reads checked and filled parameters.
pub fn read(params: &Params, _settings: &Settings) -> Result<Arc<dyn Kind>, Reason> {
    Ok(Arc::new(TcpCrr { exchange: Exchange::read(params)?, close_mode: CloseMode::read(params)? }))
}

impl Kind for TcpCrr {
    fn transport(&self) -> &'static dyn Transport {
        &Connections
    }

    fn tasks(&self, end: &Arc<End>) -> Vec<Task> {
        let (flows, crr) = (0..end.settings.flows, *self);
        match end.role {
            Role::Source => {
                let ports = ports::PortSteps::new(end.ports.unwrap_or(ports::DEFAULT_PORTS));
                let ports = Arc::new(ports);
                flows
                    .map(|flow| {
                        let ports = Arc::clone(&ports);
                        Task::new(Part::Client, flow, move |end, cue| {
                            client::ask(end, cue, crr, &ports)
                        })
                    })
                    .collect()
            }
            Role::Sink => flows
                .map(|flow| {
                    Task::new(Part::Server, flow, move |end, cue| server::serve(end, cue, crr))
                })
                .chain([Task::new(Part::Server, 0, move |end, cue| {
                    server::serve_handed_over(end, cue, crr)
                })])
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

    fn own_traffic(&self, _end: &End, measured: &Measured) -> Option<OwnTraffic> {
        self.exchange.own_traffic(measured)
    }
}

/// Shows a socket to who may interrupt it. Who came before it was shown has set the phase before that.
fn show(cue: &Cue, socket: &Arc<OwnedFd>) -> Result<(), net::Errno> {
    cue.current.set(socket);
    if cue.pulse.phase() == Phase::Over { Err(net::Errno::INTR) } else { Ok(()) }
}
