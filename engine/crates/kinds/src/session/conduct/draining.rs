//! What is still on its way after a test's time: noted, waited for, and cut where that takes too long.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use super::Conduct;
use crate::flow::part::Part;
use crate::measurements::DrainCut;
use crate::session::drain::{self, Drain, Step};

impl Conduct<'_> {
    /// Notes what has come when the window is over, and ends a drain that takes too long.
    pub(super) fn look_at_drain(&mut self, now: Instant) {
        if self.threads().are_done() {
            self.clock().drain = None;
        }
        let needed = self.still_needed(now);
        match self.clock().drain.as_mut().and_then(|drain| drain.step(now, needed)) {
            Some(Step::Hold) => {
                let (held, count) = (self.received_until(now), self.threads().count());
                let clock = self.clock();
                clock.drain.iter_mut().for_each(|drain| drain.hold(held.clone()));
                clock.intervals.iter_mut().for_each(|intervals| intervals.hold(now, count));
            }
            Some(Step::Cut(cut)) => {
                self.measured.drain_cut = Some(cut);
                for flow in &self.setup.end.flows {
                    net::end_reading(flow);
                    // What is in the send buffers would go on into the next test.
                    let _ = net::reset_on_close(flow.as_fd());
                }
            }
            None => {}
        }
    }

    /// How long the rest of the streams takes, once the sender has told how much it sent.
    fn still_needed(&self, now: Instant) -> Option<Duration> {
        if !self.brief.transport.has_connections() {
            return None;
        }
        let sent: u64 = self.measured.peer_sent.as_ref()?.iter().map(|flow| flow.bytes).sum();
        let clock = self.clock.as_ref()?;
        let begin = clock.origin + self.brief.settings.warmup;
        let since_begin = |at: Instant| at.saturating_duration_since(begin);
        let received = |bytes: u64| bytes.saturating_sub(self.bytes_before_window);
        let until_now = (received(self.threads().count().bytes), since_begin(now));
        let held = clock.drain.as_ref().and_then(Drain::held);
        let in_window = held.map(|held| (received(held.bytes()), since_begin(held.at)));
        let rest = sent.saturating_sub(until_now.0);
        Some(drain::needed(rest, [Some(until_now), in_window].into_iter().flatten()))
    }

    fn received_until(&self, now: Instant) -> DrainCut {
        let end = &self.setup.end;
        let segments = |flow| {
            let info = net::tcp_info(end.flow(flow));
            info.and_then(|info| info.data_segments_received)
        };
        let flows = self
            .threads()
            .receipts()
            .map(|(flow, _, counter)| (flow, (counter.read().bytes, segments(flow))));
        DrainCut { at: now, flows: flows.collect() }
    }

    pub(super) fn has_cut_streams(&self) -> bool {
        self.measured.drain_cut.is_some() && self.brief.transport.has_connections()
    }

    /// Streams that were cut make room on the path for the last words.
    pub(super) fn drop_what_was_cut(&mut self) {
        if self.has_cut_streams() && !self.threads().has(Part::Sender) {
            self.setup.end.flows.iter().for_each(net::disconnect);
        }
    }
}
