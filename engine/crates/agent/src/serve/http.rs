//! HTTP/1.1 over TLS: connections are bounded in number and in the time they take to say something.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Result;
use hyper::service::service_fn;
use hyper::{Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rustix::net::sockopt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;

use super::answer::Refusal;
use super::engine::Engine;
use super::routes;

const HANDSHAKE_LIMIT: Duration = Duration::from_secs(5);
/// A connection without the token is closed after so long, whatever it sends.
const UNAUTHORISED_LIMIT: Duration = Duration::from_secs(5);
/// How long a connection that has shown the token may rest between calls, or take for a header.
const IDLE_LIMIT: Duration = Duration::from_secs(60);
/// A controller's host that vanished without a word shows as unacknowledged data after so long.
const UNACKNOWLEDGED_LIMIT_MILLISECONDS: u32 = 10_000;
const CONNECTION_LIMIT: usize = 1_024;
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

/// Serves for ever.
pub async fn serve(engine: Arc<Engine>, listener: TcpListener, tls: TlsAcceptor) -> Infallible {
    let connections = Arc::new(Semaphore::new(CONNECTION_LIMIT));
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        // Over the limit, the newest is closed: those at work go on.
        let Ok(permit) = Arc::clone(&connections).try_acquire_owned() else { continue };
        let (engine, tls) = (Arc::clone(&engine), tls.clone());
        tokio::spawn(async move {
            // A connection that breaks concerns its controller, who sees it; nothing is to be done here.
            let _ = connection(engine, stream, tls).await;
            drop(permit);
        });
    }
}

async fn connection(engine: Arc<Engine>, stream: TcpStream, tls: TlsAcceptor) -> Result<()> {
    let is_allowed = engine.allowed.admits(stream.peer_addr()?.ip());
    stream.set_nodelay(true)?;
    sockopt::set_tcp_user_timeout(&stream, UNACKNOWLEDGED_LIMIT_MILLISECONDS)?;
    let stream = tokio::time::timeout(HANDSHAKE_LIMIT, tls.accept(stream)).await??;
    let is_authorised = AtomicBool::new(false);
    let service = service_fn(|request| {
        let engine = Arc::clone(&engine);
        if is_allowed && routes::has_token(&engine, &request) {
            is_authorised.store(true, Ordering::Relaxed);
        }
        async move {
            let response =
                if is_allowed { routes::answer(engine, request).await } else { not_allowed() };
            Ok::<_, Infallible>(response)
        }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE_LIMIT)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    if let Ok(ended) = tokio::time::timeout(UNAUTHORISED_LIMIT, connection.as_mut()).await {
        return Ok(ended?);
    }
    if is_authorised.load(Ordering::Relaxed) {
        connection.await?;
    }
    Ok(())
}

fn not_allowed() -> Response<super::answer::Body> {
    let message =
        "this address is in none of the networks that this engine's operator allows (--allow)";
    Refusal::new(StatusCode::FORBIDDEN, "not_allowed", message).into()
}
