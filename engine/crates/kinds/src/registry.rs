//! The kinds that this engine has.

use std::sync::OnceLock;

use crate::kind::Kind;

const KINDS: &[&dyn Kind] = &[
    &crate::tcp_stream::TcpStream,
    &crate::udp_stream::UdpStream,
    &crate::tcp_rr::TcpRr,
    &crate::tcp_crr::TcpCrr,
    &crate::udp_rr::UdpRr,
    &crate::ping::Ping,
    &crate::http_load::HttpLoad,
];
static ADDED: OnceLock<&'static dyn Kind> = OnceLock::new();

/// Adds one more kind; the first that is added stays.
pub fn add(kind: &'static dyn Kind) {
    ADDED.get_or_init(|| kind);
}

/// The kind of this name.
pub fn find(name: &str) -> Option<&'static dyn Kind> {
    KINDS.iter().chain(ADDED.get()).find(|kind| kind.name() == name).copied()
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_kind_of_the_catalog_has_its_module() {
        for name in proto::Catalog::embedded().kinds.keys() {
            assert!(super::find(name).is_some(), "{name} is in the catalog and has no module");
        }
    }

    #[test]
    fn the_fixture_kind_is_not_there_until_it_is_added() {
        assert!(super::find("tcp_echo_probe").is_none());
        assert!(!proto::Catalog::embedded().kinds.contains_key("tcp_echo_probe"));
    }
}
