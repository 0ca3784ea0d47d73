//! The steps of a set-up in which one end waits for the other.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use proto::{FailureCode, LinkMessage, Reason, reason};

use crate::failure::Failure;
use crate::line::Line;
use crate::line::signal::Signal;
use crate::supply::Supply;

/// How long a near peer may take for one step of the set-up.
pub const STEP_LIMIT: Duration = Duration::from_secs(10);

/// How long the flows of a test may take to be connected, all together.
pub const FLOWS_LIMIT: Duration = Duration::from_secs(60);

/// Waits for one message of the link; anything else at this place is a fault of the peer's.
pub fn expect<T>(
    line: &mut Line,
    what: &str,
    pick: impl Fn(LinkMessage) -> Result<T, LinkMessage>,
) -> Result<T, Failure> {
    let limit = line.patience(STEP_LIMIT);
    match line.wait(Instant::now() + limit)? {
        Some(Signal::Link(message)) => pick(message).map_err(|other| {
            let reason = reason!("setup_other_message", what = what, other = format!("{other:?}"));
            Failure::new(FailureCode::Refused, reason)
        }),
        Some(_) => Err(Failure::internal(reason!("setup_signal", what = what))),
        None => Err(Failure::new(
            FailureCode::PeerLost,
            reason!("setup_no_message", what = what, seconds = limit.as_secs()),
        )),
    }
}

/// Waits until the sink has every flow.
pub fn wait_for_flows_ready(
    line: &mut Line,
    count: u32,
    on_ready: impl Fn(u32),
) -> Result<(), Failure> {
    let mut ready = std::collections::BTreeSet::new();
    while ready.len() < count as usize {
        match line.wait(Instant::now() + line.patience(STEP_LIMIT))? {
            Some(Signal::Link(LinkMessage::FlowReady { index })) => {
                on_ready(index);
                ready.insert(index);
            }
            Some(Signal::Connected(Err(failure))) => return Err(failure),
            Some(_) => {}
            None => {
                let reason = reason!("setup_flows_not_ready", some = ready.len(), count = count);
                return Err(Failure::new(FailureCode::Unreachable, reason));
            }
        }
    }
    Ok(())
}

/// Waits until the agent has handed over every flow.
///
/// # Errors
/// When one doesn't come in time.
pub fn wait_for_flows(
    line: &mut Line,
    count: u32,
    flows: &mut BTreeMap<u32, OwnedFd>,
) -> Result<(), Failure> {
    let mut until = Instant::now() + line.patience(STEP_LIMIT);
    while flows.len() < count as usize {
        match line.wait(until)? {
            Some(Signal::Supply(Supply::Flow { index, fd })) if index < count => {
                flows.insert(index, fd);
                until = Instant::now() + line.patience(STEP_LIMIT);
            }
            Some(_) => {}
            None => {
                let reason = reason!("setup_flows_missing", some = flows.len(), count = count);
                return Err(Failure::new(FailureCode::Unreachable, reason));
            }
        }
    }
    Ok(())
}

/// The failure for a kernel that says no.
pub fn refused_by_kernel(what: Reason, error: net::Errno) -> Failure {
    let reason = Reason::joined([what, error.to_string().into()], ": ");
    Failure::new(FailureCode::Invalid, reason)
}
