//! The calls of the hot loops, and what interrupts them.

pub mod addressed;
pub mod arrivals;
mod batches;
mod in_place;

use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown, SocketFlags, acceptfrom_with, shutdown};
use rustix::time::Timespec;

pub use addressed::{Arrived, receive_from, send_from, tell_destinations};
pub use arrivals::{receive_stamped, stamp_arrivals};
pub use batches::{
    MOST_BYTES, MOST_DATAGRAMS, RECEIVE_BYTES, join_receives, path_mtu, receive_joined, send_each,
    split_sends,
};
pub use in_place::{
    Released, allow_pages, memory_file, released, send_file, send_pages, wait_for_release,
};

/// Sends once, blocking; the number of bytes that the kernel took.
///
/// # Errors
/// What `send(2)` says; `EPIPE` instead of a signal.
#[inline]
pub fn send(socket: BorrowedFd<'_>, data: &[u8]) -> Result<usize, Errno> {
    rustix::net::send(socket, data, SendFlags::NOSIGNAL)
}

/// Whether an error of a datagram socket may pass by itself: an interrupted call, a full queue, or a path that is cut for
/// a while, as ICMP, the neighbour table or the route tells.
#[must_use]
pub fn may_pass(error: Errno) -> bool {
    matches!(
        error,
        Errno::INTR
            | Errno::NOBUFS
            | Errno::AGAIN
            | Errno::CONNREFUSED
            | Errno::HOSTUNREACH
            | Errno::HOSTDOWN
            | Errno::NETUNREACH
            | Errno::NETDOWN
    )
}

/// Sends as much as there is room for now.
///
/// # Errors
/// `EAGAIN` when there is none, else what `send(2)` says.
#[inline]
pub fn send_now(socket: BorrowedFd<'_>, data: &[u8]) -> Result<usize, Errno> {
    rustix::net::send(socket, data, SendFlags::NOSIGNAL | SendFlags::DONTWAIT)
}

/// Receives once, blocking; 0 is the end of a stream.
///
/// # Errors
/// What `recv(2)` says.
#[inline]
pub fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> Result<usize, Errno> {
    rustix::net::recv(socket, buffer, RecvFlags::empty()).map(|(bytes, _)| bytes)
}

/// Bytes of a stream that wait to be read (`SIOCINQ`, tcp(7)).
///
/// # Errors
/// What `ioctl(2)` says.
pub fn unread_bytes(socket: BorrowedFd<'_>) -> Result<u64, Errno> {
    rustix::io::ioctl_fionread(socket)
}

/// Receives what is there already.
///
/// # Errors
/// `EAGAIN` when nothing is, else what `recv(2)` says.
#[inline]
pub fn receive_now(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> Result<usize, Errno> {
    rustix::net::recv(socket, buffer, RecvFlags::DONTWAIT).map(|(bytes, _)| bytes)
}

/// Accepts one connection: the socket, blocking, and its peer.
///
/// # Errors
/// What `accept4(2)` says.
#[inline]
pub fn accept(listener: BorrowedFd<'_>) -> Result<(OwnedFd, Option<SocketAddr>), Errno> {
    let (socket, peer) = acceptfrom_with(listener, SocketFlags::CLOEXEC)?;
    Ok((socket, peer.and_then(|peer| SocketAddr::try_from(peer).ok())))
}

/// Makes calls on a socket return at once instead of waiting. All who share the socket share this.
///
/// # Errors
/// When the descriptor is closed.
pub fn never_block(socket: impl AsFd) -> Result<(), Errno> {
    rustix::io::ioctl_fionbio(socket, true)
}

/// Makes accepting from a listener wait for a connection. All who share the listener share this.
///
/// # Errors
/// When the descriptor is closed.
pub fn block(listener: impl AsFd) -> Result<(), Errno> {
    rustix::io::ioctl_fionbio(listener, false)
}

/// Lets the closing of a connection reset it: both ends forget it at once, without TIME-WAIT.
///
/// # Errors
/// When the descriptor is no socket.
#[inline]
pub fn reset_on_close(socket: BorrowedFd<'_>) -> Result<(), Errno> {
    rustix::net::sockopt::set_socket_linger(socket, Some(Duration::ZERO))
}

/// Breaks a TCP connection off at once, both ways, with a reset; what is queued on it is dropped.
pub fn disconnect(socket: impl AsFd) {
    // An error means that the connection is gone already, which is what is wanted.
    let _ = rustix::net::connect_unspec(socket);
}

/// Half-closes: the peer reads the end of the stream after what is on its way.
pub fn end_sending(socket: impl AsFd) {
    // An error means that the connection is gone already, which is what is wanted.
    let _ = shutdown(socket, Shutdown::Write);
}

/// Makes blocked and later receives return what is queued, then 0.
pub fn end_reading(socket: impl AsFd) {
    let _ = shutdown(socket, Shutdown::Read);
}

/// Ends both ways and wakes every thread that is blocked on the socket.
pub fn end_traffic(socket: impl AsFd) {
    let _ = shutdown(socket, Shutdown::Both);
}

/// Wakes threads that wait for a socket that may not be shut down, such as a lent listener.
#[derive(Debug)]
pub struct Wake(OwnedFd);

impl Wake {
    /// Makes an event descriptor that nobody has rung yet.
    ///
    /// # Errors
    /// When the process has no descriptor left.
    pub fn new() -> Result<Self, Errno> {
        eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map(Self)
    }

    /// Wakes every waiter, now and later: the event is never taken back.
    pub fn ring(&self) {
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }

    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Why a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// The socket has something.
    Readable,
    /// Someone rang.
    Woken,
    /// Nothing happened in the time.
    TimedOut,
}

/// Whether something waits to be read, an end of the stream included.
#[must_use]
pub fn is_readable(socket: BorrowedFd<'_>) -> bool {
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut [PollFd::new(&socket, PollFlags::IN)], Some(&now)).is_ok_and(|ready| ready > 0)
}

/// Waits until the socket is readable, the wake rings, or the time is over.
///
/// # Errors
/// What `poll(2)` says.
pub fn wait_readable(
    socket: BorrowedFd<'_>,
    wake: &Wake,
    limit: Option<Duration>,
) -> Result<Readiness, Errno> {
    let limit = limit.map(|limit| Timespec {
        tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(limit.subsec_nanos()),
    });
    let mut waited = [PollFd::new(&socket, PollFlags::IN), PollFd::new(&wake.0, PollFlags::IN)];
    if poll(&mut waited, limit.as_ref())? == 0 {
        return Ok(Readiness::TimedOut);
    }
    Ok(if waited[1].revents().is_empty() { Readiness::Readable } else { Readiness::Woken })
}
