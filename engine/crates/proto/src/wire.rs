//! The bytes that open a data connection or a UDP flow. Big endian throughout.

use std::net::{IpAddr, SocketAddr};

use subtle::ConstantTimeEq;

use crate::Cookie;
use crate::cookie::keyed_digest;
pub use crate::cookie::{PROOF_LENGTH, TAG_LENGTH};

/// Length of a TCP preamble and of a UDP hello.
pub const PREAMBLE_LENGTH: usize = 64;
/// Length of a UDP challenge: never more than the hello that it answers.
pub const CHALLENGE_LENGTH: usize = 40;
/// Length of a UDP response.
pub const RESPONSE_LENGTH: usize = CHALLENGE_LENGTH + PROOF_LENGTH;
/// Length of a challenge's nonce.
pub const NONCE_LENGTH: usize = 16;

const TCP_MAGIC: &[u8; 4] = b"BWD1";
const HELLO_MAGIC: &[u8; 4] = b"BWU1";
const CHALLENGE_MAGIC: &[u8; 4] = b"BWUC";
const RESPONSE_MAGIC: &[u8; 4] = b"BWUR";
/// The part of a preamble that its proof covers.
const HEAD_LENGTH: usize = PREAMBLE_LENGTH - PROOF_LENGTH;

/// Bytes that are not what they should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// Another protocol, or another message of this one.
    #[error("the first four bytes are not those of this message")]
    Magic,
    /// A role that this version doesn't know.
    #[error("role {0} is none of 0 (link), 1 (flow) and 2 (probe)")]
    Role(u8),
    /// A datagram of another length.
    #[error("{0} bytes, which is not this message's length")]
    Length(usize),
}

/// What a data connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionRole {
    /// The session's link.
    Link,
    /// One of its flows.
    Flow,
    /// A look whether TCP passes: it is answered with a challenge, and closed.
    Probe,
}

/// How a preamble travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// As the first bytes of a TCP connection.
    Tcp,
    /// As a UDP hello.
    Udp,
}

/// A parsed preamble, not yet proved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preamble {
    /// What the connection is for.
    pub role: ConnectionRole,
    /// The flow's index; 0 for a link.
    pub flow_index: u32,
    /// Of a UDP hello: how long its answer is to be, to see whether that passes; 0 for as short as it can be.
    pub answer_bytes: u32,
    /// Finds the session.
    pub tag: [u8; TAG_LENGTH],
    head: [u8; HEAD_LENGTH],
    proof: [u8; PROOF_LENGTH],
}

impl Preamble {
    /// Writes a TCP preamble.
    #[must_use]
    pub fn encode(role: ConnectionRole, flow_index: u32, cookie: &Cookie) -> [u8; PREAMBLE_LENGTH] {
        encode_preamble(*TCP_MAGIC, role, flow_index, 0, cookie)
    }

    /// Writes a UDP hello.
    #[must_use]
    pub fn encode_hello(flow_index: u32, cookie: &Cookie) -> [u8; PREAMBLE_LENGTH] {
        encode_preamble(*HELLO_MAGIC, ConnectionRole::Flow, flow_index, 0, cookie)
    }

    /// Writes a UDP hello whose answer is padded to so many bytes; engines of before that answer it as any other.
    #[must_use]
    pub fn encode_hello_for(answer_bytes: u32, cookie: &Cookie) -> [u8; PREAMBLE_LENGTH] {
        encode_preamble(*HELLO_MAGIC, ConnectionRole::Flow, 0, answer_bytes, cookie)
    }

    /// Reads a TCP preamble or a UDP hello.
    ///
    /// # Errors
    /// When magic, role or length are wrong.
    pub fn parse(transport: Transport, bytes: &[u8]) -> Result<Self, WireError> {
        let bytes: &[u8; PREAMBLE_LENGTH] =
            bytes.try_into().map_err(|_| WireError::Length(bytes.len()))?;
        let magic = match transport {
            Transport::Tcp => TCP_MAGIC,
            Transport::Udp => HELLO_MAGIC,
        };
        if &bytes[..4] != magic {
            return Err(WireError::Magic);
        }
        let role = match (bytes[4], transport) {
            (0, Transport::Tcp) => ConnectionRole::Link,
            (1, _) => ConnectionRole::Flow,
            (2, Transport::Tcp) => ConnectionRole::Probe,
            (other, _) => return Err(WireError::Role(other)),
        };
        Ok(Self {
            role,
            flow_index: u32::from_be_bytes(part(bytes, 8)),
            answer_bytes: u32::from_be_bytes(part(bytes, 12)),
            tag: part(bytes, 16),
            head: part(bytes, 0),
            proof: part(bytes, HEAD_LENGTH),
        })
    }

    /// Whether whoever sent this knows `cookie`, in constant time.
    #[must_use]
    pub fn is_proved_by(&self, cookie: &Cookie) -> bool {
        cookie.proves(&self.head, &self.proof)
    }
}

fn encode_preamble(
    magic: [u8; 4],
    role: ConnectionRole,
    flow_index: u32,
    answer_bytes: u32,
    cookie: &Cookie,
) -> [u8; PREAMBLE_LENGTH] {
    let mut bytes = [0; PREAMBLE_LENGTH];
    bytes[..4].copy_from_slice(&magic);
    bytes[4] = match role {
        ConnectionRole::Link => 0,
        ConnectionRole::Flow => 1,
        ConnectionRole::Probe => 2,
    };
    bytes[8..12].copy_from_slice(&flow_index.to_be_bytes());
    bytes[12..16].copy_from_slice(&answer_bytes.to_be_bytes());
    bytes[16..HEAD_LENGTH].copy_from_slice(&cookie.tag());
    let proof = cookie.proof(&bytes[..HEAD_LENGTH]);
    bytes[HEAD_LENGTH..].copy_from_slice(&proof);
    bytes
}

/// What a sink's agent answers to a UDP hello: shows that the source receives at its address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Challenge {
    /// Finds the session.
    pub tag: [u8; TAG_LENGTH],
    /// The flow's index.
    pub flow_index: u32,
    /// Bound to the source's address and port.
    pub nonce: [u8; NONCE_LENGTH],
}

impl Challenge {
    /// Makes the challenge for a hello from `peer`; the same for the same hello, so that no state is kept.
    #[must_use]
    pub fn issue(key: &[u8; 32], peer: SocketAddr, hello: &Preamble) -> Self {
        let nonce = nonce(key, peer, &hello.tag, hello.flow_index);
        Self { tag: hello.tag, flow_index: hello.flow_index, nonce }
    }

    /// Writes the challenge.
    #[must_use]
    pub fn encode(&self) -> [u8; CHALLENGE_LENGTH] {
        self.encode_as(*CHALLENGE_MAGIC)
    }

    /// Reads a challenge.
    ///
    /// # Errors
    /// When magic or length are wrong.
    pub fn parse(bytes: &[u8]) -> Result<Self, WireError> {
        Self::parse_as(*CHALLENGE_MAGIC, bytes)
    }

    /// Writes the response to this challenge: its echo and a proof over it.
    #[must_use]
    pub fn answer(&self, cookie: &Cookie) -> [u8; RESPONSE_LENGTH] {
        let echo = self.encode_as(*RESPONSE_MAGIC);
        let mut bytes = [0; RESPONSE_LENGTH];
        bytes[..CHALLENGE_LENGTH].copy_from_slice(&echo);
        bytes[CHALLENGE_LENGTH..].copy_from_slice(&cookie.proof(&echo));
        bytes
    }

    fn encode_as(&self, magic: [u8; 4]) -> [u8; CHALLENGE_LENGTH] {
        let mut bytes = [0; CHALLENGE_LENGTH];
        bytes[..4].copy_from_slice(&magic);
        bytes[4..20].copy_from_slice(&self.tag);
        bytes[20..24].copy_from_slice(&self.flow_index.to_be_bytes());
        bytes[24..].copy_from_slice(&self.nonce);
        bytes
    }

    fn parse_as(magic: [u8; 4], bytes: &[u8]) -> Result<Self, WireError> {
        let bytes: &[u8; CHALLENGE_LENGTH] =
            bytes.try_into().map_err(|_| WireError::Length(bytes.len()))?;
        if bytes[..4] != magic {
            return Err(WireError::Magic);
        }
        Ok(Self {
            tag: part(bytes, 4),
            flow_index: u32::from_be_bytes(part(bytes, 20)),
            nonce: part(bytes, 24),
        })
    }
}

/// A parsed response to a challenge, not yet proved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The challenge that it echoes.
    pub challenge: Challenge,
    proof: [u8; PROOF_LENGTH],
}

impl Response {
    /// Reads a response.
    ///
    /// # Errors
    /// When magic or length are wrong.
    pub fn parse(bytes: &[u8]) -> Result<Self, WireError> {
        let bytes: &[u8; RESPONSE_LENGTH] =
            bytes.try_into().map_err(|_| WireError::Length(bytes.len()))?;
        let challenge = Challenge::parse_as(*RESPONSE_MAGIC, &bytes[..CHALLENGE_LENGTH])?;
        Ok(Self { challenge, proof: part(bytes, CHALLENGE_LENGTH) })
    }

    /// Whether this answers a challenge issued with `key` to `peer`, by one who knows `cookie`.
    #[must_use]
    pub fn is_proved_by(&self, key: &[u8; 32], peer: SocketAddr, cookie: &Cookie) -> bool {
        let issued = nonce(key, peer, &self.challenge.tag, self.challenge.flow_index);
        let is_ours: bool = issued.ct_eq(&self.challenge.nonce).into();
        is_ours && cookie.proves(&self.challenge.encode_as(*RESPONSE_MAGIC), &self.proof)
    }
}

/// Whether this is a datagram of the set-up: a hello, a challenge or a response. Repeats of them may come late.
#[must_use]
pub fn is_udp_setup(bytes: &[u8]) -> bool {
    Preamble::parse(Transport::Udp, bytes).is_ok()
        || Challenge::parse(bytes).is_ok()
        || Response::parse(bytes).is_ok()
}

fn nonce(
    key: &[u8; 32],
    peer: SocketAddr,
    tag: &[u8; TAG_LENGTH],
    flow_index: u32,
) -> [u8; NONCE_LENGTH] {
    let mut message = Vec::with_capacity(64);
    match peer.ip() {
        IpAddr::V4(address) => message.extend(address.to_ipv6_mapped().octets()),
        IpAddr::V6(address) => message.extend(address.octets()),
    }
    message.extend(peer.port().to_be_bytes());
    message.extend(tag);
    message.extend(flow_index.to_be_bytes());
    part(&keyed_digest(key, &message), 0)
}

/// Copies `N` bytes from `offset` on; every caller's offsets lie inside its array.
fn part<const N: usize>(bytes: &[u8], offset: usize) -> [u8; N] {
    let mut copied = [0; N];
    copied.copy_from_slice(&bytes[offset..offset + N]);
    copied
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
