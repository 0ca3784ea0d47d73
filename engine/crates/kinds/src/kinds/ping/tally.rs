//! What became of each probe: pure, times come in as arguments.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use proto::{Outage, RunResult};
use stats::RoundTrips;

use crate::session::{SHORTEST_OUTAGE, SPACINGS_MISSING};

/// A phase without any reply ends this long after its last probe, as `ping` does.
pub const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// Late replies are waited for at least so long.
const SHORTEST_WAIT: Duration = Duration::from_secs(1);
/// A reply may take this many times the longest round trip so far.
const PATIENCE: u32 = 2;

/// Everything that the client has seen.
#[derive(Debug, Default)]
pub struct Probed {
    /// When the first probe was sent and the last phase ended.
    pub span: Option<(Instant, Instant)>,
    /// Without load.
    pub idle: Tally,
    /// Under load, once that has begun.
    pub loaded: Option<Tally>,
    /// What the load measured itself.
    pub load: Option<Box<RunResult>>,
    /// Addresses other than the peer's from which replies came.
    pub elsewhere: Vec<IpAddr>,
    /// Whether the load ended before the probes.
    pub has_load_ended_early: bool,
}

/// A reply's meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// The first answer to a probe, with its round trip in nanoseconds.
    First(u64),
    /// A probe was answered again.
    Duplicate,
    /// To a probe of an earlier phase, or to none that was sent.
    Foreign,
}

#[derive(Debug, Clone, Copy)]
struct Sent {
    at: Instant,
    is_answered: bool,
}

/// The probes of one phase.
#[derive(Debug, Default)]
pub struct Tally {
    first: u64,
    probes: Vec<Sent>,
    /// Round trips of the answered ones.
    pub round_trips: RoundTrips,
    /// Probes that the kernel refused to send: they are lost.
    pub refused: u64,
    /// How much longer than planned the phase took because its client was held up.
    pub held_up: Duration,
    /// Answers beyond a probe's first.
    pub duplicates: u64,
    /// Answers that came after their phase.
    pub foreign: u64,
}

impl Tally {
    /// A phase whose first probe has the sequence number `first`.
    pub fn new(first: u64) -> Self {
        Self { first, ..Self::default() }
    }

    /// The sequence number of the next probe.
    pub fn next_sequence(&self) -> u64 {
        self.first + self.sent()
    }

    /// Notes that the next probe goes out at `at`.
    pub fn send(&mut self, at: Instant) {
        self.probes.push(Sent { at, is_answered: false });
    }

    /// Takes a reply that arrived at `at`.
    pub fn take(&mut self, sequence: u64, at: Instant) -> Reply {
        let place = sequence.checked_sub(self.first).and_then(|place| usize::try_from(place).ok());
        let Some(probe) = place.and_then(|place| self.probes.get_mut(place)) else {
            self.foreign += 1;
            return Reply::Foreign;
        };
        if std::mem::replace(&mut probe.is_answered, true) {
            self.duplicates += 1;
            return Reply::Duplicate;
        }
        // A reply can't come before its probe: then the clocks misled, and the time of reading bounds it from above.
        let at = if at > probe.at { at } else { Instant::now() };
        let nanoseconds = at.saturating_duration_since(probe.at).as_nanos().max(1);
        let nanoseconds = u64::try_from(nanoseconds).unwrap_or(u64::MAX);
        self.round_trips.record(nanoseconds);
        Reply::First(nanoseconds)
    }

    /// Probes sent so far.
    pub fn sent(&self) -> u64 {
        self.probes.len() as u64
    }

    /// Probes without an answer.
    pub fn lost(&self) -> u64 {
        self.sent() - self.round_trips.count()
    }

    /// Lost probes by those sent; none when none was.
    pub fn loss_ratio(&self) -> Option<f64> {
        (self.sent() > 0).then(|| self.lost() as f64 / self.sent() as f64)
    }

    /// Times in which probe after probe got lost, in seconds since `origin`: from the first that was lost until the next
    /// that was answered.
    pub fn outages(&self, origin: Instant) -> Vec<Outage> {
        let runs = self.probes.chunk_by(|one, next| one.is_answered == next.is_answered);
        let mut place = 0;
        runs.filter_map(|run| {
            place += run.len();
            let (first, last) = (run.first()?, run.last()?);
            let until = self.probes.get(place).unwrap_or(last).at;
            let is_outage = !first.is_answered
                && run.len() >= SPACINGS_MISSING as usize
                && until.saturating_duration_since(first.at) >= SHORTEST_OUTAGE;
            let seconds = |at: Instant| at.saturating_duration_since(origin).as_secs_f64();
            is_outage
                .then(|| Outage { from_seconds: seconds(first.at), until_seconds: seconds(until) })
        })
        .collect()
    }

    /// When answers are no longer waited for, now that the last probe is sent: as `ping`, twice the longest round
    /// trip, at least a second; without any answer 10 s.
    pub fn give_up_at(&self) -> Option<Instant> {
        let last = self.probes.last()?.at;
        if self.round_trips.count() == 0 {
            return Some(last + LONGEST_WAIT);
        }
        let longest = Duration::from_nanos(self.round_trips.greatest());
        Some(last + (longest * PATIENCE).clamp(SHORTEST_WAIT, LONGEST_WAIT))
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Reply, Tally};

    const MILLISECOND: Duration = Duration::from_millis(1);

    fn three_sent(begin: Instant) -> Tally {
        let mut tally = Tally::new(10);
        (0..3).for_each(|number| tally.send(begin + MILLISECOND * number * 100));
        tally
    }

    #[test]
    fn no_round_trip_takes_no_time() {
        let begin = Instant::now();
        let mut tally = three_sent(begin);
        for early in [begin, begin.checked_sub(MILLISECOND).unwrap_or(begin)] {
            let Reply::First(nanoseconds) = tally.take(10, early) else {
                assert_eq!(tally.take(10, early), Reply::Duplicate);
                continue;
            };
            assert!(nanoseconds > 0);
        }
        assert!(tally.round_trips.summary().is_some_and(|summary| summary.min > 0.0));
    }

    #[test]
    fn a_probe_without_a_reply_is_lost_and_a_late_one_is_not() {
        let begin = Instant::now();
        let mut tally = three_sent(begin);
        assert_eq!(tally.take(12, begin + MILLISECOND * 201), Reply::First(1_000_000));
        assert_eq!(tally.take(10, begin + MILLISECOND * 250), Reply::First(250_000_000));
        assert_eq!((tally.sent(), tally.lost()), (3, 1));
        assert_eq!(
            tally.loss_ratio().map(|ratio| (ratio * 3.0).round().to_bits()),
            Some(1_f64.to_bits())
        );
    }

    #[test]
    fn a_second_reply_is_a_duplicate_and_changes_no_latency() {
        let begin = Instant::now();
        let mut tally = three_sent(begin);
        tally.take(10, begin + MILLISECOND);
        assert_eq!(tally.take(10, begin + MILLISECOND * 50), Reply::Duplicate);
        assert_eq!((tally.round_trips.count(), tally.round_trips.greatest()), (1, 1_000_000));
        assert_eq!((tally.duplicates, tally.foreign, tally.lost()), (1, 0, 2));
    }

    #[test]
    fn a_reply_to_an_earlier_phase_or_to_no_probe_counts_for_neither() {
        let begin = Instant::now();
        let mut tally = three_sent(begin);
        assert_eq!(tally.take(9, begin), Reply::Foreign);
        assert_eq!(tally.take(13, begin), Reply::Foreign);
        assert_eq!(tally.take(u64::MAX, begin), Reply::Foreign);
        assert_eq!((tally.foreign, tally.round_trips.count()), (3, 0));
    }

    #[test]
    fn replies_are_waited_for_as_ping_does() {
        let begin = Instant::now();
        let last = begin + MILLISECOND * 200;
        let mut tally = three_sent(begin);
        assert_eq!(tally.give_up_at(), Some(last + Duration::from_secs(10)));
        tally.take(10, begin + MILLISECOND);
        assert_eq!(tally.give_up_at(), Some(last + Duration::from_secs(1)));
        tally.take(11, begin + MILLISECOND * 3_100);
        assert_eq!(tally.give_up_at(), Some(last + Duration::from_secs(6)));
    }

    #[test]
    fn probes_lost_one_after_another_for_a_second_are_an_outage() {
        let begin = Instant::now();
        let outages = |lost: std::ops::Range<u64>| {
            let mut tally = Tally::new(0);
            (0..30).for_each(|number| tally.send(begin + MILLISECOND * number * 100));
            let answered = (0..30).filter(|number| !lost.contains(number));
            answered.for_each(|number| {
                tally.take(number, begin + MILLISECOND * 5_000);
            });
            let tenths = |seconds: f64| (seconds * 10.0).round();
            let found = tally.outages(begin).into_iter();
            found
                .map(|outage| [tenths(outage.from_seconds), tenths(outage.until_seconds)])
                .collect::<Vec<_>>()
        };
        assert_eq!(outages(10..20), [[10.0, 20.0]]);
        assert_eq!(outages(10..30), [[10.0, 29.0]]);
        assert!(outages(10..19).is_empty());
        assert!(outages(0..0).is_empty());
    }

    #[test]
    fn a_phase_without_probes_has_no_loss() {
        assert_eq!(Tally::new(0).loss_ratio(), None);
        assert_eq!(Tally::new(0).give_up_at(), None);
    }
}
