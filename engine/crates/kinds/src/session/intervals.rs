//! Live intervals, made of the measuring tasks' counters.

use std::time::{Duration, Instant};

use proto::Interval;

use crate::counter::Count;
use crate::settings::Settings;

/// A last interval may be this much shorter than a whole one before it is one of its own.
const CLOSE: Duration = Duration::from_millis(1);

/// Cuts a test into intervals: the warm-up's, then the window's; the last takes the drain with it.
pub struct Intervals {
    origin: Instant,
    warmup: Duration,
    total: Duration,
    length: Duration,
    begin: Duration,
    last: Count,
    next: Option<Duration>,
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
        };
        intervals.next = intervals.end_after(Duration::ZERO);
        intervals
    }

    /// The end of the interval that begins at `begin`; none for the last.
    fn end_after(&self, begin: Duration) -> Option<Duration> {
        let end = begin + self.length;
        let end = if begin < self.warmup { end.min(self.warmup) } else { end };
        (end + CLOSE < self.total).then_some(end)
    }

    /// When the present interval ends, unless it is the last.
    pub fn next_due(&self) -> Option<Instant> {
        self.next.map(|next| self.origin + next)
    }

    /// Ends the present interval at `now`: its times, and what was counted in it.
    pub fn cut(&mut self, now: Instant, count: Count) -> (Interval, Count) {
        let end = now.saturating_duration_since(self.origin);
        let change = count.since(self.last);
        let interval = Interval {
            start_seconds: self.begin.as_secs_f64(),
            end_seconds: end.as_secs_f64(),
            warmup: self.begin < self.warmup,
            ..Interval::default()
        };
        let nominal = self.next.unwrap_or(end);
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
    use crate::counter::Count;
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
