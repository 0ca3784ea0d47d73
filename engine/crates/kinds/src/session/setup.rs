//! What both ends check and bring to a test.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use proto::{Facts, FailureCode, LinkMessage, Role};

use crate::kind::End;
use crate::line::{Failure, Line, Signal};
use crate::settings::EndSettings;

/// How long the peer may take for one step of the set-up.
pub const STEP_LIMIT: Duration = Duration::from_secs(10);

/// A test that can begin.
pub struct Setup {
    /// This end.
    pub end: Arc<End>,
    /// This host's facts.
    pub facts: Facts,
    /// The peer host's facts.
    pub peer_facts: Facts,
    /// The peer engine's version.
    pub peer_version: String,
}

/// Refuses what this host can't do, before anything is connected.
pub fn check_host(settings: &EndSettings, role: Role) -> Result<(), Failure> {
    let name = &settings.options.congestion_control;
    if name.is_empty() {
        return Ok(());
    }
    let options = net::Options { congestion_control: name.clone(), ..net::Options::default() };
    let anywhere = std::net::SocketAddr::from(([127, 0, 0, 1], 1));
    let Err(error) = net::open_tcp(anywhere, &net::LocalEnd::default(), &options) else {
        return Ok(());
    };
    let available = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control")
        .unwrap_or_else(|error| format!("(unknown: {error})"));
    let end = if role == Role::Source { "source" } else { "sink" };
    let reason = format!(
        "the {end} host has no congestion control {name:?} ({error}); it has: {}",
        available.trim()
    );
    Err(Failure::new(FailureCode::Invalid, reason))
}

/// Waits for one message of the link; anything else at this place is a fault of the peer's.
pub fn expect<T>(
    line: &mut Line,
    what: &str,
    pick: impl Fn(LinkMessage) -> Result<T, LinkMessage>,
) -> Result<T, Failure> {
    match line.wait(Instant::now() + STEP_LIMIT)? {
        Some(Signal::Link(message)) => pick(message).map_err(|other| {
            Failure::new(
                FailureCode::Refused,
                format!("expected {what} on the link, got {other:?}"),
            )
        }),
        Some(_) => Err(Failure::internal(format!("expected {what} on the link, got a signal"))),
        None => Err(Failure::new(
            FailureCode::PeerLost,
            format!("the other end sent no {what} within {} s", STEP_LIMIT.as_secs()),
        )),
    }
}

/// The failure for a kernel that says no.
pub fn refused_by_kernel(what: &str, error: net::Errno) -> Failure {
    Failure::new(FailureCode::Invalid, format!("{what}: {error}"))
}
