//! One connection of the load: where it stands, and what a readiness makes of it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use super::chunked::Malformed;
use super::response::{Response, ResponseReader};

/// Who holds a connection's socket.
pub enum Socket<'a> {
    /// A flow of the session's.
    Flow(BorrowedFd<'a>),
    /// A connection that this thread made.
    Own(OwnedFd),
}

impl AsFd for Socket<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Flow(socket) => *socket,
            Self::Own(socket) => socket.as_fd(),
        }
    }
}

/// Where a connection stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum State {
    /// It isn't there, and is tried again later, if at all.
    Absent,
    /// It is being made, since then.
    Connecting(Instant),
    /// It waits for its next request to be due.
    Idle,
    /// A request is being sent, or was; it was due or begun then.
    Busy(Instant),
}

/// One connection of the load.
pub struct Connection<'a> {
    /// Where it stands.
    pub state: State,
    /// Its socket, unless it is absent.
    pub socket: Option<Socket<'a>>,
    /// Its next request of the schedule.
    pub next_request: u64,
    reader: ResponseReader,
    /// Bytes of the request that are sent.
    sent: usize,
}

/// What reading a connection came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// More is to come.
    Open,
    /// The response is whole, and the connection takes another request.
    Whole(Response),
    /// The response is whole, and the connection has ended or is to be.
    Last(Response),
    /// The connection ended where it may.
    Ended,
    /// What came is no response, or broke off.
    Broken,
}

impl<'a> Connection<'a> {
    /// A connection that is still to be made.
    pub fn absent(next_request: u64) -> Self {
        Self {
            state: State::Absent,
            socket: None,
            next_request,
            reader: ResponseReader::default(),
            sent: 0,
        }
    }

    /// Takes a socket into use.
    pub fn take_socket(&mut self, socket: Socket<'a>, state: State) {
        self.reader = ResponseReader::default();
        self.socket = Some(socket);
        self.state = state;
    }

    /// Closes the connection.
    pub fn close(&mut self) {
        self.socket = None;
        self.state = State::Absent;
    }

    /// Begins a request that was due at `begun`.
    #[inline]
    pub fn begin(&mut self, request: &[u8], begun: Instant) -> Result<(), net::Errno> {
        self.sent = 0;
        self.state = State::Busy(begun);
        self.send_rest(request)
    }

    /// Whether a part of the request is still to be sent.
    pub fn is_sending(&self, request: &[u8]) -> bool {
        matches!(self.state, State::Busy(_)) && self.sent < request.len()
    }

    /// Sends what is left of the request, as far as there is room.
    #[inline]
    pub fn send_rest(&mut self, request: &[u8]) -> Result<(), net::Errno> {
        let Some(socket) = &self.socket else {
            return Err(net::Errno::NOTCONN);
        };
        while self.sent < request.len() {
            match net::send(socket.as_fd(), &request[self.sent..]) {
                Ok(bytes) => self.sent += bytes,
                Err(net::Errno::AGAIN) => return Ok(()),
                Err(net::Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Reads once; what that came to, how many bytes came, and whether there may be more.
    #[inline]
    pub fn read(&mut self, buffer: &mut [u8]) -> (Reading, usize, bool) {
        let Some(socket) = &self.socket else {
            return (Reading::Open, 0, false);
        };
        let bytes = loop {
            match net::receive(socket.as_fd(), buffer) {
                Ok(bytes) => break bytes,
                Err(net::Errno::AGAIN) => return (Reading::Open, 0, false),
                Err(net::Errno::INTR) => {}
                Err(_) => return (Reading::Broken, 0, false),
            }
        };
        let reading = if bytes == 0 { self.end() } else { self.take(&buffer[..bytes]) };
        (reading, bytes, bytes == buffer.len())
    }

    fn end(&mut self) -> Reading {
        match (self.reader.end(), self.state) {
            (Ok(Some(response)), State::Busy(_)) => Reading::Last(response),
            // Servers close connections that have been idle; a request that went unanswered is another thing.
            (Ok(None), State::Idle) => Reading::Ended,
            _ => Reading::Broken,
        }
    }

    fn take(&mut self, bytes: &[u8]) -> Reading {
        // Nobody asked.
        if !matches!(self.state, State::Busy(_)) {
            return Reading::Broken;
        }
        match self.reader.push(bytes) {
            Ok(None) => Reading::Open,
            // Requests are sent one at a time: more than one response is no answer to them.
            Ok(Some((_, taken))) if taken < bytes.len() => Reading::Broken,
            Ok(Some((response, _))) if response.keeps_alive => Reading::Whole(response),
            Ok(Some((response, _))) => Reading::Last(response),
            Err(Malformed) => Reading::Broken,
        }
    }
}
