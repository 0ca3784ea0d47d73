//! Why a session ends early.

use proto::{FailureCode, Reason};

/// Why a session can't go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// For programs.
    pub code: FailureCode,
    /// For people: what failed, where, and the next step.
    pub reason: Reason,
}

impl Failure {
    /// Makes a failure.
    pub fn new(code: FailureCode, reason: impl Into<Reason>) -> Self {
        Self { code, reason: reason.into() }
    }

    /// A fault of the engine's own or of a host out of resources.
    pub fn internal(reason: impl Into<Reason>) -> Self {
        Self::new(FailureCode::Internal, reason)
    }
}
