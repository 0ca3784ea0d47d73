//! The main thread of a test: start, time, intervals, end.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use proto::{EndReport, EventBody, FailureCode, LinkMessage, Role, SessionState};

use super::Brief;
use super::cuts::Cuts;
use super::datagram_samples::DatagramSamples;
use super::drain::{self, Drain};
use super::intervals::Intervals;
use super::outages::Outages;
use super::quiet::Quiet;
use super::setup::Setup;
use super::tcp_samples::{self, TcpSamples};
use super::threads::Threads;
use crate::course::Course;
use crate::failure::Failure;
use crate::gate::{Gate, Phase, Pulse};
use crate::host_window::{InterfaceWatch, Meter, Occurred};
use crate::kind::Cut;
use crate::line::Line;
use crate::measurements::{Finished, Measured};
use crate::part::Part;
use crate::signal::Signal;
use crate::steps::{FLOWS_LIMIT, STEP_LIMIT};
use crate::streams;
use crate::supply::Supply;
use crate::thread_times::ThreadTimes;
use crate::traffic::Traffic;
use crate::window;

mod closing;
mod draining;
mod intervals;

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
    fault: Option<(Instant, String)>,
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

    fn start(&mut self) -> Result<(), Failure> {
        let tasks = self.brief.kind.tasks(&self.setup.end);
        let sender = self.line.sender();
        let threads = self.threads.insert(Threads::start(
            &self.setup.end,
            tasks,
            &self.gate,
            &self.pulse,
            &sender,
        )?);
        let timed = threads.timed_count();
        self.line.watch(Traffic::new(Some(Arc::clone(&self.setup.end)), threads.counters()));
        let is_sampled = timed > 0 && self.brief.transport.has_connections();
        self.tcp_samples = is_sampled.then(|| TcpSamples::begin(&self.setup.end));
        self.datagram_samples =
            DatagramSamples::begin(&self.setup.end, self.threads(), self.brief.transport);
        self.interface = self.watch_interface();
        let is_measured_at_once = self.brief.settings.warmup.is_zero();
        if is_measured_at_once {
            self.note_connections_before();
        }
        // The source begins before anything is sent. The sink begins when it hears of the start: earlier it would
        // count the set-up's time, and before its threads are let go it would keep the source waiting.
        match self.role() {
            Role::Source => self.start_source(timed, is_measured_at_once)?,
            Role::Sink => self.start_sink()?,
        }
        let origin = self.gate.open();
        if self.role() == Role::Sink && is_measured_at_once {
            self.begin_meter();
        }
        self.clock = Some(self.begin_clock(origin));
        self.brief.outbox.event(EventBody::State {
            state: SessionState::Running,
            started_at: window::wall_clock(origin).into(),
        });
        Ok(())
    }

    fn start_source(&mut self, timed: usize, is_measured_at_once: bool) -> Result<(), Failure> {
        self.brief.transport.wait_for_peer(self.line, self.brief.settings.flows)?;
        if !self.gate.wait_for_parked(timed, STEP_LIMIT) {
            return Err(Failure::internal("the flow threads didn't reach the start in time"));
        }
        if is_measured_at_once {
            self.begin_meter();
        }
        self.line.tell(&LinkMessage::Start)
    }

    fn start_sink(&mut self) -> Result<(), Failure> {
        for index in 0..self.setup.end.flows.len() {
            let index =
                u32::try_from(index).map_err(|error| Failure::internal(error.to_string()))?;
            self.line.tell(&LinkMessage::FlowReady { index })?;
        }
        loop {
            let limit = self.line.patience(FLOWS_LIMIT);
            match self.line.wait(Instant::now() + limit)? {
                Some(Signal::Link(LinkMessage::Start)) => return Ok(()),
                Some(signal) => self.handle(signal)?,
                None => {
                    return Err(Failure::new(FailureCode::PeerLost, "the source gave no start"));
                }
            }
        }
    }

    fn begin_clock(&self, origin: Instant) -> Clock {
        let settings = &self.brief.settings;
        let threads = self.threads();
        let is_cut_by_offset = self.brief.kind.cut() == Cut::Offset
            && threads.has(Part::Receiver)
            && !settings.warmup.is_zero();
        Clock {
            origin,
            warmup_end: (!settings.warmup.is_zero()).then(|| origin + settings.warmup),
            deadline: (threads.timed_count() > 0).then(|| origin + settings.total()),
            give_up: origin + settings.total() + self.line.patience(OVERTIME_LIMIT),
            next_interrupt: None,
            intervals: Some(Intervals::new(origin, settings)),
            cuts: is_cut_by_offset.then(|| Cuts::new(origin, settings.warmup, settings.flows)),
            drain: threads.has(Part::Receiver).then(|| Drain::new(origin, settings, drain::LIMIT)),
            outages: self
                .expects_arrivals()
                .then(|| Outages::new(origin, settings, self.line.round_trip())),
            quiet: None,
        }
    }

    /// Whether this end counts what comes, and something is to come all the time.
    fn expects_arrivals(&self) -> bool {
        // Probes are told one by one which were lost.
        self.threads().are_measuring() && self.brief.settings.probe.is_empty()
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
            return Err(Failure::internal("the test did not end within 60 s after its time"));
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

    /// The time is over: senders and clients stop, wherever they are blocked.
    fn end_traffic(&mut self) {
        self.pulse.set(Phase::Over);
        self.freeze_meter();
        self.note_connections_after();
        let threads = self.threads();
        if threads.has(Part::Client) {
            self.interrupt_all();
            self.clock().next_interrupt = Some(Instant::now() + INTERRUPT_INTERVAL);
        } else {
            self.brief.transport.end_sending(&self.setup.end.flows);
        }
    }

    fn interrupt_again(&mut self, now: Instant) {
        if self.clock().next_interrupt.take_if(|due| now >= *due).is_some()
            && !self.threads().are_done()
        {
            self.threads().interrupt_current();
            self.clock().next_interrupt = Some(now + INTERRUPT_INTERVAL);
        }
    }

    fn interrupt_all(&self) {
        self.setup.end.wake.ring();
        if let Some(lent) = &self.setup.end.lent {
            lent.handed_over.end();
        }
        self.setup.end.flows.iter().for_each(net::end_traffic);
        self.threads().interrupt_current();
    }

    /// The interface that the link's addresses tell: the window's counters show in the end whether it was that.
    fn watch_interface(&self) -> Option<InterfaceWatch> {
        let (local, peer) = self.link_addresses()?;
        InterfaceWatch::begin(local, peer, self.setup.end.local.device.as_deref())
    }

    /// The data connections and the link: what is the test's own on the wire.
    fn connections(&self) -> Vec<BorrowedFd<'_>> {
        let link = self.line.link().map(|link| link.socket().as_fd());
        self.setup.end.flows.iter().map(AsFd::as_fd).chain(link).collect()
    }

    fn begin_meter(&mut self) {
        self.brief.surroundings.open_window();
        let pinned = &self.brief.settings.end(self.role()).cpus;
        self.meter = Some(Meter::begin(&self.connections(), pinned));
    }

    fn freeze_meter(&mut self) {
        if let Some(meter) = self.meter.take() {
            self.occurred = Some(meter.finish(&self.connections()));
        }
    }

    fn look_for_cuts(&mut self, now: Instant) {
        let (Some(clock), Some(threads)) = (self.clock.as_mut(), self.threads.as_ref()) else {
            return;
        };
        if let Some(cuts) = clock.cuts.as_mut() {
            cuts.sample(now, threads, &self.setup.end);
        }
    }

    /// Tells the peer what was sent, once all tasks have ended; receivers of datagrams wait for the
    /// peer's word themselves, so there it is told when the senders have.
    fn tell_stop(&mut self) -> Result<(), Failure> {
        let threads = self.threads();
        let has_timed = threads.timed_count() > 0;
        let is_early = has_timed && self.brief.transport.has_datagrams();
        let has_stopped = if is_early { threads.timed_are_done() } else { threads.are_done() };
        // A sink without senders has nothing to tell; its report says when it is done.
        let is_silent = self.role() == Role::Sink && !has_timed;
        if self.is_stop_told || !(has_stopped || is_silent) {
            return Ok(());
        }
        self.is_stop_told = true;
        if is_silent {
            return Ok(());
        }
        self.freeze_meter();
        let flows = streams::sent_counts(&self.measured);
        self.line.tell(&LinkMessage::Stop { flows })
    }

    fn handle(&mut self, signal: Signal) -> Result<(), Failure> {
        match signal {
            Signal::Done { task, finished, times } => self.take_outcome(task, *finished, times),
            Signal::Mark { flow, offset_bytes } => {
                self.line.tell(&LinkMessage::Mark { flow, offset_bytes })?;
            }
            Signal::Link(message) => self.take_message(message),
            Signal::Supply(Supply::Flow { fd, .. }) => {
                if let Some(lent) = &self.setup.end.lent {
                    lent.handed_over.push(fd);
                }
            }
            Signal::Supply(_) | Signal::Connected(_) | Signal::LinkLost(_) => {}
        }
        Ok(())
    }

    fn take_outcome(&mut self, task: usize, finished: Finished, times: ThreadTimes) {
        if let Some(threads) = self.threads.as_mut() {
            threads.note_done(task, times);
        }
        if let Some(reason) = finished.fault.filter(|_| self.fault.is_none()) {
            let patience = FAULT_PATIENCE + self.line.round_trip();
            self.fault = Some((Instant::now() + patience, reason));
        }
        self.measured.outcomes.push(finished.outcome);
        // A stream's last byte has arrived, perhaps long after the sender's word of its end.
        if self.threads.as_ref().is_some_and(Threads::are_done) {
            self.freeze_meter();
            self.drop_what_was_cut();
        }
    }

    fn take_message(&mut self, message: LinkMessage) {
        match message {
            LinkMessage::Interval { interval } => self.take_interval(*interval),
            LinkMessage::Mark { flow, offset_bytes } => {
                if let Some(cuts) = self.clock.as_mut().and_then(|clock| clock.cuts.as_mut()) {
                    cuts.mark(flow, offset_bytes);
                }
            }
            LinkMessage::Stop { flows } => self.take_stop(flows),
            LinkMessage::Report { report } => {
                self.peer_report = Some(*report);
                // A sink that has reported may go, even if our own last datagrams are still waited for.
                self.line.expect_end();
            }
            // Set-up messages have no meaning any more.
            _ => {}
        }
    }

    fn take_stop(&mut self, flows: Vec<proto::SentCount>) {
        let expected = flows.iter().map(|flow| flow.packets).sum();
        self.measured.peer_sent = Some(flows);
        let threads = self.threads();
        let (is_timed, has_servers) = (threads.timed_count() > 0, threads.has(Part::Server));
        let awaits_datagrams = threads.has(Part::Receiver) && self.brief.transport.has_datagrams();
        let awaits_stream = threads.has(Part::Receiver) && !awaits_datagrams;
        let units = threads.measured_units();
        if self.clock.is_none() {
            return;
        }
        if !is_timed && !awaits_stream {
            self.freeze_meter();
        }
        if has_servers {
            self.pulse.set(Phase::Over);
            self.interrupt_all();
            self.clock().next_interrupt = Some(Instant::now() + INTERRUPT_INTERVAL);
        }
        if awaits_datagrams {
            let rtt = self.line.link().and_then(crate::link::Link::rtt);
            let clock = self.clock();
            let since = (clock.origin, Instant::now());
            clock.quiet = Some(Quiet::new(since, expected, units, rtt));
        }
    }

    /// Clients' connections are read by this thread, so that theirs does nothing but transactions.
    fn note_connections_before(&mut self) {
        if self.threads().has(Part::Client) && self.tcp_samples.is_some() {
            let readings = tcp_samples::read(&self.setup.end).into_iter().zip(0..);
            self.measured.connections = readings
                .filter_map(|(reading, flow)| reading.map(|reading| (flow, (reading, reading))))
                .collect();
        }
    }

    fn note_connections_after(&mut self) {
        for (&flow, (_, after)) in &mut self.measured.connections {
            *after = net::tcp_info(self.setup.end.flow(flow)).unwrap_or(*after);
        }
    }
}
