//! The kinds that this engine has.

use crate::kind::Kind;

const KINDS: &[&dyn Kind] = &[
    &crate::tcp_stream::TcpStream,
    &crate::udp_stream::UdpStream,
    &crate::tcp_rr::TcpRr,
    &crate::tcp_crr::TcpCrr,
    &crate::udp_rr::UdpRr,
    &crate::ping::Ping,
    &crate::http_load::HttpLoad,
    #[cfg(feature = "fixture-kind")]
    &crate::fixture::TcpEchoProbe,
];

/// The kind of this name.
pub fn find(name: &str) -> Option<&'static dyn Kind> {
    KINDS.iter().find(|kind| kind.name() == name).copied()
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_kind_of_the_catalog_has_its_module() {
        for name in proto::Catalog::embedded().kinds.keys() {
            assert!(super::find(name).is_some(), "{name} is in the catalog and has no module");
        }
    }
}
