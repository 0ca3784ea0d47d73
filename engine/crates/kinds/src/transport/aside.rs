//! Connecting: one socket with its introduction, and in a thread of its own.

use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::thread;
use std::time::{Duration, Instant};

use proto::wire::{ConnectionRole, Preamble};
use proto::{FailureCode, reason};

use crate::failure::Failure;
use crate::line::Line;
use crate::line::signal::Signal;

/// Opens one connection and introduces it.
pub fn connect_one(
    brief_cookie: &proto::Cookie,
    role: ConnectionRole,
    index: u32,
    peer: SocketAddr,
    (local, options): (&net::LocalEnd, &net::Options),
    limit: Duration,
) -> Result<OwnedFd, Failure> {
    let socket =
        net::connect_tcp(peer, local, options, limit).map_err(|error| unreachable(peer, error))?;
    let preamble = Preamble::encode(role, index, brief_cookie);
    match net::send(socket.as_fd(), &preamble) {
        // 64 bytes fit the buffer of a fresh connection.
        Ok(sent) if sent == preamble.len() => Ok(socket),
        Ok(_) => Err(unreachable(peer, net::Errno::NOBUFS)),
        Err(error) => Err(unreachable(peer, error)),
    }
}

/// Connects in a thread of its own, so that a cancel is heard meanwhile.
pub fn connect_aside(
    line: &mut Line,
    limit: Duration,
    connect: impl FnOnce() -> Result<Vec<OwnedFd>, Failure> + Send + 'static,
) -> Result<Vec<OwnedFd>, Failure> {
    let sender = line.sender();
    thread::spawn(move || {
        // After a cancel nobody listens; the sockets are closed then.
        let _ = sender.send(Signal::Connected(connect()));
    });
    let until = Instant::now() + limit;
    // The sink may have a flow, and say so, before this end's thread has told of it.
    let mut early = Vec::new();
    loop {
        match line.wait(until)? {
            Some(Signal::Connected(sockets)) => {
                line.keep(early);
                return sockets;
            }
            Some(signal) => early.push(signal),
            None => {
                let reason = reason!("setup_connecting_late", seconds = limit.as_secs());
                return Err(Failure::new(FailureCode::Unreachable, reason));
            }
        }
    }
}

fn unreachable(peer: SocketAddr, error: net::Errno) -> Failure {
    let (peer, port, why) = (peer.to_string(), peer.port(), error.to_string());
    let reason = reason!("setup_data_port_unreachable", peer = peer, why = why, port = port);
    Failure::new(FailureCode::Unreachable, reason)
}
