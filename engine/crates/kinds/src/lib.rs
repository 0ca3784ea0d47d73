//! The test kinds, one module each, behind one entry point.
//!
//! A session is one end of one test. Its main thread (`session`) talks to the peer over the link,
//! keeps time and makes intervals; the traffic runs in flow threads that a kind provides.

// Counts and nanoseconds become rates and ratios here: 53 bits are enough for a figure.
#![allow(clippy::cast_precision_loss)]
// "line" and "link", "sent" and "set" are this domain's words.
#![allow(clippy::similar_names)]

mod buffers;
mod compose;
mod counter;
mod course;
mod datagram_header;
mod facts;
mod features;
#[doc(hidden)]
pub mod fixture;
#[doc(hidden)]
pub mod fuzzing;
mod gate;
mod host_window;
mod http_load;
mod kind;
mod limits;
mod line;
mod link;
mod pacer;
mod page_aligned;
mod path_check;
mod path_probe;
mod patience;
mod ping;
mod receipts;
mod registry;
mod requests;
mod session;
mod settings;
mod streams;
mod tcp_crr;
mod tcp_message;
mod tcp_pacing;
mod tcp_rr;
mod tcp_stream;
mod tcp_window;
mod thread_times;
mod traffic;
mod udp_batches;
mod udp_hello;
mod udp_rr;
mod udp_stream;

use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::sync::{Arc, mpsc::Receiver};

pub use facts::facts;
pub use host_window::{History, Sample, host_load};
pub use path_check::check_path;
pub use patience::patience;

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
        /// Why, in words.
        reason: String,
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

/// Runs one session to its end and reports every event, the final one included, through `outbox`.
// A session owns its outbox: that is the contract with the agent.
#[allow(clippy::needless_pass_by_value)]
pub fn run_session(
    spec: proto::SessionSpec,
    _data_port: u16,
    supply: Receiver<Supply>,
    outbox: Arc<dyn Outbox>,
) {
    session::run(spec, supply, &outbox);
}
