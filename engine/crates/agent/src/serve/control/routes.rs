//! The control API's calls.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONNECTION, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use proto::{Catalog, FailureCode, Reason, Timestamp, reason};
use serde::Deserialize;
use serde_json::json;

use crate::serve::admission::tokens::{Holder, bearer_key};
use crate::serve::control::answer::{Body, document};
use crate::serve::control::creation::wait_until_prepared;
use crate::serve::control::event_stream;
use crate::serve::engine::Engine;
use crate::serve::refusal::Refusal;
use crate::serve::sessions::session::Session;

/// A proof's request is a nonce.
const PROOF_LIMIT_BYTES: usize = 1024;
const BODY_LIMIT_BYTES: usize = 256 * 1024;
/// So much of a body that is too long is read and thrown away before it is refused.
const DISCARD_LIMIT_BYTES: usize = 1024 * 1024;
const BODY_TIME_LIMIT: Duration = Duration::from_secs(5);

type Answer = Result<Response<Body>, Refusal>;

/// Answers one request of a token's holder.
pub async fn answer(
    engine: Arc<Engine>,
    holder: Arc<Holder>,
    request: Request<Incoming>,
) -> Response<Body> {
    route(&engine, &holder, request).await.unwrap_or_else(Into::into)
}

async fn route(engine: &Arc<Engine>, holder: &Holder, request: Request<Incoming>) -> Answer {
    let path = request.uri().path().to_owned();
    let segments: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    match (request.method(), segments.as_slice()) {
        (&Method::GET, ["v1", "about"]) => Ok(about(engine, holder)),
        (&Method::GET, ["v1", "catalog"]) => {
            Ok(document(StatusCode::OK, Catalog::embedded().document()))
        }
        (&Method::GET, ["v1", "facts"]) => facts().await,
        (&Method::GET, ["v1", "host"]) => {
            host(engine, request.uri().query().unwrap_or_default()).await
        }
        (&Method::POST, ["v1", "path-checks"]) => {
            let body = read(request, BODY_LIMIT_BYTES).await?;
            Ok(document(StatusCode::OK, &engine.check_path(&body).await?))
        }
        (&Method::POST, ["v1", "canary"]) => {
            Ok(document(StatusCode::OK, &engine.canary(holder).await?))
        }
        (&Method::POST, ["v1", "token"]) => {
            let body = read(request, BODY_LIMIT_BYTES).await?;
            Ok(document(StatusCode::OK, &engine.take_token(holder, &body)?))
        }
        (&Method::POST, ["v1", "certificate"]) => {
            Ok(document(StatusCode::OK, &engine.announce_certificate(holder)?))
        }
        (&Method::PUT, ["v1", "sessions", id]) => create(engine, holder, id, request).await,
        (&Method::GET, ["v1", "sessions", id]) => {
            let session = find(engine, holder, id)?;
            Ok(document(StatusCode::OK, &session.document(engine.data.port)))
        }
        (&Method::GET, ["v1", "sessions", id, "events"]) => {
            let last_seen_id = after(request.uri().query().unwrap_or_default())?;
            Ok(event_stream::stream(find(engine, holder, id)?, last_seen_id))
        }
        (&Method::POST, ["v1", "sessions", id, "cancel"]) => {
            cancel(engine, holder, id, request).await
        }
        (&Method::DELETE, ["v1", "sessions", id]) => {
            // Another token's session stays, and the answer is that of one that isn't there.
            if engine.visible(holder, id).is_some() {
                engine.forget(id);
            }
            Ok(document(StatusCode::OK, &json!({"id": id, "deleted": true})))
        }
        (method, _) => {
            let (method, path) = (method.as_str(), path.as_str());
            Err(Refusal::not_found(reason!("request_no_route", method = method, path = path)))
        }
    }
}

/// Whether a request is the one call that needs no token.
pub fn asks_for_proof(request: &Request<Incoming>) -> bool {
    request.method() == Method::POST && request.uri().path() == "/v1/proof"
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProofRequest {
    nonce: String,
}

/// Proves that this engine knows its tokens, so that a controller sends its own to no other. One proof a connection:
/// whoever floods pays for a handshake each time.
pub async fn proof(
    engine: &Engine,
    request: Request<Incoming>,
    fingerprint: &str,
) -> Response<Body> {
    let mut response = proofs(engine, request, fingerprint).await.unwrap_or_else(Into::into);
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

async fn proofs(engine: &Engine, request: Request<Incoming>, fingerprint: &str) -> Answer {
    let body = read(request, PROOF_LIMIT_BYTES).await?;
    let asked: ProofRequest =
        proto::parse_json(&body).map_err(|error| malformed(error.to_string()))?;
    if !proto::is_nonce(&asked.nonce) {
        return Err(Refusal::invalid("nonce", reason!("request_nonce")));
    }
    let keys = engine.valid_keys();
    let proofs = keys.iter().map(|key| proto::token_proof(key, &asked.nonce, fingerprint));
    let proofs: Vec<String> = proofs.collect();
    Ok(document(StatusCode::OK, &json!({"proofs": proofs})))
}

/// Whose token a request carries.
pub fn holder(engine: &Engine, request: &Request<Incoming>) -> Option<Arc<Holder>> {
    engine.holder_of(&bearer_key(request.headers().get(AUTHORIZATION)?.as_bytes())?)
}

fn about(engine: &Engine, holder: &Holder) -> Response<Body> {
    let catalog = Catalog::embedded();
    document(
        StatusCode::OK,
        &json!({
            "engine_version": proto::ENGINE_VERSION,
            "protocol_version": proto::PROTOCOL_VERSION,
            "catalog_version": catalog.version,
            "boot_id": crate::serve::sessions::uptime::boot_id(),
            "uptime_seconds": engine.started.elapsed().as_secs_f64(),
            "time": Timestamp::from(SystemTime::now()),
            "data_port": engine.data.port,
            "url_prefixes": engine.allowed_urls.0.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "disk_places": engine.disk_places,
            "sessions": engine.sessions.running(),
            "kinds": catalog.kinds.keys().collect::<Vec<_>>(),
            "limits": {"engine": engine.limits, "token": holder.limits},
        }),
    )
}

async fn facts() -> Answer {
    // Reading /proc and asking drivers may block.
    let facts = tokio::task::spawn_blocking(kinds::facts).await;
    let facts = facts.map_err(|error| {
        unreadable(reason!("request_facts_unreadable", why = error.to_string()))
    })?;
    Ok(document(StatusCode::OK, &facts))
}

/// How busy the host is, and the interface of `device=` or that holds `address=`.
async fn host(engine: &Engine, query: &str) -> Answer {
    let device = parameter(query, "device").map(str::to_owned);
    let address = match parameter(query, "address").map(str::parse) {
        None => None,
        Some(Ok(address)) => Some(address),
        Some(Err(_)) => return Err(Refusal::invalid("address", reason!("request_address"))),
    };
    let recent = engine.sampler.recent();
    // Asking drivers for the link's speed may block.
    let load =
        tokio::task::spawn_blocking(move || kinds::host_load(recent, address, device.as_deref()));
    let load = load
        .await
        .map_err(|error| unreadable(reason!("request_load_unreadable", why = error.to_string())))?;
    Ok(document(StatusCode::OK, &load))
}

fn unreadable(message: Reason) -> Refusal {
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "internal", message)
}

async fn create(
    engine: &Arc<Engine>,
    holder: &Holder,
    id: &str,
    request: Request<Incoming>,
) -> Answer {
    let body = read(request, BODY_LIMIT_BYTES).await?;
    let (session, is_new) = engine.create(holder, id, &body).await?;
    session.renew_lease();
    wait_until_prepared(&session).await;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok(document(status, &session.document(engine.data.port)))
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct CancelRequest {
    reason: Option<String>,
}

async fn cancel(
    engine: &Arc<Engine>,
    holder: &Holder,
    id: &str,
    request: Request<Incoming>,
) -> Answer {
    let body = read(request, BODY_LIMIT_BYTES).await?;
    let asked: CancelRequest = if body.is_empty() {
        CancelRequest::default()
    } else {
        proto::parse_json(&body).map_err(|error| malformed(error.to_string()))?
    };
    let session = find(engine, holder, id)?;
    let reason = asked.reason.map_or_else(|| reason!("says_cancelled"), Reason::from);
    engine.cancel(&session, FailureCode::Cancelled, &reason);
    Ok(document(StatusCode::OK, &session.document(engine.data.port)))
}

fn find(engine: &Engine, holder: &Holder, id: &str) -> Result<Arc<Session>, Refusal> {
    let session = engine.visible(holder, id).ok_or_else(|| {
        Refusal::not_found(reason!("request_no_session", session = format!("{id:?}")))
    })?;
    session.renew_lease();
    Ok(session)
}

/// The event id in `after=N`; 0 when there is none.
pub fn after(query: &str) -> Result<u64, Refusal> {
    let Some(value) = parameter(query, "after") else {
        return Ok(0);
    };
    value.parse().map_err(|_| malformed(reason!("request_no_event", value = value)))
}

/// The value of `name=` in a query, as it stands there.
fn parameter<'a>(query: &'a str, name: &str) -> Option<&'a str> {
    query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
}

async fn read(request: Request<Incoming>, limit_bytes: usize) -> Result<Bytes, Refusal> {
    let mut body = request.into_body();
    let limited = Limited::new(&mut body, limit_bytes).collect();
    match tokio::time::timeout(BODY_TIME_LIMIT, limited).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
            let _ = tokio::time::timeout(BODY_TIME_LIMIT, discard(&mut body)).await;
            let message = reason!("request_body_too_long", bytes = limit_bytes);
            Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message))
        }
        Ok(Err(error)) => {
            Err(malformed(reason!("request_body_unreadable", why = error.to_string())))
        }
        Err(_) => {
            let seconds = BODY_TIME_LIMIT.as_secs();
            Err(malformed(reason!("request_body_late", seconds = seconds)))
        }
    }
}

/// Reads on for a while, for who is still sending when the connection closes may never see why.
async fn discard(body: &mut Incoming) {
    let mut left = DISCARD_LIMIT_BYTES;
    while let Some(Ok(frame)) = body.frame().await {
        let length = frame.data_ref().map_or(0, Bytes::len);
        match left.checked_sub(length) {
            Some(rest) => left = rest,
            None => return,
        }
    }
}

fn malformed(message: impl Into<Reason>) -> Refusal {
    Refusal::new(StatusCode::BAD_REQUEST, "malformed", message)
}
