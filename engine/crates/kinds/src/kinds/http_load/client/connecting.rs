//! A client's connections: made before the start, and again after errors.

use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

use super::{Client, EVENTS_AT_ONCE};
use crate::flow::gate::Phase;
use crate::kinds::http_load::connection::{Connection, Socket, State};
use crate::kinds::http_load::tally::{Tally, Trouble};

/// After an error a connection is tried again so much later: a server that refuses all must not be flooded.
const RETRY_PAUSE: Duration = Duration::from_millis(10);
/// So many connections are being made at once before the start: a listener's queue is seldom longer.
const CONNECTING_AT_ONCE: usize = 128;
/// Connections that aren't made by then are made during the test.
const CONNECT_LIMIT: Duration = Duration::from_secs(8);

impl Client<'_> {
    /// Makes all connections before the start, so that the window holds nothing but requests.
    pub(super) fn connect_all(&mut self) -> Result<(), net::Errno> {
        let until = Instant::now() + CONNECT_LIMIT;
        let (mut begun, mut ended) = (0, 0);
        let mut happenings = Vec::with_capacity(EVENTS_AT_ONCE);
        while ended < self.connections.len() && self.cue.pulse.phase() != Phase::Over {
            let now = Instant::now();
            while begun < self.connections.len() && begun - ended < CONNECTING_AT_ONCE {
                ended += usize::from(!self.connect(begun, now, None));
                begun += 1;
            }
            happenings.extend(self.poller.wait(Some(until.saturating_duration_since(now)))?);
            for happening in happenings.drain(..) {
                let place = usize::try_from(happening.token).unwrap_or(usize::MAX);
                let is_connecting =
                    |connection: &Connection<'_>| matches!(connection.state, State::Connecting(_));
                if self.connections.get(place).is_some_and(is_connecting) {
                    self.finish_connect(place, now, None);
                    ended += 1;
                }
            }
            if now >= until {
                break;
            }
        }
        // Those that were not begun are tried first when the test runs.
        let now = Instant::now();
        self.retries.extend((begun..self.connections.len()).map(|place| (now, place)));
        Ok(())
    }

    /// Makes a connection anew that ended where it may.
    pub(super) fn reconnect(&mut self, place: usize, tally: &mut Tally) {
        self.connections[place].close();
        self.connect(place, Instant::now(), Some(tally));
    }

    /// Closes a connection, to be tried again after a pause.
    pub(super) fn retry_later(&mut self, place: usize, now: Instant) {
        self.connections[place].close();
        if self.server.is_some() {
            self.retries.push_back((now + RETRY_PAUSE, place));
        }
    }

    /// Begins to make a connection; false when that failed at once. Errors before the start are not counted: what
    /// can't be connected to then is tried again during the test.
    pub(super) fn connect(
        &mut self,
        place: usize,
        now: Instant,
        tally: Option<&mut Tally>,
    ) -> bool {
        let Some(server) = self.server else {
            return false;
        };
        let opened = net::begin_connect(server, &self.end.local, self.end.options());
        let added = opened.and_then(|socket| {
            self.poller.add(&socket, place as u64)?;
            Ok(socket)
        });
        match added {
            Ok(socket) => {
                let state = State::Connecting(now);
                self.connections[place].take_socket(Socket::Own(socket), state);
                true
            }
            Err(error) => {
                self.fail_connect(place, error, now, tally);
                false
            }
        }
    }

    /// Takes note that a connection was made, or failed.
    pub(super) fn finish_connect(&mut self, place: usize, now: Instant, tally: Option<&mut Tally>) {
        let connection = &mut self.connections[place];
        let Some(socket) = &connection.socket else {
            return;
        };
        match net::take_error(socket.as_fd()) {
            Ok(()) => {
                connection.state = State::Idle;
                if let Some(tally) = tally {
                    self.next(place, tally, now);
                }
            }
            Err(error) => self.fail_connect(place, error, now, tally),
        }
    }

    fn fail_connect(
        &mut self,
        place: usize,
        error: net::Errno,
        now: Instant,
        tally: Option<&mut Tally>,
    ) {
        if let Some(tally) = tally {
            if error == net::Errno::ADDRNOTAVAIL {
                tally.note_ports_exhausted();
            }
            tally.add_trouble(Trouble::Connect, now);
        }
        self.retry_later(place, now);
    }
}
