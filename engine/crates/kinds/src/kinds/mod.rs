//! The kinds that this engine has: a module each, and its line in the table.

mod disk_io;
mod http_load;
mod memory_bandwidth;
mod ping;
#[cfg(test)]
mod result_tests;
mod tcp_crr;
mod tcp_rr;
mod tcp_stream;
mod udp_rr;
mod udp_stream;

use std::sync::OnceLock;

use crate::host_kind::ReadHost;
use crate::kind::Read;

pub use http_load::ResponseReader;
pub use memory_bandwidth::{arrays_bytes, copy};
pub use udp_stream::Header;

const KINDS: &[(&str, Read)] = &[
    ("tcp_stream", tcp_stream::read),
    ("udp_stream", udp_stream::read),
    ("tcp_rr", tcp_rr::read),
    ("tcp_crr", tcp_crr::read),
    ("udp_rr", udp_rr::read),
    ("ping", ping::read),
    ("http_load", http_load::read),
];
/// Those of one host.
const HOST_KINDS: &[(&str, ReadHost)] =
    &[("memory_bandwidth", memory_bandwidth::read), ("disk_io", disk_io::read)];
static ADDED: OnceLock<(&'static str, Read)> = OnceLock::new();

/// Adds one more kind; the first that is added stays.
pub fn add(name: &'static str, read: Read) {
    ADDED.get_or_init(|| (name, read));
}

/// How the kind of this name is read.
pub fn find(name: &str) -> Option<Read> {
    KINDS.iter().chain(ADDED.get()).find(|(known, _)| *known == name).map(|(_, read)| *read)
}

/// How the kind of one host of this name is read.
pub fn find_of_host(name: &str) -> Option<ReadHost> {
    HOST_KINDS.iter().find(|(known, _)| *known == name).map(|(_, read)| *read)
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_kind_of_the_catalog_has_its_module() {
        for (name, kind) in &proto::Catalog::embedded().kinds {
            let is_there = if kind.is_of_one_host() {
                super::find_of_host(name).is_some()
            } else {
                super::find(name).is_some()
            };
            assert!(is_there, "{name} is in the catalog and has no module");
        }
    }

    #[test]
    fn the_fixture_kind_is_not_there_until_it_is_added() {
        assert!(super::find("tcp_echo_probe").is_none());
        assert!(!proto::Catalog::embedded().kinds.contains_key("tcp_echo_probe"));
    }
}
