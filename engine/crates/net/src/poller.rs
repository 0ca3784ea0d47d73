//! Waiting for many sockets at once, each told of only when something new has happened to it.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::epoll;
use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

use crate::Wake;

/// What happened to one socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Happening {
    /// What the socket was added under.
    pub token: u64,
    /// Whether there is something to read, an end of the stream included.
    pub is_readable: bool,
    /// Whether there is room to write, or a connection attempt is over.
    pub is_writable: bool,
    /// Whether the peer has closed or broken the connection.
    pub is_ended: bool,
}

/// A set of sockets (`epoll(7)`, edge-triggered: a socket is told of once for each change, so what is there must be
/// taken until there is no more).
pub struct Poller {
    set: OwnedFd,
    events: Vec<epoll::Event>,
}

impl Poller {
    /// An empty set that tells of at most `capacity` sockets at a time.
    ///
    /// # Errors
    /// When the process has no descriptor left.
    pub fn new(capacity: usize) -> Result<Self, Errno> {
        let set = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        Ok(Self { set, events: Vec::with_capacity(capacity.max(1)) })
    }

    /// Watches a socket, both ways, until it is closed.
    ///
    /// # Errors
    /// When the kernel has no memory for it, or its limit of watched descriptors is reached.
    pub fn add(&self, socket: impl AsFd, token: u64) -> Result<(), Errno> {
        let flags = epoll::EventFlags::IN
            | epoll::EventFlags::OUT
            | epoll::EventFlags::RDHUP
            | epoll::EventFlags::ET;
        epoll::add(&self.set, socket, epoll::EventData::new_u64(token), flags)
    }

    /// Watches a wake: once it was rung, every wait ends at once and tells of this token.
    ///
    /// # Errors
    /// As [`Poller::add`].
    pub fn add_wake(&self, wake: &Wake, token: u64) -> Result<(), Errno> {
        let data = epoll::EventData::new_u64(token);
        epoll::add(&self.set, wake.descriptor(), data, epoll::EventFlags::IN)
    }

    /// Waits until something happens, at most `limit`, rounded up to milliseconds; what happened.
    ///
    /// # Errors
    /// What `epoll_wait(2)` says, but for a signal, which ends the wait.
    pub fn wait(
        &mut self,
        limit: Option<Duration>,
    ) -> Result<impl Iterator<Item = Happening> + '_, Errno> {
        let limit = limit.map(whole_milliseconds);
        self.events.clear();
        let events = rustix::buffer::spare_capacity(&mut self.events);
        match epoll::wait(&self.set, events, limit.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
        Ok(self.events.iter().map(happening))
    }
}

fn happening(event: &epoll::Event) -> Happening {
    let flags = event.flags;
    let ended = epoll::EventFlags::RDHUP | epoll::EventFlags::HUP | epoll::EventFlags::ERR;
    let is_ended = flags.intersects(ended);
    Happening {
        token: event.data.u64(),
        is_readable: is_ended || flags.contains(epoll::EventFlags::IN),
        is_writable: is_ended || flags.contains(epoll::EventFlags::OUT),
        is_ended,
    }
}

/// `epoll_wait(2)` counts milliseconds; a wait that ended early would be repeated at full speed.
fn whole_milliseconds(limit: Duration) -> Timespec {
    let milliseconds = i64::try_from(limit.as_nanos().div_ceil(1_000_000)).unwrap_or(i64::MAX);
    Timespec { tv_sec: milliseconds / 1_000, tv_nsec: milliseconds % 1_000 * 1_000_000 }
}

/// A timer that a poller waits for: finer than the milliseconds of its own limit.
#[derive(Debug)]
pub struct Timer(OwnedFd);

impl Timer {
    /// A timer that isn't set, watched under this token.
    ///
    /// # Errors
    /// When the process has no descriptor left.
    pub fn new(poller: &Poller, token: u64) -> Result<Self, Errno> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        poller.add(&timer, token)?;
        Ok(Self(timer))
    }

    /// Goes off once, after `delay`; replaces an earlier setting.
    ///
    /// # Errors
    /// What `timerfd_settime(2)` says.
    pub fn set(&self, delay: Duration) -> Result<(), Errno> {
        // Zero would unset it.
        let delay = delay.max(Duration::from_nanos(1));
        let setting = Itimerspec {
            it_interval: Timespec { tv_sec: 0, tv_nsec: 0 },
            it_value: Timespec {
                tv_sec: i64::try_from(delay.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: i64::from(delay.subsec_nanos()),
            },
        };
        timerfd_settime(&self.0, TimerfdTimerFlags::empty(), &setting).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};
    use std::time::{Duration, Instant};

    use super::{Poller, Timer};
    use crate::Wake;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let near = TcpStream::connect(listener.local_addr().expect("bound")).expect("connects");
        (near, listener.accept().expect("accepts").0)
    }

    #[test]
    fn what_arrives_is_told_once_and_an_end_is_told_as_such() {
        let (near, mut far) = pair();
        let mut poller = Poller::new(8).expect("a descriptor");
        poller.add(&near, 7).expect("adds");
        let first: Vec<_> = poller.wait(None).expect("waits").collect();
        assert_eq!((first.len(), first[0].token, first[0].is_writable), (1, 7, true));
        far.write_all(b"x").expect("writes");
        let second: Vec<_> = poller.wait(Some(Duration::from_secs(5))).expect("waits").collect();
        assert!(second[0].is_readable && !second[0].is_ended);
        assert_eq!(poller.wait(Some(Duration::ZERO)).expect("waits").count(), 0);
        drop(far);
        let last: Vec<_> = poller.wait(Some(Duration::from_secs(5))).expect("waits").collect();
        assert!(last[0].is_ended);
    }

    #[test]
    fn a_wake_is_told_by_every_wait_after_it_rang() {
        let wake = Wake::new().expect("a descriptor");
        let mut poller = Poller::new(8).expect("a descriptor");
        poller.add_wake(&wake, 1).expect("adds");
        assert_eq!(poller.wait(Some(Duration::ZERO)).expect("waits").count(), 0);
        wake.ring();
        for _ in 0..2 {
            assert_eq!(poller.wait(None).expect("waits").count(), 1);
        }
    }

    #[test]
    fn a_timer_goes_off_after_its_delay_each_time_that_it_is_set() {
        let mut poller = Poller::new(8).expect("a descriptor");
        let timer = Timer::new(&poller, 3).expect("a descriptor");
        for _ in 0..2 {
            let begin = Instant::now();
            timer.set(Duration::from_micros(1_500)).expect("sets");
            let told: Vec<_> = poller.wait(None).expect("waits").collect();
            assert!(told.iter().any(|happening| happening.token == 3 && happening.is_readable));
            assert!(begin.elapsed() >= Duration::from_micros(1_500));
        }
    }
}
