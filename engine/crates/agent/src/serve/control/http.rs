//! HTTP/1.1 over TLS: connections are bounded in number and in the time they take to say something.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::os::fd::AsFd as _;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Result;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use proto::reason;
use rustix::net::sockopt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::OwnedSemaphorePermit;
use tokio_rustls::LazyConfigAcceptor;
use tokio_rustls::rustls::server::Acceptor;
use tokio_rustls::server::TlsStream;

use crate::serve::admission::identity::Identity;
use crate::serve::admission::tokens::Holder;
use crate::serve::admission::waiting_room::Seat;
use crate::serve::control::answer::Body;
use crate::serve::control::routes;
use crate::serve::engine::Engine;
use crate::serve::locked::locked;
use crate::serve::ports::far::patience;
use crate::serve::refusal::Refusal;

/// How long a near peer may take for the handshake.
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(5);
/// A connection without a token is closed after so long and some round trips, whatever it sends.
const UNAUTHORISED_LIMIT: Duration = Duration::from_secs(5);
/// How long a connection that has shown a token may rest between calls, or take for a header.
const IDLE_LIMIT: Duration = Duration::from_secs(60);
/// A controller's host that vanished without a word, or that reads nothing, shows as data unsent after so long; a path may be cut for
/// a while.
const UNACKNOWLEDGED_LIMIT_MILLISECONDS: u32 = 20_000;
/// Headers longer than this are refused (431); a token's line is far below.
const HEADER_LIMIT_BYTES: usize = 16 * 1024;
const HEADERS_AT_MOST: usize = 64;
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

/// Serves for ever.
pub async fn serve(engine: Arc<Engine>, listener: TcpListener) -> Infallible {
    loop {
        if let Ok((stream, peer)) = listener.accept().await {
            admit(&engine, stream, peer);
        } else {
            // Mostly without free descriptors: one who waits gives up his, and the next try waits, so as not to spin.
            engine.strangers.make_room();
            tokio::time::sleep(ACCEPT_PAUSE).await;
        }
    }
}

fn admit(engine: &Arc<Engine>, stream: TcpStream, peer: SocketAddr) {
    let engine = Arc::clone(engine);
    Arc::clone(&engine.strangers).enter(peer.ip(), |seat| {
        let task = tokio::spawn(async move {
            // A connection that breaks concerns its controller, who sees it; nothing is to be done here.
            let _ = connection(engine, stream, Guest::stranger(seat)).await;
        });
        task.abort_handle()
    });
}

/// Who is at the other end of a connection: a stranger with a seat in the waiting room, or a token's holder.
struct Guest(Mutex<Place>);

enum Place {
    Stranger(#[allow(dead_code, reason = "held for its place")] Seat),
    Holder(#[allow(dead_code, reason = "held for its place")] OwnedSemaphorePermit),
}

impl Guest {
    fn stranger(seat: Seat) -> Self {
        Self(Mutex::new(Place::Stranger(seat)))
    }

    fn is_stranger(&self) -> bool {
        matches!(*locked(&self.0), Place::Stranger(_))
    }

    /// Moves from the waiting room to the places of the token; answers whether one was free.
    fn show(&self, holder: &Holder) -> bool {
        if !self.is_stranger() {
            return true;
        }
        let Ok(permit) = Arc::clone(&holder.connections).try_acquire_owned() else { return false };
        let left = std::mem::replace(&mut *locked(&self.0), Place::Holder(permit));
        drop(left);
        true
    }
}

async fn connection(engine: Arc<Engine>, stream: TcpStream, guest: Guest) -> Result<()> {
    let is_allowed = engine.allowed.admits(stream.peer_addr()?.ip());
    stream.set_nodelay(true)?;
    sockopt::set_tcp_user_timeout(&stream, UNACKNOWLEDGED_LIMIT_MILLISECONDS)?;
    let limit = patience(HANDSHAKE_LIMIT, stream.as_fd());
    let unauthorised_limit = patience(UNAUTHORISED_LIMIT, stream.as_fd());
    let secured = tokio::time::timeout(limit, secure(&engine, stream)).await?;
    let (stream, identity) = secured?;
    let (guest, identity) = (&guest, &identity);
    let service = service_fn(|request| {
        let engine = Arc::clone(&engine);
        async move {
            let response = if is_allowed {
                answer(engine, request, guest, identity).await
            } else {
                not_allowed()
            };
            Ok::<_, Infallible>(response)
        }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE_LIMIT)
        .max_buf_size(HEADER_LIMIT_BYTES)
        .max_headers(HEADERS_AT_MOST)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    if let Ok(ended) = tokio::time::timeout(unauthorised_limit, connection.as_mut()).await {
        return Ok(ended?);
    }
    if !guest.is_stranger() {
        connection.await?;
    }
    Ok(())
}

/// Shakes hands with the certificate that the controller names.
async fn secure(
    engine: &Engine,
    stream: TcpStream,
) -> Result<(TlsStream<TcpStream>, Arc<Identity>)> {
    let begun = LazyConfigAcceptor::new(Acceptor::default(), stream).await?;
    let identity = engine.identities.named(begun.client_hello().server_name());
    let stream = begun.into_stream(Arc::clone(&identity.config)).await?;
    Ok((stream, identity))
}

async fn answer(
    engine: Arc<Engine>,
    request: Request<Incoming>,
    guest: &Guest,
    identity: &Identity,
) -> Response<Body> {
    if routes::asks_for_proof(&request) {
        return routes::proof(&engine, request, &identity.fingerprint).await;
    }
    let Some(holder) = routes::holder(&engine, &request) else {
        return unauthorised();
    };
    if !guest.show(&holder) {
        return too_many_connections();
    }
    engine.identities.use_for_all(identity);
    routes::answer(engine, holder, request).await
}

fn unauthorised() -> Response<Body> {
    let message = reason!("admission_token");
    Refusal::new(StatusCode::UNAUTHORIZED, "unauthorized", message).into()
}

fn too_many_connections() -> Response<Body> {
    let message = reason!("admission_connections");
    Refusal::new(StatusCode::TOO_MANY_REQUESTS, "limit", message).into()
}

fn not_allowed() -> Response<Body> {
    let message = reason!("admission_address");
    Refusal::new(StatusCode::FORBIDDEN, "not_allowed", message).into()
}
