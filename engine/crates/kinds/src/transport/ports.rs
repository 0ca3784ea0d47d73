//! The source ports that a session registers and steps through.

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};

use proto::{Reason, reason};

/// Ports that one session registers: other sessions of the same source need some too.
const REGISTERED_PORTS: u16 = 16_384;
/// Linux's default range, where the kernel doesn't tell.
pub const DEFAULT_PORTS: (u16, u16) = (32_768, 60_999);
/// Below it are ports that hosts' services like; a bound one is only skipped, but costs a call.
const FIRST_PLAIN_PORT: u16 = 10_000;

/// Whether a source may register these: more, and it could claim connections of its host's other tests.
pub fn is_part_of_ports((first, last): (u16, u16)) -> bool {
    first > 0 && first <= last && last - first < REGISTERED_PORTS
}

/// A part of this host's ports, at a random place; below the ephemeral ones where there is room. The sink takes a
/// connection from a registered port for this session's, and another session's from this host has an ephemeral one.
pub fn choose_ports() -> Result<(u16, u16), Reason> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let mut bounds = text.split_whitespace().map_while(|bound| bound.parse::<u16>().ok());
    let ephemeral = bounds.next().zip(bounds.next()).unwrap_or(DEFAULT_PORTS);
    let random = net::random_number()
        .map_err(|error| reason!("setup_no_random_numbers", why = error.to_string()))?;
    Ok(part_of_ports(ephemeral, random))
}

fn part_of_ports((low, high): (u16, u16), random: u64) -> (u16, u16) {
    let has_room_below = low > FIRST_PLAIN_PORT + REGISTERED_PORTS;
    let (low, high) = if has_room_below { (FIRST_PLAIN_PORT, low - 1) } else { (low, high) };
    let count = (REGISTERED_PORTS - 1).min(high.saturating_sub(low));
    let slack = u64::from(high - low - count);
    let first = low + u16::try_from(random % (slack + 1)).unwrap_or(0);
    (first, first + count)
}

/// Hands out source ports one after the other, from a random start, around and around.
pub struct PortSteps {
    first: u16,
    count: u32,
    next: AtomicU32,
}

impl PortSteps {
    /// Steps through the ports from the first to the last.
    pub fn new((first, last): (u16, u16)) -> Self {
        let count = u32::from(last - first) + 1;
        // Any start will do; without randomness it is the first.
        let seed = net::random_number().map_or(0, |number| (number >> 32) as u32);
        let next = AtomicU32::new(seed % count);
        Self { first, count, next }
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The next one.
    pub fn step(&self) -> u16 {
        let place = self.next.fetch_add(1, Ordering::Relaxed) % self.count;
        self.first + u16::try_from(place).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::{PortSteps, choose_ports, is_part_of_ports, part_of_ports};

    #[test]
    fn ports_go_around_within_their_range() {
        let ports = PortSteps::new((40_000, 40_002));
        let mut seen: Vec<u16> = (0..6).map(|_| ports.step()).collect();
        seen.sort_unstable();
        assert_eq!(seen, [40_000, 40_000, 40_001, 40_001, 40_002, 40_002]);
    }

    #[test]
    fn chosen_ports_lie_below_the_ephemeral_ones_where_there_is_room() {
        let (first, last) = choose_ports().expect("random numbers");
        assert!(first >= 1_024 && last > first);
        assert_eq!(part_of_ports((32_768, 60_999), 0), (10_000, 26_383));
        assert_eq!(part_of_ports((32_768, 60_999), 6_384), (16_384, 32_767));
        assert_eq!(part_of_ports((1_024, 65_535), 0), (1_024, 17_407));
        assert_eq!(part_of_ports((60_000, 60_100), 0), (10_000, 26_383));
    }

    #[test]
    fn what_is_registered_is_a_range_upward_and_no_longer_than_ours() {
        assert!(is_part_of_ports((10_000, 26_383)) && is_part_of_ports((9, 9)));
        for range in [(10_000, 26_384), (0, 1), (2, 1), (1, u16::MAX)] {
            assert!(!is_part_of_ports(range), "{range:?}");
        }
    }
}
