//! What connections ask for that carry few words, each of which matters: to go first, and in segments that pass any path.

use std::os::fd::BorrowedFd;

use super::control::set_option;
use super::{local_address, set_traffic_class};

/// `IPTOS_LOWDELAY`: queues that look at the class of service let it go first.
const LOW_DELAY: u8 = 0x10;
/// `TC_PRIO_INTERACTIVE`, the highest that needs no privilege.
const INTERACTIVE: libc::c_int = 6;
/// Payload of a segment that passes any path: every IPv4 host takes packets of 576 bytes.
const SMALL_SEGMENT: libc::c_int = 536;

/// Asks that what this socket sends goes before other traffic. Nobody has to grant that.
pub fn prefer(socket: BorrowedFd<'_>) {
    let is_ipv4 = local_address(socket).is_ok_and(|address| address.ip().to_canonical().is_ipv4());
    // The class of service sets the priority too, so that comes last.
    let _ = set_traffic_class(socket, LOW_DELAY, is_ipv4);
    let _ = set_option(socket, libc::SOL_SOCKET, libc::SO_PRIORITY, INTERACTIVE);
}

/// Keeps the segments of both ways so small that no path is too narrow for them, whatever the interfaces' MTU. To be
/// called before a connection is made or listened for; where it is refused, segments are as usual.
pub fn keep_segments_small(socket: BorrowedFd<'_>) {
    let _ = set_option(socket, libc::IPPROTO_TCP, libc::TCP_MAXSEG, SMALL_SEGMENT);
}

/// Lets a datagram be sent in one piece or not at all, whatever the kernel knows of the path.
///
/// # Errors
/// When the kernel refuses the option.
pub fn never_fragment(socket: BorrowedFd<'_>, is_ipv4: bool) -> Result<(), rustix::io::Errno> {
    if is_ipv4 {
        let value = libc::IP_PMTUDISC_PROBE;
        return set_option(socket, libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, value);
    }
    set_option(socket, libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER, libc::IPV6_PMTUDISC_PROBE)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::os::fd::AsFd;

    use super::*;
    use crate::{LocalEnd, Options, open_tcp, tcp_info};

    #[test]
    fn small_segments_are_small_in_both_directions() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let peer = listener.local_addr().expect("bound");
        let near = open_tcp(peer, &LocalEnd::default(), &Options::default()).expect("a socket");
        keep_segments_small(near.as_fd());
        crate::connect(near.as_fd(), peer).expect("connects");
        prefer(near.as_fd());
        let mut near = std::net::TcpStream::from(near);
        let (mut far, _) = listener.accept().expect("accepts");
        for (from, to) in [(0, 1), (1, 0)] {
            let ends = [&mut near, &mut far];
            let [one, other] = if from < to {
                ends
            } else {
                let [a, b] = ends;
                [b, a]
            };
            one.write_all(&[7; 5_360]).expect("fits the buffer");
            other.read_exact(&mut [0; 5_360]).expect("arrives");
            let segments = tcp_info(one.as_fd()).and_then(|info| info.data_segments_sent);
            assert!(segments.expect("this kernel tells") >= 10, "{segments:?}");
        }
    }
}
