//! The sink's side: accepts the session's connections and answers one request on each.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use proto::{Reason, reason};

use super::{CloseMode, TcpCrr, show};
use crate::end::{End, Lent};
use crate::flow::gate::Phase;
use crate::measurements::{Finished, Outcome};
use crate::outcome::requests::{receive_whole, send_whole};
use crate::outcome::streams::payload;
use crate::task::Cue;

/// What a serving thread works with.
struct Server<'a> {
    end: &'a End,
    cue: &'a Cue,
    close_mode: CloseMode,
    request: Vec<u8>,
    response: Vec<u8>,
    has_options: bool,
}

impl<'a> Server<'a> {
    fn new(end: &'a End, cue: &'a Cue, crr: TcpCrr) -> Self {
        Self {
            end,
            cue,
            close_mode: crr.close_mode,
            request: vec![0; crr.exchange.request_bytes],
            response: payload(crr.exchange.response_bytes),
            has_options: end.options() != &net::Options::default(),
        }
    }

    /// Answers one request and closes; a connection that fails is the client's to count.
    fn answer(&mut self, socket: OwnedFd, is_ipv4: bool) {
        let socket = Arc::new(socket);
        if self.has_options {
            let _ = net::apply(socket.as_fd(), self.end.options(), is_ipv4, true);
        }
        let is_shown = show(self.cue, &socket).is_ok();
        if is_shown && matches!(receive_whole(socket.as_fd(), &mut self.request), Ok(true)) {
            let _ = send_whole(socket.as_fd(), &self.response);
            if self.close_mode == CloseMode::Reset {
                // Closing first would leave TIME-WAIT here: the client's reset comes instead.
                let _ = net::receive(socket.as_fd(), &mut self.request);
            }
        }
        self.cue.current.clear();
    }
}

/// Accepts and answers connections of this session until it ends. It blocks in `accept()`, as looking before each costs
/// a call and a timer per connection; the end of the session interrupts it there.
pub fn serve(end: &End, cue: &Cue, crr: TcpCrr) -> Finished {
    let fault = end.lent.as_ref().and_then(|lent| serve_lent(end, cue, crr, lent).err());
    Finished { outcome: Outcome::Served, fault }
}

fn serve_lent(end: &End, cue: &Cue, crr: TcpCrr, lent: &Lent) -> Result<(), Reason> {
    let mut server = Server::new(end, cue, crr);
    let is_ipv4 = lent.address.is_ipv4();
    cue.current.set_thread(net::InterruptibleThread::this());
    while cue.pulse.phase() != Phase::Over {
        match net::accept(lent.listener.as_fd()) {
            Ok((socket, peer)) if lent.is_registered(peer) => server.answer(socket, is_ipv4),
            Ok((socket, _)) => lent.outbox.foreign(socket),
            // The client's connection was reset while it waited: its loss, and its to count.
            Err(net::Errno::INTR | net::Errno::CONNABORTED) => {}
            Err(error) => {
                return Err(reason!("flow_listener_failed", why = error.to_string()));
            }
        }
    }
    Ok(())
}

/// Answers connections that the agent accepted in the moment of lending.
pub fn serve_handed_over(end: &End, cue: &Cue, crr: TcpCrr) -> Finished {
    if let Some(lent) = &end.lent {
        let mut server = Server::new(end, cue, crr);
        while let Some(socket) = lent.handed_over.take() {
            server.answer(socket, lent.address.is_ipv4());
        }
    }
    Finished { outcome: Outcome::Served, fault: None }
}
