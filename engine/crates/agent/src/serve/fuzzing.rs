//! Parsers of what comes from the network, as they are, for the crate `fuzz`; each panics when what must hold doesn't.
#![allow(clippy::missing_panics_doc, reason = "that is what they are for")]

use proto::{Catalog, SessionSpec};

use crate::serve::admission::demand::Demand;
use crate::serve::admission::limits::{Limits, Whose};
use crate::serve::admission::tokens::{Tokens, bearer_key};

/// Whether an input is a session's specification; holds it against limits, as a PUT does.
#[must_use]
pub fn specification(bytes: &[u8]) -> bool {
    let Ok(mut spec) = proto::parse_json::<SessionSpec>(bytes) else { return false };
    let Ok(filled) = Catalog::embedded().fill(&spec.kind, &spec.params) else { return false };
    spec.params = filled;
    let demand = Demand::of(&spec);
    assert!(demand.flows >= 1 && demand.memory_bytes > 0.0 && demand.rate_bps >= 0.0);
    let limits = Limits { flows: Some(demand.flows - 1), ..Limits::default() };
    let refusal = limits.check(Whose::Engine, &demand).expect_err("one flow too many was admitted");
    assert!(refusal.field.is_some_and(|field| field.starts_with("params.")));
    true
}

/// Whether an input is a token file.
#[must_use]
pub fn token_file(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let Ok(tokens) = Tokens::parse(text) else { return false };
    assert!(bearer_key(b"Bearer ").is_some_and(|empty| tokens.holder(&empty).is_none()));
    assert!(bearer_key(b"").is_none());
    true
}

/// Whether an input is an id or an event's number, as in a request's path and query.
#[must_use]
pub fn query(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let is_id = proto::is_session_id(text);
    assert!(!is_id || !text.contains(['/', '.', '\0']), "an id names another file");
    crate::serve::control::routes::after(text).is_ok() || is_id
}
