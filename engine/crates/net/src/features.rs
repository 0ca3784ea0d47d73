//! What this kernel lets this process do, found out by trying.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};

use crate::figures::tcp_info;
use crate::icmp::EchoSocket;
use crate::socket::control::set_option;
use crate::socket::{LocalEnd, Options, open_tcp, open_udp};
use crate::traffic::allow_pages;

/// One thing that tests may need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Feature {
    /// Its name in the facts.
    pub name: &'static str,
    /// Whether this process has it.
    pub is_there: bool,
}

/// Tries everything; opens and closes a handful of sockets on loopback and sends nothing.
#[must_use]
pub fn features() -> Vec<Feature> {
    let feature = |name, is_there| Feature { name, is_there };
    let udp = open_udp(loopback(), &LocalEnd::default(), &Options::default()).ok();
    let tcp = open_tcp(loopback(), &LocalEnd::default(), &Options::default()).ok();
    let connection = tcp.as_ref().and_then(|socket| tcp_info(socket.as_fd()));
    vec![
        feature("icmp_probes", can_ping()),
        feature(
            "udp_segmentation",
            udp.as_ref().is_some_and(|socket| takes(socket, libc::UDP_SEGMENT)),
        ),
        feature(
            "udp_receive_offload",
            udp.as_ref().is_some_and(|socket| takes(socket, libc::UDP_GRO)),
        ),
        feature("tcp_limited_times", connection.is_some_and(|info| info.busy_seconds.is_some())),
        feature(
            "tcp_zerocopy",
            tcp.as_ref().is_some_and(|socket| allow_pages(socket.as_fd()).is_ok()),
        ),
        feature("bound_device", can_bind_device()),
    ]
}

fn loopback() -> SocketAddr {
    // Port 9 is "discard"; nothing is sent to it.
    SocketAddr::from((Ipv4Addr::LOCALHOST, 9))
}

fn can_ping() -> bool {
    let peer = IpAddr::from(Ipv4Addr::LOCALHOST);
    EchoSocket::open(peer, &LocalEnd::default(), &Options::default(), 1).is_ok()
}

fn can_bind_device() -> bool {
    let local = LocalEnd { device: Some("lo".to_owned()), ..LocalEnd::default() };
    open_udp(loopback(), &local, &Options::default()).is_ok()
}

/// Whether a UDP socket takes an option with the value 0, which changes nothing.
fn takes(socket: &OwnedFd, option: libc::c_int) -> bool {
    set_option(socket.as_fd(), libc::IPPROTO_UDP, option, 0).is_ok()
}

#[cfg(test)]
mod tests {
    use super::features;

    #[test]
    fn every_feature_is_tried_once() {
        let found = features();
        let mut names: Vec<&str> = found.iter().map(|feature| feature.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), found.len());
        // The kernels that tests run on are newer than 5.0; permissions differ.
        assert!(
            found
                .iter()
                .filter(|feature| feature.name.starts_with("udp") || feature.name.starts_with("tcp"))
                .all(|feature| feature.is_there)
        );
    }
}
