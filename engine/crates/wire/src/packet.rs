//! What a frame carries, as far as a wire cares.

use serde::Serialize;

pub const ETHERNET_BYTES: usize = 14;
pub const IPV6_BYTES: usize = 40;
/// Of an Ethernet address: it is of a group, or of all.
const GROUP_BIT: u8 = 1;
const NEIGHBOUR_DISCOVERY: std::ops::RangeInclusive<u8> = 133..=137;
const FRAGMENT_OFFSET: u16 = 0x1FFF;
const IPV6_FRAGMENT: u8 = 44;
const IPV6_FRAGMENT_BYTES: usize = 8;
/// Of a payload's start that the log keeps: the header of a measured datagram fits.
pub const START_BYTES: usize = 24;

/// By which counts are kept.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    Tcp,
    Udp,
    /// Of either IP, neighbour discovery apart.
    Icmp,
    /// ARP, neighbour discovery and all that is for many: what stays on a link, and no router forwards.
    Neighbour,
    Other,
}

/// A frame's headers, read.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    pub protocol: Protocol,
    /// Source and destination; 0 where there are none.
    pub ports: [u16; 2],
    /// Of TCP, the first byte's number in its stream; 0 of anything else.
    pub sequence: u32,
    pub is_fragment: bool,
    /// Whether a router may cut it.
    pub may_fragment: bool,
    pub is_ipv6: bool,
    /// Of the IP packet; 0 of anything else.
    pub ip_bytes: usize,
    /// Of the IP header, extensions left out.
    pub header_bytes: usize,
    /// Where the payload of TCP, UDP or ICMP lies in the frame.
    pub payload: [usize; 2],
}

impl Packet {
    pub fn of(frame: &[u8]) -> Self {
        if frame.first().is_some_and(|byte| byte & GROUP_BIT != 0) {
            return Self::other(Protocol::Neighbour);
        }
        let read = match frame.get(12..ETHERNET_BYTES) {
            Some([8, 0]) => ipv4(frame),
            Some([0x86, 0xdd]) => ipv6(frame),
            Some([8, 6]) => Some(Self::other(Protocol::Neighbour)),
            _ => None,
        };
        read.unwrap_or(Self::other(Protocol::Other))
    }

    /// The first bytes of the payload, zeros behind its end.
    pub fn start(&self, frame: &[u8]) -> [u8; START_BYTES] {
        let mut start = [0; START_BYTES];
        let payload = frame.get(self.payload[0]..self.payload[1]).unwrap_or_default();
        let length = payload.len().min(START_BYTES);
        start[..length].copy_from_slice(&payload[..length]);
        start
    }

    pub fn payload_bytes(&self) -> usize {
        self.payload[1].saturating_sub(self.payload[0])
    }

    fn other(protocol: Protocol) -> Self {
        Self {
            protocol,
            ports: [0; 2],
            sequence: 0,
            is_fragment: false,
            may_fragment: false,
            is_ipv6: false,
            ip_bytes: 0,
            header_bytes: 0,
            payload: [0; 2],
        }
    }
}

fn ipv4(frame: &[u8]) -> Option<Packet> {
    let ip = frame.get(ETHERNET_BYTES..)?;
    let header_bytes = usize::from(*ip.first()? & 15) * 4;
    let fragment = word(ip, 6)?;
    let mut packet = Packet {
        is_fragment: fragment & 0x3FFF != 0,
        may_fragment: fragment & 0x4000 == 0,
        ip_bytes: word(ip, 2)?.into(),
        header_bytes,
        ..Packet::other(Protocol::Other)
    };
    let is_first = fragment & FRAGMENT_OFFSET < 1;
    transport(&mut packet, *ip.get(9)?, header_bytes, ip, is_first)?;
    Some(packet)
}

fn ipv6(frame: &[u8]) -> Option<Packet> {
    let ip = frame.get(ETHERNET_BYTES..)?;
    let mut packet = Packet {
        is_ipv6: true,
        ip_bytes: IPV6_BYTES + usize::from(word(ip, 4)?),
        header_bytes: IPV6_BYTES,
        ..Packet::other(Protocol::Other)
    };
    let (mut protocol, mut begin, mut is_first) = (*ip.get(6)?, IPV6_BYTES, true);
    if protocol == IPV6_FRAGMENT {
        packet.is_fragment = true;
        is_first = word(ip, IPV6_BYTES + 2)? & 0xFFF8 == 0;
        protocol = *ip.get(IPV6_BYTES)?;
        begin += IPV6_FRAGMENT_BYTES;
    }
    transport(&mut packet, protocol, begin, ip, is_first)?;
    Some(packet)
}

/// Reads the header at `begin` of an IP packet; a later fragment has none.
fn transport(
    packet: &mut Packet,
    number: u8,
    begin: usize,
    ip: &[u8],
    is_first: bool,
) -> Option<()> {
    packet.protocol = match number {
        6 => Protocol::Tcp,
        17 => Protocol::Udp,
        58 if is_first && NEIGHBOUR_DISCOVERY.contains(ip.get(begin)?) => Protocol::Neighbour,
        1 | 58 => Protocol::Icmp,
        _ => return Some(()),
    };
    let end = ETHERNET_BYTES + packet.ip_bytes.min(ip.len());
    let header = match packet.protocol {
        _ if !is_first => 0,
        Protocol::Tcp => usize::from(ip.get(begin + 12)? >> 4) * 4,
        _ => 8,
    };
    packet.payload = [(ETHERNET_BYTES + begin + header).min(end), end];
    if is_first && matches!(packet.protocol, Protocol::Tcp | Protocol::Udp) {
        packet.ports = [word(ip, begin)?, word(ip, begin + 2)?];
    }
    if is_first && packet.protocol == Protocol::Tcp {
        packet.sequence = u32::from(word(ip, begin + 4)?) << 16 | u32::from(word(ip, begin + 6)?);
    }
    Some(())
}

fn word(bytes: &[u8], place: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*bytes.get(place)?, *bytes.get(place + 1)?]))
}

/// A UDP datagram over IPv4 in a frame, for tests.
#[cfg(test)]
pub fn datagram(port: u16, payload: &[u8], may_fragment: bool) -> Vec<u8> {
    let ip_bytes = u16::try_from(28 + payload.len()).unwrap().to_be_bytes();
    let flags = if may_fragment { 0 } else { 0x40 };
    let mut frame = vec![2; 12];
    frame.extend([8, 0, 0x45, 0, ip_bytes[0], ip_bytes[1], 0, 1, flags, 0, 64, 17, 0, 0]);
    frame.extend([10, 0, 0, 1, 10, 0, 0, 2]);
    let length = u16::try_from(8 + payload.len()).unwrap().to_be_bytes();
    let port = port.to_be_bytes();
    frame.extend([0x30, 0x39, port[0], port[1], length[0], length[1], 0, 0]);
    frame.extend(payload);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_is_read_with_ports_and_payload() {
        let frame = datagram(7411, b"hello", false);
        let packet = Packet::of(&frame);
        assert_eq!((packet.protocol, packet.ports), (Protocol::Udp, [12_345, 7_411]));
        assert_eq!((packet.ip_bytes, packet.payload_bytes()), (33, 5));
        assert_eq!(&packet.start(&frame)[..6], b"hello\0");
        assert!(!packet.may_fragment && !packet.is_fragment);
    }

    #[test]
    fn what_is_cut_short_is_other() {
        let frame = datagram(7411, b"hello", false);
        for length in 0..34 {
            assert_eq!(Packet::of(&frame[..length]).protocol, Protocol::Other, "{length}");
        }
    }

    #[test]
    fn arp_is_a_neighbours() {
        let mut frame = vec![0; 42];
        frame[12..14].copy_from_slice(&[8, 6]);
        assert_eq!(Packet::of(&frame).protocol, Protocol::Neighbour);
    }
}
