//! An Ethernet device whose other end is this process: test equipment, no part of a measurement.
//!
//! Without `TUNSETOFFLOAD` the kernel cuts segments and fills in checksums itself, so that each read is one frame as a
//! cable would carry it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::ptr::{from_mut, from_ref};

const CLONE_DEVICE: &str = "/dev/net/tun";
const SET_QUEUE_LENGTH: libc::c_ulong = 0x8943;

/// Makes the device `name` in this thread's network namespace; it is gone when the file is closed.
///
/// A read gives a frame and never waits. The device holds `queue_frames` until they are read.
///
/// # Errors
///
/// That of the system: usually a right (`CAP_NET_ADMIN`) or the kernel's TUN is missing, or the name is taken.
pub fn open_tap(name: &str, queue_frames: u16) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
        .open(CLONE_DEVICE)?;
    let mut request = request(name)?;
    let flags = libc::c_short::try_from(libc::IFF_TAP | libc::IFF_NO_PI);
    request.ifr_ifru.ifru_flags = flags.map_err(io::Error::other)?;
    // SAFETY: the pointer is to a live request, which is what this call takes.
    check(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF as _, from_ref(&request)) })?;
    request.ifr_ifru.ifru_metric = queue_frames.into();
    // SAFETY: a plain call.
    let socket = check(unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM, 0) })?;
    // SAFETY: the descriptor was just made and has no other owner.
    let socket = unsafe { OwnedFd::from_raw_fd(socket) };
    // SAFETY: as above; the queue's length is at the place of the metric, an integer too.
    check(unsafe {
        libc::ioctl(socket.as_raw_fd(), SET_QUEUE_LENGTH as _, from_mut(&mut request))
    })?;
    Ok(file)
}

fn request(name: &str) -> io::Result<libc::ifreq> {
    // SAFETY: the structure is plain data.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if name.is_empty() || name.len() >= request.ifr_name.len() {
        return Err(io::Error::other(format!("{name:?} is no name of a device")));
    }
    for (place, byte) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *place = libc::c_char::from_ne_bytes([byte]);
    }
    Ok(request)
}

fn check(status: libc::c_int) -> io::Result<libc::c_int> {
    if status < 0 { Err(io::Error::last_os_error()) } else { Ok(status) }
}
