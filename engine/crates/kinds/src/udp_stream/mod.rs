//! UDP stream: datagrams as fast as `send()` takes them, or at a rate; sent and received apart (netperf `UDP_STREAM`).

mod batches;
mod receiver;

use std::sync::Arc;
use std::time::Instant;

use proto::{EndReport, Metrics};

use self::batches::{receive_segments, send_batches};
use self::receiver::Receiver;

use crate::counter::Count;
use crate::datagram_header::Header;
use crate::end::End;
use crate::features;
use crate::gate::Phase;
use crate::kind::Kind;
use crate::measurements::{Datagrams, Finished, Measured, Order, Outcome, Sent};
use crate::pacer::Pacer;
use crate::part::Part;
use crate::roles::other;
use crate::settings::{SendMode, Settings};
use crate::streams::{self, joint_seconds, receivers, senders};
use crate::task::{Cue, Task};
use crate::transport::{Transport, Udp};

/// The smallest messages can't carry a mark: the warm-up ends with so many datagrams that are one byte longer.
pub const MARKERS: usize = 3;
/// A larger datagram than asked for is seen to be larger.
const SPARE_BYTES: usize = 64;

/// The kind.
pub struct UdpStream;

impl Kind for UdpStream {
    fn name(&self) -> &'static str {
        "udp_stream"
    }

    fn transport(&self, _settings: &Settings) -> &'static dyn Transport {
        &Udp
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

    fn report(&self, end: &End, measured: &Measured) -> EndReport {
        let mut report = EndReport { sent: streams::sent_counts(measured), ..EndReport::default() };
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

fn report_sent(end: &End, measured: &Measured, report: &mut EndReport) {
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

fn report_received(end: &End, measured: &Measured, report: &mut EndReport) {
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
    report.window = crate::window::window(end, begin, seconds, bytes);
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

fn report_order(prefix: &str, counts: &[Datagrams], report: &mut EndReport) {
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
mod tests;
