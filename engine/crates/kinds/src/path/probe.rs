//! Looks whether a path carries the largest packets that each end's interface would send it.

use std::cell::Cell;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use proto::wire::{CHALLENGE_LENGTH, Challenge, PREAMBLE_LENGTH, Preamble};
use proto::{Cookie, PathSize};

/// A near engine has answered by then, on a busy host too.
const ANSWER_LIMIT: Duration = Duration::from_millis(50);
/// One may be lost.
const TRIES: usize = 2;
/// Before a path is said to be blocked.
const PLAIN_TRIES: usize = 3;
const PLAIN_ANSWER_LIMIT: Duration = Duration::from_millis(300);
/// The search of one way is given up after so long: the test is more.
const SEARCH_LIMIT: Duration = Duration::from_secs(3);
/// Both ways together, with what precedes a search.
pub const LIMIT: Duration = Duration::from_secs(12);
/// A hello that is padded to less is not answered.
const LEAST_PADDED_BYTES: usize = 128;
/// Smaller packets pass any path.
const SMALLEST_BYTES: usize = 512;
const LARGEST_BYTES: usize = 65_507;
/// Beyond the largest frames of Ethernet.
const JUMBO_BYTES: usize = 9_216;

/// What a path carries, each way; none where it couldn't be told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sizes {
    /// From here to the peer.
    pub forward: Option<PathSize>,
    /// From the peer to here; also none where the peer is of a version that doesn't pad its answers.
    pub backward: Option<PathSize>,
    /// Hellos that were sent, where none was answered.
    pub unanswered_hellos: u32,
}

impl Sizes {
    /// The largest UDP payload that arrives at the peer, where larger ones vanish without a word.
    pub fn forward_hole(&self, is_ipv4: bool) -> Option<u32> {
        hole(self.forward, is_ipv4)
    }

    /// The largest UDP payload that arrives here, where larger ones vanish without a word.
    pub fn backward_hole(&self, is_ipv4: bool) -> Option<u32> {
        hole(self.backward, is_ipv4)
    }
}

fn hole(size: Option<PathSize>, is_ipv4: bool) -> Option<u32> {
    let size = size.filter(|size| size.is_silent)?;
    Some(size.mtu_bytes.saturating_sub(header_bytes(is_ipv4)))
}

/// Bytes of a datagram's IP and UDP headers.
const fn header_bytes(is_ipv4: bool) -> u32 {
    if is_ipv4 { 28 } else { 48 }
}

/// Where a look notes what it finds.
pub type Found = Arc<Mutex<Sizes>>;

/// Looks both ways, and notes what it finds. A hello that is padded is answered as one that isn't.
pub fn look(
    peer: SocketAddr,
    local: &net::LocalEnd,
    cookie: &Cookie,
    round_trip: Duration,
    found: &Found,
) {
    let Some(probe) = Probe::open(peer, local, cookie, round_trip) else { return };
    *found.lock().unwrap_or_else(PoisonError::into_inner) = probe.sizes();
}

/// A socket to the peer whose datagrams are never fragmented.
pub struct Probe {
    socket: OwnedFd,
    cookie: Cookie,
    is_ipv4: bool,
    patience: Duration,
    sent: Cell<u32>,
    is_answered: Cell<bool>,
}

impl Probe {
    /// Opens it; none where the kernel refuses.
    pub fn open(
        peer: SocketAddr,
        local: &net::LocalEnd,
        cookie: &Cookie,
        round_trip: Duration,
    ) -> Option<Self> {
        let socket = net::open_udp(peer, local, &net::Options::default()).ok()?;
        net::never_fragment(socket.as_fd(), peer.is_ipv4()).ok()?;
        let patience = ANSWER_LIMIT + round_trip * 2;
        Some(Self {
            socket,
            cookie: cookie.clone(),
            is_ipv4: peer.is_ipv4(),
            patience,
            sent: Cell::new(0),
            is_answered: Cell::new(false),
        })
    }

    /// What both ways carry.
    pub fn sizes(&self) -> Sizes {
        match self.forward() {
            Some(forward) => {
                Sizes { forward: Some(forward), backward: self.backward(), unanswered_hellos: 0 }
            }
            None if self.is_answered.get() || self.answers_plainly() => Sizes::default(),
            None => Sizes { unanswered_hellos: self.sent.get(), ..Sizes::default() },
        }
    }

    /// Whether a hello of the usual size is answered: an engine of an earlier version knows no others, and a host that
    /// stood still takes its time.
    fn answers_plainly(&self) -> bool {
        (0..PLAIN_TRIES).any(|_| {
            self.sent.set(self.sent.get() + 1);
            self.round_trip_within(PLAIN_ANSWER_LIMIT.max(self.patience)).is_ok()
        })
    }

    fn forward(&self) -> Option<PathSize> {
        let known = net::path_mtu(self.socket.as_fd(), self.is_ipv4)?;
        let full = self.payload(known);
        if full < LEAST_PADDED_BYTES {
            return None;
        }
        if self.passes(full) {
            return size(known, false);
        }
        if !self.passes(SMALLEST_BYTES.min(full)) {
            return None;
        }
        // A path that says how narrow it is has been heard by the kernel: everyone sends smaller packets then.
        let told = net::path_mtu(self.socket.as_fd(), self.is_ipv4)?;
        if told < known && self.passes(self.payload(told)) {
            return size(told, false);
        }
        let largest = search(SMALLEST_BYTES, self.payload(told), |bytes| self.passes(bytes))?;
        // What was late or lost by chance is no hole.
        (!self.passes(full)).then(|| size(self.packet(largest), true))?
    }

    fn backward(&self) -> Option<PathSize> {
        // The peer pads no further than its own kernel would send.
        if let Some(length) = self.answered(LARGEST_BYTES) {
            return (length > CHALLENGE_LENGTH).then(|| size(self.packet(length), false))?;
        }
        self.answered(SMALLEST_BYTES).filter(|&length| length > CHALLENGE_LENGTH)?;
        let passes = |bytes| self.answered(bytes).is_some();
        let vanishing = if passes(JUMBO_BYTES) { LARGEST_BYTES } else { JUMBO_BYTES };
        let largest = search(SMALLEST_BYTES, vanishing, passes)?;
        (!passes(LARGEST_BYTES)).then(|| size(self.packet(largest), true))?
    }

    fn payload(&self, packet_bytes: usize) -> usize {
        packet_bytes.saturating_sub(header_bytes(self.is_ipv4) as usize).min(LARGEST_BYTES)
    }

    fn packet(&self, payload_bytes: usize) -> usize {
        payload_bytes + header_bytes(self.is_ipv4) as usize
    }

    fn passes(&self, bytes: usize) -> bool {
        let mut datagram = vec![0; bytes];
        datagram[..PREAMBLE_LENGTH].copy_from_slice(&Preamble::encode_hello(0, &self.cookie));
        self.exchanged(&datagram).is_some()
    }

    /// How long an answer was that should have been as long as this; the peer's kernel may send no more than less.
    fn answered(&self, bytes: usize) -> Option<usize> {
        let bytes = u32::try_from(bytes).ok()?;
        self.exchanged(&Preamble::encode_hello_for(bytes, &self.cookie))
    }

    fn exchanged(&self, datagram: &[u8]) -> Option<usize> {
        (0..TRIES).find_map(|_| {
            let mut answer = vec![0; LARGEST_BYTES];
            while net::receive_now(self.socket.as_fd(), &mut answer).is_ok() {}
            // One that the kernel refuses doesn't pass.
            net::send(self.socket.as_fd(), datagram).ok()?;
            self.sent.set(self.sent.get() + 1);
            self.receive(&mut answer)
        })
    }

    fn receive(&self, answer: &mut [u8]) -> Option<usize> {
        let socket = self.socket.as_fd();
        net::set_receive_timeout(socket, Some(self.patience)).ok()?;
        let length = net::receive(socket, answer).ok()?;
        Challenge::parse(answer.get(..CHALLENGE_LENGTH.min(length))?).ok()?;
        self.is_answered.set(true);
        Some(length)
    }

    /// Sends a hello of the usual size, and returns how long its answer took.
    ///
    /// # Errors
    /// What the kernel said; `EAGAIN` when nothing came.
    pub fn round_trip(&self) -> Result<Duration, net::Errno> {
        self.round_trip_within(self.patience)
    }

    fn round_trip_within(&self, patience: Duration) -> Result<Duration, net::Errno> {
        let socket = self.socket.as_fd();
        let mut answer = [0; CHALLENGE_LENGTH + 1];
        while net::receive_now(socket, &mut answer).is_ok() {}
        net::set_receive_timeout(socket, Some(patience))?;
        let begin = Instant::now();
        net::send(socket, &Preamble::encode_hello(0, &self.cookie))?;
        let length = net::receive(socket, &mut answer)?;
        match Challenge::parse(&answer[..length]) {
            Ok(_) => Ok(begin.elapsed()),
            Err(_) => Err(net::Errno::AGAIN),
        }
    }
}

fn size(packet_bytes: usize, is_silent: bool) -> Option<PathSize> {
    Some(PathSize { mtu_bytes: u32::try_from(packet_bytes).ok()?, is_silent })
}

/// The largest that passes, of what lies between one that does and one that doesn't; none when it takes too long.
fn search(passing: usize, vanishing: usize, passes: impl Fn(usize) -> bool) -> Option<usize> {
    let begin = Instant::now();
    let (mut passing, mut vanishing) = (passing, vanishing);
    while vanishing.saturating_sub(passing) > 1 {
        if begin.elapsed() > SEARCH_LIMIT {
            return None;
        }
        let middle = usize::midpoint(passing, vanishing);
        if passes(middle) {
            passing = middle;
        } else {
            vanishing = middle;
        }
    }
    Some(passing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_finds_the_largest_that_passes() {
        assert_eq!(search(512, 8_972, |bytes| bytes <= 1_472), Some(1_472));
        assert_eq!(search(512, 513, |_| false), Some(512));
    }

    #[test]
    fn only_what_vanishes_without_a_word_is_a_hole() {
        let told = Some(PathSize { mtu_bytes: 1_500, is_silent: false });
        let silent = Some(PathSize { mtu_bytes: 1_500, is_silent: true });
        let sizes = Sizes { forward: told, backward: silent, unanswered_hellos: 0 };
        assert_eq!((sizes.forward_hole(true), sizes.backward_hole(true)), (None, Some(1_472)));
        assert_eq!(sizes.backward_hole(false), Some(1_452));
    }
}
