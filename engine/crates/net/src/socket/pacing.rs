//! What keeps the kernel from sending a paced stream in bursts.

use std::os::fd::BorrowedFd;

use rustix::io::Errno;

use super::control::set_option;

/// Lets no more than about so many bytes of a TCP stream wait unsent in the kernel (`TCP_NOTSENT_LOWAT`, Linux 3.12):
/// sending blocks meanwhile.
///
/// # Errors
/// When the kernel refuses.
pub fn limit_unsent(socket: BorrowedFd<'_>, bytes: u32) -> Result<(), Errno> {
    set_option(
        socket,
        libc::IPPROTO_TCP,
        libc::TCP_NOTSENT_LOWAT,
        i32::from_ne_bytes(bytes.to_ne_bytes()),
    )
}

/// Lets the kernel send a socket's data at no more than so many bytes per second (`SO_MAX_PACING_RATE`): TCP itself
/// (Linux 4.13), or the queueing discipline `fq`.
///
/// # Errors
/// When the kernel refuses.
pub fn limit_rate(socket: BorrowedFd<'_>, bytes_per_second: u32) -> Result<(), Errno> {
    set_option(
        socket,
        libc::SOL_SOCKET,
        libc::SO_MAX_PACING_RATE,
        i32::from_ne_bytes(bytes_per_second.to_ne_bytes()),
    )
}
