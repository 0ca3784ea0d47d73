//! The sink's own HTTP responder: it answers every request with the same response.

use std::os::fd::BorrowedFd;

use proto::reason;

use crate::end::End;
use crate::flow::gate::Phase;
use crate::measurements::{Finished, Outcome};
use crate::outcome::streams::payload;
use crate::task::Cue;

use super::Share;

const EVENTS_AT_ONCE: usize = 256;
const READ_BUFFER_BYTES: usize = 16 * 1024;
/// No connection has this index.
const WAKE: u64 = u64::MAX;

/// Answers on this thread's share of the connections until the session ends.
pub fn answer(end: &End, cue: &Cue, response_bytes: usize, share: Share) -> Finished {
    let fault = serve(end, cue, response_bytes, share).err().map(|error| {
        let why = error.to_string();
        reason!("flow_responder_thread", thread = share.thread, why = why)
    });
    Finished { outcome: Outcome::Served, fault }
}

fn serve(end: &End, cue: &Cue, response_bytes: usize, share: Share) -> Result<(), net::Errno> {
    let mut poller = net::Poller::new(EVENTS_AT_ONCE)?;
    poller.add_wake(&end.wake, WAKE)?;
    let response = response(response_bytes);
    let mut connections: Vec<Connection<'_>> = Vec::new();
    for flow in share.of(end.settings.flows) {
        let socket = end.flow(flow);
        net::never_block(socket)?;
        poller.add(socket, connections.len() as u64)?;
        connections.push(Connection { socket, ending: Ending::default(), owed: 0, sent: 0 });
    }
    let mut buffer = vec![0; READ_BUFFER_BYTES];
    while cue.pulse.phase() != Phase::Over {
        for happening in poller.wait(None)? {
            let place = usize::try_from(happening.token).unwrap_or(usize::MAX);
            let Some(connection) = connections.get_mut(place) else {
                return Ok(());
            };
            // A connection that fails is the client's to count; it has no further events.
            let _ = connection.advance(&mut buffer, &response);
        }
    }
    Ok(())
}

fn response(body_bytes: usize) -> Vec<u8> {
    let mut response = format!(
        "HTTP/1.1 200 OK\r\nServer: benchweb-engine\r\nContent-Type: application/octet-stream\r\nContent-Length: {body_bytes}\r\n\r\n"
    )
    .into_bytes();
    response.extend(payload(body_bytes));
    response
}

struct Connection<'a> {
    socket: BorrowedFd<'a>,
    ending: Ending,
    /// Requests that are not wholly answered.
    owed: u64,
    /// Bytes of the present response that are sent.
    sent: usize,
}

impl Connection<'_> {
    /// Answers what has come, until there is no more, or no more room to send.
    fn advance(&mut self, buffer: &mut [u8], response: &[u8]) -> Result<(), net::Errno> {
        self.send_owed(response)?;
        loop {
            let bytes = match net::receive(self.socket, buffer) {
                Ok(bytes) => bytes,
                Err(net::Errno::AGAIN) => return Ok(()),
                Err(net::Errno::INTR) => continue,
                Err(error) => return Err(error),
            };
            self.owed += self.ending.count(&buffer[..bytes]);
            self.send_owed(response)?;
            if bytes < buffer.len() {
                return Ok(());
            }
        }
    }

    fn send_owed(&mut self, response: &[u8]) -> Result<(), net::Errno> {
        while self.owed > 0 {
            match net::send(self.socket, &response[self.sent..]) {
                Ok(bytes) => self.sent += bytes,
                // It is told of when there is room again.
                Err(net::Errno::AGAIN) => return Ok(()),
                Err(net::Errno::INTR) => {}
                Err(error) => return Err(error),
            }
            if self.sent == response.len() {
                self.sent = 0;
                self.owed -= 1;
            }
        }
        Ok(())
    }
}

/// Finds the empty lines that end requests; requests have no bodies.
#[derive(Debug, Default)]
struct Ending {
    /// How many bytes of CR LF CR LF were seen last.
    matched: u8,
}

impl Ending {
    /// How many requests end in these bytes.
    fn count(&mut self, bytes: &[u8]) -> u64 {
        let mut count = 0;
        for &byte in bytes {
            self.matched = match (self.matched, byte) {
                (0 | 2, b'\r') => self.matched + 1,
                (1, b'\n') => 2,
                (3, b'\n') => {
                    count += 1;
                    0
                }
                (_, b'\r') => 1,
                _ => 0,
            };
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::Ending;

    fn count(pieces: &[&str]) -> u64 {
        let mut ending = Ending::default();
        pieces.iter().map(|piece| ending.count(piece.as_bytes())).sum()
    }

    #[test]
    fn every_request_is_found_however_it_comes() {
        let request = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
        assert_eq!(count(&[request]), 1);
        assert_eq!(count(&[&request.repeat(3)]), 3);
        for place in 1..request.len() {
            assert_eq!(count(&[&request[..place], &request[place..]]), 1, "{place}");
        }
    }

    #[test]
    fn what_only_looks_like_an_end_is_none() {
        assert_eq!(count(&["\r\n\r", "\r\n", "\n\n", "\r\r\n\n"]), 0);
        assert_eq!(count(&["\r\r\n\r\n"]), 1);
    }
}
