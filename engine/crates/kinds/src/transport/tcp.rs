//! One TCP connection per flow.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::thread;
use std::time::Duration;

use proto::wire::ConnectionRole;
use proto::{Role, reason};

use super::aside::{connect_aside, connect_one};
use super::{Connected, Plan, Transport, apply_options};
use crate::failure::Failure;
use crate::line::Line;
use crate::line::steps::{FLOWS_LIMIT, wait_for_flows, wait_for_flows_ready};

/// How long a flow's connection may take, round trips apart.
const FLOW_LIMIT: Duration = Duration::from_secs(5);
/// Threads that connect flows: fewer than the shortest queue that a listener has on Linux.
const CONNECTING_AT_ONCE: u32 = 64;
/// For so few flows another thread is not worth its start.
const FLOWS_PER_THREAD: u32 = 16;

/// One TCP connection per flow.
pub struct Tcp;

impl Transport for Tcp {
    fn connect(
        &self,
        plan: &Plan,
        line: &mut Line,
        to: SocketAddr,
        local: &net::LocalEnd,
    ) -> Result<Connected, Failure> {
        let flows = connect_tcp_flows(plan, line, to, local)?;
        Ok(Connected { flows, ..Connected::default() })
    }

    fn accept(
        &self,
        plan: &Plan,
        line: &mut Line,
        mut early: BTreeMap<u32, OwnedFd>,
    ) -> Result<Connected, Failure> {
        wait_for_flows(line, plan.settings.flows, &mut early)?;
        apply_options(plan, &early, true)?;
        Ok(Connected { flows: early.into_values().collect(), ..Connected::default() })
    }

    fn wait_for_peer(&self, line: &mut Line, flows: u32) -> Result<(), Failure> {
        wait_for_flows_ready(line, flows, |_| {})
    }

    fn end_sending(&self, flows: &[OwnedFd]) {
        flows.iter().for_each(net::end_sending);
    }

    fn has_connections(&self) -> bool {
        true
    }
}

fn connect_tcp_flows(
    plan: &Plan,
    line: &mut Line,
    peer: SocketAddr,
    local: &net::LocalEnd,
) -> Result<Vec<OwnedFd>, Failure> {
    let (cookie, local) = (plan.cookie.clone(), local.clone());
    let options = plan.settings.end(Role::Source).options.clone();
    let count = plan.settings.flows;
    let (limit, all_limit) = (line.patience(FLOW_LIMIT), line.patience(FLOWS_LIMIT));
    connect_aside(line, all_limit, move || {
        let ends = (&local, &options);
        let connect = |index| connect_one(&cookie, ConnectionRole::Flow, index, peer, ends, limit);
        connect_side_by_side(count, &connect)
    })
}

/// Connects the flows in parts, a thread each: one after the other, thousands would each wait a round trip.
fn connect_side_by_side(
    count: u32,
    connect: &(impl Fn(u32) -> Result<OwnedFd, Failure> + Sync),
) -> Result<Vec<OwnedFd>, Failure> {
    let part = count.div_ceil(CONNECTING_AT_ONCE).max(FLOWS_PER_THREAD);
    thread::scope(|scope| {
        let parts: Vec<_> = (0..count)
            .step_by(part as usize)
            .map(|first| {
                let last = (first + part).min(count);
                scope.spawn(move || (first..last).map(connect).collect::<Result<Vec<_>, _>>())
            })
            .collect();
        let mut sockets = Vec::with_capacity(count as usize);
        for part in parts {
            let connected =
                part.join().map_err(|_| Failure::internal(reason!("setup_connecting_panicked")))?;
            sockets.extend(connected?);
        }
        Ok(sockets)
    })
}
