//! Many datagrams a call: `sendmmsg()`, and segmentation offload with its counterpart at the receiver.

use std::mem;
use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::io::Errno;

use crate::socket::control::{receive_with, set_option};
use crate::socket::last_error;

/// As many datagrams go in one call at most: what every kernel since 4.18 takes of segments.
pub const MOST_DATAGRAMS: usize = 64;
/// As many bytes go in one segmented send at most: the payload of one IPv4 datagram, which it is until it is split.
pub const MOST_BYTES: usize = 65_507;
/// A received buffer of segments is never longer.
pub const RECEIVE_BYTES: usize = 65_536;

/// Sends the datagrams of `length` bytes that `data` is made of, blocking; how many the kernel took. When it took
/// fewer, it refused the next one.
///
/// # Errors
/// What `sendmmsg(2)` says of the first datagram.
pub fn send_each(socket: BorrowedFd<'_>, data: &[u8], length: usize) -> Result<usize, Errno> {
    // SAFETY: both are plain data, for which zeros are empty.
    let (mut headers, mut parts): ([libc::mmsghdr; MOST_DATAGRAMS], [libc::iovec; MOST_DATAGRAMS]) =
        unsafe { (mem::zeroed(), mem::zeroed()) };
    let mut count = 0;
    let datagrams = data.chunks_exact(length);
    for ((datagram, header), part) in datagrams.zip(&mut headers).zip(&mut parts) {
        part.iov_base = datagram.as_ptr().cast_mut().cast();
        part.iov_len = datagram.len();
        header.msg_hdr.msg_iov = &raw mut *part;
        header.msg_hdr.msg_iovlen = 1;
        count += 1_usize;
    }
    // Not libc's function: musl's calls sendmsg() for each. The kernel's layout is the zeroed structures'.
    // SAFETY: the first `count` headers point to parts, and these to bytes of `data`, all of which outlive the call;
    // the kernel only reads the data.
    let sent = unsafe {
        libc::syscall(
            libc::SYS_sendmmsg,
            socket.as_raw_fd(),
            headers.as_mut_ptr(),
            count,
            libc::MSG_NOSIGNAL,
        )
    };
    usize::try_from(sent).map_err(|_| last_error())
}

/// Has the kernel split each later send into datagrams of `length` bytes (`UDP_SEGMENT`); 0 ends it.
///
/// # Errors
/// When the kernel has no such thing, or the length is beyond a datagram's.
pub fn split_sends(socket: BorrowedFd<'_>, length: usize) -> Result<(), Errno> {
    let length = libc::c_int::try_from(length).map_err(|_| Errno::INVAL)?;
    set_option(socket, libc::IPPROTO_UDP, libc::UDP_SEGMENT, length)
}

/// Has the kernel hand over datagrams that arrived in a batch as one buffer (`UDP_GRO`).
///
/// # Errors
/// When the kernel has no such thing.
pub fn join_receives(socket: BorrowedFd<'_>) -> Result<(), Errno> {
    set_option(socket, libc::IPPROTO_UDP, libc::UDP_GRO, 1)
}

/// The greatest packet that the way to a connected socket's peer takes whole, as far as the kernel knows.
#[must_use]
pub fn path_mtu(socket: BorrowedFd<'_>, is_ipv4: bool) -> Option<usize> {
    let (level, option) = if is_ipv4 {
        (libc::IPPROTO_IP, libc::IP_MTU)
    } else {
        (libc::IPPROTO_IPV6, libc::IPV6_MTU)
    };
    let mut mtu: libc::c_int = 0;
    let mut length = libc::socklen_t::try_from(mem::size_of_val(&mtu)).ok()?;
    // SAFETY: `mtu` is valid for writes of `length` bytes; the kernel writes at most that many.
    let status = unsafe {
        libc::getsockopt(socket.as_raw_fd(), level, option, (&raw mut mtu).cast(), &raw mut length)
    };
    usize::try_from(mtu).ok().filter(|&mtu| status == 0 && mtu > 0)
}

/// Receives one buffer, blocking: its length, and that of the datagrams in it, of which the last may be shorter. Both
/// are the same for a lone datagram.
///
/// # Errors
/// What `recvmsg(2)` says.
pub fn receive_joined(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> Result<(usize, usize), Errno> {
    let segment = (libc::IPPROTO_UDP, libc::UDP_GRO);
    let (length, segment) = receive_with::<libc::c_int>(socket, buffer, 0, &[segment])?;
    let segment = segment.and_then(|segment| usize::try_from(segment).ok());
    Ok((length, segment.filter(|&segment| segment > 0).unwrap_or(length)))
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::os::fd::AsFd;

    use super::*;

    fn pair() -> (UdpSocket, UdpSocket) {
        let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        sender.connect(receiver.local_addr().unwrap()).unwrap();
        (sender, receiver)
    }

    #[test]
    fn one_call_sends_each_datagram_by_itself_and_in_order() {
        let (sender, receiver) = pair();
        assert_eq!(send_each(sender.as_fd(), b"onetwosix", 3), Ok(3));
        let mut buffer = [0; 8];
        for expected in [b"one", b"two", b"six"] {
            assert_eq!(receiver.recv(&mut buffer).unwrap(), 3);
            assert_eq!(&buffer[..3], expected);
        }
    }

    #[test]
    fn the_path_of_a_connected_socket_has_the_mtu_of_its_interface() {
        let (sender, receiver) = pair();
        let mtu = std::fs::read_to_string("/sys/class/net/lo/mtu").unwrap();
        let expected = mtu.trim().parse().map(|mtu: usize| mtu.min(usize::from(u16::MAX)));
        assert_eq!(path_mtu(sender.as_fd(), true), expected.ok());
        assert_eq!(path_mtu(receiver.as_fd(), true), None);
    }

    #[test]
    fn a_datagram_that_is_refused_is_told() {
        let (sender, _) = pair();
        let data = vec![0; MOST_BYTES + 1];
        assert_eq!(send_each(sender.as_fd(), &data, data.len()), Err(Errno::MSGSIZE));
    }

    #[test]
    fn a_segmented_send_is_received_as_one_buffer_with_the_length_of_its_datagrams() {
        let (sender, receiver) = pair();
        split_sends(sender.as_fd(), 3).unwrap();
        join_receives(receiver.as_fd()).unwrap();
        sender.send(b"onetwosixte").unwrap();
        split_sends(sender.as_fd(), 0).unwrap();
        sender.send(b"alone").unwrap();
        let mut buffer = [0; 64];
        assert_eq!(receive_joined(receiver.as_fd(), &mut buffer), Ok((11, 3)));
        assert_eq!(&buffer[..11], b"onetwosixte");
        assert_eq!(receive_joined(receiver.as_fd(), &mut buffer), Ok((5, 5)));
    }

    #[test]
    fn a_receiver_that_does_not_join_gets_the_datagrams_of_a_segmented_send() {
        let (sender, receiver) = pair();
        split_sends(sender.as_fd(), 4).unwrap();
        assert_eq!(sender.send(b"fourfiveup").unwrap(), 10);
        let mut buffer = [0; 64];
        let lengths: Vec<_> = (0..3).map(|_| receiver.recv(&mut buffer).unwrap()).collect();
        assert_eq!(lengths, [4, 4, 2]);
    }
}
