//! A controller replaces its token, or the engine's certificate: both old and new are valid until the new one is used.

use hyper::StatusCode;
use proto::{Reason, TokenKey, reason};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::serve::admission::tokens::{Holder, TOKENS_AT_MOST, check_token};
use crate::serve::engine::Engine;
use crate::serve::refusal::Refusal;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenRequest {
    token: String,
}

impl Engine {
    /// The token that a key is that of, as long as it is valid; notes that it is used.
    pub fn holder_of(&self, key: &TokenKey) -> Option<std::sync::Arc<Holder>> {
        self.tokens.holder(&self.successors.stands_for(key, &self.tokens.keys())?)
    }

    /// Takes a further token in the place of the caller's.
    pub fn take_token(&self, holder: &Holder, body: &[u8]) -> Result<Value, Refusal> {
        let asked: TokenRequest = proto::parse_json(body).map_err(|error| {
            Refusal::new(StatusCode::BAD_REQUEST, "malformed", error.to_string())
        })?;
        check_token(&asked.token).map_err(|reason| Refusal::invalid("token", reason))?;
        let (key, known) = (proto::token_key(&asked.token), self.tokens.keys());
        let valid = self.valid_keys();
        if known.contains(&key) || valid.contains(&key) {
            return Err(Refusal::invalid("token", reason!("renewal_token_known")));
        }
        if valid.len() >= TOKENS_AT_MOST {
            let message = reason!("renewal_too_many_tokens", count = TOKENS_AT_MOST.to_string());
            return Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, "limit", message));
        }
        self.successors
            .add(&holder.digest, key, &known)
            .map_err(|error| unwritable(reason!("renewal_new_token"), &error))?;
        Ok(json!({"taken": true}))
    }

    /// Makes the next certificate and answers its fingerprint. It is everybody's: only who holds the token file's first
    /// token may ask for it.
    pub fn announce_certificate(&self, holder: &Holder) -> Result<Value, Refusal> {
        if self.tokens.keys().first() != Some(&holder.digest) {
            let message = reason!("renewal_not_first_token");
            return Err(Refusal::new(StatusCode::FORBIDDEN, "not_allowed", message));
        }
        let announced = self.identities.announce();
        let fingerprint =
            announced.map_err(|error| unwritable(reason!("renewal_new_certificate"), &error))?;
        Ok(json!({"fingerprint": fingerprint}))
    }

    /// The keys of all tokens that are valid.
    pub fn valid_keys(&self) -> Vec<TokenKey> {
        self.tokens.keys().iter().flat_map(|key| self.successors.keys_of(key)).collect()
    }
}

fn unwritable(what: Reason, error: &impl std::fmt::Display) -> Refusal {
    let message = reason!("renewal_unwritable", what = what, error = error.to_string());
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "internal", message)
}
