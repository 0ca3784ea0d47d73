//! Descriptors on their way to a session's process, which may be slow to take them.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use proto::{AgentMessage, DescriptorRole, FailureCode, Lane, reason};

use crate::serve::engine::Engine;
use crate::serve::sessions::session::Session;

/// Hundreds of flows that come at once fill the channel; the process empties it meanwhile.
const RETRY_INTERVAL: Duration = Duration::from_millis(2);
/// A process that takes nothing for so long hangs.
const PATIENCE: Duration = Duration::from_secs(3);

impl Engine {
    /// Passes a flow's connection to its session.
    pub fn pass_flow(
        &self,
        session: &Arc<Session>,
        lane: Lane,
        index: u32,
        descriptor: BorrowedFd<'_>,
    ) {
        self.pass(session, lane, DescriptorRole::Flow, index, descriptor);
    }

    /// Passes a descriptor to a session's process, and never waits for it: other sessions' connections come by here.
    pub fn pass(
        &self,
        session: &Arc<Session>,
        lane: Lane,
        role: DescriptorRole,
        index: u32,
        descriptor: BorrowedFd<'_>,
    ) {
        let message = AgentMessage::Descriptor { role, index, lane };
        let Some(live) = &session.live else { return };
        // A process that is gone needs no descriptor.
        let Ok(false) = live.channel.try_send(&message, Some(descriptor)) else { return };
        let Ok(descriptor) = descriptor.try_clone_to_owned() else { return };
        let (engine, session) = (self.runtime.clone(), Arc::clone(session));
        engine.spawn(pass_later(session, message, descriptor));
    }
}

async fn pass_later(session: Arc<Session>, message: AgentMessage, descriptor: OwnedFd) {
    use std::os::fd::AsFd as _;
    let Some(live) = &session.live else { return };
    let tries = PATIENCE.as_millis() / RETRY_INTERVAL.as_millis();
    for _ in 0..tries {
        tokio::time::sleep(RETRY_INTERVAL).await;
        let Ok(false) = live.channel.try_send(&message, Some(descriptor.as_fd())) else { return };
    }
    let reason = reason!("says_process_stuck", seconds = PATIENCE.as_secs().to_string());
    live.give_up(FailureCode::Internal, reason);
}
