//! A rate limit kept by the sending thread.

use std::thread;
use std::time::{Duration, Instant};

use crate::flow::gate::{Phase, Pulse};

/// How long one sleep may last, so that the end of a test is noticed.
const LONGEST_SLEEP: Duration = Duration::from_millis(20);
/// A sender that was late makes up for so much time at most; what it missed before that is never sent.
pub const BURST: Duration = Duration::from_millis(5);
const BURST_NANOSECONDS: f64 = BURST.as_nanos() as f64;

/// One flow's part of a rate.
#[derive(Debug, Clone, Copy)]
pub struct Share {
    /// Bits per second of this flow.
    pub rate_bps: f64,
    /// The flow's index.
    pub flow: u32,
    /// All flows of the rate: they take turns.
    pub flows: u32,
}

/// Time whose messages were not sent, as a flow was held up: suspended, waiting for a CPU, or for room to send.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Missed {
    /// Altogether.
    pub total: Duration,
    /// At one time.
    pub longest: Duration,
}

/// Spaces messages evenly, in any window of time no more of them than are due in it and in a burst.
#[derive(Debug)]
pub struct Pacer {
    begin: Instant,
    schedule: Schedule,
}

impl Pacer {
    /// Spaces messages of `message_bytes`; none at rate 0.
    pub fn new(share: Share, message_bytes: usize, begin: Instant) -> Option<Self> {
        Self::of_schedule(share, begin, message_bytes as f64 * 8e9 / share.rate_bps, 0.0)
    }

    /// Spaces pieces of a stream by so many nanoseconds; none at rate 0. One that is late by less than a piece costs
    /// nothing of the rate: the kernel keeps the stream even.
    pub fn of_pieces(share: Share, gap: f64, begin: Instant) -> Option<Self> {
        Self::of_schedule(share, begin, gap, gap)
    }

    fn of_schedule(share: Share, begin: Instant, gap: f64, least_burst: f64) -> Option<Self> {
        if share.rate_bps <= 0.0 {
            return None;
        }
        net::tighten_timer_slack();
        let schedule =
            Schedule { burst: BURST_NANOSECONDS.max(least_burst), ..Schedule::new(share, gap) };
        Some(Self { begin, schedule })
    }

    /// Waits until the next message is due, or the test is over; the phase by then. After `Over` nothing is due: one
    /// message more would be twice the rate asked for when that is a message per test.
    pub fn wait(&mut self, pulse: &Pulse) -> Phase {
        loop {
            let phase = pulse.phase();
            let now = self.now();
            if phase == Phase::Over {
                self.schedule.catch_up(now);
                return phase;
            }
            if self.schedule.due <= now {
                self.schedule.take(now, 1);
                return phase;
            }
            // Positive, and below the time of a test.
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let left = Duration::from_nanos((self.schedule.due - now).ceil() as u64);
            thread::sleep(left.min(LONGEST_SLEEP));
        }
    }

    /// Waits as [`Self::wait`], and tells how many of at most `most` messages are due by then: one, unless the sender is
    /// behind. All of them are taken as sent.
    pub fn wait_for_some(&mut self, pulse: &Pulse, most: usize) -> (Phase, usize) {
        let phase = self.wait(pulse);
        let now = self.now();
        (phase, 1 + self.schedule.take(now, most.saturating_sub(1)))
    }

    /// Forgets what was missed so far, as the warm-up isn't measured.
    pub fn begin_window(&mut self) {
        self.schedule.missed = Missed::default();
    }

    /// What was missed since the window began.
    pub fn missed(&self) -> Missed {
        self.schedule.missed
    }

    fn now(&self) -> f64 {
        self.begin.elapsed().as_nanos() as f64
    }
}

/// When messages are due, in nanoseconds since the test began.
#[derive(Debug)]
struct Schedule {
    gap: f64,
    due: f64,
    /// A sender that was late makes up for so much.
    burst: f64,
    missed: Missed,
}

impl Schedule {
    /// The flows of a rate begin one after the other, in the middle of their turns: together they send evenly, and as
    /// many messages in a test as the rate has.
    fn new(share: Share, gap: f64) -> Self {
        let due = gap * (f64::from(share.flow) + 0.5) / f64::from(share.flows);
        Self { gap, due, burst: BURST_NANOSECONDS, missed: Missed::default() }
    }

    /// Takes the messages that are due, `most` of them; how many.
    fn take(&mut self, now: f64, most: usize) -> usize {
        self.catch_up(now);
        let mut taken = 0;
        while taken < most && self.due <= now {
            self.due += self.gap;
            taken += 1;
        }
        taken
    }

    /// Gives up what was due longer ago than a burst.
    fn catch_up(&mut self, now: f64) {
        let late = now - self.due - self.burst;
        if late <= 0.0 {
            return;
        }
        self.due += late;
        // Positive, and below the time of a test.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let late = Duration::from_nanos(late as u64);
        self.missed.total += late;
        self.missed.longest = self.missed.longest.max(late);
    }
}

#[cfg(test)]
#[path = "pacer_tests.rs"]
mod tests;
