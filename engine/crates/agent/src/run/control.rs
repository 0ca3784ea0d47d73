//! The peer's sink session, as the command line makes and ends it.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use http_body_util::BodyExt as _;
use hyper::{Method, StatusCode};
use proto::{
    Bind, Cookie, Event, EventBody, FailureCode, Params, Peer, Role, RunResult, SessionSpec,
};
use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::cli::RunOptions;
use crate::client::{Client, ClientError};
use crate::failure::Failure;
use crate::run::dialing;
use crate::run::lost_peer::SinkEngine;
use crate::run::progress::Progress;

/// A command that vanished without a word is noticed by its peer after so long; a path may be cut for a while.
const LEASE_SECONDS: f64 = 40.0;
/// Best effort, round trips apart: a peer that no longer answers notices by its lease.
const FAREWELL_LIMIT: Duration = Duration::from_millis(400);

/// The peer, as the command line names it.
pub struct Contact {
    peer: String,
    token: String,
    pinned: Option<String>,
    data_address: Option<IpAddr>,
    /// The one that the first test began with: the others keep to it.
    address: Option<SocketAddr>,
}

impl Contact {
    /// The peer of the options.
    pub fn new(options: &RunOptions, peer: String, token: String) -> Self {
        Self {
            peer,
            token,
            pinned: options.peer_fingerprint.clone(),
            data_address: options.data_address,
            address: None,
        }
    }

    /// The peer's address; of a name that has several, the first that answers.
    async fn address(&self, progress: Progress) -> Result<SocketAddr, Failure> {
        if let Some(address) = self.address {
            return Ok(address);
        }
        let addresses = resolve(&self.peer).await?;
        let chosen = dialing::choose(&addresses).await.ok_or_else(|| {
            let peer = &self.peer;
            Failure::Unreachable(format!("can't find the peer {peer}: the name has no address"))
        })?;
        for dead in &chosen.dead {
            let (peer, address) = (&self.peer, chosen.address);
            progress.say(&format!("{peer}: {dead} doesn't answer, so {address} is used"));
        }
        Ok(chosen.address)
    }

    /// Connects; a certificate that was not pinned, and that the token was proven with, is told and pinned from then on.
    pub async fn connect(&mut self, progress: Progress) -> Result<Connected, Failure> {
        let address = self.address(progress).await?;
        let client = Client::connect(address, &self.token, self.pinned.as_deref()).await?;
        self.address = Some(address);
        if self.pinned.is_none() {
            progress.say(&format!("peer {address} has the fingerprint {}", client.fingerprint));
            self.pinned = Some(client.fingerprint.clone());
        }
        let device = zone(address);
        let engine = SinkEngine {
            peer: address,
            token: self.token.clone(),
            fingerprint: client.fingerprint.clone(),
            begun: Instant::now(),
        };
        let address = self.data_address.unwrap_or_else(|| address.ip());
        Ok(Connected { client, engine, address, device })
    }
}

/// A connection to the peer's control address.
pub struct Connected {
    client: Client,
    engine: SinkEngine,
    address: IpAddr,
    device: Option<String>,
}

/// The sink at the peer.
pub struct Sink {
    /// One call at a time: one that is given up would end the connection.
    client: Arc<Mutex<Client>>,
    engine: SinkEngine,
    farewell_limit: Duration,
    id: String,
    kind: String,
    cookie: Cookie,
    data_address: IpAddr,
    /// The device that a link-local address belongs to: the source's sockets are bound to it.
    device: Option<String>,
    /// Where the source connects to.
    pub data_port: u16,
}

impl Sink {
    /// Makes the session at the peer, ready for connections.
    pub async fn create(
        connected: Connected,
        kind: &str,
        params: &Params,
    ) -> Result<Self, Failure> {
        let Connected { mut client, engine, address, device } = connected;
        let mut random = [0; 48];
        net::fill_random(&mut random)
            .map_err(|error| anyhow::anyhow!("no random numbers: {error}"))?;
        let id = proto::hex(&random[32..]);
        let mut secret = [0; 32];
        secret.copy_from_slice(&random[..32]);
        let cookie = Cookie::new(secret);
        let spec = SessionSpec {
            role: Role::Sink,
            kind: kind.to_owned(),
            params: params.clone(),
            cookie: cookie.clone(),
            peer: None,
            bind: None,
            lease_seconds: LEASE_SECONDS,
        };
        let body = serde_json::to_value(&spec).map_err(anyhow::Error::from)?;
        let session = client.call(Method::PUT, &format!("/v1/sessions/{id}"), Some(&body)).await?;
        let data_port = data_port(&session)?;
        let (kind, data_address) = (spec.kind, address);
        let farewell_limit = client.patience(FAREWELL_LIMIT);
        let client = Arc::new(Mutex::new(client));
        let sink = Self {
            client,
            engine,
            farewell_limit,
            id,
            kind,
            cookie,
            data_address,
            device,
            data_port,
        };
        match session["reason"].as_str() {
            Some(reason) => {
                let code = serde_json::from_value(session["code"].clone());
                // An older engine tells no code.
                Err(Failure::of_test(code.unwrap_or(FailureCode::Internal), reason))
            }
            None => Ok(sink),
        }
    }

    /// What the source runs.
    pub fn source_spec(&self, params: Params) -> SessionSpec {
        SessionSpec {
            role: Role::Source,
            kind: self.kind.clone(),
            params,
            cookie: self.cookie.clone(),
            peer: Some(Peer { address: self.data_address, data_port: self.data_port }),
            bind: self.device.clone().map(|device| Bind { address: None, device: Some(device) }),
            lease_seconds: LEASE_SECONDS,
        }
    }

    /// Renews the lease, aside: over a far path, or one that is cut for a while, it takes its time. A failure shows on
    /// the data connections, with more to say.
    pub fn renew(&self) {
        let (client, path) = (Arc::clone(&self.client), self.path(""));
        tokio::spawn(async move {
            if let Ok(mut client) = client.try_lock() {
                let _ = client.call(Method::GET, &path, None).await;
            }
        });
    }

    /// Stops the session now.
    pub async fn cancel(&self, reason: &str) {
        let _ = self.call(Method::POST, "/cancel", Some(&json!({"reason": reason}))).await;
    }

    /// Ends the session and drops its half of the result.
    pub async fn forget(&self) {
        let _ = self.call(Method::DELETE, "", None).await;
    }

    /// What the sink measured itself, once it has ended.
    pub async fn measured(&self) -> Option<RunResult> {
        let path = self.path("/events?after=0");
        let response = self.client.lock().await.send(Method::GET, &path, None).await.ok()?;
        let bytes = response.into_body().collect().await.ok()?.to_bytes();
        let last = bytes.split(|&byte| byte == b'\n').rfind(|line| !line.is_empty())?;
        match proto::parse_json::<Event>(last).ok()?.body {
            EventBody::Result { result, .. } => Some(*result),
            EventBody::Failure { partial, .. } => partial.map(|partial| *partial),
            _ => None,
        }
    }

    /// The source's reason, with which engine was lost, and what it says itself, where the source only saw it vanish.
    pub async fn explain(&self, code: FailureCode, reason: String) -> String {
        if code != FailureCode::PeerLost {
            return reason;
        }
        let session = self.call(Method::GET, "", None).await;
        let told = session.as_ref().and_then(|session| session["reason"].as_str());
        match told.filter(|told| !reason.contains(told)) {
            Some(told) => {
                format!("{reason}; the sink's engine ({}) says: {told}", self.engine.peer)
            }
            None => format!("{reason}; {}", self.engine.fate().await),
        }
    }

    async fn call(&self, method: Method, call: &str, body: Option<&Value>) -> Option<Value> {
        let path = self.path(call);
        let answer = async { self.client.lock().await.call(method, &path, body).await };
        tokio::time::timeout(self.farewell_limit, answer).await.ok()?.ok()
    }

    fn path(&self, call: &str) -> String {
        format!("/v1/sessions/{}{call}", self.id)
    }
}

/// Every address of the peer, in the order to try them.
async fn resolve(peer: &str) -> Result<Vec<SocketAddr>, Failure> {
    let failed =
        |reason: &str| Failure::Unreachable(format!("can't find the peer {peer}: {reason}"));
    let (host, port) = host_and_port(peer).ok_or_else(|| failed("its port is no port"))?;
    let addresses =
        tokio::net::lookup_host((host, port)).await.map_err(|error| failed(&error.to_string()))?;
    Ok(addresses.collect())
}

/// A name or an address, an IPv6 one with or without brackets, and the port behind it.
fn host_and_port(peer: &str) -> Option<(&str, u16)> {
    if let Some((host, rest)) = peer.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return match rest.strip_prefix(':') {
            Some(port) => Some((host, port.parse().ok()?)),
            None => rest.is_empty().then_some((host, proto::CONTROL_PORT)),
        };
    }
    match peer.split_once(':') {
        Some((host, port)) if !port.contains(':') => Some((host, port.parse().ok()?)),
        _ => Some((peer, proto::CONTROL_PORT)),
    }
}

/// The device that a link-local address was given with, as in `fe80::1%eth0`.
fn zone(address: SocketAddr) -> Option<String> {
    match address {
        SocketAddr::V6(address) => net::interface_name(address.scope_id()),
        SocketAddr::V4(_) => None,
    }
}

fn data_port(session: &Value) -> Result<u16, Failure> {
    session["data_port"].as_u64().and_then(|port| u16::try_from(port).ok()).ok_or_else(|| {
        Failure::Refused(
            "the peer's answer names no data port; is it an engine of this version?".to_owned(),
        )
    })
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        match &error {
            ClientError::Unreachable { .. } => Self::Unreachable(error.to_string()),
            ClientError::Refused { status: StatusCode::UNPROCESSABLE_ENTITY, .. } => {
                Self::Usage(error.to_string())
            }
            ClientError::Fingerprint { .. }
            | ClientError::UnknownToken { .. }
            | ClientError::NoProof { .. }
            | ClientError::Refused { .. } => Self::Refused(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::host_and_port;

    #[test]
    fn a_peer_is_a_name_or_an_address_with_or_without_port_brackets_and_zone() {
        for (peer, expected) in [
            ("sink.example", Some(("sink.example", 7410))),
            ("sink.example:7500", Some(("sink.example", 7500))),
            ("192.0.2.1:1", Some(("192.0.2.1", 1))),
            ("2001:db8::1", Some(("2001:db8::1", 7410))),
            ("[2001:db8::1]", Some(("2001:db8::1", 7410))),
            ("[2001:db8::1]:7500", Some(("2001:db8::1", 7500))),
            ("fe80::1%eth0", Some(("fe80::1%eth0", 7410))),
            ("[fe80::1%eth0]:7500", Some(("fe80::1%eth0", 7500))),
            ("sink.example:many", None),
            ("sink.example:70000", None),
            ("[2001:db8::1]7500", None),
        ] {
            assert_eq!(host_and_port(peer), expected, "{peer}");
        }
    }
}
