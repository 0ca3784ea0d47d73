//! A rate limit kept by the sending thread.

use std::thread;
use std::time::{Duration, Instant};

use crate::gate::{Phase, Pulse};

/// How long one sleep may last, so that the end of a test is noticed.
const LONGEST_SLEEP: Duration = Duration::from_millis(20);

/// Spaces messages evenly; what a late sleep missed is made up for by the next messages.
#[derive(Debug)]
pub struct Pacer {
    nanoseconds_per_message: f64,
    begin: Instant,
    messages: u64,
}

impl Pacer {
    /// Spaces messages of `message_bytes` at `rate_bps`; none at rate 0.
    pub fn new(rate_bps: f64, message_bytes: usize, begin: Instant) -> Option<Self> {
        if rate_bps <= 0.0 {
            return None;
        }
        net::tighten_timer_slack();
        let nanoseconds_per_message = message_bytes as f64 * 8e9 / rate_bps;
        Some(Self { nanoseconds_per_message, begin, messages: 0 })
    }

    /// Waits until the next message is due, or the test is over; the phase by then. After `Over` nothing is due: one
    /// message more would be twice the rate asked for when that is a message per test.
    pub fn wait(&mut self, pulse: &Pulse) -> Phase {
        let due = self.begin + self.offset();
        self.messages += 1;
        loop {
            let phase = pulse.phase();
            let left = due.saturating_duration_since(Instant::now());
            if phase == Phase::Over || left.is_zero() {
                return phase;
            }
            thread::sleep(left.min(LONGEST_SLEEP));
        }
    }

    /// Waits as [`Self::wait`], and tells how many of at most `most` messages are due by then: one, unless the sender is
    /// behind. All of them are taken as sent.
    pub fn wait_for_some(&mut self, pulse: &Pulse, most: usize) -> (Phase, usize) {
        let phase = self.wait(pulse);
        let mut due = 1;
        let elapsed = self.begin.elapsed();
        while due < most && self.offset() <= elapsed {
            self.messages += 1;
            due += 1;
        }
        (phase, due)
    }

    fn offset(&self) -> Duration {
        Duration::from_secs_f64(self.messages as f64 * self.nanoseconds_per_message / 1e9)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Pacer;
    use crate::gate::{Phase, Pulse};

    #[test]
    fn rate_zero_needs_no_pacer() {
        assert!(Pacer::new(0.0, 1_000, Instant::now()).is_none());
    }

    #[test]
    fn the_eleventh_message_is_due_ten_spacings_after_the_first() {
        let begin = Instant::now();
        let mut pacer = Pacer::new(8e6, 1_000, begin).expect("a rate");
        let pulse = Pulse::new(false);
        assert!((0..11).all(|_| pacer.wait(&pulse) == Phase::Measured));
        assert!(begin.elapsed() >= Duration::from_millis(10));
    }

    #[test]
    fn as_many_messages_are_due_as_time_has_passed_for_and_no_more_than_wanted() {
        let begin = Instant::now().checked_sub(Duration::from_millis(10)).expect("the clock runs");
        let pulse = Pulse::new(false);
        // A message a second.
        let mut slow = Pacer::new(8_000.0, 1_000, begin).expect("a rate");
        assert_eq!(slow.wait_for_some(&pulse, 64), (Phase::Measured, 1));
        // A message a microsecond: 10,000 are due.
        let mut fast = Pacer::new(8e9, 1_000, begin).expect("a rate");
        assert!((0..156).all(|_| fast.wait_for_some(&pulse, 64) == (Phase::Measured, 64)));
        // A message in 4 ms: those of 0, 4 and 8 ms.
        let mut middling = Pacer::new(2e6, 1_000, begin).expect("a rate");
        let (_, due) = middling.wait_for_some(&pulse, 64);
        assert_eq!(due as u64, middling.messages);
        assert!(due >= 3 && due as u128 <= begin.elapsed().as_millis() / 4 + 1, "{due}");
    }

    #[test]
    fn a_message_that_is_due_after_the_test_is_not_sent() {
        let mut pacer = Pacer::new(1.0, 1_000, Instant::now()).expect("a rate");
        let pulse = Pulse::new(false);
        assert_eq!(pacer.wait(&pulse), Phase::Measured);
        pulse.set(Phase::Over);
        assert_eq!(pacer.wait(&pulse), Phase::Over);
    }
}
