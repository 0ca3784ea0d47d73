//! One end of a test: its sockets, its parameters and who is at the other end.

use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use proto::Role;

use crate::load::Load;
use crate::settings::Settings;
use crate::supply::Outbox;

/// One end of a test: what its tasks and its report need to know.
pub struct End {
    /// Which end.
    pub role: Role,
    /// The settings that every kind has.
    pub settings: Settings,
    /// The session's secret.
    pub cookie: proto::Cookie,
    /// The test that runs within this one as its load, if there is one.
    pub load: Option<Arc<Load>>,
    /// The flows' sockets, by index; empty for transports without lasting ones.
    pub flows: Vec<OwnedFd>,
    /// Where a source's connections go.
    pub peer: Option<SocketAddr>,
    /// What a source's sockets are bound to.
    pub local: net::LocalEnd,
    /// Whether both engines number datagrams of less than 32 bytes.
    pub are_small_numbered: bool,
    /// The lent listener and whose connections are ours (`tcp_crr` sink).
    pub lent: Option<Lent>,
    /// The registered source ports (`tcp_crr` source).
    pub ports: Option<(u16, u16)>,
    /// The link's round trip when a source was set up; zero where it is unknown, and of a sink.
    pub round_trip: Duration,
    /// Wakes threads whose sockets may not be shut down.
    pub wake: net::Wake,
}

/// A listener of the agent's, lent for a session's time.
pub struct Lent {
    /// The listening socket.
    pub listener: OwnedFd,
    /// The peer's address.
    pub address: std::net::IpAddr,
    /// First and last registered port.
    pub ports: (u16, u16),
    /// Where foreign connections go.
    pub outbox: Arc<dyn Outbox>,
    /// Connections of ours that the agent accepted.
    pub handed_over: HandedOver,
}

impl Lent {
    /// Whether a connection from `peer` is this session's.
    pub fn is_registered(&self, peer: Option<SocketAddr>) -> bool {
        let (first, last) = self.ports;
        peer.is_some_and(|peer| {
            peer.ip().to_canonical() == self.address.to_canonical()
                && (first..=last).contains(&peer.port())
        })
    }
}

/// Connections that the agent accepted for a session, on their way to the thread that answers them.
#[derive(Debug, Default)]
pub struct HandedOver {
    state: Mutex<HandedOverState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct HandedOverState {
    sockets: Vec<OwnedFd>,
    is_over: bool,
}

impl HandedOver {
    /// Hands one over.
    pub fn push(&self, socket: OwnedFd) {
        self.lock().sockets.push(socket);
        self.changed.notify_one();
    }

    /// Says that no more are wanted.
    pub fn end(&self) {
        self.lock().is_over = true;
        self.changed.notify_all();
    }

    /// Waits for one; none when the session is over.
    pub fn take(&self) -> Option<OwnedFd> {
        let mut state = self
            .changed
            .wait_while(self.lock(), |state| state.sockets.is_empty() && !state.is_over)
            .unwrap_or_else(PoisonError::into_inner);
        if state.is_over { None } else { state.sockets.pop() }
    }

    // Nobody panics while holding the lock; if one did, the list would still be whole.
    fn lock(&self) -> MutexGuard<'_, HandedOverState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl End {
    /// A flow's socket.
    pub fn flow(&self, index: u32) -> BorrowedFd<'_> {
        // Tasks are made from the flows that there are.
        self.flows[index as usize].as_fd()
    }

    /// This end's socket options.
    pub fn options(&self) -> &net::Options {
        &self.settings.end(self.role).options
    }
}
