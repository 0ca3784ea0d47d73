//! When the last datagram of a test has come.

use std::time::{Duration, Instant};

/// Datagrams may be this much later than the word of their end on the link, beyond four round trips.
const SLACK: Duration = Duration::from_millis(15);
/// Of datagrams that come through a thin link, so many have to be missing before no more are waited for.
const SPACINGS: u32 = 4;
const LONGEST_SPACING: Duration = Duration::from_secs(1);
/// How often the counters are looked at.
const LOOK_INTERVAL: Duration = Duration::from_millis(1);

/// A wait for datagrams on their way: over when all have come, or none has for a while.
pub struct Quiet {
    expected: u64,
    limit: Duration,
    last_units: u64,
    last_change: Instant,
}

impl Quiet {
    /// Waits for `expected` datagrams in all, of which `units` have come since `begin`.
    pub fn new(
        (begin, now): (Instant, Instant),
        expected: u64,
        units: u64,
        rtt: Option<Duration>,
    ) -> Self {
        let spacing = now.saturating_duration_since(begin).as_secs_f64() / units.max(1) as f64;
        let spacing = Duration::try_from_secs_f64(spacing).unwrap_or_default().min(LONGEST_SPACING);
        let limit = (SLACK + rtt.unwrap_or_default() * 4).max(spacing * SPACINGS);
        Self { expected, limit, last_units: units, last_change: now }
    }

    /// When to look next.
    pub fn next_due(now: Instant) -> Instant {
        now + LOOK_INTERVAL
    }

    /// Whether nothing more is to be waited for, now that `units` have come.
    pub fn is_over(&mut self, now: Instant, units: u64) -> bool {
        if units != self.last_units {
            self.last_units = units;
            self.last_change = now;
        }
        units >= self.expected || now.saturating_duration_since(self.last_change) >= self.limit
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Quiet;

    #[test]
    fn it_is_over_at_once_when_all_have_come() {
        let now = Instant::now();
        assert!(Quiet::new((now, now), 10, 10, None).is_over(now, 10));
    }

    #[test]
    fn late_datagrams_prolong_it_and_silence_ends_it() {
        let now = Instant::now();
        let mut quiet = Quiet::new((now, now), 10, 5, Some(Duration::from_millis(5)));
        assert!(!quiet.is_over(now + Duration::from_millis(30), 6));
        assert!(!quiet.is_over(now + Duration::from_millis(60), 6));
        assert!(quiet.is_over(now + Duration::from_millis(65), 6));
    }
}
