//! Looks whether TCP and UDP pass to a sink's data port, and what the path carries, before a test does.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use proto::wire::{CHALLENGE_LENGTH, Challenge, ConnectionRole, Preamble};
use proto::{Cookie, PathCheck, PathFault, PathPassage};

use crate::path::probe::{Probe, Sizes};

/// How long a connection may take whose round trip nobody knows yet: a packet lost twice, or a round trip of seconds.
const CONNECT_LIMIT: Duration = Duration::from_secs(6);
/// How long a near sink may take to answer on a connection.
const ANSWER_LIMIT: Duration = Duration::from_secs(2);
/// How long each hello waits where TCP doesn't pass, and so tells no round trip.
const UNKNOWN_ROUND_TRIP: Duration = Duration::from_millis(500);
/// Hellos of which one must be answered.
const HELLOS: usize = 4;
/// A path carries UDP, and the shortest of so many round trips is told.
const ROUND_TRIPS: usize = 5;

/// Looks; it takes milliseconds on a path in order, and some 20 s at most.
#[must_use]
pub fn check_path(peer: SocketAddr, local: &net::LocalEnd, cookie: &Cookie) -> PathCheck {
    let (tcp, local_address) = look_by_tcp(peer, local, cookie);
    let known =
        tcp.round_trip_seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let (udp, sizes) = look_by_udp(peer, local, cookie, known);
    let Sizes { forward, backward, .. } = sizes;
    PathCheck { tcp, udp, forward, backward, local_address }
}

fn look_by_tcp(
    peer: SocketAddr,
    local: &net::LocalEnd,
    cookie: &Cookie,
) -> (PathPassage, Option<IpAddr>) {
    let options = net::Options { small_segments: true, ..net::Options::default() };
    let begin = Instant::now();
    let socket = match net::connect_tcp(peer, local, &options, CONNECT_LIMIT) {
        Ok(socket) => socket,
        Err(error) => return (blocked(error), None),
    };
    let connected = begin.elapsed();
    let address = net::local_address(socket.as_fd()).ok().map(|address| address.ip());
    (answered(&socket, cookie, connected), address)
}

fn answered(socket: &OwnedFd, cookie: &Cookie, connected: Duration) -> PathPassage {
    let begin = Instant::now();
    let preamble = Preamble::encode(ConnectionRole::Probe, 0, cookie);
    let mut answer = [0; CHALLENGE_LENGTH];
    let mut exchange = || {
        net::send(socket.as_fd(), &preamble)?;
        net::set_receive_timeout(socket.as_fd(), Some(ANSWER_LIMIT + connected * 4))?;
        net::receive(socket.as_fd(), &mut answer)
    };
    let outcome = exchange();
    match outcome {
        Ok(length)
            if Challenge::parse(&answer[..length]).is_ok_and(|its| its.tag == cookie.tag()) =>
        {
            passing(connected.min(begin.elapsed()))
        }
        // The connection was made, and then something else came, or nothing.
        Ok(_) | Err(net::Errno::CONNRESET | net::Errno::AGAIN | net::Errno::TIMEDOUT) => {
            failing(PathFault::NoAnswer, None)
        }
        Err(error) => blocked(error),
    }
}

fn look_by_udp(
    peer: SocketAddr,
    local: &net::LocalEnd,
    cookie: &Cookie,
    round_trip: Option<Duration>,
) -> (PathPassage, Sizes) {
    let Some(probe) = Probe::open(peer, local, cookie, round_trip.unwrap_or(UNKNOWN_ROUND_TRIP))
    else {
        return (failing(PathFault::Unreachable, None), Sizes::default());
    };
    let mut last = net::Errno::AGAIN;
    let first = (0..HELLOS).find_map(|_| probe.round_trip().map_err(|error| last = error).ok());
    let Some(first) = first else {
        return (blocked(last), Sizes::default());
    };
    let more = (1..ROUND_TRIPS).filter_map(|_| probe.round_trip().ok());
    (passing(more.fold(first, Duration::min)), probe.sizes())
}

fn passing(round_trip: Duration) -> PathPassage {
    let round_trip_seconds = Some(round_trip.as_secs_f64());
    PathPassage { passes: true, round_trip_seconds, fault: None, message: None }
}

fn failing(fault: PathFault, message: Option<String>) -> PathPassage {
    PathPassage { passes: false, round_trip_seconds: None, fault: Some(fault), message }
}

fn blocked(error: net::Errno) -> PathPassage {
    match error {
        net::Errno::AGAIN | net::Errno::TIMEDOUT => failing(PathFault::TimedOut, None),
        net::Errno::CONNREFUSED => failing(PathFault::Refused, None),
        other => failing(PathFault::Unreachable, Some(other.to_string())),
    }
}
