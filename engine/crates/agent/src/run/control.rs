//! The peer's sink session, as the command line makes and ends it.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use hyper::{Method, StatusCode};
use proto::{Cookie, FailureCode, Params, Peer, Role, SessionSpec};
use serde_json::{Value, json};

use crate::cli::RunOptions;
use crate::client::{Client, ClientError};
use crate::failure::Failure;

/// A command that died is noticed by its peer after so long.
const LEASE_SECONDS: f64 = 20.0;
/// Best effort: a peer that no longer answers notices by its lease.
const FAREWELL_LIMIT: Duration = Duration::from_millis(800);

/// The sink at the peer.
pub struct Sink {
    client: Client,
    id: String,
    kind: String,
    cookie: Cookie,
    data_address: IpAddr,
    /// Where the source connects to.
    pub data_port: u16,
}

impl Sink {
    /// Makes the session at the peer, ready for connections.
    pub async fn create(
        options: &RunOptions,
        params: &Params,
        token: &str,
    ) -> Result<Self, Failure> {
        let address = resolve(&options.peer).await?;
        let pinned = options.peer_fingerprint.as_deref();
        let mut client = Client::connect(address, token, pinned).await?;
        if pinned.is_none() {
            eprintln!("peer {address} has the fingerprint {}", client.fingerprint);
        }
        let mut random = [0; 48];
        net::fill_random(&mut random)
            .map_err(|error| anyhow::anyhow!("no random numbers: {error}"))?;
        let id = proto::hex(&random[32..]);
        let mut secret = [0; 32];
        secret.copy_from_slice(&random[..32]);
        let cookie = Cookie::new(secret);
        let spec = SessionSpec {
            role: Role::Sink,
            kind: options.kind.clone(),
            params: params.clone(),
            cookie: cookie.clone(),
            peer: None,
            bind: None,
            lease_seconds: LEASE_SECONDS,
        };
        let body = serde_json::to_value(&spec).map_err(anyhow::Error::from)?;
        let session = client.call(Method::PUT, &format!("/v1/sessions/{id}"), Some(&body)).await?;
        let sink = Self {
            client,
            id,
            kind: spec.kind,
            cookie,
            data_address: options.data_address.unwrap_or_else(|| address.ip()),
            data_port: data_port(&session)?,
        };
        match session["reason"].as_str() {
            Some(reason) => Err(Failure::of_test(FailureCode::Internal, reason)),
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
            bind: None,
            lease_seconds: LEASE_SECONDS,
        }
    }

    /// Renews the lease. A failure shows on the data connections, with more to say.
    pub async fn renew(&mut self) {
        let _ = self.call(Method::GET, "", None).await;
    }

    /// Stops the session now.
    pub async fn cancel(&mut self, reason: &str) {
        let _ = self.call(Method::POST, "/cancel", Some(&json!({"reason": reason}))).await;
    }

    /// Ends the session and drops its half of the result.
    pub async fn forget(&mut self) {
        let _ = self.call(Method::DELETE, "", None).await;
    }

    /// The source's reason, with the sink's own where the source only saw it vanish.
    pub async fn explain(&mut self, code: FailureCode, reason: String) -> String {
        if code != FailureCode::PeerLost {
            return reason;
        }
        match self.call(Method::GET, "", None).await {
            Some(session) => match session["reason"].as_str() {
                Some(told) if !reason.contains(told) => format!("{reason}; the sink says: {told}"),
                _ => reason,
            },
            None => reason,
        }
    }

    async fn call(&mut self, method: Method, call: &str, body: Option<&Value>) -> Option<Value> {
        let path = format!("/v1/sessions/{}{call}", self.id);
        let answer = self.client.call(method, &path, body);
        tokio::time::timeout(FAREWELL_LIMIT, answer).await.ok()?.ok()
    }
}

async fn resolve(peer: &str) -> Result<SocketAddr, Failure> {
    let failed =
        |reason: &str| Failure::Unreachable(format!("can't find the peer {peer}: {reason}"));
    let bare = peer.trim_start_matches('[').trim_end_matches(']');
    if let Ok(address) = bare.parse::<IpAddr>() {
        return Ok((address, proto::CONTROL_PORT).into());
    }
    let target = if peer.contains(':') {
        peer.to_owned()
    } else {
        format!("{peer}:{}", proto::CONTROL_PORT)
    };
    let mut addresses =
        tokio::net::lookup_host(target).await.map_err(|error| failed(&error.to_string()))?;
    addresses.next().ok_or_else(|| failed("the name has no address"))
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
            ClientError::Fingerprint { .. } | ClientError::Refused { .. } => {
                Self::Refused(error.to_string())
            }
        }
    }
}
