//! One direction: takes frames, decides what becomes of each, and holds those on their way. Time enters as an argument.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::counts::{ByProtocol, Fate};
use crate::log::Entry;
use crate::packet::{Packet, Protocol};
use crate::too_big;
use crate::way::{Random, TooBig, Turns, Way};

const SECOND: u64 = 1_000_000_000;

/// A direction; times are nanoseconds of one clock.
pub struct Lane {
    pub way: Way,
    /// Set by "outage begin", beside the outages described.
    pub is_out: bool,
    pub counts: ByProtocol,
    /// From when outages and the list of delays count.
    started: u64,
    random: Random,
    loss: Turns,
    duplicate: Turns,
    reorder: Turns,
    /// When the limited rate has carried all that it has taken.
    free_at: u64,
    last_due: u64,
    taken: u64,
    on_way: BinaryHeap<Reverse<OnWay>>,
}

/// A frame on its way.
pub struct OnWay {
    due: u64,
    place: u64,
    pub frame: Vec<u8>,
    pub entry: Entry,
}

/// What a frame led to at once; those that are on their way come out of `due`.
#[derive(Default)]
pub struct Taken {
    pub ended: Option<(Fate, Entry)>,
    /// A frame back to the sender.
    pub answer: Option<Vec<u8>>,
}

impl Lane {
    pub fn new(way: Way, seed: u64) -> Self {
        Self {
            way,
            is_out: false,
            counts: ByProtocol::default(),
            started: 0,
            random: Random::new(seed),
            loss: Turns::default(),
            duplicate: Turns::default(),
            reorder: Turns::default(),
            free_at: 0,
            last_due: 0,
            taken: 0,
            on_way: BinaryHeap::new(),
        }
    }

    /// Lets the described times count from `now` on.
    pub fn start(&mut self, now: u64) {
        self.started = now;
    }

    /// Takes a frame that arrived `now`; `wall` is the same moment by the wall clock.
    pub fn take(&mut self, frame: Vec<u8>, now: u64, wall: u64) -> Taken {
        let packet = Packet::of(&frame);
        let entry = Entry { arrived: wall, packet, start: packet.start(&frame) };
        let counts = self.counts.of(packet.protocol);
        counts.offered += 1;
        counts.offered_bytes += frame.len() as u64;
        if packet.protocol == Protocol::Neighbour {
            self.hold(frame, entry, now);
            return Taken::default();
        }
        let (fate, answer) = self.decide(frame, entry, now);
        if let Some(fate) = fate {
            self.counts.of(packet.protocol).end(fate, 0);
        }
        Taken { ended: fate.map(|fate| (fate, entry)), answer }
    }

    /// The fate of a frame that goes no further, and a router's answer.
    fn decide(
        &mut self,
        frame: Vec<u8>,
        entry: Entry,
        now: u64,
    ) -> (Option<Fate>, Option<Vec<u8>>) {
        let packet = entry.packet;
        let since_start = now.saturating_sub(self.started);
        if self.is_out || self.way.is_out(since_start) {
            return (Some(Fate::Outage), None);
        }
        if self.way.blocks(&packet) {
            return (Some(Fate::Blocked), None);
        }
        if self.way.mtu == 0 || packet.ip_bytes as u64 <= self.way.mtu {
            return (self.pass(frame, entry, now).err(), None);
        }
        if self.way.too_big == TooBig::Silent || !too_big::is_whole(&frame, &packet) {
            return (Some(Fate::TooBig), None);
        }
        if packet.is_ipv6 || !packet.may_fragment {
            return (Some(Fate::TooBig), Some(too_big::answer(&frame, &packet, self.way.mtu)));
        }
        (self.pass_cut(&frame, entry, now).err(), None)
    }

    /// Sends on the fragments of a packet; each fares for itself, and the packet as the first that fails.
    fn pass_cut(&mut self, frame: &[u8], entry: Entry, now: u64) -> Result<(), Fate> {
        let pieces = too_big::fragments(frame, &entry.packet, self.way.mtu);
        if pieces.is_empty() {
            return Err(Fate::TooBig);
        }
        let passed: Vec<_> = pieces.into_iter().map(|piece| self.pass(piece, entry, now)).collect();
        passed.into_iter().collect()
    }

    /// Loss, the queue before the rate, duplication, delay: in this order.
    fn pass(&mut self, frame: Vec<u8>, entry: Entry, now: u64) -> Result<(), Fate> {
        if self.loss.is_turn(self.way.loss, self.way.burst, &mut self.random) {
            return Err(Fate::Lost);
        }
        let carried = self.carry(frame.len() as u64, now)?;
        let delay = self.way.delay.sample(now.saturating_sub(self.started), &mut self.random);
        let is_early = self.reorder.is_turn(self.way.reorder, 1.0, &mut self.random);
        let mut due = carried + delay;
        if is_early {
            self.counts.of(entry.packet.protocol).reordered += 1;
            due -= delay.min(self.way.early);
        } else if !self.way.may_overtake {
            due = due.max(self.last_due);
            self.last_due = due;
        }
        if self.duplicate.is_turn(self.way.duplicate, 1.0, &mut self.random) {
            self.counts.of(entry.packet.protocol).duplicated += 1;
            self.hold(frame.clone(), entry, due);
        }
        self.hold(frame, entry, due);
        Ok(())
    }

    /// When the limited rate has carried the frame; an error when its queue is full.
    fn carry(&mut self, bytes: u64, now: u64) -> Result<u64, Fate> {
        if self.way.rate == 0 {
            return Ok(now);
        }
        let time = |bytes: u64| bytes * 8 * SECOND / self.way.rate;
        let waits = self.free_at.saturating_sub(now);
        if waits > 0 && waits + time(bytes) > time(self.way.queue) {
            return Err(Fate::QueueFull);
        }
        self.free_at = self.free_at.max(now) + time(bytes);
        Ok(self.free_at)
    }

    fn hold(&mut self, frame: Vec<u8>, entry: Entry, due: u64) {
        self.taken += 1;
        self.on_way.push(Reverse(OnWay { due, place: self.taken, frame, entry }));
    }

    /// When the next frame is due.
    pub fn next_due(&self) -> Option<u64> {
        self.on_way.peek().map(|Reverse(next)| next.due)
    }

    /// The next frame that is due by `now`.
    pub fn due(&mut self, now: u64) -> Option<OnWay> {
        if self.next_due()? > now {
            return None;
        }
        self.on_way.pop().map(|Reverse(next)| next)
    }
}

impl Ord for OnWay {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.due, self.place).cmp(&(other.due, other.place))
    }
}

impl PartialOrd for OnWay {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for OnWay {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for OnWay {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::datagram;

    const MILLISECOND: u64 = 1_000_000;

    fn lane(description: &str) -> Lane {
        Lane::new(description.parse().unwrap(), 1)
    }

    /// Offers frames of 1,000 bytes, one a millisecond; gives the fates and the times and numbers of those that come out.
    fn offer(lane: &mut Lane, count: u64) -> (Vec<Option<Fate>>, Vec<(u64, u8)>) {
        let frame = |number: u64| datagram(7411, &[u8::try_from(number).unwrap(); 958], false);
        let fates = (0..count)
            .map(|at| lane.take(frame(at), at * MILLISECOND, 0).ended.map(|(fate, _)| fate))
            .collect();
        let mut out: Vec<(u64, u8)> = Vec::new();
        while let Some(due) = lane.next_due() {
            let frame = lane.due(due).unwrap();
            out.push((due / MILLISECOND, frame.frame[50]));
        }
        (fates, out)
    }

    #[test]
    fn a_rate_carries_frames_one_by_one_and_its_queue_is_bounded() {
        // A frame takes 8 ms; beside the one on its way two wait.
        let (fates, out) = offer(&mut lane("rate=1Mbit,queue=3000,delay=10ms"), 5);
        assert_eq!(fates, [None, None, None, Some(Fate::QueueFull), Some(Fate::QueueFull)]);
        assert_eq!(out, [(18, 0), (26, 1), (34, 2)]);
    }

    #[test]
    fn order_is_kept_where_the_delay_falls_and_free_when_asked() {
        let (_, out) = offer(&mut lane("delay=10ms+1ms@2ms"), 3);
        assert_eq!(out, [(10, 0), (11, 1), (11, 2)]);
        let (_, out) = offer(&mut lane("delay=10ms+1ms@2ms,order=free"), 3);
        assert_eq!(out, [(3, 2), (10, 0), (11, 1)]);
    }

    #[test]
    fn every_third_is_lost_doubled_or_early() {
        let (fates, _) = offer(&mut lane("loss=1/3"), 4);
        assert_eq!(fates, [None, None, Some(Fate::Lost), None]);
        let (_, out) = offer(&mut lane("duplicate=1/3"), 4);
        assert_eq!(out, [(0, 0), (1, 1), (2, 2), (2, 2), (3, 3)]);
        let mut early = lane("delay=10ms,reorder=1/3,early=5ms");
        assert_eq!(offer(&mut early, 4).1, [(7, 2), (10, 0), (11, 1), (13, 3)]);
        assert_eq!(early.counts.of(Protocol::Udp).reordered, 1);
    }

    #[test]
    fn an_outage_takes_what_comes_in_it_and_counts_from_the_start() {
        let mut lane = lane("outage=1ms-3ms");
        assert_eq!(offer(&mut lane, 2).0, [None, Some(Fate::Outage)]);
        lane.start(MILLISECOND);
        let (fates, _) = offer(&mut lane, 5);
        let out = Some(Fate::Outage);
        assert_eq!(fates, [None, None, out, out, None]);
    }

    #[test]
    fn a_packet_above_the_mtu_is_answered_or_vanishes_or_is_cut() {
        let big = |may_fragment| datagram(7411, &[0; 1_600], may_fragment);
        let taken = lane("mtu=1500").take(big(false), 0, 0);
        assert!(taken.answer.is_some() && taken.ended.unwrap().0 == Fate::TooBig);
        let taken = lane("mtu=1500,too_big=silent").take(big(true), 0, 0);
        assert!(taken.answer.is_none() && taken.ended.unwrap().0 == Fate::TooBig);
        let mut cutting = lane("mtu=1500");
        assert!(cutting.take(big(true), 0, 0).ended.is_none());
        assert!(cutting.due(0).is_some() && cutting.due(0).is_some() && cutting.due(0).is_none());
    }

    #[test]
    fn what_is_blocked_is_counted_and_the_rest_passes() {
        let mut lane = lane("block=udp:7411");
        assert_eq!(lane.take(datagram(7411, b"x", false), 0, 0).ended.unwrap().0, Fate::Blocked);
        assert!(lane.take(datagram(7412, b"x", false), 0, 0).ended.is_none());
        assert_eq!(lane.counts.of(Protocol::Udp).blocked, 1);
    }
}
