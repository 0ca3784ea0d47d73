//! What is still on its way when a test's time is over: it is waited for, though not for ever.

use std::time::{Duration, Instant};

use crate::measurements::DrainCut;
use crate::settings::Settings;

/// All that is on its way is waited for this long, as long as it may come by then: no test hangs.
pub const LIMIT: Duration = Duration::from_secs(50);
/// A stream that is seen by then to need longer would only show a full send buffer.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// What is due now.
#[derive(Debug, PartialEq)]
pub enum Step {
    /// The window is over: what has come by now is to be noted.
    Hold,
    /// The drain takes too long: this is what came in the window.
    Cut(DrainCut),
}

/// The wait after the window of an end that receives.
pub struct Drain {
    window_end: Instant,
    limit: Duration,
    next: Instant,
    held: Option<DrainCut>,
    is_over: bool,
}

impl Drain {
    /// A wait of `limit` after the window that began with its warm-up at `origin`.
    pub fn new(origin: Instant, settings: &Settings, limit: Duration) -> Self {
        let window_end = origin + settings.total();
        Self { window_end, limit, next: window_end, held: None, is_over: false }
    }

    /// When to look next.
    pub fn next_due(&self) -> Option<Instant> {
        (!self.is_over).then_some(self.next)
    }

    /// What is to be done now, if it is time. `needed` is how long the rest takes at the present rate, where that is known.
    pub fn step(&mut self, now: Instant, needed: Option<Duration>) -> Option<Step> {
        self.next_due().filter(|due| now >= *due)?;
        let end = self.window_end + self.limit;
        let is_hopeless = now >= end || needed.is_some_and(|needed| now + needed > end);
        match self.held.take_if(|_| is_hopeless) {
            Some(held) => {
                self.is_over = true;
                Some(Step::Cut(held))
            }
            None if self.held.is_none() => {
                self.next = self.window_end + PATIENCE;
                Some(Step::Hold)
            }
            None => {
                self.next = now + LOOK_INTERVAL;
                None
            }
        }
    }

    /// Notes what had come when the window was over.
    pub fn hold(&mut self, held: DrainCut) {
        self.held = Some(held);
    }

    /// What had come when the window was over, once it is.
    pub fn held(&self) -> Option<&DrainCut> {
        self.held.as_ref()
    }
}

/// How long `bytes` take at the greatest rate at which some came: where packets were lost, what came behind them waits
/// unread for seconds, and the rate until now says less than the path carries.
pub fn needed(bytes: u64, came: impl IntoIterator<Item = (u64, Duration)>) -> Duration {
    let seconds =
        came.into_iter().map(|(came, elapsed)| bytes as f64 * elapsed.as_secs_f64() / came as f64);
    let least = seconds.filter(|seconds| !seconds.is_nan()).fold(f64::INFINITY, f64::min);
    Duration::try_from_secs_f64(least).unwrap_or(Duration::MAX).min(LIMIT * 2)
}

#[cfg(test)]
mod tests {
    use proto::Params;

    use super::*;

    #[test]
    fn the_rest_takes_its_time_at_the_greatest_rate_seen() {
        let seconds = Duration::from_secs;
        // 1.0 MB in the 10 s of the window and 0.6 MB in 10 s of the drain, for the rest waits behind a gap.
        let came = [(1_600_000, seconds(20)), (1_000_000, seconds(10))];
        assert_eq!(needed(3_400_000, came), seconds(34));
        assert_eq!(needed(3_400_000, [came[0]]), Duration::from_millis(42_500));
        assert_eq!(needed(0, came), Duration::ZERO);
        assert_eq!(needed(1, [(0, seconds(9))]), LIMIT * 2);
    }

    #[test]
    fn what_came_in_the_window_is_held_and_given_back_when_the_drain_takes_too_long() {
        let mut params = Params::default();
        params.set("duration_seconds", 2.0);
        let origin = Instant::now();
        let settings = Settings::read(&params).expect("valid");
        let after = |seconds| origin + Duration::from_secs(seconds);
        let held = DrainCut { at: after(2), flows: [(0, (1_000, None))].into() };
        let begun = || {
            let mut drain = Drain::new(origin, &settings, LIMIT);
            assert_eq!(drain.step(after(1), None), None);
            assert_eq!(drain.step(after(2), None), Some(Step::Hold));
            drain.hold(held.clone());
            assert_eq!((drain.next_due(), drain.step(after(11), None)), (Some(after(12)), None));
            drain
        };
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        let mut hopeless = begun();
        assert_eq!(hopeless.step(after(12), seconds(41)), Some(Step::Cut(held.clone())));
        assert_eq!((hopeless.next_due(), hopeless.step(after(99), None)), (None, None));
        let mut slow = begun();
        assert_eq!(slow.step(after(12), seconds(39)), None);
        assert_eq!(slow.step(after(51), None), None);
        assert_eq!(slow.step(after(52), None), Some(Step::Cut(held.clone())));
    }
}
