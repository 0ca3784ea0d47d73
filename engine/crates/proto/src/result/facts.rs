//! What is true of a host at the time of a test.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Reason, ReasonData};

/// What is true of a host at the time of a test; what could not be read is absent and named in `missing`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Facts {
    /// The host's name.
    pub hostname: String,
    /// The kernel's release.
    pub kernel: String,
    /// The machine's architecture, such as `x86_64`.
    pub architecture: String,
    /// The distribution's pretty name.
    pub operating_system: String,
    /// Changes with every boot.
    pub boot_id: String,
    /// The hypervisor or container technology; `none` on bare metal.
    pub virtualisation: String,
    /// The CPU.
    pub cpu: CpuFacts,
    /// Memory, in bytes.
    pub memory_bytes: u64,
    /// What the engine's control groups let it have of the host, where they limit it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_group: Option<ControlGroup>,
    /// The kernel's clock source.
    pub clock_source: String,
    /// The default congestion control.
    pub congestion_control: String,
    /// The congestion controls that the kernel has.
    pub congestion_controls_available: Vec<String>,
    /// Kernel settings that bear on results, by name.
    pub sysctls: BTreeMap<String, String>,
    /// The network interfaces.
    pub interfaces: Vec<InterfaceFacts>,
    /// Where packets go that no narrower route takes; absent without such a route.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_route: Option<DefaultRoute>,
    /// What the kernel lets the engine do, found out by trying, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub features: BTreeMap<String, bool>,
    /// This engine's version.
    pub engine_version: String,
    /// What could not be read, and why.
    pub missing: Vec<String>,
    /// The code and parameters of each of `missing`; null where only the kernel says it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing_data: Vec<Option<ReasonData>>,
}

impl Facts {
    /// These facts, with what could not be read.
    #[must_use]
    pub fn with_missing(self, missing: Vec<Reason>) -> Self {
        let (missing, missing_data) = missing.into_iter().map(Reason::into_parts).unzip();
        Self { missing, missing_data, ..self }
    }
}

/// What is true of a host's CPU.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct CpuFacts {
    /// The model's name.
    pub model: String,
    /// Logical CPUs.
    pub logical: u32,
    /// The frequency governor.
    pub governor: Option<String>,
}

/// Limits of control groups (cgroups), such as a container's; what isn't limited is absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ControlGroup {
    /// CPU time per time, in CPUs: 0.5 is half a CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_quota: Option<f64>,
    /// The CPUs that may be used, such as "0,2-3".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpuset: Option<String>,
    /// Memory, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_limit_bytes: Option<u64>,
}

/// The route to everywhere that has no narrower one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct DefaultRoute {
    /// The interface's name.
    pub name: String,
    /// The next hop's address; absent where the link itself leads there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gateway: Option<String>,
}

/// What is true of one network interface.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct InterfaceFacts {
    /// The interface's name.
    pub name: String,
    /// Its driver.
    pub driver: Option<String>,
    /// Its MTU, in bytes.
    pub mtu: Option<u32>,
    /// Its speed, in bits per second; of a virtual one that of the physical devices beneath.
    pub speed_bps: Option<u64>,
    /// The physical devices beneath a virtual one, whose speed it has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub physical: Vec<String>,
    /// Whether each offload is on, by name.
    pub offloads: BTreeMap<String, bool>,
    /// Its addresses.
    pub addresses: Vec<String>,
}
