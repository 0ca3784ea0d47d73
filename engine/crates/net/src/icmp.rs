//! ICMP echo: on a ping socket, or on a raw one where the host allows only that.

use std::net::{IpAddr, SocketAddr};
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, ipproto};

use crate::socket::{LocalEnd, Options, local_address, prepare};
use crate::traffic::arrivals::{receive_stamped_from, stamp_arrivals};

/// Type, code, checksum, identifier and sequence number.
pub const ECHO_HEADER_BYTES: usize = 8;
/// An IPv4 header with all options, which a raw socket gives before the message.
const LONGEST_IPV4_HEADER_BYTES: usize = 60;

/// Why there is no echo socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EchoRefusal {
    /// Neither a ping socket nor a raw one is allowed.
    Permission,
    /// Anything else.
    Kernel(Errno),
}

/// How the kernel gives messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The kernel sets the identifier and gives only its replies.
    Ping,
    /// All ICMP of the peer comes, with an IP header where that is IPv4.
    Raw,
}

/// A socket for echo requests to one host.
#[derive(Debug)]
pub struct EchoSocket {
    socket: OwnedFd,
    form: Form,
    peer: SocketAddr,
    identifier: u16,
    request: Vec<u8>,
}

/// An echo reply that has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EchoReply {
    /// Where its payload lies in the buffer.
    pub payload: Range<usize>,
    /// When it arrived.
    pub at: Instant,
    /// Who sent it: not who was asked, where addresses are translated on the way.
    pub from: Option<IpAddr>,
}

impl EchoSocket {
    /// Opens a ping socket, or a raw socket where the host's administrator allows no ping sockets.
    /// A raw socket's echoes bear `identifier`; a ping socket's the kernel chooses.
    ///
    /// # Errors
    /// When neither is allowed, or the kernel refuses the local end, an option or the route.
    pub fn open(
        peer: IpAddr,
        local: &LocalEnd,
        options: &Options,
        identifier: u16,
    ) -> Result<Self, EchoRefusal> {
        let (socket, form) = open_either(peer)?;
        let there = SocketAddr::new(peer, 0);
        prepare(socket.as_fd(), there, local, options, false)
            .and_then(|()| stamp_arrivals(socket.as_fd()))
            .map_err(EchoRefusal::Kernel)?;
        match form {
            Form::Ping => rustix::net::connect(&socket, &there).map_err(EchoRefusal::Kernel)?,
            Form::Raw => find_route(there, local, options)?,
        }
        let identifier = match form {
            // A ping socket's identifier is its port.
            Form::Ping => local_address(socket.as_fd()).map_err(EchoRefusal::Kernel)?.port(),
            Form::Raw => identifier,
        };
        Ok(Self { socket, form, peer: there, identifier, request: Vec::new() })
    }

    /// Sends an echo request.
    ///
    /// # Errors
    /// What `send(2)` says.
    pub fn send(&mut self, sequence: u16, payload: &[u8]) -> Result<(), Errno> {
        let is_ipv4 = self.peer.is_ipv4();
        encode_request(&mut self.request, is_ipv4, self.identifier, sequence, payload);
        match self.form {
            Form::Ping => crate::send(self.socket.as_fd(), &self.request).map(|_| ()),
            Form::Raw => crate::send_from(self.socket.as_fd(), &self.request, self.peer, None),
        }
    }

    /// Receives one message that is there already; none for any that is no echo reply.
    ///
    /// # Errors
    /// `EAGAIN` when nothing is there, else what `recvmsg(2)` says.
    pub fn receive(&self, buffer: &mut [u8]) -> Result<Option<EchoReply>, Errno> {
        let (length, at, from) = receive_stamped_from(self.socket.as_fd(), buffer)?;
        let is_ipv4 = self.peer.is_ipv4();
        let has_ip_header = self.form == Form::Raw && is_ipv4;
        let begin = if has_ip_header { ipv4_header_bytes(&buffer[..length]) } else { Some(0) };
        let Some(message) = begin.and_then(|begin| buffer.get(begin..length)) else {
            return Ok(None);
        };
        // A ping socket's replies are its own, whatever identifier they bear.
        let identifier = (self.form == Form::Raw).then_some(self.identifier);
        let is_reply = is_reply(message, is_ipv4, identifier);
        let payload = length - message.len() + ECHO_HEADER_BYTES..length;
        Ok(is_reply.then_some(EchoReply { payload, at, from }))
    }

    /// What a buffer must hold to receive replies of `payload_bytes` and to notice longer ones.
    #[must_use]
    pub const fn buffer_bytes(payload_bytes: usize) -> usize {
        LONGEST_IPV4_HEADER_BYTES + ECHO_HEADER_BYTES + payload_bytes + 1
    }

    /// Whether it is a raw socket.
    #[must_use]
    pub fn is_raw(&self) -> bool {
        self.form == Form::Raw
    }

    /// For waiting.
    #[must_use]
    pub fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Sees whether there is a route, by a socket of its own: a raw one that is connected hears nothing of replies from
/// another address than was asked.
fn find_route(there: SocketAddr, local: &LocalEnd, options: &Options) -> Result<(), EchoRefusal> {
    let (socket, _) = open_either(there.ip())?;
    prepare(socket.as_fd(), there, local, options, false)
        .and_then(|()| rustix::net::connect(&socket, &there))
        .map_err(EchoRefusal::Kernel)
}

fn open_either(peer: IpAddr) -> Result<(OwnedFd, Form), EchoRefusal> {
    let (family, protocol) = match peer {
        IpAddr::V4(_) => (AddressFamily::INET, ipproto::ICMP),
        IpAddr::V6(_) => (AddressFamily::INET6, ipproto::ICMPV6),
    };
    let open = |kind| rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, Some(protocol));
    match open(SocketType::DGRAM) {
        Ok(socket) => return Ok((socket, Form::Ping)),
        // EACCES: the group isn't in net.ipv4.ping_group_range. The others: a kernel without ping sockets.
        Err(Errno::ACCESS | Errno::PERM | Errno::PROTONOSUPPORT | Errno::SOCKTNOSUPPORT) => {}
        Err(error) => return Err(EchoRefusal::Kernel(error)),
    }
    match open(SocketType::RAW) {
        Ok(socket) => Ok((socket, Form::Raw)),
        Err(Errno::PERM | Errno::ACCESS) => Err(EchoRefusal::Permission),
        Err(error) => Err(EchoRefusal::Kernel(error)),
    }
}

/// Type numbers of RFC 792 and RFC 4443: request, reply.
const fn types(is_ipv4: bool) -> (u8, u8) {
    if is_ipv4 { (8, 0) } else { (128, 129) }
}

/// Writes an echo request; the kernel fills in the checksum of `ICMPv6`, which covers addresses.
fn encode_request(
    request: &mut Vec<u8>,
    is_ipv4: bool,
    identifier: u16,
    sequence: u16,
    payload: &[u8],
) {
    request.clear();
    request.extend_from_slice(&[types(is_ipv4).0, 0, 0, 0]);
    request.extend_from_slice(&identifier.to_be_bytes());
    request.extend_from_slice(&sequence.to_be_bytes());
    request.extend_from_slice(payload);
    if is_ipv4 {
        let sum = checksum(request);
        request[2..4].copy_from_slice(&sum.to_be_bytes());
    }
}

/// The Internet checksum (RFC 1071).
fn checksum(bytes: &[u8]) -> u16 {
    let word = |pair: &[u8]| u64::from(pair[0]) << 8 | u64::from(*pair.get(1).unwrap_or(&0));
    let mut sum: u64 = bytes.chunks(2).map(word).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    // Folded to 16 bits above.
    !u16::try_from(sum).unwrap_or(u16::MAX)
}

fn is_reply(message: &[u8], is_ipv4: bool, identifier: Option<u16>) -> bool {
    message.len() >= ECHO_HEADER_BYTES
        && message[0] == types(is_ipv4).1
        && identifier.is_none_or(|identifier| message[4..6] == identifier.to_be_bytes())
}

/// The length of the IPv4 header that a packet begins with; none when the packet is shorter.
fn ipv4_header_bytes(packet: &[u8]) -> Option<usize> {
    let length = usize::from(packet.first()? & 0x0f) * 4;
    (length >= 20 && packet.len() >= length).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_as_rfc_792_says_and_sums_to_nothing() {
        let mut request = Vec::new();
        encode_request(&mut request, true, 0x1234, 7, b"odd");
        assert_eq!(request[..2], [8, 0]);
        assert_eq!(request[4..], *b"\x12\x34\x00\x07odd");
        assert_eq!(checksum(&request), 0);
    }

    #[test]
    fn the_checksum_is_that_of_rfc_1071() {
        assert_eq!(checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
        assert_eq!(checksum(&[0xff, 0xff]), 0);
    }

    #[test]
    fn only_replies_with_the_own_identifier_are_taken() {
        let reply = [0, 0, 9, 9, 0x12, 0x34, 0, 7, 1];
        assert!(is_reply(&reply, true, Some(0x1234)));
        assert!(!is_reply(&reply, true, Some(0x1235)));
        assert!(is_reply(&reply, true, None));
        assert!(!is_reply(&reply, false, None));
        assert!(!is_reply(&[8, 0, 9, 9, 0x12, 0x34, 0, 7, 1], true, None));
        assert!(!is_reply(&reply[..7], true, None));
    }

    #[test]
    fn an_ipv4_header_is_skipped_with_its_options() {
        let mut packet = [0; 28];
        packet[0] = 0x45;
        assert_eq!(ipv4_header_bytes(&packet), Some(20));
        packet[0] = 0x46;
        assert_eq!(ipv4_header_bytes(&packet), Some(24));
        packet[0] = 0x4f;
        assert_eq!(ipv4_header_bytes(&packet), None);
        packet[0] = 0x41;
        assert_eq!(ipv4_header_bytes(&packet), None);
        assert_eq!(ipv4_header_bytes(&[]), None);
    }

    #[test]
    fn loopback_answers_an_echo_or_the_refusal_names_the_permission() {
        for peer in ["127.0.0.1", "::1"] {
            let peer: IpAddr = peer.parse().unwrap();
            let opened = EchoSocket::open(peer, &LocalEnd::default(), &Options::default(), 0x4242);
            let mut echo = match opened {
                Ok(echo) => echo,
                Err(refusal) => {
                    assert_eq!(refusal, EchoRefusal::Permission);
                    return;
                }
            };
            let begun = Instant::now();
            echo.send(1, b"who is there").unwrap();
            let mut buffer = vec![0; EchoSocket::buffer_bytes(12)];
            let wake = crate::Wake::new().unwrap();
            let reply = loop {
                let limit = Some(std::time::Duration::from_secs(5));
                let readiness = crate::wait_readable(echo.socket(), &wake, limit).unwrap();
                assert_eq!(readiness, crate::Readiness::Readable, "{peer}");
                if let Some(reply) = echo.receive(&mut buffer).unwrap() {
                    break reply;
                }
            };
            assert_eq!(&buffer[reply.payload], b"who is there");
            assert_eq!(reply.from, Some(peer));
            assert!(reply.at.saturating_duration_since(begun).as_secs() < 5);
        }
    }
}
