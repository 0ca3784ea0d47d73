//! TCP request/response on connections that stay open (netperf `TCP_RR`).

use std::collections::{BTreeMap, VecDeque};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::Instant;

use proto::{EndReport, Metrics, Params, Reason, Role, TcpFigures, reason};

use crate::end::End;
use crate::flow::counter::Count;
use crate::flow::gate::Phase;
use crate::flow::part::Part;
use crate::kind::Kind;
use crate::measurements::{Finished, Measured, Outcome};
use crate::outcome::requests::{self, Exchange, Timekeeper, receive_whole, send_whole};
use crate::outcome::streams::{self, payload};
use crate::outcome::tcp_window;
use crate::settings::{Settings, size};
use crate::task::{Cue, Task};
use crate::transport::{Tcp, Transport};

/// What a result tells of the connections.
const CONNECTION_METRICS: [&str; 4] =
    ["retransmits", "rtt_seconds", "rtt_variation_seconds", "minimum_rtt_seconds"];

/// The kind.
#[derive(Clone, Copy)]
pub struct TcpRr {
    exchange: Exchange,
    /// Transactions in flight beyond the first.
    burst: usize,
}

/// Reads checked and filled parameters.
pub fn read(params: &Params, _settings: &Settings) -> Result<Arc<dyn Kind>, Reason> {
    let burst = size(params, "burst")?;
    Ok(Arc::new(TcpRr { exchange: Exchange::read(params)?, burst }))
}

impl Kind for TcpRr {
    fn transport(&self) -> &'static dyn Transport {
        &Tcp
    }

    fn tasks(&self, end: &Arc<End>) -> Vec<Task> {
        let (flows, rr) = (0..end.settings.flows, *self);
        let (part, run): (_, fn(&End, &Cue, Self) -> Finished) = match end.role {
            Role::Source => (Part::Client, ask),
            Role::Sink => (Part::Server, answer),
        };
        flows.map(|flow| Task::new(part, flow, move |end, cue| run(end, cue, rr))).collect()
    }

    /// The connections tell of it themselves.
    fn shares_packets(&self) -> bool {
        true
    }

    fn interval(&self, _end: &End, count: Count, seconds: f64) -> Metrics {
        requests::interval(count, seconds)
    }

    fn report(&self, end: &End, measured: &Measured) -> EndReport {
        let mut report = requests::report(end, measured);
        let figures: BTreeMap<u32, TcpFigures> = measured
            .connections
            .iter()
            .map(|(&flow, (before, after))| (flow, tcp_window::change(before, after)))
            .collect();
        let all: Vec<TcpFigures> = figures.values().copied().collect();
        let mut metrics = tcp_window::metrics(&all, "");
        // A window that is never filled, and a rate that the application bounds, say nothing here.
        metrics.retain(|key, _| CONNECTION_METRICS.contains(&key.as_str()));
        report.metrics.extend(metrics);
        streams::tell_connections(end, &mut report.flows, &figures);
        report
    }
}

/// Makes transactions until the deadline; one reading of the clock ends one and begins the next.
fn ask(end: &End, cue: &Cue, rr: TcpRr) -> Finished {
    let socket = end.flow(cue.flow);
    let mut requests = Requests::new(rr);
    let mut response = vec![0; rr.exchange.response_bytes];
    let Some(opened_at) = cue.start() else {
        return requests::nothing_transacted();
    };
    let mut timekeeper = Timekeeper::new(end, opened_at);
    let mut now = Instant::now();
    let mut transact = || -> Result<bool, net::Errno> {
        loop {
            requests.send(socket, now)?;
            if !receive_whole(socket, &mut response)? {
                return Ok(false);
            }
            now = Instant::now();
            let begun = requests.begins.pop_front().unwrap_or(now);
            if !timekeeper.count(cue, begun, now) {
                return Ok(true);
            }
        }
    };
    let ended = transact();
    let is_over = cue.pulse.phase() == Phase::Over;
    let fault = match ended {
        Ok(true) => None,
        _ if is_over => None,
        Ok(false) => Some(cue.fault(reason!("flow_closed"))),
        Err(error) => Some(cue.fault(error.to_string())),
    };
    let outcome = timekeeper.finish(Instant::now(), 0, 0);
    Finished { outcome, fault }
}

/// One flow's requests on their way.
struct Requests {
    request: Vec<u8>,
    burst: usize,
    /// When each of those that were sent whole, and are not yet answered, began.
    begins: VecDeque<Instant>,
    /// When the one began of which only `sent` bytes are sent.
    begun: Option<Instant>,
    sent: usize,
}

impl Requests {
    fn new(rr: TcpRr) -> Self {
        Self {
            request: payload(rr.exchange.request_bytes),
            burst: rr.burst,
            begins: VecDeque::with_capacity(rr.burst + 1),
            begun: None,
            sent: 0,
        }
    }

    /// Sends until the burst and one more are on their way, or no more fit the buffers now: waiting for room while
    /// responses wait to be read would keep both ends waiting for ever.
    #[inline]
    fn send(&mut self, socket: BorrowedFd<'_>, now: Instant) -> Result<(), net::Errno> {
        while self.begins.len() <= self.burst {
            if self.begins.is_empty() {
                send_whole(socket, &self.request[self.sent..])?;
                self.sent = self.request.len();
            } else if !self.send_what_fits(socket, now)? {
                return Ok(());
            }
            self.begins.push_back(self.begun.take().unwrap_or(now));
            self.sent = 0;
        }
        Ok(())
    }

    /// Whether the present request was sent to its end.
    fn send_what_fits(&mut self, socket: BorrowedFd<'_>, now: Instant) -> Result<bool, net::Errno> {
        while self.sent < self.request.len() {
            match net::send_now(socket, &self.request[self.sent..]) {
                Ok(bytes) => {
                    self.sent += bytes;
                    self.begun.get_or_insert(now);
                }
                Err(net::Errno::INTR) => {}
                Err(net::Errno::AGAIN) => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }
}

/// Answers whole requests until the connection ends.
fn answer(end: &End, cue: &Cue, rr: TcpRr) -> Finished {
    let socket = end.flows[cue.flow as usize].as_fd();
    let mut request = vec![0; rr.exchange.request_bytes];
    let response = payload(rr.exchange.response_bytes);
    // The client's end is the normal end, however it looks from here; a lost client shows on the link.
    while let Ok(true) = receive_whole(socket, &mut request) {
        if send_whole(socket, &response).is_err() {
            break;
        }
    }
    Finished { outcome: Outcome::Served, fault: None }
}
