//! Looks at the path between this engine's data port and another's, without a test.

use std::net::IpAddr;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use proto::wire::{Preamble, TAG_LENGTH};
use proto::{Cookie, PathArrivals};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::serve::locked::locked;

/// For how long a sink answers after it was last asked: longer than a source looks.
const OPEN_FOR: Duration = Duration::from_secs(60);
/// Checks that a sink answers at once; the oldest makes room.
const MOST_DOORS: usize = 256;
/// Looks at once: each is a thread, and a few packets.
pub const MOST_LOOKS: usize = 8;

/// The path checks of an engine: those that it answers as a sink, and room for those that it makes as a source.
pub struct PathChecks {
    doors: Mutex<Vec<Door>>,
    looks: Semaphore,
}

struct Door {
    tag: [u8; TAG_LENGTH],
    cookie: Cookie,
    peer: Option<IpAddr>,
    until: Instant,
    arrivals: PathArrivals,
}

/// How a probe came.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum By {
    Tcp,
    Udp,
}

impl Default for PathChecks {
    fn default() -> Self {
        Self { doors: Mutex::default(), looks: Semaphore::new(MOST_LOOKS) }
    }
}

impl PathChecks {
    /// Answers whoever knows the cookie from now on, and returns what has come by now.
    pub fn open(&self, cookie: &Cookie, peer: Option<IpAddr>) -> PathArrivals {
        let mut doors = locked(&self.doors);
        let now = Instant::now();
        doors.retain(|door| door.until > now);
        let tag = cookie.tag();
        if let Some(door) = doors.iter_mut().find(|door| door.tag == tag) {
            door.until = now + OPEN_FOR;
            return door.arrivals;
        }
        if doors.len() >= MOST_DOORS {
            doors.remove(0);
        }
        let arrivals = PathArrivals::default();
        doors.push(Door { tag, cookie: cookie.clone(), peer, until: now + OPEN_FOR, arrivals });
        arrivals
    }

    /// A place to look from; none while as many look as may.
    pub fn place_to_look(&self) -> Option<SemaphorePermit<'_>> {
        self.looks.try_acquire().ok()
    }

    /// Whether this probe is to be answered; it is counted.
    pub fn admits(&self, probe: &Preamble, from: IpAddr, by: By) -> bool {
        let mut doors = locked(&self.doors);
        let now = Instant::now();
        let door = doors.iter_mut().find(|door| {
            door.tag == probe.tag
                && door.until > now
                && door.peer.is_none_or(|peer| peer == from.to_canonical())
                && probe.is_proved_by(&door.cookie)
        });
        let Some(door) = door else { return false };
        match by {
            By::Tcp => door.arrivals.tcp += 1,
            By::Udp => door.arrivals.udp += 1,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use proto::wire::{ConnectionRole, Transport};

    use super::*;

    fn probe(cookie: &Cookie) -> Preamble {
        let bytes = Preamble::encode(ConnectionRole::Probe, 0, cookie);
        Preamble::parse(Transport::Tcp, &bytes).unwrap()
    }

    #[test]
    fn only_who_knows_the_cookie_and_is_the_peer_is_answered_and_counted() {
        let checks = PathChecks::default();
        let (cookie, other) = (Cookie::new([1; 32]), Cookie::new([2; 32]));
        let (peer, stranger) = ("192.0.2.1".parse().unwrap(), "192.0.2.2".parse().unwrap());
        assert!(!checks.admits(&probe(&cookie), peer, By::Tcp));
        checks.open(&cookie, Some(peer));
        assert!(checks.admits(&probe(&cookie), peer, By::Tcp));
        assert!(!checks.admits(&probe(&cookie), stranger, By::Tcp));
        assert!(!checks.admits(&probe(&other), peer, By::Udp));
        assert!(checks.admits(&probe(&cookie), peer, By::Udp));
        assert_eq!(checks.open(&cookie, Some(peer)), PathArrivals { tcp: 1, udp: 1 });
    }

    #[test]
    fn the_oldest_check_makes_room() {
        let checks = PathChecks::default();
        let cookie = |number: usize| Cookie::new([u8::try_from(number % 256).unwrap(); 32]);
        let own = Cookie::parse(&"0f".repeat(32)).unwrap();
        checks.open(&own, None);
        (16..16 + MOST_DOORS).for_each(|number| {
            checks.open(&cookie(number), None);
        });
        assert!(locked(&checks.doors).len() <= MOST_DOORS);
    }
}
