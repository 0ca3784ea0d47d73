//! The engine's messages: types, their bytes and their rules. No I/O and no clock.

mod bounded;
mod catalog;
mod channel;
mod cookie;
mod event;
mod facts;
mod host_window;
mod http_url;
mod limit;
mod link;
mod parameters;
mod path_check;
mod result;
#[cfg(test)]
mod schemas;
mod session;
mod tcp_figures;
mod test_value;
mod thread_use;
mod timestamp;
mod token_proof;
pub mod wire;

pub use bounded::{JSON_DEPTH_LIMIT, JsonError, LINE_LIMIT_BYTES, LineSplitter, parse_json};
pub use catalog::{Catalog, CatalogError, Kind, Metric, Parameter, ParameterSchema, ValueType};
pub use channel::{AgentMessage, DescriptorRole, Lane, ProcessMessage};
pub use cookie::{Cookie, CookieError, hex};
pub use event::{Event, EventBody, FailureCode, SessionState};
pub use facts::{ControlGroup, CpuFacts, Facts, InterfaceFacts};
pub use host_window::{
    Background, CoreShares, HostBackground, HostLoad, HostWindow, HostWindows, InterfaceBackground,
    InterfaceLoad, InterfaceWindow, Neighbours,
};
pub use http_url::{HttpUrl, UrlPrefix};
pub use limit::{Evidence, Limit, LimitedBy};
pub use link::{EndReport, LinkMessage, SentCount};
pub use parameters::{ParameterError, Params};
pub use path_check::{PathArrivals, PathCheck, PathFault, PathPassage, PathRequest, PathSize};
pub use result::{
    CpuPerCore, EngineVersions, Flow, FlowInterval, Granted, Histogram, InterfaceCount,
    InterfaceCounts, Interval, Metrics, Outage, RunResult, TrafficAddresses, Window,
};
pub use session::{Bind, Peer, Role, SessionSpec, is_session_id};
pub use tcp_figures::TcpFigures;
pub use thread_use::{ThreadPart, ThreadUse};
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
