//! The begin of a test: threads, sockets that are looked at, and who goes first.

use std::sync::Arc;
use std::time::{Duration, Instant};

use proto::{EventBody, FailureCode, LinkMessage, Role, SessionState, reason};

use super::{Clock, Conduct, OVERTIME_LIMIT};
use crate::failure::Failure;
use crate::flow::counter::Count;
use crate::flow::part::Part;
use crate::host_window::InterfaceWatch;
use crate::kind::Cut;
use crate::line::link::Link;
use crate::line::signal::Signal;
use crate::line::steps::{FLOWS_LIMIT, STEP_LIMIT};
use crate::line::traffic::Traffic;
use crate::outcome::window;
use crate::session::SPACINGS_MISSING;
use crate::session::cuts::Cuts;
use crate::session::datagram_samples::DatagramSamples;
use crate::session::drain;
use crate::session::drain::Drain;
use crate::session::intervals::Intervals;
use crate::session::outages::Outages;
use crate::session::tcp_samples::TcpSamples;
use crate::session::threads::Threads;

/// How often a sink that waits for the start looks for traffic.
const TRAFFIC_LOOK_INTERVAL: Duration = Duration::from_millis(2);

impl Conduct<'_> {
    pub(super) fn start(&mut self) -> Result<(), Failure> {
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
            DatagramSamples::begin(&self.setup.end, self.threads(), self.brief.kind.as_ref());
        self.interface = self.watch_interface();
        let is_measured_at_once = self.brief.settings.warmup.is_zero();
        if is_measured_at_once {
            self.note_connections_before();
        }
        // The source begins before anything is sent. The sink begins when it hears of the start, or gets the first
        // traffic: earlier it would count the set-up's time, and before its threads are let go it would keep the
        // source waiting.
        match self.role() {
            Role::Source => self.start_source(timed, is_measured_at_once)?,
            Role::Sink => self.start_sink()?,
        }
        let opened_at = self.gate.open();
        let origin = self.begin_of_traffic(opened_at)?;
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

    pub(super) fn start_source(
        &mut self,
        timed: usize,
        is_measured_at_once: bool,
    ) -> Result<(), Failure> {
        self.brief.transport.wait_for_peer(self.line, self.brief.settings.flows)?;
        if !self.gate.wait_for_parked(timed, STEP_LIMIT) {
            return Err(Failure::internal(reason!("setup_threads_late")));
        }
        if is_measured_at_once {
            self.begin_meter();
        }
        self.line.tell(&LinkMessage::Start)
    }

    pub(super) fn start_sink(&mut self) -> Result<(), Failure> {
        let counters = self.threads().counters();
        let mut traffic = Traffic::new(Some(Arc::clone(&self.setup.end)), counters);
        // What the set-up brought is none of the test's.
        traffic.has_come();
        for index in 0..self.setup.end.flows.len() {
            let index =
                u32::try_from(index).map_err(|error| Failure::internal(error.to_string()))?;
            self.line.tell(&LinkMessage::FlowReady { index })?;
        }
        let mut give_up = Instant::now() + self.line.patience(FLOWS_LIMIT);
        // The word of the start may be lost on the way, and come a time-out later than the traffic behind it, which
        // the threads read and count already.
        while !traffic.has_come() {
            match self.line.wait(give_up.min(Instant::now() + TRAFFIC_LOOK_INTERVAL))? {
                Some(Signal::Link(LinkMessage::Start)) => return Ok(()),
                Some(signal) => {
                    self.handle(signal)?;
                    give_up = Instant::now() + self.line.patience(FLOWS_LIMIT);
                }
                None if Instant::now() >= give_up => {
                    return Err(Failure::new(FailureCode::PeerLost, reason!("setup_no_start")));
                }
                None => {}
            }
        }
        Ok(())
    }

    /// A source that only receives begins with the first traffic, or when the start has come to the sink: the word may be
    /// lost on the way, and come a time-out later. Its threads, let go at `opened_at`, count meanwhile.
    fn begin_of_traffic(&mut self, opened_at: Instant) -> Result<Instant, Failure> {
        let threads = self.threads();
        if self.role() == Role::Sink || threads.timed_count() > 0 || !threads.has(Part::Receiver) {
            return Ok(opened_at);
        }
        let give_up = opened_at + self.line.patience(FLOWS_LIMIT);
        let mut looked_at = opened_at;
        loop {
            let before = std::mem::replace(&mut looked_at, Instant::now());
            if self.has_begun() || looked_at >= give_up {
                return Ok(before);
            }
            match self.line.wait(looked_at + TRAFFIC_LOOK_INTERVAL)? {
                Some(word @ Signal::Link(_)) => {
                    self.line.keep(vec![word]);
                    return Ok(looked_at);
                }
                Some(signal) => self.handle(signal)?,
                None => {}
            }
        }
    }

    fn has_begun(&self) -> bool {
        let threads = self.threads();
        let has_start = self.line.link().is_some_and(Link::is_acknowledged);
        has_start || threads.are_done() || threads.count() != Count::default()
    }

    pub(super) fn begin_clock(&self, origin: Instant) -> Clock {
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
            outages: self.watch_outages(origin),
            quiet: None,
        }
    }

    /// The interface that the link's addresses tell: the window's counters show in the end whether it was that.
    pub(super) fn watch_interface(&self) -> Option<InterfaceWatch> {
        let (local, peer) = self.link_addresses()?;
        InterfaceWatch::begin(local, peer, self.setup.end.local.device.as_deref())
    }

    /// A watch where this end counts what comes, and something is to come all the time.
    fn watch_outages(&self, origin: Instant) -> Option<Outages> {
        let kind = &self.brief.kind;
        let allowed = kind.longest_silence().filter(|_| self.threads().are_measuring())?;
        let allowed = allowed.max(kind.spacing().saturating_mul(SPACINGS_MISSING));
        let total = self.brief.settings.total();
        Some(Outages::new(origin, total, allowed, self.line.round_trip()))
    }
}
