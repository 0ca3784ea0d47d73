//! What one end measured of a stream: what it sent, what it received, and what the kernel tells of the connections.

use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;
use std::time::Instant;

use proto::{EndReport, TcpFigures};

use super::{TcpStream, pacing};
use crate::end::End;
use crate::measurements::{DrainCut, FlowCut, Measured, Received, Sent};
use crate::outcome::streams::{self, joint_seconds, receivers, senders};
use crate::outcome::tcp_window;
use crate::roles::other;

impl TcpStream {
    pub(super) fn report_sent(&self, end: &End, measured: &Measured, report: &mut EndReport) {
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

    pub(super) fn report_received(&self, end: &End, measured: &Measured, report: &mut EndReport) {
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
