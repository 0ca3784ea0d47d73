//! Socket options and control messages of plain C types: the one place that speaks of their layout.

use std::mem;
use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::io::Errno;

use super::last_error;

/// Room for one small message with its header, and for others that a kernel may add.
const CONTROL_WORDS: usize = 16;
/// Any address fits into so many bytes (128).
#[allow(clippy::cast_possible_truncation)]
const NAME_BYTES: libc::socklen_t = mem::size_of::<libc::sockaddr_storage>() as libc::socklen_t;

/// What may be read from a control message: plain data, for which any bytes are a value.
pub trait Plain: Copy {}
impl Plain for libc::c_int {}
impl Plain for libc::timespec {}

/// Sets an option that is an `int`.
///
/// # Errors
/// When the kernel refuses.
pub fn set_option(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    option: libc::c_int,
    value: libc::c_int,
) -> Result<(), Errno> {
    let length = libc::socklen_t::try_from(mem::size_of_val(&value)).map_err(|_| Errno::INVAL)?;
    // SAFETY: the pointer and length describe `value`, which outlives the call; the kernel copies it.
    let status = unsafe {
        libc::setsockopt(socket.as_raw_fd(), level, option, (&raw const value).cast(), length)
    };
    if status == 0 { Ok(()) } else { Err(last_error()) }
}

/// Receives into `buffer`: how much, and the first control message of one of these levels and types, if one came.
///
/// # Errors
/// What `recvmsg(2)` says.
pub fn receive_with<T: Plain>(
    socket: BorrowedFd<'_>,
    buffer: &mut [u8],
    flags: libc::c_int,
    wanted: &[(libc::c_int, libc::c_int)],
) -> Result<(usize, Option<T>), Errno> {
    receive_named(socket, buffer, flags, wanted, None)
}

/// As [`receive_with`], with the sender's address written into `name` where one is given.
///
/// # Errors
/// What `recvmsg(2)` says.
pub fn receive_named<T: Plain>(
    socket: BorrowedFd<'_>,
    buffer: &mut [u8],
    flags: libc::c_int,
    wanted: &[(libc::c_int, libc::c_int)],
    name: Option<&mut libc::sockaddr_storage>,
) -> Result<(usize, Option<T>), Errno> {
    let mut control = [0_u64; CONTROL_WORDS];
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: msghdr is plain data, for which zeros are an empty message.
    let mut message: libc::msghdr = unsafe { mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    if let Some(name) = name {
        message.msg_namelen = NAME_BYTES;
        message.msg_name = std::ptr::from_mut(name).cast();
    }
    message.msg_control = control.as_mut_ptr().cast();
    // The field's type differs between C libraries; 128 fits each.
    message.msg_controllen = mem::size_of_val(&control) as _;
    // SAFETY: the message points to `part`, `buffer`, `control` and perhaps the caller's name, which outlive the call,
    // with their true lengths.
    let received = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, flags) };
    let length = usize::try_from(received).map_err(|_| last_error())?;
    // SAFETY: the kernel has filled `message` and its control buffer, which is still there.
    let mut header = unsafe { libc::CMSG_FIRSTHDR(&raw const message) };
    while !header.is_null() {
        // SAFETY: a header that CMSG_FIRSTHDR or CMSG_NXTHDR gives lies whole within the control buffer.
        let entry = unsafe { &*header };
        if wanted.contains(&(entry.cmsg_level, entry.cmsg_type)) {
            // SAFETY: the data of this type is one `T`, which may not be aligned; any bytes are one.
            let value = unsafe { libc::CMSG_DATA(header).cast::<T>().read_unaligned() };
            return Ok((length, Some(value)));
        }
        // SAFETY: as above.
        header = unsafe { libc::CMSG_NXTHDR(&raw const message, header) };
    }
    Ok((length, None))
}
