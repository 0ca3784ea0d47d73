//! Receiving with the kernel's own time of arrival.

use std::mem;
use std::net::IpAddr;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant, SystemTime};

use rustix::io::Errno;

use super::addressed::socket_address;
use crate::socket::control::{receive_named, receive_with, set_option};

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
    let (length, stamp) = receive_with(socket, buffer, libc::MSG_DONTWAIT, &[stamp])?;
    Ok((length, arrival(stamp.and_then(wall_clock))))
}

/// As [`receive_stamped`], with the address that it came from, where the kernel tells.
///
/// # Errors
/// As there.
pub fn receive_stamped_from(
    socket: BorrowedFd<'_>,
    buffer: &mut [u8],
) -> Result<(usize, Instant, Option<IpAddr>), Errno> {
    // SAFETY: plain data, for which zeros are an address of no family.
    let mut name: libc::sockaddr_storage = unsafe { mem::zeroed() };
    let stamp = (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS);
    let (length, stamp) =
        receive_named(socket, buffer, libc::MSG_DONTWAIT, &[stamp], Some(&mut name))?;
    let from = socket_address(&name).map(|from| from.ip().to_canonical());
    Ok((length, arrival(stamp.and_then(wall_clock)), from))
}

/// A kernel's stamp as a time.
fn wall_clock(stamp: libc::timespec) -> Option<SystemTime> {
    let seconds = u64::try_from(stamp.tv_sec).ok()?;
    let nanoseconds = u32::try_from(stamp.tv_nsec).ok()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds))
}

/// How far apart the two readings of the monotonic clock around one of the wall clock may be: no stamp is turned into a
/// time with a greater error than half of it.
const APART_AT_MOST: Duration = Duration::from_micros(20);
/// Readings as close as two calls are: there is no use in more tries.
const CLOSE: Duration = Duration::from_micros(1);
const TRIES: usize = 8;

/// The monotonic time of a wall-clock stamp. Both clocks are read now, so a wall clock that was set earlier does no
/// harm. A stamp that lies in the future or too far back is none of this clock; and where the process is held up
/// between the clocks each time, the time of reading is told, which is later than the arrival but never earlier.
fn arrival(stamp: Option<SystemTime>) -> Instant {
    let Some(stamp) = stamp else { return Instant::now() };
    arrival_by(stamp, Instant::now, SystemTime::now)
}

fn arrival_by(
    stamp: SystemTime,
    mut monotonic: impl FnMut() -> Instant,
    mut wall: impl FnMut() -> SystemTime,
) -> Instant {
    let mut closest: Option<(Duration, Instant, SystemTime)> = None;
    for _ in 0..TRIES {
        let (before, at, after) = (monotonic(), wall(), monotonic());
        let apart = after.saturating_duration_since(before);
        if closest.is_none_or(|(least, ..)| apart < least) {
            closest = Some((apart, before + apart / 2, at));
        }
        if apart <= CLOSE {
            break;
        }
    }
    let close = closest.filter(|(apart, ..)| *apart <= APART_AT_MOST);
    let arrived =
        close.and_then(|(_, now, wall)| now.checked_sub(wall.duration_since(stamp).ok()?));
    arrived.unwrap_or_else(monotonic)
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

    /// Both clocks of a process that is held up for a time before each reading of the wall clock that the list has.
    fn arrival_after_delays(delays: &[u64]) -> (Duration, Duration) {
        let (begin, epoch) = (Instant::now(), SystemTime::now());
        let passed = std::cell::Cell::new(Duration::from_micros(100));
        let mut delays = delays.iter();
        let at = arrival_by(
            epoch + Duration::from_micros(90),
            || begin + passed.get(),
            || {
                let delay = Duration::from_micros(delays.next().copied().unwrap_or(0));
                passed.set(passed.get() + delay);
                epoch + passed.get()
            },
        );
        (at - begin, passed.get())
    }

    #[test]
    fn a_process_held_up_between_the_clocks_reads_them_again() {
        // The reading that isn't held up counts: the stamp's own time.
        assert_eq!(arrival_after_delays(&[300, 250, 0]).0, Duration::from_micros(90));
        // A reading held up by 10 us is off by half of that, and not by more.
        let (at, _) = arrival_after_delays(&[10; TRIES]);
        assert_eq!(at, Duration::from_micros(85));
    }

    #[test]
    fn one_that_is_held_up_each_time_tells_the_time_of_reading_never_an_earlier_one() {
        let (at, now) = arrival_after_delays(&[300; TRIES]);
        assert_eq!(at, now);
    }
}
