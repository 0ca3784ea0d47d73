//! UDP stream: datagrams as fast as `send()` takes them, or at a rate; sent and received apart (netperf `UDP_STREAM`).

mod batches;
mod header;
mod limits;
mod receiver;
mod singles;

use std::sync::Arc;
use std::time::{Duration, Instant};

use proto::{EndReport, Metrics, Params, Reason, RunResult, SessionSpec, reason};

use self::batches::{receive_segments, send_batches};
use self::receiver::Receiver;
use self::singles::send_datagrams;

use crate::end::End;
use crate::features;
use crate::flow::counter::Count;
use crate::flow::part::Part;
use crate::host_window::OwnTraffic;
use crate::kind::Kind;
use crate::limits::arrival;
use crate::measurements::{Datagrams, Finished, Measured, Order, Outcome};
use crate::outcome::streams::{self, Stream, joint_seconds, receivers, senders};
use crate::roles::other;
use crate::settings::{Settings, text, unknown_word};
use crate::task::loops::receive_until_end;
use crate::task::{Cue, Task};
use crate::transport::{Transport, Udp};

pub use self::header::Header;

/// The smallest messages can't carry a mark: the warm-up ends with so many datagrams that are one byte longer.
pub const MARKERS: usize = 3;
/// A larger datagram than asked for is seen to be larger.
const SPARE_BYTES: usize = 64;

/// The kind.
#[derive(Clone, Copy)]
pub struct UdpStream {
    stream: Stream,
    send_mode: SendMode,
}

/// How datagrams are handed to the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SendMode {
    /// One by one.
    Send,
    /// Many a call (`sendmmsg()`).
    Many,
    /// Many as one, which the kernel or the interface splits (`UDP_SEGMENT`).
    Segmentation,
}

impl SendMode {
    fn read(params: &Params) -> Result<Self, Reason> {
        match text(params, "send_mode")? {
            "" | "send" => Ok(Self::Send),
            "sendmmsg" => Ok(Self::Many),
            "segmentation" => Ok(Self::Segmentation),
            other => Err(unknown_word("send_mode", other)),
        }
    }
}

/// Reads checked and filled parameters.
pub fn read(params: &Params, settings: &Settings) -> Result<Arc<dyn Kind>, Reason> {
    let kind =
        UdpStream { stream: Stream::read(params, settings)?, send_mode: SendMode::read(params)? };
    limits::check_rate(&kind.stream)?;
    Ok(Arc::new(kind))
}

impl Kind for UdpStream {
    fn transport(&self) -> &'static dyn Transport {
        &Udp
    }

    fn check(&self, spec: &SessionSpec, settings: &Settings) -> Result<(), Reason> {
        if self.send_mode != SendMode::Segmentation {
            return Ok(());
        }
        let sends = settings.sends(spec.role).then_some("udp_segmentation");
        let receives = settings.sends(other(spec.role)).then_some("udp_receive_offload");
        let needed: Vec<&str> = sends.into_iter().chain(receives).collect();
        features::missing(spec.role, &needed, &net::features()).map_or(Ok(()), Err)
    }

    fn check_flows(&self, end: &End) -> Result<(), Reason> {
        if self.send_mode != SendMode::Segmentation || !end.settings.sends(end.role) {
            return Ok(());
        }
        limits::check_segments(self.stream.message_bytes, &end.flows)
    }

    fn numbers_datagrams(&self, end: &End) -> bool {
        !self.header(end).is_blind()
    }

    fn spacing(&self) -> Duration {
        self.stream.spacing()
    }

    fn tasks(&self, end: &Arc<End>) -> Vec<Task> {
        let (kind, mode) = (*self, self.send_mode);
        let mut tasks = Vec::new();
        let mut add = |part, run: fn(&End, &Cue, Self) -> Finished| {
            let flows = 0..end.settings.flows;
            let task = |flow| Task::new(part, flow, move |end, cue| run(end, cue, kind));
            tasks.extend(flows.map(task));
        };
        if end.settings.sends(end.role) {
            let is_single = mode == SendMode::Send;
            add(Part::Sender, if is_single { send_datagrams } else { send_batches });
        }
        if end.settings.sends(other(end.role)) {
            let is_segmented = mode == SendMode::Segmentation;
            add(Part::Receiver, if is_segmented { receive_segments } else { receive_datagrams });
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
        report_sent(end, &self.stream, measured, &mut report);
        report_received(end, measured, &mut report);
        if self.send_mode == SendMode::Segmentation {
            report.flags.push("segmentation_offload".to_owned());
        }
        report
    }

    fn own_traffic(&self, end: &End, measured: &Measured) -> Option<OwnTraffic> {
        let arriving = match (&measured.peer_sent, end.settings.sends(other(end.role))) {
            (_, false) => &[],
            (Some(told), true) => told.as_slice(),
            // A lost peer tells nothing any more.
            (None, true) => return None,
        };
        let sent = streams::sent_counts(measured);
        Some(OwnTraffic::of_datagrams(self.stream.message_bytes, arriving, &sent))
    }

    fn silence(&self, result: &RunResult) -> Option<Reason> {
        arrival::silent_direction(result, |prefix| {
            let count = arrival::sent_in_vain(result, prefix)?;
            Some(reason!("says_no_datagram", count = count))
        })
    }

    fn has_silent_flow(&self, result: &RunResult) -> bool {
        arrival::has_silent_flow(result)
    }
}

impl UdpStream {
    /// What the datagrams carry about themselves.
    fn header(&self, end: &End) -> Header {
        Header::of(self.stream.message_bytes, end.are_small_numbered)
    }
}

/// Nanoseconds of a test of a day fit u64 600,000 times over.
#[allow(clippy::cast_possible_truncation)]
#[inline]
pub fn nanoseconds_since(begin: Instant) -> u64 {
    begin.elapsed().as_nanos() as u64
}

/// Receives until the session ends the flow; the clock is read once per datagram.
fn receive_datagrams(end: &End, cue: &Cue, kind: UdpStream) -> Finished {
    let socket = end.flow(cue.flow);
    let mut buffer = vec![0; kind.stream.message_bytes + SPARE_BYTES];
    let mut receiver = Receiver::new(end, kind);
    let fault = receive_until_end(cue, net::may_pass, || {
        let bytes = net::receive(socket, &mut buffer)?;
        if bytes > 0 {
            receiver.take(&buffer[..bytes], cue, Instant::now);
        }
        Ok(bytes > 0)
    });
    Finished { outcome: Outcome::Received(receiver.finish(cue.flow)), fault }
}

fn report_sent(end: &End, stream: &Stream, measured: &Measured, report: &mut EndReport) {
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
    streams::flag_rate(stream, bytes, seconds, report);
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
    report.window = crate::outcome::window::window(end, begin, seconds, bytes);
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
