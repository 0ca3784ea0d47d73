//! A look at the path between two engines' data ports, before a test does.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::{Bind, Cookie, Peer, Role};

/// What a controller asks: of the sink first, to answer those who know the cookie; then of the source, to look.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathRequest {
    /// Which end this is.
    pub role: Role,
    /// The secret that both ends share.
    pub cookie: Cookie,
    /// The other end; required for a source.
    #[serde(default)]
    pub peer: Option<Peer>,
    /// What the data sockets are bound to.
    #[serde(default)]
    pub bind: Option<Bind>,
}

/// What has come to the sink by now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct PathArrivals {
    /// Connections whose cookie was right.
    pub tcp: u64,
    /// Datagrams whose cookie was right.
    pub udp: u64,
}

/// Why nothing passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PathFault {
    /// The sink's host, or something before it, said that nothing listens there.
    Refused,
    /// Nothing came back.
    TimedOut,
    /// A host or router on the way said that the sink can't be reached, or this host has no way to it.
    Unreachable,
    /// A connection was made, but what accepted it is not the sink's engine.
    NoAnswer,
}

/// Whether one protocol passes and is answered.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PathPassage {
    /// Whether it does.
    pub passes: bool,
    /// The shortest of the round trips seen, in seconds.
    pub round_trip_seconds: Option<f64>,
    /// Why it doesn't.
    pub fault: Option<PathFault>,
    /// What the kernel said, if anything.
    pub message: Option<String>,
}

/// What one way carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PathSize {
    /// The largest IP packet that arrives, in bytes.
    pub mtu_bytes: u32,
    /// Whether larger ones, which the sender's kernel would send, vanish without a word.
    pub is_silent: bool,
}

/// What a source found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PathCheck {
    /// Connections to the sink's data port.
    pub tcp: PathPassage,
    /// Datagrams to the sink's data port, and answers.
    pub udp: PathPassage,
    /// From source to sink; none where UDP doesn't pass, or it couldn't be told.
    pub forward: Option<PathSize>,
    /// From sink to source; likewise.
    pub backward: Option<PathSize>,
    /// The address that the source sends from.
    pub local_address: Option<IpAddr>,
}
