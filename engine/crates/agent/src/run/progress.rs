//! The source's events: intervals to the terminal, all of them to the controller part.

use std::fmt::Write as _;
use std::net::IpAddr;
use std::os::fd::OwnedFd;

use kinds::Outbox;
use proto::{Catalog, EventBody, Interval};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::summary::with_unit;

/// Takes the source's events.
pub struct Progress {
    events: UnboundedSender<EventBody>,
}

impl Progress {
    /// Makes it, with the end that the events come out of.
    pub fn new() -> (Self, UnboundedReceiver<EventBody>) {
        let (events, receiver) = unbounded_channel();
        (Self { events }, receiver)
    }
}

impl Outbox for Progress {
    fn prepared(&self) {}

    fn event(&self, event: EventBody) {
        if let EventBody::Interval { interval } = &event {
            eprintln!("{}", line(interval));
        }
        // Nobody listens any more after Ctrl-C.
        let _ = self.events.send(event);
    }

    /// Only a sink registers ports.
    fn register_ports(&self, _address: IpAddr, _first: u16, _last: u16) {}

    /// Only a sink accepts connections.
    fn foreign(&self, _descriptor: OwnedFd) {}
}

/// "  1.0 s   16.3 Gbit/s", with every metric of the interval.
fn line(interval: &Interval) -> String {
    let mut text = format!("{:>7.1} s", interval.end_seconds);
    for (key, value) in &interval.metrics {
        let unit = Catalog::embedded().metrics.get(key).map_or("", |metric| metric.unit.as_str());
        // Writing to a String can't fail.
        let _ = write!(text, "   {key} {}", with_unit(*value, unit));
    }
    if interval.warmup {
        text.push_str("   (warm-up)");
    }
    text
}
