//! The source's side: a connection per transaction.

use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use proto::{Reason, reason};

use super::{CloseMode, TcpCrr, show};
use crate::end::End;
use crate::flow::gate::Phase;
use crate::measurements::Finished;
use crate::outcome::requests::{self, Timekeeper, receive_whole, send_whole};
use crate::outcome::streams::payload;
use crate::task::Cue;
use crate::transport::ports::PortSteps;

/// So many failures in a row are not bad luck.
const ERRORS_IN_A_ROW_LIMIT: u32 = 1_000;
/// Without a free port the next try waits, so as not to spin.
const EXHAUSTED_PAUSE: Duration = Duration::from_millis(1);

/// Why a transaction failed.
enum Trouble {
    /// Every source port is in use.
    PortsExhausted,
    /// A system call said no.
    Kernel(net::Errno),
    /// The sink closed before the whole response.
    ShortResponse,
}

impl From<net::Errno> for Trouble {
    fn from(error: net::Errno) -> Self {
        Self::Kernel(error)
    }
}

/// Makes transactions until the deadline; one reading of the clock ends one and begins the next.
pub fn ask(end: &End, cue: &Cue, crr: TcpCrr, ports: &PortSteps) -> Finished {
    let (Some(peer), Some(opened_at)) = (end.peer, cue.start()) else {
        return requests::nothing_transacted();
    };
    let mut client = Client::new((end, cue), crr, ports, peer);
    let mut timekeeper = Timekeeper::new(end, opened_at);
    let (mut errors, mut in_a_row) = (0, 0);
    let mut begun = Instant::now();
    let fault = loop {
        let outcome = client.transact();
        let now = Instant::now();
        match outcome {
            Ok(()) if timekeeper.count(cue, begun, now) => in_a_row = 0,
            _ if timekeeper.is_over(now) || cue.pulse.phase() == Phase::Over => break None,
            Ok(()) => {}
            Err(trouble) => {
                errors += u64::from(timekeeper.is_measured(now));
                if matches!(trouble, Trouble::PortsExhausted) {
                    timekeeper.raise("ports_exhausted");
                    thread::sleep(EXHAUSTED_PAUSE);
                } else {
                    in_a_row += 1;
                }
                if in_a_row == ERRORS_IN_A_ROW_LIMIT {
                    break Some(cue.fault(describe(&trouble)));
                }
            }
        }
        begun = now;
    };
    Finished { outcome: timekeeper.finish(Instant::now(), 0, errors), fault }
}

fn describe(trouble: &Trouble) -> Reason {
    match trouble {
        Trouble::PortsExhausted => reason!("flow_ports_in_use"),
        Trouble::Kernel(error) => reason!("flow_connection_failed", why = error.to_string()),
        Trouble::ShortResponse => reason!("flow_response_cut_off"),
    }
}

/// What a client thread works with.
struct Client<'a> {
    end: &'a End,
    cue: &'a Cue,
    close_mode: CloseMode,
    ports: &'a PortSteps,
    peer: SocketAddr,
    /// Where sockets are bound, but for the port.
    address: std::net::IpAddr,
    /// The device alone: the address is bound together with the port.
    local: net::LocalEnd,
    request: Vec<u8>,
    response: Vec<u8>,
}

impl<'a> Client<'a> {
    fn new(
        (end, cue): (&'a End, &'a Cue),
        crr: TcpCrr,
        ports: &'a PortSteps,
        peer: SocketAddr,
    ) -> Self {
        let address = end.local.address.unwrap_or(match peer {
            SocketAddr::V4(_) => std::net::Ipv4Addr::UNSPECIFIED.into(),
            SocketAddr::V6(_) => std::net::Ipv6Addr::UNSPECIFIED.into(),
        });
        Self {
            end,
            cue,
            close_mode: crr.close_mode,
            ports,
            peer,
            address,
            local: net::LocalEnd { address: None, device: end.local.device.clone() },
            request: payload(crr.exchange.request_bytes),
            response: vec![0; crr.exchange.response_bytes],
        }
    }

    /// One transaction, from the socket's making to its closing.
    fn transact(&mut self) -> Result<(), Trouble> {
        let outcome = self.connect().and_then(|socket| self.exchange(&socket));
        // The last holder closes it.
        self.cue.current.clear();
        outcome
    }

    /// Binds to the next free port and connects.
    fn connect(&self) -> Result<Arc<OwnedFd>, Trouble> {
        for _ in 0..self.ports.count() {
            let socket = Arc::new(net::open_tcp(self.peer, &self.local, self.end.options())?);
            show(self.cue, &socket)?;
            let local = SocketAddr::new(self.address, self.ports.step());
            let attempt = net::bind_reusable(socket.as_fd(), local)
                .and_then(|()| net::connect(socket.as_fd(), self.peer));
            match attempt {
                Ok(()) => return Ok(socket),
                // The port is in use, or its connection to this peer is: the next may be free.
                Err(net::Errno::ADDRINUSE | net::Errno::ADDRNOTAVAIL) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Trouble::PortsExhausted)
    }

    fn exchange(&mut self, socket: &OwnedFd) -> Result<(), Trouble> {
        let socket = socket.as_fd();
        send_whole(socket, &self.request)?;
        if !receive_whole(socket, &mut self.response)? {
            return Err(Trouble::ShortResponse);
        }
        match self.close_mode {
            // The sink closes first, so that TIME-WAIT stays there; this is its end of the stream.
            CloseMode::SinkFirst => while net::receive(socket, &mut self.response)? > 0 {},
            CloseMode::Reset => net::reset_on_close(socket)?,
        }
        Ok(())
    }
}
