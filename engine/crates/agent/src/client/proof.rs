//! First contact with an engine whose certificate isn't known: it gets the token only after it proved that it has it.

use std::net::SocketAddr;

use hyper::{Method, StatusCode};
use serde_json::{Value, json};

use super::{Client, ClientError, unreachable};

/// The fingerprint of the certificate with which the engine at `peer` proves that it knows `token`.
pub async fn proven_fingerprint(peer: SocketAddr, token: &str) -> Result<String, ClientError> {
    let nonce = nonce().map_err(|error| unreachable(peer, &error))?;
    let mut stranger = Client::open(peer, None, None).await?;
    let asked = json!({"nonce": nonce});
    let answer = stranger.call(Method::POST, "/v1/proof", Some(&asked)).await;
    let document = answer.map_err(|error| without_proof(peer, error))?;
    if proves(&document, token, &nonce, &stranger.fingerprint) {
        Ok(stranger.fingerprint)
    } else {
        Err(ClientError::UnknownToken { peer })
    }
}

fn proves(document: &Value, token: &str, nonce: &str, fingerprint: &str) -> bool {
    let proofs = document["proofs"].as_array().map(Vec::as_slice).unwrap_or_default();
    let proofs = proofs.iter().filter_map(Value::as_str);
    proto::is_proven(&proto::token_key(token), nonce, fingerprint, proofs)
}

/// An engine of before the call asks for a token first.
fn without_proof(peer: SocketAddr, error: ClientError) -> ClientError {
    match error {
        ClientError::Refused {
            status: StatusCode::NOT_FOUND | StatusCode::UNAUTHORIZED, ..
        } => ClientError::NoProof { peer },
        error => error,
    }
}

fn nonce() -> anyhow::Result<String> {
    let mut random = [0; 32];
    net::fill_random(&mut random).map_err(|error| anyhow::anyhow!("no random numbers: {error}"))?;
    Ok(proto::hex(&random))
}
