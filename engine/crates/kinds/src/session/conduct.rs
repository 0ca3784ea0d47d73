//! The main thread of a test: start, time, intervals, end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use proto::{EndReport, EventBody, FailureCode, Reason, Role, reason};

use super::Brief;
use super::cuts::Cuts;
use super::datagram_samples::DatagramSamples;
use super::drain::Drain;
use super::intervals::Intervals;
use super::outages::Outages;
use super::quiet::Quiet;
use super::setup::Setup;
use super::tcp_samples::TcpSamples;
use super::threads::Threads;
use crate::failure::Failure;
use crate::flow::gate::{Gate, Phase, Pulse};
use crate::host_window::{InterfaceWatch, Meter, Occurred};
use crate::line::Line;
use crate::measurements::Measured;
use crate::outcome::course::Course;

mod closing;
mod draining;
mod hearing;
mod intervals;
mod readings;
mod starting;
mod stopping;

/// A test that hasn't ended this long after its time is given up, round trips apart.
const OVERTIME_LIMIT: Duration = Duration::from_secs(60);
/// When a flow fails, the word of why may still be on its way on the link.
const FAULT_PATIENCE: Duration = Duration::from_millis(100);
/// A thread that was just about to connect when it was interrupted is interrupted again after this.
const INTERRUPT_INTERVAL: Duration = Duration::from_millis(20);
/// How long interrupted threads may take.
const COLLECT_LIMIT: Duration = Duration::from_secs(2);
/// The same when the agent has said stop: it ends this process soon after, and what has been collected must be told by then.
const CANCEL_COLLECT_LIMIT: Duration = Duration::from_millis(250);
/// How long the sink waits for a near source to read its report.
const FAREWELL_LIMIT: Duration = Duration::from_secs(1);

/// One test being conducted.
pub struct Conduct<'a> {
    brief: Brief,
    setup: Setup,
    line: &'a mut Line,
    gate: Arc<Gate>,
    pulse: Arc<Pulse>,
    threads: Option<Threads>,
    clock: Option<Clock>,
    tcp_samples: Option<TcpSamples>,
    meter: Option<Meter>,
    occurred: Option<Occurred>,
    measured: Measured,
    datagram_samples: Option<DatagramSamples>,
    interface: Option<InterfaceWatch>,
    own_course: Course,
    peer_course: Course,
    peer_lag: Option<Duration>,
    peer_report: Option<EndReport>,
    is_stop_told: bool,
    bytes_before_window: u64,
    fault: Option<(Instant, Reason)>,
}

/// What runs once the traffic has begun.
struct Clock {
    origin: Instant,
    warmup_end: Option<Instant>,
    deadline: Option<Instant>,
    give_up: Instant,
    next_interrupt: Option<Instant>,
    intervals: Option<Intervals>,
    cuts: Option<Cuts>,
    drain: Option<Drain>,
    outages: Option<Outages>,
    quiet: Option<Quiet>,
}

impl<'a> Conduct<'a> {
    /// Takes over from the set-up.
    pub fn new(brief: Brief, setup: Setup, line: &'a mut Line) -> Self {
        let pulse = Arc::new(Pulse::new(!brief.settings.warmup.is_zero()));
        Self {
            brief,
            setup,
            line,
            gate: Arc::default(),
            pulse,
            threads: None,
            clock: None,
            tcp_samples: None,
            meter: None,
            occurred: None,
            measured: Measured::default(),
            datagram_samples: None,
            interface: None,
            own_course: Course::default(),
            peer_course: Course::default(),
            peer_lag: None,
            peer_report: None,
            is_stop_told: false,
            bytes_before_window: 0,
            fault: None,
        }
    }

    /// Conducts the test; its final event.
    pub fn run(mut self) -> EventBody {
        match self.start().and_then(|()| self.measure()).and_then(|()| self.part_ways()) {
            Ok(own) => self.conclude(own),
            Err(failure) => self.abandon(failure),
        }
    }

    fn role(&self) -> Role {
        self.brief.spec.role
    }

    fn threads(&self) -> &Threads {
        self.threads.as_ref().expect("start() makes the threads before anything asks for them")
    }

    fn clock(&mut self) -> &mut Clock {
        self.clock.as_mut().expect("start() makes the clock before the measuring begins")
    }

    fn measure(&mut self) -> Result<(), Failure> {
        loop {
            let now = Instant::now();
            self.take_due_steps(now)?;
            if self.is_complete() {
                return Ok(());
            }
            let until = self.next_due(now);
            if let Some(signal) = self.line.wait(until)? {
                self.handle(signal)?;
            }
        }
    }

    fn is_complete(&self) -> bool {
        let peer_is_done = match self.role() {
            Role::Source => self.peer_report.is_some(),
            // What the source has to tell of a stream may wait behind what was not waited for.
            Role::Sink => self.measured.peer_sent.is_some() || self.has_cut_streams(),
        };
        // A fault waits a moment for the peer's word of why; a test with one has not ended well, whatever else is done.
        peer_is_done && self.is_stop_told && self.threads().are_done() && self.fault.is_none()
    }

    fn next_due(&mut self, now: Instant) -> Instant {
        let fault = self.fault.as_ref().map(|(due, _)| *due);
        let clock = self.clock();
        let dues = [
            clock.warmup_end,
            clock.deadline,
            clock.next_interrupt,
            clock.intervals.as_ref().and_then(Intervals::next_due),
            clock.cuts.as_ref().and_then(Cuts::next_due),
            clock.outages.as_ref().and_then(Outages::next_due),
            clock.drain.as_ref().and_then(Drain::next_due),
            clock.quiet.as_ref().map(|_| Quiet::next_due(now)),
            fault,
        ];
        dues.into_iter().flatten().fold(clock.give_up, Instant::min)
    }

    fn take_due_steps(&mut self, now: Instant) -> Result<(), Failure> {
        if let Some((_, reason)) = self.fault.take_if(|(due, _)| now >= *due) {
            return Err(Failure::new(FailureCode::PeerLost, reason));
        }
        if now >= self.clock().give_up {
            let seconds = OVERTIME_LIMIT.as_secs();
            return Err(Failure::internal(reason!("says_endless", seconds = seconds)));
        }
        if self.clock().warmup_end.take_if(|end| now >= *end).is_some() {
            self.pulse.set(Phase::Measured);
            self.bytes_before_window = self.threads().count().bytes;
            self.note_connections_before();
            self.begin_meter();
        }
        if self.clock().deadline.take_if(|deadline| now >= *deadline).is_some() {
            self.end_traffic();
        }
        self.interrupt_again(now);
        self.look_for_cuts(now);
        self.look_at_drain(now);
        let count = self.threads().count();
        if let Some(outages) = self.clock().outages.as_mut() {
            outages.look(now, count);
        }
        if self
            .clock()
            .intervals
            .as_ref()
            .and_then(Intervals::next_due)
            .is_some_and(|due| now >= due)
        {
            self.report_interval(now)?;
        }
        let units = self.threads().measured_units();
        if self.clock().quiet.as_mut().is_some_and(|quiet| quiet.is_over(now, units)) {
            self.clock().quiet = None;
            self.setup.end.flows.iter().for_each(net::end_reading);
        }
        self.tell_stop()
    }

    fn look_for_cuts(&mut self, now: Instant) {
        let (Some(clock), Some(threads)) = (self.clock.as_mut(), self.threads.as_ref()) else {
            return;
        };
        if let Some(cuts) = clock.cuts.as_mut() {
            cuts.sample(now, threads, &self.setup.end);
        }
    }
}
