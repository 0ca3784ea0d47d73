//! The client: sends at fixed times and receives whenever something comes.

use std::time::{Duration, Instant};

use proto::{Reason, reason};

use super::tally::{Probed, Reply, Tally};
use super::{Plan, load, wire};
use crate::end::End;
use crate::flow::gate::Phase;
use crate::flow::pacer::BURST;
use crate::load::Load;
use crate::measurements::{Finished, Outcome, Own};
use crate::task::Cue;

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
            let fault = prober.run(&mut probed, begin).err();
            probed.elsewhere = prober.wire.elsewhere();
            fault
        }
    };
    Finished { outcome: Outcome::Own(Own::new(probed.span, probed)), fault }
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
    fn run(&mut self, probed: &mut Probed, begin: Instant) -> Result<(), Reason> {
        let idle = self.phase(&mut probed.idle, begin, &|| true);
        probed.span = Some((begin, Instant::now()));
        let loaded = match &self.end.load {
            Some(load) if idle.is_ok() && self.cue.pulse.phase() != Phase::Over => {
                self.loaded(probed, load)
            }
            _ => Ok(()),
        };
        idle.and(loaded)
    }

    /// Starts the load, sends as many probes again on its plateau, and lets it end.
    fn loaded(&mut self, probed: &mut Probed, load: &Load) -> Result<(), Reason> {
        let running = load.start(load::params(self.plan, load.params()), Duration::ZERO);
        let plateau = load::wait_for_plateau(self.cue, load, &running);
        if let Ok(Some(plateau)) = plateau {
            let tally = probed.loaded.insert(Tally::new(probed.idle.next_sequence()));
            let ended = self.phase(tally, plateau, &|| running.ended_at().is_none());
            probed.has_load_ended_early =
                tally.sent() < self.plan.count && self.cue.pulse.phase() != Phase::Over;
            if let Some((_, over)) = &mut probed.span {
                *over = Instant::now();
            }
            probed.load = load::finish(self.cue, &running);
            return ended;
        }
        running.cancel(load::CANCEL_LIMIT);
        plateau.map(|_| ())
    }

    /// Sends every probe of a phase that begins at `begin` while it goes on, and waits for the replies.
    ///
    /// Times are counted from the beginning: a late probe doesn't move the next, unless it is later than an interval.
    /// What a suspended client has not sent is not sent at once when it goes on, but at its intervals.
    fn phase(
        &mut self,
        tally: &mut Tally,
        mut begin: Instant,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<(), Reason> {
        while self.cue.pulse.phase() != Phase::Over {
            let now = Instant::now();
            let is_all_sent = tally.sent() >= self.plan.count || !goes_on();
            let until = if is_all_sent { tally.give_up_at() } else { self.due(begin, tally) };
            let until = until.unwrap_or(now);
            if is_all_sent && (tally.lost() == 0 || now >= until) {
                return Ok(());
            }
            if !is_all_sent && now >= until {
                let late = now - until;
                if late > self.plan.interval.max(BURST) {
                    begin += late;
                    tally.held_up += late;
                }
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

    fn send(&mut self, tally: &mut Tally) -> Result<(), Reason> {
        let number = tally.next_sequence();
        tally.send(Instant::now());
        match self.wire.send(number) {
            Ok(()) | Err(net::Errno::INTR) => Ok(()),
            Err(error) if is_of_the_path(error) => {
                tally.refused += 1;
                Ok(())
            }
            Err(error) => self.fault(error, |why| reason!("flow_no_probe", why = why)),
        }
    }

    fn receive(&mut self, tally: &mut Tally) -> Result<(), Reason> {
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
            Err(error) => self.fault(error, |why| reason!("flow_no_reply", why = why)),
        }
    }

    /// A fault, unless the session is what ended the traffic.
    fn fault(&self, error: net::Errno, say: impl Fn(String) -> Reason) -> Result<(), Reason> {
        if self.cue.pulse.phase() == Phase::Over {
            return Ok(());
        }
        Err(say(error.to_string()))
    }
}

/// What a path or a filter on it may do to one probe: it is lost, and the next may not be.
fn is_of_the_path(error: net::Errno) -> bool {
    net::may_pass(error) || matches!(error, net::Errno::PERM | net::Errno::ACCESS)
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::sync::Arc;
    use std::thread;

    use super::*;
    use crate::flow::gate::Pulse;
    use crate::settings::Settings;

    const COUNT: u64 = 10;

    fn params() -> proto::Params {
        proto::Params::from([
            ("probe", "udp".into()),
            ("count", COUNT.into()),
            ("probe_interval_seconds", 0.01.into()),
            ("payload_bytes", 32.into()),
        ])
    }

    fn end(socket: UdpSocket) -> End {
        End {
            role: proto::Role::Source,
            settings: Settings::read(&params()).expect("valid"),
            cookie: proto::Cookie::new([7; 32]),
            load: None,
            flows: vec![socket.into()],
            peer: None,
            local: net::LocalEnd::default(),
            are_small_numbered: true,
            lent: None,
            ports: None,
            round_trip: std::time::Duration::ZERO,
            wake: net::Wake::new().expect("a descriptor"),
        }
    }

    fn cue() -> Cue {
        let cue = Cue {
            flow: 0,
            gate: Arc::default(),
            pulse: Arc::new(Pulse::new(false)),
            counter: Arc::default(),
            receipts: Arc::default(),
            current: Arc::default(),
            signals: std::sync::mpsc::channel().0,
        };
        cue.gate.open();
        cue
    }

    /// Answers the third and eighth probe not at all, and the fourth and ninth twice.
    fn answer_faultily(socket: &UdpSocket) {
        let mut buffer = [0; 64];
        for number in 0..COUNT {
            let Ok(bytes) = socket.recv(&mut buffer) else { return };
            let answers = match number % 5 {
                2 => 0,
                3 => 2,
                _ => 1,
            };
            for _ in 0..answers {
                socket.send(&buffer[..bytes]).unwrap();
            }
        }
    }

    #[test]
    fn unanswered_probes_are_lost_and_second_answers_are_duplicates_exactly() {
        let (near, far) =
            (UdpSocket::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
        near.connect(far.local_addr().unwrap()).unwrap();
        far.connect(near.local_addr().unwrap()).unwrap();
        far.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let responder = thread::spawn(move || answer_faultily(&far));
        let (end, cue) = (end(near), cue());
        let begun = Instant::now();
        let finished = run(&end, &cue, &Plan::read(&params()));
        responder.join().unwrap();
        let Outcome::Own(own) = finished.outcome else { panic!("probes were sent") };
        let probed: &Probed = own.figures().expect("a prober's");
        assert_eq!((finished.fault, probed.idle.sent(), probed.idle.lost()), (None, 10, 2));
        assert_eq!((probed.idle.duplicates, probed.idle.foreign), (2, 0));
        assert_eq!(cue.counter.read().units, 8);
        // The last probe goes out after nine intervals; lost ones are then waited for.
        assert!(begun.elapsed() >= Duration::from_millis(1_090), "{:?}", begun.elapsed());
    }
}
