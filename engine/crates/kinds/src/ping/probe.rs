//! The client: sends at fixed times and receives whenever something comes.

use std::time::Instant;

use super::tally::{Probed, Reply, Tally};
use super::{Plan, wire};
use crate::gate::Phase;
use crate::kind::{Cue, End, Finished, Outcome};

/// Probes until every phase is over.
pub fn run(end: &End, cue: &Cue, plan: &Plan) -> Finished {
    let mut probed = Probed::default();
    // Late wake-ups would show as late probes.
    net::tighten_timer_slack();
    let opened = wire::open(end, cue, plan);
    let begin = cue.start();
    let fault = match (opened, begin) {
        (Err(reason), _) => Some(reason),
        (Ok(_), None) => None,
        (Ok(wire), Some(begin)) => {
            let mut prober = Prober { end, cue, plan, wire, replies: 0, nanoseconds: 0 };
            prober.run(&mut probed, begin).err()
        }
    };
    Finished { outcome: Outcome::Probed(Box::new(probed)), fault }
}

struct Prober<'a> {
    end: &'a End,
    cue: &'a Cue,
    plan: &'a Plan,
    wire: Box<dyn wire::Wire + 'a>,
    /// Replies of all phases, and the sum of their round trips: what intervals are made of.
    replies: u64,
    nanoseconds: u64,
}

impl Prober<'_> {
    fn run(&mut self, probed: &mut Probed, begin: Instant) -> Result<(), String> {
        let ended = self.phase(&mut probed.idle, begin);
        probed.span = Some((begin, Instant::now()));
        ended
    }

    /// Sends every probe of a phase that begins at `begin`, and waits for the replies.
    fn phase(&mut self, tally: &mut Tally, begin: Instant) -> Result<(), String> {
        while self.cue.pulse.phase() != Phase::Over {
            let now = Instant::now();
            let is_all_sent = tally.sent() >= self.plan.count;
            // Times are counted from the beginning: a late probe doesn't move the next.
            let until = if is_all_sent { tally.give_up_at() } else { self.due(begin, tally) };
            let until = until.unwrap_or(now);
            if is_all_sent && (tally.lost() == 0 || now >= until) {
                return Ok(());
            }
            if !is_all_sent && now >= until {
                self.send(tally)?;
                continue;
            }
            let limit = Some(until.saturating_duration_since(now));
            if matches!(
                net::wait_readable(self.wire.socket(), &self.end.wake, limit),
                Ok(net::Readiness::Readable)
            ) {
                self.receive(tally)?;
            }
        }
        Ok(())
    }

    fn due(&self, begin: Instant, tally: &Tally) -> Option<Instant> {
        let number = u32::try_from(tally.sent()).ok()?;
        begin.checked_add(self.plan.interval.checked_mul(number)?)
    }

    fn send(&mut self, tally: &mut Tally) -> Result<(), String> {
        let number = tally.next_sequence();
        tally.send(Instant::now());
        match self.wire.send(number) {
            Ok(()) | Err(net::Errno::INTR) => Ok(()),
            Err(error) if is_of_the_path(error) => {
                tally.refused += 1;
                Ok(())
            }
            Err(error) => self.fault("probes can't be sent", error),
        }
    }

    fn receive(&mut self, tally: &mut Tally) -> Result<(), String> {
        let (replies, nanoseconds) = (&mut self.replies, &mut self.nanoseconds);
        let received = self.wire.receive(&mut |number, at| {
            if let Reply::First(round_trip) = tally.take(number, at) {
                *replies += 1;
                *nanoseconds = nanoseconds.saturating_add(round_trip);
            }
        });
        self.cue.counter.set_latency_nanoseconds(self.nanoseconds);
        self.cue.counter.set_units(self.replies);
        match received {
            Ok(()) | Err(net::Errno::INTR | net::Errno::AGAIN) => Ok(()),
            // The kernel tells of an earlier probe: it stays unanswered.
            Err(error) if is_of_the_path(error) => Ok(()),
            Err(error) => self.fault("no reply can be received", error),
        }
    }

    /// A fault, unless the session is what ended the traffic.
    fn fault(&self, what: &str, error: net::Errno) -> Result<(), String> {
        if self.cue.pulse.phase() == Phase::Over {
            return Ok(());
        }
        Err(format!("{what}: {error}"))
    }
}

/// What a path or a filter on it may do to one probe: it is lost, and the next may not be.
fn is_of_the_path(error: net::Errno) -> bool {
    matches!(
        error,
        net::Errno::CONNREFUSED
            | net::Errno::HOSTUNREACH
            | net::Errno::NETUNREACH
            | net::Errno::HOSTDOWN
            | net::Errno::NETDOWN
            | net::Errno::NOBUFS
            | net::Errno::PERM
            | net::Errno::ACCESS
    )
}
