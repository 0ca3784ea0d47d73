//! What a test measured.

mod facts;
mod host_test;
mod host_window;
mod interval;
mod limit;
mod tcp_figures;
mod thread_use;

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::{Params, Timestamp};

pub use facts::{ControlGroup, CpuFacts, DefaultRoute, Facts, InterfaceFacts};
pub use host_test::{CoreRate, DiskUse, HostTest, MemoryUse};
pub use host_window::{
    Background, CoreShares, HostBackground, HostLoad, HostWindow, HostWindows, InterfaceBackground,
    InterfaceLoad, InterfaceWindow, Neighbours,
};
pub use interval::{FlowInterval, InterfaceCount, InterfaceCounts, Interval};
pub use limit::{Evidence, Limit, LimitedBy};
pub use tcp_figures::TcpFigures;
pub use thread_use::{ThreadPart, ThreadUse};

/// Metric values by their catalog key; what was not measured is absent.
pub type Metrics = BTreeMap<String, f64>;

/// The addresses between which the test's traffic went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TrafficAddresses {
    /// `ipv4` or `ipv6`.
    pub family: String,
    /// The source's own.
    pub source: IpAddr,
    /// The sink's, as the source reached it.
    pub sink: IpAddr,
    /// The source's as the sink saw it, where that is another: it was translated on the way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_seen_by_sink: Option<IpAddr>,
    /// The sink's own, where that is another than the source reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sink_own: Option<IpAddr>,
}

/// The measured window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Window {
    /// When it began, by the source's wall clock.
    pub started_at: Timestamp,
    /// Its length in seconds, by the monotonic clock of `clock`.
    pub elapsed_seconds: f64,
    /// Payload bytes received in it, all flows, source to sink.
    pub bytes: u64,
    /// Payload bytes received in it, all flows, sink to source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverse_bytes: Option<u64>,
    /// Whose clock measured it: `source` or `sink`.
    pub clock: String,
}

/// A time in which nothing arrived, though something was to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Outage {
    /// When the last came before it, in seconds since the traffic began.
    pub from_seconds: f64,
    /// When the next came, or the traffic's time was over.
    pub until_seconds: f64,
}

/// A latency distribution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Histogram {
    /// What it is of, such as `latency`.
    pub metric: String,
    /// The unit of its values, such as `ns`.
    pub unit: String,
    /// How `data` is written: `hdr-v2-deflate-base64`.
    pub encoding: String,
    /// The values.
    pub data: String,
}

/// Socket buffers that the kernels granted, in bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Granted {
    /// `SO_SNDBUF` of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_sndbuf: Option<u64>,
    /// `SO_RCVBUF` of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_rcvbuf: Option<u64>,
    /// `SO_SNDBUF` of the sink.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sink_sndbuf: Option<u64>,
    /// `SO_RCVBUF` of the sink.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sink_rcvbuf: Option<u64>,
}

/// One flow's share.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Flow {
    /// The flow's index, from 0.
    pub index: u32,
    /// Payload bytes received in the window, source to sink.
    pub bytes: u64,
    /// Payload bytes received in the window, sink to source.
    #[serde(default)]
    pub reverse_bytes: u64,
    /// Socket buffers that the kernels granted.
    #[serde(default)]
    pub granted: Granted,
    /// What the source's kernel tells of the connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_tcp: Option<TcpFigures>,
    /// What the sink's kernel tells of the connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sink_tcp: Option<TcpFigures>,
}

/// Versions of the two engines.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EngineVersions {
    /// The source's.
    pub source_version: String,
    /// The sink's.
    pub sink_version: String,
}

/// Busy ratio of each core in the measured window, 0 to 1, by CPU number.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CpuPerCore {
    /// The source's cores.
    #[serde(default)]
    pub source: Vec<f64>,
    /// The sink's cores.
    #[serde(default)]
    pub sink: Vec<f64>,
}

/// The document that `run --json` prints and a session ends with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunResult {
    /// The version of this document: 1.
    pub schema: u32,
    /// The test kind's name.
    pub kind: String,
    /// Every parameter, defaults filled in.
    pub params: Params,
    /// Metrics of the measured window.
    pub metrics: Metrics,
    /// The test's course, warm-up included.
    pub intervals: Vec<Interval>,
    /// The measured window; absent when it never began.
    pub window: Option<Window>,
    /// Times in which nothing arrived, the first of them; flagged `outage`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outages: Vec<Outage>,
    /// The addresses between which the test's traffic went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub addresses: Option<TrafficAddresses>,
    /// Addresses other than the sink's from which its probes were answered, the first of them; flagged
    /// `replies_from_elsewhere`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reply_addresses: Vec<IpAddr>,
    /// What is wrong with the path, in words; flagged `black_hole`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_fault: Option<String>,
    /// The largest UDP payload that arrives from source to sink, where larger ones vanish.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest_payload_bytes: Option<u32>,
    /// The largest UDP payload that arrives from sink to source, where larger ones vanish; flagged `reverse_black_hole`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest_reverse_payload_bytes: Option<u32>,
    /// UDP hellos that were sent before the test, where none was answered; flagged `udp_blocked`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unanswered_hellos: Option<u32>,
    /// The latency distribution, where the kind has one.
    pub histogram: Option<Histogram>,
    /// The latency distribution under load, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loaded_histogram: Option<Histogram>,
    /// What the load measured itself; its facts are this document's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Box<RunResult>>,
    /// Each flow's share.
    pub flows: Vec<Flow>,
    /// The source host's facts; null when this half doesn't know them.
    pub source: Option<Facts>,
    /// The sink host's facts; null when this half doesn't know them.
    pub sink: Option<Facts>,
    /// Short words that qualify the result.
    pub flags: Vec<String>,
    /// Versions of both engines.
    pub engine: EngineVersions,
    /// Busy ratio of each core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_per_core: Option<CpuPerCore>,
    /// What limited each direction of the run, with the evidence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<Limit>,
    /// CPU, interfaces and surroundings of both hosts over the measured window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<HostWindows>,
    /// Of a test of one host, how it was made and on what.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_test: Option<HostTest>,
}

impl RunResult {
    /// The version of the result document.
    pub const SCHEMA: u32 = 1;
}
