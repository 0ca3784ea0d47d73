//! Times in which nothing arrives though something is to: the path was cut for a while, and the test went on.

use std::time::{Duration, Instant};

use proto::Outage;

use crate::flow::counter::Count;

/// What is shorter is loss, or a retransmission that was lost too.
pub const LEAST: Duration = Duration::from_secs(1);
/// Over a far path what is sent again comes some round trips later.
const ROUND_TRIPS: u32 = 4;
/// Of traffic that comes in drops, so many have to be missing.
pub const SPACINGS: u32 = 4;
/// How exactly begin and end are known.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);
/// More of them say nothing more.
const TOLD_AT_MOST: usize = 100;

/// The watch over one end's arrivals.
pub struct Outages {
    origin: Instant,
    end: Duration,
    least: Duration,
    next: Instant,
    last: (Duration, Count),
    found: Vec<Outage>,
}

impl Outages {
    /// A watch from `origin` on for `total`, over a path of this round trip; what `allowed` is no longer than is none.
    pub fn new(origin: Instant, total: Duration, allowed: Duration, round_trip: Duration) -> Self {
        Self {
            origin,
            end: total,
            least: (LEAST + round_trip * ROUND_TRIPS).max(allowed),
            next: origin + LOOK_INTERVAL,
            last: (Duration::ZERO, Count::default()),
            found: Vec::new(),
        }
    }

    /// When to look next; never after the traffic's time.
    pub fn next_due(&self) -> Option<Instant> {
        (self.next <= self.origin + self.end).then_some(self.next)
    }

    /// Looks whether anything has come, if it is time.
    pub fn look(&mut self, now: Instant, count: Count) {
        if now < self.next {
            return;
        }
        self.next = now + LOOK_INTERVAL;
        let now = now.saturating_duration_since(self.origin).min(self.end);
        if count != self.last.1 {
            self.note(now);
            self.last = (now, count);
        }
    }

    /// What was found, with what lasts at the end.
    pub fn finish(mut self, now: Instant) -> Vec<Outage> {
        self.note(now.saturating_duration_since(self.origin).min(self.end));
        self.found
    }

    fn note(&mut self, until: Duration) {
        let (from, count) = self.last;
        let spacing = if count.units > 1 { from.as_secs_f64() / count.units as f64 } else { 0.0 };
        let least = self.least.as_secs_f64().max(spacing * f64::from(SPACINGS));
        let length = until.saturating_sub(from).as_secs_f64();
        if length >= least && self.found.len() < TOLD_AT_MOST {
            let (from_seconds, until_seconds) = (from.as_secs_f64(), until.as_secs_f64());
            self.found.push(Outage { from_seconds, until_seconds });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// What is found when a unit comes at each of these tenths of a second, of ten seconds.
    fn found(
        arrives: impl Fn(u32) -> bool,
        allowed: Duration,
        round_trip: Duration,
    ) -> Vec<[f64; 2]> {
        let origin = Instant::now();
        let mut outages = Outages::new(origin, SECOND * 10, allowed, round_trip);
        let mut count = Count::default();
        for tenth in 1..=130 {
            count.units += u64::from(arrives(tenth));
            outages.look(origin + SECOND * tenth / 10, count);
        }
        let tenths = |seconds: f64| (seconds * 10.0).round();
        let found = outages.finish(origin + SECOND * 13).into_iter();
        found.map(|found| [tenths(found.from_seconds), tenths(found.until_seconds)]).collect()
    }

    #[test]
    fn what_is_cut_is_told_with_its_begin_and_end() {
        assert_eq!(
            found(|tenth| !(41..70).contains(&tenth), Duration::ZERO, SECOND / 100),
            [[40.0, 70.0]]
        );
        assert_eq!(
            found(|tenth| tenth > 20 && tenth <= 60, Duration::ZERO, SECOND / 100),
            [[0.0, 22.0], [60.0, 100.0]]
        );
        assert_eq!(found(|_| false, Duration::ZERO, SECOND / 100), [[0.0, 100.0]]);
    }

    #[test]
    fn what_is_late_or_rare_is_no_outage() {
        assert_eq!(found(|_| true, Duration::ZERO, Duration::ZERO), <[[f64; 2]; 0]>::default());
        let cut = |tenth: u32| !(41..70).contains(&tenth);
        assert!(found(cut, Duration::ZERO, SECOND).is_empty());
        // Four seconds may pass between messages, or one comes all by itself.
        assert!(found(|tenth| tenth % 20 == 0, SECOND * 4, Duration::ZERO).is_empty());
        assert!(
            found(|tenth| tenth % 8 == 0 && !(41..60).contains(&tenth), Duration::ZERO, SECOND / 5)
                .is_empty()
        );
    }
}
