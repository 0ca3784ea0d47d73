//! What happened on a host while a test was measured.

use serde::{Deserialize, Serialize};

use crate::ControlGroup;

/// Both hosts' windows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HostWindows {
    /// The source host's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<HostWindow>,
    /// The sink host's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sink: Option<HostWindow>,
}

/// One host over the measured window; what can't be read is absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HostWindow {
    /// Time between the readings, in seconds by this host's monotonic clock.
    pub seconds: f64,
    /// Each core's shares, by CPU number.
    #[serde(default)]
    pub cores: Vec<CoreShares>,
    /// User and system time of the test's process, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process_cpu_seconds: Option<f64>,
    /// CPUs' time that programs other than the test's used over the window, in CPUs; interrupts are nobody's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_cpus: Option<f64>,
    /// The interfaces that were up.
    #[serde(default)]
    pub interfaces: Vec<InterfaceWindow>,
    /// What the host did before the trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<Background>,
    /// Other sessions of the same engine that ran during the window, the most at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_sessions: Option<u32>,
    /// How far the wall clock moved against the monotonic clock, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_step_seconds: Option<f64>,
    /// Least and greatest frequency that was seen of the CPUs that were busy, in hertz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_frequency_hertz: Option<(u64, u64)>,
    /// The greatest frequency that these CPUs can have, in hertz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_frequency_limit_hertz: Option<u64>,
    /// What the engine's control groups let it have of the host, where they limit it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_group: Option<ControlGroup>,
}

/// Shares of one core's time, 0 to 1 (proc(5), `/proc/stat`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CoreShares {
    /// Everything but idle and waiting for disks.
    pub busy: f64,
    /// User time.
    pub user: f64,
    /// System time.
    pub system: f64,
    /// Hard interrupts.
    pub interrupt: f64,
    /// Soft interrupts.
    pub softirq: f64,
    /// Stolen by the hypervisor.
    pub steal: f64,
}

/// One interface's counters over the window (`/proc/net/dev`, what `sar -n DEV` shows).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct InterfaceWindow {
    /// The interface's name.
    pub name: String,
    /// Whether the test's data connections used it.
    #[serde(default)]
    pub carries_test: bool,
    /// Packets received.
    pub rx_packets: u64,
    /// Packets sent.
    pub tx_packets: u64,
    /// Bytes received.
    pub rx_bytes: u64,
    /// Bytes sent.
    pub tx_bytes: u64,
    /// Packets dropped on receipt.
    pub rx_dropped: u64,
    /// Packets dropped on sending.
    pub tx_dropped: u64,
    /// The most of the bytes received that can be the test's own, headers included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_rx_bytes: Option<u64>,
    /// The most of the bytes sent that can be the test's own, headers included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_tx_bytes: Option<u64>,
    /// Payload bytes of the test that this host sent again (kernel 4.19 and later).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_retransmitted_bytes: Option<u64>,
    /// Link speed, in bits per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed_bps: Option<u64>,
    /// Maximum transmission unit, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu_bytes: Option<u32>,
}

/// What the interface that carries the test, and the CPUs, did before the trial.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Background {
    /// Length of the look back, in seconds.
    pub seconds: f64,
    /// Bits received per second.
    pub rx_bps: f64,
    /// Bits sent per second.
    pub tx_bps: f64,
    /// Packets received per second.
    pub rx_packets_per_second: f64,
    /// Packets sent per second.
    pub tx_packets_per_second: f64,
    /// Busy share of all cores, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ratio: Option<f64>,
}

/// What the engine saw of its host in the quiet times before a session: none of its own sessions ran in them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HostBackground {
    /// Length of the look back, in seconds.
    pub seconds: f64,
    /// Busy share of all cores, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ratio: Option<f64>,
    /// Every interface's traffic.
    #[serde(default)]
    pub interfaces: Vec<InterfaceBackground>,
}

/// What one interface did before a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct InterfaceBackground {
    /// The interface's name.
    pub name: String,
    /// Bits received per second.
    pub rx_bps: f64,
    /// Bits sent per second.
    pub tx_bps: f64,
    /// Packets received per second.
    pub rx_packets_per_second: f64,
    /// Packets sent per second.
    pub tx_packets_per_second: f64,
}

/// How busy a host was in the last minute, its own tests included; what can't be read is absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HostLoad {
    /// Length of the look back, in seconds; 0 while the engine has hardly begun to look.
    pub seconds: f64,
    /// Busy share of all cores, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ratio: Option<f64>,
    /// The interface that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<InterfaceLoad>,
}

/// What one interface did in the last minute, and what it could.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct InterfaceLoad {
    /// Its traffic.
    #[serde(flatten)]
    pub traffic: InterfaceBackground,
    /// Link speed, in bits per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed_bps: Option<u64>,
}

/// Other sessions of the same engine that run at this moment; a trial's own other end is none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Neighbours {
    /// How many.
    pub sessions: u32,
    /// CPUs that their threads are pinned to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<u32>,
}
