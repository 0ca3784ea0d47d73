//! TCP data that the kernel sends from where it lies: pages of this process (`MSG_ZEROCOPY`, Linux 4.14,
//! `Documentation/networking/msg_zerocopy.rst`), or a file in memory (`sendfile(2)`).

use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::MemfdFlags;
use rustix::io::Errno;
use rustix::net::SendFlags;
use rustix::time::Timespec;

use crate::socket::control::{Plain, receive_with, set_option};

/// `SO_EE_ORIGIN_ZEROCOPY` of linux/errqueue.h, which libc doesn't have.
const ORIGIN_ZEROCOPY: u8 = 5;
/// `SO_EE_CODE_ZEROCOPY_COPIED`.
const CODE_COPIED: u8 = 1;

impl Plain for libc::sock_extended_err {}

/// Sends of pages that the kernel is done with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Released {
    /// How many.
    pub sends: u32,
    /// Whether it copied them after all, as it does on loopback and virtual interfaces.
    pub is_copied: bool,
}

/// A file in memory that holds these bytes.
///
/// # Errors
/// What `memfd_create(2)` or `write(2)` says.
pub fn memory_file(bytes: &[u8]) -> Result<OwnedFd, Errno> {
    let file = rustix::fs::memfd_create("message", MemfdFlags::CLOEXEC)?;
    let mut place = 0;
    while place < bytes.len() {
        place += rustix::io::pwrite(&file, &bytes[place..], place as u64)?;
    }
    Ok(file)
}

/// Sends `length` bytes of a file from `place` on, blocking; the number of bytes that the kernel took.
///
/// # Errors
/// What `sendfile(2)` says.
#[inline]
pub fn send_file(
    socket: BorrowedFd<'_>,
    file: &OwnedFd,
    place: usize,
    length: usize,
) -> Result<usize, Errno> {
    let mut place = place as u64;
    rustix::fs::sendfile(socket, file, Some(&mut place), length)
}

/// Prepares a TCP socket for [`send_pages`].
///
/// # Errors
/// When the kernel has no such thing.
pub fn allow_pages(socket: BorrowedFd<'_>) -> Result<(), Errno> {
    set_option(socket, libc::SOL_SOCKET, libc::SO_ZEROCOPY, 1)
}

/// Sends once, blocking, from the pages that `data` lies in; the number of bytes that the kernel took. It reads them
/// until it tells that they are [`released`]: data that changes before is sent changed.
///
/// # Errors
/// What `send(2)` says; `ENOBUFS` while it may pin no more of this process's pages.
#[inline]
pub fn send_pages(socket: BorrowedFd<'_>, data: &[u8]) -> Result<usize, Errno> {
    // A flag that rustix has no name for.
    let pages = SendFlags::from_bits_retain(u32::from_ne_bytes(libc::MSG_ZEROCOPY.to_ne_bytes()));
    rustix::net::send(socket, data, SendFlags::NOSIGNAL | pages)
}

/// The next sends that the kernel is done with, if it tells any; never blocks.
///
/// # Errors
/// What `recvmsg(2)` says.
pub fn released(socket: BorrowedFd<'_>) -> Result<Option<Released>, Errno> {
    let flags = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
    let levels = [(libc::SOL_IP, libc::IP_RECVERR), (libc::SOL_IPV6, libc::IPV6_RECVERR)];
    match receive_with::<libc::sock_extended_err>(socket, &mut [], flags, &levels) {
        Ok((_, told)) => Ok(told.filter(|told| told.ee_origin == ORIGIN_ZEROCOPY).map(of_range)),
        Err(Errno::AGAIN) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Waits a moment until the kernel tells that it is done with sends, or that the connection is broken.
pub fn wait_for_release(socket: BorrowedFd<'_>) {
    // Errors wake whatever is asked for.
    let mut waited = [PollFd::new(&socket, PollFlags::empty())];
    let limit = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
    // An interrupted wait was long enough.
    let _ = poll(&mut waited, Some(&limit));
}

/// The kernel numbers a socket's sends from 0 and tells the first and the last of a range; the numbers wrap.
fn of_range(told: libc::sock_extended_err) -> Released {
    let sends = told.ee_data.wrapping_sub(told.ee_info).wrapping_add(1);
    Released { sends, is_copied: told.ee_code & CODE_COPIED != 0 }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;

    use super::{allow_pages, memory_file, released, send_file, send_pages};

    fn connection(address: &str) -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind(address).expect("a port is free");
        let sender = TcpStream::connect(listener.local_addr().expect("bound")).expect("connects");
        (sender, listener.accept().expect("a connection").0)
    }

    fn received(mut receiver: &TcpStream, length: usize) -> Vec<u8> {
        let mut buffer = vec![0; length];
        receiver.read_exact(&mut buffer).expect("all of it");
        buffer
    }

    #[test]
    fn a_part_of_a_file_in_memory_is_sent() {
        let (sender, receiver) = connection("127.0.0.1:0");
        let file = memory_file(b"0123456789").expect("a file");
        assert_eq!(send_file(sender.as_fd(), &file, 3, 4), Ok(4));
        assert_eq!(received(&receiver, 4), b"3456");
    }

    #[test]
    fn pages_are_sent_and_each_send_is_released_once() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let (sender, receiver) = connection(address);
            allow_pages(sender.as_fd()).expect("Linux 4.14");
            let message = vec![7; 10_000];
            for _ in 0..3 {
                assert_eq!(send_pages(sender.as_fd(), &message), Ok(10_000));
            }
            assert_eq!(received(&receiver, 30_000), vec![7; 30_000]);
            let mut sends = 0;
            while let Ok(Some(released)) = released(sender.as_fd()) {
                sends += released.sends;
                assert!(released.is_copied, "loopback copies");
            }
            assert_eq!(sends, 3, "{address}");
        }
    }
}
