//! The loops of stream flows' threads: one that sends and one that receives, whatever the transport and the mode.

use std::time::Instant;

use net::Errno;
use proto::{Reason, reason};

use crate::flow::gate::{Phase, Pulse};
use crate::task::Cue;

/// What a flow sends, and how.
pub trait Sending {
    /// Waits until something is due, or the test is over; the phase by then.
    fn wait(&mut self, pulse: &Pulse) -> Phase;
    /// Ends the warm-up: counting begins anew. When the window began.
    ///
    /// # Errors
    /// Why it can't go on.
    fn begin_window(&mut self) -> Result<Instant, Reason>;
    /// Sends what is due.
    ///
    /// # Errors
    /// What the call says; `EINTR` when it has to be tried again.
    fn send(&mut self) -> Result<(), Errno>;
    /// Counts a send that the kernel refused; false where the flow can't go on after it.
    fn refused(&mut self, _error: Errno) -> bool {
        false
    }
    /// What an error of a send means.
    fn explain(&self, error: Errno) -> Reason {
        error.to_string().into()
    }
}

/// Sends until the test is over: the phase is looked at once per send, the clock never. When the window began, if it
/// did, and what ended it too early.
#[inline]
pub fn send_until_over(
    cue: &Cue,
    (opened_at, has_warmup): (Instant, bool),
    sending: &mut impl Sending,
) -> (Option<Instant>, Option<Reason>) {
    // Not what the phase is by now: a thread that the machine held up has the warm-up's end still before it.
    let mut phase = Phase::first(has_warmup);
    let mut begin = (!has_warmup).then_some(opened_at);
    let fault = loop {
        let now_phase = sending.wait(&cue.pulse);
        if now_phase != phase {
            if phase == Phase::Warmup {
                match sending.begin_window() {
                    Ok(at) => begin = Some(at),
                    Err(fault) => break Some(fault),
                }
            }
            phase = now_phase;
            if phase == Phase::Over {
                break None;
            }
        }
        match sending.send() {
            Ok(()) | Err(Errno::INTR) => {}
            Err(_) if cue.pulse.phase() == Phase::Over => break None,
            Err(error) if sending.refused(error) => {}
            Err(error) => {
                let why = sending.explain(error);
                break Some(cue.fault(reason!("flow_send_failed", why = why)));
            }
        }
    };
    (begin, fault)
}

/// Receives until the flow ends, which `receive` tells by false; what ended it too early. Errors that `may_pass` end
/// nothing.
#[inline]
pub fn receive_until_end(
    cue: &Cue,
    may_pass: impl Fn(Errno) -> bool,
    mut receive: impl FnMut() -> Result<bool, Errno>,
) -> Option<Reason> {
    loop {
        match receive() {
            Ok(true) => {}
            Ok(false) => return None,
            Err(error) if may_pass(error) => {}
            // The other end waits no longer for what this one still has to send.
            Err(_) if cue.pulse.phase() == Phase::Over => return None,
            Err(error) => {
                let why = error.to_string();
                return Some(cue.fault(reason!("flow_receive_failed", why = why)));
            }
        }
    }
}
