//! The end of the traffic: what is told to the peer, and who is woken.

use std::time::Instant;

use proto::{LinkMessage, Role};

use super::{Conduct, INTERRUPT_INTERVAL};
use crate::failure::Failure;
use crate::flow::gate::Phase;
use crate::flow::part::Part;
use crate::outcome::streams;

impl Conduct<'_> {
    /// The time is over: senders and clients stop, wherever they are blocked.
    pub(super) fn end_traffic(&mut self) {
        self.pulse.set(Phase::Over);
        self.freeze_meter();
        self.note_connections_after();
        let threads = self.threads();
        if threads.has(Part::Client) {
            self.interrupt_all();
            self.clock().next_interrupt = Some(Instant::now() + INTERRUPT_INTERVAL);
        } else {
            self.brief.transport.end_sending(&self.setup.end.flows);
        }
    }

    pub(super) fn interrupt_again(&mut self, now: Instant) {
        if self.clock().next_interrupt.take_if(|due| now >= *due).is_some()
            && !self.threads().are_done()
        {
            self.threads().interrupt_current();
            self.clock().next_interrupt = Some(now + INTERRUPT_INTERVAL);
        }
    }

    pub(super) fn interrupt_all(&self) {
        self.setup.end.wake.ring();
        if let Some(lent) = &self.setup.end.lent {
            lent.handed_over.end();
        }
        self.setup.end.flows.iter().for_each(net::end_traffic);
        self.threads().interrupt_current();
    }

    /// Tells the peer what was sent, once all tasks have ended; receivers of datagrams wait for the
    /// peer's word themselves, so there it is told when the senders have.
    pub(super) fn tell_stop(&mut self) -> Result<(), Failure> {
        let threads = self.threads();
        let has_timed = threads.timed_count() > 0;
        let is_early = has_timed && self.brief.transport.has_datagrams();
        let has_stopped = if is_early { threads.timed_are_done() } else { threads.are_done() };
        // A sink without senders has nothing to tell; its report says when it is done.
        let is_silent = self.role() == Role::Sink && !has_timed;
        if self.is_stop_told || !(has_stopped || is_silent) {
            return Ok(());
        }
        self.is_stop_told = true;
        if is_silent {
            return Ok(());
        }
        self.freeze_meter();
        let flows = streams::sent_counts(&self.measured);
        self.line.tell(&LinkMessage::Stop { flows })
    }
}
