//! Why a command failed, and the exit code that says so to scripts.

use proto::{FailureCode, ParameterError};

/// Every exit code with its meaning.
pub const EXIT_CODES: [(u8, &str); 8] = [
    (0, "a whole result of every test"),
    (1, "a fault that is none of these, such as a full disk"),
    (2, "wrong usage, unknown kind, parameter refused"),
    (3, "the peer, or its data port, can't be reached"),
    (4, "refused: token, fingerprint, --allow, or the peer knows nothing of the session"),
    (5, "a test failed; what was measured until then is printed"),
    (6, "the confidence asked for was not reached"),
    (130, "interrupted; what was measured until then is printed"),
];

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
    /// Some of several tests failed; the others are printed: the first failure's exit code.
    #[error("{failed} of {tried} tests failed")]
    Some {
        /// How many failed.
        failed: usize,
        /// How many were run.
        tried: usize,
        /// The first failure's.
        exit_code: u8,
    },
    /// The repetitions vary too much: exit code 6.
    #[error("the confidence asked for was not reached")]
    NotConfident,
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
            Self::Some { exit_code, .. } => *exit_code,
            Self::NotConfident => 6,
            Self::Interrupted => 130,
            Self::Other(_) => 1,
        }
    }

    /// Whether another test would have no better luck.
    pub const fn ends_all(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::Refused(_) | Self::Interrupted)
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
        Self::Usage(error.message.to_string())
    }
}
