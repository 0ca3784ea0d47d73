//! What is still on its way when a test's time is over: it is waited for, though not for ever.

use std::time::{Duration, Instant};

use crate::kind::DrainCut;
use crate::settings::Settings;

/// A stream that needs longer would only show a full send buffer; what came in the window is what counts.
pub const STREAM_LIMIT: Duration = Duration::from_secs(10);
/// Datagrams wait in queues only; as long as they come, none of them is lost.
pub const DATAGRAM_LIMIT: Duration = Duration::from_secs(50);

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
    held: Option<DrainCut>,
    is_over: bool,
}

impl Drain {
    /// A wait of `limit` after the window that began with its warm-up at `origin`.
    pub fn new(origin: Instant, settings: &Settings, limit: Duration) -> Self {
        Self { window_end: origin + settings.total(), limit, held: None, is_over: false }
    }

    /// When to look next.
    pub fn next_due(&self) -> Option<Instant> {
        let due = if self.held.is_some() { self.window_end + self.limit } else { self.window_end };
        (!self.is_over).then_some(due)
    }

    /// What is to be done now, if it is time.
    pub fn step(&mut self, now: Instant) -> Option<Step> {
        self.next_due().filter(|due| now >= *due)?;
        let Some(held) = self.held.take() else { return Some(Step::Hold) };
        self.is_over = true;
        Some(Step::Cut(held))
    }

    /// Notes what had come when the window was over.
    pub fn hold(&mut self, held: DrainCut) {
        self.held = Some(held);
    }
}

#[cfg(test)]
mod tests {
    use proto::Params;

    use super::*;

    #[test]
    fn what_came_in_the_window_is_held_and_given_back_when_the_drain_takes_too_long() {
        let mut params = Params::default();
        params.set("duration_seconds", 2.0);
        let origin = Instant::now();
        let settings = Settings::read(&params).expect("valid");
        let mut drain = Drain::new(origin, &settings, STREAM_LIMIT);
        let after = |seconds| origin + Duration::from_secs(seconds);
        assert_eq!(drain.step(after(1)), None);
        assert_eq!(drain.step(after(2)), Some(Step::Hold));
        let held = DrainCut { at: after(2), flows: [(0, (1_000, None))].into() };
        drain.hold(held.clone());
        assert_eq!((drain.next_due(), drain.step(after(11))), (Some(after(12)), None));
        assert_eq!(drain.step(after(12)), Some(Step::Cut(held)));
        assert_eq!((drain.next_due(), drain.step(after(99))), (None, None));
    }
}
