//! A flow thread's work, and what it has from its session.

pub mod loops;

use std::os::fd::OwnedFd;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use proto::{Reason, reason};

use crate::end::End;
use crate::flow::counter::Counter;
use crate::flow::gate::{Gate, Phase, Pulse};
use crate::flow::part::Part;
use crate::flow::receipts::Receipts;
use crate::line::signal::Signal;
use crate::measurements::Finished;

/// A thread's work.
pub type Body = Box<dyn FnOnce(&End, &Cue) -> Finished + Send>;

/// One thread of one flow.
pub struct Task {
    /// What it does.
    pub part: Part,
    /// The flow's index.
    pub flow: u32,
    /// The work.
    pub body: Body,
}

impl Task {
    /// A task of the given part and flow.
    pub fn new(
        part: Part,
        flow: u32,
        body: impl FnOnce(&End, &Cue) -> Finished + Send + 'static,
    ) -> Self {
        Self { part, flow, body: Box::new(body) }
    }
}

/// What a running task has from its session.
pub struct Cue {
    /// The flow's index.
    pub flow: u32,
    /// The start barrier.
    pub gate: Arc<Gate>,
    /// The phase.
    pub pulse: Arc<Pulse>,
    /// Where this task counts.
    pub counter: Arc<Counter>,
    /// What this task's flow had received and when, around the end of the warm-up.
    pub receipts: Arc<Receipts>,
    /// The socket that it uses at the moment, if that is not its flow's.
    pub current: Arc<Current>,
    /// The session's main thread.
    pub signals: Sender<Signal>,
}

impl Cue {
    /// Waits for the start and tells when it was; none when the test was given up before it, or when the machine was
    /// so busy that it was over before this thread got going.
    pub fn start(&self) -> Option<Instant> {
        self.gate.pass().filter(|_| self.pulse.phase() != Phase::Over)
    }

    /// What this flow says of what ended it too early.
    pub fn fault(&self, why: impl Into<Reason>) -> Reason {
        Reason::joined([reason!("flow", flow = self.flow), why.into()], ": ")
    }
}

/// What a task is blocked on, where another thread may interrupt it: a socket that comes and goes, or a call on a socket
/// that may not be shut down.
#[derive(Debug, Default)]
pub struct Current {
    socket: Mutex<Option<Arc<OwnedFd>>>,
    thread: OnceLock<net::InterruptibleThread>,
}

impl Current {
    /// Shows a socket.
    pub fn set(&self, socket: &Arc<OwnedFd>) {
        *self.lock() = Some(Arc::clone(socket));
    }

    /// Hides it again; the last holder closes it.
    pub fn clear(&self) {
        self.lock().take();
    }

    /// Shows the thread itself, which then must expect `EINTR`.
    pub fn set_thread(&self, thread: net::InterruptibleThread) {
        // A task has one thread all its life.
        let _ = self.thread.set(thread);
    }

    /// Ends the traffic of the socket shown at the moment, and the blocking call of the thread.
    pub fn interrupt(&self) {
        if let Some(socket) = self.lock().as_ref() {
            net::end_traffic(socket);
        }
        if let Some(thread) = self.thread.get() {
            thread.interrupt();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<OwnedFd>>> {
        self.socket.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cue() -> Cue {
        Cue {
            flow: 0,
            gate: Arc::default(),
            pulse: Arc::new(Pulse::new(false)),
            counter: Arc::default(),
            receipts: Arc::default(),
            current: Arc::default(),
            signals: std::sync::mpsc::channel().0,
        }
    }

    #[test]
    fn a_flow_says_what_ended_it_with_its_number_and_code() {
        let said = cue().fault(reason!("flow_send_failed", why = "Broken pipe"));
        assert_eq!(&*said, "flow 0: send failed: Broken pipe");
        let bare = cue().fault("Broken pipe");
        assert_eq!(&*bare, "flow 0: Broken pipe");
        let (_, data) = bare.into_parts();
        assert_eq!(data.expect("its number has a code").code, "joined");
    }

    #[test]
    fn a_thread_that_gets_going_after_the_test_has_nothing_to_do() {
        let cue = cue();
        let opened_at = cue.gate.open();
        assert_eq!(cue.start(), Some(opened_at));
        cue.pulse.set(Phase::Over);
        assert_eq!(cue.start(), None);
    }
}
