//! A TCP connection per transaction, on the lent listener.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Instant;

use proto::{FailureCode, Lane, LinkMessage, reason};

use super::{Connected, Plan, Transport, ports};
use crate::end::{HandedOver, Lent};
use crate::failure::Failure;
use crate::line::Line;
use crate::line::signal::Signal;
use crate::line::steps::{STEP_LIMIT, expect, refused_by_kernel};
use crate::supply::Supply;

/// Connections that come and go: the sink tells them by their registered source ports.
pub struct Connections;

impl Transport for Connections {
    fn connect(
        &self,
        _plan: &Plan,
        line: &mut Line,
        _to: SocketAddr,
        _local: &net::LocalEnd,
    ) -> Result<Connected, Failure> {
        Ok(Connected { ports: Some(register_ports(line)?), ..Connected::default() })
    }

    fn accept(
        &self,
        plan: &Plan,
        line: &mut Line,
        early: BTreeMap<u32, OwnedFd>,
    ) -> Result<Connected, Failure> {
        let lent = Some(borrow_listener(plan, line)?);
        Ok(Connected { flows: early.into_values().collect(), lent, ..Connected::default() })
    }
}

fn register_ports(line: &mut Line) -> Result<(u16, u16), Failure> {
    let (first, last) = ports::choose_ports().map_err(Failure::internal)?;
    line.tell(&LinkMessage::Register { address: None, first, last })?;
    expect(line, "registered", |message| match message {
        LinkMessage::Registered => Ok(()),
        other => Err(other),
    })?;
    Ok((first, last))
}

fn borrow_listener(plan: &Plan, line: &mut Line) -> Result<Lent, Failure> {
    let (first, last) = expect(line, "register", |message| match message {
        LinkMessage::Register { first, last, .. } => Ok((first, last)),
        other => Err(other),
    })?;
    if !ports::is_part_of_ports((first, last)) {
        let reason = reason!("setup_ports_refused", first = first, last = last);
        return Err(Failure::new(FailureCode::Refused, reason));
    }
    // Only the link's own address may be registered: nobody else's connections are ours.
    let socket =
        line.link().ok_or_else(|| Failure::internal(reason!("says_no_link_yet")))?.socket().as_fd();
    let address = net::peer_address(socket)
        .map_err(|error| refused_by_kernel(reason!("setup_peer_unknown"), error))?
        .ip();
    plan.outbox.register_ports(Lane::Test, address, first, last);
    let handed_over = HandedOver::default();
    let listener = loop {
        match line.wait(Instant::now() + STEP_LIMIT)? {
            Some(Signal::Supply(Supply::Listener(listener))) => break listener,
            Some(Signal::Supply(Supply::Flow { fd, .. })) => handed_over.push(fd),
            Some(_) => {}
            None => return Err(Failure::internal(reason!("setup_no_listener"))),
        }
    };
    net::block(&listener)
        .map_err(|error| refused_by_kernel(reason!("setup_listener_unusable"), error))?;
    line.tell(&LinkMessage::Registered)?;
    Ok(Lent {
        listener,
        address,
        ports: (first, last),
        outbox: Arc::clone(plan.outbox),
        handed_over,
    })
}
