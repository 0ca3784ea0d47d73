//! The source's way to the start: it opens every connection.

use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use proto::wire::ConnectionRole;
use proto::{FailureCode, LinkMessage, Role, SessionSpec, reason};

use super::path::Path;
use super::{Greeting, Setup};
use crate::end::End;
use crate::facts;
use crate::failure::Failure;
use crate::line::Line;
use crate::line::link::Link;
use crate::line::signal::Signal;
use crate::line::steps::{expect, refused_by_kernel};
use crate::path::probe;
use crate::session::Brief;
use crate::transport::aside::{connect_aside, connect_one};

/// How long the link may take to be connected, whose round trip nobody knows yet: 3 s and a packet lost three times.
const LINK_LIMIT: Duration = Duration::from_secs(12);
/// How long a session that was cancelled waits for its link, to say so there; a cancel is promised within 500 ms.
const LATE_LINK_LIMIT: Duration = Duration::from_millis(100);
/// How long a kind's own server may take: its name, and the first connection.
const REACH_LIMIT: Duration = Duration::from_secs(15);
/// Connects link and flows.
pub fn prepare(brief: &Brief, line: &mut Line) -> Result<Setup, Failure> {
    let peer = peer(&brief.spec)?;
    let local = local_end(&brief.spec);
    let facts = facts::facts();
    connect_link(&brief.spec.cookie, line, peer, &local)?;
    let Greeting { facts: peer_facts, version: peer_version, are_small_numbered, answers_padded } =
        greet(brief, line, &facts)?;
    let path =
        if answers_padded { probe_path(brief, line, peer, &local)? } else { Path::default() };
    let server = reach_server(brief, line)?;
    let connected = brief.transport.connect(&brief.connection_plan(), line, peer, &local)?;
    let end = End {
        role: Role::Source,
        settings: brief.settings.clone(),
        cookie: brief.spec.cookie.clone(),
        load: brief.load.clone(),
        flows: connected.flows,
        peer: Some(server.unwrap_or(peer)),
        local,
        are_small_numbered,
        lent: connected.lent,
        ports: connected.ports,
        round_trip: line.round_trip(),
        wake: net::Wake::new()
            .map_err(|error| refused_by_kernel(reason!("setup_no_descriptor"), error))?,
    };
    brief.kind.check_flows(&end).map_err(|reason| Failure::new(FailureCode::Invalid, reason))?;
    Ok(Setup { end: Arc::new(end), facts, peer_facts, peer_version, path })
}

fn peer(spec: &SessionSpec) -> Result<SocketAddr, Failure> {
    let peer = spec
        .peer
        .as_ref()
        .ok_or_else(|| Failure::new(FailureCode::Invalid, reason!("setup_no_peer")))?;
    Ok(SocketAddr::new(peer.address, peer.data_port))
}

fn local_end(spec: &SessionSpec) -> net::LocalEnd {
    let bind = spec.bind.clone().unwrap_or_default();
    net::LocalEnd { address: bind.address, device: bind.device }
}

/// The address of the server that a kind names, reached once; names and first connections may take their time.
fn reach_server(brief: &Brief, line: &mut Line) -> Result<Option<SocketAddr>, Failure> {
    let kind = Arc::clone(&brief.kind);
    if brief.transport.is_between_ends() {
        return Ok(None);
    }
    let reached = connect_aside(line, REACH_LIMIT, move || {
        kind.reach().map(|socket| socket.into_iter().collect())
    })?;
    let mut addresses = reached.iter().map(|socket| net::peer_address(socket.as_fd()));
    addresses
        .next()
        .transpose()
        .map_err(|error| refused_by_kernel(reason!("setup_server_unknown"), error))
}

/// Opens the link. Where the session ends meanwhile, the link is used still, so that the sink can be told why:
/// it may have it already, and would take its end for a lost peer's.
fn connect_link(
    cookie: &proto::Cookie,
    line: &mut Line,
    peer: SocketAddr,
    local: &net::LocalEnd,
) -> Result<(), Failure> {
    let (cookie, local) = (cookie.clone(), local.clone());
    let connected = connect_aside(line, LINK_LIMIT * 2, move || {
        let options = net::Options { small_segments: true, ..net::Options::default() };
        let ends = (&local, &options);
        let socket = connect_one(&cookie, ConnectionRole::Link, 0, peer, ends, LINK_LIMIT)?;
        Ok(vec![socket])
    });
    match connected {
        Ok(sockets) => use_link(line, sockets),
        Err(failure) => {
            if failure.code != FailureCode::Unreachable {
                let until = Instant::now() + LATE_LINK_LIMIT;
                if let Some(Signal::Connected(Ok(sockets))) = line.next_of_any_kind(until) {
                    use_link(line, sockets)?;
                }
            }
            Err(failure)
        }
    }
}

fn use_link(line: &mut Line, sockets: Vec<OwnedFd>) -> Result<(), Failure> {
    for socket in sockets {
        let link = Link::new(socket, line.sender()).map_err(|error| {
            Failure::internal(reason!("setup_link_unusable", why = error.to_string()))
        })?;
        line.set_link(link);
    }
    Ok(())
}

fn greet(brief: &Brief, line: &mut Line, facts: &proto::Facts) -> Result<Greeting, Failure> {
    line.tell(&LinkMessage::Hello {
        kind: brief.spec.kind.clone(),
        params: brief.spec.params.clone(),
        facts: Box::new(facts.clone()),
        version: proto::ENGINE_VERSION.to_owned(),
        numbers_small_datagrams: true,
    })?;
    let ready = expect(line, "ready", |message| match message {
        LinkMessage::Ready { facts, version, numbers_small_datagrams, answers_padded_hellos } => {
            Ok(Greeting {
                facts: *facts,
                version,
                are_small_numbered: numbers_small_datagrams,
                answers_padded: answers_padded_hellos,
            })
        }
        other => Err(other),
    });
    ready.map_err(|failure| match failure.code {
        // An engine that doesn't know the cookie closes the connection without a word; silence has other reasons.
        FailureCode::PeerLost if line.is_closed() => {
            Failure::new(FailureCode::Refused, reason!("setup_link_refused", why = failure.reason))
        }
        _ => failure,
    })
}

/// Looks for packets that vanish, in a thread of its own, so that both ends go on saying that they live.
fn probe_path(
    brief: &Brief,
    line: &mut Line,
    peer: SocketAddr,
    local: &net::LocalEnd,
) -> Result<Path, Failure> {
    let (cookie, local, round_trip) = (brief.spec.cookie.clone(), local.clone(), line.round_trip());
    let found = probe::Found::default();
    let noted = Arc::clone(&found);
    let limit = line.patience(probe::LIMIT);
    connect_aside(line, limit, move || {
        probe::look(peer, &local, &cookie, round_trip, &noted);
        Ok(Vec::new())
    })?;
    let sizes = *found.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok(Path::found(&sizes, peer.is_ipv4()))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::supply::Supply;

    #[test]
    fn a_source_that_is_cancelled_while_it_connects_has_the_link_to_say_so() {
        let sink = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let peer = sink.local_addr().expect("bound");
        let cookie = proto::Cookie::parse(&"ab".repeat(32)).expect("a cookie");
        let local = net::LocalEnd { address: None, device: None };
        let mut line = Line::new();
        let reason = "enough".into();
        let cancel = Supply::Cancel { code: FailureCode::Cancelled, reason };
        line.sender().send(Signal::Supply(cancel)).expect("the line listens");
        let failure = connect_link(&cookie, &mut line, peer, &local).expect_err("it is cancelled");
        assert_eq!(failure.code, FailureCode::Cancelled);
        assert!(line.link().is_some());
    }
}
