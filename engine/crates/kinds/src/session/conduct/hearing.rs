//! What the threads, the agent and the peer say while a test runs.

use std::time::Instant;

use proto::LinkMessage;

use super::{Conduct, FAULT_PATIENCE, INTERRUPT_INTERVAL};
use crate::failure::Failure;
use crate::flow::gate::Phase;
use crate::flow::part::Part;
use crate::flow::thread_times::ThreadTimes;
use crate::line::signal::Signal;
use crate::measurements::Finished;
use crate::session::quiet::Quiet;
use crate::session::threads::Threads;
use crate::supply::Supply;

impl Conduct<'_> {
    pub(super) fn handle(&mut self, signal: Signal) -> Result<(), Failure> {
        match signal {
            Signal::Done { task, finished, times } => self.take_outcome(task, *finished, times),
            Signal::Mark { flow, offset_bytes } => {
                self.line.tell(&LinkMessage::Mark { flow, offset_bytes })?;
            }
            Signal::Link(message) => self.take_message(message),
            Signal::Supply(Supply::Flow { fd, .. }) => {
                if let Some(lent) = &self.setup.end.lent {
                    lent.handed_over.push(fd);
                }
            }
            Signal::Supply(_) | Signal::Connected(_) | Signal::LinkLost(_) => {}
        }
        Ok(())
    }

    pub(super) fn take_outcome(&mut self, task: usize, finished: Finished, times: ThreadTimes) {
        if let Some(threads) = self.threads.as_mut() {
            threads.note_done(task, times);
        }
        if let Some(reason) = finished.fault.filter(|_| self.fault.is_none()) {
            let patience = FAULT_PATIENCE + self.line.round_trip();
            self.fault = Some((Instant::now() + patience, reason));
        }
        self.measured.outcomes.push(finished.outcome);
        // A stream's last byte has arrived, perhaps long after the sender's word of its end.
        if self.threads.as_ref().is_some_and(Threads::are_done) {
            self.freeze_meter();
            self.drop_what_was_cut();
        }
    }

    pub(super) fn take_message(&mut self, message: LinkMessage) {
        match message {
            LinkMessage::Interval { interval } => self.take_interval(*interval),
            LinkMessage::Mark { flow, offset_bytes } => {
                if let Some(cuts) = self.clock.as_mut().and_then(|clock| clock.cuts.as_mut()) {
                    cuts.mark(flow, offset_bytes);
                }
            }
            LinkMessage::Stop { flows } => self.take_stop(flows),
            LinkMessage::Report { report } => {
                self.peer_report = Some(*report);
                // A sink that has reported may go, even if our own last datagrams are still waited for.
                self.line.expect_end();
            }
            // Set-up messages have no meaning any more.
            _ => {}
        }
    }

    pub(super) fn take_stop(&mut self, flows: Vec<proto::SentCount>) {
        let expected = flows.iter().map(|flow| flow.packets).sum();
        self.measured.peer_sent = Some(flows);
        let threads = self.threads();
        let (is_timed, has_servers) = (threads.timed_count() > 0, threads.has(Part::Server));
        let awaits_datagrams = threads.has(Part::Receiver) && self.brief.transport.has_datagrams();
        let awaits_stream = threads.has(Part::Receiver) && !awaits_datagrams;
        let units = threads.measured_units();
        if self.clock.is_none() {
            return;
        }
        if !is_timed && !awaits_stream {
            self.freeze_meter();
        }
        if has_servers {
            self.pulse.set(Phase::Over);
            self.interrupt_all();
            self.clock().next_interrupt = Some(Instant::now() + INTERRUPT_INTERVAL);
        }
        if awaits_datagrams {
            let rtt = self.line.link().and_then(crate::line::link::Link::rtt);
            let clock = self.clock();
            let since = (clock.origin, Instant::now());
            clock.quiet = Some(Quiet::new(since, expected, units, rtt));
        }
    }
}
