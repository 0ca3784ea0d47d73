//! UDP request/response; a lost transaction is counted after a time-out, and the test goes on (netperf `UDP_RR`).
//!
//! The first bytes of a request, up to eight, number it, and its response repeats them: a late
//! response is not taken for the answer to a later request. Sizes are what was asked for.

use std::collections::VecDeque;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use proto::{EndReport, Metrics, Params, Role, RunResult};

use crate::end::End;
use crate::flow::counter::Count;
use crate::flow::gate::Phase;
use crate::flow::part::Part;
use crate::flow::task::{Cue, Task};
use crate::host_window::OwnTraffic;
use crate::kind::Kind;
use crate::limits::arrival;
use crate::outcome::measurements::{Finished, Measured, Outcome};
use crate::outcome::requests::{self, Exchange, Timekeeper};
use crate::outcome::streams::payload;
use crate::settings::{Settings, size};
use crate::transport::{Transport, Udp};

/// Bounds of the time-out; a request is given up later only where the path is known to be slow.
const SHORTEST_TIMEOUT: Duration = Duration::from_millis(200);
const LONGEST_TIMEOUT: Duration = Duration::from_secs(60);
/// The time-out before the first response, or this many round trips of the link.
const FIRST_TIMEOUT: Duration = Duration::from_secs(1);
const FIRST_ROUND_TRIPS: u32 = 3;
const NUMBER_BYTES: usize = 8;

/// The kind.
#[derive(Clone, Copy)]
pub struct UdpRr {
    exchange: Exchange,
    /// Transactions in flight beyond the first.
    burst: usize,
}

/// Reads checked and filled parameters.
pub fn read(params: &Params, _settings: &Settings) -> Result<Arc<dyn Kind>, String> {
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

    fn silence(&self, result: &RunResult) -> Option<String> {
        arrival::unanswered(result, |count| {
            format!("no transaction was completed, and {count} were lost")
        })
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
    /// Given up, though a response may come yet: it is late then, not lost.
    overdue: VecDeque<Pending>,
    /// Of those that no response can be told to belong to any more, for their number has been given again.
    lost: u64,
    number_bytes: usize,
    next_number: u64,
    timeout: Duration,
    round_trip: Option<RoundTrip>,
}

/// Smoothed round trip and its variation (RFC 6298, section 2).
#[derive(Debug, Clone, Copy)]
struct RoundTrip {
    smoothed: Duration,
    variation: Duration,
}

impl RoundTrip {
    fn after(before: Option<Self>, sample: Duration) -> Self {
        let Some(Self { smoothed, variation }) = before else {
            return Self { smoothed: sample, variation: sample / 2 };
        };
        let difference = smoothed.abs_diff(sample);
        Self { smoothed: (smoothed * 7 + sample) / 8, variation: (variation * 3 + difference) / 4 }
    }

    fn timeout(self) -> Duration {
        let timeout = self.smoothed + (self.variation * 4).max(SHORTEST_TIMEOUT);
        timeout.clamp(SHORTEST_TIMEOUT, LONGEST_TIMEOUT)
    }
}

impl Window {
    fn new(number_bytes: usize, link_round_trip: Duration) -> Self {
        let patience = (link_round_trip * FIRST_ROUND_TRIPS).max(FIRST_TIMEOUT);
        Self {
            pending: VecDeque::new(),
            overdue: VecDeque::new(),
            lost: 0,
            number_bytes,
            next_number: 0,
            timeout: patience.min(LONGEST_TIMEOUT),
            round_trip: None,
        }
    }

    /// Numbers a request that goes out at `begun`.
    fn number(&mut self, request: &mut [u8], begun: Instant) {
        let number = self.next_number;
        request[..self.number_bytes].copy_from_slice(&number.to_le_bytes()[..self.number_bytes]);
        self.pending.push_back(Pending { number, begun });
        self.next_number += 1;
    }

    /// Finds the request that a response answers, late or not.
    fn settle(&mut self, response: &[u8], now: Instant) -> Option<Pending> {
        let number_bytes = self.number_bytes;
        let answers =
            |pending: &Pending| response.starts_with(&pending.number.to_le_bytes()[..number_bytes]);
        let settled = if let Some(place) = self.pending.iter().position(answers) {
            self.pending.remove(place)
        } else {
            let is_its = |pending: &Pending| answers(pending) && !self.is_reused(pending);
            let place = self.overdue.iter().position(is_its)?;
            self.overdue.remove(place)
        }?;
        let sample = now.saturating_duration_since(settled.begun);
        self.round_trip = Some(RoundTrip::after(self.round_trip, sample));
        Some(settled)
    }

    /// Gives requests up that have waited too long.
    fn expire(&mut self, now: Instant, timekeeper: &Timekeeper) {
        let timeout = self.timeout;
        let is_over = |pending: &Pending| now.saturating_duration_since(pending.begun) >= timeout;
        while let Some(oldest) = self.pending.front().copied().filter(&is_over) {
            self.pending.pop_front();
            self.overdue.push_back(oldest);
        }
        while let Some(oldest) = self.overdue.front().copied().filter(|it| self.is_reused(it)) {
            self.overdue.pop_front();
            self.lost += u64::from(timekeeper.is_measured(oldest.begun));
        }
    }

    /// Whether a later request has the same number in the bytes that it had room for.
    fn is_reused(&self, pending: &Pending) -> bool {
        let bits = 8 * self.number_bytes;
        bits < 64 && self.next_number - pending.number > 1 << bits
    }

    /// Requests of the measured window that got no response, however late.
    fn lost(&self, timekeeper: &Timekeeper) -> u64 {
        let is_lost = |pending: &&Pending| timekeeper.is_measured(pending.begun);
        self.lost + self.overdue.iter().filter(is_lost).count() as u64
    }

    /// The time-out that the round trips so far suggest.
    fn adapted_timeout(&self) -> Duration {
        self.round_trip.map_or(self.timeout, RoundTrip::timeout)
    }
}

fn ask(end: &End, cue: &Cue, rr: UdpRr) -> Finished {
    let Some(opened_at) = cue.start() else {
        return requests::nothing_transacted();
    };
    let mut client = Client::new(end, cue, rr, opened_at);
    let ended = client.run();
    let fault = match ended {
        Err(error) if cue.pulse.phase() != Phase::Over => {
            Some(format!("flow {}: {error}", cue.flow))
        }
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
            Ok(bytes) if bytes == request_bytes => {
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

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{RoundTrip, Window};
    use crate::outcome::requests::Timekeeper;

    const MILLISECOND: Duration = Duration::from_millis(1);

    fn timekeeper(now: Instant) -> Timekeeper {
        Timekeeper::between(now, now + MILLISECOND * 10_000)
    }

    #[test]
    fn a_late_response_is_not_taken_for_the_next_request_and_not_for_lost() {
        let mut window = Window::new(1, Duration::ZERO);
        let now = Instant::now();
        let keeper = timekeeper(now);
        let mut request = [0];
        window.number(&mut request, now);
        window.expire(now + MILLISECOND * 1_000, &keeper);
        window.number(&mut request, now + MILLISECOND * 1_000);
        assert_eq!((request, window.lost(&keeper)), ([1], 1));
        let settled = window.settle(&[0], now + MILLISECOND * 1_200).expect("the first, late");
        assert_eq!((settled.number, window.pending.len(), window.lost(&keeper)), (0, 1, 0));
        assert!(window.adapted_timeout() > MILLISECOND * 1_200);
        assert!(window.settle(&[0], now + MILLISECOND * 1_300).is_none());
    }

    #[test]
    fn a_number_given_again_answers_for_the_later_request_only() {
        let mut window = Window::new(1, Duration::ZERO);
        let now = Instant::now();
        let keeper = timekeeper(now);
        let mut request = [0];
        for _ in 0..257 {
            window.number(&mut request, now);
            window.expire(now + MILLISECOND * 1_000, &keeper);
        }
        assert_eq!(window.overdue.front().map(|oldest| oldest.number), Some(1));
        assert_eq!(window.lost(&keeper), 257);
        assert_eq!(window.settle(&[0], now).expect("the later").number, 256);
    }

    #[test]
    fn the_timeout_follows_the_round_trip() {
        assert_eq!(Window::new(1, Duration::ZERO).adapted_timeout(), MILLISECOND * 1_000);
        let mut window = Window::new(8, MILLISECOND * 1_200);
        assert_eq!(window.adapted_timeout(), MILLISECOND * 3_600);
        let now = Instant::now();
        let mut request = [0; 8];
        for _ in 0..40 {
            window.number(&mut request, now);
            window.settle(&request, now + MILLISECOND * 1_200).expect("its own");
        }
        assert_eq!(window.adapted_timeout(), MILLISECOND * 1_400);
        window.round_trip = Some(RoundTrip::after(None, MILLISECOND));
        assert_eq!(window.adapted_timeout(), MILLISECOND * 201);
        window.round_trip = Some(RoundTrip::after(None, MILLISECOND * 100_000));
        assert_eq!(window.adapted_timeout(), MILLISECOND * 60_000);
    }
}
