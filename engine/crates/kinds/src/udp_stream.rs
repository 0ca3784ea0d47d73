//! UDP stream: datagrams as fast as `send()` takes them, or at a rate; sent and received apart (netperf `UDP_STREAM`).

use std::sync::Arc;
use std::time::Instant;

use proto::{Metrics, SinkReport};
use stats::{Jitter, SequenceWindow};

use crate::counter::{Count, Counter};
use crate::datagram_header::Header;
use crate::features;
use crate::gate::Phase;
use crate::kind::{Cue, End, Finished, Kind, Measured, Outcome, Part, Task, Transport};
use crate::pacer::Pacer;
use crate::settings::{SendMode, Settings};
use crate::streams::{
    self, Datagrams, Order, Received, Sent, joint_seconds, other, receivers, senders,
};
use crate::udp_batches::{receive_segments, send_batches};

/// The smallest messages can't carry a mark: the warm-up ends with so many datagrams that are one byte longer.
pub const MARKERS: usize = 3;
/// A larger datagram than asked for is seen to be larger.
const SPARE_BYTES: usize = 64;
/// Sequence numbers that all flows together remember.
const REMEMBERED_SEQUENCES: usize = 1 << 24;
const REMEMBERED_SEQUENCES_PER_FLOW: usize = 1 << 20;
/// More datagrams a day than this no flow has, whatever number a peer writes.
const NUMBERED_AT_MOST: u64 = 1 << 44;

/// The kind.
pub struct UdpStream;

impl Kind for UdpStream {
    fn name(&self) -> &'static str {
        "udp_stream"
    }

    fn transport(&self, _settings: &Settings) -> Transport {
        Transport::Udp
    }

    fn check(&self, spec: &proto::SessionSpec) -> Result<(), String> {
        let settings = Settings::read(&spec.params)?;
        if settings.send_mode != SendMode::Segmentation {
            return Ok(());
        }
        let sends = settings.sends(spec.role).then_some("udp_segmentation");
        let receives = settings.sends(other(spec.role)).then_some("udp_receive_offload");
        let needed: Vec<&str> = sends.into_iter().chain(receives).collect();
        features::missing(spec.role, &needed, &net::features()).map_or(Ok(()), Err)
    }

    fn tasks(&self, end: &Arc<End>) -> Vec<Task> {
        let flows = || 0..end.settings.flows;
        let mode = end.settings.send_mode;
        let mut tasks = Vec::new();
        if end.settings.sends(end.role) {
            let send = if mode == SendMode::Send { send_datagrams } else { send_batches };
            tasks.extend(flows().map(|flow| Task::new(Part::Sender, flow, send)));
        }
        if end.settings.sends(other(end.role)) {
            let is_segmented = mode == SendMode::Segmentation;
            let receive = if is_segmented { receive_segments } else { receive_datagrams };
            tasks.extend(flows().map(|flow| Task::new(Part::Receiver, flow, receive)));
        }
        tasks
    }

    fn interval(&self, end: &End, count: Count, seconds: f64) -> Metrics {
        let prefix = end.settings.prefix(end.role);
        Metrics::from([
            (format!("{prefix}throughput_bps"), count.bytes as f64 * 8.0 / seconds),
            (format!("{prefix}packets_per_second"), count.units as f64 / seconds),
        ])
    }

    fn report(&self, end: &End, measured: &Measured) -> SinkReport {
        let mut report =
            SinkReport { sent: streams::sent_counts(measured), ..SinkReport::default() };
        report_sent(end, measured, &mut report);
        report_received(end, measured, &mut report);
        if end.settings.send_mode == SendMode::Segmentation {
            report.flags.push("segmentation_offload".to_owned());
        }
        report
    }
}

/// Sends until the test is over. A send that the kernel refuses is counted and consumes no sequence number.
fn send_datagrams(end: &End, cue: &Cue) -> Finished {
    let socket = end.flow(cue.flow);
    let mut sent = Sent { flow: cue.flow, ..Sent::default() };
    let Some(opened_at) = cue.start() else {
        return Finished { outcome: Outcome::Sent(sent), fault: None };
    };
    let mut message = Message::new(end.datagram_header(), end.settings.message_bytes, cue.flow);
    let mut pacer = Pacer::new(end.settings.share(cue.flow), end.settings.message_bytes, opened_at);
    let mut begin = opened_at;
    // Not what the phase is by now: a thread that the machine held up has the warm-up's end still before it.
    let mut phase = Phase::first(!end.settings.warmup.is_zero());
    message.is_measured = phase == Phase::Measured;
    let fault = loop {
        let now_phase =
            pacer.as_mut().map_or_else(|| cue.pulse.phase(), |pacer| pacer.wait(&cue.pulse));
        if now_phase != phase {
            if phase == Phase::Warmup {
                message.is_measured = true;
                message.send_markers(socket);
                begin = Instant::now();
                if let Some(pacer) = pacer.as_mut() {
                    pacer.begin_window();
                }
                (sent.messages, sent.failed) = (0, 0);
            }
            phase = now_phase;
            if phase == Phase::Over {
                break None;
            }
        }
        message.stamp(opened_at);
        match net::send(socket, message.bytes()) {
            Ok(_) => {
                sent.messages += 1;
                message.sequence += 1;
            }
            Err(net::Errno::INTR) => {}
            Err(_) if cue.pulse.phase() == Phase::Over => break None,
            // A full queue, a path that is cut, or a sink whose port closed for a moment: the link tells of a lost peer.
            Err(error) if net::may_pass(error) => sent.failed += 1,
            Err(error) => break Some(format!("flow {}: send failed: {error}", cue.flow)),
        }
    };
    sent.missed = pacer.map(|pacer| pacer.missed()).unwrap_or_default();
    sent.bytes = sent.messages * end.settings.message_bytes as u64;
    let has_begun = phase != Phase::Warmup || end.settings.warmup.is_zero();
    sent.span = has_begun.then(|| (begin, Instant::now()));
    Finished { outcome: Outcome::Sent(sent), fault }
}

/// A datagram being sent again and again with another header.
struct Message {
    header: Header,
    payload: Vec<u8>,
    length: usize,
    sequence: u64,
    is_measured: bool,
}

impl Message {
    fn new(header: Header, length: usize, flow: u32) -> Self {
        let mut payload = streams::payload(length + 1);
        header.begin(&mut payload, flow);
        Self { header, payload, length, sequence: 0, is_measured: false }
    }

    fn bytes(&self) -> &[u8] {
        &self.payload[..self.length]
    }

    #[inline]
    fn stamp(&mut self, opened_at: Instant) {
        let nanoseconds = if self.header.has_time() { nanoseconds_since(opened_at) } else { 0 };
        self.header.write(&mut self.payload, self.sequence, self.is_measured, nanoseconds);
    }

    /// Ends the warm-up of messages that carry no header.
    fn send_markers(&self, socket: std::os::fd::BorrowedFd<'_>) {
        if self.header.is_blind() {
            for _ in 0..MARKERS {
                // One of them will do.
                let _ = net::send(socket, &self.payload);
            }
        }
    }
}

/// Nanoseconds of a test of a day fit u64 600,000 times over.
#[allow(clippy::cast_possible_truncation)]
#[inline]
pub fn nanoseconds_since(begin: Instant) -> u64 {
    begin.elapsed().as_nanos() as u64
}

/// Receives until the session ends the flow; the clock is read once per datagram.
fn receive_datagrams(end: &End, cue: &Cue) -> Finished {
    let socket = end.flow(cue.flow);
    let mut buffer = vec![0; end.settings.message_bytes + SPARE_BYTES];
    let mut receiver = Receiver::new(end);
    let fault = loop {
        match net::receive(socket, &mut buffer) {
            Ok(0) => break None,
            Ok(bytes) => receiver.take(&buffer[..bytes], cue, Instant::now),
            Err(error) if net::may_pass(error) => {}
            Err(error) => break Some(format!("flow {}: receive failed: {error}", cue.flow)),
        }
    };
    Finished { outcome: Outcome::Received(receiver.finish(cue.flow)), fault }
}

/// How a receiver of messages without a header knows that the window has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Begin {
    /// It hasn't, yet.
    Awaited,
    /// By this host's own clock: a socket that is always full may have dropped every marker.
    ByClock,
    /// By a marker, or there was no warm-up.
    Known,
}

/// One flow's counts while they grow.
pub struct Receiver {
    header: Header,
    message_bytes: usize,
    latest_sequence: u64,
    /// The least number of the measured window that has come; without a warm-up the first that there is.
    first_sequence: u64,
    begin: Begin,
    sequences: SequenceWindow,
    jitter: Jitter,
    epoch: Instant,
    span: Option<(Instant, Instant)>,
    all_bytes: u64,
    all_units: u64,
    unnumbered: u64,
    strange: u64,
    /// Receives, where they aren't one per datagram.
    pub receives: u64,
}

impl Receiver {
    /// Nothing yet.
    pub fn new(end: &End) -> Self {
        let share = REMEMBERED_SEQUENCES / end.settings.flows as usize;
        Self {
            header: end.datagram_header(),
            message_bytes: end.settings.message_bytes,
            latest_sequence: 0,
            first_sequence: if end.settings.warmup.is_zero() { 0 } else { u64::MAX },
            begin: if end.settings.warmup.is_zero() { Begin::Known } else { Begin::Awaited },
            sequences: SequenceWindow::new(share.min(REMEMBERED_SEQUENCES_PER_FLOW)),
            jitter: Jitter::default(),
            epoch: Instant::now(),
            span: None,
            all_bytes: 0,
            all_units: 0,
            unnumbered: 0,
            strange: 0,
            receives: 0,
        }
    }

    /// Counts one datagram, which arrived when `clock` says.
    #[inline]
    pub fn take(&mut self, datagram: &[u8], cue: &Cue, clock: impl FnOnce() -> Instant) {
        if datagram.len() != self.message_bytes {
            self.take_other(datagram);
            return;
        }
        let is_counted = if self.header.is_blind() {
            Some(self.take_unnumbered(cue, clock))
        } else {
            self.take_numbered(datagram, clock)
        };
        let Some(unique) = is_counted else {
            return;
        };
        self.all_bytes += datagram.len() as u64;
        self.all_units += 1;
        cue.counter.set_bytes(self.all_bytes);
        cue.counter.set_units(self.all_units);
        cue.counter.set_measured_units(unique);
        if self.first_sequence <= self.latest_sequence {
            self.tell_numbers(&cue.counter);
        }
    }

    /// Tells how many datagrams the numbers say were sent.
    #[inline]
    fn tell_numbers(&self, counter: &Counter) {
        let numbered = self.latest_sequence - self.first_sequence + 1;
        counter.set_numbered(numbered.min(NUMBERED_AT_MOST));
        if let Some(seconds) = self.jitter.seconds() {
            counter.set_jitter_seconds(seconds);
        }
    }

    fn take_other(&mut self, datagram: &[u8]) {
        if !self.header.is_blind() || datagram.len() != self.message_bytes + 1 {
            self.note_strange(datagram);
        } else if self.begin != Begin::Known {
            // What the clock took for the window before was still the warm-up's.
            (self.begin, self.unnumbered, self.span) = (Begin::Known, 0, None);
        }
    }

    /// Repeats of the session's own set-up come late where a thousand flows register at once.
    #[cold]
    fn note_strange(&mut self, datagram: &[u8]) {
        self.strange += u64::from(!proto::wire::is_udp_setup(datagram));
    }

    /// Measured datagrams so far; none for a stranger.
    #[inline]
    fn take_numbered(&mut self, datagram: &[u8], clock: impl FnOnce() -> Instant) -> Option<u64> {
        let Some(said) = self.header.read(datagram, self.latest_sequence) else {
            self.note_strange(datagram);
            return None;
        };
        self.latest_sequence = self.latest_sequence.max(said.sequence);
        if said.is_measured {
            let now = clock();
            self.first_sequence = self.first_sequence.min(said.sequence);
            self.sequences.record(said.sequence);
            if let Some(sent) = said.sent_nanoseconds {
                // As with the sender's: a test's nanoseconds fit.
                #[allow(clippy::cast_possible_truncation)]
                let arrived = now.duration_since(self.epoch).as_nanos() as u64;
                self.jitter.record(said.sequence, sent, arrived);
            }
            self.note_arrival(now);
        }
        Some(self.sequences.unique)
    }

    #[inline]
    fn take_unnumbered(&mut self, cue: &Cue, clock: impl FnOnce() -> Instant) -> u64 {
        if self.begin == Begin::Awaited && cue.pulse.phase() != Phase::Warmup {
            self.begin = Begin::ByClock;
        }
        if self.begin != Begin::Awaited {
            self.unnumbered += 1;
            self.note_arrival(clock());
        }
        self.unnumbered
    }

    #[inline]
    fn note_arrival(&mut self, now: Instant) {
        self.span = Some((self.span.map_or(now, |span| span.0), now));
    }

    /// What it comes to.
    pub fn finish(self, flow: u32) -> Received {
        let has_header = !self.header.is_blind();
        let unique = if has_header { self.sequences.unique } else { self.unnumbered };
        let order = has_header.then_some(Order {
            duplicates: self.sequences.duplicates,
            reordered: self.sequences.out_of_order,
            too_late: self.sequences.too_late,
            jitter_seconds: self.jitter.seconds(),
        });
        Received {
            flow,
            bytes: unique * self.message_bytes as u64,
            span: self.span,
            data_segments: None,
            datagrams: Some(Datagrams {
                unique,
                order,
                strange: self.strange,
                is_cut_by_clock: !has_header && self.begin == Begin::ByClock,
                per_receive: (self.receives > 0)
                    .then(|| self.all_units as f64 / self.receives as f64),
            }),
        }
    }
}

fn report_sent(end: &End, measured: &Measured, report: &mut SinkReport) {
    let Some(seconds) = joint_seconds(senders(measured).filter_map(|sent| sent.span)) else {
        return;
    };
    let prefix = end.settings.prefix(other(end.role));
    let messages: u64 = senders(measured).map(|sent| sent.messages).sum();
    let bytes: u64 = senders(measured).map(|sent| sent.bytes).sum();
    let mut set = |key: &str, value: f64| report.metrics.insert(format!("{prefix}{key}"), value);
    set("send_throughput_bps", bytes as f64 * 8.0 / seconds);
    set("send_packets_per_second", messages as f64 / seconds);
    set("sent_packets", messages as f64);
    if senders(measured).any(|sent| sent.failed > 0) {
        report.flags.push("send_errors".to_owned());
    }
    streams::flag_rate(end, bytes, seconds, report);
    streams::flag_missed(end, measured, seconds, report);
}

fn report_received(end: &End, measured: &Measured, report: &mut SinkReport) {
    report.flows = streams::flows(end, |flow| {
        receivers(measured)
            .filter(|received| received.flow == flow)
            .map(|received| received.bytes)
            .sum()
    });
    if receivers(measured).next().is_none() {
        return;
    }
    let prefix = end.settings.prefix(end.role);
    let counts: Vec<Datagrams> =
        receivers(measured).filter_map(|received| received.datagrams).collect();
    let unique: u64 = counts.iter().map(|count| count.unique).sum();
    let mut set = |key: &str, value: f64| report.metrics.insert(format!("{prefix}{key}"), value);
    set("received_packets", unique as f64);
    if measured.drain_cut.is_some() {
        // How many of the others are still on their way nobody knows.
        report.flags.push("drain_cut".to_owned());
    } else if let Some(peer_sent) = &measured.peer_sent {
        let sent: u64 = peer_sent.iter().map(|flow| flow.packets).sum();
        match sent.checked_sub(unique) {
            Some(lost) => {
                set("lost_packets", lost as f64);
                if sent > 0 {
                    set("loss_ratio", lost as f64 / sent as f64);
                }
            }
            // Duplicates that can't be told from others: how many were lost is anyone's guess.
            None => report.flags.push("loss_unknown".to_owned()),
        }
    }
    if unique > 0 && counts.iter().any(|count| count.order.is_none()) {
        report.flags.push("duplicates_unseen".to_owned());
    }
    report_order(prefix, &counts, report);
    let Some(seconds) = received_seconds(end, measured) else {
        return;
    };
    let bytes: u64 = receivers(measured).map(|received| received.bytes).sum();
    report.metrics.insert(format!("{prefix}throughput_bps"), bytes as f64 * 8.0 / seconds);
    report.metrics.insert(format!("{prefix}packets_per_second"), unique as f64 / seconds);
    let begin = receivers(measured).filter_map(|received| received.span).map(|span| span.0).min();
    report.window = crate::compose::window(end, begin, seconds, bytes);
}

/// The window of the receivers. From first to last arrival it would be one spacing short (at a datagram a second, a
/// fifth of five seconds), and much shorter when the path lets nothing through at the end: a test that came to its end
/// was sent for its whole duration.
fn received_seconds(end: &End, measured: &Measured) -> Option<f64> {
    let spans = receivers(measured).filter_map(|received| received.span);
    let (first, last) =
        spans.reduce(|(first, last), (begin, end)| (first.min(begin), last.max(end)))?;
    let arrivals = last.saturating_duration_since(first);
    let is_whole = measured.peer_sent.is_some();
    let window = if is_whole { arrivals.max(end.settings.duration) } else { arrivals };
    (!window.is_zero()).then_some(window.as_secs_f64())
}

fn report_order(prefix: &str, counts: &[Datagrams], report: &mut SinkReport) {
    if counts.iter().any(|count| count.strange > 0) {
        report.flags.push("strange_datagrams".to_owned());
    }
    if counts.iter().any(|count| count.is_cut_by_clock) {
        report.flags.push("warmup_cut_approximate".to_owned());
    }
    let Some(orders) = counts.iter().map(|count| count.order).collect::<Option<Vec<Order>>>()
    else {
        return;
    };
    let mut set = |key: &str, value: f64| report.metrics.insert(format!("{prefix}{key}"), value);
    set("duplicate_packets", orders.iter().map(|order| order.duplicates).sum::<u64>() as f64);
    set("out_of_order_packets", orders.iter().map(|order| order.reordered).sum::<u64>() as f64);
    let jitters: Vec<f64> = orders.iter().filter_map(|order| order.jitter_seconds).collect();
    if !jitters.is_empty() {
        set("jitter_seconds", jitters.iter().sum::<f64>() / jitters.len() as f64);
    }
    if orders.iter().any(|order| order.too_late > 0) {
        report.flags.push("late_datagrams".to_owned());
    }
}

#[cfg(test)]
#[path = "udp_stream_tests.rs"]
mod tests;
