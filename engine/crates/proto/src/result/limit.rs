//! What limited a run.

use serde::{Deserialize, Serialize};

use crate::ReasonData;

/// What kept one direction of the traffic from being faster.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Limit {
    /// `forward` (source to sink) or `reverse`.
    pub direction: String,
    /// The verdict.
    pub by: LimitedBy,
    /// One sentence for people.
    pub summary: String,
    /// The sentence's code and parameters; an engine of before them sends none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary_data: Option<ReasonData>,
    /// The figures that speak for it, the strongest first.
    pub evidence: Vec<Evidence>,
}

/// The verdicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LimitedBy {
    /// The sending thread's CPU.
    SenderCpu,
    /// The receiving thread's CPU.
    ReceiverCpu,
    /// The receiver's advertised window.
    ReceiverWindow,
    /// The send buffer.
    SendBuffer,
    /// The rate that was asked for.
    Pacing,
    /// Loss or queueing on the path.
    Path,
    /// The link's rate.
    LinkRate,
    /// One round trip after the other: latency, not capacity.
    RoundTrip,
    /// The figures don't tell.
    Unknown,
}

/// One figure that speaks for a verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Evidence {
    /// What the figure is of, in words.
    pub what: String,
    /// Its value.
    pub value: f64,
    /// Its unit, as in the catalog.
    pub unit: String,
    /// The value from which on it speaks for the verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
}
