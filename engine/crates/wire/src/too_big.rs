//! What a router does with a packet above the MTU: an answer to its sender, or fragments.

use crate::packet::{ETHERNET_BYTES, IPV6_BYTES, Packet};

/// Of the packet that could not go on, an answer by ICMP carries so much (RFC 1812: what fits in 576 bytes).
const QUOTED_BYTES: usize = 548;
/// RFC 4443: what fits in 1,280 bytes.
const QUOTED_BYTES_V6: usize = 1_232;
const IPV4_BYTES: usize = 20;
const MORE_FRAGMENTS: u16 = 0x2000;

/// The ICMP answer, in the name of the packet's destination, as a frame to its sender.
pub fn answer(frame: &[u8], packet: &Packet, mtu: u64) -> Vec<u8> {
    let ip = &frame[ETHERNET_BYTES..];
    let mut answer = Vec::with_capacity(ETHERNET_BYTES + 1_280);
    answer.extend(&frame[6..12]);
    answer.extend(&frame[..6]);
    answer.extend(&frame[12..ETHERNET_BYTES]);
    answer.extend(if packet.is_ipv6 { answer_v6(ip, mtu) } else { answer_v4(ip, mtu) });
    answer
}

fn answer_v4(ip: &[u8], mtu: u64) -> Vec<u8> {
    let quoted = &ip[..ip.len().min(QUOTED_BYTES)];
    let mut message = vec![3, 4, 0, 0, 0, 0];
    message.extend(u16::try_from(mtu).unwrap_or(u16::MAX).to_be_bytes());
    message.extend(quoted);
    let sum = checksum(&[&message]);
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    let total =
        u16::try_from(IPV4_BYTES + message.len()).expect("a quotation is short").to_be_bytes();
    let mut header = vec![0x45, 0, total[0], total[1], 0, 0, 0, 0, 64, 1, 0, 0];
    header.extend(&ip[16..20]);
    header.extend(&ip[12..16]);
    let sum = checksum(&[&header]);
    header[10..12].copy_from_slice(&sum.to_be_bytes());
    header.extend(message);
    header
}

fn answer_v6(ip: &[u8], mtu: u64) -> Vec<u8> {
    let quoted = &ip[..ip.len().min(QUOTED_BYTES_V6)];
    let mut message = vec![2, 0, 0, 0];
    message.extend(u32::try_from(mtu).unwrap_or(u32::MAX).to_be_bytes());
    message.extend(quoted);
    let length = u16::try_from(message.len()).expect("a quotation is short").to_be_bytes();
    let (source, destination) = (&ip[24..40], &ip[8..24]);
    let sum = checksum(&[source, destination, &[0, 0], &length, &[0, 0, 0, 58], &message]);
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    let mut header = vec![0x60, 0, 0, 0, length[0], length[1], 58, 64];
    header.extend(source);
    header.extend(destination);
    header.extend(message);
    header
}

/// Frames of at most the MTU that carry an IPv4 packet; none where the MTU has no room for a header and 8 bytes.
pub fn fragments(frame: &[u8], packet: &Packet, mtu: u64) -> Vec<Vec<u8>> {
    let begin = ETHERNET_BYTES + packet.header_bytes;
    let Some(data) = frame.get(begin..ETHERNET_BYTES + packet.ip_bytes) else { return Vec::new() };
    let mtu = usize::try_from(mtu).unwrap_or(usize::MAX);
    let room = mtu.saturating_sub(packet.header_bytes) / 8 * 8;
    if room == 0 {
        return Vec::new();
    }
    let ip = &frame[ETHERNET_BYTES..];
    let old = u16::from_be_bytes([ip[6], ip[7]]);
    let pieces = data.len().div_ceil(room);
    let cut = |(place, piece): (usize, &[u8])| {
        let mut made = frame[..begin].to_vec();
        let header = &mut made[ETHERNET_BYTES..];
        let offset = (old & 0x1FFF) + u16::try_from(place * room / 8).expect("a packet is short");
        let is_last = place + 1 == pieces;
        let more = if is_last { old & MORE_FRAGMENTS } else { MORE_FRAGMENTS };
        let total = u16::try_from(packet.header_bytes + piece.len()).expect("it fits the MTU");
        header[2..4].copy_from_slice(&total.to_be_bytes());
        header[6..8].copy_from_slice(&(offset | more).to_be_bytes());
        header[10..12].fill(0);
        let sum = checksum(&[header]);
        header[10..12].copy_from_slice(&sum.to_be_bytes());
        made.extend(piece);
        made
    };
    data.chunks(room).enumerate().map(cut).collect()
}

/// The internet checksum of parts that are of even length but for the last (RFC 1071).
fn checksum(parts: &[&[u8]]) -> u16 {
    let words = parts.iter().flat_map(|part| part.chunks(2));
    let mut sum: u32 =
        words.map(|two| u32::from(two[0]) << 8 | u32::from(*two.get(1).unwrap_or(&0))).sum();
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    !u16::try_from(sum).expect("carried over")
}

/// Whether the packet has the whole header that an answer quotes.
pub fn is_whole(frame: &[u8], packet: &Packet) -> bool {
    let header = if packet.is_ipv6 { IPV6_BYTES } else { IPV4_BYTES };
    frame.len() >= ETHERNET_BYTES + header && frame.len() >= ETHERNET_BYTES + packet.ip_bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Protocol, datagram};

    #[test]
    fn fragments_carry_the_whole_datagram_in_the_mtu() {
        let payload: Vec<u8> = (0..=255).cycle().take(3_000).collect();
        let frame = datagram(7411, &payload, true);
        let pieces = fragments(&frame, &Packet::of(&frame), 1_280);
        let mut carried: Vec<u8> = Vec::new();
        for piece in &pieces {
            let packet = Packet::of(piece);
            assert!(packet.is_fragment && packet.ip_bytes <= 1_280);
            assert_eq!(checksum(&[&piece[14..34]]), 0);
            carried.extend(&piece[34..]);
        }
        assert_eq!(pieces.len(), 3);
        assert_eq!(&carried[8..], payload);
    }

    #[test]
    fn the_answer_goes_back_with_the_mtu_and_the_packets_header() {
        let frame = datagram(7411, &[1; 2_000], false);
        let answer = answer(&frame, &Packet::of(&frame), 1_500);
        assert_eq!(Packet::of(&answer).protocol, Protocol::Icmp);
        assert_eq!(answer[26..30], [10, 0, 0, 2]);
        assert_eq!(answer[30..34], [10, 0, 0, 1]);
        assert_eq!(answer[34..36], [3, 4]);
        assert_eq!(answer[40..42], 1_500_u16.to_be_bytes());
        assert_eq!(answer[42..62], frame[14..34]);
        assert_eq!(checksum(&[&answer[34..]]), 0);
    }
}
