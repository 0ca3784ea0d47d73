//! Opening sockets and setting what a test asks for.

pub mod control;
mod pacing;
mod words;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};
use rustix::time::Timespec;

pub use pacing::{limit_rate, limit_unsent};
pub use words::{keep_segments_small, never_fragment, prefer};

/// What a test asks of its data sockets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// `SO_SNDBUF` and `SO_RCVBUF` to ask for, in bytes; 0 leaves the kernel's autotuning.
    pub buffer_bytes: usize,
    /// Congestion control by name; empty leaves the host's default.
    pub congestion_control: String,
    /// Whether to set `TCP_NODELAY`.
    pub nodelay: bool,
    /// Differentiated services code point, 0 to 63.
    pub dscp: u8,
    /// Whether TCP segments are kept so small that they pass any path.
    pub small_segments: bool,
}

/// What the sockets are bound to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LocalEnd {
    /// Local address; none leaves it to the route.
    pub address: Option<IpAddr>,
    /// Local device; none leaves it to the route.
    pub device: Option<String>,
}

/// Opens a TCP socket bound to the local end, with the options that must precede the handshake.
///
/// # Errors
/// When the kernel refuses an option or the local end.
pub fn open_tcp(peer: SocketAddr, local: &LocalEnd, options: &Options) -> Result<OwnedFd, Errno> {
    open(peer, local, options, SocketType::STREAM)
}

/// Opens a UDP socket connected to `peer`, so that only that peer's datagrams arrive.
///
/// # Errors
/// When the kernel refuses an option, the local end or the route.
pub fn open_udp(peer: SocketAddr, local: &LocalEnd, options: &Options) -> Result<OwnedFd, Errno> {
    let socket = open(peer, local, options, SocketType::DGRAM)?;
    rustix::net::connect(&socket, &peer)?;
    Ok(socket)
}

/// Opens a TCP connection within `limit`; the socket is blocking afterwards.
///
/// # Errors
/// As [`open_tcp`], what `connect(2)` says, or `ETIMEDOUT`.
pub fn connect_tcp(
    peer: SocketAddr,
    local: &LocalEnd,
    options: &Options,
    limit: Duration,
) -> Result<OwnedFd, Errno> {
    let socket = open_tcp(peer, local, options)?;
    rustix::io::ioctl_fionbio(&socket, true)?;
    match rustix::net::connect(&socket, &peer) {
        Err(Errno::INPROGRESS) => finish_connect(&socket, limit)?,
        other => other?,
    }
    rustix::io::ioctl_fionbio(&socket, false)?;
    Ok(socket)
}

/// Opens a socket that never blocks and begins to connect it; its end shows when it is writable.
///
/// # Errors
/// As [`open_tcp`], or what `connect(2)` says at once.
pub fn begin_connect(
    peer: SocketAddr,
    local: &LocalEnd,
    options: &Options,
) -> Result<OwnedFd, Errno> {
    let socket = open_tcp(peer, local, options)?;
    rustix::io::ioctl_fionbio(&socket, true)?;
    match rustix::net::connect(&socket, &peer) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
        Err(error) => Err(error),
    }
}

/// The error that waits on a socket, such as a failed connection attempt's; it is taken off.
///
/// # Errors
/// That error.
pub fn take_error(socket: BorrowedFd<'_>) -> Result<(), Errno> {
    sockopt::socket_error(socket)?
}

fn finish_connect(socket: &OwnedFd, limit: Duration) -> Result<(), Errno> {
    let limit = Timespec {
        tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(limit.subsec_nanos()),
    };
    if poll(&mut [PollFd::new(socket, PollFlags::OUT)], Some(&limit))? == 0 {
        return Err(Errno::TIMEDOUT);
    }
    sockopt::socket_error(socket)?
}

fn open(
    peer: SocketAddr,
    local: &LocalEnd,
    options: &Options,
    kind: SocketType,
) -> Result<OwnedFd, Errno> {
    let family = if peer.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, None)?;
    prepare(socket.as_fd(), peer, local, options, kind == SocketType::STREAM)?;
    Ok(socket)
}

/// Binds a new socket to the local end and sets its options.
pub(crate) fn prepare(
    socket: BorrowedFd<'_>,
    peer: SocketAddr,
    local: &LocalEnd,
    options: &Options,
    is_tcp: bool,
) -> Result<(), Errno> {
    if let Some(device) = &local.device {
        bind_to_device(socket, device)?;
    }
    apply(socket, options, peer.is_ipv4(), is_tcp)?;
    match local.address {
        Some(address) => rustix::net::bind(socket, &SocketAddr::new(address, 0)),
        None => Ok(()),
    }
}

/// Sets the options on a socket of the given family and transport.
///
/// # Errors
/// When the kernel refuses one of them.
pub fn apply(
    socket: BorrowedFd<'_>,
    options: &Options,
    is_ipv4: bool,
    is_tcp: bool,
) -> Result<(), Errno> {
    if options.buffer_bytes > 0 {
        sockopt::set_socket_send_buffer_size(socket, options.buffer_bytes)?;
        sockopt::set_socket_recv_buffer_size(socket, options.buffer_bytes)?;
    }
    if options.dscp > 0 {
        set_traffic_class(socket, options.dscp << 2, is_ipv4)?;
    }
    if is_tcp && options.small_segments {
        keep_segments_small(socket);
    }
    if is_tcp && options.nodelay {
        sockopt::set_tcp_nodelay(socket, true)?;
    }
    if is_tcp && !options.congestion_control.is_empty() {
        sockopt::set_tcp_congestion(socket, &options.congestion_control)?;
    }
    Ok(())
}

pub(crate) fn set_traffic_class(
    socket: BorrowedFd<'_>,
    class: u8,
    is_ipv4: bool,
) -> Result<(), Errno> {
    if is_ipv4 {
        return sockopt::set_ip_tos(socket, class);
    }
    sockopt::set_ipv6_tclass(socket, u32::from(class))
}

/// `SO_SNDBUF` and `SO_RCVBUF` as granted, in bytes.
///
/// # Errors
/// When the descriptor is no socket.
pub fn granted_buffers(socket: BorrowedFd<'_>) -> Result<(u64, u64), Errno> {
    let (send, receive) =
        (sockopt::socket_send_buffer_size(socket)?, sockopt::socket_recv_buffer_size(socket)?);
    Ok((send as u64, receive as u64))
}

/// Limits how long one receive blocks.
///
/// # Errors
/// When the descriptor is no socket.
pub fn set_receive_timeout(socket: BorrowedFd<'_>, limit: Option<Duration>) -> Result<(), Errno> {
    sockopt::set_socket_timeout(socket, sockopt::Timeout::Recv, limit)
}

/// Limits how long one send blocks.
///
/// # Errors
/// When the descriptor is no socket.
pub fn set_send_timeout(socket: BorrowedFd<'_>, limit: Option<Duration>) -> Result<(), Errno> {
    sockopt::set_socket_timeout(socket, sockopt::Timeout::Send, limit)
}

/// The socket's own address.
///
/// # Errors
/// When the descriptor is no IP socket.
pub fn local_address(socket: BorrowedFd<'_>) -> Result<SocketAddr, Errno> {
    SocketAddr::try_from(rustix::net::getsockname(socket)?)
}

/// The connected peer's address.
///
/// # Errors
/// When the socket is not connected.
pub fn peer_address(socket: BorrowedFd<'_>) -> Result<SocketAddr, Errno> {
    match rustix::net::getpeername(socket)? {
        Some(peer) => SocketAddr::try_from(peer),
        None => Err(Errno::NOTCONN),
    }
}

/// Binds to an address and port that others in TIME-WAIT may have used, as `tcp_crr` needs.
///
/// # Errors
/// `EADDRINUSE` when another socket has it.
pub fn bind_reusable(socket: BorrowedFd<'_>, local: SocketAddr) -> Result<(), Errno> {
    sockopt::set_socket_reuseaddr(socket, true)?;
    rustix::net::bind(socket, &local)
}

fn bind_to_device(socket: BorrowedFd<'_>, device: &str) -> Result<(), Errno> {
    use std::os::fd::AsRawFd;
    let length = libc::socklen_t::try_from(device.len()).map_err(|_| Errno::NAMETOOLONG)?;
    // SAFETY: the pointer and length describe `device`, which outlives the call; the kernel copies it.
    let status = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_BINDTODEVICE,
            device.as_ptr().cast(),
            length,
        )
    };
    if status == 0 { Ok(()) } else { Err(last_error()) }
}

pub(crate) fn last_error() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)
}

/// Connects, blocking.
///
/// # Errors
/// What `connect(2)` says.
pub fn connect(socket: BorrowedFd<'_>, peer: SocketAddr) -> Result<(), Errno> {
    rustix::net::connect(socket, &peer)
}
