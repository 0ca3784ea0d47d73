//! The source's events, on their way to the controller part.

use std::net::IpAddr;
use std::os::fd::OwnedFd;

use kinds::Outbox;
use proto::{EventBody, Lane};
use tokio::sync::mpsc::UnboundedSender;

/// Takes the source's events.
pub struct Events(UnboundedSender<EventBody>);

impl Events {
    /// Passes them on to `sender`.
    pub const fn new(sender: UnboundedSender<EventBody>) -> Self {
        Self(sender)
    }
}

impl Outbox for Events {
    fn prepared(&self) {}

    fn event(&self, event: EventBody) {
        // Nobody listens any more after Ctrl-C.
        let _ = self.0.send(event);
    }

    /// Only a sink registers ports.
    fn register_ports(&self, _lane: Lane, _address: IpAddr, _first: u16, _last: u16) {}

    /// As above.
    fn release_ports(&self, _lane: Lane) {}

    /// Only a sink accepts connections.
    fn foreign(&self, _descriptor: OwnedFd) {}
}
