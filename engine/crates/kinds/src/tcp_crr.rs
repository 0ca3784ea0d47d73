//! TCP connect/request/response: each transaction opens a connection; the sink closes first (netperf `TCP_CRR`).

use std::fs;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use proto::{Metrics, Role, SinkReport};

use crate::counter::Count;
use crate::gate::Phase;
use crate::kind::{Cue, End, Finished, Kind, Lent, Measured, Outcome, Part, Task, Transport};
use crate::requests::{self, Timekeeper, receive_whole, send_whole};
use crate::settings::Settings;
use crate::streams::payload;

/// Ports that one session registers: other sessions of the same source need some too.
const REGISTERED_PORTS: u16 = 16_384;
/// Linux's default range, where the kernel doesn't tell.
const DEFAULT_PORTS: (u16, u16) = (32_768, 60_999);
/// Below it are ports that hosts' services like; a bound one is only skipped, but costs a call.
const FIRST_PLAIN_PORT: u16 = 10_000;
/// So many failures in a row are not bad luck.
const ERRORS_IN_A_ROW_LIMIT: u32 = 1_000;

/// The kind.
pub struct TcpCrr;

impl Kind for TcpCrr {
    fn name(&self) -> &'static str {
        "tcp_crr"
    }

    fn transport(&self, _settings: &Settings) -> Transport {
        Transport::Connections
    }

    fn tasks(&self, end: &Arc<End>) -> Vec<Task> {
        let flows = 0..end.settings.flows;
        match end.role {
            Role::Source => {
                let ports = Arc::new(PortSteps::new(end.ports.unwrap_or(DEFAULT_PORTS)));
                flows
                    .map(|flow| {
                        let ports = Arc::clone(&ports);
                        Task::new(Part::Client, flow, move |end, cue| ask(end, cue, &ports))
                    })
                    .collect()
            }
            Role::Sink => flows.map(|flow| Task::new(Part::Server, flow, serve)).collect(),
        }
    }

    fn interval(&self, _end: &End, count: Count, seconds: f64) -> Metrics {
        requests::interval(count, seconds)
    }

    fn report(&self, end: &End, measured: &Measured) -> SinkReport {
        let mut report = requests::report(end, measured);
        if end.role == Role::Source {
            if let Some(&rate) = report.metrics.get("transactions_per_second") {
                let errors: u64 = requests::clients(measured).map(|client| client.errors).sum();
                // One connection per transaction: the two rates are one.
                report.metrics.insert("connections_per_second".to_owned(), rate);
                report.metrics.insert("errors".to_owned(), errors as f64);
            }
        }
        report
    }
}

/// A part of this host's ports, at a random place; below the ephemeral ones where there is room. The sink takes a
/// connection from a registered port for this session's, and another session's from this host has an ephemeral one.
pub fn choose_ports() -> Result<(u16, u16), String> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let mut bounds = text.split_whitespace().map_while(|bound| bound.parse::<u16>().ok());
    let ephemeral = bounds.next().zip(bounds.next()).unwrap_or(DEFAULT_PORTS);
    let random = net::random_number().map_err(|error| format!("no random numbers: {error}"))?;
    Ok(part_of_ports(ephemeral, random))
}

fn part_of_ports((low, high): (u16, u16), random: u64) -> (u16, u16) {
    let has_room_below = low > FIRST_PLAIN_PORT + REGISTERED_PORTS;
    let (low, high) = if has_room_below { (FIRST_PLAIN_PORT, low - 1) } else { (low, high) };
    let count = (REGISTERED_PORTS - 1).min(high.saturating_sub(low));
    let slack = u64::from(high - low - count);
    let first = low + u16::try_from(random % (slack + 1)).unwrap_or(0);
    (first, first + count)
}

/// Hands out source ports one after the other, from a random start, around and around.
struct PortSteps {
    first: u16,
    count: u32,
    next: AtomicU32,
}

impl PortSteps {
    fn new((first, last): (u16, u16)) -> Self {
        let count = u32::from(last - first) + 1;
        // Any start will do; without randomness it is the first.
        let seed = net::random_number().map_or(0, |number| (number >> 32) as u32);
        let next = AtomicU32::new(seed % count);
        Self { first, count, next }
    }

    fn step(&self) -> u16 {
        let place = self.next.fetch_add(1, Ordering::Relaxed) % self.count;
        self.first + u16::try_from(place).unwrap_or(0)
    }
}

fn ask(end: &End, cue: &Cue, ports: &PortSteps) -> Finished {
    let Some(peer) = end.peer else {
        return requests::nothing_transacted();
    };
    let request = payload(end.settings.request_bytes);
    let mut response = vec![0; end.settings.response_bytes];
    let Some(opened_at) = cue.start() else {
        return requests::nothing_transacted();
    };
    let mut timekeeper = Timekeeper::new(end, opened_at);
    let (mut errors, mut in_a_row) = (0, 0);
    let mut begun = Instant::now();
    let fault = loop {
        let outcome = transact(end, cue, peer, ports, &request, &mut response);
        let now = Instant::now();
        match outcome {
            Ok(()) if timekeeper.count(cue, begun, now) => in_a_row = 0,
            _ if timekeeper.is_over(now) || cue.pulse.phase() == Phase::Over => break None,
            Ok(()) => {}
            Err(error) => {
                errors += u64::from(timekeeper.is_measured(now));
                in_a_row += 1;
                if in_a_row == ERRORS_IN_A_ROW_LIMIT || error.is_lasting() {
                    break Some(format!("flow {}: {}", cue.flow, error.describe(ports)));
                }
            }
        }
        begun = now;
    };
    Finished { outcome: timekeeper.finish(Instant::now(), 0, errors), fault }
}

/// Why a transaction failed.
enum Trouble {
    /// Every source port is in use.
    PortsExhausted,
    /// A system call said no.
    Kernel(net::Errno),
    /// The sink closed before the whole response.
    ShortResponse,
}

impl Trouble {
    fn is_lasting(&self) -> bool {
        matches!(self, Self::PortsExhausted)
    }

    fn describe(&self, ports: &PortSteps) -> String {
        match self {
            Self::PortsExhausted => format!(
                "all {} source ports from {} on are in use; widen net.ipv4.ip_local_port_range or wait for TIME-WAIT",
                ports.count, ports.first
            ),
            Self::Kernel(error) => format!("a connection failed: {error}"),
            Self::ShortResponse => "the sink closed before the whole response".to_owned(),
        }
    }
}

impl From<net::Errno> for Trouble {
    fn from(error: net::Errno) -> Self {
        Self::Kernel(error)
    }
}

/// One transaction, from the socket's making to its closing.
fn transact(
    end: &End,
    cue: &Cue,
    peer: SocketAddr,
    ports: &PortSteps,
    request: &[u8],
    response: &mut [u8],
) -> Result<(), Trouble> {
    let outcome =
        connect(end, cue, peer, ports).and_then(|socket| exchange(&socket, request, response));
    cue.current.clear();
    outcome
}

fn exchange(socket: &OwnedFd, request: &[u8], response: &mut [u8]) -> Result<(), Trouble> {
    let socket = socket.as_fd();
    send_whole(socket, request)?;
    if !receive_whole(socket, response)? {
        return Err(Trouble::ShortResponse);
    }
    // The sink closes first, so that TIME-WAIT stays there; this is its end of the stream.
    let mut nothing = [0];
    while net::receive(socket, &mut nothing)? > 0 {}
    Ok(())
}

/// Binds to the next free port and connects.
fn connect(
    end: &End,
    cue: &Cue,
    peer: SocketAddr,
    ports: &PortSteps,
) -> Result<Arc<OwnedFd>, Trouble> {
    let address = end.local.address.unwrap_or(match peer {
        SocketAddr::V4(_) => std::net::Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => std::net::Ipv6Addr::UNSPECIFIED.into(),
    });
    let local = net::LocalEnd { address: None, device: end.local.device.clone() };
    for _ in 0..ports.count {
        let socket = Arc::new(net::open_tcp(peer, &local, end.options())?);
        show(cue, &socket)?;
        let attempt = net::bind_reusable(socket.as_fd(), SocketAddr::new(address, ports.step()))
            .and_then(|()| net::connect(socket.as_fd(), peer));
        match attempt {
            Ok(()) => return Ok(socket),
            // The port is in use, or its connection to this peer is: the next may be free.
            Err(net::Errno::ADDRINUSE | net::Errno::ADDRNOTAVAIL) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Trouble::PortsExhausted)
}

/// Shows a socket to who may interrupt it. Who came before it was shown has set the phase before that.
fn show(cue: &Cue, socket: &Arc<OwnedFd>) -> Result<(), net::Errno> {
    cue.current.set(socket);
    if cue.pulse.phase() == Phase::Over { Err(net::Errno::INTR) } else { Ok(()) }
}

/// Accepts and answers connections of this session until it ends.
fn serve(end: &End, cue: &Cue) -> Finished {
    let served = Finished { outcome: Outcome::Served, fault: None };
    let Some(lent) = &end.lent else {
        return served;
    };
    let mut request = vec![0; end.settings.request_bytes];
    let response = payload(end.settings.response_bytes);
    while cue.pulse.phase() != Phase::Over {
        if let Some(socket) = lent.take_over() {
            answer(end, cue, socket, &mut request, &response);
            continue;
        }
        // With several flows another may be faster; the agent may be too.
        match net::wait_readable(lent.listener.as_fd(), &end.wake, Some(HANDED_OVER_LOOK)) {
            Ok(net::Readiness::Woken) => break,
            Ok(net::Readiness::Readable) => {
                if let Some(socket) = accept(lent) {
                    answer(end, cue, socket, &mut request, &response);
                }
            }
            Ok(net::Readiness::TimedOut) | Err(net::Errno::INTR) => {}
            Err(error) => {
                let fault = Some(format!("the lent listener failed: {error}"));
                return Finished { outcome: Outcome::Served, fault };
            }
        }
    }
    served
}

/// How often connections that the agent accepted are looked for: it accepts none while the listener is lent,
/// except in the moment of lending.
const HANDED_OVER_LOOK: std::time::Duration = std::time::Duration::from_millis(5);

/// Accepts one connection; what is not this session's goes back to the agent.
fn accept(lent: &Lent) -> Option<OwnedFd> {
    let (socket, peer) = net::accept(lent.listener.as_fd()).ok()?;
    let is_ours = peer.is_some_and(|peer| {
        let (first, last) = lent.ports;
        peer.ip().to_canonical() == lent.address.to_canonical()
            && (first..=last).contains(&peer.port())
    });
    if !is_ours {
        lent.outbox.foreign(socket);
        return None;
    }
    Some(socket)
}

/// Answers one request and closes; a connection that fails is the client's to count.
fn answer(end: &End, cue: &Cue, socket: OwnedFd, request: &mut [u8], response: &[u8]) {
    let socket = Arc::new(socket);
    let is_ipv4 = end.lent.as_ref().is_some_and(|lent| lent.address.is_ipv4());
    if end.options() != &net::Options::default() {
        let _ = net::apply(socket.as_fd(), end.options(), is_ipv4, true);
    }
    let is_shown = show(cue, &socket).is_ok();
    if is_shown && matches!(receive_whole(socket.as_fd(), request), Ok(true)) {
        let _ = send_whole(socket.as_fd(), response);
    }
    cue.current.clear();
}

#[cfg(test)]
mod tests {
    use super::{PortSteps, choose_ports, part_of_ports};

    #[test]
    fn ports_go_around_within_their_range() {
        let ports = PortSteps::new((40_000, 40_002));
        let mut seen: Vec<u16> = (0..6).map(|_| ports.step()).collect();
        seen.sort_unstable();
        assert_eq!(seen, [40_000, 40_000, 40_001, 40_001, 40_002, 40_002]);
    }

    #[test]
    fn chosen_ports_lie_below_the_ephemeral_ones_where_there_is_room() {
        let (first, last) = choose_ports().expect("random numbers");
        assert!(first >= 1_024 && last > first);
        assert_eq!(part_of_ports((32_768, 60_999), 0), (10_000, 26_383));
        assert_eq!(part_of_ports((32_768, 60_999), 6_384), (16_384, 32_767));
        assert_eq!(part_of_ports((1_024, 65_535), 0), (1_024, 17_407));
        assert_eq!(part_of_ports((60_000, 60_100), 0), (10_000, 26_383));
    }
}
