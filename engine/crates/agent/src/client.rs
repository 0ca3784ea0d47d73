//! A controller's side of the control API: HTTP/1.1 over TLS 1.3 to an engine known by its fingerprint.

mod proof;
mod verifier;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use kinds::patience;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::version::TLS13;

use verifier::Verifier;

/// How long a connection may take: over a round trip of 3 s, and when its first packet was lost three times.
const CONNECT_LIMIT: Duration = Duration::from_secs(12);
/// How long a near engine may take for the handshake of TLS.
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(5);
/// How long a near engine may take for an answer: a sink's is there when its process is ready, on a busy host too.
const ANSWER_LIMIT: Duration = Duration::from_secs(15);
/// No answer is longer; events are read apart.
const ANSWER_LIMIT_BYTES: usize = 4 * 1024 * 1024;

/// Why an engine gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// No connection, or it broke.
    #[error(
        "can't reach the engine at {peer}: {reason}; see that it runs there and that no firewall is between"
    )]
    Unreachable {
        /// Its control address.
        peer: SocketAddr,
        /// What the system says.
        reason: String,
    },
    /// Another certificate than the pinned one.
    #[error(
        "the engine at {peer} has the fingerprint {found}, not {pinned}; if its certificate was made anew, use the new one"
    )]
    Fingerprint {
        /// Its control address.
        peer: SocketAddr,
        /// What it shows.
        found: String,
        /// What was asked for.
        pinned: String,
    },
    /// The engine did not prove that it knows the token, so it was not sent.
    #[error(
        "the engine at {peer} doesn't know this token, so it was not sent; use the one from the engine's --token-file"
    )]
    UnknownToken {
        /// Its control address.
        peer: SocketAddr,
    },
    /// The engine is of before such proofs.
    #[error(
        "the engine at {peer} can't prove that it knows the token, so it was not sent; update that engine, or name the fingerprint that it prints at its start with --peer-fingerprint"
    )]
    NoProof {
        /// Its control address.
        peer: SocketAddr,
    },
    /// A refusal, in the engine's words.
    #[error("the engine refused: {message}")]
    Refused {
        /// The HTTP status.
        status: StatusCode,
        /// The engine's message.
        message: String,
        /// The field at fault.
        field: Option<String>,
    },
}

/// A connection to one engine.
pub struct Client {
    peer: SocketAddr,
    authorization: Option<String>,
    requests: SendRequest<Full<Bytes>>,
    /// How long the connection took, lost packets included.
    round_trip: Duration,
    /// The fingerprint that the engine showed.
    pub fingerprint: String,
}

impl Client {
    /// Connects; without `pinned`, to the engine that proves that it knows the token.
    ///
    /// # Errors
    /// When the engine can't be reached, shows another fingerprint, or doesn't know the token.
    pub async fn connect(
        peer: SocketAddr,
        token: &str,
        pinned: Option<&str>,
    ) -> Result<Self, ClientError> {
        let pinned = match pinned {
            Some(pinned) => pinned.to_owned(),
            None => proof::proven_fingerprint(peer, token).await?,
        };
        Self::open(peer, Some(token), Some(&pinned)).await
    }

    /// Opens a connection: with a token only to the pinned certificate.
    async fn open(
        peer: SocketAddr,
        token: Option<&str>,
        pinned: Option<&str>,
    ) -> Result<Self, ClientError> {
        let verifier = Arc::new(Verifier::new(pinned));
        let name = server_name(peer, pinned);
        let opened = open(peer, name, Arc::clone(&verifier)).await;
        let found = verifier.found();
        match (opened, pinned) {
            (Ok((requests, round_trip)), _) => {
                let authorization = token.map(|token| format!("Bearer {token}"));
                Ok(Self { peer, authorization, requests, round_trip, fingerprint: found })
            }
            (Err(_), Some(pinned)) if !found.is_empty() && !found.eq_ignore_ascii_case(pinned) => {
                Err(ClientError::Fingerprint { peer, found, pinned: pinned.to_owned() })
            }
            (Err(error), _) => Err(unreachable(peer, &error)),
        }
    }

    /// How long to wait for what a near engine does within `limit`.
    #[must_use]
    pub fn patience(&self, limit: Duration) -> Duration {
        patience(limit, self.round_trip)
    }

    /// Makes one call and reads its JSON answer.
    ///
    /// # Errors
    /// When the connection breaks, no answer comes in time, or the engine refuses.
    pub async fn call(
        &mut self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, ClientError> {
        let (peer, limit) = (self.peer, self.patience(ANSWER_LIMIT));
        let answer = tokio::time::timeout(limit, self.answer(method, path, body)).await;
        let (status, bytes) = answer.unwrap_or_else(|_| {
            let limit = limit.as_secs();
            Err(unreachable(peer, &anyhow::anyhow!("it gave no answer within {limit} s")))
        })?;
        let document: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        if status.is_success() {
            return Ok(document);
        }
        let text = |field: &str| document["error"][field].as_str().map(str::to_owned);
        let message = text("message").unwrap_or_else(|| format!("HTTP status {status}"));
        Err(ClientError::Refused { status, message, field: text("field") })
    }

    async fn answer(
        &mut self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<(StatusCode, Bytes), ClientError> {
        let response = self.send(method, path, body).await?;
        let status = response.status();
        let collected = Limited::new(response.into_body(), ANSWER_LIMIT_BYTES).collect().await;
        let broken = |error| unreachable(self.peer, &anyhow::Error::from_boxed(error));
        Ok((status, collected.map_err(broken)?.to_bytes()))
    }

    /// Makes one call and leaves its answer's body to be read; whoever waits for it bounds the time.
    ///
    /// # Errors
    /// When the connection breaks.
    pub async fn send(
        &mut self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Response<Incoming>, ClientError> {
        let body = body.map_or_else(Bytes::new, |body| Bytes::from(body.to_string()));
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, self.peer.to_string())
            .header(CONTENT_TYPE, "application/json");
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        let request =
            request.body(Full::new(body)).map_err(|error| unreachable(self.peer, &error.into()))?;
        let sent = async {
            self.requests.ready().await?;
            self.requests.send_request(request).await
        };
        sent.await.map_err(|error| unreachable(self.peer, &error.into()))
    }
}

/// A connection that is ready for calls, and how long its first round trip took.
async fn open(
    peer: SocketAddr,
    name: ServerName<'static>,
    verifier: Arc<Verifier>,
) -> anyhow::Result<(SendRequest<Full<Bytes>>, Duration)> {
    let begin = Instant::now();
    let stream = within(CONNECT_LIMIT, async { Ok(TcpStream::connect(peer).await?) }).await?;
    let round_trip = begin.elapsed();
    let limit = patience(HANDSHAKE_LIMIT, round_trip);
    let requests = within(limit, secure(name, stream, verifier)).await?;
    Ok((requests, round_trip))
}

/// Names the pinned certificate: an engine may have an announced one beside it.
fn server_name(peer: SocketAddr, pinned: Option<&str>) -> ServerName<'static> {
    let name = pinned.and_then(proto::certificate_name);
    let name = name.and_then(|name| ServerName::try_from(name).ok());
    name.unwrap_or_else(|| ServerName::from(peer.ip()))
}

async fn within<T>(
    limit: Duration,
    step: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<T> {
    let done = tokio::time::timeout(limit, step).await;
    done.unwrap_or_else(|_| Err(anyhow::anyhow!("no answer within {} s", limit.as_secs())))
}

async fn secure(
    name: ServerName<'static>,
    stream: TcpStream,
    verifier: Arc<Verifier>,
) -> anyhow::Result<SendRequest<Full<Bytes>>> {
    let config = ClientConfig::builder_with_provider(Arc::new(crate::tls_provider()))
        .with_protocol_versions(&[&TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    stream.set_nodelay(true)?;
    let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await?;
    let (requests, connection) = handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    Ok(requests)
}

fn unreachable(peer: SocketAddr, error: &anyhow::Error) -> ClientError {
    ClientError::Unreachable { peer, reason: format!("{error:#}") }
}
