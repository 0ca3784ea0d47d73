//! A sending flow of a TCP stream: message after message, paced or not.

use std::os::fd::BorrowedFd;
use std::time::Instant;

use net::Errno;
use proto::Reason;

use super::message::{Message, Sender};
use super::pacing::{self, Cuts};
use crate::end::End;
use crate::flow::gate::{Phase, Pulse};
use crate::flow::pacer::{Pacer, Share};
use crate::line::signal::Signal;
use crate::measurements::{Finished, Outcome, Sent};
use crate::task::Cue;
use crate::task::loops::{Sending, send_until_over};

/// Sends until the test is over.
pub fn send_messages(end: &End, cue: &Cue, share: Share, message: &Message) -> Finished {
    let socket = end.flow(cue.flow);
    let sent = Sent {
        flow: cue.flow,
        connection_before: net::tcp_info(socket).map(Box::new),
        ..Sent::default()
    };
    let sender = match Sender::new(socket, message) {
        Ok(sender) => sender,
        Err(reason) => {
            let fault = Some(cue.fault(reason));
            return Finished { outcome: Outcome::Sent(sent), fault };
        }
    };
    let Some(opened_at) = cue.start() else {
        return Finished { outcome: Outcome::Sent(sent), fault: None };
    };
    let cuts = Cuts::of(message.len(), share.rate_bps);
    let pacer = Pacer::of_pieces(share, cuts.gap(), opened_at);
    if pacer.is_some() {
        pacing::hold_back(socket, &cuts);
    }
    let length = message.len();
    let mut flow = Flow { socket, cue, sender, cuts, pacer, length, begun: 0, until: length, sent };
    let has_warmup = !end.settings.warmup.is_zero();
    let (begin, fault) = send_until_over(cue, (opened_at, has_warmup), &mut flow);
    flow.finish(begin, fault)
}

struct Flow<'a> {
    socket: BorrowedFd<'a>,
    cue: &'a Cue,
    sender: Sender<'a>,
    cuts: Cuts,
    pacer: Option<Pacer>,
    length: usize,
    /// Bytes of the present message that are sent, and where the piece of it ends that is due.
    begun: usize,
    until: usize,
    sent: Sent,
}

impl Sending for Flow<'_> {
    #[inline]
    fn wait(&mut self, pulse: &Pulse) -> Phase {
        let (begun, until) = (self.begun, self.until);
        match self.pacer.as_mut().filter(|_| begun == 0 || begun == until) {
            None => pulse.phase(),
            Some(pacer) => {
                self.until = self.cuts.piece_after(begun);
                pacer.wait(pulse)
            }
        }
    }

    /// What was sent is the offset.
    #[cold]
    fn begin_window(&mut self) -> Result<Instant, Reason> {
        let begin = Instant::now();
        let signal = Signal::Mark { flow: self.cue.flow, offset_bytes: self.sent.bytes };
        // A session that is over needs no mark.
        let _ = self.cue.signals.send(signal);
        (self.sent.bytes, self.sent.messages) = (0, 0);
        self.sent.connection_before = net::tcp_info(self.socket).map(Box::new);
        if let Some(pacer) = self.pacer.as_mut() {
            pacer.begin_window();
        }
        Ok(begin)
    }

    #[inline]
    fn send(&mut self) -> Result<(), Errno> {
        let bytes = self.sender.send(self.begun, self.until)?;
        self.sent.bytes += bytes as u64;
        self.begun += bytes;
        if self.begun == self.length {
            self.sent.messages += 1;
            self.begun = 0;
        }
        Ok(())
    }

    #[cold]
    fn explain(&self, error: Errno) -> Reason {
        self.sender.explain(error)
    }
}

impl Flow<'_> {
    fn finish(mut self, begin: Option<Instant>, fault: Option<Reason>) -> Finished {
        let mut sent = self.sent;
        sent.span = begin.map(|begin| (begin, Instant::now()));
        sent.connection_after = net::tcp_info(self.socket).map(Box::new);
        sent.missed = self.pacer.map(|pacer| pacer.missed()).unwrap_or_default();
        sent.is_copied = self.sender.was_copied();
        Finished { outcome: Outcome::Sent(sent), fault }
    }
}
