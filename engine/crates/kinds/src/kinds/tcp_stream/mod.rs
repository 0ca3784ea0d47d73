//! TCP stream: one blocking `send()` per message; the receiver's bytes count (netperf `TCP_STREAM`).

mod message;
mod pacing;
mod page_aligned;
mod sending;

use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use net::Errno;
use proto::{EndReport, Metrics, Params, RunResult, SessionSpec, TcpFigures};

use self::message::Message;
use self::page_aligned::PageAligned;
use self::sending::send_messages;

use crate::end::End;
use crate::features;
use crate::flow::counter::Count;
use crate::flow::loops::receive_until_end;
use crate::flow::part::Part;
use crate::flow::task::{Cue, Task};
use crate::kind::{Cut, Kind};
use crate::limits::arrival;
use crate::outcome::measurements::{
    DrainCut, Finished, FlowCut, Measured, Outcome, Received, Sent,
};
use crate::outcome::streams::{self, Stream, joint_seconds, receivers, senders};
use crate::outcome::tcp_window;
use crate::roles::other;
use crate::settings::{Settings, text};
use crate::transport::{Tcp, Transport};

/// Twice what netperf's and iperf3's receivers ask for at most: 1 % faster than theirs, and within the second-level cache.
const RECEIVE_BYTES: usize = 256 * 1024;
const LEAST_RECEIVE_BYTES: usize = 16 * 1024;
/// All flows' receive buffers together stay below this.
const RECEIVE_BYTES_OF_ALL_FLOWS: usize = 64 * 1024 * 1024;

/// The kind.
pub struct TcpStream {
    stream: Stream,
    send_mode: SendMode,
}

/// How messages are handed to the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SendMode {
    /// By `send()`.
    Send,
    /// From a file in memory (`sendfile()`).
    File,
    /// From the pages that they lie in (`MSG_ZEROCOPY`).
    ZeroCopy,
}

impl SendMode {
    fn read(params: &Params) -> Result<Self, String> {
        match text(params, "send_mode")? {
            "" | "send" => Ok(Self::Send),
            "sendfile" => Ok(Self::File),
            "zerocopy" => Ok(Self::ZeroCopy),
            other => Err(format!("send_mode is {other:?}; it is send, sendfile or zerocopy")),
        }
    }
}

/// Reads checked and filled parameters.
pub fn read(params: &Params, settings: &Settings) -> Result<Arc<dyn Kind>, String> {
    let stream = Stream::read(params, settings)?;
    Ok(Arc::new(TcpStream { stream, send_mode: SendMode::read(params)? }))
}

impl Kind for TcpStream {
    fn transport(&self) -> &'static dyn Transport {
        &Tcp
    }

    fn cut(&self) -> Cut {
        Cut::Offset
    }

    fn check(&self, spec: &SessionSpec, settings: &Settings) -> Result<(), String> {
        if self.send_mode != SendMode::ZeroCopy || !settings.sends(spec.role) {
            return Ok(());
        }
        features::missing(spec.role, &["tcp_zerocopy"], &net::features()).map_or(Ok(()), Err)
    }

    fn spacing(&self) -> Duration {
        self.stream.spacing()
    }

    fn tasks(&self, end: &Arc<End>) -> Vec<Task> {
        let settings = &end.settings;
        let mut tasks = Vec::new();
        if settings.sends(end.role) {
            let stream = self.stream;
            let message = Arc::new(Message::new(stream.message_bytes, self.send_mode));
            tasks.extend((0..settings.flows).map(|flow| {
                let message = Arc::clone(&message);
                Task::new(Part::Sender, flow, move |end, cue| {
                    send_messages(end, cue, stream.share(flow), &message)
                })
            }));
        }
        if settings.sends(other(end.role)) {
            tasks.extend(
                (0..settings.flows).map(|flow| Task::new(Part::Receiver, flow, receive_all)),
            );
        }
        tasks
    }

    fn interval(&self, end: &End, count: Count, seconds: f64) -> Metrics {
        let key = format!("{}throughput_bps", end.settings.prefix(end.role));
        Metrics::from([(key, count.bytes as f64 * 8.0 / seconds)])
    }

    fn report(&self, end: &End, measured: &Measured) -> EndReport {
        let mut report = EndReport { sent: streams::sent_counts(measured), ..EndReport::default() };
        self.report_received(end, measured, &mut report);
        self.report_sent(end, measured, &mut report);
        report
    }

    fn silence(&self, result: &RunResult) -> Option<String> {
        arrival::silent_direction(result, |prefix| {
            let throughput = result.metrics.get(&format!("{prefix}throughput_bps"));
            let is_silent = throughput.is_none_or(|&bps| bps <= 0.0);
            is_silent.then(|| "no byte of the stream was received".to_owned())
        })
    }

    fn has_silent_flow(&self, result: &RunResult) -> bool {
        arrival::has_silent_flow(result)
    }
}

impl TcpStream {
    fn report_sent(&self, end: &End, measured: &Measured, report: &mut EndReport) {
        let prefix = end.settings.prefix(other(end.role));
        let Some(seconds) = joint_seconds(senders(measured).filter_map(|sent| sent.span)) else {
            return;
        };
        let bytes: u64 = senders(measured).map(|sent| sent.bytes).sum();
        let mut set =
            |key: &str, value: f64| report.metrics.insert(format!("{prefix}{key}"), value);
        set("send_throughput_bps", bytes as f64 * 8.0 / seconds);
        streams::flag_rate(&self.stream, bytes, seconds, report);
        streams::flag_missed(end, measured, seconds, report);
        report.flags.extend(pacing::flags(&self.stream).map(str::to_owned));
        if senders(measured).any(|sent| sent.is_copied) {
            report.flags.push("zerocopy_copied".to_owned());
        }
        report_connections(end, measured, prefix, report);
    }

    fn report_received(&self, end: &End, measured: &Measured, report: &mut EndReport) {
        let has_warmup = !end.settings.warmup.is_zero();
        let shares: BTreeMap<u32, Share> = receivers(measured)
            .filter_map(|received| {
                let received = in_window(received, measured.drain_cut.as_ref())?;
                Some((
                    received.flow,
                    share(&received, measured.cuts.get(&received.flow), has_warmup)?,
                ))
            })
            .collect();
        if measured.drain_cut.is_some() {
            report.flags.push("drain_cut".into());
        }
        report.flows = streams::flows(end, |flow| shares.get(&flow).map_or(0, |share| share.bytes));
        let Some(seconds) = joint_seconds(shares.values().map(|share| share.span)) else {
            return;
        };
        let prefix = end.settings.prefix(end.role);
        let bytes: u64 = shares.values().map(|share| share.bytes).sum();
        // What waited in the sender's buffer arrived too late.
        streams::flag_rate(&self.stream, bytes, seconds, report);
        report.metrics.insert(format!("{prefix}throughput_bps"), bytes as f64 * 8.0 / seconds);
        if let Some(segments) = shares.values().map(|share| share.segments).sum::<Option<u64>>() {
            report.metrics.insert(format!("{prefix}packets_per_second"), segments as f64 / seconds);
        }
        let begin = shares.values().map(|share| share.span.0).min();
        report.window = crate::outcome::window::window(end, begin, seconds, bytes);
        let is_whole = measured.drain_cut.is_none();
        if is_whole && sent_bytes(measured).is_some_and(|sent| sent != marked_bytes(measured)) {
            // A stream that ended well has delivered every byte: anything else must not go unseen.
            report.flags.push("bytes_unaccounted".into());
        }
        let is_approximate =
            measured.cuts.values().any(|cut| cut.uncertainty > end.settings.duration / 100);
        if is_approximate {
            report.flags.push("warmup_cut_approximate".into());
        }
    }
}

/// Receives to the end of the stream; the clock is read at the first and the last byte.
fn receive_all(end: &End, cue: &Cue) -> Finished {
    let socket = end.flow(cue.flow);
    let segments = || net::tcp_info(socket).and_then(|info| info.data_segments_received);
    let segments_before = segments();
    let share = RECEIVE_BYTES_OF_ALL_FLOWS / end.settings.flows as usize;
    let mut buffer = PageAligned::zeros(RECEIVE_BYTES.min(share.max(LEAST_RECEIVE_BYTES)));
    let mut bytes = 0_u64;
    let mut first = None;
    let fault = receive_until_end(
        cue,
        |error| error == Errno::INTR,
        || {
            let received = net::receive(socket, buffer.as_mut())?;
            if received == 0 {
                return Ok(false);
            }
            if bytes == 0 {
                first = Some(Instant::now());
            }
            cue.receipts.set_waiting(false);
            bytes += received as u64;
            cue.counter.set_bytes(bytes);
            cue.receipts.note(socket, bytes);
            cue.receipts.set_waiting(received < buffer.as_mut().len());
            Ok(true)
        },
    );
    let received = Received {
        flow: cue.flow,
        bytes,
        span: first.map(|first| (first, Instant::now())),
        data_segments: segments_before.zip(segments()),
        datagrams: None,
    };
    Finished { outcome: Outcome::Received(received), fault }
}

/// What the sending end's kernel tells of the window, per flow and together.
fn report_connections(end: &End, measured: &Measured, prefix: &str, report: &mut EndReport) {
    let figures: BTreeMap<u32, TcpFigures> = senders(measured)
        .filter_map(|sent| Some((sent.flow, sent_figures(sent, end.flow(sent.flow))?)))
        .collect();
    if figures.len() < end.flows.len() {
        return;
    }
    let all: Vec<TcpFigures> = figures.values().copied().collect();
    let spans = senders(measured).filter_map(|sent| sent.span);
    let seconds = spans.map(|(begin, end)| end.duration_since(begin).as_secs_f64()).sum();
    report.metrics.extend(tcp_window::metrics(&all, prefix));
    report.metrics.extend(tcp_window::shares(&all, seconds, prefix));
    streams::tell_connections(end, &mut report.flows, &figures);
}

/// The window of one flow: to the end of sending, but segments lost near that end are sent again after the last
/// `send()`, so what was sent is read once more when all has arrived.
fn sent_figures(sent: &Sent, socket: BorrowedFd<'_>) -> Option<TcpFigures> {
    let (before, now) = (sent.connection_before.as_ref()?, net::tcp_info(socket)?);
    // A thread that never got going on a crowded host has read nothing at an end of sending.
    let after = sent.connection_after.as_deref().unwrap_or(&now);
    let drained = tcp_window::change(before, &now);
    Some(TcpFigures {
        retransmits: drained.retransmits,
        segments_sent: drained.segments_sent,
        retransmitted_bytes: drained.retransmitted_bytes,
        ..tcp_window::change(before, after)
    })
}

/// What one flow received in the window.
struct Share {
    bytes: u64,
    span: (Instant, Instant),
    segments: Option<u64>,
}

/// What the peer sent in the window, once it told.
fn sent_bytes(measured: &Measured) -> Option<u64> {
    measured.peer_sent.as_ref().map(|flows| flows.iter().map(|flow| flow.bytes).sum())
}

/// What arrived behind the marks: all that was sent in the window, though the first of it may have come before others'
/// last bytes of the warm-up.
fn marked_bytes(measured: &Measured) -> u64 {
    let offset = |flow| measured.cuts.get(&flow).map_or(0, |cut| cut.offset_bytes);
    receivers(measured).map(|received| received.bytes.saturating_sub(offset(received.flow))).sum()
}

/// What a flow received until the window's end, where the rest was not waited for.
fn in_window(received: &Received, cut: Option<&DrainCut>) -> Option<Received> {
    let Some(cut) = cut else { return Some(received.clone()) };
    let (bytes, segments) = *cut.flows.get(&received.flow)?;
    let span = received.span.filter(|(first, _)| *first < cut.at);
    Some(Received {
        bytes,
        span: span.map(|(first, last)| (first, last.min(cut.at))),
        data_segments: received.data_segments.map(|(before, _)| before).zip(segments),
        ..received.clone()
    })
}

fn share(received: &Received, cut: Option<&FlowCut>, has_warmup: bool) -> Option<Share> {
    let (first, last) = received.span?;
    let segments_after = received.data_segments.map(|(_, after)| after);
    if !has_warmup {
        let segments = received.data_segments.map(|(before, after)| after - before);
        return Some(Share { bytes: received.bytes, span: (first, last), segments });
    }
    let cut = cut?;
    Some(Share {
        bytes: received.bytes.saturating_sub(cut.bytes_before),
        span: (cut.at, last),
        segments: segments_after
            .zip(cut.data_segments)
            .map(|(after, before)| after.saturating_sub(before)),
    })
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;

    use super::{Sent, sent_figures};

    #[test]
    fn a_flow_whose_thread_never_got_going_is_told_like_the_others() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let socket = TcpStream::connect(listener.local_addr().expect("bound")).expect("connects");
        let sent = Sent {
            flow: 0,
            connection_before: net::tcp_info(socket.as_fd()).map(Box::new),
            ..Sent::default()
        };
        let figures = sent_figures(&sent, socket.as_fd()).expect("it has a connection");
        assert_eq!((figures.retransmits, figures.segments_sent), (Some(0), Some(0)));
        assert_eq!(figures.busy_seconds, Some(0.0));
    }
}
