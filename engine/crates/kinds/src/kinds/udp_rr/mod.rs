//! UDP request/response; a lost transaction is counted after a time-out, and the test goes on (netperf `UDP_RR`).
//!
//! The first bytes of a request, up to eight, number it, and its response repeats them: a late
//! response is not taken for the answer to a later request. Sizes are what was asked for.

mod window;

use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::Instant;

use proto::wire::is_udp_setup;
use proto::{EndReport, Metrics, Params, Reason, Role, RunResult, reason};

use self::window::Window;

use crate::end::End;
use crate::flow::counter::Count;
use crate::flow::gate::Phase;
use crate::flow::part::Part;
use crate::host_window::OwnTraffic;
use crate::kind::Kind;
use crate::limits::arrival;
use crate::measurements::{Finished, Measured, Outcome};
use crate::outcome::requests::{self, Exchange, Timekeeper};
use crate::outcome::streams::payload;
use crate::settings::{Settings, size};
use crate::task::{Cue, Task};
use crate::transport::{Transport, Udp};

const NUMBER_BYTES: usize = 8;

/// The kind.
#[derive(Clone, Copy)]
pub struct UdpRr {
    exchange: Exchange,
    /// Transactions in flight beyond the first.
    burst: usize,
}

/// Reads checked and filled parameters.
pub fn read(params: &Params, _settings: &Settings) -> Result<Arc<dyn Kind>, Reason> {
    let burst = size(params, "burst")?;
    Ok(Arc::new(UdpRr { exchange: Exchange::read(params)?, burst }))
}

impl UdpRr {
    /// Bytes of a datagram that number it.
    fn number_bytes(self) -> usize {
        NUMBER_BYTES.min(self.exchange.request_bytes).min(self.exchange.response_bytes)
    }
}

impl Kind for UdpRr {
    fn transport(&self) -> &'static dyn Transport {
        &Udp
    }

    fn tasks(&self, end: &Arc<End>) -> Vec<Task> {
        let (flows, rr) = (0..end.settings.flows, *self);
        let (part, run): (_, fn(&End, &Cue, Self) -> Finished) = match end.role {
            Role::Source => (Part::Client, ask),
            Role::Sink => (Part::Server, answer),
        };
        flows.map(|flow| Task::new(part, flow, move |end, cue| run(end, cue, rr))).collect()
    }

    fn interval(&self, _end: &End, count: Count, seconds: f64) -> Metrics {
        requests::interval(count, seconds)
    }

    fn report(&self, end: &End, measured: &Measured) -> EndReport {
        let mut report = requests::report(end, measured);
        if end.role == Role::Source && report.window.is_some() {
            let lost: u64 = requests::clients(measured).map(|client| client.lost).sum();
            report.metrics.insert("lost_packets".to_owned(), lost as f64);
        }
        report
    }

    fn own_traffic(&self, _end: &End, measured: &Measured) -> Option<OwnTraffic> {
        self.exchange.own_traffic(measured)
    }

    fn silence(&self, result: &RunResult) -> Option<Reason> {
        arrival::unanswered(result, |count| reason!("says_no_transaction", count = count))
    }
}

fn ask(end: &End, cue: &Cue, rr: UdpRr) -> Finished {
    let Some(opened_at) = cue.start() else {
        return requests::nothing_transacted();
    };
    let mut client = Client::new(end, cue, rr, opened_at);
    let ended = client.run();
    let fault = match ended {
        Err(error) if cue.pulse.phase() != Phase::Over => Some(cue.fault(error.to_string())),
        _ => None,
    };
    let lost = client.window.lost(&client.timekeeper);
    let outcome = client.timekeeper.finish(Instant::now(), lost, 0);
    Finished { outcome, fault }
}

/// One flow's asking side.
struct Client<'a> {
    cue: &'a Cue,
    rr: UdpRr,
    socket: BorrowedFd<'a>,
    request: Vec<u8>,
    response: Vec<u8>,
    window: Window,
    timekeeper: Timekeeper,
}

impl<'a> Client<'a> {
    fn new(end: &'a End, cue: &'a Cue, rr: UdpRr, opened_at: Instant) -> Self {
        Self {
            cue,
            rr,
            socket: end.flow(cue.flow),
            request: payload(rr.exchange.request_bytes),
            // One byte more, so that a longer datagram is seen to be longer.
            response: vec![0; rr.exchange.response_bytes + 1],
            window: Window::new(rr.number_bytes(), end.round_trip),
            timekeeper: Timekeeper::new(end, opened_at),
        }
    }

    fn run(&mut self) -> Result<(), net::Errno> {
        self.adapt_timeout()?;
        let mut now = Instant::now();
        loop {
            while self.window.pending.len() <= self.rr.burst {
                self.send(now)?;
            }
            match net::receive(self.socket, &mut self.response) {
                Ok(bytes) => {
                    now = Instant::now();
                    if !self.take_response(bytes, now) {
                        return Ok(());
                    }
                }
                Err(net::Errno::AGAIN) => {
                    now = Instant::now();
                    self.window.expire(now, &self.timekeeper);
                    self.adapt_timeout()?;
                }
                // A refusal, or a path that is cut, is a lost transaction: its time-out tells.
                Err(error) if net::may_pass(error) => now = Instant::now(),
                Err(error) => return Err(error),
            }
            if self.timekeeper.is_over(now) || self.cue.pulse.phase() == Phase::Over {
                return Ok(());
            }
        }
    }

    fn send(&mut self, now: Instant) -> Result<(), net::Errno> {
        self.window.number(&mut self.request, now);
        match net::send(self.socket, &self.request) {
            Err(error) if !net::may_pass(error) => Err(error),
            // What the kernel refuses for the moment is lost like any other.
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// False when the test's time is over.
    fn take_response(&mut self, bytes: usize, now: Instant) -> bool {
        if bytes != self.rr.exchange.response_bytes {
            return self.cue.pulse.phase() != Phase::Over;
        }
        let is_first = self.window.round_trip.is_none();
        let Some(pending) = self.window.settle(&self.response[..bytes], now) else {
            return true;
        };
        let is_late = now.saturating_duration_since(pending.begun) >= self.window.timeout;
        if (is_first || is_late) && self.adapt_timeout().is_err() {
            return false;
        }
        if self.rr.burst > 0 {
            self.window.expire(now, &self.timekeeper);
        }
        self.timekeeper.count(self.cue, pending.begun, now)
    }

    fn adapt_timeout(&mut self) -> Result<(), net::Errno> {
        self.window.timeout = self.window.adapted_timeout();
        net::set_receive_timeout(self.socket, Some(self.window.timeout))
    }
}

/// Answers requests of the right size until the session ends the flow.
fn answer(end: &End, cue: &Cue, rr: UdpRr) -> Finished {
    let socket = end.flow(cue.flow);
    let request_bytes = rr.exchange.request_bytes;
    let mut request = vec![0; request_bytes + 1];
    let mut response = payload(rr.exchange.response_bytes);
    let number_bytes = rr.number_bytes();
    let mut requests = 0;
    loop {
        match net::receive(socket, &mut request) {
            // A late repeat of the set-up's may have a request's length.
            Ok(bytes) if bytes == request_bytes && !is_udp_setup(&request[..bytes]) => {
                requests += 1;
                cue.counter.set_units(requests);
                response[..number_bytes].copy_from_slice(&request[..number_bytes]);
                // A response that can't be sent is a lost transaction, which the client counts.
                let _ = net::send(socket, &response);
            }
            Ok(0) if cue.pulse.phase() == Phase::Over => break,
            Err(error) if !net::may_pass(error) => break,
            Ok(_) | Err(_) => {}
        }
    }
    Finished { outcome: Outcome::Served, fault: None }
}
