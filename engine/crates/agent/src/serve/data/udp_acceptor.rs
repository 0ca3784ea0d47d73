//! UDP flows: a stranger gets nothing, a source that proves its cookie and its address gets a connected socket.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd as _;
use std::sync::Arc;

use proto::Lane;
use proto::wire::{
    CHALLENGE_LENGTH, Challenge, PREAMBLE_LENGTH, Preamble, RESPONSE_LENGTH, Response, Transport,
};
use tokio::io::Interest;
use tokio::net::UdpSocket;

use crate::serve::admission::access::is_single_host;
use crate::serve::data::tcp_acceptor::admits_flow;
use crate::serve::engine::Engine;
use crate::serve::locked::locked;
use crate::serve::ports::data_ports::udp_socket;
use crate::serve::ports::path_checks::By;
use crate::serve::sessions::session::{Live, Session};

/// Longer than any datagram of the handshake, so that a longer one shows by its length.
const DATAGRAM_BUFFER_BYTES: usize = 128;

/// The largest payload of a datagram over IPv4.
const LARGEST_PAYLOAD_BYTES: usize = 65_507;

/// A peer that floods its socket can't hold up the others for longer than so many datagrams.
const DRAIN_LIMIT: usize = 10_000;

/// After a failed read, so that an error that lasts doesn't make the loop spin.
const ERROR_PAUSE: std::time::Duration = std::time::Duration::from_millis(1);

/// What came, from whom, and to which of this host's addresses: a host has several, and its answers, as the flow itself,
/// must come from the one that the peer speaks to.
struct Datagram {
    bytes: Vec<u8>,
    peer: SocketAddr,
    local: Option<IpAddr>,
}

/// Answers on every UDP data port, as a task each.
pub fn start(engine: &Arc<Engine>) -> io::Result<()> {
    for socket in &engine.data.sockets {
        let is_ipv4 = socket.local_addr()?.is_ipv4();
        net::tell_destinations(socket.as_fd(), is_ipv4)?;
        // An answer that is padded to see whether it passes must not come in fragments.
        let _ = net::never_fragment(socket.as_fd(), is_ipv4);
        let socket = UdpSocket::from_std(socket.try_clone()?)?;
        tokio::spawn(answer_for_ever(Arc::clone(engine), socket));
    }
    Ok(())
}

async fn answer_for_ever(engine: Arc<Engine>, socket: UdpSocket) {
    let mut buffer = [0; DATAGRAM_BUFFER_BYTES];
    loop {
        // An error here is mostly a port unreachable that an earlier answer met; the socket goes on.
        let Ok(datagram) = receive(&socket, &mut buffer).await else {
            tokio::time::sleep(ERROR_PAUSE).await;
            continue;
        };
        let mut waiting = VecDeque::from([datagram]);
        while let Some(datagram) = waiting.pop_front() {
            handle(&engine, &socket, &datagram, &mut waiting);
        }
    }
}

async fn receive(socket: &UdpSocket, buffer: &mut [u8]) -> io::Result<Datagram> {
    let take = || net::receive_from(socket.as_fd(), buffer).map_err(io::Error::from);
    let arrived = socket.async_io(Interest::READABLE, take).await?;
    let bytes = buffer[..arrived.length].to_vec();
    Ok(Datagram { bytes, peer: arrived.peer, local: arrived.local })
}

fn handle(
    engine: &Engine,
    socket: &UdpSocket,
    datagram: &Datagram,
    waiting: &mut VecDeque<Datagram>,
) {
    let (bytes, peer) = (datagram.bytes.as_slice(), datagram.peer);
    if !engine.allowed.admits(peer.ip()) || !is_single_host(peer.ip()) || peer.port() == 0 {
        return;
    }
    match bytes.len() {
        // A hello may be padded to the size of a packet, to see whether that passes: of a long one comes its beginning.
        PREAMBLE_LENGTH | DATAGRAM_BUFFER_BYTES => {
            if let Some((challenge, length)) = challenge(engine, &bytes[..PREAMBLE_LENGTH], peer) {
                let mut answer = challenge.encode().to_vec();
                answer.resize(padded_length(length, datagram), 0);
                // Lost or not sent, the source repeats its hello.
                let _ = net::send_from(socket.as_fd(), &answer, peer, datagram.local);
            }
        }
        RESPONSE_LENGTH => {
            let Ok(mut local) = socket.local_addr() else { return };
            if let Some(address) = datagram.local {
                local.set_ip(address);
            }
            open_flow(engine, bytes, local, peer, waiting);
        }
        _ => {}
    }
}

/// How long an answer is: as long as the hello wants it, but no longer than this host's kernel would send it whole.
fn padded_length(wanted_bytes: u32, datagram: &Datagram) -> usize {
    let wanted = usize::try_from(wanted_bytes).unwrap_or(0);
    if wanted <= CHALLENGE_LENGTH {
        return CHALLENGE_LENGTH;
    }
    let local = net::LocalEnd { address: datagram.local, device: None };
    let mtu = net::open_udp(datagram.peer, &local, &net::Options::default())
        .ok()
        .and_then(|route| net::path_mtu(route.as_fd(), datagram.peer.is_ipv4()));
    let headers = if datagram.peer.is_ipv4() { 28 } else { 48 };
    let most = mtu.map_or(CHALLENGE_LENGTH, |mtu| mtu.saturating_sub(headers));
    wanted.min(most.min(LARGEST_PAYLOAD_BYTES)).max(CHALLENGE_LENGTH)
}

/// The challenge for a hello that proves its cookie and comes from the session's peer, or that of a path check; and how
/// long the answer is to be.
fn challenge(engine: &Engine, bytes: &[u8], peer: SocketAddr) -> Option<(Challenge, u32)> {
    let hello = Preamble::parse(Transport::Udp, bytes).ok()?;
    let is_welcome = is_of_session(engine, &hello, peer)
        || engine.path_checks.admits(&hello, peer.ip(), By::Udp);
    let challenge = || Challenge::issue(&engine.challenge_key, peer, &hello);
    is_welcome.then(|| (challenge(), hello.answer_bytes))
}

fn is_of_session(engine: &Engine, hello: &Preamble, peer: SocketAddr) -> bool {
    let Some((session, lane)) = engine.sessions.sink_of(&hello.tag) else { return false };
    let Some(live) = session.live.as_ref() else { return false };
    let door = live.door(lane);
    hello.is_proved_by(&door.cookie)
        && admits_flow(door, peer.ip().to_canonical(), hello.flow_index)
}

/// Gives the session a socket connected to the peer that met the challenge; once, however often it answers.
fn open_flow(
    engine: &Engine,
    bytes: &[u8],
    local: SocketAddr,
    peer: SocketAddr,
    waiting: &mut VecDeque<Datagram>,
) {
    let Some((session, lane, index)) = proved_flow(engine, bytes, peer) else { return };
    let Some(live) = &session.live else { return };
    // The first port that answers has the flow: its own repeated answers, and another port's, change nothing.
    let door = live.door(lane);
    if !locked(&door.network).udp_flows.insert(index) {
        return;
    }
    match connected_socket(live, local, peer, waiting) {
        Ok(socket) => {
            engine.pass_flow(&session, lane, index, socket.as_fd());
        }
        Err(error) => {
            note!("session {}: no UDP socket for flow {index}: {error}", session.id);
            locked(&door.network).udp_flows.remove(&index);
        }
    }
}

fn proved_flow(
    engine: &Engine,
    bytes: &[u8],
    peer: SocketAddr,
) -> Option<(Arc<Session>, Lane, u32)> {
    let response = Response::parse(bytes).ok()?;
    let (session, lane) = engine.sessions.sink_of(&response.challenge.tag)?;
    let door = session.live.as_ref()?.door(lane);
    let index = response.challenge.flow_index;
    let is_proved = response.is_proved_by(&engine.challenge_key, peer, &door.cookie)
        && admits_flow(door, peer.ip().to_canonical(), index);
    is_proved.then_some((Arc::clone(&session), lane, index))
}

fn connected_socket(
    live: &Live,
    mut local: SocketAddr,
    peer: SocketAddr,
    waiting: &mut VecDeque<Datagram>,
) -> io::Result<std::net::UdpSocket> {
    let bind = live.spec.bind.clone().unwrap_or_default();
    if let Some(address) = bind.address.filter(|address| address.is_ipv4() == local.is_ipv4()) {
        local.set_ip(address);
    }
    if let (SocketAddr::V6(local), SocketAddr::V6(peer)) = (&mut local, peer) {
        // A link-local address is one of an interface: that of the peer's.
        local.set_scope_id(peer.scope_id());
    }
    let socket = udp_socket(local)?;
    if let Some(device) = &bind.device {
        socket.bind_device(Some(device.as_bytes()))?;
    }
    socket.connect(&peer.into())?;
    let socket = std::net::UdpSocket::from(socket);
    drain(&socket, peer, local.ip(), waiting)?;
    Ok(socket)
}

/// Empties the socket of what came between bind and connect. What others sent to the data port in that moment is
/// kept, to be handled as if it had come to the acceptor.
fn drain(
    socket: &std::net::UdpSocket,
    peer: SocketAddr,
    local: IpAddr,
    waiting: &mut VecDeque<Datagram>,
) -> io::Result<()> {
    socket.set_nonblocking(true)?;
    let mut buffer = [0; DATAGRAM_BUFFER_BYTES];
    for _ in 0..DRAIN_LIMIT {
        let Ok((length, sender)) = socket.recv_from(&mut buffer) else { break };
        if sender != peer {
            let bytes = buffer[..length].to_vec();
            waiting.push_back(Datagram { bytes, peer: sender, local: Some(local) });
        }
    }
    socket.set_nonblocking(false)
}
