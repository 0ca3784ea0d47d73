//! The test kinds, one module each, behind one entry point.

use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::sync::{Arc, mpsc::Receiver};

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
    /// The listening socket of the data port, lent for `tcp_crr`.
    Listener(OwnedFd),
    /// An order to stop now.
    Cancel {
        /// The failure code to report.
        code: proto::FailureCode,
        /// Why, in words.
        reason: String,
    },
}

/// Where a running session tells what happens.
pub trait Outbox: Send + Sync {
    /// The sink is ready for connections.
    fn prepared(&self);
    /// Reports one event; the last is final.
    fn event(&self, event: proto::EventBody);
    /// Registers the peer address and source ports (inclusive) that belong to this session (`tcp_crr`).
    fn register_ports(&self, address: IpAddr, first: u16, last: u16);
    /// Gives back an accepted connection that is not this session's.
    fn foreign(&self, fd: OwnedFd);
}

/// Runs one session to its end and reports every event, the final one included, through `outbox`.
pub fn run_session(
    _spec: proto::SessionSpec,
    _data_port: u16,
    _supply: Receiver<Supply>,
    _outbox: Arc<dyn Outbox>,
) {
}
