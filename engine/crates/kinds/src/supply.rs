//! What passes between an agent and a session that it runs.

use std::net::IpAddr;
use std::os::fd::OwnedFd;

/// What the agent hands to a running session.
#[derive(Debug)]
pub enum Supply {
    /// The accepted link, its preamble already read.
    Link(OwnedFd),
    /// One accepted flow: TCP after its preamble, or a connected UDP socket.
    Flow {
        /// The flow's index, as its preamble says.
        index: u32,
        /// The socket.
        fd: OwnedFd,
    },
    /// What this host did before the session.
    Background(Box<proto::HostBackground>),
    /// Which other sessions run on this engine now.
    Neighbours(proto::Neighbours),
    /// The listening socket of the data port, lent for `tcp_crr`.
    Listener(OwnedFd),
    /// What belongs to the test that runs as this session's load.
    Load(Box<Supply>),
    /// An order to stop now.
    Cancel {
        /// The failure code to report.
        code: proto::FailureCode,
        /// Why.
        reason: proto::Reason,
    },
}

impl Supply {
    /// This for the given one of a session's tests.
    #[must_use]
    pub fn on(self, lane: proto::Lane) -> Self {
        match lane {
            proto::Lane::Test => self,
            proto::Lane::Load => Self::Load(Box::new(self)),
        }
    }
}

/// Where a running session tells what happens.
pub trait Outbox: Send + Sync {
    /// The sink is ready for connections.
    fn prepared(&self);
    /// Reports one event; the last is final.
    fn event(&self, event: proto::EventBody);
    /// Registers the peer address and source ports (inclusive) that belong to this session (`tcp_crr`).
    fn register_ports(&self, lane: proto::Lane, address: IpAddr, first: u16, last: u16);
    /// Gives the registered ports and the lent listener back before the session's end.
    fn release_ports(&self, lane: proto::Lane);
    /// Gives back an accepted connection that is not this session's.
    fn foreign(&self, fd: OwnedFd);
}
