//! Which interface carries a test.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

/// The interface that speaks to the host itself.
pub const LOOPBACK: &str = "lo";

/// The two ends of a test's connections, and what the sockets are bound to.
#[derive(Debug, Clone, Copy)]
pub struct Route<'a> {
    /// This end.
    pub local: IpAddr,
    /// The other end.
    pub peer: IpAddr,
    /// The device that this end's sockets are bound to.
    pub device: Option<&'a str>,
}

/// The interface that carries traffic of a route; none when it can't be told.
pub fn of_route(route: Route<'_>, addresses: &BTreeMap<String, Vec<IpAddr>>) -> Option<String> {
    let (local, peer) = (route.local.to_canonical(), route.peer.to_canonical());
    let is_own = |address: IpAddr| addresses.values().any(|own| own.contains(&address));
    // A host speaks to its own addresses over the loopback, whatever interface holds them.
    if local.is_loopback() || is_own(peer) {
        return Some(LOOPBACK.to_owned());
    }
    if let Some(device) = route.device {
        return Some(device.to_owned());
    }
    holder(local, addresses)
}

/// The interface that traffic to an address of this host takes; none when it can't be told.
pub fn of_address(address: IpAddr, addresses: &BTreeMap<String, Vec<IpAddr>>) -> Option<String> {
    let address = address.to_canonical();
    if address.is_loopback() { Some(LOOPBACK.to_owned()) } else { holder(address, addresses) }
}

fn holder(address: IpAddr, addresses: &BTreeMap<String, Vec<IpAddr>>) -> Option<String> {
    let mut holders = addresses.iter().filter(|(_, own)| own.contains(&address));
    let (name, _) = holders.next()?;
    // An address that the loopback or several interfaces hold doesn't say which one the packets take.
    (holders.next().is_none() && name != LOOPBACK).then(|| name.clone())
}

/// The interface of a connected socket.
pub fn of_socket(
    local: Option<SocketAddr>,
    peer: Option<SocketAddr>,
    device: Option<&str>,
) -> Option<String> {
    let addresses = net::interface_addresses().ok()?;
    let route = Route { local: local?.ip(), peer: peer?.ip(), device };
    of_route(route, &addresses)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::net::IpAddr;

    use super::{Route, of_address, of_route};

    fn address(text: &str) -> IpAddr {
        text.parse().expect("the test's addresses are valid")
    }

    fn addresses() -> BTreeMap<String, Vec<IpAddr>> {
        BTreeMap::from([
            ("lo".to_owned(), vec![address("127.0.0.1"), address("::1"), address("203.0.113.9")]),
            ("eth0".to_owned(), vec![address("192.0.2.1"), address("fe80::1")]),
            ("eth1".to_owned(), vec![address("198.51.100.1"), address("fe80::1")]),
        ])
    }

    fn carrier(local: &str, peer: &str, device: Option<&str>) -> Option<String> {
        of_route(Route { local: address(local), peer: address(peer), device }, &addresses())
    }

    #[test]
    fn traffic_to_an_address_takes_the_one_interface_that_holds_it() {
        let taken = |text: &str| of_address(address(text), &addresses());
        assert_eq!(taken("192.0.2.1").as_deref(), Some("eth0"));
        assert_eq!(taken("127.0.0.2").as_deref(), Some("lo"));
        assert_eq!(taken("::1").as_deref(), Some("lo"));
        // Held by two, by the loopback, by none, as behind address translation.
        assert_eq!(
            (taken("fe80::1"), taken("203.0.113.9"), taken("192.0.2.2")),
            (None, None, None)
        );
    }

    #[test]
    fn the_interface_is_the_one_that_holds_the_local_address() {
        assert_eq!(carrier("192.0.2.1", "192.0.2.2", None).as_deref(), Some("eth0"));
        assert_eq!(carrier("::ffff:198.51.100.1", "192.0.2.2", None).as_deref(), Some("eth1"));
    }

    #[test]
    fn traffic_to_the_hosts_own_address_takes_the_loopback() {
        assert_eq!(carrier("127.0.0.1", "127.0.0.1", None).as_deref(), Some("lo"));
        assert_eq!(carrier("192.0.2.1", "192.0.2.1", None).as_deref(), Some("lo"));
        assert_eq!(carrier("192.0.2.1", "198.51.100.1", None).as_deref(), Some("lo"));
    }

    #[test]
    fn a_bound_device_is_believed() {
        assert_eq!(carrier("192.0.2.1", "192.0.2.2", Some("vrf7")).as_deref(), Some("vrf7"));
    }

    #[test]
    fn an_address_of_none_of_several_or_of_the_loopback_tells_nothing() {
        assert_eq!(carrier("192.0.2.77", "192.0.2.2", None), None);
        assert_eq!(carrier("fe80::1", "fe80::2", None), None);
        assert_eq!(carrier("203.0.113.9", "192.0.2.2", None), None);
    }
}
