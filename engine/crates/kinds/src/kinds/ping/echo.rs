//! The sink's side of in-band probes: what comes goes back.

use std::os::fd::BorrowedFd;

use proto::reason;

use super::{Plan, wire};
use crate::end::End;
use crate::flow::gate::Phase;
use crate::measurements::{Finished, Outcome};
use crate::outcome::requests::send_whole;
use crate::task::Cue;

const BUFFER_BYTES: usize = 64 * 1024;

/// Echoes a TCP connection until it ends.
pub fn stream(end: &End, cue: &Cue) -> Finished {
    let socket = end.flow(cue.flow);
    let mut buffer = vec![0; BUFFER_BYTES];
    let fault = wire::without_delay(socket)
        .err()
        .map(|error| reason!("flow_echo", why = error.to_string()));
    while let Some(bytes) = received(socket, &mut buffer) {
        // The client's end is the normal end, however it looks from here; a lost client shows on the link.
        if send_whole(socket, &buffer[..bytes]).is_err() {
            break;
        }
    }
    Finished { outcome: Outcome::Served, fault }
}

fn received(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> Option<usize> {
    loop {
        match net::receive(socket, buffer) {
            Ok(0) => return None,
            Ok(bytes) => return Some(bytes),
            Err(net::Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}

/// Echoes datagrams of the probes' size, and no others, until the session ends the flow.
pub fn datagrams(end: &End, cue: &Cue, plan: &Plan) -> Finished {
    let socket = end.flow(cue.flow);
    let payload_bytes = plan.payload_bytes;
    // One byte more, so that a longer datagram is seen to be longer.
    let mut buffer = vec![0; payload_bytes + 1];
    loop {
        match net::receive(socket, &mut buffer) {
            Ok(bytes) if bytes == payload_bytes => {
                // An echo that can't be sent is a lost probe, which the client counts.
                let _ = net::send(socket, &buffer[..bytes]);
            }
            Ok(0) if cue.pulse.phase() == Phase::Over => break,
            Err(error) if !net::may_pass(error) => break,
            Ok(_) | Err(_) => {}
        }
    }
    Finished { outcome: Outcome::Served, fault: None }
}
