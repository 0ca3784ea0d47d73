//! The main thread of a test: start, time, intervals, end.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use proto::{EventBody, FailureCode, Interval, LinkMessage, Role, SessionState, SinkReport};

use super::Brief;
use super::cuts::Cuts;
use super::drain::{self, Drain, Step};
use super::intervals::Intervals;
use super::outages::Outages;
use super::quiet::Quiet;
use super::setup::{STEP_LIMIT, Setup};
use super::setup_source::wait_for_flows_ready;
use super::tcp_samples::{self, TcpSamples};
use super::threads::Threads;
use crate::Supply;
use crate::compose;
use crate::gate::{Gate, Phase, Pulse};
use crate::host_window::{Meter, Occurred};
use crate::kind::{Cut, DrainCut, Finished, Measured, Part, Transport};
use crate::line::{Failure, Line, Signal};
use crate::streams;
use crate::thread_times::ThreadTimes;
use crate::traffic::Traffic;

mod closing;

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
/// Metrics and flows of an interval: one of ours has fewer than half as many.
const FIGURES_AT_MOST: usize = 256;
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
    own_intervals: Vec<Interval>,
    peer_intervals: Vec<Interval>,
    peer_lag: Option<Duration>,
    peer_report: Option<SinkReport>,
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
            own_intervals: Vec::new(),
            peer_intervals: Vec::new(),
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
        let is_sampled =
            timed > 0 && self.brief.kind.transport(&self.brief.settings) == Transport::Tcp;
        self.tcp_samples = is_sampled.then(|| TcpSamples::begin(&self.setup.end));
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
            started_at: compose::wall_clock(origin).into(),
        });
        Ok(())
    }

    fn start_source(&mut self, timed: usize, is_measured_at_once: bool) -> Result<(), Failure> {
        if self.brief.kind.transport(&self.brief.settings) == Transport::Tcp {
            wait_for_flows_ready(self.line, self.brief.settings.flows, |_| {})?;
        }
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
            let limit = self.line.patience(super::setup_source::FLOWS_LIMIT);
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
            intervals: self.makes_intervals().then(|| Intervals::new(origin, settings)),
            cuts: is_cut_by_offset.then(|| Cuts::new(origin, settings.warmup, settings.flows)),
            drain: threads.has(Part::Receiver).then(|| Drain::new(origin, settings, drain::LIMIT)),
            outages: self
                .expects_arrivals()
                .then(|| Outages::new(origin, settings, self.line.round_trip())),
            quiet: None,
        }
    }

    fn transport(&self) -> Transport {
        self.brief.kind.transport(&self.brief.settings)
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

    fn has_cut_streams(&self) -> bool {
        self.measured.drain_cut.is_some() && self.transport() == Transport::Tcp
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
        } else if self.brief.kind.transport(&self.brief.settings) == Transport::Tcp {
            self.setup.end.flows.iter().for_each(net::end_sending);
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

    /// Notes what has come when the window is over, and ends a drain that takes too long.
    fn look_at_drain(&mut self, now: Instant) {
        if self.threads().are_done() {
            self.clock().drain = None;
        }
        let needed = self.still_needed(now);
        match self.clock().drain.as_mut().and_then(|drain| drain.step(now, needed)) {
            Some(Step::Hold) => {
                let (held, count) = (self.received_until(now), self.threads().count());
                let clock = self.clock();
                clock.drain.iter_mut().for_each(|drain| drain.hold(held.clone()));
                clock.intervals.iter_mut().for_each(|intervals| intervals.hold(now, count));
            }
            Some(Step::Cut(cut)) => {
                self.measured.drain_cut = Some(cut);
                for flow in &self.setup.end.flows {
                    net::end_reading(flow);
                    // What is in the send buffers would go on into the next test.
                    let _ = net::reset_on_close(flow.as_fd());
                }
            }
            None => {}
        }
    }

    /// How long the rest of the streams takes at the rate until now, once the sender has told how much it sent.
    fn still_needed(&self, now: Instant) -> Option<Duration> {
        if self.transport() != Transport::Tcp {
            return None;
        }
        let sent: u64 = self.measured.peer_sent.as_ref()?.iter().map(|flow| flow.bytes).sum();
        let received = self.threads().count().bytes.saturating_sub(self.bytes_before_window);
        let begin = self.clock.as_ref()?.origin + self.brief.settings.warmup;
        let elapsed = now.saturating_duration_since(begin).as_secs_f64();
        let seconds = sent.saturating_sub(received) as f64 * elapsed / received as f64;
        let needed = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        Some(needed.min(drain::LIMIT * 2))
    }

    fn received_until(&self, now: Instant) -> DrainCut {
        let end = &self.setup.end;
        let segments = |flow| {
            let info = net::tcp_info(end.flow(flow));
            info.and_then(|info| info.data_segments_received)
        };
        let flows = self
            .threads()
            .receipts()
            .map(|(flow, _, counter)| (flow, (counter.read().bytes, segments(flow))));
        DrainCut { at: now, flows: flows.collect() }
    }

    /// Tells the peer what was sent, once all tasks have ended; receivers of datagrams wait for the
    /// peer's word themselves, so there it is told when the senders have.
    fn tell_stop(&mut self) -> Result<(), Failure> {
        let threads = self.threads();
        let has_timed = threads.timed_count() > 0;
        let is_early =
            has_timed && self.brief.kind.transport(&self.brief.settings) == Transport::Udp;
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

    /// Streams that were cut make room on the path for the last words.
    fn drop_what_was_cut(&mut self) {
        if self.has_cut_streams() && !self.threads().has(Part::Sender) {
            self.setup.end.flows.iter().for_each(net::disconnect);
        }
    }

    fn take_message(&mut self, message: LinkMessage) {
        match message {
            LinkMessage::Interval { interval } => self.take_interval(interval),
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

    /// How much later than this end the peer began, at most: it has told of an interval no sooner than it ended.
    fn note_peer_lag(&mut self, interval: &Interval) {
        let Some(clock) = &self.clock else {
            return;
        };
        let elapsed = clock.origin.elapsed().as_secs_f64();
        let lag = Duration::try_from_secs_f64(elapsed - interval.end_seconds).unwrap_or_default();
        self.peer_lag = Some(self.peer_lag.map_or(lag, |least| least.min(lag)));
    }

    /// What a receiving sink saw goes out with this sender's own view of it; what a sending sink saw of its
    /// connections only completes what was seen here.
    fn take_interval(&mut self, mut interval: Interval) {
        self.note_peer_lag(&interval);
        // A peer that has more to say than the test has intervals would only fill this host's memory.
        let most = self.brief.settings.intervals_at_most(self.threads().has(Part::Sender));
        let is_too_many = self.peer_intervals.len() >= most;
        if is_too_many || interval.metrics.len() + interval.flows.len() > FIGURES_AT_MOST {
            return;
        }
        let has_senders = self.threads().has(Part::Sender);
        if let Some(samples) = self.tcp_samples.as_mut().filter(|_| has_senders) {
            samples.add_to(&mut interval, &self.setup.end);
        }
        self.peer_intervals.push(interval.clone());
        if has_senders {
            self.brief.outbox.event(EventBody::Interval { interval });
        }
    }

    fn take_stop(&mut self, flows: Vec<proto::SentCount>) {
        let expected = flows.iter().map(|flow| flow.packets).sum();
        self.measured.peer_sent = Some(flows);
        let threads = self.threads();
        let (is_timed, has_servers) = (threads.timed_count() > 0, threads.has(Part::Server));
        let awaits_datagrams = threads.has(Part::Receiver)
            && self.brief.kind.transport(&self.brief.settings) == Transport::Udp;
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

    fn report_interval(&mut self, now: Instant) -> Result<(), Failure> {
        if let Some(meter) = self.meter.as_mut() {
            meter.look();
        }
        let interval = self.make_interval(now).filter(|interval| !is_empty_drain(interval));
        self.own_intervals.extend(interval.clone());
        let Some(interval) = interval else {
            return Ok(());
        };
        self.brief.outbox.event(EventBody::Interval { interval: interval.clone() });
        if self.role() == Role::Sink {
            self.line.tell(&LinkMessage::Interval { interval })?;
        }
        Ok(())
    }

    fn make_interval(&mut self, now: Instant) -> Option<Interval> {
        let count = self.threads().count();
        let (mut interval, count) = self.clock().intervals.as_mut()?.cut(now, count);
        let seconds = interval.end_seconds - interval.start_seconds;
        if seconds <= 0.0 {
            return None;
        }
        if self.threads().are_measuring() {
            interval.metrics = self.brief.kind.interval(&self.setup.end, count, seconds);
        }
        let is_source_of_streams = self.role() == Role::Source && self.threads().has(Part::Sender);
        if let Some(samples) = self.tcp_samples.as_mut().filter(|_| !is_source_of_streams) {
            samples.add_to(&mut interval, &self.setup.end);
        }
        Some(interval)
    }

    /// A sink that only sends makes intervals of what its connections tell.
    fn makes_intervals(&self) -> bool {
        let tells_connections = self.role() == Role::Sink && self.tcp_samples.is_some();
        self.threads().are_measuring() || tells_connections
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

/// Nothing came any more: an interval of it says nothing.
fn is_empty_drain(interval: &Interval) -> bool {
    interval.drain && interval.metrics.values().all(|value| *value == 0.0)
}
