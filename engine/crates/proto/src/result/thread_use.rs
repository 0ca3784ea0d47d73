//! What the threads that carry a test's traffic did.

use serde::{Deserialize, Serialize};

/// What a flow thread does in a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ThreadPart {
    /// Sends a stream.
    Sender,
    /// Receives a stream.
    Receiver,
    /// Makes transactions.
    Client,
    /// Answers transactions.
    Server,
}

/// How the threads of one part spent their time, warm-up included; the rest of it they slept.
///
/// A thread that never sleeps is what limits a test: it either runs, or waits for a CPU that others use.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ThreadUse {
    /// What the threads do.
    pub part: ThreadPart,
    /// How many there are.
    pub threads: u32,
    /// Mean share of their time on a CPU, 0 to 1.
    pub running_ratio: f64,
    /// Mean share of their time ready to run, but without a CPU (`/proc/thread-self/schedstat`), 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_ratio: Option<f64>,
    /// The greatest share that one of them did not sleep, 0 to 1.
    pub busiest_ratio: f64,
}
