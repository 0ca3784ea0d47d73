//! The send mode of `udp_stream` that hands each datagram to the kernel by itself.

use std::os::fd::BorrowedFd;
use std::time::Instant;

use net::Errno;
use proto::Reason;

use super::{Header, MARKERS, UdpStream, nanoseconds_since};
use crate::end::End;
use crate::flow::gate::{Phase, Pulse};
use crate::flow::pacer::Pacer;
use crate::measurements::{Finished, Outcome, Sent};
use crate::outcome::streams;
use crate::task::Cue;
use crate::task::loops::{Sending, send_until_over};

/// Sends until the test is over. A send that the kernel refuses is counted and consumes no sequence number.
pub fn send_datagrams(end: &End, cue: &Cue, kind: UdpStream) -> Finished {
    let mut sent = Sent { flow: cue.flow, ..Sent::default() };
    let Some(opened_at) = cue.start() else {
        return Finished { outcome: Outcome::Sent(sent), fault: None };
    };
    let message_bytes = kind.stream.message_bytes;
    let has_warmup = !end.settings.warmup.is_zero();
    let mut message = Message::new(kind.header(end), message_bytes, cue.flow);
    message.is_measured = !has_warmup;
    let mut flow = Flow {
        socket: end.flow(cue.flow),
        pacer: Pacer::new(kind.stream.share(cue.flow), message_bytes, opened_at),
        opened_at,
        message,
        count: 0,
        failed: 0,
    };
    let (begin, fault) = send_until_over(cue, (opened_at, has_warmup), &mut flow);
    (sent.messages, sent.failed) = (flow.count, flow.failed);
    sent.missed = flow.pacer.map(|pacer| pacer.missed()).unwrap_or_default();
    sent.bytes = sent.messages * message_bytes as u64;
    sent.span = begin.map(|begin| (begin, Instant::now()));
    Finished { outcome: Outcome::Sent(sent), fault }
}

struct Flow<'a> {
    socket: BorrowedFd<'a>,
    pacer: Option<Pacer>,
    opened_at: Instant,
    message: Message,
    count: u64,
    failed: u64,
}

impl Sending for Flow<'_> {
    #[inline]
    fn wait(&mut self, pulse: &Pulse) -> Phase {
        self.pacer.as_mut().map_or_else(|| pulse.phase(), |pacer| pacer.wait(pulse))
    }

    #[cold]
    fn begin_window(&mut self) -> Result<Instant, Reason> {
        self.message.is_measured = true;
        self.message.send_markers(self.socket);
        let begin = Instant::now();
        if let Some(pacer) = self.pacer.as_mut() {
            pacer.begin_window();
        }
        (self.count, self.failed) = (0, 0);
        Ok(begin)
    }

    #[inline]
    fn send(&mut self) -> Result<(), Errno> {
        self.message.stamp(self.opened_at);
        net::send(self.socket, self.message.bytes())?;
        self.count += 1;
        self.message.sequence += 1;
        Ok(())
    }

    /// A full queue, a path that is cut, or a sink whose port closed for a moment: the link tells of a lost peer.
    fn refused(&mut self, error: Errno) -> bool {
        let passes = net::may_pass(error);
        self.failed += u64::from(passes);
        passes
    }
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
    fn send_markers(&self, socket: BorrowedFd<'_>) {
        if self.header.is_blind() {
            for _ in 0..MARKERS {
                // One of them will do.
                let _ = net::send(socket, &self.payload);
            }
        }
    }
}
