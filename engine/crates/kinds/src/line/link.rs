//! The link between source and sink: newline-delimited JSON on one TCP connection.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, mpsc::Sender};
use std::thread;
use std::time::{Duration, Instant};

use proto::{LineSplitter, LinkMessage, Reason, reason};

use crate::line::signal::Signal;

/// A peer that takes nothing for this long is lost; a path may be cut for a while.
const SEND_LIMIT: Duration = Duration::from_secs(15);
/// So is one that takes longer for a line: the longest passes at 100 kbit/s.
const LINE_LIMIT: Duration = Duration::from_secs(90);
const READ_BUFFER_BYTES: usize = 16 * 1024;
/// What a peer may send at once: the words of thousands of flows, and a report with all of them.
const LINES_AT_ONCE: f64 = 50_000.0;
const BYTES_AT_ONCE: f64 = 64.0 * 1024.0 * 1024.0;
/// What it may send for longer: ten intervals a second with hundreds of flows each.
const LINES_PER_SECOND: f64 = 1_000.0;
const BYTES_PER_SECOND: f64 = 4.0 * 1024.0 * 1024.0;

/// The writing half; the reading half is a thread that ends when this is dropped.
#[derive(Debug)]
pub struct Link {
    socket: Arc<OwnedFd>,
    reader: Option<thread::JoinHandle<()>>,
}

impl Link {
    /// Takes a connection after its preamble and passes what comes on it to `signals`.
    ///
    /// # Errors
    /// When the socket refuses its options or no thread can be had.
    pub fn new(socket: OwnedFd, signals: Sender<Signal>) -> std::io::Result<Self> {
        // Lines are small and each is waited for.
        net::apply(
            socket.as_fd(),
            &net::Options { nodelay: true, ..net::Options::default() },
            true,
            true,
        )?;
        net::set_send_timeout(socket.as_fd(), Some(SEND_LIMIT))?;
        net::prefer(socket.as_fd());
        let socket = Arc::new(socket);
        let read_socket = Arc::clone(&socket);
        let reader = thread::Builder::new().name("link".into()).spawn(move || {
            let reason = read_lines(&read_socket, &signals);
            // The session may be over already; then nobody asks.
            let _ = signals.send(Signal::LinkLost(reason));
        })?;
        Ok(Self { socket, reader: Some(reader) })
    }

    /// Sends one line.
    ///
    /// # Errors
    /// When the peer is gone or takes nothing.
    pub fn send(&self, message: &LinkMessage) -> Result<(), Reason> {
        let mut line = serde_json::to_vec(message).map_err(|error| error.to_string())?;
        line.push(b'\n');
        send_line(&self.socket, &line, LINE_LIMIT)
    }

    /// Says that nothing more will be sent.
    pub fn end_sending(&self) {
        net::end_sending(&self.socket);
    }

    /// The link's smoothed round-trip time, where the kernel tells.
    pub fn rtt(&self) -> Option<Duration> {
        net::tcp_info(self.socket.as_fd()).map(|info| Duration::from_secs_f64(info.rtt_seconds))
    }

    /// The link's shortest round-trip time, or the smoothed one where the kernel tells no other.
    pub fn shortest_rtt(&self) -> Option<Duration> {
        let info = net::tcp_info(self.socket.as_fd())?;
        Some(Duration::from_secs_f64(info.minimum_rtt_seconds.unwrap_or(info.rtt_seconds)))
    }

    /// Whether the peer's host has acknowledged all that was said.
    pub fn is_acknowledged(&self) -> bool {
        net::tcp_info(self.socket.as_fd()).is_some_and(|info| info.unacknowledged_segments == 0)
    }

    /// The socket, for addresses.
    pub fn socket(&self) -> &OwnedFd {
        &self.socket
    }
}

fn send_line(socket: &OwnedFd, line: &[u8], limit: Duration) -> Result<(), Reason> {
    let until = Instant::now() + limit;
    let mut rest = line;
    while !rest.is_empty() {
        if Instant::now() >= until {
            return Err(reason!("says_line_late", time = format!("{limit:?}")));
        }
        match net::send(socket.as_fd(), rest) {
            Ok(sent) => rest = &rest[sent..],
            Err(net::Errno::INTR) => {}
            Err(error) => {
                return Err(reason!("says_link_takes_nothing", why = error.to_string()));
            }
        }
    }
    Ok(())
}

impl Drop for Link {
    fn drop(&mut self) {
        net::end_traffic(&self.socket);
        if let Some(reader) = self.reader.take() {
            // The reader can't panic in a way that matters any more.
            let _ = reader.join();
        }
    }
}

/// What a peer may still send: it costs memory here until the test ends.
struct Budget {
    since: Instant,
    lines: f64,
    bytes: f64,
}

impl Budget {
    fn new(now: Instant) -> Self {
        Self { since: now, lines: LINES_AT_ONCE, bytes: BYTES_AT_ONCE }
    }

    /// Takes what came by `now`; answers whether it was within bounds.
    fn take(&mut self, now: Instant, lines: usize, bytes: usize) -> bool {
        let seconds = now.saturating_duration_since(self.since).as_secs_f64();
        self.since = now;
        self.lines = (self.lines + seconds * LINES_PER_SECOND).min(LINES_AT_ONCE) - lines as f64;
        self.bytes = (self.bytes + seconds * BYTES_PER_SECOND).min(BYTES_AT_ONCE) - bytes as f64;
        self.lines >= 0.0 && self.bytes >= 0.0
    }
}

/// Reads until the link ends; the reason.
fn read_lines(socket: &OwnedFd, signals: &Sender<Signal>) -> Reason {
    let mut splitter = LineSplitter::default();
    let mut buffer = [0; READ_BUFFER_BYTES];
    let mut budget = Budget::new(Instant::now());
    loop {
        let bytes = match net::receive(socket.as_fd(), &mut buffer) {
            Ok(0) => return reason!("says_link_closed"),
            Ok(bytes) => bytes,
            Err(net::Errno::INTR) => continue,
            Err(error) => return reason!("says_link_broke", why = error.to_string()),
        };
        let lines = match splitter.push(&buffer[..bytes]) {
            Ok(lines) => lines,
            Err(error) => return reason!("says_endless_line", why = error.to_string()),
        };
        if !budget.take(Instant::now(), lines.len(), bytes) {
            return reason!("says_too_many_lines");
        }
        for line in lines {
            match proto::parse_json::<LinkMessage>(&line) {
                Ok(message) => {
                    if signals.send(Signal::Link(message)).is_err() {
                        return reason!("says_session_over");
                    }
                }
                Err(error) => {
                    return reason!("says_no_link_message", why = error.to_string());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn a_peer_that_takes_a_line_bit_by_bit_is_given_up_when_its_time_is_over() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let near = TcpStream::connect(listener.local_addr().expect("bound")).expect("connects");
        let (mut far, _) = listener.accept().expect("accepts");
        let near = OwnedFd::from(near);
        // Each call gives up when nothing was taken for a while, and a bit is always taken.
        net::set_send_timeout(near.as_fd(), Some(Duration::from_secs(1))).expect("a socket");
        let reader = thread::spawn(move || {
            let mut bytes = vec![0; 100_000];
            while far.read_exact(&mut bytes).is_ok() {
                thread::sleep(Duration::from_millis(20));
            }
        });
        let begin = Instant::now();
        let refusal = send_line(&near, &vec![7; 100_000_000], Duration::from_millis(400));
        assert_eq!(refusal, Err(reason!("says_line_late", time = "400ms")));
        assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
        drop(near);
        reader.join().expect("reads to the end");
    }

    #[test]
    fn a_peer_may_send_a_burst_and_then_so_much_a_second() {
        let begin = Instant::now();
        let mut budget = Budget::new(begin);
        assert!(budget.take(begin, 50_000, 1_000));
        assert!(budget.take(begin + Duration::from_secs(1), 1_000, 1_000));
        assert!(!budget.take(begin + Duration::from_secs(1), 1, 1_000));
        let mut budget = Budget::new(begin);
        assert!(!budget.take(begin, 1, 65 * 1024 * 1024));
    }
}
