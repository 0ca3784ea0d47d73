//! A light, continuous look at what the host does between tests, so that no trial has to wait for one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use kinds::{History, Sample};
use proto::HostBackground;
use rustix::time::{ClockId, clock_gettime};

use crate::serve::locked::locked;

const PERIOD: Duration = Duration::from_secs(1);
/// On a host of hundreds of CPUs and interfaces one look takes milliseconds: it is taken less often then, so that it
/// costs at most this part of one core.
const COST_DIVISOR: u32 = 2_000;
const GREATEST_PERIOD: Duration = Duration::from_secs(10);

/// The history of the host's quiet times.
#[derive(Default)]
pub struct Sampler {
    history: Mutex<History>,
    /// Whether a session has begun since the last look.
    has_begun: AtomicBool,
}

impl Sampler {
    /// What the host did in the last quiet times, where there were some.
    pub fn background(&self) -> Option<HostBackground> {
        locked(&self.history).background(Instant::now())
    }

    /// What the host did in the last minute.
    pub fn recent(&self) -> Option<HostBackground> {
        locked(&self.history).recent()
    }

    /// Notes that a session begins, which may end before the next look.
    pub fn note_session(&self) {
        self.has_begun.store(true, Ordering::Relaxed);
    }

    /// Looks; `is_ours` tells whether sessions run now.
    fn look(&self, was_ours: bool, is_ours: bool) {
        let has_begun = self.has_begun.swap(false, Ordering::Relaxed);
        if let Some(sample) = Sample::read() {
            locked(&self.history).add(sample, was_ours || is_ours || has_begun);
        }
    }
}

/// Starts the thread that looks, for as long as the engine runs; `has_sessions` tells whether sessions run now.
pub fn start(
    sampler: Arc<Sampler>,
    has_sessions: impl Fn() -> bool + Send + 'static,
) -> std::io::Result<()> {
    let thread = thread::Builder::new().name("sampler".into());
    thread.spawn(move || watch(&sampler, has_sessions)).map(|_| ())
}

fn watch(sampler: &Sampler, has_sessions: impl Fn() -> bool) {
    let mut was_ours = false;
    loop {
        let begun = cpu_time();
        let is_ours = has_sessions();
        sampler.look(was_ours, is_ours);
        was_ours = is_ours;
        thread::sleep(period(cpu_time().saturating_sub(begun)));
    }
}

/// CPU time of this thread.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// How long to wait after a look that took so much CPU time.
fn period(cost: Duration) -> Duration {
    (cost * COST_DIVISOR).clamp(PERIOD, GREATEST_PERIOD)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Sampler, cpu_time, period};

    #[test]
    fn a_dear_look_is_taken_less_often() {
        assert_eq!(period(Duration::from_micros(100)), Duration::from_secs(1));
        assert_eq!(period(Duration::from_millis(2)), Duration::from_secs(4));
        assert_eq!(period(Duration::from_secs(1)), Duration::from_secs(10));
    }

    #[test]
    fn a_look_costs_less_than_a_thousandth_of_a_core() {
        const LOOKS: u32 = 50;
        let sampler = Sampler::default();
        let begun = cpu_time();
        (0..LOOKS).for_each(|_| sampler.look(false, false));
        let cost = cpu_time().saturating_sub(begun) / LOOKS;
        let share = cost.as_secs_f64() / period(cost).as_secs_f64();
        assert!(share < 0.001, "{cost:?} a look is {share} of a core");
    }

    #[test]
    fn a_session_that_ran_between_two_looks_leaves_no_background() {
        let sampler = Sampler::default();
        sampler.look(false, false);
        sampler.note_session();
        std::thread::sleep(Duration::from_millis(600));
        sampler.look(false, false);
        assert_eq!(sampler.background(), None);
    }

    #[test]
    fn a_quiet_time_is_the_background() {
        let sampler = Sampler::default();
        sampler.look(false, false);
        std::thread::sleep(Duration::from_millis(600));
        sampler.look(false, false);
        let background = sampler.background().expect("600 ms are enough");
        assert!((0.6..5.0).contains(&background.seconds), "{}", background.seconds);
        assert!(background.interfaces.iter().any(|interface| interface.name == "lo"));
    }
}
