//! Why a command failed, and the exit code that says so to scripts.

use proto::{FailureCode, ParameterError};

/// A command's failure.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Wrong usage, or a parameter that is refused: exit code 2.
    #[error("{0}")]
    Usage(String),
    /// The peer could not be reached: exit code 3.
    #[error("{0}")]
    Unreachable(String),
    /// The peer refused the token, or its fingerprint is not the pinned one: exit code 4.
    #[error("{0}")]
    Refused(String),
    /// The test failed: exit code 5.
    #[error("the test failed ({code}): {reason}")]
    Test {
        /// The failure code, as in the protocol.
        code: String,
        /// What failed and what to do.
        reason: String,
    },
    /// Stopped by Ctrl-C: exit code 130.
    #[error("interrupted; both ends were told to stop")]
    Interrupted,
    /// Anything else: exit code 1.
    #[error("{0:#}")]
    Other(#[from] anyhow::Error),
}

impl Failure {
    /// The process's exit code.
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Unreachable(_) => 3,
            Self::Refused(_) => 4,
            Self::Test { .. } => 5,
            Self::Interrupted => 130,
            Self::Other(_) => 1,
        }
    }

    /// The failure of a test that ended with `code`.
    pub fn of_test(code: FailureCode, reason: &str) -> Self {
        let name = serde_json::to_value(code).ok();
        let name = name.as_ref().and_then(serde_json::Value::as_str).unwrap_or("internal");
        match code {
            FailureCode::Unreachable => Self::Unreachable(reason.to_owned()),
            FailureCode::Refused => Self::Refused(reason.to_owned()),
            _ => Self::Test { code: name.to_owned(), reason: reason.to_owned() },
        }
    }
}

impl From<ParameterError> for Failure {
    fn from(error: ParameterError) -> Self {
        Self::Usage(error.message)
    }
}
