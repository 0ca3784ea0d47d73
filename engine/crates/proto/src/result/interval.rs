//! The course of a test, interval by interval.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Metrics, TcpFigures};
use crate::Role;

/// Metrics of a part of the test's time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Interval {
    /// Begin, in seconds since the traffic began.
    pub start_seconds: f64,
    /// End, in seconds since the traffic began.
    pub end_seconds: f64,
    /// What was measured in it.
    pub metrics: Metrics,
    /// Whether it lies before the measured window.
    #[serde(default)]
    pub warmup: bool,
    /// Whether it lies behind the measured window: what had been sent in it was still on its way.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub drain: bool,
    /// What the kernels told of each flow's connection at its end; bounded, see `docs/engine.md`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<FlowInterval>,
    /// Whole counts: payload `bytes`, and `units` (datagrams, transactions or replies), those from sink to source with
    /// `reverse_`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counts: BTreeMap<String, u64>,
    /// What the interface that carried the test counted at each end.
    #[serde(default, skip_serializing_if = "InterfaceCounts::is_empty")]
    pub interfaces: InterfaceCounts,
    /// How many intervals of the length asked for it joins; absent for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<u32>,
    /// Least and greatest of each metric among the intervals that it joins; its metrics are their means, and their sums
    /// where they are counts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub extremes: BTreeMap<String, (f64, f64)>,
}

/// What one interface counted at each end in an interval.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct InterfaceCounts {
    /// The source's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<InterfaceCount>,
    /// The sink's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sink: Option<InterfaceCount>,
}

impl InterfaceCounts {
    /// Whether neither end tells any.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.source.is_none() && self.sink.is_none()
    }

    /// One end's.
    pub const fn end(&mut self, role: Role) -> &mut Option<InterfaceCount> {
        match role {
            Role::Source => &mut self.source,
            Role::Sink => &mut self.sink,
        }
    }
}

/// What one interface counted in an interval (`/proc/net/dev`; by time, the rows of `sar -n DEV`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct InterfaceCount {
    /// The interface's name.
    pub name: String,
    /// Packets received.
    pub rx_packets: u64,
    /// Packets sent.
    pub tx_packets: u64,
    /// Bytes received.
    pub rx_bytes: u64,
    /// Bytes sent.
    pub tx_bytes: u64,
}

/// One flow's connection at the end of an interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FlowInterval {
    /// The flow's index, from 0.
    pub index: u32,
    /// Which end's kernel tells this.
    pub end: Role,
    /// Counts and times are those of this interval alone.
    pub tcp: TcpFigures,
}
