//! Receiving with the kernel's own time of arrival.

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant, SystemTime};

use rustix::io::Errno;

use crate::control::{receive_with, set_option};

/// Asks the kernel to note when each datagram arrives (`SO_TIMESTAMPNS`). Emulators of system calls don't know that
/// option: there the time of reading is what [`receive_stamped`] gives.
///
/// # Errors
/// When the kernel refuses.
pub fn stamp_arrivals(socket: BorrowedFd<'_>) -> Result<(), Errno> {
    match set_option(socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, 1) {
        Err(Errno::NOPROTOOPT) => Ok(()),
        done => done,
    }
}

/// Receives what is there already: its length and when it arrived, by the kernel's stamp if there is one, else now.
///
/// # Errors
/// `EAGAIN` when nothing is there, else what `recvmsg(2)` says.
pub fn receive_stamped(
    socket: BorrowedFd<'_>,
    buffer: &mut [u8],
) -> Result<(usize, Instant), Errno> {
    let stamp = (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS);
    let (length, stamp) = receive_with(socket, buffer, libc::MSG_DONTWAIT, stamp)?;
    Ok((length, arrival(stamp.and_then(wall_clock))))
}

/// A kernel's stamp as a time.
fn wall_clock(stamp: libc::timespec) -> Option<SystemTime> {
    let seconds = u64::try_from(stamp.tv_sec).ok()?;
    let nanoseconds = u32::try_from(stamp.tv_nsec).ok()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds))
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
