//! The part of an agent that hands connections to one sink.

use std::collections::HashSet;
use std::io::Read;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use kinds::Supply;
use proto::wire::{Challenge, ConnectionRole, PREAMBLE_LENGTH, Preamble, Response, Transport};
use proto::{Cookie, Lane};
use socket2::{Domain, Socket, Type};

const KEY: [u8; 32] = [3; 32];

/// Accepts for one sink.
pub struct Agent {
    listener: TcpListener,
    link: Arc<Mutex<Option<TcpStream>>>,
    is_lent: Arc<AtomicBool>,
    is_over: Arc<AtomicBool>,
    port: u16,
}

impl Agent {
    pub fn start(cookie: Cookie, supply: Sender<Supply>) -> Self {
        let (listener, datagrams) = open_ports();
        let port = listener.local_addr().unwrap().port();
        let agent = Self {
            listener,
            link: Arc::default(),
            is_lent: Arc::default(),
            is_over: Arc::default(),
            port,
        };
        agent.accept(cookie.clone(), supply.clone());
        agent.answer_hellos(datagrams, cookie, supply);
        agent
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// A copy of the listener; this agent accepts nothing any more.
    pub fn lend(&self) -> OwnedFd {
        self.is_lent.store(true, Ordering::SeqCst);
        self.listener.as_fd().try_clone_to_owned().unwrap()
    }

    /// Breaks the link in mid-test.
    pub fn cut_link(&self) {
        let link = self.link.lock().unwrap();
        link.as_ref().expect("there is a link").shutdown(Shutdown::Both).unwrap();
    }

    fn accept(&self, cookie: Cookie, supply: Sender<Supply>) {
        let listener = self.listener.try_clone().unwrap();
        listener.set_nonblocking(true).unwrap();
        let (link, is_lent, is_over) =
            (Arc::clone(&self.link), Arc::clone(&self.is_lent), Arc::clone(&self.is_over));
        thread::spawn(move || {
            while !is_over.load(Ordering::SeqCst) && !is_lent.load(Ordering::SeqCst) {
                match listener.accept() {
                    Ok((stream, _)) => adopt(stream, &cookie, &supply, &link),
                    Err(_) => thread::sleep(Duration::from_millis(1)),
                }
            }
        });
    }

    fn answer_hellos(&self, datagrams: UdpSocket, cookie: Cookie, supply: Sender<Supply>) {
        let is_over = Arc::clone(&self.is_over);
        datagrams.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        thread::spawn(move || {
            let mut buffer = [0; 256];
            let mut known = HashSet::new();
            while !is_over.load(Ordering::SeqCst) {
                let Ok((bytes, peer)) = datagrams.recv_from(&mut buffer) else { continue };
                if let Ok(hello) = Preamble::parse(Transport::Udp, &buffer[..bytes]) {
                    assert!(hello.is_proved_by(&of_lane(&cookie, lane_of(&cookie, &hello.tag))));
                    let challenge = Challenge::issue(&KEY, peer, &hello);
                    datagrams.send_to(&challenge.encode(), peer).unwrap();
                } else if let Ok(response) = Response::parse(&buffer[..bytes]) {
                    let lane = lane_of(&cookie, &response.challenge.tag);
                    assert!(response.is_proved_by(&KEY, peer, &of_lane(&cookie, lane)));
                    let index = response.challenge.flow_index;
                    if known.insert((lane, index)) {
                        let fd = flow_socket(datagrams.local_addr().unwrap(), peer);
                        let _ = supply.send(Supply::Flow { index, fd }.on(lane));
                    }
                }
            }
        });
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
    }
}

fn adopt(
    mut stream: TcpStream,
    cookie: &Cookie,
    supply: &Sender<Supply>,
    link: &Mutex<Option<TcpStream>>,
) {
    stream.set_nonblocking(false).unwrap();
    let mut bytes = [0; PREAMBLE_LENGTH];
    stream.read_exact(&mut bytes).unwrap();
    let preamble = Preamble::parse(Transport::Tcp, &bytes).unwrap();
    let lane = lane_of(cookie, &preamble.tag);
    assert!(preamble.is_proved_by(&of_lane(cookie, lane)));
    // A session that has ended takes nothing.
    let _ = match preamble.role {
        ConnectionRole::Link => {
            if lane == Lane::Test {
                *link.lock().unwrap() = Some(stream.try_clone().unwrap());
            }
            supply.send(Supply::Link(stream.into()).on(lane))
        }
        ConnectionRole::Flow => {
            supply.send(Supply::Flow { index: preamble.flow_index, fd: stream.into() }.on(lane))
        }
        ConnectionRole::Probe => unreachable!("no session probes a path by TCP"),
    };
}

fn open_ports() -> (TcpListener, UdpSocket) {
    (0..50)
        .find_map(|_| {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let datagrams = reusable(listener.local_addr().unwrap())?;
            Some((listener, datagrams))
        })
        .expect("a port is free for TCP and UDP")
}

fn reusable(address: SocketAddr) -> Option<UdpSocket> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, None).unwrap();
    socket.set_reuse_port(true).unwrap();
    socket.bind(&address.into()).ok()?;
    Some(socket.into())
}

fn flow_socket(address: SocketAddr, peer: SocketAddr) -> OwnedFd {
    let socket = reusable(address).unwrap();
    socket.connect(peer).unwrap();
    socket.into()
}

/// Whose tag it is: the session's, or its load's.
fn lane_of(cookie: &Cookie, tag: &[u8; proto::wire::TAG_LENGTH]) -> Lane {
    if *tag == cookie.tag() { Lane::Test } else { Lane::Load }
}

fn of_lane(cookie: &Cookie, lane: Lane) -> Cookie {
    match lane {
        Lane::Test => cookie.clone(),
        Lane::Load => cookie.derived(b"load"),
    }
}
