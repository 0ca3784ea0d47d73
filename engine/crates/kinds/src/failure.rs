//! Why a session ends early.

use proto::FailureCode;

/// Why a session can't go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// For programs.
    pub code: FailureCode,
    /// For people: what failed, where, and the next step.
    pub reason: String,
}

impl Failure {
    /// Makes a failure.
    pub fn new(code: FailureCode, reason: impl Into<String>) -> Self {
        Self { code, reason: reason.into() }
    }

    /// A fault of the engine's own or of a host out of resources.
    pub fn internal(reason: impl Into<String>) -> Self {
        Self::new(FailureCode::Internal, reason)
    }
}
