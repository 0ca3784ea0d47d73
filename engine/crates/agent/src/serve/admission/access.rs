//! Which addresses may speak to this engine, and to which it may.

use std::net::IpAddr;

use ipnet::IpNet;

/// The networks that may connect; all when none is named.
pub struct Allowed(pub Vec<IpNet>);

impl Allowed {
    /// Whether `address` is in an allowed network.
    pub fn admits(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.is_empty() || self.0.iter().any(|network| network.contains(&address))
    }
}

/// Whether traffic may go to `address` at all: never to many hosts at once, never to none. A subnet's broadcast address
/// can't be told by its look; the kernel refuses it to sockets that don't ask for broadcasts, as ours don't.
pub fn is_single_host(address: IpAddr) -> bool {
    match address.to_canonical() {
        // 0.0.0.0/8 is "this network" and 240.0.0.0/4 reserved, with the broadcast address in it (RFC 6890).
        IpAddr::V4(address) => {
            let first = address.octets()[0];
            !address.is_multicast() && first != 0 && first < 240
        }
        IpAddr::V6(address) => !address.is_multicast() && !address.is_unspecified(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_allowed_network_admits_its_addresses_also_when_mapped_to_version_6() {
        let allowed = Allowed(vec!["192.0.2.0/24".parse().unwrap()]);
        assert!(allowed.admits("192.0.2.9".parse().unwrap()));
        assert!(allowed.admits("::ffff:192.0.2.9".parse().unwrap()));
        assert!(!allowed.admits("198.51.100.1".parse().unwrap()));
        assert!(Allowed(Vec::new()).admits("198.51.100.1".parse().unwrap()));
    }

    #[test]
    fn multicast_broadcast_and_unspecified_addresses_are_no_peers() {
        for address in [
            "224.0.0.1",
            "255.255.255.255",
            "0.0.0.0",
            "0.1.2.3",
            "240.0.0.1",
            "ff02::1",
            "::",
            "::ffff:224.0.0.1",
        ] {
            assert!(!is_single_host(address.parse().unwrap()), "{address}");
        }
        assert!(is_single_host("192.0.2.1".parse().unwrap()));
    }
}
