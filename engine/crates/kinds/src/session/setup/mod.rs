//! What both ends check and bring to a test.

mod path;
mod sink;
mod source;

use std::fs;
use std::sync::Arc;

use proto::{Facts, FailureCode, Reason, Role, reason};

use self::path::Path;
use super::Brief;
use crate::end::End;
use crate::failure::Failure;
use crate::line::Line;
use crate::roles::role_word;
use crate::settings::EndSettings;

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
    /// What is wrong with the path, found by a source.
    pub path: Path,
}

/// What the other end says of itself on the link.
pub struct Greeting {
    /// Its host's facts.
    pub facts: Facts,
    /// Its engine's version.
    pub version: String,
    /// Whether it numbers datagrams of less than 32 bytes, as this end does.
    pub are_small_numbered: bool,
    /// Whether its agent answers padded hellos.
    pub answers_padded: bool,
}

/// Connects what this end's test needs.
///
/// # Errors
/// When the other end can't be reached, or is about another test.
pub fn prepare(brief: &Brief, line: &mut Line) -> Result<Setup, Failure> {
    match brief.spec.role {
        Role::Source => source::prepare(brief, line),
        Role::Sink => sink::prepare(brief, line),
    }
}

/// Refuses what this host can't do, before anything is connected.
pub fn check_host(settings: &EndSettings, role: Role) -> Result<(), Failure> {
    check_cpus(&settings.cpus, role)?;
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
        .map_or_else(
            |error| reason!("setup_unknown_names", why = error.to_string()),
            |names| Reason::from(names.trim()),
        );
    let reason = reason!(
        "setup_no_congestion_control",
        end = role_word(role),
        name = format!("{name:?}"),
        why = error.to_string(),
        available = available
    );
    Err(Failure::new(FailureCode::Invalid, reason))
}

fn check_cpus(asked: &[usize], role: Role) -> Result<(), Failure> {
    // A host that doesn't tell its CPUs is not refused: a thread that can't be pinned is flagged later.
    let Ok(text) = fs::read_to_string("/sys/devices/system/cpu/present") else {
        return Ok(());
    };
    match missing_cpu(asked, text.trim()) {
        None => Ok(()),
        Some(cpu) => {
            let end = role_word(role);
            let reason = reason!(
                "setup_cpu_missing",
                name = format!("{end}_cpus"),
                cpu = cpu,
                end = end,
                present = text.trim()
            );
            Err(Failure::new(FailureCode::Invalid, reason))
        }
    }
}

/// The first CPU asked for that is not among those present.
fn missing_cpu(asked: &[usize], present: &str) -> Option<usize> {
    let present = net::parse_cpu_list(present)?;
    asked.iter().find(|cpu| !present.contains(cpu)).copied()
}

/// Descriptors that a session has beside its flows: link, channel, pollers, files that are read.
const OTHER_DESCRIPTORS: u64 = 64;

/// Refuses what would run out of descriptors half-way.
pub fn check_descriptors(flows: u32, role: Role) -> Result<(), Failure> {
    let needed = u64::from(flows) + OTHER_DESCRIPTORS;
    let Some(limit) = net::descriptor_limit().filter(|&limit| limit < needed) else {
        return Ok(());
    };
    let reason = reason!(
        "setup_descriptors",
        flows = flows,
        needed = needed,
        end = role_word(role),
        limit = limit
    );
    Err(Failure::new(FailureCode::Limit, reason))
}

#[cfg(test)]
mod tests {
    use proto::{FailureCode, Role};

    use super::{check_cpus, missing_cpu};

    #[test]
    fn a_cpu_that_is_not_present_is_found_and_an_unknown_list_refuses_nothing() {
        assert_eq!(missing_cpu(&[0, 3, 9], "0-1,3"), Some(9));
        assert_eq!(missing_cpu(&[0, 3], "0-1,3"), None);
        assert_eq!(missing_cpu(&[7], "unheard of"), None);
    }

    #[test]
    fn a_cpu_that_this_host_does_not_have_is_refused_with_those_it_has() {
        let failure = check_cpus(&[1023], Role::Sink).expect_err("no such CPU here");
        assert_eq!(failure.code, FailureCode::Invalid);
        let start = "sink_cpus names CPU 1023, which the sink host doesn't have; it has: 0";
        assert!(failure.reason.starts_with(start), "{}", failure.reason);
        let (_, data) = failure.reason.into_parts();
        let data = data.expect("it has a code");
        assert_eq!(data.code, "setup_cpu_missing");
        assert_eq!(data.params["end"], proto::reason!("end_sink").into());
        assert_eq!(check_cpus(&[0], Role::Source), Ok(()));
    }
}
