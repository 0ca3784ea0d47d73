//! What the test itself put on its interface, so that the rest can be told to be others'.

use net::WireCounts;
use proto::SentCount;

use super::Counters;

/// Ethernet with a VLAN tag and check sum: more than most drivers count.
const LINK_HEADER_BYTES: u64 = 14 + 4 + 4;
const IPV4_HEADER_BYTES: u64 = 20;
const IPV6_HEADER_BYTES: u64 = 40;
/// With the time stamps that Linux sends.
const TCP_HEADER_BYTES: u64 = 20 + 12;
const UDP_HEADER_BYTES: u64 = 8;
/// A datagram of more payload may be sent in fragments, whose number depends on the path.
const UNFRAGMENTED_BYTES: usize = 1_400;

/// Payload that passed this host's sockets in the window; packets only where they were counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OwnTraffic {
    /// Payload bytes received.
    pub rx_bytes: u64,
    /// Payload bytes sent.
    pub tx_bytes: u64,
    /// Packets received, at most.
    pub rx_packets: Option<u64>,
    /// Packets sent, at most.
    pub tx_packets: Option<u64>,
}

/// How a test's packets look.
#[derive(Debug, Clone, Copy)]
pub struct Wrapping {
    /// IPv4, or IPv6.
    pub is_ipv4: bool,
    /// The loopback counts what is sent as received too.
    pub is_loopback: bool,
}

impl OwnTraffic {
    /// Of TCP connections whose counts were read before and after; none where the kernel tells too little.
    pub fn of_connections(before: &[WireCounts], after: &[WireCounts]) -> Option<Self> {
        Some(Self {
            rx_bytes: spent(before, after, |counts| counts.bytes_received)?,
            tx_bytes: spent(before, after, |counts| counts.bytes_sent)?,
            rx_packets: spent(before, after, |counts| counts.segments_received),
            tx_packets: spent(before, after, |counts| counts.segments_sent),
        })
    }

    /// Of so many transactions, of which each had this much payload received and sent.
    pub fn of_transactions(count: u64, received_bytes: usize, sent_bytes: usize) -> Self {
        Self {
            rx_bytes: count * received_bytes as u64,
            tx_bytes: count * sent_bytes as u64,
            ..Self::default()
        }
    }

    /// Of datagrams of one length, as each end counted what it sent.
    pub fn of_datagrams(message_bytes: usize, arriving: &[SentCount], sent: &[SentCount]) -> Self {
        let is_whole = message_bytes <= UNFRAGMENTED_BYTES;
        let packets =
            |flows: &[SentCount]| is_whole.then(|| flows.iter().map(|flow| flow.packets).sum());
        Self {
            rx_bytes: arriving.iter().map(|flow| flow.bytes).sum(),
            tx_bytes: sent.iter().map(|flow| flow.bytes).sum(),
            rx_packets: packets(arriving),
            tx_packets: packets(sent),
        }
    }

    /// The most of an interface's bytes, received and sent, that this traffic explains.
    ///
    /// Headers count for no more packets than the interface had: offloads hand it many segments as one.
    pub fn explains(&self, counters: &Counters, is_tcp: bool, wrapping: Wrapping) -> (u64, u64) {
        let network = if wrapping.is_ipv4 { IPV4_HEADER_BYTES } else { IPV6_HEADER_BYTES };
        let transport = if is_tcp { TCP_HEADER_BYTES } else { UDP_HEADER_BYTES };
        let header = LINK_HEADER_BYTES + network + transport;
        let whole = |bytes: u64, packets: Option<u64>, seen: u64| {
            bytes + header * packets.map_or(seen, |packets| packets.min(seen))
        };
        if wrapping.is_loopback {
            let packets = self.rx_packets.zip(self.tx_packets).map(|(rx, tx)| rx + tx);
            let both = whole(self.rx_bytes + self.tx_bytes, packets, counters.rx_packets);
            return (both, both);
        }
        (
            whole(self.rx_bytes, self.rx_packets, counters.rx_packets),
            whole(self.tx_bytes, self.tx_packets, counters.tx_packets),
        )
    }

    /// Both together.
    pub fn with(self, other: Self) -> Self {
        let sum = |one: Option<u64>, other: Option<u64>| Some(one? + other?);
        Self {
            rx_bytes: self.rx_bytes + other.rx_bytes,
            tx_bytes: self.tx_bytes + other.tx_bytes,
            rx_packets: sum(self.rx_packets, other.rx_packets),
            tx_packets: sum(self.tx_packets, other.tx_packets),
        }
    }
}

/// What was counted between the readings, all connections; none where one doesn't tell.
pub fn spent(
    before: &[WireCounts],
    after: &[WireCounts],
    pick: impl Fn(&WireCounts) -> Option<u64>,
) -> Option<u64> {
    if before.len() != after.len() {
        return None;
    }
    // The kernel's segment counters are of 32 bits: one that came round makes the sum unknown.
    let pairs = before.iter().zip(after);
    pairs.map(|(before, after)| pick(after)?.checked_sub(pick(before)?)).sum()
}

#[cfg(test)]
mod tests {
    use net::WireCounts;

    use super::{Counters, OwnTraffic, Wrapping};

    const WIRE: Wrapping = Wrapping { is_ipv4: true, is_loopback: false };

    fn counts(received: u64, sent: u64, segments: u64) -> WireCounts {
        WireCounts {
            bytes_received: Some(received),
            bytes_sent: Some(sent),
            bytes_retransmitted: Some(0),
            segments_received: Some(segments),
            segments_sent: Some(segments),
        }
    }

    fn counters(bytes: u64, packets: u64) -> Counters {
        Counters {
            rx_bytes: bytes,
            rx_packets: packets,
            tx_bytes: bytes,
            tx_packets: packets,
            ..Counters::default()
        }
    }

    #[test]
    fn connections_are_summed_over_the_window() {
        let own = OwnTraffic::of_connections(
            &[counts(10, 20, 1), counts(0, 0, 0)],
            &[counts(110, 30, 4), counts(5, 6, 2)],
        );
        let expected =
            OwnTraffic { rx_bytes: 105, tx_bytes: 16, rx_packets: Some(5), tx_packets: Some(5) };
        assert_eq!(own, Some(expected));
    }

    #[test]
    fn a_kernel_that_tells_no_bytes_leaves_the_traffic_unknown() {
        let old = WireCounts { bytes_sent: None, ..counts(1, 1, 1) };
        assert_eq!(OwnTraffic::of_connections(&[old], &[old]), None);
        assert_eq!(OwnTraffic::of_connections(&[], &[counts(1, 1, 1)]), None);
    }

    #[test]
    fn headers_count_once_for_each_packet_that_the_interface_had() {
        let own = OwnTraffic {
            rx_bytes: 100_000,
            tx_bytes: 0,
            rx_packets: Some(70),
            tx_packets: Some(35),
        };
        assert_eq!(own.explains(&counters(0, 1_000), true, WIRE), (100_000 + 70 * 74, 35 * 74));
        // Segmentation offload: the interface had two packets each way.
        assert_eq!(own.explains(&counters(0, 2), true, WIRE), (100_000 + 2 * 74, 2 * 74));
        let wide = Wrapping { is_ipv4: false, ..WIRE };
        assert_eq!(own.explains(&counters(0, 2), false, wide), (100_000 + 2 * 70, 2 * 70));
    }

    #[test]
    fn on_the_loopback_both_ways_are_seen_in_both_counters() {
        let own =
            OwnTraffic { rx_bytes: 1_000, tx_bytes: 30, rx_packets: Some(3), tx_packets: Some(2) };
        let loopback = Wrapping { is_loopback: true, ..WIRE };
        assert_eq!(own.explains(&counters(0, 9), true, loopback), (1_030 + 5 * 74, 1_030 + 5 * 74));
    }
}
