//! TCP connections to the data port: each proves by its preamble to which session it belongs.

use std::net::{IpAddr, TcpStream};
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use proto::wire::{Challenge, ConnectionRole, PREAMBLE_LENGTH, Preamble, Transport};
use proto::{DescriptorRole, Lane};
use rustix::event::{PollFd, PollFlags, poll};
use tokio::io::AsyncReadExt as _;

use crate::serve::engine::Engine;
use crate::serve::locked::locked;
use crate::serve::ports::data_ports::DataListener;
use crate::serve::ports::far::patience;
use crate::serve::ports::path_checks::By;
use crate::serve::sessions::session::{Door, Live, Network};

/// A connection that has not brought its preamble by then is closed; one from far has some round trips more.
const PREAMBLE_LIMIT: Duration = Duration::from_secs(2);
/// After a failed accept, such as without free descriptors, the next try waits, so as not to spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

/// Accepts on every listener, from a thread each.
pub fn start(engine: &Arc<Engine>) -> std::io::Result<()> {
    for index in 0..engine.data.listeners.len() {
        let engine = Arc::clone(engine);
        thread::Builder::new()
            .name("data-tcp".into())
            .spawn(move || accept(&engine, &engine.data.listeners[index]))?;
    }
    Ok(())
}

fn accept(engine: &Arc<Engine>, data: &DataListener) {
    loop {
        data.wait_while_lent();
        let ready = poll(&mut [PollFd::new(&data.listener, PollFlags::IN)], None);
        if ready.is_err() || data.is_lent() {
            continue;
        }
        if let Ok((stream, _)) = data.listener.accept() {
            engine.adopt(stream.into());
        } else {
            engine.half_open.make_room();
            thread::sleep(ACCEPT_PAUSE);
        }
    }
}

impl Engine {
    /// Takes in a connection that was accepted here, or by a session that it doesn't belong to.
    pub fn adopt(self: &Arc<Self>, descriptor: OwnedFd) {
        let stream = TcpStream::from(descriptor);
        let Ok(peer) = stream.peer_addr() else { return };
        let address = peer.ip().to_canonical();
        if !self.allowed.admits(address) {
            return;
        }
        if let Some((session, lane)) = self.sessions.registered_to(address, peer.port()) {
            self.pass_flow(&session, lane, 0, stream.as_fd());
            return;
        }
        let engine = Arc::clone(self);
        self.half_open.enter(address, |seat| {
            let task = self.runtime.spawn(async move {
                let limit = patience(PREAMBLE_LIMIT, stream.as_fd());
                let preamble = tokio::time::timeout(limit, read_preamble(stream)).await;
                drop(seat);
                if let Ok(Ok((stream, bytes))) = preamble {
                    engine.route(address, &stream, &bytes);
                }
            });
            task.abort_handle()
        });
    }

    /// Passes a connection on to the session that its preamble proves; any other is closed without a word.
    fn route(&self, peer: IpAddr, stream: &TcpStream, bytes: &[u8]) {
        let Ok(preamble) = Preamble::parse(Transport::Tcp, bytes) else { return };
        if preamble.role == ConnectionRole::Probe {
            self.answer_probe(peer, stream, &preamble);
            return;
        }
        let Some((session, lane)) = self.sessions.sink_of(&preamble.tag) else { return };
        let Some(live) = &session.live else { return };
        let door = live.door(lane);
        if !preamble.is_proved_by(&door.cookie) {
            return;
        }
        match preamble.role {
            ConnectionRole::Link
                if admits_load(live, lane, peer)
                    && admits_link(&mut locked(&door.network), peer) =>
            {
                self.pass(&session, lane, DescriptorRole::Link, 0, stream.as_fd());
            }
            ConnectionRole::Flow if admits_tcp_flow(door, peer, preamble.flow_index) => {
                self.pass_flow(&session, lane, preamble.flow_index, stream.as_fd());
            }
            _ => {}
        }
    }

    /// Shows a path check that it has come to this engine.
    fn answer_probe(&self, peer: IpAddr, stream: &TcpStream, probe: &Preamble) {
        let Ok(address) = stream.peer_addr() else { return };
        if self.path_checks.admits(probe, peer, By::Tcp) {
            let answer = Challenge::issue(&self.challenge_key, address, probe).encode();
            // It fits the buffer of a fresh connection.
            let _ = net::send(stream.as_fd(), &answer);
        }
    }
}

/// Reads the preamble and nothing beyond it; the stream is blocking again afterwards.
async fn read_preamble(stream: TcpStream) -> std::io::Result<(TcpStream, [u8; PREAMBLE_LENGTH])> {
    stream.set_nonblocking(true)?;
    let mut stream = tokio::net::TcpStream::from_std(stream)?;
    let mut bytes = [0; PREAMBLE_LENGTH];
    stream.read_exact(&mut bytes).await?;
    let stream = stream.into_std()?;
    stream.set_nonblocking(false)?;
    Ok((stream, bytes))
}

/// A load comes from where its session's link came from, and after it.
fn admits_load(live: &Live, lane: Lane, peer: IpAddr) -> bool {
    let own = locked(&live.door(Lane::Test).network);
    lane == Lane::Test
        || own.has_link && own.peer.is_some_and(|address| address.to_canonical() == peer)
}

/// One link per session, from the registered peer; the first link registers it where the controller named none.
fn admits_link(network: &mut Network, peer: IpAddr) -> bool {
    let registered = network.peer.get_or_insert(peer).to_canonical();
    registered == peer && !std::mem::replace(&mut network.has_link, true)
}

/// Each flow comes once: whoever replays a preamble must not take its place.
fn admits_tcp_flow(door: &Door, peer: IpAddr, index: u32) -> bool {
    admits_flow(door, peer, index) && locked(&door.network).tcp_flows.insert(index)
}

/// Flows come after the link, from the same peer, and no more of them than the test has.
pub fn admits_flow(door: &Door, peer: IpAddr, index: u32) -> bool {
    let network = locked(&door.network);
    let is_peer = network.peer.is_some_and(|registered| registered.to_canonical() == peer);
    network.has_link && is_peer && u64::from(index) < door.flows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_takes_one_link_and_only_from_its_peer() {
        let peer: IpAddr = "192.0.2.1".parse().unwrap();
        let stranger: IpAddr = "192.0.2.2".parse().unwrap();
        let mut network = Network { peer: Some(peer), ..Network::default() };
        assert!(!admits_link(&mut network, stranger));
        assert!(admits_link(&mut network, peer));
        assert!(!admits_link(&mut network, peer));
    }

    #[test]
    fn without_a_named_peer_the_first_link_registers_it() {
        let mut network = Network::default();
        assert!(admits_link(&mut network, "192.0.2.2".parse().unwrap()));
        assert_eq!(network.peer, Some("192.0.2.2".parse().unwrap()));
    }
}
