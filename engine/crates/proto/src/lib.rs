//! The engine's messages: types, their bytes and their rules. No I/O and no clock.

mod bounded;
mod catalog;
mod certificate_name;
mod cookie;
mod disk_place;
mod http_url;
mod messages;
mod reason;
mod result;
#[cfg(test)]
mod schemas;
mod session;
mod timestamp;
mod token_proof;
pub mod wire;

pub use bounded::{JSON_DEPTH_LIMIT, JsonError, LINE_LIMIT_BYTES, LineSplitter, parse_json};
pub use catalog::{
    Catalog, CatalogError, Kind, Metric, Parameter, ParameterError, ParameterSchema, Params,
    ValueType,
};
pub use certificate_name::certificate_name;
pub use cookie::{Cookie, CookieError, hex};
pub use disk_place::DiskPlace;
pub use http_url::{HttpUrl, UrlPrefix};
pub use messages::{
    AgentMessage, Canary, CanaryFigure, DescriptorRole, EndReport, Event, EventBody, FailureCode,
    Lane, LinkMessage, PathArrivals, PathCheck, PathFault, PathPassage, PathRequest, PathSize,
    ProcessMessage, SentCount, SessionState,
};
pub use reason::{Reason, ReasonData, ReasonValue};
pub use result::{
    Background, ControlGroup, CoreRate, CoreShares, CpuFacts, CpuPerCore, DefaultRoute, DiskUse,
    EngineVersions, Evidence, Facts, Flow, FlowInterval, Granted, Histogram, HostBackground,
    HostLoad, HostTest, HostWindow, HostWindows, InterfaceBackground, InterfaceCount,
    InterfaceCounts, InterfaceFacts, InterfaceLoad, InterfaceWindow, Interval, Limit, LimitedBy,
    MemoryUse, Metrics, Neighbours, Outage, RunResult, TcpFigures, ThreadPart, ThreadUse,
    TrafficAddresses, Window,
};
pub use session::{Bind, Peer, Role, SessionSpec, is_session_id};
pub use timestamp::Timestamp;
pub use token_proof::{TokenKey, is_nonce, is_proven, token_key, token_proof};

/// The version of the conversations in `docs/reference/engine-protocol.md`.
pub const PROTOCOL_VERSION: u32 = 1;
/// The default port of the control API.
pub const CONTROL_PORT: u16 = 7410;
/// The default data port, TCP and UDP.
pub const DATA_PORT: u16 = 7411;
/// This engine's version.
pub const ENGINE_VERSION: &str = env!("CARGO_PKG_VERSION");
