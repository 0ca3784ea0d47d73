//! Datagrams of a socket that is bound to no one address: at which of the host's they arrived, and answers from there.

use std::mem;
use std::net::{IpAddr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::io::Errno;

use crate::socket::control::set_option;
use crate::socket::last_error;

/// Room for the one control message that is asked for, and for others that a kernel may add.
const CONTROL_WORDS: usize = 16;

/// A datagram that has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrived {
    /// Its length; what is longer than the buffer is cut.
    pub length: usize,
    /// Who sent it.
    pub peer: SocketAddr,
    /// To which of this host's addresses; none where the kernel doesn't tell.
    pub local: Option<IpAddr>,
}

/// Has the kernel tell each datagram's destination (`IP_PKTINFO`).
///
/// # Errors
/// When the kernel refuses.
pub fn tell_destinations(socket: BorrowedFd<'_>, is_ipv4: bool) -> Result<(), Errno> {
    if is_ipv4 {
        return set_option(socket, libc::IPPROTO_IP, libc::IP_PKTINFO, 1);
    }
    set_option(socket, libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO, 1)
}

/// Receives a datagram that is there already.
///
/// # Errors
/// `EAGAIN` when none is, else what `recvmsg(2)` says.
pub fn receive_from(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> Result<Arrived, Errno> {
    // SAFETY: plain data, for which zeros are an address of no family.
    let mut name: libc::sockaddr_storage = unsafe { mem::zeroed() };
    let mut control = [0_u64; CONTROL_WORDS];
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let mut message = message(&mut part, &mut name, mem::size_of::<libc::sockaddr_storage>());
    message.msg_control = control.as_mut_ptr().cast();
    // The field's type differs between C libraries; 128 fits each.
    message.msg_controllen = mem::size_of_val(&control) as _;
    // SAFETY: the message points to `name`, `part`, `buffer` and `control`, which outlive the call, with their true
    // lengths.
    let received =
        unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, libc::MSG_DONTWAIT) };
    let length = usize::try_from(received).map_err(|_| last_error())?;
    let peer = socket_address(&name).ok_or(Errno::AFNOSUPPORT)?;
    Ok(Arrived { length, peer, local: destination(&message) })
}

/// Sends a datagram from one of this host's addresses; from the one that the route suggests where none is given.
///
/// # Errors
/// What `sendmsg(2)` says.
pub fn send_from(
    socket: BorrowedFd<'_>,
    data: &[u8],
    peer: SocketAddr,
    local: Option<IpAddr>,
) -> Result<(), Errno> {
    let (mut name, name_length) = c_address(peer);
    let mut control = [0_u64; CONTROL_WORDS];
    let mut part = libc::iovec { iov_base: data.as_ptr().cast_mut().cast(), iov_len: data.len() };
    let mut message = message(&mut part, &mut name, name_length);
    if let Some(local) = local {
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = mem::size_of_val(&control) as _;
        // What was written is shorter than the room for it.
        message.msg_controllen = write_source(&message, local) as _;
    }
    // SAFETY: as in `receive_from`; the kernel only reads them.
    let sent = unsafe { libc::sendmsg(socket.as_raw_fd(), &raw const message, libc::MSG_NOSIGNAL) };
    if sent < 0 { Err(last_error()) } else { Ok(()) }
}

fn message(
    part: &mut libc::iovec,
    name: &mut libc::sockaddr_storage,
    name_length: usize,
) -> libc::msghdr {
    // SAFETY: msghdr is plain data, for which zeros are an empty message.
    let mut message: libc::msghdr = unsafe { mem::zeroed() };
    message.msg_name = (&raw mut *name).cast();
    // At most the 128 bytes of the storage.
    message.msg_namelen = libc::socklen_t::try_from(name_length).unwrap_or(0);
    message.msg_iov = &raw mut *part;
    message.msg_iovlen = 1;
    message
}

/// The destination that the kernel noted beside a received datagram.
fn destination(message: &libc::msghdr) -> Option<IpAddr> {
    // SAFETY: the kernel has filled the message and its control buffer, which is still there.
    let mut header = unsafe { libc::CMSG_FIRSTHDR(&raw const *message) };
    while !header.is_null() {
        // SAFETY: a header that CMSG_FIRSTHDR or CMSG_NXTHDR gives lies whole within the control buffer; the data of
        // either type is the structure named, plain data that may not be aligned.
        unsafe {
            match ((*header).cmsg_level, (*header).cmsg_type) {
                (libc::IPPROTO_IP, libc::IP_PKTINFO) => {
                    let info = libc::CMSG_DATA(header).cast::<libc::in_pktinfo>().read_unaligned();
                    return Some(IpAddr::from(info.ipi_addr.s_addr.to_ne_bytes()));
                }
                (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO) => {
                    let info = libc::CMSG_DATA(header).cast::<libc::in6_pktinfo>().read_unaligned();
                    return Some(IpAddr::from(info.ipi6_addr.s6_addr));
                }
                _ => header = libc::CMSG_NXTHDR(&raw const *message, header),
            }
        }
    }
    None
}

/// Writes the source address to send from into the message's control buffer; how long that is.
fn write_source(message: &libc::msghdr, local: IpAddr) -> usize {
    match local {
        IpAddr::V4(address) => {
            let address = libc::in_addr { s_addr: u32::from_ne_bytes(address.octets()) };
            let any = libc::in_addr { s_addr: 0 };
            let info = libc::in_pktinfo { ipi_ifindex: 0, ipi_spec_dst: address, ipi_addr: any };
            write_control(message, libc::IPPROTO_IP, libc::IP_PKTINFO, info)
        }
        IpAddr::V6(address) => {
            let address = libc::in6_addr { s6_addr: address.octets() };
            let info = libc::in6_pktinfo { ipi6_addr: address, ipi6_ifindex: 0 };
            write_control(message, libc::IPPROTO_IPV6, libc::IPV6_PKTINFO, info)
        }
    }
}

fn write_control<T>(
    message: &libc::msghdr,
    level: libc::c_int,
    kind: libc::c_int,
    value: T,
) -> usize {
    // Both structures are below 32 bytes.
    let length = libc::c_uint::try_from(mem::size_of::<T>()).unwrap_or(0);
    // SAFETY: the control buffer is zeroed, aligned for a header and longer than one header with a `T`.
    unsafe {
        let header = libc::CMSG_FIRSTHDR(&raw const *message);
        (*header).cmsg_level = level;
        (*header).cmsg_type = kind;
        (*header).cmsg_len = libc::CMSG_LEN(length) as _;
        libc::CMSG_DATA(header).cast::<T>().write_unaligned(value);
        libc::CMSG_SPACE(length) as usize
    }
}

pub fn socket_address(name: &libc::sockaddr_storage) -> Option<SocketAddr> {
    let name = &raw const *name;
    // SAFETY: the storage is large enough for either structure, which is plain data; its family tells which it is.
    unsafe {
        match i32::from((*name).ss_family) {
            libc::AF_INET => {
                let inner = name.cast::<libc::sockaddr_in>().read();
                let address = inner.sin_addr.s_addr.to_ne_bytes().into();
                Some(SocketAddrV4::new(address, u16::from_be(inner.sin_port)).into())
            }
            libc::AF_INET6 => {
                let inner = name.cast::<libc::sockaddr_in6>().read();
                let (port, scope) = (u16::from_be(inner.sin6_port), inner.sin6_scope_id);
                let address = inner.sin6_addr.s6_addr.into();
                Some(SocketAddrV6::new(address, port, inner.sin6_flowinfo, scope).into())
            }
            _ => None,
        }
    }
}

// Families are small numbers.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn c_address(address: SocketAddr) -> (libc::sockaddr_storage, usize) {
    // SAFETY: plain data, for which zeros are a value, and large enough for either structure.
    unsafe {
        let mut storage: libc::sockaddr_storage = mem::zeroed();
        let place = &raw mut storage;
        let length = match address {
            SocketAddr::V4(address) => {
                let mut inner: libc::sockaddr_in = mem::zeroed();
                inner.sin_family = libc::AF_INET as _;
                inner.sin_port = address.port().to_be();
                inner.sin_addr.s_addr = u32::from_ne_bytes(address.ip().octets());
                place.cast::<libc::sockaddr_in>().write(inner);
                mem::size_of::<libc::sockaddr_in>()
            }
            SocketAddr::V6(address) => {
                let mut inner: libc::sockaddr_in6 = mem::zeroed();
                inner.sin6_family = libc::AF_INET6 as _;
                inner.sin6_port = address.port().to_be();
                inner.sin6_flowinfo = address.flowinfo();
                inner.sin6_addr.s6_addr = address.ip().octets();
                inner.sin6_scope_id = address.scope_id();
                place.cast::<libc::sockaddr_in6>().write(inner);
                mem::size_of::<libc::sockaddr_in6>()
            }
        };
        (storage, length)
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::os::fd::AsFd;
    use std::time::Duration;

    use super::*;

    fn answered_from(wildcard: &str, asked: &str, client: &str) -> (Arrived, SocketAddr) {
        let server = UdpSocket::bind((wildcard, 0)).unwrap();
        tell_destinations(server.as_fd(), wildcard == "0.0.0.0").unwrap();
        let client = UdpSocket::bind((client, 0)).unwrap();
        client.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        client.send_to(b"hello", (asked, server.local_addr().unwrap().port())).unwrap();
        let mut buffer = [0; 8];
        let arrived = loop {
            match receive_from(server.as_fd(), &mut buffer) {
                Err(Errno::AGAIN) => std::thread::yield_now(),
                arrived => break arrived.unwrap(),
            }
        };
        assert_eq!(
            (&buffer[..arrived.length], arrived.peer),
            (&b"hello"[..], client.local_addr().unwrap())
        );
        send_from(server.as_fd(), b"you", arrived.peer, arrived.local).unwrap();
        let (length, sender) = client.recv_from(&mut buffer).unwrap();
        assert_eq!(&buffer[..length], b"you");
        (arrived, sender)
    }

    #[test]
    fn an_answer_comes_from_the_address_that_was_asked() {
        // The route to 127.0.0.1 would suggest that address.
        let (arrived, sender) = answered_from("0.0.0.0", "127.0.0.77", "127.0.0.1");
        assert_eq!(arrived.local, Some(IpAddr::from([127, 0, 0, 77])));
        assert_eq!(sender.ip(), IpAddr::from([127, 0, 0, 77]));
    }

    #[test]
    fn ipv6_tells_the_same_where_there_is_any() {
        if UdpSocket::bind("[::1]:0").is_ok() {
            let (arrived, sender) = answered_from("::", "::1", "::1");
            assert_eq!((arrived.local, sender.ip()), (Some(sender.ip()), "::1".parse().unwrap()));
        }
    }

    #[test]
    fn without_a_datagram_there_is_nothing_to_receive() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        assert_eq!(receive_from(socket.as_fd(), &mut [0; 8]), Err(Errno::AGAIN));
    }
}
