//! How a kind's traffic is connected and stopped: a transport is one file here.

pub mod aside;
mod connections;
mod none;
pub mod ports;
mod tcp;
mod udp;
mod udp_hello;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use proto::{Cookie, Role, reason};

use crate::end::Lent;
use crate::failure::Failure;
use crate::line::Line;
use crate::line::steps::refused_by_kernel;
use crate::settings::Settings;
use crate::supply::Outbox;

pub use connections::Connections;
pub use none::Nothing;
pub use tcp::Tcp;
pub use udp::Udp;

/// What a transport needs to know of the test.
pub struct Plan<'a> {
    /// The session's secret.
    pub cookie: &'a Cookie,
    /// The parameters.
    pub settings: &'a Settings,
    /// Where ports are registered.
    pub outbox: &'a Arc<dyn Outbox>,
}

/// What a transport connected for one end.
#[derive(Default)]
pub struct Connected {
    /// The flows' sockets, by index.
    pub flows: Vec<OwnedFd>,
    /// The registered source ports (a source's).
    pub ports: Option<(u16, u16)>,
    /// The lent listener (a sink's).
    pub lent: Option<Lent>,
}

/// A way to connect the traffic of the two ends.
pub trait Transport: Sync {
    /// Opens what a source's traffic needs.
    ///
    /// # Errors
    /// When the sink can't be reached, or a kernel refuses.
    fn connect(
        &self,
        plan: &Plan,
        line: &mut Line,
        to: SocketAddr,
        local: &net::LocalEnd,
    ) -> Result<Connected, Failure>;
    /// Waits for what a sink's traffic needs; `early` are flows that came before the greeting.
    ///
    /// # Errors
    /// When something doesn't come in time, or a kernel refuses.
    fn accept(
        &self,
        plan: &Plan,
        line: &mut Line,
        early: BTreeMap<u32, OwnedFd>,
    ) -> Result<Connected, Failure>;
    /// Waits until the sink's threads have every flow, where a source can't know it otherwise.
    ///
    /// # Errors
    /// When the sink doesn't say so in time.
    fn wait_for_peer(&self, _line: &mut Line, _flows: u32) -> Result<(), Failure> {
        Ok(())
    }
    /// Ends the sending on flows, wherever a sender is blocked.
    fn end_sending(&self, _flows: &[OwnedFd]) {}
    /// Whether the traffic goes to the other end, and not elsewhere by a kind's own ways.
    fn is_between_ends(&self) -> bool {
        true
    }
    /// Whether each flow is one TCP connection for the whole test.
    fn has_connections(&self) -> bool {
        false
    }
    /// Whether the flows carry datagrams, which have no end and may be lost.
    fn has_datagrams(&self) -> bool {
        false
    }
}

/// Gives accepted flows the sink's socket options.
fn apply_options(plan: &Plan, flows: &BTreeMap<u32, OwnedFd>, is_tcp: bool) -> Result<(), Failure> {
    let options = &plan.settings.end(Role::Sink).options;
    for socket in flows.values() {
        let is_ipv4 = net::local_address(socket.as_fd()).is_ok_and(|address| address.is_ipv4());
        net::apply(socket.as_fd(), options, is_ipv4, is_tcp)
            .map_err(|error| refused_by_kernel(reason!("setup_option_refused"), error))?;
    }
    Ok(())
}
