//! The send modes of `udp_stream` that hand many datagrams to the kernel at once, and the receiver of segments.

use std::os::fd::BorrowedFd;
use std::time::Instant;

use net::Errno;
use proto::{Reason, reason};

use super::receiver::Receiver;
use super::{Header, MARKERS, SendMode, UdpStream, nanoseconds_since};
use crate::end::End;
use crate::flow::gate::{Phase, Pulse};
use crate::flow::pacer::Pacer;
use crate::measurements::{Finished, Outcome, Sent};
use crate::outcome::streams;
use crate::task::Cue;
use crate::task::loops::{Sending, receive_until_end, send_until_over};

/// Sends until the test is over, as many datagrams a call as are due and fit. One that the kernel refuses is counted
/// and consumes no sequence number.
pub fn send_batches(end: &End, cue: &Cue, kind: UdpStream) -> Finished {
    let mut sender = Sender::new(end, cue, kind);
    let Some(opened_at) = cue.start() else {
        return sender.finish(None, None);
    };
    if let Err(fault) = sender.set_up() {
        return sender.finish(None, Some(fault));
    }
    let has_warmup = !end.settings.warmup.is_zero();
    sender.batch.is_measured = !has_warmup;
    let share = kind.stream.share(cue.flow);
    let mut flow = Flow {
        pacer: Pacer::new(share, kind.stream.message_bytes, opened_at),
        opened_at,
        due: 0,
        sender,
    };
    let (begin, fault) = send_until_over(cue, (opened_at, has_warmup), &mut flow);
    let mut sender = flow.sender;
    sender.sent.missed = flow.pacer.map(|pacer| pacer.missed()).unwrap_or_default();
    sender.finish(begin, fault)
}

/// A sending flow, and how many datagrams of it are due.
struct Flow<'a> {
    pacer: Option<Pacer>,
    opened_at: Instant,
    due: usize,
    sender: Sender<'a>,
}

impl Sending for Flow<'_> {
    #[inline]
    fn wait(&mut self, pulse: &Pulse) -> Phase {
        let most = self.sender.batch.most;
        let (phase, due) = match self.pacer.as_mut() {
            Some(pacer) => pacer.wait_for_some(pulse, most),
            None => (pulse.phase(), most),
        };
        self.due = due;
        phase
    }

    #[cold]
    fn begin_window(&mut self) -> Result<Instant, Reason> {
        self.sender.begin_window()?;
        let begin = Instant::now();
        if let Some(pacer) = self.pacer.as_mut() {
            pacer.begin_window();
        }
        Ok(begin)
    }

    #[inline]
    fn send(&mut self) -> Result<(), Errno> {
        self.sender.send(self.due, self.opened_at)
    }

    #[cold]
    fn explain(&self, error: Errno) -> Reason {
        self.sender.explain(error)
    }
}

/// One flow's sending end.
struct Sender<'a> {
    socket: BorrowedFd<'a>,
    is_segmented: bool,
    batch: Batch,
    sent: Sent,
}

impl<'a> Sender<'a> {
    fn new(end: &'a End, cue: &Cue, kind: UdpStream) -> Self {
        let sent = Sent { flow: cue.flow, ..Sent::default() };
        Self {
            socket: end.flow(cue.flow),
            is_segmented: kind.send_mode == SendMode::Segmentation,
            batch: Batch::new(kind.header(end), kind.stream.message_bytes, cue.flow),
            sent,
        }
    }

    fn set_up(&self) -> Result<(), Reason> {
        let length = if self.is_segmented { self.batch.length } else { return Ok(()) };
        net::split_sends(self.socket, length).map_err(|error| {
            let failed = reason!("flow_segment_failed", why = error.to_string());
            Reason::joined([reason!("flow", flow = self.sent.flow), failed], ": ")
        })
    }

    /// Ends the warm-up. Markers are longer than a segment, and must not be split.
    fn begin_window(&mut self) -> Result<(), Reason> {
        self.batch.is_measured = true;
        (self.sent.messages, self.sent.failed) = (0, 0);
        if !self.batch.header.is_blind() {
            return Ok(());
        }
        if self.is_segmented {
            // A kernel that took the option takes it back.
            let _ = net::split_sends(self.socket, 0);
        }
        let marker = streams::payload(self.batch.length + 1);
        for _ in 0..MARKERS {
            // One of them will do.
            let _ = net::send(self.socket, &marker);
        }
        self.set_up()
    }

    /// Sends `due` datagrams, however many calls it takes.
    fn send(&mut self, due: usize, opened_at: Instant) -> Result<(), Errno> {
        let mut left = due;
        while left > 0 {
            self.batch.stamp(left, opened_at);
            let (taken, refused) = match self.hand_over(left) {
                Ok(taken) => (taken, usize::from(taken < left)),
                Err(Errno::INTR) => (0, 0),
                // A full queue, a path that is cut, or a sink whose port closed for a moment: the link tells of a lost peer.
                Err(error) if net::may_pass(error) => (0, if self.is_segmented { left } else { 1 }),
                Err(error) => return Err(error),
            };
            self.batch.sequence += taken as u64;
            self.sent.messages += taken as u64;
            self.sent.failed += refused as u64;
            left -= taken + refused;
        }
        Ok(())
    }

    /// How many of the batch's first `count` datagrams the kernel took.
    fn hand_over(&self, count: usize) -> Result<usize, Errno> {
        let data = &self.batch.data[..count * self.batch.length];
        if self.is_segmented {
            // A datagram, and what becomes several is one, is taken whole or not at all.
            return net::send(self.socket, data).map(|_| count);
        }
        net::send_each(self.socket, data, self.batch.length)
    }

    /// What an error of a send means.
    fn explain(&self, error: Errno) -> Reason {
        let hint = match error {
            Errno::INVAL | Errno::MSGSIZE if self.is_segmented => {
                reason!("flow_segments_are_whole")
            }
            Errno::IO if self.is_segmented => {
                reason!("flow_segments_need_checksums")
            }
            _ => Reason::default(),
        };
        Reason::joined([error.to_string().into(), hint], "; ")
    }

    fn finish(mut self, begin: Option<Instant>, fault: Option<Reason>) -> Finished {
        self.sent.bytes = self.sent.messages * self.batch.length as u64;
        self.sent.span = begin.map(|begin| (begin, Instant::now()));
        Finished { outcome: Outcome::Sent(self.sent), fault }
    }
}

/// Datagrams of one length, one behind the other, being sent again and again with other headers.
struct Batch {
    header: Header,
    data: Vec<u8>,
    length: usize,
    most: usize,
    sequence: u64,
    is_measured: bool,
}

impl Batch {
    fn new(header: Header, length: usize, flow: u32) -> Self {
        let most = (net::MOST_BYTES / length).clamp(1, net::MOST_DATAGRAMS);
        let mut data = streams::payload(length).repeat(most);
        for datagram in data.chunks_exact_mut(length) {
            header.begin(datagram, flow);
        }
        Self { header, data, length, most, sequence: 0, is_measured: false }
    }

    /// Numbers the first `count` datagrams. They are handed over at one time, so they have one send time.
    #[inline]
    fn stamp(&mut self, count: usize, opened_at: Instant) {
        if self.header.is_blind() {
            return;
        }
        let nanoseconds = if self.header.has_time() { nanoseconds_since(opened_at) } else { 0 };
        let datagrams = self.data.chunks_exact_mut(self.length).take(count);
        for (sequence, datagram) in (self.sequence..).zip(datagrams) {
            self.header.write(datagram, sequence, self.is_measured, nanoseconds);
        }
    }
}

/// Receives segments until the session ends the flow; the datagrams of one buffer arrived at one time.
pub fn receive_segments(end: &End, cue: &Cue, kind: UdpStream) -> Finished {
    let socket = end.flow(cue.flow);
    let mut receiver = Receiver::new(end, kind);
    let mut buffer = vec![0; net::RECEIVE_BYTES];
    let fault = match net::join_receives(socket) {
        Err(error) => Some(cue.fault(reason!("flow_join_failed", why = error.to_string()))),
        Ok(()) => receive_until_end(cue, net::may_pass, || {
            let (bytes, length) = net::receive_joined(socket, &mut buffer)?;
            if bytes == 0 {
                return Ok(false);
            }
            let now = Instant::now();
            for datagram in split(&buffer[..bytes], length) {
                receiver.take(datagram, cue, || now);
            }
            receiver.receives += 1;
            Ok(true)
        }),
    };
    Finished { outcome: Outcome::Received(receiver.finish(cue.flow)), fault }
}

/// The datagrams of a received buffer; the last may be shorter than `length`.
fn split(buffer: &[u8], length: usize) -> impl Iterator<Item = &[u8]> {
    buffer.chunks(length.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_of_segments_is_split_and_its_last_one_may_be_short() {
        let datagrams: Vec<&[u8]> = split(b"onetwosixte", 3).collect();
        assert_eq!(datagrams, [b"one".as_slice(), b"two", b"six", b"te"]);
        assert_eq!(split(b"alone", 5).collect::<Vec<_>>(), [b"alone"]);
    }

    #[test]
    fn a_batch_is_bounded_by_datagrams_and_by_bytes_and_holds_one_at_least() {
        let most = |length| Batch::new(Header::of(length, true), length, 0).most;
        assert_eq!([1, 64, 1_400, 32_753, 32_754, 65_507].map(most), [64, 64, 46, 2, 1, 1]);
    }

    #[test]
    fn the_datagrams_of_a_batch_are_numbered_on_from_those_sent_and_marked() {
        for length in [4, 8, 40] {
            let mut batch = Batch::new(Header::of(length, true), length, 7);
            batch.sequence = 1_000;
            batch.is_measured = true;
            batch.stamp(3, Instant::now());
            for (index, datagram) in batch.data.chunks_exact(length).take(3).enumerate() {
                let said = batch.header.read(datagram, 1_000).expect("a header");
                assert_eq!((said.sequence, said.is_measured), (1_000 + index as u64, true));
            }
        }
    }
}
