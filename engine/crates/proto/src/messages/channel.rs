//! What the agent and a session's process tell each other.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::{DiskPlace, EventBody, FailureCode, HostBackground, Neighbours, Reason, SessionSpec};

/// What a passed descriptor is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DescriptorRole {
    /// The session's link.
    Link,
    /// One of its flows.
    Flow,
    /// The data port's listening socket.
    Listener,
}

/// Which of a session's tests something belongs to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Lane {
    /// The session's own.
    #[default]
    Test,
    /// The test that runs within it as load, with a cookie of its own.
    Load,
}

/// Agent to process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum AgentMessage {
    /// The first line: what to run.
    Config {
        /// The session, all parameters filled in.
        spec: Box<SessionSpec>,
        /// This engine's own data port.
        data_port: u16,
        /// What the host did before, where the engine has watched it long enough.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        background: Option<Box<HostBackground>>,
        /// Where disks may be measured.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        disk_places: Vec<DiskPlace>,
    },
    /// Which other sessions run: told once after the configuration, and whenever they begin or end.
    Neighbours {
        /// Those that run now.
        neighbours: Neighbours,
    },
    /// A descriptor comes with this line.
    Descriptor {
        /// What it is for.
        role: DescriptorRole,
        /// The flow's index; 0 for the others.
        index: u32,
        /// Whose it is.
        #[serde(default)]
        lane: Lane,
    },
    /// Stop now.
    Cancel {
        /// The failure code to report.
        code: FailureCode,
        /// Why.
        #[serde(flatten)]
        reason: Reason,
    },
}

/// Process to agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ProcessMessage {
    /// Ready for connections.
    Prepared,
    /// Connections from this address and these ports (inclusive) are this session's.
    Register {
        /// First and last port.
        ports: [u16; 2],
        /// The peer's address.
        address: IpAddr,
        /// Whose they are.
        #[serde(default)]
        lane: Lane,
    },
    /// The registered ports and the lent listener are needed no more.
    Release {
        /// Whose they were.
        lane: Lane,
    },
    /// An accepted connection that isn't this session's comes with this line.
    Foreign,
    /// An event.
    Event {
        /// The event.
        event: EventBody,
    },
}
