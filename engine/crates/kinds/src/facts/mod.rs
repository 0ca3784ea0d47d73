//! What is true of this host: read from /proc, /sys and ethtool; what can't be read is named.

mod control_group;
mod host;
mod interfaces;
mod routes;
mod speed;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use proto::{CpuFacts, Facts, Reason, reason};

use crate::features;

pub use interfaces::speed_bps;

/// Kernel settings that bear on results.
const SYSCTLS: [&str; 14] = [
    "net.core.default_qdisc",
    "net.core.netdev_budget",
    "net.core.netdev_max_backlog",
    "net.core.rmem_default",
    "net.core.rmem_max",
    "net.core.somaxconn",
    "net.core.wmem_default",
    "net.core.wmem_max",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_mtu_probing",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_timestamps",
    "net.ipv4.tcp_window_scaling",
    "net.ipv4.tcp_wmem",
];

/// The facts of this host at this moment.
#[must_use]
pub fn facts() -> Facts {
    let mut missing = Missing::default();
    let congestion_controls = missing.read("/proc/sys/net/ipv4/tcp_available_congestion_control");
    let cpu = cpu(&mut missing);
    let facts = Facts {
        hostname: missing.read("/proc/sys/kernel/hostname").unwrap_or_default(),
        kernel: missing.read("/proc/sys/kernel/osrelease").unwrap_or_default(),
        architecture: std::env::consts::ARCH.to_owned(),
        operating_system: host::operating_system(&mut missing),
        boot_id: missing.read("/proc/sys/kernel/random/boot_id").unwrap_or_default(),
        virtualisation: host::virtualisation(),
        control_group: control_group::control_group(Path::new("/"), cpu.logical as usize),
        cpu,
        memory_bytes: host::memory_bytes(&mut missing),
        clock_source: missing
            .read("/sys/devices/system/clocksource/clocksource0/current_clocksource")
            .unwrap_or_default(),
        congestion_control: missing
            .read("/proc/sys/net/ipv4/tcp_congestion_control")
            .unwrap_or_default(),
        congestion_controls_available: congestion_controls
            .map(|names| names.split_whitespace().map(str::to_owned).collect())
            .unwrap_or_default(),
        sysctls: sysctls(&mut missing),
        interfaces: interfaces::interfaces(&mut missing),
        default_route: routes::default_route(),
        features: features(&mut missing),
        engine_version: proto::ENGINE_VERSION.to_owned(),
        missing: Vec::new(),
        missing_data: Vec::new(),
    };
    facts.with_missing(missing.0)
}

/// What tests may need of the kernel; what isn't there is noted with what is lost without it.
fn features(missing: &mut Missing) -> BTreeMap<String, bool> {
    let found = net::features();
    found
        .iter()
        .filter(|feature| !feature.is_there)
        .for_each(|feature| missing.note(features::lost(feature.name)));
    found.into_iter().map(|feature| (feature.name.to_owned(), feature.is_there)).collect()
}

/// What could not be read, and why.
#[derive(Debug, Default)]
struct Missing(Vec<Reason>);

impl Missing {
    /// The trimmed text of a file; an unreadable one is noted.
    fn read(&mut self, path: &str) -> Option<String> {
        match fs::read_to_string(path) {
            Ok(text) => Some(text.trim().to_owned()),
            Err(error) => {
                self.note(format!("{path}: {error}"));
                None
            }
        }
    }

    fn note(&mut self, what: impl Into<Reason>) {
        self.0.push(what.into());
    }
}

fn sysctls(missing: &mut Missing) -> BTreeMap<String, String> {
    let path = |name: &str| format!("/proc/sys/{}", name.replace('.', "/"));
    SYSCTLS
        .iter()
        .filter_map(|name| {
            let value = missing.read(&path(name))?;
            Some(((*name).to_owned(), value.split_whitespace().collect::<Vec<_>>().join(" ")))
        })
        .collect()
}

fn cpu(missing: &mut Missing) -> CpuFacts {
    let text = missing.read("/proc/cpuinfo").unwrap_or_default();
    let logical = text.lines().filter(|line| line.starts_with("processor")).count();
    let model = host::value_of(&text, "model name").or_else(|| host::value_of(&text, "Processor"));
    if model.is_none() {
        missing.note(reason!("missing_cpu_model"));
    }
    CpuFacts {
        model: model.unwrap_or_default(),
        logical: u32::try_from(logical).unwrap_or(u32::MAX),
        governor: missing.read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
    }
}

#[cfg(test)]
mod tests {
    use proto::reason;

    use super::facts;
    use crate::features;

    #[test]
    fn this_host_has_its_essential_facts() {
        let facts = facts();
        assert_eq!(facts.boot_id.len(), 36);
        assert!(facts.cpu.logical >= 1 && facts.memory_bytes > 1 << 20);
        assert!(facts.congestion_controls_available.contains(&facts.congestion_control));
        let loopback = facts.interfaces.iter().find(|interface| interface.name == "lo");
        assert_eq!(
            loopback.and_then(|interface| interface.mtu).map(|mtu| mtu >= 1_500),
            Some(true)
        );
    }

    #[test]
    fn what_can_not_be_read_is_named_with_its_reason() {
        let mut missing = super::Missing::default();
        assert_eq!(missing.read("/proc/no-such-file"), None);
        assert_eq!(missing.0.len(), 1);
        assert!(missing.0[0].starts_with("/proc/no-such-file: No such file"));
        missing.note(reason!("missing_speed", interface = "eth0"));
        let facts = proto::Facts::default().with_missing(missing.0);
        assert_eq!(facts.missing[1], "speed of eth0: the driver tells none");
        let codes: Vec<Option<&str>> = facts
            .missing_data
            .iter()
            .map(|data| data.as_ref().map(|data| data.code.as_str()))
            .collect();
        assert_eq!(codes, [None, Some("missing_speed")]);
    }

    #[test]
    fn every_feature_has_a_sentence_of_what_is_lost_without_it() {
        for feature in net::features() {
            let lost = features::lost(feature.name);
            assert!(lost.starts_with(&format!("{}: ", feature.name)), "{lost}");
        }
    }
}
