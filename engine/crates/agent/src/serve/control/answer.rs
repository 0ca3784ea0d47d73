//! Answers and refusals, as JSON.

use std::convert::Infallible;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use serde::Serialize;
use serde_json::json;

use crate::serve::refusal::Refusal;

/// An answer's body: whole, or a stream of events.
pub type Body = BoxBody<Bytes, Infallible>;

impl From<Refusal> for Response<Body> {
    fn from(refusal: Refusal) -> Self {
        let (message, data) = refusal.message.into_parts();
        let mut error = json!({"code": refusal.code, "message": message});
        if let Some(data) = data {
            error["message_data"] = json!(data);
        }
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
