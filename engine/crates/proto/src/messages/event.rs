//! What a session tells its controller.

use serde::{Deserialize, Serialize};

use crate::{Interval, Reason, RunResult, Timestamp};

/// Where a session stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SessionState {
    /// Ready for connections.
    Prepared,
    /// Measuring.
    Running,
    /// Ended with a result.
    Finished,
    /// Ended without a whole result.
    Failed,
    /// Stopped on request.
    Cancelled,
}

impl SessionState {
    /// Whether nothing follows this state.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Finished | Self::Failed | Self::Cancelled)
    }
}

/// Why a session failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FailureCode {
    /// The peer refused the link, a flow or the test.
    Refused,
    /// The peer's data port could not be reached.
    Unreachable,
    /// The peer fell silent or went away in mid-test.
    PeerLost,
    /// The controller was silent for longer than its lease.
    ControllerLost,
    /// Someone asked to stop.
    Cancelled,
    /// The session can't be run as asked for on this host.
    Invalid,
    /// The test came to its end, and nothing of what was sent had arrived.
    NothingArrived,
    /// A limit of the engine or host was reached.
    Limit,
    /// A fault of the engine's own.
    Internal,
}

/// One thing that happened, before the agent numbers it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EventBody {
    /// The session entered a state that is not final.
    State {
        /// The state.
        state: SessionState,
        /// When the measured traffic began.
        started_at: Timestamp,
    },
    /// One interval was measured.
    Interval {
        /// The interval.
        interval: Box<Interval>,
    },
    /// The session ended well (final).
    Result {
        /// Always `finished`.
        state: SessionState,
        /// What it measured.
        result: Box<RunResult>,
    },
    /// The session ended badly (final).
    Failure {
        /// `failed` or `cancelled`.
        state: SessionState,
        /// The kind of failure.
        code: FailureCode,
        /// What failed, where, and the next step.
        #[serde(flatten)]
        reason: Reason,
        /// What was measured up to then.
        partial: Option<Box<RunResult>>,
    },
}

impl EventBody {
    /// The final event of a session that finished.
    #[must_use]
    pub fn finished(result: RunResult) -> Self {
        Self::Result { state: SessionState::Finished, result: Box::new(result) }
    }

    /// The final event of a session that failed, or was cancelled when `code` says so.
    #[must_use]
    pub fn failure(
        code: FailureCode,
        reason: impl Into<Reason>,
        partial: Option<RunResult>,
    ) -> Self {
        let state = match code {
            FailureCode::Cancelled => SessionState::Cancelled,
            _ => SessionState::Failed,
        };
        Self::Failure { state, code, reason: reason.into(), partial: partial.map(Box::new) }
    }

    /// Whether no event may follow this one.
    #[must_use]
    pub const fn is_final(&self) -> bool {
        matches!(self, Self::Result { .. } | Self::Failure { .. })
    }
}

/// One numbered event of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Event {
    /// 1 for a session's first event, without gaps.
    pub id: u64,
    /// When the agent saw it.
    pub at: Timestamp,
    /// What happened.
    #[serde(flatten)]
    pub body: EventBody,
}
