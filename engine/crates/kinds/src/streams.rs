//! What stream kinds measure, and how it becomes an end's half of the result.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use proto::{Flow, Granted, Role, SentCount, SinkReport, TcpFigures};

use crate::kind::{End, Measured, Outcome};
use crate::pacer::Missed;
use crate::tcp_window;

/// What one sending flow did in the measured window.
#[derive(Debug, Clone, Default)]
pub struct Sent {
    /// The flow's index.
    pub flow: u32,
    /// Payload bytes that the kernel took.
    pub bytes: u64,
    /// Messages or datagrams that the kernel took whole.
    pub messages: u64,
    /// Sends that the kernel refused (`ENOBUFS` and the like).
    pub failed: u64,
    /// When the window began and ended for this flow.
    pub span: Option<(Instant, Instant)>,
    /// The connection at the window's begin (TCP).
    pub connection_before: Option<Box<net::TcpInfo>>,
    /// The connection at the end of sending (TCP).
    pub connection_after: Option<Box<net::TcpInfo>>,
    /// What a rate asked for and the flow was held up from sending.
    pub missed: Missed,
    /// Whether the kernel copied what it was to send from its pages (TCP).
    pub is_copied: bool,
}

/// What one receiving flow saw.
#[derive(Debug, Clone)]
pub struct Received {
    /// The flow's index.
    pub flow: u32,
    /// Payload bytes: of a TCP flow from its beginning on, of a UDP flow in the window, each datagram once.
    pub bytes: u64,
    /// First and last arrival that count.
    pub span: Option<(Instant, Instant)>,
    /// Data segments received when the task began and when it ended, where the kernel tells.
    pub data_segments: Option<(u64, u64)>,
    /// What only datagrams have.
    pub datagrams: Option<Datagrams>,
}

/// Counts of one receiving UDP flow in the measured window.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Datagrams {
    /// Datagrams, each counted once.
    pub unique: u64,
    /// What the measuring header tells; absent when messages are too small to carry it.
    pub order: Option<Order>,
    /// Datagrams that can't be this test's.
    pub strange: u64,
    /// Whether the warm-up was cut by this host's clock, as no mark came through.
    pub is_cut_by_clock: bool,
    /// Datagrams that the kernel handed over at once, on average, where it joins them.
    pub per_receive: Option<f64>,
}

/// What sequence numbers and send times tell.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Order {
    /// Datagrams that came again.
    pub duplicates: u64,
    /// Datagrams that came after a later one.
    pub reordered: u64,
    /// Datagrams too far behind to tell whether they came again.
    pub too_late: u64,
    /// RFC 3550 jitter.
    pub jitter_seconds: Option<f64>,
}

/// The senders among the outcomes.
pub fn senders(measured: &Measured) -> impl Iterator<Item = &Sent> {
    measured.outcomes.iter().filter_map(|outcome| match outcome {
        Outcome::Sent(sent) => Some(sent),
        _ => None,
    })
}

/// The receivers among the outcomes.
pub fn receivers(measured: &Measured) -> impl Iterator<Item = &Received> {
    measured.outcomes.iter().filter_map(|outcome| match outcome {
        Outcome::Received(received) => Some(received),
        _ => None,
    })
}

/// Sent counts per flow, as told to the peer.
pub fn sent_counts(measured: &Measured) -> Vec<SentCount> {
    let mut counts: Vec<SentCount> = senders(measured)
        .map(|sent| SentCount { flow: sent.flow, bytes: sent.bytes, packets: sent.messages })
        .collect();
    counts.sort_by_key(|count| count.flow);
    counts
}

/// The window that covers all spans, in seconds; none when nothing was measured.
pub fn joint_seconds(spans: impl Iterator<Item = (Instant, Instant)>) -> Option<f64> {
    let (first, last) =
        spans.reduce(|(first, last), (begin, end)| (first.min(begin), last.max(end)))?;
    let seconds = last.saturating_duration_since(first).as_secs_f64();
    (seconds > 0.0).then_some(seconds)
}

/// The role at the other end.
pub fn other(role: Role) -> Role {
    match role {
        Role::Source => Role::Sink,
        Role::Sink => Role::Source,
    }
}

/// Every flow of this end with the bytes it received and the buffers it was granted.
pub fn flows(end: &End, received_bytes: impl Fn(u32) -> u64) -> Vec<Flow> {
    (0..end.settings.flows)
        .map(|index| {
            let bytes = received_bytes(index);
            let (bytes, reverse_bytes) = match end.role {
                Role::Sink => (bytes, 0),
                Role::Source => (0, bytes),
            };
            Flow { index, bytes, reverse_bytes, granted: granted(end, index), ..Flow::default() }
        })
        .collect()
}

/// Adds what this end's kernel tells of the connections to their flows, as many as a result carries.
pub fn tell_connections(end: &End, flows: &mut [Flow], figures: &BTreeMap<u32, TcpFigures>) {
    for flow in flows.iter_mut().take(tcp_window::TOLD_FLOWS) {
        let tcp = figures.get(&flow.index).copied();
        match end.role {
            Role::Source => flow.source_tcp = tcp,
            Role::Sink => flow.sink_tcp = tcp,
        }
    }
}

fn granted(end: &End, index: u32) -> Granted {
    use std::os::fd::AsFd;
    let Some(socket) = end.flows.get(index as usize) else {
        return Granted::default();
    };
    let (send, receive) = net::granted_buffers(socket.as_fd()).ok().unzip();
    match end.role {
        Role::Source => {
            Granted { source_sndbuf: send, source_rcvbuf: receive, ..Granted::default() }
        }
        Role::Sink => Granted { sink_sndbuf: send, sink_rcvbuf: receive, ..Granted::default() },
    }
}

/// Datagrams in so many drops of the kernel's: where it joins datagrams, it drops and counts them joined, and those that
/// were dropped are taken to have been as many at once as those that came.
pub fn dropped_datagrams(drops: u64, measured: &Measured) -> u64 {
    let joined: Vec<f64> = receivers(measured)
        .filter_map(|received| received.datagrams.as_ref()?.per_receive)
        .collect();
    if joined.is_empty() {
        return drops;
    }
    // Far below 2^53, and positive.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let datagrams = (drops as f64 * joined.iter().sum::<f64>() / joined.len() as f64) as u64;
    datagrams
}

/// Of an asked rate, so much must have been sent.
const REACHED_SHARE: f64 = 0.98;

/// Flags a rate that was asked for and not sent. One message more or less of each flow is no matter of its rate.
pub fn flag_rate(end: &End, sent_bytes: u64, seconds: f64, report: &mut SinkReport) {
    let settings = &end.settings;
    let spare = settings.message_bytes as f64 * f64::from(settings.flows);
    let asked = settings.rate_bps / 8.0 * seconds;
    if (sent_bytes as f64 + spare) < REACHED_SHARE * asked {
        report.flags.push("rate_not_reached".to_owned());
    }
}

/// A flow that was held up for so long at one time has not kept its rate, however long the test is.
const HELD_UP: Duration = Duration::from_millis(100);

/// Flags a rate that was not kept all of the time: what was missed is not sent later.
pub fn flag_missed(end: &End, measured: &Measured, seconds: f64, report: &mut SinkReport) {
    let missed = || senders(measured).map(|sent| sent.missed);
    let total: f64 = missed().map(|missed| missed.total.as_secs_f64()).sum();
    let of_all_time = total / (seconds * f64::from(end.settings.flows));
    let was_held_up = missed().any(|missed| missed.longest >= HELD_UP);
    if was_held_up || of_all_time > 1.0 - REACHED_SHARE {
        report.flags.push("rate_not_reached".to_owned());
    }
}

/// Bytes for messages: not compressible, so that no link on the way makes the test easier.
pub fn payload(bytes: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut payload = Vec::with_capacity(bytes + 8);
    while payload.len() < bytes {
        // xorshift64
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        payload.extend_from_slice(&state.to_le_bytes());
    }
    payload.truncate(bytes);
    payload
}
