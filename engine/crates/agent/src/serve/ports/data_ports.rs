//! The data ports: TCP listeners and UDP sockets, one of each per port and address family.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::{Condvar, Mutex, PoisonError};

use anyhow::{Context as _, Result};
use socket2::{Domain, Protocol, Socket, Type};

use crate::serve::locked::locked;

/// Connections that wait to be accepted; the kernel lowers it to net.core.somaxconn.
const BACKLOG: i32 = 4_096;
/// A free TCP port may be taken for UDP; so many are tried.
const FREE_PORT_TRIES: usize = 20;

/// One TCP listener, and how many sessions accept from it in the agent's stead.
pub struct DataListener {
    pub listener: TcpListener,
    address: SocketAddr,
    borrowers: Mutex<usize>,
    returned: Condvar,
}

impl DataListener {
    fn new(listener: TcpListener) -> io::Result<Self> {
        let address = listener.local_addr()?;
        Ok(Self { listener, address, borrowers: Mutex::new(0), returned: Condvar::new() })
    }

    /// Whether a session accepts from it now.
    pub fn is_lent(&self) -> bool {
        *locked(&self.borrowers) > 0
    }

    /// Waits until no session accepts from it.
    pub fn wait_while_lent(&self) {
        let borrowers = locked(&self.borrowers);
        let waited = self.returned.wait_while(borrowers, |borrowers| *borrowers > 0);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

/// Every data port.
pub struct DataPorts {
    pub listeners: Vec<DataListener>,
    pub sockets: Vec<UdpSocket>,
    /// The first data port, which sessions name.
    pub port: u16,
}

impl DataPorts {
    /// Opens the ports `first` to `last` on each address; port 0 takes one that is free.
    pub fn open(addresses: &[IpAddr], first: u16, last: u16) -> Result<Self> {
        if first == 0 {
            return (0..FREE_PORT_TRIES)
                .find_map(|_| open_free(addresses).ok())
                .context("no port is free for both TCP and UDP; name one with --data-port");
        }
        open_all(addresses, first, last)
    }

    /// Lends the listener that serves `peer`, if there is one.
    pub fn lend(&self, peer: IpAddr) -> Option<BorrowedFd<'_>> {
        let data = self.listener_for(peer)?;
        *locked(&data.borrowers) += 1;
        Some(data.listener.as_fd())
    }

    /// Ends a loan, so that the agent accepts again.
    pub fn take_back(&self, peer: IpAddr) {
        if let Some(data) = self.listener_for(peer) {
            *locked(&data.borrowers) -= 1;
            data.returned.notify_all();
        }
    }

    fn listener_for(&self, peer: IpAddr) -> Option<&DataListener> {
        let is_same_family =
            |data: &&DataListener| data.address.is_ipv4() == peer.to_canonical().is_ipv4();
        self.listeners.iter().find(is_same_family)
    }
}

/// Where data ports listen: as asked for; else a loopback engine stays on loopback, any other is open to its networks.
pub fn addresses(asked: Option<IpAddr>, control: IpAddr) -> Vec<IpAddr> {
    match asked {
        Some(address) if !address.is_unspecified() => vec![address],
        None if control.is_loopback() => vec![control],
        _ => vec![Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into()],
    }
}

fn open_free(addresses: &[IpAddr]) -> Result<DataPorts> {
    let probe = TcpListener::bind((addresses[0], 0))?;
    let port = probe.local_addr()?.port();
    drop(probe);
    open_all(addresses, port, port)
}

fn open_all(addresses: &[IpAddr], first: u16, last: u16) -> Result<DataPorts> {
    let mut ports = DataPorts { listeners: Vec::new(), sockets: Vec::new(), port: first };
    for (position, &address) in addresses.iter().enumerate() {
        for port in first..=last {
            match open_one((address, port).into()) {
                Ok((listener, socket)) => {
                    ports.listeners.push(DataListener::new(listener)?);
                    ports.sockets.push(socket);
                }
                // A host without IPv6 is served by IPv4 alone.
                Err(error) if position > 0 && is_family_missing(&error) => {}
                Err(error) => {
                    let message = format!(
                        "can't open the data port {port} on {address}; free it or name another with --data-port"
                    );
                    return Err(error).context(message);
                }
            }
        }
    }
    Ok(ports)
}

fn is_family_missing(error: &io::Error) -> bool {
    use rustix::io::Errno;
    [Errno::AFNOSUPPORT, Errno::ADDRNOTAVAIL]
        .iter()
        .any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

fn open_one(address: SocketAddr) -> io::Result<(TcpListener, UdpSocket)> {
    let listener = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    listener.set_reuse_address(true)?;
    if address.is_ipv6() {
        listener.set_only_v6(true)?;
    }
    listener.bind(&address.into())?;
    listener.listen(BACKLOG)?;
    let socket = udp_socket(address)?;
    socket.set_nonblocking(true)?;
    Ok((listener.into(), socket.into()))
}

/// A UDP socket that shares its port with others of this engine.
pub fn udp_socket(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_reuse_port(true)?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.bind(&address.into())?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_free_port_is_the_same_for_tcp_and_udp() {
        let ports = DataPorts::open(&[Ipv4Addr::LOCALHOST.into()], 0, 0).unwrap();
        assert_eq!(ports.listeners[0].address.port(), ports.port);
        assert_eq!(ports.sockets[0].local_addr().unwrap().port(), ports.port);
    }

    #[test]
    fn a_taken_port_is_refused_with_its_number() {
        let ports = DataPorts::open(&[Ipv4Addr::LOCALHOST.into()], 0, 0).unwrap();
        let refusal =
            DataPorts::open(&[Ipv4Addr::LOCALHOST.into()], ports.port, ports.port).err().unwrap();
        assert!(
            refusal
                .to_string()
                .starts_with(&format!("can't open the data port {} on 127.0.0.1", ports.port))
        );
    }

    #[test]
    fn a_loopback_engine_stays_on_loopback() {
        let localhost: IpAddr = Ipv4Addr::LOCALHOST.into();
        assert_eq!(addresses(None, localhost), [localhost]);
        assert_eq!(addresses(None, "192.0.2.1".parse().unwrap()).len(), 2);
        assert_eq!(
            addresses(Some("192.0.2.5".parse().unwrap()), localhost),
            ["192.0.2.5".parse::<IpAddr>().unwrap()]
        );
    }
}
