//! The sink's way to the start: it is supplied with connections and answers on the link.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use proto::{FailureCode, LinkMessage, Role, reason};

use super::path::Path;
use super::{Greeting, Setup};
use crate::end::End;
use crate::facts;
use crate::failure::Failure;
use crate::line::Line;
use crate::line::link::Link;
use crate::line::signal::Signal;
use crate::line::steps::{expect, refused_by_kernel};
use crate::session::Brief;
use crate::supply::Supply;

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
    let connected = brief.transport.accept(&brief.connection_plan(), line, flows)?;
    let end = End {
        role: Role::Sink,
        settings: brief.settings.clone(),
        cookie: brief.spec.cookie.clone(),
        load: brief.load.clone(),
        flows: connected.flows,
        peer: None,
        local: net::LocalEnd::default(),
        are_small_numbered,
        lent: connected.lent,
        ports: connected.ports,
        round_trip: Duration::ZERO,
        wake: net::Wake::new()
            .map_err(|error| refused_by_kernel(reason!("setup_no_descriptor"), error))?,
    };
    brief.kind.check_flows(&end).map_err(|reason| Failure::new(FailureCode::Invalid, reason))?;
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
                    Failure::internal(reason!("setup_link_unusable", why = error.to_string()))
                });
            }
            Some(Signal::Supply(Supply::Flow { index, fd })) => {
                flows.insert(index, fd);
            }
            Some(_) => {}
            None => {
                let reason = reason!("setup_no_source", seconds = LINK_LIMIT.as_secs());
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
        let own = brief.spec.kind.as_str();
        let reason = reason!("setup_other_test", kind = kind, own_kind = own);
        return Err(Failure::new(FailureCode::Invalid, reason));
    }
    Ok(greeting)
}
