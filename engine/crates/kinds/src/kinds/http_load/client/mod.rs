//! A source thread: drives its share of the connections until the test's time is over.

mod connecting;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use proto::reason;

use super::connection::{Connection, Reading, Socket, State};
use super::schedule::Schedule;
use super::tally::{Loaded, Tally, Trouble};
use super::target::request;
use super::{HttpLoad, Share};
use crate::end::End;
use crate::flow::gate::Phase;
use crate::measurements::{Finished, Outcome, Own};
use crate::task::Cue;

const EVENTS_AT_ONCE: usize = 256;
const READ_BUFFER_BYTES: usize = 64 * 1024;
/// No connection has these indexes.
const WAKE: u64 = u64::MAX;
const TIMER: u64 = u64::MAX - 1;

/// A thread at work.
pub struct Client<'a> {
    end: &'a End,
    cue: &'a Cue,
    load: &'a HttpLoad,
    poller: net::Poller,
    timer: net::Timer,
    connections: Vec<Connection<'a>>,
    /// Where connections are made to; none for the session's own flows, which can't be made again.
    server: Option<SocketAddr>,
    request: Vec<u8>,
    /// Connections to be tried again, the first due first.
    retries: VecDeque<(Instant, usize)>,
    /// Connections whose response has just come. Their next requests go out when all that came has been read, as
    /// wrk's do: sent one by one between the reads, each would wake the server for itself.
    answered: Vec<usize>,
    schedule: Option<Schedule>,
    /// The time for which the timer is set.
    timer_set: Option<Instant>,
}

impl<'a> Client<'a> {
    /// Runs the thread's whole test.
    pub fn run(ends: (&'a End, &'a Cue), load: &'a HttpLoad, share: Share) -> Finished {
        let run = Self::new(ends, load, share).and_then(|mut client| client.load(share));
        let (loaded, fault) = match run {
            Ok(loaded) => (loaded, None),
            Err(error) => {
                let why = error.to_string();
                let fault = reason!("flow_client_thread", thread = share.thread, why = why);
                (Loaded::default(), Some(fault))
            }
        };
        Finished { outcome: Outcome::Own(Own::new(loaded.span, loaded)), fault }
    }

    fn new(
        (end, cue): (&'a End, &'a Cue),
        load: &'a HttpLoad,
        share: Share,
    ) -> Result<Self, net::Errno> {
        let poller = net::Poller::new(EVENTS_AT_ONCE)?;
        poller.add_wake(&end.wake, WAKE)?;
        let timer = net::Timer::new(&poller, TIMER)?;
        let server = end.peer.filter(|_| end.flows.is_empty());
        let connections =
            (0..).zip(share.of(end.settings.flows)).map(|(place, _)| Connection::absent(place));
        let mut client = Self {
            end,
            cue,
            load,
            poller,
            timer,
            connections: connections.collect(),
            server,
            request: request(load.url.as_ref()),
            retries: VecDeque::new(),
            answered: Vec::new(),
            schedule: None,
            timer_set: None,
        };
        if server.is_some() {
            client.connect_all()?;
        } else {
            client.take_flows(share)?;
        }
        Ok(client)
    }

    fn take_flows(&mut self, share: Share) -> Result<(), net::Errno> {
        for (place, flow) in share.of(self.end.settings.flows).enumerate() {
            let socket = self.end.flow(flow);
            net::never_block(socket)?;
            self.poller.add(socket, place as u64)?;
            self.connections[place].take_socket(Socket::Flow(socket), State::Idle);
        }
        Ok(())
    }

    fn load(&mut self, share: Share) -> Result<Loaded, net::Errno> {
        let Some(opened_at) = self.cue.start() else {
            return Ok(Loaded::default());
        };
        self.schedule = self.schedule(share, opened_at);
        let mut tally = Tally::new(self.end, self.load, opened_at);
        if self.schedule.is_none() {
            (0..self.connections.len()).for_each(|place| self.next(place, &mut tally, opened_at));
        }
        self.drive(&mut tally)?;
        let now = Instant::now();
        for connection in &self.connections {
            match connection.state {
                State::Busy(begun) => tally.add_unanswered(begun),
                State::Connecting(begun) => tally.add_unconnected(begun),
                State::Absent | State::Idle => {}
            }
        }
        Ok(tally.finish(now))
    }

    fn schedule(&self, share: Share, opened_at: Instant) -> Option<Schedule> {
        let rate = Some(self.load.rate_rps).filter(|&rate| rate > 0.0)?;
        let all = u64::from(self.end.settings.flows);
        let own = self.connections.len() as u64;
        Some(Schedule::new(rate, own, all, share.thread, opened_at))
    }

    fn drive(&mut self, tally: &mut Tally) -> Result<(), net::Errno> {
        let mut buffer = vec![0; READ_BUFFER_BYTES];
        let mut happenings = Vec::with_capacity(EVENTS_AT_ONCE);
        loop {
            let now = Instant::now();
            if tally.is_over(now) || self.cue.pulse.phase() == Phase::Over {
                return Ok(());
            }
            tally.note_time(now);
            self.begin_due(tally, now);
            let limit = self.wait_limit(tally, now)?;
            happenings.extend(self.poller.wait(Some(limit))?);
            for happening in happenings.drain(..) {
                match happening.token {
                    WAKE | TIMER => {}
                    _ => self.advance(happening, tally, &mut buffer),
                }
            }
            let mut answered = std::mem::take(&mut self.answered);
            for place in answered.drain(..) {
                self.next(place, tally, Instant::now());
            }
            self.answered = answered;
        }
    }

    /// Begins what is due: requests of the schedule, and connections to be tried again.
    fn begin_due(&mut self, tally: &mut Tally, now: Instant) {
        while self.retries.front().is_some_and(|(due, _)| *due <= now) {
            if let Some((_, place)) = self.retries.pop_front() {
                self.connect(place, now, Some(tally));
            }
        }
        let due = self.schedule.as_mut().map(|schedule| schedule.take_due(now));
        for (request, place) in due.into_iter().flatten() {
            let connection = &self.connections[place];
            // A busy connection sends what became due as soon as it is answered.
            if connection.state == State::Idle && connection.next_request == request {
                self.next(place, tally, now);
            }
        }
    }

    /// How long to wait at most; what is due in between is told by the timer, which is finer.
    fn wait_limit(&mut self, tally: &Tally, now: Instant) -> Result<Duration, net::Errno> {
        let deadline = tally.deadline();
        if let Some(due) = self.schedule.as_ref().map(Schedule::next_due) {
            if self.timer_set != Some(due) {
                self.timer_set = Some(due);
                self.timer.set(due.saturating_duration_since(now))?;
            }
        }
        let until = self.retries.front().map_or(deadline, |(due, _)| deadline.min(*due));
        Ok(until.saturating_duration_since(now))
    }

    /// Begins the connection's next request, if there is one by now.
    #[inline]
    fn next(&mut self, place: usize, tally: &mut Tally, now: Instant) {
        let connection = &mut self.connections[place];
        if connection.socket.is_none() || matches!(connection.state, State::Connecting(_)) {
            return;
        }
        let begun = match &self.schedule {
            None => now,
            Some(schedule) if schedule.has_passed(connection.next_request) => {
                let due = schedule.due(connection.next_request);
                connection.next_request = schedule.after(connection.next_request);
                due
            }
            Some(_) => {
                connection.state = State::Idle;
                return;
            }
        };
        if connection.begin(&self.request, begun).is_err() {
            self.fail(place, Trouble::Write, tally, now);
        }
    }

    /// Does what a connection's readiness allows.
    #[inline]
    fn advance(&mut self, happening: net::Happening, tally: &mut Tally, buffer: &mut [u8]) {
        let place = usize::try_from(happening.token).unwrap_or(usize::MAX);
        let Some(connection) = self.connections.get_mut(place) else {
            return;
        };
        match connection.state {
            State::Absent => return,
            State::Connecting(_) => {
                let now = Instant::now();
                self.finish_connect(place, now, Some(tally));
                return;
            }
            State::Idle | State::Busy(_) => {}
        }
        if happening.is_writable
            && connection.is_sending(&self.request)
            && connection.send_rest(&self.request).is_err()
        {
            self.fail(place, Trouble::Write, tally, Instant::now());
        } else if happening.is_readable {
            self.read(place, happening.is_ended, tally, buffer);
        }
    }

    /// Reads until there is no more; a connection that the server has ended is read to its end.
    fn read(&mut self, place: usize, is_ended: bool, tally: &mut Tally, buffer: &mut [u8]) {
        loop {
            let connection = &mut self.connections[place];
            let (reading, bytes, has_more) = connection.read(buffer);
            tally.add_bytes(bytes);
            let State::Busy(begun) = connection.state else {
                match reading {
                    Reading::Open => {}
                    Reading::Ended => self.reconnect(place, tally),
                    _ => self.fail(place, Trouble::Read, tally, Instant::now()),
                }
                return;
            };
            let now = match reading {
                Reading::Open if bytes > 0 && (has_more || is_ended) => {
                    // An endless response must not outlast the test.
                    let now = Instant::now();
                    tally.note_time(now);
                    if tally.is_over(now) {
                        return;
                    }
                    continue;
                }
                Reading::Open => return,
                _ => Instant::now(),
            };
            match reading {
                Reading::Whole(response) => {
                    tally.add_response(self.cue, response, begun, now);
                    if is_ended {
                        return self.reconnect(place, tally);
                    }
                    connection.state = State::Idle;
                    self.answered.push(place);
                    return;
                }
                Reading::Last(response) => {
                    tally.add_response(self.cue, response, begun, now);
                    return self.reconnect(place, tally);
                }
                Reading::Open | Reading::Ended | Reading::Broken => {
                    return self.fail(place, Trouble::Read, tally, now);
                }
            }
        }
    }

    /// Counts an error and tries the connection again later.
    fn fail(&mut self, place: usize, trouble: Trouble, tally: &mut Tally, now: Instant) {
        // What is interrupted at the end is no error of the server's.
        if self.cue.pulse.phase() != Phase::Over {
            tally.add_trouble(trouble, now);
        }
        self.retry_later(place, now);
    }
}
