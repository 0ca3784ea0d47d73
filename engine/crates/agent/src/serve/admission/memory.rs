//! How much of the host's memory sessions may ask for.

use std::fs;

use hyper::StatusCode;
use proto::reason;

use crate::serve::admission::demand::Demand;
use crate::serve::refusal::Refusal;

/// Of the host's memory, when the operator names nothing: the measured host has other work too.
const SHARE: f64 = 0.5;
/// Where nothing can be read.
const FALLBACK_BYTES: f64 = 1e9;

/// What all running sessions together may need.
pub struct MemoryShare {
    bytes: f64,
}

impl MemoryShare {
    /// As asked for, or half of what this host or container has.
    pub fn new(asked_bytes: Option<f64>) -> Self {
        let share = || available_bytes().map_or(FALLBACK_BYTES, |bytes| bytes * SHARE);
        Self { bytes: asked_bytes.unwrap_or_else(share) }
    }

    /// Refuses a session that needs more than the share, alone or with those that run.
    pub fn check(&self, demand: &Demand, demanded_bytes: f64) -> Result<(), Refusal> {
        let (asked, share) = (mebibytes(demand.memory_bytes), mebibytes(self.bytes));
        if demand.memory_bytes > self.bytes {
            let what = match demand.memory_field.as_str() {
                "array_bytes" => reason!("admission_arrays"),
                _ => reason!("admission_flows_of_such", count = demand.flows),
            };
            let message = reason!("admission_memory", what = what, asked = asked, share = share);
            let field = format!("params.{}", demand.memory_field);
            return Err(Refusal { code: "limit", ..Refusal::invalid(&field, message) });
        }
        if demand.memory_bytes + demanded_bytes > self.bytes {
            let message = reason!(
                "admission_memory_together",
                asked = asked,
                running = mebibytes(demanded_bytes),
                share = share
            );
            return Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, "limit", message));
        }
        Ok(())
    }
}

fn mebibytes(bytes: f64) -> String {
    (bytes / (1024.0 * 1024.0)).ceil().to_string()
}

/// The host's memory, or the container's where that is less.
fn available_bytes() -> Option<f64> {
    let host = fs::read_to_string("/proc/meminfo").ok().as_deref().and_then(total_bytes);
    let container = fs::read_to_string("/sys/fs/cgroup/memory.max");
    let container = container.ok().and_then(|text| text.trim().parse::<f64>().ok());
    match (host, container) {
        (Some(host), Some(container)) => Some(host.min(container)),
        (one, other) => one.or(other),
    }
}

fn total_bytes(meminfo: &str) -> Option<f64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: f64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demand(memory_bytes: f64) -> Demand {
        Demand {
            kinds: Vec::new(),
            duration_seconds: 1.0,
            duration_fields: Vec::new(),
            flows: 2,
            flow_field: "flows".to_owned(),
            rate_bps: 1.0,
            rate_field: "rate_bps".to_owned(),
            datagram_bytes: 0.0,
            datagrams_at_once: 1.0,
            memory_bytes,
            memory_field: "message_size_bytes".to_owned(),
        }
    }

    #[test]
    fn a_session_too_large_alone_is_422_and_one_too_many_429() {
        let share = MemoryShare::new(Some(10e6));
        assert!(share.check(&demand(10e6), 0.0).is_ok());
        let alone = share.check(&demand(10e6 + 1.0), 0.0).unwrap_err();
        assert_eq!(alone.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert_eq!(alone.field.as_deref(), Some("params.message_size_bytes"));
        let together = share.check(&demand(6e6), 5e6).unwrap_err();
        assert_eq!(together.status, StatusCode::TOO_MANY_REQUESTS);
    }

    #[test]
    fn the_hosts_memory_is_read_in_bytes() {
        assert_eq!(total_bytes("MemTotal:        8048 kB\nMemFree: 1 kB\n"), Some(8_241_152.0));
        assert_eq!(total_bytes("nothing"), None);
        assert!(MemoryShare::new(None).bytes > 1e8);
    }
}
