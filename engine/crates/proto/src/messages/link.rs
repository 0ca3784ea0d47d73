//! What source and sink tell each other on the link.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::{
    Facts, FailureCode, Flow, Histogram, HostWindow, Interval, Metrics, Outage, Params, Reason,
    RunResult, ThreadUse, Window,
};

/// What was sent on one flow in the measured window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SentCount {
    /// The flow's index.
    pub flow: u32,
    /// Payload bytes.
    pub bytes: u64,
    /// Datagrams, messages or transactions.
    pub packets: u64,
}

/// One end's half of a result.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EndReport {
    /// What this end measured, under the keys of the result.
    pub metrics: Metrics,
    /// The measured window as this end saw it.
    pub window: Option<Window>,
    /// When that window began, in seconds after the start of this end's traffic.
    #[serde(default)]
    pub window_begin_seconds: Option<f64>,
    /// Each flow's share.
    #[serde(default)]
    pub flows: Vec<Flow>,
    /// What the sink sent on each flow in the window (reverse and bidirectional).
    #[serde(default)]
    pub sent: Vec<SentCount>,
    /// The sink's CPU time in the window, in seconds, all cores.
    #[serde(default)]
    pub cpu_seconds: Option<f64>,
    /// Busy ratio of each of the sink's cores.
    #[serde(default)]
    pub cpu_per_core: Vec<f64>,
    /// The latency distribution, where the sink measures one.
    #[serde(default)]
    pub histogram: Option<Histogram>,
    /// The same under load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loaded_histogram: Option<Histogram>,
    /// What the load measured itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Box<RunResult>>,
    /// Short words that qualify the result.
    #[serde(default)]
    pub flags: Vec<String>,
    /// Times in which nothing arrived at this end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outages: Vec<Outage>,
    /// This end's address and the other's, as this end's traffic has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub addresses: Option<(IpAddr, IpAddr)>,
    /// Addresses other than the peer's from which probes were answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reply_addresses: Vec<IpAddr>,
    /// CPU, interfaces and surroundings of this host over the window.
    #[serde(default)]
    pub host: Option<HostWindow>,
    /// Datagrams that this end's sockets had no room for, warm-up included (`SO_MEMINFO`, kernel 4.12 and later).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overflowed_packets: Option<u64>,
    /// How this end's flow threads spent their time.
    #[serde(default)]
    pub threads: Vec<ThreadUse>,
}

/// One line on the link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum LinkMessage {
    /// Source to sink: who speaks, and what is to be tested.
    Hello {
        /// The test kind.
        kind: String,
        /// All parameters.
        params: Params,
        /// The source host's facts.
        facts: Box<Facts>,
        /// The source engine's version.
        version: String,
        /// Whether it numbers datagrams of 4 to 31 bytes too; an older engine doesn't.
        #[serde(default)]
        numbers_small_datagrams: bool,
    },
    /// Sink to source: ready for flows.
    Ready {
        /// The sink host's facts.
        facts: Box<Facts>,
        /// The sink engine's version.
        version: String,
        /// Whether it numbers datagrams of 4 to 31 bytes too; an older engine doesn't.
        #[serde(default)]
        numbers_small_datagrams: bool,
        /// Whether its agent answers hellos that are padded to the size of a packet; an older one doesn't.
        #[serde(default)]
        answers_padded_hellos: bool,
    },
    /// Sink to source: this flow has arrived.
    FlowReady {
        /// The flow's index.
        index: u32,
    },
    /// Source to sink: connections from these ports are this session's (`tcp_crr`).
    Register {
        /// The source's address, when it isn't the link's.
        address: Option<IpAddr>,
        /// The first port.
        first: u16,
        /// The last port, inclusive.
        last: u16,
    },
    /// Sink to source: the ports are registered.
    Registered,
    /// Source to sink: all flows are up; go.
    Start,
    /// Source to sink: the first measured byte of a TCP flow.
    Mark {
        /// The flow's index.
        flow: u32,
        /// Offset in the flow's stream, in bytes.
        offset_bytes: u64,
    },
    /// Sink to source: one interval.
    Interval {
        /// The interval.
        interval: Box<Interval>,
    },
    /// Source to sink: the traffic has ended.
    Stop {
        /// What the source sent on each flow.
        flows: Vec<SentCount>,
    },
    /// Sink to source: the sink's half.
    Report {
        /// The sink's half.
        report: Box<EndReport>,
    },
    /// Either way, each second.
    Alive,
    /// Either way: this end can't go on.
    Failure {
        /// The kind of failure.
        code: FailureCode,
        /// What failed, and the next step.
        #[serde(flatten)]
        reason: Reason,
    },
}
