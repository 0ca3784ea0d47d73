//! What a controller asks an engine to do.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::{Cookie, DATA_PORT, Params};

/// Which end of the data connections a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Opens the data connections.
    Source,
    /// Accepts the data connections.
    Sink,
}

/// The other end of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Peer {
    /// Where data connections go to (source) or may come from (sink).
    pub address: IpAddr,
    /// The sink's data port; unused by a sink.
    #[serde(default = "default_data_port")]
    pub data_port: u16,
}

/// What this end's data sockets are bound to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Bind {
    /// The local address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<IpAddr>,
    /// The local device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
}

/// One end of one test, as a controller asks for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SessionSpec {
    /// Which end this is.
    pub role: Role,
    /// The test kind's name.
    pub kind: String,
    /// The parameters; the engine fills in what is left out.
    #[serde(default)]
    pub params: Params,
    /// The secret that both ends share.
    pub cookie: Cookie,
    /// The other end; required for a source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<Peer>,
    /// What the data sockets are bound to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bind: Option<Bind>,
    /// How long the controller may be silent, in seconds.
    #[serde(default = "default_lease_seconds")]
    pub lease_seconds: f64,
}

impl SessionSpec {
    /// The session that runs within this one as its load, with a cookie derived from this one's.
    #[must_use]
    pub fn load(&self) -> Option<Self> {
        let (kind, params) = self.params.test("load")?;
        let cookie = self.cookie.derived(b"load");
        Some(Self { kind, params, cookie, ..self.clone() })
    }
}

const fn default_data_port() -> u16 {
    DATA_PORT
}

const fn default_lease_seconds() -> f64 {
    60.0
}

/// Whether `text` can name a session: 1 to 64 letters, digits and hyphens.
#[must_use]
pub fn is_session_id(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}
