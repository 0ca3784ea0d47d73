//! What the control plane refuses, and why.

use hyper::StatusCode;
use proto::{ParameterError, Reason};

/// A refusal: its status and what the controller reads.
#[derive(Debug)]
pub struct Refusal {
    pub status: StatusCode,
    pub code: &'static str,
    pub message: Reason,
    pub field: Option<String>,
}

impl Refusal {
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<Reason>) -> Self {
        Self { status, code, message: message.into(), field: None }
    }

    /// A specification that is well formed and can't be run: 422 with the field at fault.
    pub fn invalid(field: &str, message: impl Into<Reason>) -> Self {
        let refusal = Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", message);
        Self { field: Some(field.to_owned()), ..refusal }
    }

    pub fn not_found(message: impl Into<Reason>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", message)
    }
}

impl From<ParameterError> for Refusal {
    fn from(error: ParameterError) -> Self {
        Self::invalid(&error.field, error.message)
    }
}
