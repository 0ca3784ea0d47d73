//! The sink's way to the start: it is supplied with connections and answers on the link.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use proto::{FailureCode, Lane, LinkMessage, Role};

use super::Brief;
use super::path::Path;
use super::setup::{Greeting, STEP_LIMIT, Setup, check_segments, expect, refused_by_kernel};
use crate::end::{End, HandedOver, Lent};
use crate::failure::Failure;
use crate::kind::Transport;
use crate::line::Line;
use crate::link::Link;
use crate::signal::Signal;
use crate::supply::Supply;
use crate::{facts, tcp_crr};

/// How long a prepared sink waits for its source.
const LINK_LIMIT: Duration = Duration::from_secs(60);

/// Says that it is prepared, and waits until link and flows are there.
pub fn prepare(brief: &Brief, line: &mut Line) -> Result<Setup, Failure> {
    let facts = facts::facts();
    brief.outbox.prepared();
    let mut flows = BTreeMap::new();
    let link = wait_for_link(brief, line, &mut flows)?;
    line.set_link(link);
    let Greeting { facts: peer_facts, version: peer_version, are_small_numbered, .. } =
        greet(brief, line)?;
    let ready = LinkMessage::Ready {
        facts: Box::new(facts.clone()),
        version: proto::ENGINE_VERSION.to_owned(),
        numbers_small_datagrams: true,
        answers_padded_hellos: true,
    };
    line.tell(&ready)?;
    let transport = brief.kind.transport(&brief.settings);
    let lent = match transport {
        Transport::Connections => Some(borrow_listener(brief, line)?),
        Transport::Tcp | Transport::Udp | Transport::None => None,
    };
    if matches!(transport, Transport::Tcp | Transport::Udp) {
        wait_for_flows(brief, line, &mut flows)?;
    }
    let end = End {
        role: Role::Sink,
        settings: brief.settings.clone(),
        params: brief.spec.params.clone(),
        cookie: brief.spec.cookie.clone(),
        load: brief.load.clone(),
        flows: flows.into_values().collect(),
        peer: None,
        local: net::LocalEnd::default(),
        are_small_numbered,
        lent,
        ports: None,
        round_trip: Duration::ZERO,
        wake: net::Wake::new().map_err(|error| refused_by_kernel("no descriptor left", error))?,
    };
    check_segments(&end)?;
    Ok(Setup { end: Arc::new(end), facts, peer_facts, peer_version, path: Path::default() })
}

fn wait_for_link(
    brief: &Brief,
    line: &mut Line,
    flows: &mut BTreeMap<u32, OwnedFd>,
) -> Result<Link, Failure> {
    let until = Instant::now() + LINK_LIMIT + brief.patience;
    loop {
        match line.wait(until)? {
            Some(Signal::Supply(Supply::Link(socket))) => {
                return Link::new(socket, line.sender()).map_err(|error| {
                    Failure::internal(format!("the link can't be used: {error}"))
                });
            }
            Some(Signal::Supply(Supply::Flow { index, fd })) => {
                flows.insert(index, fd);
            }
            Some(_) => {}
            None => {
                let reason = "no source came within 60 s; can it reach this engine's data port?";
                return Err(Failure::new(FailureCode::Unreachable, reason));
            }
        }
    }
}

/// Both ends must be about the same test.
fn greet(brief: &Brief, line: &mut Line) -> Result<Greeting, Failure> {
    let (kind, params, greeting) = expect(line, "hello", |message| match message {
        LinkMessage::Hello { kind, params, facts, version, numbers_small_datagrams } => {
            let are_small_numbered = numbers_small_datagrams;
            Ok((
                kind,
                params,
                Greeting { facts: *facts, version, are_small_numbered, answers_padded: false },
            ))
        }
        other => Err(other),
    })?;
    if kind != brief.spec.kind || params != brief.spec.params {
        let reason = format!(
            "the source is about {kind} with other parameters than this sink's {}; create both sessions from one test",
            brief.spec.kind
        );
        return Err(Failure::new(FailureCode::Invalid, reason));
    }
    Ok(greeting)
}

fn wait_for_flows(
    brief: &Brief,
    line: &mut Line,
    flows: &mut BTreeMap<u32, OwnedFd>,
) -> Result<(), Failure> {
    let count = brief.settings.flows;
    let mut until = Instant::now() + line.patience(STEP_LIMIT);
    while flows.len() < count as usize {
        match line.wait(until)? {
            Some(Signal::Supply(Supply::Flow { index, fd })) if index < count => {
                flows.insert(index, fd);
                until = Instant::now() + line.patience(STEP_LIMIT);
            }
            Some(_) => {}
            None => {
                let reason = format!("only {} of {count} flows arrived", flows.len());
                return Err(Failure::new(FailureCode::Unreachable, reason));
            }
        }
    }
    let options = &brief.settings.end(Role::Sink).options;
    let is_tcp = brief.kind.transport(&brief.settings) == Transport::Tcp;
    for socket in flows.values() {
        let is_ipv4 = net::local_address(socket.as_fd()).is_ok_and(|address| address.is_ipv4());
        net::apply(socket.as_fd(), options, is_ipv4, is_tcp).map_err(|error| {
            refused_by_kernel("the sink's kernel refuses a socket option", error)
        })?;
    }
    Ok(())
}

fn borrow_listener(brief: &Brief, line: &mut Line) -> Result<Lent, Failure> {
    let (first, last) = expect(line, "register", |message| match message {
        LinkMessage::Register { first, last, .. } => Ok((first, last)),
        other => Err(other),
    })?;
    if !tcp_crr::is_part_of_ports((first, last)) {
        let reason = format!(
            "the source registers the ports {first} to {last}, which is no range of a test"
        );
        return Err(Failure::new(FailureCode::Refused, reason));
    }
    // Only the link's own address may be registered: nobody else's connections are ours.
    let socket = line.link().ok_or_else(|| Failure::internal("there is no link"))?.socket().as_fd();
    let address = net::peer_address(socket)
        .map_err(|error| refused_by_kernel("the link's peer is unknown", error))?
        .ip();
    brief.outbox.register_ports(Lane::Test, address, first, last);
    let handed_over = HandedOver::default();
    let listener = loop {
        match line.wait(Instant::now() + STEP_LIMIT)? {
            Some(Signal::Supply(Supply::Listener(listener))) => break listener,
            Some(Signal::Supply(Supply::Flow { fd, .. })) => handed_over.push(fd),
            Some(_) => {}
            None => return Err(Failure::internal("the agent lent no listener")),
        }
    };
    net::block(&listener)
        .map_err(|error| refused_by_kernel("the lent listener can't be used", error))?;
    line.tell(&LinkMessage::Registered)?;
    Ok(Lent {
        listener,
        address,
        ports: (first, last),
        outbox: Arc::clone(&brief.outbox),
        handed_over,
    })
}
