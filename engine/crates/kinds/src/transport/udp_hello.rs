//! The source's side of the UDP hello: shows that it receives where it says it does.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use proto::wire::{CHALLENGE_LENGTH, Challenge, Preamble};
use proto::{Cookie, FailureCode, Role, reason};

use super::Plan;
use crate::failure::Failure;
use crate::line::Line;
use crate::line::signal::Signal;
use crate::line::steps::{FLOWS_LIMIT, wait_for_flows_ready};

/// Hellos without an answer are repeated after so long, or a round trip; then each half as late again as the one before.
const HELLO_INTERVAL: Duration = Duration::from_millis(100);
const LONGEST_INTERVAL: Duration = Duration::from_secs(1);
/// A near sink has answered by then.
const HELLO_LIMIT: Duration = Duration::from_secs(3);
/// How often answers are looked for: much shorter than a set-up may take.
const LOOK_INTERVAL: Duration = Duration::from_micros(200);

/// Flows that the sink has, or that nobody waits for any more.
type Ready = Arc<Mutex<BTreeSet<u32>>>;

/// Opens every flow and repeats hellos until the sink has them all.
pub fn connect(
    plan: &Plan,
    line: &mut Line,
    peer: SocketAddr,
    local: &net::LocalEnd,
) -> Result<Vec<OwnedFd>, Failure> {
    let count = plan.settings.flows;
    let options = &plan.settings.end(Role::Source).options;
    let sockets = (0..count)
        .map(|_| net::open_udp(peer, local, options))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| {
            let (peer, why) = (peer.to_string(), error.to_string());
            Failure::new(
                FailureCode::Unreachable,
                reason!("setup_no_udp_socket", peer = peer, why = why),
            )
        })?;
    let sockets = Arc::new(sockets);
    let ready = Ready::default();
    let greeter = greet_aside(line, peer, &sockets, &ready, plan.cookie);
    let outcome = wait_for_flows_ready(line, count, |index| mark_ready(&ready, index));
    (0..count).for_each(|index| mark_ready(&ready, index));
    greeter.join().map_err(|_| Failure::internal(reason!("setup_greeting_panicked")))?;
    outcome?;
    let sockets = Arc::into_inner(sockets)
        .ok_or_else(|| Failure::internal(reason!("setup_greeting_unfinished")))?;
    sockets.iter().for_each(drain);
    Ok(sockets)
}

fn mark_ready(ready: &Ready, index: u32) {
    ready.lock().unwrap_or_else(PoisonError::into_inner).insert(index);
}

fn greet_aside(
    line: &Line,
    peer: SocketAddr,
    sockets: &Arc<Vec<OwnedFd>>,
    ready: &Ready,
    cookie: &Cookie,
) -> thread::JoinHandle<()> {
    let (sockets, ready, cookie) = (Arc::clone(sockets), Arc::clone(ready), cookie.clone());
    let signals = line.sender();
    let times = Times {
        first_interval: HELLO_INTERVAL.max(line.round_trip()),
        limit: line.patience(HELLO_LIMIT),
        all_limit: line.patience(FLOWS_LIMIT),
    };
    thread::spawn(move || {
        if !greet_all(&sockets, &ready, &cookie, &times) {
            let (peer, port) = (peer.to_string(), peer.port());
            let seconds = times.limit.as_secs();
            let reason =
                reason!("setup_udp_unanswered", peer = peer, seconds = seconds, port = port);
            // The session may have ended by another reason meanwhile.
            let _ = signals
                .send(Signal::Connected(Err(Failure::new(FailureCode::Unreachable, reason))));
        }
    })
}

/// How long hellos take, by the path's round trip.
struct Times {
    first_interval: Duration,
    limit: Duration,
    all_limit: Duration,
}

/// Greets until all flows are ready, or the time is over.
fn greet_all(sockets: &[OwnedFd], ready: &Ready, cookie: &Cookie, times: &Times) -> bool {
    let begin = Instant::now();
    let (mut next_hello, mut last_ready, mut known) = (begin, begin, 0);
    let mut interval = times.first_interval;
    // Thousands of flows take a busy host longer: as long as one after the other gets ready, it answers.
    while last_ready.elapsed() < times.limit && begin.elapsed() < times.all_limit {
        let done = ready.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if done.len() >= sockets.len() {
            return true;
        }
        if done.len() > known {
            (known, last_ready) = (done.len(), Instant::now());
        }
        let is_hello_due = Instant::now() >= next_hello;
        for (index, socket) in (0_u32..).zip(sockets).filter(|(index, _)| !done.contains(index)) {
            if is_hello_due {
                // A lost or refused hello is repeated.
                let _ = net::send(socket.as_fd(), &Preamble::encode_hello(index, cookie));
            }
            answer(socket, index, cookie);
        }
        if is_hello_due {
            next_hello = Instant::now() + interval;
            interval = (interval * 3 / 2).min(LONGEST_INTERVAL.max(times.first_interval));
        }
        thread::sleep(LOOK_INTERVAL);
    }
    false
}

fn answer(socket: &OwnedFd, index: u32, cookie: &Cookie) {
    let mut buffer = [0; CHALLENGE_LENGTH + 1];
    while let Ok(bytes) = net::receive_now(socket.as_fd(), &mut buffer) {
        let challenge = Challenge::parse(&buffer[..bytes]);
        if let Some(challenge) = challenge.ok().filter(|challenge| challenge.flow_index == index) {
            let _ = net::send(socket.as_fd(), &challenge.answer(cookie));
        }
    }
}

/// Throws late answers away, so that none is taken for a response.
fn drain(socket: &OwnedFd) {
    let mut buffer = [0; CHALLENGE_LENGTH + 1];
    while net::receive_now(socket.as_fd(), &mut buffer).is_ok() {}
}
