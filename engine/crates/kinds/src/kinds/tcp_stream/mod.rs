//! TCP stream: one blocking `send()` per message; the receiver's bytes count (netperf `TCP_STREAM`).

mod message;
mod pacing;
mod page_aligned;
mod report;
mod sending;

use std::sync::Arc;
use std::time::{Duration, Instant};

use net::Errno;
use proto::{EndReport, Metrics, Params, Reason, RunResult, SessionSpec, reason};

use self::message::Message;
use self::page_aligned::PageAligned;
use self::sending::send_messages;

use crate::end::End;
use crate::features;
use crate::flow::counter::Count;
use crate::flow::part::Part;
use crate::kind::{Cut, Kind};
use crate::limits::arrival;
use crate::measurements::{Finished, Measured, Outcome, Received};
use crate::outcome::streams::{self, Stream};
use crate::roles::other;
use crate::settings::{Settings, text, unknown_word};
use crate::task::loops::receive_until_end;
use crate::task::{Cue, Task};
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
    fn read(params: &Params) -> Result<Self, Reason> {
        match text(params, "send_mode")? {
            "" | "send" => Ok(Self::Send),
            "sendfile" => Ok(Self::File),
            "zerocopy" => Ok(Self::ZeroCopy),
            other => Err(unknown_word("send_mode", other)),
        }
    }
}

/// Reads checked and filled parameters.
pub fn read(params: &Params, settings: &Settings) -> Result<Arc<dyn Kind>, Reason> {
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

    fn check(&self, spec: &SessionSpec, settings: &Settings) -> Result<(), Reason> {
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

    fn silence(&self, result: &RunResult) -> Option<Reason> {
        arrival::silent_direction(result, |prefix| {
            let throughput = result.metrics.get(&format!("{prefix}throughput_bps"));
            let is_silent = throughput.is_none_or(|&bps| bps <= 0.0);
            is_silent.then(|| reason!("says_no_byte"))
        })
    }

    fn has_silent_flow(&self, result: &RunResult) -> bool {
        arrival::has_silent_flow(result)
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
