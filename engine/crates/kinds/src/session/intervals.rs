//! Live intervals, made of the measuring tasks' counters.

use std::time::{Duration, Instant};

use proto::Interval;

use crate::flow::counter::Count;
use crate::settings::Settings;

/// A last interval may be this much shorter than a whole one before it is one of its own.
const CLOSE: Duration = Duration::from_millis(1);

/// A drain this much of an interval long, or this long, is no interval of its own.
const SHORT_DRAIN_SHARE: u32 = 2;
const SHORT_DRAIN: Duration = Duration::from_millis(250);

/// Cuts a test into intervals: the warm-up's, then the window's. The last of them takes a short drain with it; a longer
/// one has its own.
pub struct Intervals {
    origin: Instant,
    warmup: Duration,
    total: Duration,
    length: Duration,
    begin: Duration,
    last: Count,
    next: Option<Duration>,
    /// When the window was over while something was still on its way, and what had come by then.
    held: Option<(Duration, Count)>,
    is_draining: bool,
}

impl Intervals {
    /// Intervals of a test that begins at `origin`.
    pub fn new(origin: Instant, settings: &Settings) -> Self {
        let mut intervals = Self {
            origin,
            warmup: settings.warmup,
            total: settings.total(),
            length: settings.report_interval,
            begin: Duration::ZERO,
            last: Count::default(),
            next: None,
            held: None,
            is_draining: false,
        };
        intervals.next = intervals.end_after(Duration::ZERO);
        intervals
    }

    /// The end of the interval that begins at `begin`; none for the last.
    fn end_after(&self, begin: Duration) -> Option<Duration> {
        let end = begin + self.length;
        if self.is_draining {
            return Some(end);
        }
        let end = if begin < self.warmup { end.min(self.warmup) } else { end };
        (end + CLOSE < self.total).then_some(end)
    }

    /// When the present interval ends, unless it is the last.
    pub fn next_due(&self) -> Option<Instant> {
        let after_window = || self.held.map(|(end, _)| end + self.short_drain());
        self.next.or_else(after_window).map(|next| self.origin + next)
    }

    fn short_drain(&self) -> Duration {
        (self.length / SHORT_DRAIN_SHARE).max(SHORT_DRAIN)
    }

    /// Notes that the window is over, and that more is on its way.
    pub fn hold(&mut self, now: Instant, count: Count) {
        if self.next.is_none() && !self.is_draining {
            self.held = Some((now.saturating_duration_since(self.origin), count));
        }
    }

    /// Ends the present interval at `now`: its times, and what was counted in it.
    pub fn cut(&mut self, now: Instant, count: Count) -> (Interval, Count) {
        let end = now.saturating_duration_since(self.origin);
        let short_drain = self.short_drain();
        let window = self.held.take_if(|(held, _)| end >= *held + short_drain);
        let (end, count) = window.unwrap_or((end, count));
        let change = count.since(self.last);
        let interval = Interval {
            start_seconds: self.begin.as_secs_f64(),
            end_seconds: end.as_secs_f64(),
            warmup: self.begin < self.warmup,
            drain: self.is_draining,
            ..Interval::default()
        };
        let nominal = self.next.unwrap_or(end);
        self.is_draining |= window.is_some();
        self.begin = end;
        self.last = count;
        self.next = self.end_after(nominal);
        (interval, change)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proto::Params;

    use super::Intervals;
    use crate::flow::counter::Count;
    use crate::settings::Settings;

    fn ends(duration: f64, warmup: f64) -> Vec<(f64, bool)> {
        let mut params = Params::default();
        params.set("duration_seconds", duration);
        params.set("warmup_seconds", warmup);
        params.set("report_interval_seconds", 1.0);
        let settings = Settings::read(&params).expect("valid");
        let mut intervals = Intervals::new(Instant::now(), &settings);
        let mut ends = Vec::new();
        while let Some(due) = intervals.next_due() {
            let (interval, _) = intervals.cut(due, Count::default());
            ends.push(((interval.end_seconds * 1e3).round() / 1e3, interval.warmup));
        }
        ends
    }

    #[test]
    fn the_last_interval_is_left_to_the_end_of_the_test() {
        assert_eq!(ends(3.0, 0.0), [(1.0, false), (2.0, false)]);
        assert_eq!(ends(1.0, 0.0), []);
    }

    #[test]
    fn a_long_drain_has_intervals_of_its_own_and_a_short_one_is_in_the_last() {
        let mut params = Params::default();
        params.set("duration_seconds", 2.0);
        params.set("report_interval_seconds", 1.0);
        let origin = Instant::now();
        let settings = Settings::read(&params).expect("valid");
        let count = |bytes| Count { bytes, ..Count::default() };
        let after = |tenths: u32| origin + Duration::from_millis(100) * tenths;
        let begun = || {
            let mut intervals = Intervals::new(origin, &settings);
            intervals.cut(after(10), count(10));
            intervals.hold(after(20), count(20));
            intervals
        };
        let (last, counted) = begun().cut(after(23), count(23));
        assert_eq!((last.end_seconds, counted.bytes, last.drain), (2.3, 13, false));
        let mut intervals = begun();
        assert_eq!(intervals.next_due(), Some(after(25)));
        let (last, counted) = intervals.cut(after(26), count(26));
        assert_eq!((last.end_seconds, counted.bytes, last.drain), (2.0, 10, false));
        assert_eq!(intervals.next_due(), Some(after(30)));
        let (drain, counted) = intervals.cut(after(30), count(30));
        assert_eq!((drain.start_seconds, counted.bytes, drain.drain), (2.0, 10, true));
        assert_eq!(intervals.next_due(), Some(after(40)));
    }

    #[test]
    fn a_warmup_is_cut_at_its_end() {
        assert_eq!(ends(2.0, 1.5), [(1.0, true), (1.5, true), (2.5, false)]);
    }

    #[test]
    fn an_interval_counts_what_came_since_the_last() {
        let mut params = Params::default();
        params.set("duration_seconds", 9.0);
        let origin = Instant::now();
        let mut intervals = Intervals::new(origin, &Settings::read(&params).expect("valid"));
        intervals.cut(
            origin + Duration::from_secs(1),
            Count { bytes: 10, units: 1, ..Count::default() },
        );
        let (interval, count) = intervals.cut(
            origin + Duration::from_secs(2),
            Count { bytes: 25, units: 3, ..Count::default() },
        );
        assert_eq!(count, Count { bytes: 15, units: 2, ..Count::default() });
        assert_eq!((interval.start_seconds, interval.end_seconds), (1.0, 2.0));
    }
}
