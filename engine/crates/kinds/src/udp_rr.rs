//! UDP request/response; a lost transaction is counted after a time-out, and the test goes on (netperf `UDP_RR`).
//!
//! The first bytes of a request, up to eight, number it, and its response repeats them: a late
//! response is not taken for the answer to a later request. Sizes are what was asked for.

use std::collections::VecDeque;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use proto::{Metrics, Role, SinkReport};

use crate::counter::Count;
use crate::gate::Phase;
use crate::kind::{Cue, End, Finished, Kind, Measured, Outcome, Part, Task, Transport};
use crate::requests::{self, Timekeeper};
use crate::settings::Settings;
use crate::streams::payload;

/// A response that takes longer than this is lost, however slow the path.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(1);
const SHORTEST_TIMEOUT: Duration = Duration::from_millis(200);
/// A response may take this many times the longest latency seen.
const PATIENCE: u32 = 4;
const NUMBER_BYTES: usize = 8;

/// The kind.
pub struct UdpRr;

impl Kind for UdpRr {
    fn name(&self) -> &'static str {
        "udp_rr"
    }

    fn transport(&self, _settings: &Settings) -> Transport {
        Transport::Udp
    }

    fn tasks(&self, end: &Arc<End>) -> Vec<Task> {
        let flows = 0..end.settings.flows;
        match end.role {
            Role::Source => flows.map(|flow| Task::new(Part::Client, flow, ask)).collect(),
            Role::Sink => flows.map(|flow| Task::new(Part::Server, flow, answer)).collect(),
        }
    }

    fn interval(&self, _end: &End, count: Count, seconds: f64) -> Metrics {
        requests::interval(count, seconds)
    }

    fn report(&self, end: &End, measured: &Measured) -> SinkReport {
        let mut report = requests::report(end, measured);
        if end.role == Role::Source && report.window.is_some() {
            let lost: u64 = requests::clients(measured).map(|client| client.lost).sum();
            report.metrics.insert("lost_packets".to_owned(), lost as f64);
        }
        report
    }
}

/// A request on its way.
#[derive(Debug, Clone, Copy)]
struct Pending {
    number: u64,
    begun: Instant,
}

/// The requests on their way, and what became of the others.
struct Window {
    pending: VecDeque<Pending>,
    number_bytes: usize,
    next_number: u64,
    timeout: Duration,
    longest: Duration,
    lost: u64,
}

impl Window {
    fn new(number_bytes: usize) -> Self {
        Self {
            pending: VecDeque::new(),
            number_bytes,
            next_number: 0,
            timeout: LONGEST_TIMEOUT,
            longest: Duration::ZERO,
            lost: 0,
        }
    }

    /// Numbers a request that goes out at `begun`.
    fn number(&mut self, request: &mut [u8], begun: Instant) {
        let number = self.next_number;
        request[..self.number_bytes].copy_from_slice(&number.to_le_bytes()[..self.number_bytes]);
        self.pending.push_back(Pending { number, begun });
        self.next_number += 1;
    }

    /// Finds the request that a response answers.
    fn settle(&mut self, response: &[u8], now: Instant) -> Option<Pending> {
        let place = self.pending.iter().position(|pending| {
            response.starts_with(&pending.number.to_le_bytes()[..self.number_bytes])
        })?;
        let pending = self.pending.remove(place)?;
        self.longest = self.longest.max(now.saturating_duration_since(pending.begun));
        Some(pending)
    }

    /// Gives requests up that have waited too long; those of the measured window are lost.
    fn expire(&mut self, now: Instant, timekeeper: &Timekeeper) {
        while let Some(oldest) = self.pending.front() {
            if now.saturating_duration_since(oldest.begun) < self.timeout {
                return;
            }
            self.lost += u64::from(timekeeper.is_measured(oldest.begun));
            self.pending.pop_front();
        }
    }

    /// The time-out that the latencies so far suggest.
    fn adapted_timeout(&self) -> Duration {
        (self.longest * PATIENCE).clamp(SHORTEST_TIMEOUT, LONGEST_TIMEOUT)
    }
}

fn ask(end: &End, cue: &Cue) -> Finished {
    let Some(opened_at) = cue.start() else {
        return requests::nothing_transacted();
    };
    let mut client = Client::new(end, cue, opened_at);
    let ended = client.run();
    let fault = match ended {
        Err(error) if cue.pulse.phase() != Phase::Over => {
            Some(format!("flow {}: {error}", cue.flow))
        }
        _ => None,
    };
    let outcome = client.timekeeper.finish(Instant::now(), client.window.lost, 0);
    Finished { outcome, fault }
}

/// One flow's asking side.
struct Client<'a> {
    end: &'a End,
    cue: &'a Cue,
    socket: BorrowedFd<'a>,
    request: Vec<u8>,
    response: Vec<u8>,
    window: Window,
    timekeeper: Timekeeper,
}

impl<'a> Client<'a> {
    fn new(end: &'a End, cue: &'a Cue, opened_at: Instant) -> Self {
        let settings = &end.settings;
        let number_bytes = NUMBER_BYTES.min(settings.request_bytes).min(settings.response_bytes);
        Self {
            end,
            cue,
            socket: end.flow(cue.flow),
            request: payload(settings.request_bytes),
            // One byte more, so that a longer datagram is seen to be longer.
            response: vec![0; settings.response_bytes + 1],
            window: Window::new(number_bytes),
            timekeeper: Timekeeper::new(end, opened_at),
        }
    }

    fn run(&mut self) -> Result<(), net::Errno> {
        self.adapt_timeout()?;
        let mut now = Instant::now();
        loop {
            while self.window.pending.len() <= self.end.settings.burst {
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
                // A refusal is a lost transaction: its time-out tells.
                Err(net::Errno::INTR | net::Errno::CONNREFUSED) => now = Instant::now(),
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
            // What the kernel refuses for the moment is lost like any other.
            Ok(_) | Err(net::Errno::INTR | net::Errno::NOBUFS | net::Errno::CONNREFUSED) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// False when the test's time is over.
    fn take_response(&mut self, bytes: usize, now: Instant) -> bool {
        if bytes != self.end.settings.response_bytes {
            return self.cue.pulse.phase() != Phase::Over;
        }
        let is_first = self.window.longest.is_zero();
        let Some(pending) = self.window.settle(&self.response[..bytes], now) else {
            return true;
        };
        if is_first && self.adapt_timeout().is_err() {
            return false;
        }
        if self.end.settings.burst > 0 {
            self.window.expire(now, &self.timekeeper);
        }
        self.timekeeper.count(self.cue, pending.begun, now)
    }

    fn adapt_timeout(&mut self) -> Result<(), net::Errno> {
        if !self.window.longest.is_zero() {
            self.window.timeout = self.window.adapted_timeout();
        }
        net::set_receive_timeout(self.socket, Some(self.window.timeout))
    }
}

/// Answers requests of the right size until the session ends the flow.
fn answer(end: &End, cue: &Cue) -> Finished {
    let socket = end.flow(cue.flow);
    let mut request = vec![0; end.settings.request_bytes + 1];
    let mut response = payload(end.settings.response_bytes);
    let number_bytes = NUMBER_BYTES.min(end.settings.request_bytes).min(response.len());
    loop {
        match net::receive(socket, &mut request) {
            Ok(bytes) if bytes == end.settings.request_bytes => {
                response[..number_bytes].copy_from_slice(&request[..number_bytes]);
                // A response that can't be sent is a lost transaction, which the client counts.
                let _ = net::send(socket, &response);
            }
            Ok(0) if cue.pulse.phase() == Phase::Over => break,
            Ok(_) | Err(net::Errno::INTR | net::Errno::CONNREFUSED) => {}
            Err(_) => break,
        }
    }
    Finished { outcome: Outcome::Served, fault: None }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Window;

    #[test]
    fn a_late_response_is_not_taken_for_the_next_request() {
        let mut window = Window::new(1);
        let now = Instant::now();
        let mut request = [0];
        window.number(&mut request, now);
        assert_eq!(request, [0]);
        window.pending.clear();
        window.number(&mut request, now);
        assert_eq!(request, [1]);
        assert!(window.settle(&[0], now).is_none());
        assert_eq!(window.settle(&[1], now).expect("its own").number, 1);
    }

    #[test]
    fn the_timeout_follows_the_longest_latency_within_bounds() {
        let mut window = Window::new(1);
        window.longest = Duration::from_millis(1);
        assert_eq!(window.adapted_timeout(), Duration::from_millis(200));
        window.longest = Duration::from_millis(100);
        assert_eq!(window.adapted_timeout(), Duration::from_millis(400));
        window.longest = Duration::from_secs(9);
        assert_eq!(window.adapted_timeout(), Duration::from_secs(1));
    }
}
