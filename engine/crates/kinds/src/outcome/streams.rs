//! What stream kinds measure, and how it becomes an end's half of the result.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use proto::{EndReport, Flow, Granted, Params, Reason, Role, SentCount, TcpFigures};

use crate::end::End;
use crate::flow::pacer::Share;
use crate::measurements::{Measured, Outcome, Received, Sent};
use crate::outcome::tcp_window;
use crate::settings::{Settings, number, size};

/// What both stream kinds have.
#[derive(Debug, Clone, Copy)]
pub struct Stream {
    /// Bytes of one message.
    pub message_bytes: usize,
    /// Payload bits per second, all flows of one direction; 0 for no limit.
    pub rate_bps: f64,
    flows: u32,
}

impl Stream {
    /// Reads checked and filled parameters.
    ///
    /// # Errors
    /// When a value is of another type than the catalog says.
    pub fn read(params: &Params, settings: &Settings) -> Result<Self, Reason> {
        let flows = settings.flows;
        let (all, each) = (number(params, "rate_bps")?, number(params, "flow_rate_bps")?);
        // The catalog lets only one of them be set.
        let rate_bps = if each > 0.0 { each * f64::from(flows) } else { all };
        Ok(Self { message_bytes: size(params, "message_size_bytes")?, rate_bps, flows })
    }

    /// One flow's share of the rate in bits per second.
    pub fn flow_rate_bps(&self) -> f64 {
        self.rate_bps / f64::from(self.flows)
    }

    /// A flow's part of the rate.
    pub fn share(&self, flow: u32) -> Share {
        Share { rate_bps: self.flow_rate_bps(), flow, flows: self.flows }
    }

    /// The time from one message of a flow to the next; zero without a rate.
    pub fn spacing(&self) -> Duration {
        if self.rate_bps <= 0.0 {
            return Duration::ZERO;
        }
        let seconds = self.message_bytes as f64 * 8.0 / self.flow_rate_bps();
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }
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
pub fn flag_rate(stream: &Stream, sent_bytes: u64, seconds: f64, report: &mut EndReport) {
    let spare = stream.message_bytes as f64 * f64::from(stream.flows);
    let asked = stream.rate_bps / 8.0 * seconds;
    if (sent_bytes as f64 + spare) < REACHED_SHARE * asked {
        report.flags.push("rate_not_reached".to_owned());
    }
}

/// A flow that was held up for so long at one time has not kept its rate, however long the test is.
pub const HELD_UP: Duration = Duration::from_millis(100);

/// Flags a rate that was not kept all of the time: what was missed is not sent later.
pub fn flag_missed(end: &End, measured: &Measured, seconds: f64, report: &mut EndReport) {
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proto::{Catalog, Params};

    use super::Stream;
    use crate::settings::Settings;

    #[test]
    fn a_rate_per_flow_is_the_rate_of_each_flow_and_spaces_its_messages() {
        let given = Params::from([
            ("flow_rate_bps", 1_000.into()),
            ("flows", 3.into()),
            ("message_size_bytes", 100.into()),
        ]);
        let params = Catalog::embedded().fill("udp_stream", &given).expect("in bounds");
        let settings = Settings::read(&params).expect("valid");
        let stream = Stream::read(&params, &settings).expect("valid");
        let rates = [stream.rate_bps, stream.flow_rate_bps()].map(f64::to_bits);
        assert_eq!(rates, [3_000_f64, 1_000.0].map(f64::to_bits));
        assert_eq!(stream.spacing(), Duration::from_millis(800));
    }
}
