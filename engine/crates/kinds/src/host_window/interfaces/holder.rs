//! Whether an interface's counters can hold what a test's sockets had, and which one does where the address misleads.
//!
//! An address says where packets are for, not which way they take: one on a dummy, answers to ARP from another card.

use super::Counters;

/// Counters and sockets are read one after the other.
const SLACK_SHARE: u64 = 10;
const SLACK_BYTES: u64 = 64 << 10;
/// With less payload than this other traffic could be taken for it.
const LEAST_TO_FIND: u64 = 1 << 20;
/// What carries a test has no more than this many times its payload in the test's greater direction.
const MOST_PER_PAYLOAD: u64 = 2;

/// Payload that has certainly passed this host's interface in the window, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Payload {
    /// Received.
    pub rx: u64,
    /// Sent: what the kernel took, of which a part may still wait, or have been dropped before the interface.
    pub tx: u64,
    /// One of so many bytes sent is certain to have left.
    pub tx_per_certain: u64,
}

impl Payload {
    /// Whether an interface that counted this much can be the one that it passed.
    fn fits(self, counters: &Counters) -> bool {
        let holds = |seen: u64, needed: u64| {
            seen + seen / SLACK_SHARE + SLACK_BYTES.min(needed / 2) >= needed
        };
        holds(counters.rx_bytes, self.rx)
            && holds(counters.tx_bytes, self.tx / self.tx_per_certain.max(1))
    }

    fn explains(self, counters: &Counters) -> bool {
        let (seen, own) = if self.rx >= self.tx {
            (counters.rx_bytes, self.rx)
        } else {
            (counters.tx_bytes, self.tx)
        };
        seen <= MOST_PER_PAYLOAD * own
    }
}

/// The interface that carried the payload: the one of the address where that can be, else the only other one that can.
pub fn holder(
    by_address: Option<String>,
    interfaces: &[Counters],
    payload: Payload,
) -> Option<String> {
    let of_address = by_address
        .as_ref()
        .and_then(|name| interfaces.iter().find(|counters| counters.name == *name));
    if of_address.is_some_and(|counters| payload.fits(counters)) {
        return by_address;
    }
    if payload.rx.max(payload.tx) < LEAST_TO_FIND {
        return None;
    }
    let mut others = interfaces
        .iter()
        .filter(|counters| Some(&counters.name) != by_address.as_ref())
        .filter(|counters| payload.fits(counters) && payload.explains(counters));
    let found = others.next()?;
    others.next().is_none().then(|| found.name.clone())
}

#[cfg(test)]
mod tests {
    use super::{Counters, Payload, holder};

    const MEGABYTE: u64 = 1_000_000;

    fn interface(name: &str, rx: u64, tx: u64) -> Counters {
        Counters {
            name: name.to_owned(),
            rx_bytes: rx * MEGABYTE,
            tx_bytes: tx * MEGABYTE,
            ..Counters::default()
        }
    }

    fn found(
        by_address: Option<&str>,
        interfaces: &[Counters],
        rx: u64,
        tx: u64,
    ) -> Option<String> {
        let payload = Payload { rx: rx * MEGABYTE, tx: tx * MEGABYTE, tx_per_certain: 2 };
        holder(by_address.map(str::to_owned), interfaces, payload)
    }

    #[test]
    fn the_interface_of_the_address_is_believed_where_its_counters_hold_the_payload() {
        let interfaces = [interface("eth0", 105, 2), interface("eth1", 105, 2)];
        assert_eq!(found(Some("eth0"), &interfaces, 100, 0).as_deref(), Some("eth0"));
        // Read a moment before the sockets.
        assert_eq!(found(Some("eth0"), &interfaces, 110, 0).as_deref(), Some("eth0"));
    }

    #[test]
    fn an_address_on_a_dummy_is_seen_through() {
        let interfaces =
            [interface("dummy0", 0, 0), interface("eth0", 105, 2), interface("lo", 0, 0)];
        assert_eq!(found(Some("dummy0"), &interfaces, 100, 0).as_deref(), Some("eth0"));
        let sends = [interface("dummy0", 0, 0), interface("eth0", 2, 105)];
        assert_eq!(found(Some("dummy0"), &sends, 0, 100).as_deref(), Some("eth0"));
        // An address of several interfaces, or of none.
        assert_eq!(found(None, &interfaces, 100, 0).as_deref(), Some("eth0"));
    }

    #[test]
    fn arrivals_by_another_card_are_that_cards() {
        let interfaces = [interface("eth0", 0, 3), interface("eth1", 104, 0)];
        assert_eq!(found(Some("eth0"), &interfaces, 100, 0).as_deref(), Some("eth1"));
    }

    #[test]
    fn where_none_or_several_can_hold_the_payload_it_is_unknown() {
        // One way in, another out.
        let split = [interface("eth0", 0, 105), interface("eth1", 105, 0)];
        assert_eq!(found(Some("eth0"), &split, 100, 100), None);
        let bridged =
            [interface("dummy0", 0, 0), interface("eth0", 105, 2), interface("br0", 104, 2)];
        assert_eq!(found(Some("dummy0"), &bridged, 100, 0), None);
        // Much more than the test's: others' traffic.
        let busy = [interface("dummy0", 0, 0), interface("eth0", 900, 900)];
        assert_eq!(found(Some("dummy0"), &busy, 100, 0), None);
        assert_eq!(found(Some("gone"), &[], 100, 0), None);
    }

    #[test]
    fn little_payload_finds_nothing_and_no_payload_proves_nothing() {
        let interfaces = [interface("dummy0", 0, 0), interface("eth0", 1, 1)];
        let payload = Payload { rx: 500_000, tx: 0, tx_per_certain: 2 };
        assert_eq!(holder(Some("dummy0".to_owned()), &interfaces, payload), None);
        assert_eq!(found(Some("dummy0"), &interfaces, 0, 0).as_deref(), Some("dummy0"));
        // Datagrams may be dropped before the interface, but not each of them.
        let sends = [interface("dummy0", 0, 0), interface("eth0", 0, 6)];
        let payload = Payload { rx: 0, tx: 6 * MEGABYTE, tx_per_certain: 1_000 };
        assert_eq!(holder(Some("dummy0".to_owned()), &sends, payload).as_deref(), Some("eth0"));
    }
}
