//! What a flow thread does in a test.

/// What a task does in the test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Sends a stream until its time is over.
    Sender,
    /// Receives a stream until its end.
    Receiver,
    /// Makes transactions until its time is over.
    Client,
    /// Answers until the flow ends.
    Server,
}

impl Part {
    /// Whether this part keeps the test's time.
    pub fn is_timed(self) -> bool {
        matches!(self, Self::Sender | Self::Client)
    }

    /// Whether intervals are made of what this part counts.
    pub fn is_measuring(self) -> bool {
        matches!(self, Self::Receiver | Self::Client)
    }
}
