//! Answers and refusals, as JSON.

use std::convert::Infallible;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use proto::ParameterError;
use serde::Serialize;
use serde_json::json;

/// An answer's body: whole, or a stream of events.
pub type Body = BoxBody<Bytes, Infallible>;

/// A refusal: its status and what the controller reads.
#[derive(Debug)]
pub struct Refusal {
    pub status: StatusCode,
    pub code: &'static str,
    pub message: String,
    pub field: Option<String>,
}

impl Refusal {
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), field: None }
    }

    /// A specification that is well formed and can't be run: 422 with the field at fault.
    pub fn invalid(field: &str, message: impl Into<String>) -> Self {
        let refusal = Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", message);
        Self { field: Some(field.to_owned()), ..refusal }
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", message)
    }
}

impl From<ParameterError> for Refusal {
    fn from(error: ParameterError) -> Self {
        Self::invalid(&error.field, error.message)
    }
}

impl From<Refusal> for Response<Body> {
    fn from(refusal: Refusal) -> Self {
        let mut error = json!({"code": refusal.code, "message": refusal.message});
        if let Some(field) = refusal.field {
            error["field"] = field.into();
        }
        document(refusal.status, &json!({"error": error}))
    }
}

/// Answers with a JSON document.
pub fn document(status: StatusCode, document: &impl Serialize) -> Response<Body> {
    // Every document here has texts as keys, so it can be written.
    let bytes = serde_json::to_vec(document).unwrap_or_default();
    let mut response = Response::new(Full::new(Bytes::from(bytes)).boxed());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
