//! Looks whether the path carries the largest packets that this host's interface would send it.

use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use proto::Cookie;
use proto::wire::{CHALLENGE_LENGTH, Challenge, PREAMBLE_LENGTH, Preamble};

/// A near engine has answered by then, on a busy host too.
const ANSWER_LIMIT: Duration = Duration::from_millis(50);
/// One may be lost.
const TRIES: usize = 2;
/// The search is given up after so long: the test is more.
pub const LIMIT: Duration = Duration::from_secs(6);
/// Smaller packets pass any path. A hello of 128 bytes or more is answered as a padded one.
const SMALLEST_BYTES: usize = 512;
const LARGEST_BYTES: usize = 65_507;

/// The largest datagram that arrives where larger ones vanish without a word; none on a path that is in order.
pub type Found = Arc<Mutex<Option<u32>>>;

/// Looks, and notes what it finds. A hello that is padded is answered as one that isn't.
pub fn look(
    peer: SocketAddr,
    local: &net::LocalEnd,
    cookie: &Cookie,
    round_trip: Duration,
    found: &Found,
) {
    let Ok(socket) = net::open_udp(peer, local, &net::Options::default()) else { return };
    if net::never_fragment(socket.as_fd(), peer.is_ipv4()).is_err() {
        return;
    }
    let patience = ANSWER_LIMIT + round_trip * 2;
    let probe = Probe { socket, hello: Preamble::encode_hello(0, cookie), patience };
    *found.lock().unwrap_or_else(PoisonError::into_inner) = probe.largest(peer.is_ipv4());
}

struct Probe {
    socket: OwnedFd,
    hello: [u8; PREAMBLE_LENGTH],
    patience: Duration,
}

impl Probe {
    fn largest(&self, is_ipv4: bool) -> Option<u32> {
        let headers = if is_ipv4 { 28 } else { 48 };
        let mtu = || net::path_mtu(self.socket.as_fd(), is_ipv4);
        let before = mtu()?;
        let full = before.saturating_sub(headers).min(LARGEST_BYTES);
        if full <= SMALLEST_BYTES || self.passes(full) || !self.passes(SMALLEST_BYTES) {
            return None;
        }
        // A path that says how narrow it is has been heard by the kernel: everyone sends smaller packets then.
        if mtu()? < before {
            return None;
        }
        let begin = Instant::now();
        let (mut passing, mut vanishing) = (SMALLEST_BYTES, full);
        while vanishing - passing > 1 {
            if begin.elapsed() > LIMIT / 2 {
                return None;
            }
            let middle = usize::midpoint(passing, vanishing);
            if self.passes(middle) {
                passing = middle;
            } else {
                vanishing = middle;
            }
        }
        // What was late or lost by chance is no hole.
        (vanishing < full && !self.passes(full)).then(|| u32::try_from(passing).ok())?
    }

    fn passes(&self, bytes: usize) -> bool {
        let mut datagram = vec![0; bytes];
        datagram[..PREAMBLE_LENGTH].copy_from_slice(&self.hello);
        (0..TRIES).any(|_| {
            let mut answer = [0; CHALLENGE_LENGTH + 1];
            while net::receive_now(self.socket.as_fd(), &mut answer).is_ok() {}
            // One that the kernel refuses doesn't pass.
            net::send(self.socket.as_fd(), &datagram).is_ok() && self.is_answered(&mut answer)
        })
    }

    fn is_answered(&self, answer: &mut [u8]) -> bool {
        let socket = self.socket.as_fd();
        net::set_receive_timeout(socket, Some(self.patience)).is_ok()
            && net::receive(socket, answer)
                .is_ok_and(|bytes| Challenge::parse(&answer[..bytes]).is_ok())
    }
}
