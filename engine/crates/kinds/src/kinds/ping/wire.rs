//! How probes travel: ICMP echo, datagrams or messages on a connection.
//!
//! A payload begins with eight bytes that only the session's ends can make and the probe's number;
//! a stranger's packets, or another ping's on the same host, are never taken for replies.

use std::net::IpAddr;
use std::os::fd::BorrowedFd;
use std::time::Instant;

use proto::{Reason, reason};

use super::{Plan, Probe, permission};
use crate::end::End;
use crate::outcome::requests::send_whole;
use crate::outcome::streams;
use crate::task::Cue;

const MARK_BYTES: usize = 8;
/// More addresses say nothing more.
const ELSEWHERE_AT_MOST: usize = 8;
/// Mark and number.
pub const LEAST_PAYLOAD_BYTES: usize = 16;
/// What the mark is made of besides the cookie.
const LABEL: &[u8] = b"ping payload";
const STREAM_BUFFER_BYTES: usize = 64 * 1024;

/// Takes a reply: the probe's number and the time of its arrival.
pub type Take<'a> = &'a mut dyn FnMut(u64, Instant);

/// One way for probes.
pub trait Wire {
    /// Sends the probe of this number.
    fn send(&mut self, number: u64) -> Result<(), net::Errno>;
    /// Takes what has come; `EAGAIN` when nothing more has.
    fn receive(&mut self, take: Take<'_>) -> Result<(), net::Errno>;
    /// For waiting.
    fn socket(&self) -> BorrowedFd<'_>;
    /// Addresses other than the peer's from which replies came, the first of them.
    fn elsewhere(&self) -> Vec<IpAddr> {
        Vec::new()
    }
}

/// Opens the way that the plan asks for.
pub fn open<'a>(end: &'a End, cue: &Cue, plan: &Plan) -> Result<Box<dyn Wire + 'a>, Reason> {
    let payload = Payload::new(end, plan.payload_bytes);
    let refused = |error: net::Errno| reason!("flow_no_probe", why = error.to_string());
    match plan.probe {
        Probe::Icmp => Ok(Box::new(Icmp::open(end, payload)?)),
        Probe::Udp => Ok(Box::new(Datagrams::new(end.flow(cue.flow), payload).map_err(refused)?)),
        Probe::Tcp => Ok(Box::new(Stream::new(end.flow(cue.flow), payload).map_err(refused)?)),
    }
}

/// Sends each message at once, as probes must be.
pub fn without_delay(socket: BorrowedFd<'_>) -> Result<(), net::Errno> {
    net::apply(socket, &net::Options { nodelay: true, ..net::Options::default() }, true, true)
}

/// A probe's payload, numbered anew for each.
struct Payload {
    bytes: Vec<u8>,
}

impl Payload {
    fn new(end: &End, length: usize) -> Self {
        let mut bytes = streams::payload(length);
        bytes[..MARK_BYTES].copy_from_slice(&end.cookie.proof(LABEL)[..MARK_BYTES]);
        Self { bytes }
    }

    fn numbered(&mut self, number: u64) -> &[u8] {
        self.bytes[MARK_BYTES..LEAST_PAYLOAD_BYTES].copy_from_slice(&number.to_be_bytes());
        &self.bytes
    }

    /// The number of an echoed payload; none when it is not one of ours, or was changed on its way.
    fn number_of(&self, echoed: &[u8]) -> Option<u64> {
        let is_ours = echoed.len() == self.bytes.len()
            && echoed[..MARK_BYTES] == self.bytes[..MARK_BYTES]
            && echoed[LEAST_PAYLOAD_BYTES..] == self.bytes[LEAST_PAYLOAD_BYTES..];
        let number = echoed.get(MARK_BYTES..LEAST_PAYLOAD_BYTES).filter(|_| is_ours)?;
        Some(u64::from_be_bytes(number.try_into().ok()?))
    }
}

struct Icmp {
    echo: net::EchoSocket,
    payload: Payload,
    buffer: Vec<u8>,
    peer: IpAddr,
    elsewhere: Vec<IpAddr>,
}

impl Icmp {
    fn open(end: &End, payload: Payload) -> Result<Self, Reason> {
        let peer = end.peer.ok_or_else(|| reason!("setup_no_peer"))?.ip();
        let identifier = u16::from_be_bytes([payload.bytes[0], payload.bytes[1]]);
        let echo = net::EchoSocket::open(peer, &end.local, end.options(), identifier).map_err(
            |refusal| match refusal {
                net::EchoRefusal::Permission => permission::advice(),
                net::EchoRefusal::Kernel(error) => {
                    let (peer, why) = (peer.to_string(), error.to_string());
                    reason!("flow_no_echo_request", peer = peer, why = why)
                }
            },
        )?;
        let buffer = vec![0; net::EchoSocket::buffer_bytes(payload.bytes.len())];
        Ok(Self { echo, payload, buffer, peer: peer.to_canonical(), elsewhere: Vec::new() })
    }
}

impl Wire for Icmp {
    fn send(&mut self, number: u64) -> Result<(), net::Errno> {
        // ICMP has 16 bits for it; the payload has the whole number.
        #[allow(clippy::cast_possible_truncation)]
        let sequence = number as u16;
        self.echo.send(sequence, self.payload.numbered(number))
    }

    fn receive(&mut self, take: Take<'_>) -> Result<(), net::Errno> {
        let Some(reply) = self.echo.receive(&mut self.buffer)? else {
            return Ok(());
        };
        if let Some(number) = self.payload.number_of(&self.buffer[reply.payload]) {
            let from = reply.from.filter(|from| *from != self.peer);
            let is_full = self.elsewhere.len() >= ELSEWHERE_AT_MOST;
            if let Some(from) = from.filter(|from| !is_full && !self.elsewhere.contains(from)) {
                self.elsewhere.push(from);
            }
            take(number, reply.at);
        }
        Ok(())
    }

    fn elsewhere(&self) -> Vec<IpAddr> {
        self.elsewhere.clone()
    }

    fn socket(&self) -> BorrowedFd<'_> {
        self.echo.socket()
    }
}

struct Datagrams<'a> {
    socket: BorrowedFd<'a>,
    payload: Payload,
    buffer: Vec<u8>,
}

impl<'a> Datagrams<'a> {
    fn new(socket: BorrowedFd<'a>, payload: Payload) -> Result<Self, net::Errno> {
        net::stamp_arrivals(socket)?;
        // One byte more, so that a longer datagram is seen to be longer.
        let buffer = vec![0; payload.bytes.len() + 1];
        Ok(Self { socket, payload, buffer })
    }
}

impl Wire for Datagrams<'_> {
    fn send(&mut self, number: u64) -> Result<(), net::Errno> {
        net::send(self.socket, self.payload.numbered(number)).map(|_| ())
    }

    fn receive(&mut self, take: Take<'_>) -> Result<(), net::Errno> {
        let (length, at) = net::receive_stamped(self.socket, &mut self.buffer)?;
        if let Some(number) = self.payload.number_of(&self.buffer[..length]) {
            take(number, at);
        }
        Ok(())
    }

    fn socket(&self) -> BorrowedFd<'_> {
        self.socket
    }
}

/// Messages on a connection: several may come with one receive, or one in parts.
struct Stream<'a> {
    socket: BorrowedFd<'a>,
    payload: Payload,
    buffer: Vec<u8>,
    filled: usize,
}

impl<'a> Stream<'a> {
    fn new(socket: BorrowedFd<'a>, payload: Payload) -> Result<Self, net::Errno> {
        without_delay(socket)?;
        net::stamp_arrivals(socket)?;
        let buffer = vec![0; payload.bytes.len() + STREAM_BUFFER_BYTES];
        Ok(Self { socket, payload, buffer, filled: 0 })
    }
}

impl Wire for Stream<'_> {
    fn send(&mut self, number: u64) -> Result<(), net::Errno> {
        send_whole(self.socket, self.payload.numbered(number))
    }

    fn receive(&mut self, take: Take<'_>) -> Result<(), net::Errno> {
        let (bytes, at) = net::receive_stamped(self.socket, &mut self.buffer[self.filled..])?;
        if bytes == 0 {
            return Err(net::Errno::CONNRESET);
        }
        self.filled += bytes;
        let length = self.payload.bytes.len();
        let whole = self.filled - self.filled % length;
        for message in self.buffer[..whole].chunks(length) {
            // A connection gives what was sent, in order: anything else is a fault of the peer's.
            take(self.payload.number_of(message).ok_or(net::Errno::PROTO)?, at);
        }
        self.buffer.copy_within(whole..self.filled, 0);
        self.filled -= whole;
        Ok(())
    }

    fn socket(&self) -> BorrowedFd<'_> {
        self.socket
    }
}

#[cfg(test)]
mod tests {
    use super::{LEAST_PAYLOAD_BYTES, Payload};

    #[test]
    fn a_number_is_read_back_from_an_unchanged_payload_only() {
        let mut payload = Payload { bytes: crate::outcome::streams::payload(40) };
        let mut echoed = payload.numbered(0x1_0000_0007).to_vec();
        payload.numbered(9);
        assert_eq!(payload.number_of(&echoed), Some(0x1_0000_0007));
        assert_eq!(payload.number_of(&echoed[..39]), None);
        assert_eq!(payload.number_of(&[]), None);
        for place in [0, LEAST_PAYLOAD_BYTES, 39] {
            echoed[place] ^= 1;
            assert_eq!(payload.number_of(&echoed), None, "byte {place}");
            echoed[place] ^= 1;
        }
    }
}
