//! What one flow's datagrams tell of the path while they come.

use std::time::Instant;

use stats::{Jitter, SequenceWindow};

use super::{Header, UdpStream};
use crate::end::End;
use crate::flow::counter::Counter;
use crate::flow::gate::Phase;
use crate::measurements::{Datagrams, Order, Received};
use crate::task::Cue;

/// Sequence numbers that all flows together remember.
const REMEMBERED_SEQUENCES: usize = 1 << 24;
const REMEMBERED_SEQUENCES_PER_FLOW: usize = 1 << 20;
/// More datagrams a day than this no flow has, whatever number a peer writes.
const NUMBERED_AT_MOST: u64 = 1 << 44;

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
    pub fn new(end: &End, kind: UdpStream) -> Self {
        let share = REMEMBERED_SEQUENCES / end.settings.flows as usize;
        Self {
            header: kind.header(end),
            message_bytes: kind.stream.message_bytes,
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
