//! The end of a test: the last words of both ends, this end's half, and the result.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;
use std::time::{Duration, Instant, SystemTime};

use proto::{EndReport, EngineVersions, EventBody, FailureCode, LinkMessage, Reason, Role};

use super::{CANCEL_COLLECT_LIMIT, COLLECT_LIMIT, Conduct, FAREWELL_LIMIT, INTERRUPT_INTERVAL};
use crate::failure::Failure;
use crate::flow::gate::Phase;
use crate::flow::part::Part;
use crate::host_window::{self, Scene};
use crate::limits::arrival;
use crate::line::link::Link;
use crate::line::signal::Signal;
use crate::measurements::Outcome;
use crate::outcome::buffers;
use crate::outcome::streams;
use crate::outcome::window;
use crate::session::compose::{self, Halves};
use crate::session::tell_failure;

impl Conduct<'_> {
    /// The last interval ends with the last arrival, not with the wait after it.
    fn last_arrival(&self) -> Option<Instant> {
        let spans = self.measured.outcomes.iter().filter_map(|outcome| match outcome {
            Outcome::Received(received) => received.span,
            Outcome::Transacted(transacted) => transacted.span,
            Outcome::Own(own) => own.span,
            // At a sink that only sends, the last thing that happens is the end of sending.
            Outcome::Sent(sent) => sent.span.filter(|_| self.sends_only()),
            Outcome::Served => None,
        });
        spans.map(|span| span.1).max()
    }

    /// An end that measures nothing has its interface's counters to tell until the end.
    fn end_of_silence(&mut self) -> Option<Instant> {
        let is_silent = !self.makes_intervals();
        is_silent.then(|| self.clock().origin)
    }

    fn sends_only(&self) -> bool {
        !self.threads().are_measuring() && self.makes_intervals()
    }

    /// This end's half, after its last byte.
    fn half(&mut self) -> EndReport {
        self.freeze_meter();
        if let (Some(clock), Some(threads)) = (self.clock.as_mut(), self.threads.as_ref()) {
            if let Some(mut cuts) = clock.cuts.take() {
                cuts.finish(threads);
                self.measured.cuts = cuts.into_found();
            }
        }
        let mut report = self.brief.kind.report(&self.setup.end, &self.measured);
        let origin = window::wall_clock(self.clock().origin);
        report.window_begin_seconds = report.window.as_ref().map(|window| {
            // What is told in whole microseconds may lie a moment before the clock's own begin.
            let begin = SystemTime::from(window.started_at).duration_since(origin);
            begin.unwrap_or_default().as_secs_f64()
        });
        if let Some(occurred) = self.occurred.take() {
            host_window::add_to(&mut report, &occurred, &self.scene());
        }
        buffers::tell(&self.setup.end, self.brief.transport, &mut report);
        let origin = self.clock().origin;
        report.threads = self.threads().uses(origin);
        if let Some(outages) = self.clock().outages.take() {
            report.outages = outages.finish(Instant::now());
        }
        report.addresses = self.traffic_addresses();
        report.overflowed_packets = self.overflowed();
        if self.threads().affinity_failed() {
            report.flags.push("affinity_not_set".to_owned());
        }
        report
    }

    /// What the window is seen in.
    fn scene(&self) -> Scene<'_> {
        let (role, settings) = (self.role(), &self.brief.settings);
        let transport = self.brief.transport;
        let link = self.line.link();
        Scene {
            kind: &self.brief.spec.kind,
            role,
            facts: &self.setup.facts,
            surroundings: &self.brief.surroundings,
            link: self.link_addresses(),
            device: self.setup.end.local.device.as_deref(),
            pinned: &settings.end(role).cpus,
            has_connections: transport.has_connections(),
            is_tcp: !transport.has_datagrams(),
            tasks: self.brief.kind.own_traffic(&self.setup.end, &self.measured),
            rtt_seconds: link.and_then(Link::rtt).map_or(0.0, |rtt| rtt.as_secs_f64()),
        }
    }

    /// The last interval and, from a sink, the report; then the link may close.
    pub(super) fn part_ways(&mut self) -> Result<EndReport, Failure> {
        if let Some(last) = self.last_arrival().or_else(|| self.end_of_silence()) {
            // Datagrams may be seconds apart: an interval that ended with the last of them would show a peak.
            let end = self.clock().origin + self.brief.settings.total();
            let last = last.max(end.min(Instant::now()));
            self.report_interval(last)?;
            // Where the drain was long, that was the window's last interval, and this is the drain's.
            self.report_interval(last)?;
        }
        let own = self.half();
        if self.role() == Role::Source {
            return Ok(own);
        }
        self.line.tell(&LinkMessage::Report { report: Box::new(own.clone()) })?;
        self.line.expect_end();
        if let Some(link) = self.line.link() {
            link.end_sending();
        }
        let until = Instant::now() + self.line.patience(FAREWELL_LIMIT);
        // The source has what it needs; whether it says goodbye changes nothing.
        while let Ok(Some(signal)) = self.line.wait(until) {
            if matches!(signal, Signal::LinkLost(_)) {
                break;
            }
        }
        Ok(own)
    }

    /// Datagrams that found their sockets full, where datagrams are received.
    fn overflowed(&self) -> Option<u64> {
        let is_udp = self.brief.transport.has_datagrams();
        let flows = self.setup.end.flows.iter();
        let drops: Option<u64> = (is_udp && self.threads().has(Part::Receiver))
            .then(|| flows.map(|flow| net::socket_drops(flow).map(u64::from)).sum())?;
        drops.map(|drops| streams::dropped_datagrams(drops, &self.measured))
    }

    /// Both ends of the link: this one's, and the peer's.
    pub(super) fn link_addresses(&self) -> Option<(SocketAddr, SocketAddr)> {
        let socket = self.line.link()?.socket().as_fd();
        Some((net::local_address(socket).ok()?, net::peer_address(socket).ok()?))
    }

    /// The same of the measured traffic; none where it goes to another server than the sink.
    fn traffic_addresses(&self) -> Option<(IpAddr, IpAddr)> {
        if !self.brief.kind.goes_to_peer() {
            return None;
        }
        let of_flow = self.setup.end.flows.first().and_then(|flow| {
            let socket = flow.as_fd();
            net::local_address(socket).ok().zip(net::peer_address(socket).ok())
        });
        let (local, peer) = of_flow.or_else(|| self.link_addresses())?;
        Some((local.ip().to_canonical(), peer.ip().to_canonical()))
    }

    fn link_address(&self) -> Option<IpAddr> {
        let (local, _) = self.link_addresses()?;
        Some(local.ip())
    }

    pub(super) fn result(&mut self, own: EndReport) -> proto::RunResult {
        let role = self.role();
        let (own_facts, peer_facts) = (self.setup.facts.clone(), self.setup.peer_facts.clone());
        let (own_version, peer_version) =
            (proto::ENGINE_VERSION.to_owned(), self.setup.peer_version.clone());
        let (source, sink) = compose::place(role, own, self.peer_report.take());
        let begin_of = |half: Option<&EndReport>| {
            half.and_then(|half| half.window.as_ref().and(half.window_begin_seconds))
        };
        // The word of an interval took half a round trip.
        let back = self.line.link().and_then(Link::shortest_rtt).unwrap_or_default() / 2;
        let lag = self.peer_lag.unwrap_or_default().saturating_sub(back).as_secs_f64();
        let begin_seconds =
            begin_of(sink.as_ref()).map(|begin| begin + lag).or_else(|| begin_of(source.as_ref()));
        let ((source_facts, source_version), (sink_facts, sink_version)) = match role {
            Role::Source => ((own_facts, own_version), (peer_facts, peer_version)),
            Role::Sink => ((peer_facts, peer_version), (own_facts, own_version)),
        };
        let mut result = compose::result(
            (&self.brief.spec.kind, self.brief.kind.as_ref()),
            &self.brief.spec.params,
            Halves {
                source,
                sink,
                source_facts: Some(source_facts),
                sink_facts: Some(sink_facts),
                address: self.link_address(),
                versions: EngineVersions { source_version, sink_version },
                intervals: std::mem::take(&mut self.own_course),
                peer_intervals: std::mem::take(&mut self.peer_course),
            },
        );
        self.setup.path.note(&mut result);
        if let (Role::Source, Some(window)) = (role, result.window.as_mut()) {
            // By the source's wall clock, whoever measured.
            let origin = self.clock().origin;
            let begin = begin_seconds
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
                .unwrap_or(self.brief.settings.warmup);
            // A peer may say what it likes; it can't be in the future.
            let begin = begin.min(origin.elapsed());
            window.started_at = window::wall_clock(origin + begin).into();
        }
        result
    }

    /// The final event of a test that came to its end: one of which nothing arrived has failed.
    pub(super) fn conclude(&mut self, own: EndReport) -> EventBody {
        let mut result = self.result(own);
        // A sink knows only its own half: whether all arrived, the source tells.
        if self.role() == Role::Sink {
            return EventBody::finished(result);
        }
        let silence = self.brief.kind.silence(&result);
        let has_silent_flow = self.brief.kind.has_silent_flow(&result);
        result.flags.extend(arrival::flag(&result, silence.is_some(), has_silent_flow));
        result.flags.sort();
        match silence.map(|silence| arrival::failure(silence, &result)) {
            Some(reason) => EventBody::failure(FailureCode::NothingArrived, reason, Some(result)),
            None => EventBody::finished(result),
        }
    }

    /// Ends everything at once and keeps what was measured.
    pub(super) fn abandon(&mut self, mut failure: Failure) -> EventBody {
        if let Some(fault) = self.setup.path.fault() {
            failure.reason = Reason::joined([failure.reason, fault], "; ");
        }
        self.pulse.set(Phase::Over);
        self.gate.abort();
        if self.threads.is_some() {
            self.note_connections_after();
            self.interrupt_all();
        }
        tell_failure(self.line, &failure);
        self.collect(match failure.code {
            FailureCode::Cancelled | FailureCode::ControllerLost => CANCEL_COLLECT_LIMIT,
            _ => COLLECT_LIMIT,
        });
        let partial = (self.clock.is_some() && self.threads.is_some()).then(|| {
            if let Some(interval) = self.last_arrival().and_then(|last| self.make_interval(last)) {
                self.own_course.add(interval);
            }
            let own = self.half();
            self.result(own)
        });
        EventBody::failure(failure.code, failure.reason, partial)
    }

    /// Waits for the interrupted threads.
    fn collect(&mut self, limit: Duration) {
        let until = Instant::now() + limit;
        while self.threads.as_ref().is_some_and(|threads| !threads.are_done()) {
            let now = Instant::now();
            match self.line.next_of_any_kind(until.min(now + INTERRUPT_INTERVAL)) {
                Some(Signal::Done { task, finished, times }) => {
                    self.take_outcome(task, *finished, times);
                }
                Some(Signal::Link(message)) => self.take_message(message),
                Some(_) => {}
                None if now >= until => return,
                None => self.interrupt_all(),
            }
        }
    }
}
