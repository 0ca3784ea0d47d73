//! Receiving with the kernel's own time of arrival.

use std::mem;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::{Duration, Instant, SystemTime};

use rustix::io::Errno;

use crate::socket::last_error;

/// Room for one time stamp with its header, and for others that a kernel may add.
const CONTROL_WORDS: usize = 16;

/// Asks the kernel to note when each datagram arrives (`SO_TIMESTAMPNS`). Emulators of system calls don't know that
/// option: there the time of reading is what [`receive_stamped`] gives.
///
/// # Errors
/// When the kernel refuses.
pub fn stamp_arrivals(socket: BorrowedFd<'_>) -> Result<(), Errno> {
    let on: libc::c_int = 1;
    let length = libc::socklen_t::try_from(mem::size_of_val(&on)).map_err(|_| Errno::INVAL)?;
    // SAFETY: the pointer and length describe `on`, which outlives the call; the kernel copies it.
    let status = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPNS,
            (&raw const on).cast(),
            length,
        )
    };
    if status == 0 {
        return Ok(());
    }
    Some(last_error()).filter(|&error| error != Errno::NOPROTOOPT).map_or(Ok(()), Err)
}

/// Receives what is there already: its length and when it arrived, by the kernel's stamp if there is one, else now.
///
/// # Errors
/// `EAGAIN` when nothing is there, else what `recvmsg(2)` says.
pub fn receive_stamped(
    socket: BorrowedFd<'_>,
    buffer: &mut [u8],
) -> Result<(usize, Instant), Errno> {
    let mut control = [0_u64; CONTROL_WORDS];
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: msghdr is plain data, for which zeros are an empty message.
    let mut message: libc::msghdr = unsafe { mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    // The field's type differs between C libraries; 128 fits each.
    message.msg_controllen = mem::size_of_val(&control) as _;
    // SAFETY: the message points to `part`, `buffer` and `control`, which outlive the call, with their true lengths.
    let received =
        unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, libc::MSG_DONTWAIT) };
    let length = usize::try_from(received).map_err(|_| last_error())?;
    Ok((length, arrival(stamp(&message))))
}

/// The kernel's stamp among the control messages.
fn stamp(message: &libc::msghdr) -> Option<SystemTime> {
    // SAFETY: the kernel has filled `message` and its control buffer, which the caller still holds.
    let mut header = unsafe { libc::CMSG_FIRSTHDR(message) };
    while !header.is_null() {
        // SAFETY: a header that CMSG_FIRSTHDR or CMSG_NXTHDR gives lies whole within the control buffer.
        let entry = unsafe { &*header };
        if entry.cmsg_level == libc::SOL_SOCKET && entry.cmsg_type == libc::SCM_TIMESTAMPNS {
            // SAFETY: the data of this type is one timespec, which may not be aligned.
            let time = unsafe { libc::CMSG_DATA(header).cast::<libc::timespec>().read_unaligned() };
            let seconds = u64::try_from(time.tv_sec).ok()?;
            let nanoseconds = u32::try_from(time.tv_nsec).ok()?;
            return SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds));
        }
        // SAFETY: as above.
        header = unsafe { libc::CMSG_NXTHDR(message, header) };
    }
    None
}

/// The monotonic time of a wall-clock stamp. Both clocks are read now, so a wall clock that was set earlier does no
/// harm; what lies in the future or too far back is no stamp of this clock.
fn arrival(stamp: Option<SystemTime>) -> Instant {
    let (now, wall) = (Instant::now(), SystemTime::now());
    let age = stamp.and_then(|stamp| wall.duration_since(stamp).ok()).unwrap_or_default();
    now.checked_sub(age).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::os::fd::AsFd;
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_datagram_is_stamped_when_it_arrives_not_when_it_is_read() {
        let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
        stamp_arrivals(receiver.as_fd()).unwrap();
        // The kernel turns stamps on from a work queue; until then it stamps what it finds when it is read.
        thread::sleep(Duration::from_millis(200));
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        let begun = Instant::now();
        sender.send_to(b"now", receiver.local_addr().unwrap()).unwrap();
        let sent = Instant::now();
        thread::sleep(Duration::from_millis(60));
        let mut buffer = [0; 8];
        let (length, at) = receive_stamped(receiver.as_fd(), &mut buffer).unwrap();
        assert_eq!(&buffer[..length], b"now");
        // Turning one clock's time into the other's costs a few microseconds.
        assert!(at + Duration::from_millis(1) >= begun, "{:?} too early", begun - at);
        assert!(at < sent + Duration::from_millis(50), "{:?} after the send", at - sent);
    }

    #[test]
    fn without_a_datagram_there_is_nothing_to_receive() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let mut buffer = [0; 8];
        assert_eq!(receive_stamped(socket.as_fd(), &mut buffer).unwrap_err(), Errno::AGAIN);
    }
}
